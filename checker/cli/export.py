"""``bivalence export``: converts a trace into formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli.extension_names import ExtensionName
from checker.cli.settings import LAYOUT
from checker.extensions.tables import EXPORTS

if TYPE_CHECKING:
    from checker.render.diagram.rows import Layout


HARNESS = "harness"
"""The export that is a folder."""


@click.command()
@click.argument("trace", metavar="TRACE")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--to", "wanted", required=True, type=ExtensionName(EXPORTS, (HARNESS,)), help="Output format."
)
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="Output file; `-` (default) is stdout."
)
@LAYOUT
def export(trace: str, folder: str | None, wanted: str, output: str, layout: Layout) -> int:
    """Write TRACE in another format, without its spec.

    --layout applies only to formats without a fixed order: svg. `--to harness DIR` writes a
    program that makes the run happen in a system of real processes (docs/harness.md).
    """
    from checker.cli.console import require_writable
    from checker.cli.trace_documents import load
    from checker.cli.view import put
    from checker.formats.exports import export as export_trace
    from checker.formats.exports import has_layout

    if wanted == HARNESS:
        if folder is None or output != "-" or layout != "steps":
            raise click.UsageError("write --to harness DIR, without -o and --layout")
        return _write_harness(trace, folder)
    if folder is not None:
        raise click.UsageError("DIR belongs to --to harness; -o FILE names a file")
    if output != "-":
        require_writable(output)
    if layout != "steps" and not has_layout(wanted):
        raise click.UsageError(f"--layout {layout}: the format {wanted} has a fixed order")
    put(output, export_trace(wanted, load(trace), layout))
    return 0


def _write_harness(trace: str, folder: str) -> int:
    from checker.cli.console import print_line
    from checker.cli.trace_documents import load
    from checker.diagnostics.english import listing
    from checker.harness.files import write_harness

    loaded = load(trace)
    try:
        written = write_harness(loaded, Path(folder))
    except OSError as problem:
        name = problem.filename or folder
        raise click.UsageError(f"{name}: {problem.strerror}") from problem
    print_line(f"{folder}: {listing(written)}; run: python {Path(folder) / 'run.py'} --plan")
    return 0
