"""``bivalence valence``: says what can still be decided in each state of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.document_options import (
    JSON_OUT,
    unusable_document,
    write_json,
    writing_errors,
)
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import SET, engine_options
from checker.formats.kinds import VALENCES_KIND

if TYPE_CHECKING:
    from checker.results.valence import Valence


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE::CHECK")
@SET
@engine_options
@click.option(
    "--of",
    "outcome",
    metavar="NAME|SET",
    help="Decided values: an indication, or a set expression (default: decide).",
)
@click.option(
    "--inputs",
    type=click.Choice(["all", "written"]),
    default="all",
    show_default=True,
    help="Explore all possible inputs of the clients, or only those in the check.",
)
@JSON_OUT
@click.option(
    "--html", "html_out", metavar="FILE", help="Write the result as a page, with diagrams."
)
@click.option("--levels", "every_level", is_flag=True, help="Show every level of the state graph.")
@quiet_option("Omit progress and runs.")
@writing_errors(unusable_document(VALENCES_KIND))
def valence(
    name: str,
    settings: tuple[str, ...],
    outcome: str | None,
    inputs: str,
    json_out: str | None,
    html_out: str | None,
    every_level: bool,
    quiet: bool,
    **engine: Any,
) -> int:
    """Compute which values can still be decided in each state.

    Reports valence as defined by Fischer, Lynch and Paterson: per input, per level and at critical
    states, and a run that never decides if one exists. Exits with 0, or with 3 if unknown.
    """
    from checker.cli.progress import Meter
    from checker.cli.reporting import require_outputs
    from checker.cli.settings import one_target, options_of
    from checker.engines import budgets
    from checker.session.run_engine import shared_sessions
    from checker.valence.analysis import analyse
    from checker.valence.compute import compute
    from checker.valence.question import question_of

    require_outputs([output for output in (json_out, html_out) if output is not None])
    options = options_of(settings, engine)
    limits = options.limits
    with shared_sessions(options):
        spec, check = one_target(name)
        with (
            Meter(f"{spec}::{check}", silent=quiet) as meter,
            budgets.within(limits.timeout, limits.memory),
        ):
            question = question_of(spec, check, options, outcome, free_inputs=inputs == "all")
            report = analyse(compute(question, meter))
    _write(report, json_out, html_out)
    if json_out != "-":
        from checker.render.terminal.valence import valence_view

        console.print_view(valence_view(report, runs=not quiet, every_level=every_level))
    return report.exit_code


def _write(report: Valence, json_out: str | None, html_out: str | None) -> None:
    """Writes the files that were asked for."""
    from checker.cli.console import write_file
    from checker.formats.json_format import document, report_to_json

    if json_out is not None:
        reports = [report_to_json(report)]
        write_json(json_out, document(VALENCES_KIND, reports, (), report.exit_code))
    if html_out is not None:
        from checker.render.html.valence import valence_page

        write_file(html_out, valence_page(report))
