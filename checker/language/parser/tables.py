"""Makes a parser of the grammar, whose tables take longer to compute than most specs to check.

The tables come from a file beside the grammar, which is written when the tool is built or installed
(``scripts/build_tables.py``), or else from the user's cache; where neither has those of this
grammar they are computed.  This module imports nothing of the tool, which is not installed yet when
it is built.
"""

from __future__ import annotations

import hashlib
import marshal

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

_FORMAT = 4
"""The format of ``marshal``: one that every later Python reads."""


def key(grammar: str) -> str:
    """Returns the name of the tables of ``grammar``, as this version of lark makes them."""
    return hashlib.sha256(f"{lark.__version__} {grammar}".encode()).hexdigest()[:16]


def compute(grammar: str) -> Lark:
    """Returns the LALR(1) parser of ``grammar``."""
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def dump(parser: Lark) -> bytes:
    """Returns the tables of ``parser``, for :func:`load`."""
    tables, memo = parser.memo_serialize([TerminalDef, Rule])
    return marshal.dumps({"data": tables, "memo": memo}, _FORMAT)


def load(data: bytes) -> Lark | None:
    """Returns the parser with these tables; ``None`` if they are invalid."""
    try:
        return Lark.load(marshal.loads(data))
    except Exception:  # invalid tables may raise anything
        return None
