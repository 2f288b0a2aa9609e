"""Specs that nobody would write: mutants of the library's by its grammar, and hostile ones."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from pathlib import Path

from checker import resources
from checker.diagnostics import Span
from checker.language.mutation import source_text
from checker.language.syntax import ast
from checker.language.syntax.walk import nodes_of

NUMBERS = ("0", "1", "2", "7", "64", "1000", "65536", "99999999999999999999")
MOST = 40_000
"""Characters of a mutant."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """What stands in a text from ``start`` to ``end``: a part of the tree, of this ``kind``."""

    kind: str
    start: int
    end: int


class Source(source_text.Source):
    """``pieces``: the parts of the tree that stand somewhere."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        found = ((node, getattr(node, "span", None)) for node in nodes_of(self.spec))
        pieces = (Piece(_kind(n), *self.bounds(s)) for n, s in found if isinstance(s, Span))
        self.pieces = [p for p in pieces if p.start < p.end <= len(self.text)]

    def text_of(self, piece: Piece) -> str:
        return self.text[piece.start : piece.end]


@cache
def library() -> tuple[Source, ...]:
    """The library's specs, with all parts of their trees."""
    return tuple(Source(path) for path in sorted(resources.specs().rglob("*.bcast")))


SORTS = {"expression": ast.Expr, "type": ast.Type, "statement": ast.Stmt}


def _kind(node: object) -> str:
    """Parts of one kind may stand for one another: the sort of a node, or its class."""
    if not isinstance(node, ast.Name):
        for sort, classes in SORTS.items():
            if isinstance(node, classes):
                return sort
    return type(node).__name__


@cache
def _of_kind(kind: str) -> tuple[tuple[int, Piece], ...]:
    return tuple(
        (index, piece)
        for index, source in enumerate(library())
        for piece in source.pieces
        if piece.kind == kind and piece.end - piece.start < 400
    )


def mutant(draw: random.Random) -> str:
    """A spec of the library in which some parts have been replaced by others of their kind."""
    source = draw.choice([s for s in library() if len(s.text) < MOST])
    chosen: list[source_text.Edit] = []
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        kind = draw.choice(sorted({p.kind for p in source.pieces}))
        piece = draw.choice([p for p in source.pieces if p.kind == kind])
        if all(piece.end <= other.start or other.end <= piece.start for other in chosen):
            new = _instead(draw, source, piece)
            chosen.append(source_text.Edit(piece.start, piece.end, new))
    return source.edited(chosen).replace('import "', f'import "{source.path.parent}/')


def _instead(draw: random.Random, source: Source, piece: Piece) -> str:
    old = source.text_of(piece)
    if old.isdigit():
        return draw.choice(NUMBERS)
    match draw.randrange(7):
        case 0:
            return "skip" if piece.kind == "statement" else ""
        case 1:
            return f"{old} {old}"
        case 5:
            return old.replace("1", "2") if "1" in old else "true"
        case 2 | 3 | 4:
            near = [p for p in source.pieces if p.kind == piece.kind]
            return source.text_of(draw.choice(near))
        case _:
            index, other = draw.choice(_of_kind(piece.kind) or ((0, source.pieces[0]),))
            return library()[index].text_of(other)


# ---- hostile by their sizes --------------------------------------------------------------------


def hostile(draw: random.Random) -> str:
    """A spec that has its right form, and something in it that is far too large or too deep."""
    many = draw.choice((3, 30, 300, 3000))
    huge = draw.choice(("31", "101", "65537", "10000000", "99999999999999999999"))
    state, body, prop, world = "x : 0..3 = 0", "x := 1", "always p.x <= 3", ""
    guard = "x == 0"
    match draw.randrange(18):
        case 0:
            state = f"x : 0..{huge} = 0"
            body, guard, prop = "x += 1", "true", "always p.x >= 0"
        case 1:
            state = f"x : set<0..{huge}> = {{}}  init choose x"
            body, prop = "x += 1", "always 1 in p.x"
            guard = "true"
        case 2:
            prop = f"always exists s in subsets((0..{huge})): p.x in s"
        case 3:
            body = f"for i in (0..{huge}) {{ x := 1 }}"
        case 4:
            body = " ".join(["either { x := 1 } or { x := 2 }"] * many)
        case 5:
            guard = "(" * many + "x == 0" + ")" * many
        case 6:
            body = "if x == 0 { " * many + "x := 1" + " }" * many
        case 7:
            state += "".join(f"  state v{i} = false" for i in range(many))
        case 8:
            world = f"  n = {huge}"
        case 9:
            world = f"  n = {draw.choice((9, 64, 500))}  faults crash <= {many}"
        case 10:
            prop = "always (" + " and ".join(["p.x <= 3"] * many) + ")"
        case 11:
            prop = "not (" * min(many, 300) + "eventually p.x == 1" + ")" * min(many, 300)
        case 12:
            state = f"x : map<0..{huge}, map<0..{huge}, bool>> = false"
            body, guard, prop = "x[0][0] := true", "not x[0][0]", "always p.x[0][0] or true"
        case 13:
            body = f"while some i in (0..{huge}) when x == 0 {{ skip }}"
        case 14:
            state = "x : seq<Nat> = []"
            body, guard, prop = f"x := x + {huge}", "true", "always #p.x < 100"
        case 15:
            body = "x := " + " + ".join(["1"] * many)
        case 16:
            prop = " ~> ".join(["p.x == 1"] * min(many, 30))
        case _:
            body = f"choose s in subsets((0..{huge}))  x := 1"
    handlers = f"upon condition {guard} {{ {body} }}  "
    handlers *= draw.choice((1, 1, 1, 2, many))
    return (
        f"protocol P {{ state {state}\n {handlers}\n"
        f" property s : forall p in Proc: {prop} }}\n"
        f"check c of P {{ {world} prove s }}\n"
    )
