"""Letters of states, as native code and Python share them: see
:mod:`checker.engines.native.codegen.state_predicates`."""

from __future__ import annotations

from checker.engines.native.codegen.packing import encode, width
from checker.model import types as t
from checker.model.ir import Property, domain_item
from checker.model.types import Value

WORD = 64
STOPPED = (1 << WORD) - 1
FEW, MAX_JUSTICE = 15, 63
"""The most propositions whose 16 bits are a letter; the maximum number of justice conditions."""


def letter_words(propositions: int) -> int:
    """The 64-bit words that ``letters_<p>`` writes for each state; 0: it writes 16 bits."""
    return 0 if propositions <= FEW else -(-propositions // WORD)


def words_of(type_: t.Type) -> int:
    """Words of a parameter's code."""
    return -(-width(type_) // WORD)


def pack_params(prop: Property, values: tuple[Value, ...]) -> list[int]:
    """The words of ``params`` for an assignment."""
    words = []
    for param, value in zip(prop.params, values, strict=True):
        type_ = domain_item(param.domain)
        code = encode(type_, value)
        words += [code >> WORD * i & (1 << WORD) - 1 for i in range(words_of(type_))]
    return words
