"""How fast `conform` follows logs of Raft, and scores their windows: `python -m
benchmarks.conforming`.

The log is that of a random run of `specs/replication/raft.bcast::two_terms` (three servers, crashes
and recoveries), with everything logged: sends, receptions, handlers, and all variables after each
step.  It has to be explained to its last line, with hardly a node too many, or the run is an error.

Windows are scored twice, equal ones asked once (as `--windows` does) and each one asked anew; the
two scores have to be the same, and to have a window for each step with a line, all explained.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

import click
from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table  # noqa: E402
from checker.conform import local_windows  # noqa: E402
from checker.conform.conform_log import Asked, conform, logged_in  # noqa: E402
from checker.conform.explain_events import Observation  # noqa: E402
from checker.conform.lines import Resolver  # noqa: E402
from checker.conform.read_log import read_log  # noqa: E402
from checker.conform.windows import score  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.logs.mapping import NO_MAPPING  # noqa: E402
from checker.model import interpreter  # noqa: E402
from checker.model.interpreter import State, Transition  # noqa: E402
from checker.model.ir import TransitionSystem  # noqa: E402
from checker.results.verdict import Word  # noqa: E402
from checker.results.windows import WindowScore  # noqa: E402
from checker.session import pipeline  # noqa: E402
from checker.simulate.prepared_check import PreparedCheck  # noqa: E402
from tests.conform.projection import Row, rows_of  # noqa: E402

SPEC, CHECK = str(ROOT / "specs" / "replication" / "raft.bcast"), "two_terms"
KINDS = ("send", "receive", "handler", "crash", "recover")
HEADINGS = ("lines", "nodes", "s", "CPU s", "lines/s", "lines/CPU s")
OF_WINDOWS = ("windows", "CPU s", "windows/CPU s", "each anew: CPU s", "ratio")


class Drawn(Struct, frozen=True):
    """A random run: the ``logs`` of its processes, and how many ``steps`` it has, and how many of
    these have ``written`` lines."""

    logs: dict[str, list[Row]]
    steps: int
    written: int

    @property
    def lines(self) -> int:
        """The number of lines of all logs."""
        return sum(map(len, self.logs.values()))


def random_rows(system: TransitionSystem, lines: int, seed: int) -> Drawn:
    """Returns a random run that has at least ``lines`` lines."""
    draw = random.Random(seed)
    known: dict[State, list[tuple[Transition, list[Row]]]] = {}
    state = draw.choice(interpreter.initial_states(system))
    logs: dict[str, list[Row]] = {name: [] for name in system.processes}
    written = steps = writing = 0
    while written < lines:
        if state not in known:
            found = [t for t in interpreter.successors(system, state) if t.successor is not None]
            known[state] = [(each, rows_of(system, each, KINDS)) for each in found]
        transition, rows = draw.choice(known[state])
        for row in rows:
            if row["kind"] == "crash":
                row.pop("state", None)  # what is not on disk is gone
            logs[row["process"]].append(row)
        written, steps, writing = written + len(rows), steps + 1, writing + bool(rows)
        assert transition.successor is not None
        state = transition.successor
    return Drawn(logs, steps, writing)


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


def scored(observation: Observation, most_items: int) -> tuple[WindowScore, float]:
    """Returns the score of logs, and the processor time in seconds; explanations of windows that
    depend on so many items or more are not kept."""
    kept = local_windows.MOST_ITEMS
    try:
        local_windows.MOST_ITEMS = most_items
        used = time.process_time()
        found = score(observation).score
        return found, time.process_time() - used
    finally:
        local_windows.MOST_ITEMS = kept


def measured_windows(check: PreparedCheck, folder: Path, windows: int) -> tuple[str, ...]:
    """Scores the log in ``folder``, which has at least so many windows (a crash at the end of a
    step may also be one of its own), and returns a row of the table.

    Raises :class:`WrongAnswer` where a window is missing or not explained, or the score is another
    one if each window is asked anew.
    """
    log = read_log([str(path) for path in sorted(folder.iterdir())], NO_MAPPING)
    timelines = Resolver(check.system, NO_MAPPING).timelines(log)
    logged = logged_in(timelines, NO_MAPPING, check.made.sizes)
    observation = Observation(check.system, timelines, logged)
    anew, slow = scored(observation, 0)
    once, fast = scored(observation, local_windows.MOST_ITEMS)
    if once != anew:
        raise WrongAnswer("another score if each window is asked anew")
    found = sum(each.windows for each in once.handlers)
    explained = sum(each.explained for each in once.handlers)
    if found < windows or explained != found:
        raise WrongAnswer(f"{found:,} windows, {explained:,} explained, of {windows:,}")
    return f"{found:,}", f"{fast:.2f}", f"{found / fast:,.0f}", f"{slow:.2f}", f"{slow / fast:.1f}"


@click.command()
@click.option("--lines", type=int, multiple=True, default=(1_000, 10_000, 100_000))
@click.option("--seed", type=int, default=1, show_default=True)
def main(lines: tuple[int, ...], seed: int) -> None:
    """Generate logs, follow them, and say how long that took; the first to get warm."""
    check = pipeline.open_check(SPEC, CHECK, Options())
    table, windows = [], []
    for wanted in (lines[0], *lines):
        drawn = random_rows(check.system, wanted, seed)
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), drawn.logs)
            table.append(measured(Path(name), drawn.lines, drawn.steps))
            windows.append(measured_windows(check, Path(name), drawn.written))
    click.echo(Table("conform, raft two_terms", HEADINGS, table[1:]).text())
    click.echo(Table("conform --windows, raft two_terms", OF_WINDOWS, windows[1:]).text())


if __name__ == "__main__":
    main()
