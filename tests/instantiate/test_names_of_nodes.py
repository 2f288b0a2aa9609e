"""What nodes read, write and bind is declared for each kind of node, and derived rightly."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path
from typing import get_args

import pytest

from checker.instantiate.assemble import instantiate
from checker.language.load import load
from checker.model import ir, names, types
from checker.model.ir import FALSE, TRUE, Local, Read
from checker.model.memo import an_analysis
from checker.model.node import Node
from checker.model.tree import fold
from checker.model.types import BOOL, IntT, SetT
from checker.properties.formula import ask
from checker.records import fields, is_record, replace
from checker.resources import specs
from tests.finite_checks import finite_checks

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(specs().rglob("*.bcast"))[::6]
DIGIT = IntT(0, 9)
X, Y = Local(DIGIT, "x"), Local(DIGIT, "y")
SET = Read(SetT(DIGIT), "v")
AMONG = ir.Members(SET, DIGIT)

SUMS = {
    "Expr": {kind.__name__ for kind in get_args(ir.Expr)},
    "Stmt": {kind.__name__ for kind in get_args(ir.Stmt)},
    "Domain": {kind.__name__ for kind in get_args(ir.Domain)},
}

OPEN = {
    ("compiled.py", "compiled"): "the interpreter evaluates what is left",
    ("compiled.py", "_nested"): "what is left has no arrays: the interpreter evaluates it",
    ("compiled.py", "_values"): "what is left has no columns: its elements are taken one by one",
    ("messages.py", "_harmless"): "what is left has to be an expression or a domain: it is typed",
    ("uses.py", "uses_in"): "what is left has to be an expression: it is typed",
}
"""Matches that have a default, and why."""


def less(one: ir.Expr, other: ir.Expr) -> ir.Expr:
    return ir.Apply(BOOL, ir.Op.LT, (one, other))


def test_every_kind_of_node_has_an_entry() -> None:
    kinds = {*get_args(ir.Expr), *get_args(ir.Domain), *get_args(ir.Stmt)}
    assert names.ROLES.keys() == kinds | {ir.Key, ir.Pos, ir.Target, ir.Param}


@pytest.mark.parametrize("kind", names.ROLES, ids=lambda kind: kind.__name__)
def test_an_entry_names_fields_of_its_kind(kind: type) -> None:
    assert is_record(kind)
    held, roles = {field.name for field in fields(kind)}, names.ROLES[kind]
    named = {roles.reads, roles.refers, roles.writes, roles.binds} - {""}
    assert named | set(roles.within) <= held
    assert bool(roles.binds) == bool(roles.within or roles.after)
    assert bool({"name", "variable"} & held) == bool(named)


def test_what_binds_a_name_binds_it_within_its_fields_only() -> None:
    count = ir.Quant(ir.Quantifier.COUNT, "x", ir.Members(ir.Apply(SET.type, ir.Op.INSERT,
                     (SET, X)), DIGIT), less(X, Y), DIGIT)  # fmt: skip
    assert names.free_in(count) == {"x", "y"}
    assert names.free_in(ir.Let(BOOL, "x", X, less(X, X))) == {"x"}
    assert names.free_in(ir.Let(BOOL, "x", Y, less(X, X))) == {"y"}
    assert names.free_in(ir.Comprehension(SET.type, "x", AMONG, less(X, Y), X)) == {"y"}
    assert names.free_in(ir.MapOf(types.MapT(DIGIT, BOOL), "y", less(X, Y))) == {"x"}
    assert names.free_in(ir.For("x", AMONG, (ir.Assume(less(X, Y)),))) == {"y"}


def test_what_follows_a_choice_or_a_declaration_sees_its_name() -> None:
    test = ir.Assume(less(X, Y))
    assert names.free_in((ir.Choose("x", AMONG, less(X, X)), test)) == {"y"}
    assert names.free_in((test, ir.Choose("x", AMONG, less(X, X)))) == {"x", "y"}
    assert names.free_in((ir.Declare("x", DIGIT, X), test)) == {"x", "y"}
    assert names.free_in((ir.For("x", AMONG, ()), test)) == {"x", "y"}


def test_reads_and_writes() -> None:
    held = ir.Assign(ir.Target(DIGIT, "w", True, (ir.Key(Y, DIGIT),)), X)
    block = (ir.Declare("x", SET.type, SET), ir.If(TRUE, (held,)), ir.For("y", AMONG, ()))
    assert names.reads_in(block) == {"v"}
    assert names.assigned_in(block) == {"w"}
    assert names.stored_in(block) == {"x"}
    assert names.introduced_in(block) == {"x", "y"}
    assert names.bound_in((block, ir.MapOf(SET.type, "z", FALSE))) == {"z"}
    assert names.locals_in(block) == {"x", "y"}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_systems_are_closed(file: Path) -> None:
    finite = finite_checks(file.read_text(encoding="utf-8"))
    for check in [c for c in load(str(file)).checks if c.name in finite][:1]:
        system = instantiate(check, {}, ask).system
        for action in system.actions:
            code = (*action.params, action.guard, action.promised, *action.body)
            key = (*action.params, *ir.fairness_of(action).key)
            with an_analysis():
                assert names.free_in(code) == names.free_in(key) == set()
            assert names.free_in(code) == set()
            stored = names.reads_in(code) | names.assigned_in(code)
            assert stored <= {variable.name for variable in system.variables}
        for prop in system.properties:
            assert not names.free_in((prop.bad, prop.premise, (*prop.params, *prop.propositions)))


def test_an_analysis_joins_each_node_once() -> None:
    joined: list[object] = []

    def count(node: object, below: list[int]) -> int:
        joined.append(node)
        return 1 + sum(below)

    size, test = fold(count), less(X, Y)
    whole = ir.Apply(BOOL, ir.Op.AND, (test, ir.Apply(BOOL, ir.Op.NOT, (test,))))
    with an_analysis():
        with an_analysis():
            assert size(whole) == 8
        assert size(whole) == 8
        assert len(joined) == 5
    joined.clear()
    assert size(whole) == size(whole) == 8
    assert len(joined) == 16


def kinds_in(pattern: ast.pattern) -> set[str]:
    """The classes that a pattern, or an alternative of it, is of."""
    if isinstance(pattern, ast.MatchOr):
        return {kind for one in pattern.patterns for kind in kinds_in(one)}
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return kinds_in(pattern.pattern)
    if isinstance(pattern, ast.MatchClass):
        return {ast.unparse(pattern.cls).removeprefix("ir.")}
    return set()


def takes_apart(match: ast.Match) -> bool:
    """Whether a match names most kinds of a sum, and so is about all of them; one of fewer
    recognises a shape."""
    named = {kind for case in match.cases for kind in kinds_in(case.pattern)}
    return any(2 * len(named & kinds) > len(kinds) for kinds in SUMS.values())


def is_closed(match: ast.Match) -> bool:
    return "assert_never" in ast.unparse(match.cases[-1])


def test_what_takes_nodes_apart_leaves_no_kind_out() -> None:
    found = set()
    for path in (ROOT / "checker").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "checker.model" not in text or "match " not in text:
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Match) and takes_apart(node) and not is_closed(node):
                        found.add((path.name, function.name))
    assert found == OPEN.keys()


def test_kept_names_are_no_part_of_a_node() -> None:
    def made() -> ir.Expr:
        inside = ir.Apply(BOOL, ir.Op.IN, (X, SET))
        return ir.Quant(ir.Quantifier.EXISTS, "x", AMONG, inside, BOOL)

    asked, other = made(), made()
    assert names.free_in(asked) == frozenset() and names.bound_in(asked) == {"x"}
    assert (asked, hash(asked), repr(asked)) == (other, hash(other), repr(other))
    again = pickle.loads(pickle.dumps(asked))
    assert again == asked and names.reads_in(again) == {"v"}
    assert names.locals_in(replace(asked, body=Y)) == {"y"}


def test_each_node_computes_its_names_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(issubclass(kind, Node) for kind in names.ROLES)
    node = ir.Apply(BOOL, ir.Op.IN, (ir.Local(DIGIT, "x"), ir.Read(SET.type, "v")))
    first = names.names_of(node)
    monkeypatch.setattr(names, "_own_names", None)
    assert names.names_of(node) is first
    assert (names.locals_in(node), names.reads_in(node)) == ({"x"}, {"v"})
