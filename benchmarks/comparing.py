"""Checkers against one another: who found what in which time, and the ratios of that."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from benchmarks.cases import Case
from benchmarks.contestants import CONTESTANTS, FULL, Sample, Who
from benchmarks.measure import Stopwatch

Played = Mapping[str, Mapping[Who, Sample]]
"""By the name of the case: the medians of those that took part."""
REDUCED_ROOM = 1_800_000
"""Rumur's renaming of nine resource managers takes minutes; larger cases go without it."""


class WrongAnswer(Exception):
    """Two contestants, or one and the expected number, disagree."""


def taking_part(case: Case, wanted: Sequence[Who], say: Callable[[str], None]) -> list[Who]:
    """The contestants that can play a case; says who can't, and why."""
    names = []
    for name in wanted:
        reason = CONTESTANTS[name].missing(case)
        if name is Who.RUMUR_SYMMETRY and case.states > REDUCED_ROOM and reason is None:
            reason = "it takes too long"
        if reason is None:
            names.append(name)
        else:
            say(f"  {name} skipped: {reason}")
    return names


def measured(
    case: Case, names: Sequence[Who], repeat: int, stopwatch: Stopwatch, folder: Path
) -> dict[Who, list[Sample]]:
    """Lets the contestants take turns, ``repeat`` times, so that a slow minute hits them all.

    Raises :class:`WrongAnswer` unless those that leave nothing out find the expected number of
    states and the same depth, and the others no more states.
    """
    samples: dict[Who, list[Sample]] = {name: [] for name in names}
    for _ in range(repeat):
        for name in names:
            place = folder / f"{case.name}-{name.replace(' ', '-')}"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            sample = CONTESTANTS[name].play(case, stopwatch, place)
            wrong = _wrong(case, name, sample)
            if wrong is not None:
                raise WrongAnswer(f"{case.name}: {name} found {sample.states} states, not {wrong}")
            samples[name].append(sample)
    depths = {s.depth for runs in samples.values() for s in runs if s.depth is not None}
    if len(depths) > 1:
        raise WrongAnswer(f"{case.name}: the depths differ: {sorted(depths)}")
    return samples


def _wrong(case: Case, name: Who, sample: Sample) -> str | None:
    """What should have been found, where something else was."""
    if name in FULL or not sample.used:
        return None if sample.states == case.states else str(case.states)
    if sample.used == ("symmetry",) and case.orbits is not None:
        return None if sample.states == case.orbits else f"{case.orbits} orbits"
    return None if 0 < sample.states <= case.states else f"at most {case.states}"


def typical(runs: Sequence[Sample]) -> Sample:
    """The medians of several runs of one contestant."""
    stored = [run.stored for run in runs if run.stored is not None]
    return Sample(
        states=runs[0].states,
        depth=runs[0].depth,
        search=median(run.search for run in runs),
        whole=median(run.whole for run in runs),
        peak=int(median(run.peak for run in runs)),
        stored=int(median(stored)) if stored else None,
        used=runs[0].used,
    )


@dataclass(frozen=True, slots=True)
class Ratio:
    """A geometric mean over cases of how often something of ours goes into a peer's.

    ``target``: what it has to be at least, where there is one.
    """

    what: str
    mean: float
    cases: int
    target: float | None

    def __str__(self) -> str:
        goal = "" if self.target is None else f" (wanted: {self.target:g}x)"
        return f"{self.what}: {self.mean:.2f}x{goal}, {self.cases} cases"


def ratios(played: Played) -> list[Ratio]:
    """The ratios that sum a comparison up, over the cases that were written for all three tools."""
    common = [r for r in played.values() if {Who.OURS, Who.SPIN, Who.RUMUR} <= r.keys()]
    found = [
        _ratio("states a second over SPIN's", common, Who.SPIN, _speed, 3.0),
        _ratio("states a second over Rumur's", common, Who.RUMUR, _speed, 15.0),
        _ratio("SPIN's bytes a state over ours", common, Who.SPIN, _stored, None),
        _ratio("SPIN COLLAPSE's bytes a state over ours", common, Who.COLLAPSE, _stored, 1.0),
        _ratio("SPIN COLLAPSE's peak over ours", common, Who.COLLAPSE, _peak, None),
        _ratio("Rumur's peak over ours", common, Who.RUMUR, _peak, None),
    ]
    for model in ("two_phase", "bcast_folklore"):
        rows = [r for name, r in played.items() if name.startswith(model)]
        goal = 1 / 1.5 if model == "two_phase" else None
        found.append(_ratio(f"states a second over C's, {model}", rows, Who.C, _speed, goal))
    return [ratio for ratio in found if ratio is not None]


Measure = Callable[[Sample, Sample], float | None]


def _speed(ours: Sample, theirs: Sample) -> float | None:
    return (ours.states / ours.search) / (theirs.states / theirs.search)


def _stored(ours: Sample, theirs: Sample) -> float | None:
    if not ours.stored or not theirs.stored:
        return None
    return theirs.stored / ours.stored


def _peak(ours: Sample, theirs: Sample) -> float | None:
    return theirs.peak / ours.peak


def _ratio(
    what: str,
    rows: Sequence[Mapping[Who, Sample]],
    peer: Who,
    measure: Measure,
    target: float | None,
) -> Ratio | None:
    both = [row for row in rows if {Who.OURS, peer} <= row.keys()]
    values = [v for row in both if (v := measure(row[Who.OURS], row[peer])) is not None]
    return Ratio(what, geometric_mean(values), len(values), target) if values else None
