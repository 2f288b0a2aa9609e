"""``bivalence check``: runs checks, and shows their results."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from checker.cli.checkpoint_options import keeping_options
from checker.cli.document_options import (
    GITHUB,
    HTML_OUT,
    ITF_OUT,
    JSON_OUT,
    JUNIT_OUT,
    SARIF_OUT,
    explaining_options,
    trace_option,
    writing_files,
)
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.reporting import (
    SHOW,
    VERBOSE,
    Display,
    Files,
    run_and_report,
)
from checker.cli.settings import LAYOUT, SET, chance_options, engine_options, selection
from checker.records import replace

if TYPE_CHECKING:
    from checker.cli.progress import Meter
    from checker.cli.settings import Target
    from checker.language.load import Spec
    from checker.render.diagram.rows import Layout
    from checker.results.verdict import Report
    from checker.session.pipeline import Options


@click.command(cls=Grouped)
@click.argument("names", nargs=-1, required=True, metavar="FILE[::CHECK]...")
@SET
@engine_options
@chance_options
@keeping_options
@JSON_OUT
@JUNIT_OUT
@SARIF_OUT
@HTML_OUT
@GITHUB
@trace_option()
@ITF_OUT
@click.option(
    "--states-out", metavar="DIR", help="Write all states and transitions as Parquet tables."
)
@explaining_options(
    "Time limit per check for minimising violating runs and finding counterfactuals.",
    "Show runs as found, without minimising and explaining them.",
)
@click.option(
    "--all",
    "kinds",
    type=click.IntRange(min=1),
    default=1,
    metavar="K",
    help="Show up to K runs of different kinds for each violated property.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PROPERTY",
    help="Run only checks of PROPERTY, and check only it (repeatable).",
)
@click.option(
    "--cache",
    "cached",
    is_flag=True,
    help="Reuse and store results of unchanged checks.",
)
@click.option("--coverage", is_flag=True, help="Report which handlers and branches were reached.")
@click.option(
    "--audit-reductions",
    is_flag=True,
    help="Explore again with --reduce none, and compare the results.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Store fingerprints instead of states: saves memory; the report bounds the probability"
    " of omitted states.",
)
@click.option(
    "--whole",
    is_flag=True,
    help="Search all states, even when every property is decided.",
)
@click.option(
    "--valence",
    "strips",
    is_flag=True,
    help="Show after each step which values can still be decided; explores every state.",
)
@click.option("--steps", is_flag=True, help="Show runs step by step, with all state changes.")
@LAYOUT
@selection
@VERBOSE
@SHOW
@quiet_option("Omit progress and runs.")
@writing_files
def check(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    files: Files,
    states_out: str | None,
    explaining: float,
    kinds: int,
    no_explain: bool,
    only: tuple[str, ...],
    cached: bool,
    coverage: bool,
    audit_reductions: bool,
    compact: bool,
    whole: bool,
    strips: bool,
    steps: bool,
    layout: Layout,
    lanes: tuple[str, ...],
    folded: bool,
    verbose: bool,
    shown: tuple[str, ...],
    quiet: bool,
    **engine: Any,
) -> int:
    """Run all checks of FILE, or only CHECK."""
    from checker.cli.checkpoint_options import with_keeping
    from checker.cli.settings import options_of, targets
    from checker.proving.dispatch_check import answer_check
    from checker.session.run_engine import shared_sessions

    options = options_of(settings, engine, coverage=coverage)
    options = replace(options, kinds=kinds, audit=audit_reductions, compact=compact, whole=whole)
    with shared_sessions(options, at_once=not cached):
        asked = only_asked(targets(names, options.limits.timeout, options.limits.memory), only)
        display = Display(quiet, verbose, shown, steps or kinds > 1, steps, layout, lanes, folded)
        display.require(asked)
        options = with_keeping(options, engine, len(asked))
        options = _with_tables(options, states_out, len(asked))
        if options.drn_out is not None and len(asked) > 1:
            raise click.UsageError("--drn-out applies to one check: name it, as FILE::CHECK")
        shows_runs = bool(files.outputs) or not quiet
        if shows_runs and not no_explain:
            options = replace(options, explain=explaining)
        options = replace(options, strips=shows_runs and not strips)
        every = files.has_documents or display.whole or len(asked) == 1

        def ask(spec: Spec, name: str, meter: Meter) -> Report:
            shows = replace(options, explain_expected=every or name in shown)
            decorate = _strips(spec, name, options, meter) if strips else None
            if cached:
                from checker.session import result_cache

                report = result_cache.cached(
                    spec, name, shows, lambda: answer_check(spec, name, shows, meter)
                )
            else:
                report = answer_check(spec, name, shows, meter)
            return report if decorate is None else decorate(report)

        return run_and_report(asked, ask, options, files, display)


def _strips(spec: Spec, name: str, options: Options, meter: Meter) -> Callable[[Report], Report]:
    """Returns what adds strips to the report on a check, in the time that is left then."""
    from checker.engines import budgets
    from checker.session.run_engine import remaining_time
    from checker.valence.strips import asked_of, with_strips

    started, asked = time.monotonic(), asked_of(spec, name, options)

    def decorate(report: Report) -> Report:
        left = remaining_time(options, started)
        with budgets.within(left.limits.timeout, left.limits.memory):
            return with_strips(report, replace(asked, options=left), meter)

    return decorate


def only_asked(asked: list[Target], properties: tuple[str, ...]) -> list[Target]:
    """Returns those of ``asked`` that ask any of ``properties``, narrowed to these; raises
    :class:`SpecError` (E045) where none asks one of them."""
    if not properties:
        return asked
    from checker.diagnostics import Diagnostic, SpecError
    from checker.language.typecheck.scope import suggestion

    known = {
        asked_of.name
        for spec, name in asked
        for check in spec.module.checks
        if check.name == name
        for asked_of in check.prove
    }
    for name in properties:
        if name not in known:
            message = f"no selected check has the property `{name}`"
            raise SpecError((Diagnostic("E045", message, hint=suggestion(name, known)),))
    narrow = {spec: spec.only(properties) for spec in dict.fromkeys(spec for spec, _ in asked)}
    return [(narrow[spec], name) for spec, name in asked if name in narrow[spec].names]


REMOVING = 8.0
"""Seconds after a signal in which unfinished tables are removed."""


def _with_tables(options: Options, states_out: str | None, checks: int) -> Options:
    if states_out is None:
        return options
    if checks > 1:
        raise click.UsageError("--states-out applies to one check: name it, as FILE::CHECK")
    from checker.cli import last_words

    last_words.end_within(REMOVING)
    return replace(options, states_out=states_out)
