"""``bivalence export``: converts a trace into formats of other tools."""

from __future__ import annotations

import click

from checker.cli.extension_names import ExtensionName
from checker.extensions.tables import EXPORTS


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--to", "wanted", required=True, type=ExtensionName(EXPORTS), help="The format.")
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="Where to; - is stdout, and the default."
)
def export(trace: str, wanted: str, output: str) -> int:
    """Write TRACE in another format; the spec is not needed."""
    from checker.cli.console import require_writable
    from checker.cli.trace_documents import load
    from checker.cli.view import put
    from checker.formats.exports import export as export_trace

    if output != "-":
        require_writable(output)
    put(output, export_trace(wanted, load(trace)))
    return 0
