"""What small checks cost as whole commands: processor time, as a multiple of starting Python with
the libraries of the command line.

    python -m benchmarks.first_second                      # warm and cold
    python -m benchmarks.first_second --against main       # beside another revision
    python -m benchmarks.first_second --turns 25

All commands take turns.  What each reports has to be what is expected of it, and the same in both
revisions; anything else ends the run with an error.  Seconds are of the processor, the lower
quartile of all turns; *cold*: with an empty cache folder.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.comparing import WrongAnswer
from benchmarks.planning import ROOT, checked_out
from benchmarks.tables import Table, number

BASE = "import click, lark"
SPEC = "specs/broadcast/eager_reliable.bcast"


class Case(NamedTuple):
    """A command, and what its report has to contain."""

    name: str
    arguments: tuple[str, ...]
    expected: str
    cold: bool = False


CASES = (
    Case("the smallest check", ("check", f"{SPEC}::no_fault"), "searched 7 distinct states"),
    Case("one that is explained", ("check", f"{SPEC}::crash_one"), "searched 23 distinct states"),
    Case("the five of the file", ("check", SPEC), "21 hold, 4 violated; 144 states"),
    Case("the smallest, cold", ("check", f"{SPEC}::no_fault"), "searched 7 distinct states", True),
)
_TIMES = re.compile(r"\d+\.\d+ s")


class Run(NamedTuple):
    """What a process took of the processor, in seconds, and what it printed."""

    seconds: float
    printed: str


def run(command: Sequence[str], tree: Path, cache: str) -> Run:
    """Runs a command in the folder ``tree``; raises :class:`WrongAnswer` if it fails."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(tree), "COLUMNS": "100"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise WrongAnswer(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds, _TIMES.sub("… s", done.stdout))


def of_case(case: Case, tree: Path, cache: str) -> Run:
    """Runs the command of a case by the tool in ``tree``."""
    command = (sys.executable, "-m", "checker.cli", *case.arguments)
    if case.cold:
        with tempfile.TemporaryDirectory() as empty:
            found = run(command, tree, empty)
    else:
        found = run(command, tree, cache)
    if case.expected not in found.printed:
        raise WrongAnswer(f"{case.name}: {case.expected!r} is not in\n{found.printed}")
    return found


def lower_quartile(times: list[float]) -> float:
    return sorted(times)[len(times) // 4]


def measured(trees: Sequence[Path], turns: int) -> tuple[float, list[list[float]]]:
    """Seconds of the base, and of each case by each of ``trees``."""
    base: list[float] = []
    times: list[list[list[float]]] = [[[] for _ in trees] for _ in CASES]
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns + 1):
            base.append(run((sys.executable, "-c", BASE), ROOT, folder).seconds)
            for case, row in zip(CASES, times, strict=True):
                runs = [
                    of_case(case, tree, f"{folder}/{place}") for place, tree in enumerate(trees)
                ]
                if not turn:  # it fills the caches
                    continue
                if len({one.printed for one in runs}) > 1:
                    raise WrongAnswer(f"{case.name}: the revisions print different reports")
                for seconds, one in zip(row, runs, strict=True):
                    seconds.append(one.seconds)
    return lower_quartile(base[1:]), [[lower_quartile(one) for one in row] for row in times]


@click.command()
@click.option("--turns", type=click.IntRange(min=1), default=9, show_default=True)
@click.option("--against", metavar="REVISION", help="Another revision, which takes turns.")
def main(turns: int, against: str | None) -> None:
    """Measure whole commands of small checks."""
    with checked_out(against) if against else nullcontext() as other:
        trees = [ROOT] if other is None else [ROOT, other]
        base, times = measured(trees, turns)
    heads = ["", "seconds", "× base"]
    heads += ["before", "now / before"] if against else []
    rows = [["base", number(base), "1", *([""] * (len(heads) - 3))]]
    for case, (now, *before) in zip(CASES, times, strict=True):
        row = [case.name, number(now), number(now / base)]
        rows.append([*row, *(x for b in before for x in (number(b), number(now / b)))])
    click.echo(Table("Whole commands of small checks", heads, rows).text())


if __name__ == "__main__":
    main()
