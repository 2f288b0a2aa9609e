"""``bivalence fmt``: formats specs."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli import console

STDIN = "-"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--check", "checks", is_flag=True, help="Write nothing; exit 1 if a file would change."
)
@click.option("--diff", "shows", is_flag=True, help="Write nothing; show what would change.")
def fmt(paths: tuple[str, ...], checks: bool, shows: bool) -> int:
    """Format specs in place: indentation, blanks, blank lines.

    PATHs are specs, or folders of specs; - formats stdin to stdout. Tokens, comments and line
    breaks within an item are preserved.
    """
    from checker.cli.errors import VIOLATED, attempt
    from checker.cli.test import specs_in

    if STDIN in paths and len(paths) > 1:
        raise click.UsageError("- is stdin, and can't be combined with files")
    changed: list[str] = []
    code = 0
    for file in [STDIN] if STDIN in paths else dict.fromkeys(map(str, specs_in(paths))):
        code = max(code, attempt(lambda file=file: _format(file, checks, shows, changed)))  # type: ignore[misc]
    return code or (VIOLATED if changed and checks else 0)


def _format(file: str, checks: bool, shows: bool, changed: list[str]) -> None:
    """Formats one file, and adds it to ``changed`` where that changes it."""
    from checker.language.formatting.layout import format_text
    from checker.language.reading import read

    text = console.read_document(STDIN) if file == STDIN else read(Path(file))
    name = "<stdin>" if file == STDIN else file
    written = format_text(text, name)
    if shows:
        console.write_stdout(_difference(text, written, name))
    elif file == STDIN and not checks:
        console.write_verbatim(written)
    if written == text:
        return
    changed.append(file)
    if not (checks or shows) and file != STDIN:
        console.write_file(file, written)
    if not shows and (checks or file != STDIN):
        console.print_hint(f"{'would change' if checks else 'formatted'}  {name}")


def _difference(text: str, written: str, name: str) -> str:
    import difflib

    old, new = text.splitlines(keepends=True), written.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, name, f"{name} (formatted)"))
