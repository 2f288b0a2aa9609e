"""Random walks by the interpreter, machine code, and two threads: `python -m benchmarks.walking`.

The same walks are made in turns, so what counts are the ratios of one run.  Each has to see the
same: steps, how often each action was taken, places where a run might end.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.native.codegen.image import build  # noqa: E402
from checker.engines.native.codegen.jit import compile_image  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.extensions.tables import DEFAULT, DEFINITION  # noqa: E402
from checker.session.pipeline import open_check, read_spec  # noqa: E402
from checker.simulate.prepared_check import PreparedCheck  # noqa: E402
from checker.simulate.simulation import WalkPlan, Walks, simulate  # noqa: E402

BEGIN, END = "<!-- walks: begin -->", "<!-- walks: end -->"

CHECKS = (
    ("broadcast/eager_reliable", "two_senders", "no_creation"),
    ("byzantine/bracha", "four", "consistency"),
    ("consensus/paxos", "crash_and_loss", "uniform_consensus_agreement"),
    ("links/crash_and_recovery", "deliver_then_log", "no_creation"),
    ("exactly_once/partitioned_queue", "majority_split", "accepted_is_held"),
    ("oracles/two_phase", "nine", ""),
)
"""Checks, each with a property that holds (none: all do), so that no walk is cut short."""
SEED, STEPS = 1, 200
SHORT, LONG = 20, 20_000
"""Walks by the interpreter, and by machine code alone."""


def opened(spec: str, name: str, only: str) -> PreparedCheck:
    """The check, asked that property alone."""
    file = read_spec(str(ROOT / "specs" / f"{spec}.bcast"))
    return open_check(file.only([only]) if only else file, name, Options())


def walked(check: PreparedCheck, plan: WalkPlan) -> tuple[Walks, float]:
    """The walks, and steps per second; the code is there already."""
    compile_image(build(check.system, walks=True))
    began = time.perf_counter()
    walks = simulate(check, plan)
    if walks.finding.violations or walks.finding.fault is not None:
        raise WrongAnswer(f"something was found in walk {walks.found}")
    return walks, walks.seen.steps / (time.perf_counter() - began)


def require_same(one: Walks, other: Walks) -> None:
    """Raises :class:`WrongAnswer` where two that walked the same ways saw other things."""
    if one.seen != other.seen:
        raise WrongAnswer(f"{one.engine} saw {one.seen}, {other.engine} saw {other.seen}")


def measured(spec: str, name: str, only: str, walks: int, repeat: int) -> list[str]:
    """A row: medians of ``repeat`` turns."""
    check = opened(spec, name, only)
    simulate(check, WalkPlan(SEED, walks, STEPS, threads=1, engine=DEFAULT))  # capacities grow
    rates: dict[str, list[float]] = {"interpreter": [], "one": [], "two": []}
    for _ in range(repeat):
        plans = {
            "interpreter": WalkPlan(SEED, SHORT, STEPS, engine=DEFINITION),
            "one": WalkPlan(SEED, walks, STEPS, threads=1, engine=DEFAULT),
            "two": WalkPlan(SEED, walks, STEPS, threads=2, engine=DEFAULT),
        }
        found = {}
        for who, plan in plans.items():
            found[who], rate = walked(check, plan)
            rates[who].append(rate)
        require_same(found["one"], found["two"])
        short, _ = walked(check, WalkPlan(SEED, SHORT, STEPS, engine=DEFAULT))
        require_same(short, found["interpreter"])
    plain, one, two = (median(rates[who]) for who in rates)
    words = build(check.system).layout.words
    steps = found["one"].seen.steps
    ratios = [f"{one / plain:,.0f}x", f"{two / one:.2f}x"]
    return [f"{spec}::{name}", str(words), f"{steps:,}", number(plain), number(one), *ratios]


@click.command()
@click.option("--walks", default=LONG, show_default=True, help="By machine code.")
@click.option("--repeat", default=3, show_default=True)
@click.option("--only", multiple=True, help="These checks, such as paxos.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the table there.")
def main(walks: int, repeat: int, only: tuple[str, ...], page: Path | None) -> None:
    """Prints a row for each check."""
    rows = []
    for spec, name, asked in CHECKS:
        if not only or any(each in spec for each in only):
            rows.append(measured(spec, name, asked, walks, repeat))
            click.echo("  ".join(rows[-1]))
    headings = ["check", "words", "steps", "interpreter/s", "machine code/s", "ratio", "2 threads"]
    table = Table(f"{walks:,} walks of up to {STEPS} steps", headings, rows)
    click.echo(table.text())
    if page is not None:
        into_page(page, table.markdown(), BEGIN, END)


if __name__ == "__main__":
    main()
