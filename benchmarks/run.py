"""Measures our command against a C program, SPIN and Rumur, all in one run.

Only ratios within one run mean something, and only if everybody explored the same states: a
wrong count is an error, not a row. See README.md of this folder.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import click
from contestants import CONTESTANTS, OURS, ROOT, Case, Misunderstood, Sample
from measure import ProcessFailed, Stopwatch

SMALLEST_SPEC = "specs/broadcast/best_effort.bcast::no_fault"


def two_phase(n: int, states: int, *, quick: bool = False) -> Case:
    """Two-phase commit with ``n`` resource managers: 2 bits for each and 2 sets, then 4 bits."""
    spec = "specs/oracles/two_phase.bcast::three"
    return Case(f"two_phase_{n}", "two_phase", spec, {"n": n}, states, 4 * n + 4, quick)


def bcast_folklore(n: int, f: int, states: int, *, quick: bool = False) -> Case:
    """Broadcast by diffusion among ``n``, ``f`` crashes: 2 bits and 1 + n sets for each."""
    spec = "specs/oracles/bcast_folklore.bcast::three"
    parameters = {"n": n, "F": f}
    bits = 3 * n + n * n
    return Case(f"bcast_folklore_{n}", "bcast_folklore", spec, parameters, states, bits, quick)


CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        two_phase(5, 8_832, quick=True),
        two_phase(8, 1_745_408),
        two_phase(9, 10_340_352),
        bcast_folklore(3, 1, 3_700, quick=True),
        bcast_folklore(4, 1, 501_552),
    )
}
USUAL = ("two_phase_8", "bcast_folklore_4")
"""Run when nothing else is asked for."""

COLUMNS: Mapping[str, int] = {
    "": 10,
    "states": 11,
    "search s": 9,
    "states/s": 11,
    "whole s": 8,
    "peak MB": 8,
    "B/state": 8,
    "search/ours": 12,
    "whole/ours": 11,
}
"""Headings of the table, and how wide the columns are."""


class WrongAnswer(click.ClickException):
    """Two contestants, or one and the expected number, disagree."""


def missing(name: str, case: Case) -> str | None:
    """Why a contestant can't take part in a case, in words, or ``None``."""
    program = CONTESTANTS[name].missing()
    if program is not None:
        return f"{program} is not installed"
    if name == OURS and not (ROOT / case.spec.partition("::")[0]).is_file():
        return f"there is no {case.spec}"
    return None


def measured(
    case: Case, names: Sequence[str], repeat: int, stopwatch: Stopwatch, folder: Path
) -> dict[str, list[Sample]]:
    """Lets the contestants take turns, ``repeat`` times, so that a slow minute hits them all.

    Raises :class:`WrongAnswer` unless all find the expected number of states and the same depth.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    for _ in range(repeat):
        for name in names:
            place = folder / f"{case.name}-{name}"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            sample = CONTESTANTS[name].play(case, stopwatch, place)
            if sample.states != case.states:
                found = f"{name} found {sample.states} states, not {case.states}"
                raise WrongAnswer(f"{case.name}: {found}")
            samples[name].append(sample)
    depths = {s.depth for runs in samples.values() for s in runs if s.depth is not None}
    if len(depths) > 1:
        raise WrongAnswer(f"{case.name}: the depths differ: {sorted(depths)}")
    return samples


def typical(runs: Sequence[Sample]) -> Sample:
    """The medians of several runs of one contestant."""
    return Sample(
        states=runs[0].states,
        depth=runs[0].depth,
        search=median(run.search for run in runs),
        whole=median(run.whole for run in runs),
        peak=int(median(run.peak for run in runs)),
    )


def row(name: str, sample: Sample, base: Sample | None) -> str:
    """One contestant's line of the table; ratios are to ``base``, ours."""
    cells = (
        name,
        f"{sample.states:,}",
        f"{sample.search:.3f}",
        f"{sample.states / sample.search:,.0f}",
        f"{sample.whole:.3f}",
        f"{sample.peak / 1e6:.1f}",
        f"{sample.peak / sample.states:.1f}",
        "-" if base is None else f"{sample.search / base.search:.2f}x",
        "-" if base is None else f"{sample.whole / base.whole:.2f}x",
    )
    return line(cells)


def line(cells: Sequence[str]) -> str:
    """Cells in columns, the first to the left, the others to the right."""
    first, *rest = zip(cells, COLUMNS.values(), strict=True)
    return " ".join((first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)))


def compare(case: Case, repeat: int, stopwatch: Stopwatch, folder: Path) -> dict[str, Sample]:
    """Measures one case and prints its table; the medians of those that took part."""
    click.echo(f"\n{case.name}: {case.bits} bits, {case.bits / 8:.1f} bytes a state when packed")
    names = []
    for name in CONTESTANTS:
        reason = missing(name, case)
        if reason is None:
            names.append(name)
        else:
            click.echo(f"  {name} skipped: {reason}")
    samples = measured(case, names, repeat, stopwatch, folder)
    rows = {name: typical(runs) for name, runs in samples.items()}
    click.echo(line(list(COLUMNS)))
    for name, sample in rows.items():
        click.echo(row(name, sample, rows.get(OURS)))
    return rows


def smallest(repeat: int, stopwatch: Stopwatch) -> float | None:
    """Seconds from the shell to the verdict on the smallest spec, after one run to warm up."""
    program = CONTESTANTS[OURS].missing()
    if program is not None or not (ROOT / SMALLEST_SPEC.partition("::")[0]).is_file():
        reason = f"no {SMALLEST_SPEC}" if program is None else f"{program} is not installed"
        click.echo(f"smallest spec, shell to verdict: skipped, {reason}")
        return None
    command = [OURS, "check", SMALLEST_SPEC]
    stopwatch.run(command, ROOT)
    runs = [stopwatch.run(command, ROOT) for _ in range(repeat)]
    seconds = median(run.seconds for run in runs)
    peak = median(run.peak for run in runs)
    click.echo(f"smallest spec, shell to verdict: {seconds:.3f} s, {peak / 1e6:.1f} MB")
    return seconds


@click.command()
@click.option("--repeat", default=3, type=click.IntRange(min=1), help="Runs of each [3].")
@click.option("--only", multiple=True, type=click.Choice(list(CASES)), help="Cases to run.")
@click.option("--quick", is_flag=True, help="Small sizes: to see that all works, not to measure.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the medians here.")
def main(repeat: int, only: Sequence[str], quick: bool, target: Path | None) -> None:
    """Measure bivalence against hand-written C, SPIN and Rumur."""
    names = only or ([name for name, case in CASES.items() if case.quick] if quick else USUAL)
    with tempfile.TemporaryDirectory(prefix="bivalence-bench-") as name:
        folder = Path(name)
        try:
            stopwatch = Stopwatch(folder)
            seconds = None if only else smallest(repeat, stopwatch)
            rows = {name: compare(CASES[name], repeat, stopwatch, folder) for name in names}
        except (ProcessFailed, Misunderstood) as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"\nLast two columns: seconds over those of {OURS}; above 1, the peer took longer.")
    if target is not None:
        cases = {case: {k: asdict(v) for k, v in found.items()} for case, found in rows.items()}
        document = {"repeat": repeat, "smallest_spec_seconds": seconds, "cases": cases}
        target.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
