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
from checker.cli.settings import DEPTH, QUERY_TIMEOUT, SET

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
    help="For every n, f and number that the protocol takes, where its `requires` holds; a check"
    " with `for all` is always asked so.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="auto",
    show_default=True,
    help="Of one finite system: invariants that each step keeps, induction over K steps, or"
    " property-directed reachability; auto tries them in this order.",
)
@DEPTH
@click.option(
    "--budget",
    type=click.FloatRange(min=0.001),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="How long to try, for each check.",
)
@QUERY_TIMEOUT
@click.option(
    "--certificate",
    metavar="FILE",
    help="Write what shows the proof as SMT-LIB 2: any solver must answer unsat to each query.",
)
@click.option(
    "--tight/--no-tight",
    default=True,
    show_default=True,
    help="With --all-n: assume less of the sizes, and say what fails then.",
)
@click.option(
    "--synthesize",
    is_flag=True,
    help="With --all-n: look for the weakest linear condition, and for thresholds, that will do.",
)
@JSON_OUT
@JUNIT_OUT
@SARIF_OUT
@GITHUB
@trace_option()
@click.option("--steps", is_flag=True, help="Show runs step by step, with all that changes.")
@VERBOSE
@SHOW
@quiet_option("No progress and no executions.")
@writing_files
def prove(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    every: bool,
    method: str,
    depth: int | None,
    budget: float,
    query_timeout: float | None,
    certificate: str | None,
    tight: bool,
    synthesize: bool,
    files: Files,
    steps: bool,
    verbose: bool,
    shown: tuple[str, ...],
    quiet: bool,
) -> int:
    """Prove what checks ask, with z3: all of FILE's, or the one called CHECK.

    Of a finite system: at every depth, however many states there are. With --all-n, or of a check
    with `for all`: for every number of processes and faults that the resilience condition allows.
    PROVED is said only of what a second query has confirmed.
    """
    from checker.cli.reporting import Display, run_and_report
    from checker.cli.settings import settings_of, targets
    from checker.engines.options import Options
    from checker.proving.dispatch_check import for_every_size
    from checker.results.answer import Limits

    files.require_apart(certificate)
    asked = targets(names, budget)
    display = Display(quiet, verbose, shown, whole=steps, steps=steps)
    display.require(asked)
    options = Options(
        settings=settings_of(settings),
        limits=Limits(max_depth=depth, timeout=budget),
        query_timeout=query_timeout,
        explain=None if quiet and not (files.outputs or certificate) else EXPLAIN,
    )
    general = {one for one in asked if every or _is_parametric(*one, options)}
    of_one = method != "auto" or depth is not None or certificate is not None
    _require_sense(asked, general, of_one, certificate, synthesize)

    def ask(spec: Spec, name: str, meter: Meter) -> Report:
        if (spec, name) in general:
            return for_every_size(spec, name, options, meter, tight=tight, synthesize=synthesize)
        return _of_one(spec, name, options, meter, METHODS[method], certificate)

    return run_and_report(asked, ask, options, files, display)


def _require_sense(
    asked: list[Target],
    general: set[Target],
    of_one: bool,
    certificate: str | None,
    synthesize: bool,
) -> None:
    """Raises ``UsageError`` for options that don't apply to the checks: ``general`` are the checks
    for all sizes, ``of_one`` says whether options for single sizes are given.
    """
    if certificate is not None and len(asked) > 1:
        raise click.UsageError("--certificate is about one check: name it, as FILE::CHECK")
    if of_one and general == set(asked):
        raise click.UsageError("--method, --depth and --certificate are about finite systems")
    if synthesize and not general:
        raise click.UsageError("--synthesize wants --all-n, or a check with `for all`")


def _is_parametric(spec: Spec, name: str, options: Options) -> bool:
    """Returns whether the check is for all sizes; one that can't be loaded is reported later."""
    from checker.diagnostics import SpecError
    from checker.engines import budgets
    from checker.session import pipeline

    try:
        with budgets.within(options.limits.timeout):
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
