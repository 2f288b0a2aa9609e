"""Types state variables: types inferred from initial values, and free initial choices."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.typed import Bag, Map, Option, Seq, Set, Tuple, Type
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.expressions import infer, item_of, members_of, mismatch, safe
from checker.language.typecheck.ghosts import refuse_choices
from checker.language.typecheck.scope import UNKNOWN, Hole, Home, Known, Scope, suggestion
from checker.language.typecheck.types import BOOL, INT, fits


def infer_state_type(state: ast_items.State, role: str | None, home: Home) -> Type:
    """Infers the type of a state variable that is declared without one."""
    name, span = state.name.text, state.name.span
    if state.initial is None:
        hint = f"`state {name} : T` or `state {name} = …`"
        home.report.add("N005", f"`{name}` has no type", span, hint=hint)
        return UNKNOWN
    return type_of_first(state.name, state.initial, "state", Scope(home, "initial", role))


def type_of_first(name: ast.Name, value: ast.Expr, word: str, scope: Scope) -> Type:
    """Infers the type of a variable that is declared as ``word`` with the first value ``value``."""
    try:
        type_ = infer(value, scope).type
    except Hole:
        return UNKNOWN
    if _negative(value):
        hint = f"for example `{word} x : -1..3 = -1`"
        message = f"the range of `{name.text}` can't be inferred"
        scope.report.add("N005", message, name.span, hint=hint)
        return UNKNOWN
    return _natural(type_, value.span)


def _negative(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Operator) and expr.op in ("neg", "-")


def _natural(type_: Type, span: Span) -> Type:
    """Returns ``type_`` with its numbers as naturals whose bounds are guessed capacities."""
    match type_:
        case typed.Int(None, None):
            return typed.Int(typed.Literal(INT, 0, span), None)
        case Tuple(items, names):
            return Tuple(tuple(_natural(t, span) for t in items), names)
        case Option(item):
            return Option(_natural(item, span))
        case Set(item):
            return Set(_natural(item, span))
        case Seq(item, cap):
            return Seq(_natural(item, span), cap)
        case Bag(item, cap):
            return Bag(_natural(item, span), cap)
        case Map(key, value):
            return Map(key, _natural(value, span))
        case _:
            return type_


def init_choices(
    choices: list[ast_items.InitChoice], role: str | None, home: Home
) -> tuple[typed.InitChoice, ...]:
    """Types the free initial choices, in order: each may read what is chosen before it."""
    made: list[typed.InitChoice] = []
    for position, choice in enumerate(choices):
        later = {c.name.text for c in choices[position:]}
        built = _init_choice(choice, role, home)
        if built is not None:
            _read_before(built.domain, later, home)
            _read_before(built.where, later, home)
            made.append(built)
    refuse_choices(tuple(made), role, home)
    return tuple(made)


def _read_before(expr: typed.Expr | None, later: set[str], home: Home) -> None:
    """Reports state that is read before it is chosen."""
    for state in states_in(expr):
        if state.name in later:
            message = f"`{state.name}` is read here but chosen later"
            hint = "move its `init choose` before this one"
            home.report.add("N023", message, state.span, hint=hint)


def states_in(node: object) -> Iterator[typed.StateRef]:
    """Yields the state variables that an expression reads."""
    return (each for each in nodes_of(node) if isinstance(each, typed.StateRef))


def _init_choice(
    choice: ast_items.InitChoice, role: str | None, home: Home
) -> typed.InitChoice | None:
    """Types ``init choose x in S when e``; ``None`` where it has an error, which is reported."""
    name = choice.name.text
    states = home.states.get(role, {})
    if name not in states:
        hint = suggestion(name, states)
        message = f"there is no state variable `{name}` here"
        home.report.add("N002", message, choice.name.span, hint=hint)
        return None
    type_ = states[name]
    scope = Scope(home, "choice", role)
    domain = None
    try:
        if choice.domain is not None:
            domain = members_of(choice.domain, scope)
            if not fits(item_of(domain), type_):
                mismatch(domain, scope, Set(type_))
    except Hole:
        return None
    where = None
    if choice.where is not None:
        where = safe(choice.where, scope.bind({name: Known(type_)}), BOOL)
    return typed.InitChoice(name, domain, where, choice.span)
