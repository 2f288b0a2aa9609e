"""The meanings of the language's keywords, from the tables of ``docs/language/``."""

from __future__ import annotations

import re
from functools import cache

from checker import resources

_CODE = re.compile(r"`([^`]+)`")
_SPLIT = re.compile(r"(?<!\\)\|")
_FIRST = re.compile(r"[A-Za-z_]\w*")
_CLAUSE = re.compile(r"(?:links|faults|timing|detector|upon|role \w+\(\w+\)) ([A-Za-z_]\w*)")


@cache
def rows() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Returns the rows of the tables: the code in the first cell and its meaning; empty if the
    reference is not installed."""
    try:
        pages = [page.read_text(encoding="utf-8") for page in resources.language_reference()]
    except OSError:
        return ()
    found = []
    for line in "\n".join(pages).splitlines():
        cells = [cell.strip() for cell in _SPLIT.split(line.strip().strip("|"))]
        if line.startswith("| `") and len(cells) >= 2 and cells[-1]:
            meaning = "; ".join(cell for cell in cells[1:] if cell)
            found.append((tuple(_CODE.findall(cells[0])), meaning.replace("\\|", "|")))
    return tuple(found)


@cache
def meanings() -> dict[str, str]:
    """Returns what each word means that a table explains: the row that it begins, or the clause
    with it, as Markdown."""
    found: dict[str, str] = {}
    for codes, meaning in rows():
        for code in codes:
            said = f"`{code}`\n\n{meaning}"
            first = _FIRST.match(code)
            for word in (code, *([first.group()] if first else ())):
                found.setdefault(word, said)
            clause = _CLAUSE.match(code)
            if clause is not None:
                found.setdefault(clause[1], said)
    return found
