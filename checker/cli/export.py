"""``bivalence export``: converts a trace into formats of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from checker.cli.extension_names import ExtensionName
from checker.cli.settings import LAYOUT
from checker.extensions.tables import EXPORTS

if TYPE_CHECKING:
    from checker.render.diagram.rows import Layout


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--to", "wanted", required=True, type=ExtensionName(EXPORTS), help="Output format.")
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="Output file; `-` (default) is stdout."
)
@LAYOUT
def export(trace: str, wanted: str, output: str, layout: Layout) -> int:
    """Write TRACE in another format, without its spec.

    --layout applies only to formats without a fixed order: svg.
    """
    from checker.cli.console import require_writable
    from checker.cli.trace_documents import load
    from checker.cli.view import put
    from checker.formats.exports import export as export_trace
    from checker.formats.exports import has_layout

    if output != "-":
        require_writable(output)
    if layout != "steps" and not has_layout(wanted):
        raise click.UsageError(f"--layout {layout}: the format {wanted} has a fixed order")
    put(output, export_trace(wanted, load(trace), layout))
    return 0
