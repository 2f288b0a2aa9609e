"""What `init choose` has chosen is part of every trace, in every view."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from checker.render.diagram.mermaid import mermaid_of
from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.terminal.text import trace_view
from checker.results.trace import Trace
from checker.session.pipeline import Options, run_check
from checker.words.events import sentence

VOTES = """
protocol Votes {
  shared state mode : 0..2 = 0
  init choose mode in {1, 2}
  state vote = false
  init choose vote
  state out = false
  upon condition vote and mode == 2 { out := true }
  property never : always forall p in Proc: not p.out
  property not_all : always not (forall p in Proc: p.vote)
}
check c of Votes { n = 2  expect never violated  expect not_all violated }
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    path = tmp_path_factory.mktemp("votes") / "votes.bcast"
    path.write_text(VOTES)
    report = run_check(str(path), "c", Options())
    return {v.property: v.trace for v in report.verdicts if v.trace is not None}


def shown(trace: Trace, steps: bool = False) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(trace_view(trace, steps=steps))
    return console.export_text()


def test_the_first_line_of_the_diagram(traces: dict[str, Trace]) -> None:
    drawn = [line.split() for line in shown(traces["never"]).splitlines()]
    start = next(i for i, line in enumerate(drawn) if line[:1] == ["0"])
    assert "the start: mode = 2" in " ".join(drawn[start])
    texts = [" ".join(line) for line in drawn]
    assert texts.index("│ vote = false │") < texts.index("│ │ vote = true")
    assert "0" in [line[0] for line in (t.split() for t in shown(traces["not_all"]).splitlines())
                   if line]  # fmt: skip


def test_every_view_tells_it(traces: dict[str, Trace]) -> None:
    trace = traces["never"]
    assert "with p2.vote = true" in shown(trace, steps=True)
    diagram = mermaid_of(trace).splitlines()
    assert "    Note over P1: vote = true" in diagram
    assert "    Note over P0,P1: the run starts with mode = 2" in diagram
    picture = picture_of(trace)
    assert [bar.text for bar in picture.bars] == ["the start: mode = 2"]
    said = {m.lane: [line.text for line in m.label.lines] for m in picture.marks
            if m.label is not None and m.step == 0}  # fmt: skip
    assert said == {"p1": ["vote = false"], "p2": ["vote = true"]}
    (bar,) = picture.bars
    assert all(m.y - bar.y >= 16 for m in picture.marks if m.step == 0)
    assert "vote = true" in svg_of(picture)


def test_what_is_chosen_anew_at_recovery_is_told(tmp_path: Path) -> None:
    path = tmp_path / "anew.bcast"
    path.write_text(
        "protocol P {\n  state vote = false\n  init choose vote in {true}\n"
        "  stable state back = false\n  upon recover { back := true }\n"
        "  property never : always forall p in Proc: not (p.back and p.vote)\n}\n"
        "check c of P { n = 1  faults crash <= 1, recover  expect never violated }\n"
    )
    (verdict,) = run_check(str(path), "c", Options()).verdicts
    assert verdict.trace is not None
    (step,) = (s for s in verdict.trace.steps if s.kind == "recover")
    assert "p1 starts with vote = true" in [sentence(e) for e in step.events]
