"""The syntax tree comes from the grammar: nodes are built from rules of their names."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import pytest
from lark import Lark

from checker import resources
from checker.diagnostics import Span
from checker.language.parser.build import MAKERS, Builder, nodes
from checker.language.parser.parse import parser
from checker.language.syntax import ast, ast_items

LISTS = (
    "again alternative arguments binders block claims entries fields names parameters "
    "procedure_parameters quotient start steps"
)
"""The rules whose trees are tuples of their children."""
OTHERWISE = {"display", "property_decl", "spec", "timer"}
"""The classes that rules of other names become."""


def rules() -> set[str]:
    """The names that trees of a parsed text may have."""
    kept = (rule for rule in parser().rules if rule.alias or not rule.options.expand1)
    names = {str(rule.alias or rule.origin.name) for rule in kept}
    return {name for name in names if not name.startswith("_")}


def test_a_rule_is_a_class_or_a_list_or_built_by_hand() -> None:
    assert rules() - MAKERS.keys() == set(LISTS.split())


def test_every_class_has_a_rule() -> None:
    assert (nodes(ast) | nodes(ast_items)).keys() - rules() == OTHERWISE


@dataclass(frozen=True, slots=True)
class Pause:
    """A statement that the language does not have."""

    quiet: bool
    name: ast.Name
    unit: str
    limit: ast.Expr | None
    others: tuple[ast.Expr, ...]
    span: Span


TOY = (
    'pause: "pause" [QUIET] NAME [UNIT] ["up" "to" expr] ("," expr)*\nQUIET: "quiet"\nUNIT: "ms"\n'
)


def paused(statement: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """The node of a statement of a language that has ``rule``, too."""
    module = ModuleType("toy")
    module.Pause = Pause  # type: ignore[attr-defined]
    for name, make in nodes(module).items():
        monkeypatch.setitem(MAKERS, name, make)
    grammar = resources.grammar().read_text("utf-8")
    grammar = grammar.replace("_statement: assign", "_statement: pause | assign") + rule
    parser = Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
    text = f"protocol P {{ upon init {{ {statement} }} }}"
    (protocol,) = Builder("a", text).spec(parser.parse(text))
    assert isinstance(protocol, ast_items.Protocol)
    (handler,) = protocol.items
    assert isinstance(handler, ast_items.Handler)
    return handler.body[0]


def test_a_statement_is_a_rule_and_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(column: int, end: int) -> Span:
        return Span("a", 1, column, 1, end)

    name = ast.Name("t", at(32, 33))
    assert paused("pause t", TOY, monkeypatch) == Pause(False, name, "", None, (), at(26, 33))
    name = ast.Name("t", at(38, 39))
    limit = ast.Integer(3, at(49, 50))
    others = (ast.Name("x", at(52, 53)), ast.Truth(True, at(55, 59)))
    node = paused("pause quiet t ms up to 3, x, true", TOY, monkeypatch)
    assert node == Pause(True, name, "ms", limit, others, at(26, 59))


def test_a_rule_with_more_parts_than_its_class_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError):
        paused("pause t u", 'pause: "pause" NAME NAME -> yield\n', monkeypatch)
