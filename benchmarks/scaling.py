"""One thread against two, and what a state takes in memory, all in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.comparing import WrongAnswer
from benchmarks.contestants import OUR_COMMAND, ROOT, counted, report_of
from benchmarks.measure import Stopwatch
from benchmarks.tables import Table, number

THREADS = (1, 2)
WANTED = 1.7
"""So many times as fast with two threads."""


@dataclass(frozen=True, slots=True)
class Space:
    """A check whose states are all explored; ``states`` of them, where somebody else has said."""

    spec: str
    states: int | None
    settings: Mapping[str, int] = field(default_factory=dict)


SPACES: Mapping[str, Space] = {
    "two_phase_9": Space("specs/oracles/two_phase.bcast::nine", 10_340_352),
    "bracha_joins_too_soon": Space("specs/byzantine/bracha.bcast::joins_too_soon", None),
    "two_phase_5": Space("specs/oracles/two_phase.bcast::five", 8_832),
}
USUAL = ("two_phase_9", "bracha_joins_too_soon")
QUICK = ("two_phase_5",)


@dataclass(frozen=True, slots=True)
class Run:
    """``seconds`` of the search; ``cpu`` seconds of the whole process; ``stored`` bytes a state."""

    states: int
    depth: int
    seconds: float
    cpu: float
    peak: int
    stored: float


def play(space: Space, threads: int, stopwatch: Stopwatch, folder: Path) -> Run:
    """Explores all states with so many threads."""
    command = [OUR_COMMAND, "check", counted(space.spec, folder), "--no-explain", "--quiet"]
    for name, value in space.settings.items():
        command += ["--set", f"{name}={value}"]
    command += ["--threads", str(threads), "--reduce", "none", "--json", "-"]
    done = stopwatch.run(command, ROOT)
    document = report_of(done)
    return Run(
        states=int(document["distinct_states"]),
        depth=int(document["depth"]),
        seconds=float(document["seconds"]),
        cpu=done.cpu,
        peak=done.peak,
        stored=float(document["bytes_per_state"]),
    )


def scaled(name: str, repeat: int, stopwatch: Stopwatch, folder: Path) -> dict[int, list[Run]]:
    """Lets one thread and two take turns; raises :class:`WrongAnswer` where they disagree."""
    space = SPACES[name]
    runs: dict[int, list[Run]] = {threads: [] for threads in THREADS}
    for _ in range(repeat):
        for threads in THREADS:
            runs[threads].append(play(space, threads, stopwatch, folder))
    found = {(run.states, run.depth) for all_runs in runs.values() for run in all_runs}
    if len(found) > 1:
        raise WrongAnswer(f"{name}: states and depth differ: {sorted(found)}")
    states = next(iter(found))[0]
    if space.states not in (None, states):
        raise WrongAnswer(f"{name}: {states} states, not {space.states}")
    return runs


Scaled = Mapping[str, Mapping[int, Sequence[Run]]]


def all_scaled(
    names: Sequence[str],
    repeat: int,
    stopwatch: Stopwatch,
    folder: Path,
    say: Callable[[str], None],
) -> Scaled:
    """All of ``names``, in turn; says which one is at work."""
    found = {}
    for name in names:
        say(f"  {name}")
        found[name] = scaled(name, repeat, stopwatch, folder)
    return found


HEADINGS = (
    "instance",
    "threads",
    "states",
    "s",
    "states/s",
    "cpu s",
    "B/state",
    "peak MB",
    "faster",
)


def table(scaled_: Scaled) -> Table:
    """A line for each instance and number of threads; medians."""
    rows = []
    for name, by_threads in scaled_.items():
        alone = median(run.seconds for run in by_threads[1])
        for threads, runs in by_threads.items():
            seconds = median(run.seconds for run in runs)
            rows.append(
                (
                    name,
                    str(threads),
                    f"{runs[0].states:,}",
                    number(seconds),
                    f"{runs[0].states / seconds:,.0f}",
                    number(median(run.cpu for run in runs)),
                    f"{median(run.stored for run in runs):.1f}",
                    f"{median(run.peak for run in runs) / 1e6:,.0f}",
                    f"{alone / seconds:.2f}x",
                )
            )
    note = f"Wanted with two threads on runs of over 5 million states: {WANTED}x"
    return Table("Threads", HEADINGS, rows, (note,))
