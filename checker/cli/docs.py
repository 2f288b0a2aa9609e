"""``bivalence docs``: prints the documents that come with the tool."""

from __future__ import annotations

from pathlib import Path

import click

from checker.cli import console

LEFT_OUT = ("decisions",)
"""Folders of documents about the tool itself, which are not installed."""


@click.command()
@click.argument("page", required=False, metavar="[PAGE]")
def docs(page: str | None) -> int:
    """Print the document PAGE (such as commands, or tutorial/leases), or list all.

    Everything is installed with the tool: the tutorial, the language, the commands, the limits.
    """
    from checker import resources

    found = pages()
    if page is None:
        width = max(map(len, found))
        for name, path in found.items():
            console.print_line(f"{name:{width}}  {title(path)}")
        console.print_line(f"\nlibrary: {resources.specs()}")
        console.print_line(f"extension for Visual Studio Code: {resources.editor_extension()}")
        return 0
    name = page.removesuffix(".md").removeprefix("docs/")
    if name not in found:
        raise click.UsageError(f"no document is called {page}{_near(name, list(found))}")
    console.print_line(found[name].read_text(encoding="utf-8").rstrip("\n"))
    return 0


def pages() -> dict[str, Path]:
    """Returns the documents by name, in order; raises ``FileNotFoundError`` if they are missing."""
    from checker import resources

    folder = resources.documents()
    found = (path.relative_to(folder) for path in sorted(folder.rglob("*.md")))
    kept = [path for path in found if path.parts[0] not in LEFT_OUT]
    return {path.with_suffix("").as_posix(): folder / path for path in kept}


def title(path: Path) -> str:
    """Returns the first heading of a document."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else "; `bivalence docs` lists all"
