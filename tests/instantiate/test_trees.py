"""A walk through a tree finds every node: held to one through all fields of all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from checker.diagnostics import Span
from checker.instantiate.assemble import instantiate
from checker.instantiate.protocol import walk
from checker.language.load import load
from checker.language.syntax import typed
from checker.model import ir, tree, types
from checker.properties.formula import ask
from checker.records import fields, is_record
from checker.resources import specs
from tests.finite_checks import finite_checks

FILES = sorted(specs().rglob("*.bcast"))


def every_node(root: object, beyond: tuple[type, ...] = ()) -> Iterator[object]:
    """All nodes from the top down, whatever the fields that they stand in are said to hold."""
    if isinstance(root, tuple):
        for part in root:
            yield from every_node(part, beyond)
    elif is_record(root) and type(root).__module__ != types.__name__:
        if not isinstance(root, (Span, ir.SourceLocation, type, *beyond)):
            yield root
            for field in fields(root):
                yield from every_node(getattr(root, field.name), beyond)


def same(found: Iterator[object], wanted: Iterator[object]) -> bool:
    return [id(node) for node in found] == [id(node) for node in wanted]


@cache
def checks(path: str) -> tuple[typed.Check, ...]:
    return load(path).checks


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_no_node_of_a_protocol_is_left_out(file: Path) -> None:
    for check in checks(str(file)):
        for root in (check.protocol, check.prove):
            beyond = (typed.Layer, typed.Interface)
            assert same(walk.nodes(root), every_node(root, beyond))


def test_types_are_nodes_of_a_protocol() -> None:
    check = checks(str(specs() / "broadcast" / "best_effort.bcast"))[0]
    assert any(isinstance(node, typed.Msg) for node in walk.nodes(check.protocol))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_no_node_of_a_system_is_left_out(file: Path) -> None:
    finite = finite_checks(file.read_text(encoding="utf-8"))
    for check in [c for c in checks(str(file)) if c.name in finite][:1]:
        system = instantiate(check, {}, ask).system
        for root in (system.init, system.actions, system.properties):
            assert same(tree.nodes(root), every_node(root))
