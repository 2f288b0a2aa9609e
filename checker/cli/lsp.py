"""``bivalence lsp``: the language server, for editors."""

from __future__ import annotations

import os

import click


@click.command()
def lsp() -> int:
    """Run the language server, over stdin and stdout.

    Editors start it (docs/editors.md). It needs the extra `editor`.
    """
    from checker.cli import last_words
    from checker.diagnostics import Diagnostic, SpecError
    from checker.resources import install_command

    try:
        from checker.editor.server import make_server
    except ImportError as lacking:
        message = f"the language server needs a missing package: {lacking.name}"
        hint = f"run `{install_command('editor')}`"
        raise SpecError((Diagnostic("E070", message, hint=hint),)) from None
    last_words.end_within(0.0)  # there is nothing to report
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    try:
        make_server().start_io(reader, writer)
    except SystemExit as ended:  # as the client says: 0 behind `shutdown`, 1 without it
        return ended.code if isinstance(ended.code, int) else 0
    return 0
