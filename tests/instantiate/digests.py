"""Prints what checks become, in short: ``python -m tests.instantiate.digests FILE::CHECK …``.

For each check a line with digests of its system, coarse and fine, of the plan of reductions, and of
the text for LLVM.  They are to be functions of the spec alone, so sets, which have no order, are
read in an order of their own, and everything else as it is.
"""

from __future__ import annotations

import enum
import hashlib
import sys
from collections.abc import Mapping

from checker.engines.native.codegen.image import build
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.records import fields, is_record
from checker.reductions.choose import VERDICTS, choose
from checker.session.load import load_check


def digest(value: object) -> str:
    """A digest of a tree of dataclasses, tuples, mappings, sets and plain values."""
    pieces: list[str] = []
    _write(value, pieces, {})
    return hashlib.sha256("".join(pieces).encode()).hexdigest()[:16]


def _write(value: object, pieces: list[str], seen: dict[int, tuple[int, object]]) -> None:
    """``seen``: the number of each node that has been written; it is written once."""
    if id(value) in seen:
        pieces.append(f"#{seen[id(value)][0]}")
        return
    parts: list[object] = []
    match value:
        case frozenset() | set():
            pieces.append(f"{{{sorted(digest(part) for part in value)}}}")
            return
        case tuple() | list():
            parts = [*value]
        case Mapping():
            parts = [part for pair in value.items() for part in pair]
        case enum.Enum():
            pieces.append(str(value))
            return
        case _ if is_record(value) and not isinstance(value, type):
            parts = [getattr(value, field.name) for field in fields(value)]
        case _:
            pieces.append(repr(value))
            return
    pieces.append(f"{type(value).__name__}(")
    for part in parts:
        _write(part, pieces, seen)
        pieces.append(",")
    pieces.append(")")
    seen[id(value)] = len(seen), value


def main(names: list[str]) -> None:
    for name in names:
        path, _, check = name.partition("::")
        typed = load_check(path, check, {})
        system = instantiate(typed, {}, ask).system
        plan = choose(system, "all", VERDICTS)
        fine = instantiate(typed, {}, ask, fine=True).system
        made = *map(digest, (system, fine, plan)), build(system, plan).digest
        print(name, *made, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
