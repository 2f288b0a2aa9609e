"""Values in words, in data, and back."""

from __future__ import annotations

import pytest

from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    Case,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
)
from checker.results.show_values import decode, encode, show

PROC = AtomT("Proc", ("p1", "p2"))
LATE = AtomT("Proc", ("p2", "p3"), 1)
NUMBER = IntT(0, 9)
WIRE = VariantT("wire", (Case("DATA", (("s", PROC), ("k", NUMBER))), Case("STOP")))

EXAMPLES: list[tuple[Type, Value, str, object]] = [
    (BOOL, True, "true", True),
    (NUMBER, 7, "7", 7),
    (IntT(0, 2**60), 2**60, str(2**60), {"#bigint": str(2**60)}),
    (PROC, 1, "p2", "p2"),
    (LATE, 2, "p3", "p3"),
    (TupleT((PROC, NUMBER)), (0, 3), "(p1, 3)", {"#tup": ["p1", 3]}),
    (TupleT((PROC, BOOL), ("x", "y")), (0, False), "(x: p1, y: false)", {"x": "p1", "y": False}),
    (OptionT(NUMBER), None, "none", {"tag": "None", "value": {"tag": "UNIT", "value": None}}),
    (OptionT(NUMBER), (4,), "4", {"tag": "Some", "value": 4}),
    (SetT(PROC), frozenset({1, 0}), "{p1, p2}", {"#set": ["p1", "p2"]}),
    (MapT(PROC, NUMBER), (5, 6), "{p1: 5, p2: 6}", {"#map": [["p1", 5], ["p2", 6]]}),
    (SeqT(PROC, 3), (1, 0), "[p2, p1]", ["p2", "p1"]),
    (BagT(NUMBER, 3), (2, 2, 5), "{2 x2, 5}", [2, 2, 5]),
    (WIRE, (0, 1, 3), "DATA(p2, 3)", {"tag": "DATA", "value": {"s": "p2", "k": 3}}),
    (WIRE, (1,), "STOP", {"tag": "STOP", "value": {}}),
]


@pytest.mark.parametrize(("type_", "value", "text", "data"), EXAMPLES)
def test_values(type_: Type, value: Value, text: str, data: object) -> None:
    assert show(type_, value) == text
    assert encode(type_, value) == data
    assert decode(type_, encode(type_, value)) == value


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (BOOL, 1),
        (NUMBER, "1"),
        (NUMBER, True),
        (PROC, "p9"),
        (SetT(PROC), ["p1"]),
        (MapT(PROC, NUMBER), {"#map": [["p1", 5]]}),
        (WIRE, {"tag": "HELLO", "value": {}}),
        (TupleT((PROC, NUMBER)), {"#tup": ["p1"]}),
    ],
)
def test_what_is_no_value_is_refused(type_: Type, data: object) -> None:
    with pytest.raises(ValueError, match="not a value"):
        decode(type_, data)  # type: ignore[arg-type]
