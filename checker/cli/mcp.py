"""``bivalence mcp``: the tool as a server for assistants."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--root",
    metavar="DIR",
    default=".",
    help="Folder whose files may be read (default: the current one).",
)
def mcp(root: str) -> int:
    """Serve assistants over stdin and stdout (Model Context Protocol).

    Clients start it (docs/assistants.md); `bivalence skill install --mcp` prints their
    configuration. Nothing is written below the root. It needs the extra `mcp`.
    """
    from checker.cli import last_words
    from checker.diagnostics import Diagnostic, SpecError
    from checker.resources import install_command

    try:
        import anyio

        from checker.assist.server import serve
    except ImportError as lacking:
        message = f"the server for assistants needs a missing package: {lacking.name}"
        hint = f"run `{install_command('mcp')}`"
        raise SpecError((Diagnostic("E165", message, hint=hint),)) from None
    if not Path(root).is_dir():
        raise SpecError((Diagnostic("E166", f"--root {root}: there is no such folder"),))
    last_words.end_within(0.0)  # there is nothing to report
    anyio.run(serve, Path(root))
    return 0
