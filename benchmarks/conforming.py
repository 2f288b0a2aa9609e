"""How fast `conform` follows logs of Raft: `python -m benchmarks.conforming`.

The log is that of a random run of `specs/replication/raft.bcast::two_terms` (three servers, crashes
and recoveries), with everything logged: sends, receptions, handlers, and all variables after each
step.  It has to be explained to its last line, with hardly a node too many, or the run is an error.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table  # noqa: E402
from checker.conform.conform_log import Asked, conform  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.model import interpreter  # noqa: E402
from checker.model.interpreter import State, Transition  # noqa: E402
from checker.model.ir import TransitionSystem  # noqa: E402
from checker.results.verdict import Word  # noqa: E402
from checker.session import pipeline  # noqa: E402
from tests.conform.projection import Row, rows_of  # noqa: E402

SPEC, CHECK = str(ROOT / "specs" / "replication" / "raft.bcast"), "two_terms"
KINDS = ("send", "receive", "handler", "crash", "recover")
HEADINGS = ("lines", "nodes", "s", "CPU s", "lines/s", "lines/CPU s")


def random_rows(
    system: TransitionSystem, lines: int, seed: int
) -> tuple[dict[str, list[Row]], int]:
    """Returns the logs of a random run that has at least ``lines`` lines, and its steps."""
    draw = random.Random(seed)
    known: dict[State, list[tuple[Transition, list[Row]]]] = {}
    state = draw.choice(interpreter.initial_states(system))
    logs: dict[str, list[Row]] = {name: [] for name in system.processes}
    written = steps = 0
    while written < lines:
        if state not in known:
            found = [t for t in interpreter.successors(system, state) if t.successor is not None]
            known[state] = [(each, rows_of(system, each, KINDS)) for each in found]
        transition, rows = draw.choice(known[state])
        for row in rows:
            if row["kind"] == "crash":
                row.pop("state", None)  # what is not on disk is gone
            logs[row["process"]].append(row)
        written, steps = written + len(rows), steps + 1
        assert transition.successor is not None
        state = transition.successor
    return logs, steps


def write(folder: Path, logs: dict[str, list[Row]]) -> None:
    """Writes a log for each process, which ends in an orderly way."""
    for process, rows in logs.items():
        ended = [*rows, {"process": process, "kind": "end"}]
        lines = (json.dumps({"pos": number, **row}) + "\n" for number, row in enumerate(ended, 1))
        (folder / f"{process}.ndjson").write_text("".join(lines), encoding="utf-8")


def measured(folder: Path, lines: int, steps: int) -> tuple[str, ...]:
    """Asks of the log in ``folder``, and returns a row of the table.

    Raises :class:`WrongAnswer` where it is not explained to its last line, or where the search has
    visited more than a hundredth more nodes than the run has.
    """
    logs = [str(path) for path in sorted(folder.iterdir())]
    began, used = time.perf_counter(), time.process_time()
    report = conform(Asked(SPEC, CHECK, Options(), replay=0), logs)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    if report.word is not Word.HOLDS or (report.lines, report.explained) != (lines, lines):
        raise WrongAnswer(f"{lines:,} lines: {report.word.value}, {report.explained:,} explained")
    if report.nodes > steps * 1.01 + 10:
        raise WrongAnswer(f"{report.nodes:,} nodes for a run of {steps:,} steps")
    rates = f"{lines / seconds:,.0f}", f"{lines / used:,.0f}"
    return f"{lines:,}", f"{report.nodes:,}", f"{seconds:.1f}", f"{used:.1f}", *rates


@click.command()
@click.option("--lines", type=int, multiple=True, default=(1_000, 10_000, 100_000))
@click.option("--seed", type=int, default=1, show_default=True)
def main(lines: tuple[int, ...], seed: int) -> None:
    """Generate logs, follow them, and say how long that took; the first to get warm."""
    system = pipeline.open_check(SPEC, CHECK, Options()).system
    table = []
    for wanted in (lines[0], *lines):
        logs, steps = random_rows(system, wanted, seed)
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), logs)
            table.append(measured(Path(name), sum(map(len, logs.values())), steps))
    click.echo(Table("conform, raft two_terms", HEADINGS, table[1:]).text())


if __name__ == "__main__":
    main()
