"""``bivalence simulate``: random simulation, which finds violations and proves nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import SET

if TYPE_CHECKING:
    from checker.render.terminal.walks import Walked
    from checker.simulate.prepared_check import PreparedCheck
    from checker.simulate.random_walks import Walks

LARGEST_SEED = 1_000_000_000


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@SET
@click.option("--runs", type=click.IntRange(min=1), default=1000, show_default=True, metavar="N")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    metavar="K",
    help="Of a walk at most.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="Default: a new one.")
@click.option("--timeout", type=click.FloatRange(min=0.001), metavar="SECONDS")
@click.option(
    "--only", multiple=True, metavar="PROPERTY", help="Look at this property alone (repeatable)."
)
@click.option("--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step.")
@click.option("--trace-out", metavar="FILE", help="Write a violation's trace as JSON.")
@quiet_option("No progress and no trace.")
def simulate(
    name: str,
    settings: tuple[str, ...],
    runs: int,
    steps: int,
    seed: int | None,
    timeout: float | None,
    only: tuple[str, ...],
    fine_steps: bool,
    trace_out: str | None,
    quiet: bool,
) -> int:
    """Walk at random through what a check can do, and look at its properties.

    Invariants are looked at in every state, liveness where a walk could stay forever. Exits 1
    where something is violated, and 3 otherwise: walks prove nothing. The same seed walks the same
    ways again.
    """
    from checker.cli.console import print_view, require_writable
    from checker.cli.progress import Meter
    from checker.cli.settings import one_target, settings_of
    from checker.cli.signals import interrupting_on_signals
    from checker.engines import budgets
    from checker.render.terminal.walks import walks_view
    from checker.session import pipeline
    from checker.simulate import random_walks as walking

    if trace_out is not None and trace_out != "-":
        require_writable(trace_out)
    options = pipeline.Options(settings=settings_of(settings), fine_steps=fine_steps)
    with budgets.within(timeout), budgets.raising_when_exhausted():
        spec, check = one_target(name)
        opened = pipeline.open_check(spec, check, options)
    drawn = random.SystemRandom().randrange(LARGEST_SEED) if seed is None else seed
    plan = walking.WalkPlan(drawn, runs, steps, timeout, only)
    _require(opened, only)
    title = f"{spec}::{check}"
    with Meter(title, silent=quiet) as meter, interrupting_on_signals():
        walks = walking.simulate(opened, plan, meter)
    if trace_out != "-":
        print_view(walks_view(_summary(title, opened, walks, only)))
    _show(walks, trace_out, quiet)
    return 3 if walks.found is None else 1


def _require(opened: PreparedCheck, only: tuple[str, ...]) -> None:
    known = list(dict.fromkeys(prop.asked for prop in opened.system.asked_properties))
    for name in only:
        if name not in known:
            raise click.UsageError(f"the check asks for {', '.join(known)}, not for {name}")


def _asks_liveness(opened: PreparedCheck, only: tuple[str, ...]) -> bool:
    """Returns whether a liveness property is among those that walks look at."""
    from checker.model.ir import PropertyKind

    asked = (p for p in opened.system.asked_properties if not only or p.asked in only)
    return any(prop.kind is PropertyKind.LIVENESS for prop in asked)


def _summary(title: str, opened: PreparedCheck, walks: Walks, only: tuple[str, ...]) -> Walked:
    from checker.render.terminal.walks import Walked
    from checker.results.vacuity import coverage

    found = walks.found
    return Walked(
        title=title,
        seed=walks.seed,
        walks=walks.walks,
        steps=walks.steps,
        states=len(walks.states),
        left=walks.left,
        ends=walks.ends if _asks_liveness(opened, only) else None,
        seconds=walks.seconds,
        wrong=walks.wrong,
        coverage=coverage(opened.system, walks.answer),
        stopped=walks.stopped,
        found="" if found is None else found.trace.sentence.partition(":")[0],
        walk=0 if found is None else found.walk,
    )


def _show(walks: Walks, trace_out: str | None, quiet: bool) -> None:
    from checker.cli.console import print_note, print_view
    from checker.cli.view import put
    from checker.formats.json_format import trace_to_text
    from checker.render.terminal.text import trace_view

    if walks.found is None:
        if trace_out is not None:
            print_note("there is no violation, so no trace was written")
        return
    if trace_out is not None:
        put(trace_out, trace_to_text(walks.found.trace))
    if not quiet and trace_out != "-":
        console.print_line()
        print_view(trace_view(walks.found.trace))
