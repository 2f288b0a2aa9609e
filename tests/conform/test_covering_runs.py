"""Covering sets of runs, and driving an implementation through them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from checker.api import drive
from checker.cli.main import main
from checker.conform.covering_runs import covering_set, explore
from checker.engines.options import Options
from checker.formats.json_format import trace_from_text
from checker.results.events import Received
from checker.results.trace import Step
from checker.session.pipeline import open_check

SPEC = """
protocol Echo implements BestEffortBroadcast {
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { seen += m  deliver(p, m) }
}
check c of Echo { n = 2  clients { p1 broadcasts a }  expect validity holds }
"""


class Echo:
    """An implementation; ``forgetful``: of what is not its own."""

    def __init__(self, forgetful: bool = False) -> None:
        self.forgetful, self.seen = forgetful, {"p1": set[str](), "p2": set[str]()}

    def do(self, step: Step) -> None:
        for event in step.events:
            if isinstance(event, Received) and not (self.forgetful and step.process == "p2"):
                self.seen[step.process].add(event.message.removeprefix("DATA(").removesuffix(")"))

    def observe(self) -> Mapping[str, Mapping[str, Any]]:
        return {process: {"seen": seen} for process, seen in self.seen.items()}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "echo.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_all_transitions_are_taken_and_an_implementation_is_compared(spec: Path) -> None:
    opened = open_check(str(spec), "c", Options())
    graph = explore(opened.system, 100)
    found = covering_set(opened, "transitions", 100)
    assert found.complete
    assert (found.states, found.covered) == (len(graph.edges), found.targets)
    assert found.targets == sum(map(len, graph.edges))
    pairs = [zip(run.steps, run.steps[1:], strict=False) for run in found.runs]
    taken = {(str(a.state), str(b.state)) for steps in pairs for a, b in steps}
    assert len(taken) == len({(e.source, e.target) for edges in graph.edges for e in edges})
    assert all(drive(run, Echo()) is None for run in found.runs)
    wrong = [d for run in found.runs if (d := drive(run, Echo(forgetful=True))) is not None]
    assert wrong
    assert "seen of p2 is frozenset()" in wrong[0].text


def test_the_command_writes_traces(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    assert main(["test-cases", f"{spec}::c", "--cover", "pairs", "--out", str(out)]) == 0
    assert "they cover 2 of 2 pairs" in capsys.readouterr().out
    runs = [trace_from_text(p.read_text(encoding="utf-8")) for p in out.glob("run-???.json")]
    assert runs
    assert all(drive(run, Echo()) is None for run in runs)
    assert main(["test-cases", f"{spec}::c", "--max-states", "1", "--out", str(out)]) == 3
    assert main(["test-cases", f"{spec}::c", "--cover", "all", "--out", str(out)]) == 2
