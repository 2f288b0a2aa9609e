"""Asks something else of a check: another property in place of its own, and free inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checker.diagnostics import Span, SpecError
from checker.language.parser.cache import parse
from checker.language.syntax import ast, ast_chance, ast_clauses, ast_items, typed
from checker.language.syntax.verbs import verbs
from checker.language.syntax.walk import relocate
from checker.records import replace

LARGEST = 4
"""The largest number of values that an input is set free over."""

_ASKING = (
    ast_items.Prove
    | ast_items.Expect
    | ast_chance.ProveChance
    | ast_chance.ExpectChance
    | ast_clauses.Scenario
    | ast_items.PropertyDecl
)


def asking_instead(
    decl: ast_items.Check, name: str, document: str, formula: str, where: Span
) -> ast_items.Check:
    """Returns the check ``decl``, which asks nothing but the property ``name`` with this sentence
    and ``formula``, located at ``where``; raises :class:`SpecError` for errors of syntax."""
    text = f'check a of b {{ property {name} "{document}" : {formula}\n prove {name} }}'
    try:
        items = parse(text, where.file).items
    except SpecError as error:
        found = tuple(replace(d, span=where) for d in error.diagnostics)
        raise SpecError(found) from None
    (made,) = (item for item in items if isinstance(item, ast_items.Check))
    kept = [item for item in decl.items if not isinstance(item, _ASKING)]
    return replace(decl, items=(*kept, *relocate(made.items, where)))


def with_free_inputs(decl: ast_items.Check, interface: typed.Interface | None) -> ast_items.Check:
    """Returns the check ``decl`` in which what clients request is chosen when a run starts, among
    all values of a small type, or all payloads that the check requests."""
    if interface is None:
        return decl
    clients = [item for item in decl.items if isinstance(item, ast_items.Client)]
    freed = {id(item): _free(item, clients, interface) for item in clients}
    return replace(decl, items=tuple(freed.get(id(item), item) for item in decl.items))


def _free(
    item: ast_items.Client, clients: list[ast_items.Client], interface: typed.Interface
) -> ast_items.CheckItem:
    operator = _operator(item, interface)
    if operator is None or len(operator.fields) != 1:
        return item
    same = [c for c in clients if _operator(c, interface) is operator]
    values = _values(operator.fields[0][1], same)
    if not 1 < len(values) <= LARGEST:
        return item

    def chosen(given: ast.Expr | ast_clauses.AnyOf) -> ast.Expr | ast_clauses.AnyOf:
        if isinstance(given, ast_clauses.AnyOf):
            return given
        items = tuple(relocate(value, given.span) for value in values)
        return ast_clauses.AnyOf(ast.Display("set", items, given.span), given.span)

    return replace(item, items=tuple(chosen(given) for given in item.items))


def _operator(item: ast_items.Client, interface: typed.Interface) -> typed.Operator | None:
    for operator in interface.requests:
        if item.verb.text in (*verbs(operator.name), operator.name):
            return operator
    return None


def _values(type_: typed.Type, clients: Iterable[ast_items.Client]) -> Sequence[ast.Expr]:
    """Returns the values that an input of this type may have; none where they are not known."""
    nowhere = Span("", 0, 0, 0, 0)
    match type_:
        case typed.Bool():
            return [ast.Truth(False, nowhere), ast.Truth(True, nowhere)]
        case typed.Int(typed.Literal(value=int(low)), typed.Literal(value=int(high))):
            return [ast.Integer(value, nowhere) for value in range(low, high + 1)[: LARGEST + 1]]
        case typed.Enum(_, labels):
            return [ast.Name(label, nowhere) for label in labels]
        case typed.Msg():
            names = [e.text for c in clients for e in c.items if isinstance(e, ast.Name)]
            return [ast.Name(name, nowhere) for name in dict.fromkeys(names)]
        case _:
            return []
