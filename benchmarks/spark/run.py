"""Measures the exchanges of the spark engine against the native engine, all in one run.

Each contestant is our own command in a process of its own, two threads or ``local[2]``. A wrong
number of states, levels or transitions is an error, not a row. See README.md in the folder above.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median

import click

from benchmarks.spark.processes import DRIVER, JAVA, PYTHON, Failed, run
from checker.formats.json_format import reports_of

ROOT = Path(__file__).resolve().parents[2]
NATIVE, BARRIER, SHUFFLE = "native", "barrier", "shuffle"
ON_SPARK = ("--engine", "spark", "--master", "local[2]", "--exchange")
CONTESTANTS: Mapping[str, Sequence[str]] = {
    NATIVE: ("--engine", "native", "--threads", "2"),
    BARRIER: (*ON_SPARK, "barrier"),
    SHUFFLE: (*ON_SPARK, "shuffle"),
}
ROOM = 8e9
"""Bytes in which the large case has to find room, in all processes together."""
MORE_HOURS = 100
"""By so many levels two funnels differ."""


@dataclass(frozen=True)
class Case:
    """A check with parameters, and its numbers, as far as they are known from elsewhere.

    ``levels`` and ``transitions`` have to be the same for all contestants in any case.
    """

    name: str
    spec: str
    settings: Mapping[str, int]
    states: int
    levels: int | None = None
    transitions: int | None = None
    room: float | None = None


def two_phase(n: int, states: int, room: float | None = None) -> Case:
    """Two-phase commit with ``n`` participants; the numbers are those of other checkers."""
    spec = "specs/oracles/two_phase.bcast::three"
    return Case(f"two_phase_{n}", spec, {"n": n}, states, room=room)


def echo(states: int, levels: int, transitions: int) -> Case:
    """The library's authenticated echo broadcast among five; the numbers are the tool's own, so
    that all rows are known to measure the same work."""
    spec = "benchmarks/spark/echo.bcast::five"
    return Case("echo_5", spec, {"n": 5}, states, levels, transitions)


def funnel(name: str, lamps: int, hours: int) -> Case:
    """See ``funnel.bcast``, where the numbers come from."""
    switches = 8
    tail = hours * 2**switches + (hours + 1) * switches * 2 ** (switches - 1)
    return Case(
        name,
        "benchmarks/spark/funnel.bcast::narrow",
        {"n": lamps, "hours": hours},
        2**lamps - 1 + (hours + 1) * 2**switches,
        lamps + hours + switches,
        lamps * 2 ** (lamps - 1) + tail,
    )


CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        two_phase(7, 296_448),
        two_phase(9, 10_340_352),
        two_phase(10, 61_515_776, ROOM),
        echo(9_706_640, 20, 263_663_385),
        funnel("narrow_50", 1, 50),
        funnel("narrow", 1, 500),
        funnel("funnel", 22, 10),
        funnel("long_funnel", 22, 10 + MORE_HOURS),
    )
}
QUICK = ("two_phase_7", "narrow_50")
USUAL = ("two_phase_9", "echo_5", "narrow", "funnel", "long_funnel")
LARGE = ("two_phase_10",)


@dataclass(frozen=True)
class Sample:
    """One run.

    ``search`` seconds are those of the exploration, ``whole`` all from the shell to the verdict,
    Java's start included; ``cpu`` seconds of all processors. ``sent``: bytes of states that were
    given to the exchange, ``shuffled``: bytes that Spark's shuffle wrote, compressed. ``peak``:
    bytes of memory of all processes at one time, ``peaks``: of each kind alone.
    """

    states: int
    levels: int
    transitions: int
    search: float
    whole: float
    cpu: float
    sent: int = 0
    shuffled: int = 0
    peak: int = 0
    peaks: Mapping[str, int] = field(default_factory=dict)


COLUMNS: Mapping[str, int] = {
    "": 8,
    "search s": 8,
    "states/s": 9,
    "rate": 5,
    "whole s": 7,
    "cpu s": 7,
    "sent MB": 7,
    "shuffled": 8,
    "peak MB": 7,
    DRIVER: 6,
    JAVA: 5,
    PYTHON: 6,
}
"""Headings of the table, and how wide the columns are."""


class WrongAnswer(click.ClickException):
    """A contestant does not find what is known, or what the others find."""


def play(case: Case, name: str, folder: Path) -> Sample:
    """One run of one contestant; what Spark says of itself goes to ``folder``."""
    events = folder / "events"
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir()
    command = [_tool(), "check", case.spec, *CONTESTANTS[name], "--reduce", "none"]
    command += ["--quiet", "--json", "-"]
    for key, value in case.settings.items():
        command += ["--set", f"{key}={value}"]
    if name != NATIVE:
        for key, word in {
            "enabled": "true",
            "dir": events.as_uri(),
            "compress": "false",
            "rolling.enabled": "false",
        }.items():
            command += ["--conf", f"spark.eventLog.{key}={word}"]
    done = run(command, ROOT)
    (document,) = reports_of(done.output)
    if not document["exhaustive"] or any(v["verdict"] != "holds" for v in document["verdicts"]):
        raise WrongAnswer(f"{case.name}, {name}: {done.output[:2000]}")
    return Sample(
        states=int(document["distinct_states"]),
        levels=int(document["depth"]),
        transitions=int(document["transitions"]),
        search=float(document["seconds"]),
        whole=done.seconds,
        cpu=done.cpu,
        sent=_sent(document["notes"]),
        shuffled=_shuffled(events),
        peak=done.peaks.together,
        peaks=done.peaks.kinds,
    )


def _tool() -> str:
    beside = Path(sys.executable).with_name("bivalence")
    return str(beside) if beside.exists() else "bivalence"


def _sent(notes: Sequence[str]) -> int:
    """Bytes of states that went from task to task, as the report says."""
    found = [re.search(r"spark: ([\d,]+) MB of states", note) for note in notes]
    return sum(int(one[1].replace(",", "")) * 1_000_000 for one in found if one is not None)


def _shuffled(folder: Path) -> int:
    """Bytes that tasks have written for later stages, from Spark's log of events."""
    total = 0
    for path in folder.rglob("*"):
        if path.is_file():
            for line in path.read_text().splitlines():
                event = json.loads(line)
                if event.get("Event") == "SparkListenerTaskEnd":
                    metrics = event.get("Task Metrics") or {}
                    written = metrics.get("Shuffle Write Metrics") or {}
                    total += int(written.get("Shuffle Bytes Written", 0))
    return total


def measured(case: Case, repeat: int, folder: Path) -> dict[str, Sample]:
    """The medians of all contestants, who take turns, so that a slow minute hits them all.

    Raises :class:`WrongAnswer`.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in CONTESTANTS}
    for _ in range(repeat):
        for name, runs in samples.items():
            runs.append(play(case, name, folder))
    known = (case.states, case.levels, case.transitions)
    first = samples[NATIVE][0]
    for name, runs in samples.items():
        for found in runs:
            numbers = (found.states, found.levels, found.transitions)
            wrong = numbers != (first.states, first.levels, first.transitions)
            if wrong or any(k not in (None, n) for k, n in zip(known, numbers, strict=True)):
                raise WrongAnswer(f"{case.name}: {name} has {numbers}, expected {known}")
            if case.room is not None and found.peak > case.room:
                gb = found.peak / 1e9
                raise WrongAnswer(f"{case.name}: {name} took {gb:.1f} GB, more than there may be")
    return {name: typical(runs) for name, runs in samples.items()}


def typical(runs: Sequence[Sample]) -> Sample:
    """The medians of several runs of one contestant; of memory, the most."""
    first = runs[0]
    return Sample(
        first.states,
        first.levels,
        first.transitions,
        search=median(one.search for one in runs),
        whole=median(one.whole for one in runs),
        cpu=median(one.cpu for one in runs),
        sent=int(median(one.sent for one in runs)),
        shuffled=int(median(one.shuffled for one in runs)),
        peak=max(one.peak for one in runs),
        peaks={kind: max(one.peaks[kind] for one in runs) for kind in first.peaks},
    )


def line(cells: Sequence[str]) -> str:
    """Cells in columns, the first to the left, the others to the right."""
    first, *rest = zip(cells, COLUMNS.values(), strict=True)
    return " ".join((first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)))


def row(name: str, sample: Sample, native: Sample) -> str:
    """One contestant's line of the table."""
    cells = (
        name,
        f"{sample.search:.2f}",
        f"{sample.states / sample.search:,.0f}",
        f"{native.search / sample.search:.2f}x",
        f"{sample.whole:.1f}",
        f"{sample.cpu:.1f}",
        *(f"{size / 1e6:,.0f}" for size in (sample.sent, sample.shuffled, sample.peak)),
        *(f"{sample.peaks[kind] / 1e6:,.0f}" for kind in (DRIVER, JAVA, PYTHON)),
    )
    return line(cells)


def show(case: Case, samples: Mapping[str, Sample]) -> None:
    """Prints the table of one case."""
    one = samples[NATIVE]
    sizes = f"{one.states:,} states, {one.levels} levels, {one.transitions:,} transitions"
    click.echo(f"\n{case.name}: {sizes}; load {os.getloadavg()[0]:.1f}")
    click.echo(line(list(COLUMNS)))
    for name, sample in samples.items():
        click.echo(row(name, sample, one))


def small_levels(found: Mapping[str, Mapping[str, Sample]]) -> dict[str, dict[str, float]]:
    """Seconds for one level of at most 256 states, by case and contestant.

    With the shuffle the driver makes such levels itself, unless a large one came before.
    """
    costs: dict[str, dict[str, float]] = {}
    for case in ("narrow_50", "narrow"):
        if case in found:
            costs[case] = {name: one.search / one.levels for name, one in found[case].items()}
    if "funnel" in found and "long_funnel" in found:
        short, long = found["funnel"], found["long_funnel"]
        more = long[SHUFFLE].search - short[SHUFFLE].search
        costs["after a wide part"] = {SHUFFLE: more / MORE_HOURS}
    return costs


def machine() -> dict[str, object]:
    """What it was measured on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    programs = {name: version(name) for name in ("bivalence", "pyspark", "pyarrow")}
    return {
        "cores": os.cpu_count(),
        "memory": pages,
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": os.getloadavg(),
        **programs,
    }


@click.command()
@click.option("--repeat", default=3, type=click.IntRange(min=1), help="Runs of each [3].")
@click.option("--only", multiple=True, type=click.Choice(list(CASES)), help="Cases to run.")
@click.option("--quick", is_flag=True, help="Small sizes: to see that all works, not to measure.")
@click.option("--large", is_flag=True, help="61.5 million states, too: about 5 GB of memory.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the medians here.")
def main(repeat: int, only: Sequence[str], quick: bool, large: bool, target: Path | None) -> None:
    """Measure the exchanges of the spark engine against the native engine."""
    names = only or (QUICK if quick else USUAL + (LARGE if large else ()))
    before, found = machine(), dict[str, dict[str, Sample]]()
    with tempfile.TemporaryDirectory(prefix="bivalence-bench-") as folder:
        for name in names:
            try:
                found[name] = measured(CASES[name], repeat, Path(folder))
            except Failed as error:
                raise click.ClickException(str(error)) from error
            show(CASES[name], found[name])
    costs = small_levels(found)
    if costs:
        click.echo("\nmilliseconds for a level of at most 256 states")
    for case, each in costs.items():
        words = ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in each.items())
        click.echo(f"  {case}: {words}")
    click.echo(f"\nrate: states/s as a multiple of {NATIVE}'s; peak: of all processes at one time.")
    if target is not None:
        cases = {
            case: {name: asdict(one) for name, one in each.items()} for case, each in found.items()
        }
        document = {"repeat": repeat, "machine": before, "cases": cases, "small_levels": costs}
        target.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
