"""Nodes and types are values, however they are made."""

from __future__ import annotations

import copy
import pickle

import pytest

from checker.model import ir, types
from checker.model.memo import an_analysis
from checker.model.node import Hashed, Node
from checker.model.tree import placeless
from checker.model.types import BOOL, IntT
from checker.records import fields, replace

PLACE = ir.SourceLocation("a.bcast", 1, 2)


def made(place: ir.SourceLocation | None = None) -> ir.Apply:
    return ir.Apply(BOOL, ir.Op.NOT, (ir.Read(BOOL, "late"),), place)


def kinds(base: type) -> list[type]:
    return [kind for one in base.__subclasses__() for kind in (one, *kinds(one))]


def test_all_nodes_and_types_know_their_hash() -> None:
    known = {kind for kind in kinds(Hashed) if hasattr(kind, "record_fields")}
    assert {ir.Apply, ir.Assign, ir.Param, types.SetT, types.VariantT} <= known
    assert all("__dict__" not in dir(kind) for kind in known)


def test_what_is_kept_is_no_part_of_a_value() -> None:
    one, other = made(), made()
    assert hash(one) == hash(other) and one == other and one is not other
    assert one != made(PLACE) and hash(one) != hash(made(PLACE))
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), replace(one)):
        assert again == one
        assert not hasattr(again, "kept_hash")
        assert repr(again) == repr(one)


def test_other_kinds_are_never_equal() -> None:
    assert ir.Read(BOOL, "x") != ir.Local(BOOL, "x")
    assert ir.Pos(1) != 1 and IntT(0, 1) != BOOL
    assert ir.Const(BOOL, True) != ir.Const(IntT(0, 1), 1)


def test_constructors_take_what_is_declared() -> None:
    with pytest.raises(TypeError):
        ir.Read(BOOL)  # type: ignore[call-arg]
    assert ir.Param("x", ir.Universe(BOOL), where=ir.TRUE).where is ir.TRUE
    assert made().place is None
    assert [f.name for f in fields(ir.Apply)] == ["type", "op", "args", "place"]
    match made():
        case ir.Apply(_, ir.Op.NOT, (ir.Read(variable=name),)):
            assert name == "late"


def test_equal_nodes_become_one_in_an_analysis() -> None:
    with an_analysis():
        one, other = placeless(made(PLACE)), placeless(made())
        assert one is other and one == made()
    assert placeless(made(PLACE)) is not placeless(made(PLACE))
    assert issubclass(ir.Apply, Node)
