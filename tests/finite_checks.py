"""Which checks of a spec are about one finite system, and which are about all sizes; read without
the tool, which is tested, and in no time."""

from __future__ import annotations

import re
from itertools import pairwise

_CHECK = re.compile(r"^check\s+(\w+)\s+of\b", re.MULTILINE)
_EVERY = re.compile(r"^\s*(?:check\b.*\{)?\s*for\s+all\s+\w", re.MULTILINE)


def finite_checks(text: str) -> list[str]:
    """Names of the checks in ``text`` that are not about all sizes, in order."""
    return [name for name, body in bodies(text) if not _EVERY.search(body)]


_MUTANT = re.compile(r"^\s*mutant (\w+) \{", re.MULTILINE)


def checks_for_all_sizes(text: str) -> list[str]:
    """Names of the other checks in ``text``, in order."""
    return [name for name, body in bodies(text) if _EVERY.search(body)]


def bodies(text: str) -> list[tuple[str, str]]:
    """The names of the checks in ``text``, of each the mutants behind it, and their texts."""
    heads = [*_CHECK.finditer(text)]
    starts = [*(head.start() for head in heads), len(text)]
    found = []
    for head, ends in zip(heads, pairwise(starts), strict=True):
        body = text[slice(*ends)]
        found.append((head[1], body))
        found += [(f"{head[1]}.{mutant}", body) for mutant in _MUTANT.findall(body)]
    return found
