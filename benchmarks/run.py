"""Measures our command: against a C program, SPIN and Rumur, with reductions, with threads.

Only ratios within one run mean something, and only if everybody explored the same states: a
wrong count is an error, not a row. See README.md of this folder.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import comparing, reducing, scaling
from benchmarks.cases import CASES, USUAL, Case
from benchmarks.comparing import Played, WrongAnswer
from benchmarks.contestants import CONTESTANTS, OUR_COMMAND, ROOT, Misunderstood, Sample, Who
from benchmarks.measure import ProcessFailed, Stopwatch
from benchmarks.tables import Table, into_page, number

SMALLEST = Case("smallest", "", "specs/broadcast/best_effort.bcast::no_fault", {}, 0, 0)
PEERS, REDUCTIONS, THREADS = "peers", "reductions", "threads"
PARTS = (PEERS, REDUCTIONS, THREADS)
HEADINGS = (
    *("", "states", "search s", "states/s", "whole s", "peak MB", "B/state", "peak/state"),
    *("search/ours", "whole/ours"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured, and how often."""

    parts: Sequence[str]
    cases: Sequence[str]
    contestants: Sequence[Who]
    checks: Sequence[str]
    spaces: Sequence[str]
    repeat: int
    long: bool


def row(name: Who, sample: Sample, base: Sample | None) -> tuple[str, ...]:
    """One contestant's line of the table; ratios are to ``base``, ours."""
    return (
        name,
        f"{sample.states:,}",
        number(sample.search),
        f"{sample.states / sample.search:,.0f}",
        number(sample.whole),
        f"{sample.peak / 1e6:.1f}",
        "-" if sample.stored is None else f"{sample.stored / sample.states:.1f}",
        f"{sample.peak / sample.states:.1f}",
        "-" if base is None else f"{sample.search / base.search:.2f}x",
        "-" if base is None else f"{sample.whole / base.whole:.2f}x",
    )


def compared(case: Case, wanted: Wanted, stopwatch: Stopwatch, folder: Path) -> dict[Who, Sample]:
    """Measures one case and prints its table; the medians of those that took part."""
    click.echo(f"\n{case.name}")
    names = comparing.taking_part(case, wanted.contestants, click.echo)
    samples = comparing.measured(case, names, wanted.repeat, stopwatch, folder)
    rows = {name: comparing.typical(runs) for name, runs in samples.items()}
    click.echo(table(case, rows).text())
    return rows


def table(case: Case, rows: dict[Who, Sample]) -> Table:
    """All contestants at one case."""
    title = f"{case.name}: {case.bits} bits, {case.bits / 8:.1f} bytes a state when packed"
    lines = [row(name, sample, rows.get(Who.OURS)) for name, sample in rows.items()]
    return Table(title, HEADINGS, lines)


def summary(played: Played) -> Table:
    """The geometric means of the ratios."""
    found = comparing.ratios(played)
    lines = [
        (r.what, f"{r.mean:.2f}x", "-" if r.target is None else f"{r.target:.2f}x", str(r.cases))
        for r in found
    ]
    return Table("Geometric means", ("ours against", "mean", "wanted", "cases"), lines)


def smallest(repeat: int, stopwatch: Stopwatch) -> float | None:
    """Seconds from the shell to the verdict on the smallest spec, after one run to warm up."""
    reason = CONTESTANTS[Who.OURS].missing(SMALLEST)
    if reason is not None:
        click.echo(f"smallest spec, shell to verdict: skipped, {reason}")
        return None
    command = [OUR_COMMAND, "check", SMALLEST.spec]
    stopwatch.run(command, ROOT)
    runs = [stopwatch.run(command, ROOT) for _ in range(repeat)]
    seconds = median(run.seconds for run in runs)
    peak = median(run.peak for run in runs)
    click.echo(f"smallest spec, shell to verdict: {seconds:.3f} s, {peak / 1e6:.1f} MB")
    return seconds


def machine() -> dict[str, Any]:
    """On what it was measured."""
    return {
        "processors": os.cpu_count(),
        "kind": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


def everything(wanted: Wanted, folder: Path) -> tuple[list[Table], dict[str, Any]]:
    """All that is wanted, as tables and as a document."""
    stopwatch = Stopwatch(folder)
    tables: list[Table] = []
    document: dict[str, Any] = {"repeat": wanted.repeat, "machine": machine()}
    if PEERS in wanted.parts:
        document["smallest_spec_seconds"] = smallest(wanted.repeat, stopwatch)
        played = {n: compared(CASES[n], wanted, stopwatch, folder) for n in wanted.cases}
        means = summary(played)
        click.echo(means.text())
        tables += [means, *(table(CASES[name], rows) for name, rows in played.items())]
        document["cases"] = {n: {k: asdict(s) for k, s in r.items()} for n, r in played.items()}
        document["means"] = [asdict(ratio) for ratio in comparing.ratios(played)]
    if REDUCTIONS in wanted.parts:
        click.echo("\nreductions")
        options = (wanted.repeat, wanted.long, stopwatch, folder, click.echo)
        savings = reducing.all_saved(wanted.checks, *options)
        tables += [reducing.table(savings), reducing.reasons(savings)]
        click.echo("\n".join(table_.text() for table_ in tables[-2:]))
        document["reductions"] = [asdict(saving) for saving in savings]
        document["reduction_means"] = [asdict(ratio) for ratio in reducing.means(savings)]
    if THREADS in wanted.parts:
        click.echo("\nthreads")
        scaled = scaling.all_scaled(wanted.spaces, wanted.repeat, stopwatch, folder, click.echo)
        tables.append(scaling.table(scaled))
        click.echo(tables[-1].text())
        document["threads"] = {
            name: {k: [asdict(run) for run in runs] for k, runs in by_threads.items()}
            for name, by_threads in scaled.items()
        }
    return tables, document


def chosen(
    parts: Sequence[str], only: Sequence[str], who: Sequence[str], quick: bool
) -> tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str], Sequence[Who]]:
    """What the options name: parts, cases, checks, instances for threads, contestants."""
    everyone = tuple(Who(name) for name in who) or tuple(Who)
    if only:
        cases = [name for name in only if name in CASES]
        checks = [name for name in only if name in reducing.CHECKS]
        named = [part for part, rows in ((PEERS, cases), (REDUCTIONS, checks)) if rows]
        spaces = [n for n in only if n in scaling.SPACES] if THREADS in parts else []
        return (*named, *([THREADS] if spaces else [])), cases, checks, spaces, everyone
    if quick:
        cases = [name for name, case in CASES.items() if case.quick]
        checks = [name for name, check in reducing.CHECKS.items() if check.quick]
        return parts or PARTS, cases, checks, scaling.QUICK, everyone
    return parts or PARTS, USUAL, list(reducing.CHECKS), scaling.USUAL, everyone


NAMES = sorted({*CASES, *reducing.CHECKS, *scaling.SPACES})


@click.command()
@click.option("--repeat", default=3, type=click.IntRange(min=1), help="Runs of each [3].")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="[all]")
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Cases or checks to run.")
@click.option(
    "--with", "who", multiple=True, type=click.Choice([w.value for w in Who]), help="[all]"
)
@click.option("--quick", is_flag=True, help="Small sizes: to see that all works, not to measure.")
@click.option("--long", is_flag=True, help="Large checks without reductions too: 10 minutes each.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all of it here.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the tables there.")
def main(
    repeat: int,
    parts: Sequence[str],
    only: Sequence[str],
    who: Sequence[str],
    quick: bool,
    long: bool,
    target: Path | None,
    page: Path | None,
) -> None:
    """Measure bivalence: against hand-written C, SPIN and Rumur; with reductions; with threads."""
    named, cases, checks, spaces, everyone = chosen(parts, only, who, quick)
    wanted = Wanted(named, cases, everyone, checks, spaces, repeat, long)
    with tempfile.TemporaryDirectory(prefix="bivalence-bench-") as name:
        try:
            tables, document = everything(wanted, Path(name))
        except (ProcessFailed, Misunderstood, WrongAnswer) as error:
            raise click.ClickException(str(error)) from error
    if target is not None:
        target.write_text(json.dumps(document, indent=2) + "\n")
    if page is not None:
        text = "\n\n".join(table_.markdown() for table_ in tables)
        where = f"{document['machine']['processors']} processors, {document['machine']['kind']}"
        into_page(page, f"Measured with {where}, medians of {repeat}.\n\n{text}")


if __name__ == "__main__":
    main()
