"""The codes of all diagnostics, each with a page in ``pages/`` that explains it: S syntax, N names
and types, C checks, R runtime errors, E settings, engines and files, T what can't be proved for
every number of processes, A calls of assistants.
"""

from __future__ import annotations

from checker import resources


def codes() -> tuple[str, ...]:
    """Returns every code that a diagnostic can have, in alphabetical order."""
    return tuple(sorted(page.stem for page in resources.pages().glob("*.md")))


def page(code: str) -> str:
    """Returns the page about ``code`` (in any case): explanation, example, message, in Markdown.

    Raises ``KeyError`` if there is no such code.
    """
    known = code.strip().upper()
    if known not in codes():
        raise KeyError(code)
    return (resources.pages() / f"{known}.md").read_text(encoding="utf-8")
