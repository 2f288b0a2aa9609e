"""``bivalence audit``: asks the library's properties of logs of what processes really did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.cluster_options import CONF, MASTER, simple_cluster
from checker.cli.document_options import JSON_OUT, trace_option, writing_files
from checker.cli.mapping_option import MAPPING
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import MEMORY, TIMEOUT

if TYPE_CHECKING:
    from checker.audit.audit import Audit, Request
    from checker.audit.processes import Grace
    from checker.cli.reporting import Files
    from checker.engines.cluster import Cluster


@click.command(cls=Grouped)
@click.argument("names", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--as",
    "interface",
    required=True,
    metavar="INTERFACE",
    help="Interface whose properties are checked, such as TotalOrderBroadcast; FILE::NAME for an"
    " own interface or protocol.",
)
@click.option(
    "--over",
    multiple=True,
    metavar="PROPERTY",
    help="Also check PROPERTY, such as 'exactly_once over effects' (repeatable).",
)
@click.option("--only", multiple=True, metavar="PROPERTY", help="Check only PROPERTY (repeatable).")
@MAPPING
@click.option(
    "--manifest", metavar="FILE", help="Complete ranges of logs, and crashed processes (TOML)."
)
@click.option(
    "--grace",
    metavar="30s|1000rows",
    help="Events missing this close to the end are pending: seconds, or rows of a process.",
)
@click.option("--since", type=float, metavar="TIME", help="Check only messages from TIME on.")
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    metavar="PART",
    help="Check only this fraction of messages, such as 0.01.",
)
@MASTER
@CONF
@TIMEOUT
@MEMORY
@click.option("--violations", "table_out", metavar="FILE", help="Write all violations as Parquet.")
@JSON_OUT
@trace_option()
@quiet_option("Omit progress and runs.")
@writing_files
def audit(
    names: tuple[str, ...],
    interface: str,
    over: tuple[str, ...],
    only: tuple[str, ...],
    mapping: str | None,
    manifest: str | None,
    grace: str | None,
    since: float | None,
    sample: float,
    master: str | None,
    conf: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    table_out: str | None,
    files: Files,
    quiet: bool,
) -> int:
    """Check the properties of an interface on logs.

    Logs are Parquet, NDJSON or CSV, with a row per event. Events of a process are ordered by
    positions, never by clocks. Exit codes are those of `check`.
    """
    from checker.audit.audit import Request
    from checker.audit.known_formats import mapping_called
    from checker.audit.manifest import read_manifest
    from checker.audit.restrict import Restriction
    from checker.cli.reporting import require_outputs

    require_outputs([*files.outputs, *([table_out] if table_out else [])])
    request = Request(
        names,
        interface,
        over,
        only,
        mapping_called(mapping),
        read_manifest(manifest),
        _grace(grace),
        Restriction(since, sample),
    )
    found = _run(request, simple_cluster(master, conf), timeout, memory, quiet)
    return _report(found, files, table_out, quiet)


def _run(
    request: Request,
    cluster: Cluster | None,
    timeout: float | None,
    memory: int | None,
    quiet: bool,
) -> Audit:
    from checker.audit.audit import audit as ask
    from checker.cli.progress import Phases
    from checker.engines import budgets

    with (
        Phases(request.names[0], silent=quiet) as phases,
        budgets.within(timeout, memory),
    ):
        return ask(request, phases, cluster)


def _report(found: Audit, files: Files, table_out: str | None, quiet: bool) -> int:
    from checker.audit.violations import parquet_of
    from checker.cli.reporting import Display, print_report
    from checker.records import replace
    from checker.results.problems import problem_of

    report = replace(found.report, warnings=tuple(map(problem_of, found.warnings)))
    for warning in found.warnings:
        console.print_note(console.render_with_source(warning).rstrip("\n"))
    if table_out is not None:
        console.write_file(table_out, parquet_of(found.violations))
        if report.log is not None:
            report = replace(report, log=replace(report.log, violations=table_out))
    files.write([report])
    if files.leave_stdout:
        print_report(report, Display(quiet=quiet))
    files.close([report])
    return report.exit_code


def _grace(given: str | None) -> Grace:
    """Parses ``30s`` or ``1000rows``."""
    import re

    from checker.audit.processes import Grace

    if given is None:
        return Grace()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|rows?)", given.strip())
    if found is None or (found[2] != "s" and "." in found[1]):
        raise click.UsageError(f"--grace takes 30s or 1000rows, not {given!r}")
    if found[2] == "s":
        return Grace(seconds=float(found[1]))
    return Grace(rows=int(found[1]))
