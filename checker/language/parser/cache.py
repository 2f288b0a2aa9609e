"""Caches parsed files on disk.

A file's declarations are stored under a digest of its text, its name, and everything that
determines the result of parsing: the grammar and the sources of the parser.  If anything is wrong
with the folder or its contents, the file is parsed.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

from checker import diagnostics, resources
from checker.language.syntax import (
    ast,
    ast_chance,
    ast_clauses,
    ast_draws,
    ast_items,
    ast_objects,
    plain,
)

_NODES = (diagnostics, ast, ast_chance, ast_clauses, ast_draws, ast_items, ast_objects)
"""The modules that define what is in a syntax tree."""
KEPT = 500
"""The largest number of cached files; the oldest are removed first."""


def parse(text: str, file: str) -> ast_items.Spec:
    """Returns what :func:`checker.language.parser.parse.parse` does, which is called only on a
    cache miss."""
    path = _path(text, file)
    spec = _read(path)
    if spec is None:
        from checker.language.parser.parse import parse as parse_text

        spec = parse_text(text, file)
        if path is not None:
            resources.store_cached(path, plain.dump(spec), KEPT)
    return spec


@cache
def _parser_digest() -> bytes:
    digest = hashlib.sha256(repr(sys.version_info).encode())
    for source in sources():
        digest.update(source.read_bytes())
    return digest.digest()


def sources() -> list[Path]:
    """Returns the files that determine the result of parsing a text: the grammar, the parser and
    the modules of the syntax tree."""
    tree = (Path(str(module.__file__)) for module in (plain, *_NODES))
    return [resources.grammar(), *sorted(Path(__file__).parent.glob("*.py")), *tree]


def _path(text: str, file: str) -> Path | None:
    folder = resources.cache_folder("parsed")
    if folder is None:
        return None
    names = (part.encode("utf-8", "surrogatepass") for part in (file, text))
    key = b"\0".join((_parser_digest(), *names))
    return folder / f"{hashlib.sha256(key).hexdigest()}.json"


def _read(path: Path | None) -> ast_items.Spec | None:
    data = None if path is None else resources.load_cached(path)
    if data is None:
        return None
    try:
        found = plain.load(data, _kinds())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, ast_items.Spec) else None


@cache
def _kinds() -> plain.Kinds:
    return plain.kinds(*_NODES)
