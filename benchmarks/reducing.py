"""What reductions save: the library's checks with and without them, all in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from benchmarks.comparing import Ratio, WrongAnswer
from benchmarks.contestants import OUR_COMMAND, ROOT, counted, report_of
from benchmarks.measure import Stopwatch
from benchmarks.tables import Table, number

NONE, AUTO = "none", "auto"
LIBRARY, ORACLES, LARGE = "library", "oracles", "large"
FEWER, FASTER = 20.0, 10.0
"""What the geometric means over the library's checks are to reach."""
PATIENCE = 600
"""Seconds after which a large check is given up."""
ROOM = "12G"
JUDGED = (0, 1, 3, 4)
"""Exit codes of a check that was judged, whatever came out."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the library. ``patience``: seconds after which it is given up."""

    spec: str
    settings: Mapping[str, int] = field(default_factory=dict)
    group: str = LIBRARY
    quick: bool = False
    patience: int | None = None

    @property
    def name(self) -> str:
        """As the table calls it."""
        short = self.spec.removeprefix("specs/").replace(".bcast::", " ")
        return " ".join((short, *(f"{name}={value}" for name, value in self.settings.items())))


def _library(file: str, *checks: str) -> list[Check]:
    return [Check(f"specs/{file}.bcast::{check}") for check in checks]


CHECKS: Mapping[str, Check] = {
    check.name: check
    for check in (
        *_library("broadcast/gossip", "two_rounds_crash_two"),
        *_library("broadcast/lazy_reliable", "crash_two"),
        Check("specs/broadcast/thrifty_reliable.bcast::crash_two_of_four", quick=True),
        *_library("byzantine/bracha", "four", "joins_too_soon", "too_few_readies"),
        Check("specs/byzantine/consistent_echo.bcast::four", quick=True),
        *_library("byzantine/echo", *(f"built_for_one_with_{k}" for k in ("none", "one", "two"))),
        *_library(
            "byzantine/echo", *(f"built_for_two_with_{k}" for k in ("none", "one", "two", "three"))
        ),
        *_library("byzantine/pbft_round", "four", "too_few_prepares", "two_phases"),
        *_library(
            "consensus/paxos", "anything_goes", "crash_and_loss", "quorums_that_miss_each_other"
        ),
        Check("specs/oracles/aba_asyn_byz.bcast::four", group=ORACLES),
        Check("specs/oracles/bcast_byz.bcast::four", group=ORACLES),
        Check("specs/oracles/paxos.bcast::three", group=ORACLES),
        Check("specs/oracles/two_phase.bcast::five", group=ORACLES, quick=True),
        Check("specs/oracles/two_phase.bcast::eight", group=ORACLES),
        Check("specs/oracles/two_phase.bcast::nine", group=ORACLES),
        *(
            Check(f"specs/{spec}", {"n": n}, LARGE, patience=PATIENCE)
            for spec in (
                "broadcast/eager_reliable.bcast::crash_two",
                "byzantine/bracha.bcast::four",
            )
            for n in (5, 6)
        ),
    )
}
"""By name: all checks of the library with four or more processes, and larger ones."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a check.

    ``without``: the number of states that there are without reductions, as the report says, and
    whether that is ``exact``; ``stopped``: why not all was explored.
    """

    states: int
    seconds: float
    whole: float
    peak: int
    verdicts: Mapping[str, str]
    used: tuple[str, ...]
    unused: tuple[str, ...]
    without: int | None
    exact: bool
    stopped: str | None


def play(check: Check, mode: str, stopwatch: Stopwatch, folder: Path) -> Run:
    """Runs a check with ``--reduce mode`` and one thread; the command itself times the search."""
    command = [OUR_COMMAND, "check", counted(check.spec, folder), "--no-explain", "--quiet"]
    for name, value in check.settings.items():
        command += ["--set", f"{name}={value}"]
    if check.patience is not None:
        command += ["--timeout", str(check.patience), "--memory", ROOM]
    command += ["--threads", "1", "--reduce", mode, "--json", "-"]
    done = stopwatch.run(command, ROOT, JUDGED)
    return _run(report_of(done), done.seconds, done.peak)


def _run(document: Mapping[str, Any], whole: float, peak: int) -> Run:
    reduced = document["reduced"]
    stopped = document["stopped"]
    return Run(
        states=int(document["distinct_states"]),
        seconds=float(document["seconds"]) + float(document["liveness_seconds"] or 0.0),
        whole=whole,
        peak=peak,
        verdicts={v["property"]: str(v["verdict"]) for v in document["verdicts"]},
        used=tuple(reduced["used"]),
        unused=tuple(f"{entry['kind']}: {entry['why']}" for entry in reduced["unused"]),
        without=reduced["without"],
        exact=bool(reduced["exact"]),
        stopped=None if document["exhaustive"] else str(stopped or "not exhaustive"),
    )


@dataclass(frozen=True, slots=True)
class Saving:
    """A check without reductions and with them; ``full`` is ``None`` where that was not tried."""

    check: Check
    full: Run | None
    reduced: Run

    @property
    def comparable(self) -> bool:
        """Whether both have explored all they had to."""
        return self.full is not None and not self.full.stopped and not self.reduced.stopped

    @property
    def fewer(self) -> float | None:
        """How many times fewer states."""
        if self.full is None or not self.comparable:
            return None
        return self.full.states / self.reduced.states

    @property
    def faster(self) -> float | None:
        """How many times less time the search took."""
        if self.full is None or not self.comparable:
            return None
        return self.full.seconds / self.reduced.seconds


def saved(check: Check, repeat: int, long: bool, stopwatch: Stopwatch, folder: Path) -> Saving:
    """Lets both take turns. Raises :class:`WrongAnswer` where they disagree.

    A large check is run once, and without reductions only if ``long``.
    """
    modes = (NONE, AUTO) if check.group != LARGE or long else (AUTO,)
    runs: dict[str, list[Run]] = {mode: [] for mode in modes}
    for _ in range(repeat if check.group != LARGE else 1):
        for mode in modes:
            runs[mode].append(play(check, mode, stopwatch, folder))
    full = _typical(runs[NONE]) if NONE in runs else None
    saving = Saving(check, full, _typical(runs[AUTO]))
    agree(saving)
    return saving


def agree(saving: Saving) -> None:
    """Raises :class:`WrongAnswer` unless what was found with reductions is what there is."""
    full, reduced, name = saving.full, saving.reduced, saving.check.name
    if full is None or not saving.comparable:
        return
    if full.verdicts != reduced.verdicts:
        raise WrongAnswer(f"{name}: {reduced.verdicts} with reductions, without {full.verdicts}")
    if reduced.states > full.states:
        raise WrongAnswer(f"{name}: {reduced.states} states with reductions of {full.states}")
    if reduced.exact and reduced.without not in (None, full.states):
        raise WrongAnswer(f"{name}: {reduced.without} states are said to be, of {full.states}")


def _typical(runs: Sequence[Run]) -> Run:
    first = runs[0]
    if any(run.states != first.states or run.verdicts != first.verdicts for run in runs):
        raise WrongAnswer("two runs of one check differ")
    return Run(
        first.states,
        median(run.seconds for run in runs),
        median(run.whole for run in runs),
        int(median(run.peak for run in runs)),
        *(first.verdicts, first.used, first.unused, first.without, first.exact, first.stopped),
    )


def means(savings: Sequence[Saving]) -> list[Ratio]:
    """The geometric means, for the library's own checks and for the oracles."""
    found = []
    for group, fewer, faster in ((LIBRARY, FEWER, FASTER), (ORACLES, None, None)):
        rows = [s for s in savings if s.check.group == group]
        states = [s.fewer for s in rows if s.fewer is not None]
        seconds = [s.faster for s in rows if s.faster is not None]
        if states and seconds:
            found.append(Ratio(f"fewer states, {group}", _mean(states), len(states), fewer))
            found.append(Ratio(f"less time, {group}", _mean(seconds), len(seconds), faster))
    return found


def _mean(values: Sequence[float]) -> float:
    return geometric_mean(values)


HEADINGS = ("check", "states", "reduced", "fewer", "s", "reduced s", "less", "by")


def table(savings: Sequence[Saving]) -> Table:
    """A line for each check, and the means."""
    notes = [str(mean) for mean in means(savings)]
    return Table("Reductions", HEADINGS, [_row(saving) for saving in savings], notes)


def _row(saving: Saving) -> tuple[str, ...]:
    full, reduced = saving.full, saving.reduced
    return (
        saving.check.name,
        "-" if full is None else _states(full),
        _states(reduced),
        _times(saving.fewer),
        "-" if full is None else number(full.seconds),
        number(reduced.seconds),
        _times(saving.faster),
        ", ".join(reduced.used) or "nothing",
    )


def _states(run: Run) -> str:
    return f"{run.states:,}" if run.stopped is None else f"over {run.states:,}"


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def reasons(savings: Sequence[Saving]) -> Table:
    """Why reductions were not used, or less than they could be."""
    rows = [(s.check.name, why) for s in savings for why in s.reduced.unused]
    return Table("Not used", ("check", "why"), rows)


def all_saved(
    names: Sequence[str],
    repeat: int,
    long: bool,
    stopwatch: Stopwatch,
    folder: Path,
    say: Callable[[str], None],
) -> list[Saving]:
    """All of ``names``, in turn; says which one is at work."""
    found = []
    for name in names:
        say(f"  {name}")
        found.append(saved(CHECKS[name], repeat, long, stopwatch, folder))
    return found
