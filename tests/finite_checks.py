"""Which checks of a spec are about one finite system; read without the tool, which is tested."""

from __future__ import annotations

import re

_CHECK = re.compile(r"^check\s+(\w+)\s+of\b", re.MULTILINE)
_EVERY = re.compile(r"^\s*(?:check\b.*\{)?\s*for\s+all\s+\w", re.MULTILINE)


def finite_checks(text: str) -> list[str]:
    """Names of the checks in ``text`` that are not about all sizes, in order."""
    heads = [*_CHECK.finditer(text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    bodies = (text[head.start() : end] for head, end in zip(heads, ends, strict=False))
    return [head[1] for head, body in zip(heads, bodies, strict=True) if not _EVERY.search(body)]
