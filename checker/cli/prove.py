"""``bivalence prove``: proves properties at every depth, and for every number of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli.document_options import (
    EXPLAIN,
    GITHUB,
    JSON_OUT,
    JUNIT_OUT,
    SARIF_OUT,
    trace_option,
    writing_files,
)
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.reporting import SHOW, VERBOSE
from checker.cli.settings import DEPTH, MEMORY, QUERY_TIMEOUT, SEARCH, SET

if TYPE_CHECKING:
    from checker.cli.progress import Meter
    from checker.cli.reporting import Files
    from checker.cli.settings import Target
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.results.answer import Listener
    from checker.results.verdict import Report

BUDGET = 60.0
"""Seconds for each check."""
METHODS = {
    "auto": ("invariants", "induction", "pdr"),
    "invariants": ("invariants",),
    "induction": ("induction",),
    "pdr": ("pdr",),
}
"""The methods that each value of ``--method`` tries, in order."""


@click.command(cls=Grouped)
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@click.option(
    "--all-n",
    "every",
    is_flag=True,
    help="Prove for all values of n, f and numeric parameters that satisfy `requires`; implied"
    " by `for all`.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="auto",
    show_default=True,
    help="For one finite system: inductive invariants, induction over K steps, or"
    " property-directed reachability; auto tries them in this order.",
)
@DEPTH
@click.option(
    "--budget",
    type=click.FloatRange(min=0.001),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time limit per check.",
)
@MEMORY
@QUERY_TIMEOUT
@click.option(
    "--certificate",
    metavar="FILE",
    help="Write the proof's queries as SMT-LIB 2; any solver must answer unsat to each.",
)
@click.option(
    "--tight/--no-tight",
    default=True,
    show_default=True,
    help="With --all-n: also weaken the size conditions, and report which properties fail.",
)
@click.option(
    "--synthesize",
    is_flag=True,
    help="With --all-n: find the weakest sufficient linear condition, and thresholds.",
)
@SEARCH
@JSON_OUT
@JUNIT_OUT
@SARIF_OUT
@GITHUB
@trace_option()
@click.option("--steps", is_flag=True, help="Show runs step by step, with all state changes.")
@VERBOSE
@SHOW
@quiet_option("Omit progress and runs.")
@writing_files
def prove(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    every: bool,
    method: str,
    depth: int | None,
    budget: float,
    memory: int | None,
    query_timeout: float | None,
    certificate: str | None,
    tight: bool,
    synthesize: bool,
    search: int | None,
    files: Files,
    steps: bool,
    verbose: bool,
    shown: tuple[str, ...],
    quiet: bool,
) -> int:
    """Prove the properties of checks with z3.

    A proof for a finite system covers runs of every length. With --all-n, or for a check with
    `for all`, it covers every number of processes and faults that the resilience condition
    allows. PROVED is reported only if a second query has confirmed it. FILE may also be a
    threshold automaton (.ta, .eta): all its specifications are proved for every size.
    """
    from checker.cli.reporting import Display, run_and_report
    from checker.cli.settings import settings_of, targets
    from checker.cli.threshold_files import are_threshold_files, prove_files
    from checker.engines.options import Options
    from checker.proving.dispatch_check import for_every_size
    from checker.results.answer import Limits

    files.require_apart(certificate)
    given = {
        "settings": settings, "depth": depth, "certificate": certificate, "shown": shown,
        "synthesize": synthesize, "steps": steps,
    }  # fmt: skip
    display = Display(quiet, verbose, shown, whole=steps, steps=steps)
    options = Options(
        settings=settings_of(settings),
        limits=Limits(max_states=search, max_depth=depth, timeout=budget, memory=memory),
        query_timeout=query_timeout,
        explain=None if quiet and not (files.outputs or certificate) else EXPLAIN,
    )
    if are_threshold_files(names, given, method):
        return prove_files(names, options, files, display)
    if search is not None:
        raise click.UsageError("--search applies to threshold automata only")
    asked = targets(names, budget, memory)
    display.require(asked)
    general = {one for one in asked if every or _is_parametric(*one, options)}
    _require_sense(asked, general, (method != "auto", depth, certificate), synthesize)

    def ask(spec: Spec, name: str, meter: Meter) -> Report:
        if (spec, name) in general:
            return for_every_size(spec, name, options, meter, tight=tight, synthesize=synthesize)
        return _of_one(spec, name, options, meter, METHODS[method], certificate)

    return run_and_report(asked, ask, options, files, display)


def _require_sense(
    asked: list[Target],
    general: set[Target],
    of_one: tuple[bool, int | None, str | None],
    synthesize: bool,
) -> None:
    """Raises ``UsageError`` for options that don't apply to the checks: ``general`` are the checks
    for all sizes; ``of_one``: the options for single sizes (a method, ``--depth``,
    ``--certificate``).
    """
    certificate = of_one[-1]
    if certificate is not None and len(asked) > 1:
        raise click.UsageError("--certificate applies to one check: name it, as FILE::CHECK")
    if any(each not in (None, False) for each in of_one) and general == set(asked):
        raise click.UsageError("--method, --depth and --certificate apply only to finite systems")
    if synthesize and not general:
        raise click.UsageError("--synthesize needs --all-n, or a check with `for all`")


def _is_parametric(spec: Spec, name: str, options: Options) -> bool:
    """Returns whether the check is for all sizes; one that can't be loaded is reported later."""
    from checker.diagnostics import SpecError
    from checker.engines import budgets
    from checker.session import pipeline

    try:
        with budgets.within(options.limits.timeout, options.limits.memory):
            return pipeline.is_parametric(spec, name, options.settings)
    except SpecError:
        return False


def _of_one(
    spec: Spec,
    name: str,
    options: Options,
    listener: Listener,
    methods: tuple[str, ...],
    certificate: str | None,
) -> Report:
    """Returns the report on a finite system; writes the certificate where there is one."""
    from checker.engines.solver import require_solver

    require_solver()
    from checker.proving.finite import prove_check

    budget = options.limits.timeout
    return prove_check(spec, name, options, methods, budget, listener, certificate=certificate)
