"""Types patterns: what is bound, what is compared, what is destructured."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Span
from checker.diagnostics.english import count
from checker.language.syntax import ast, typed
from checker.language.syntax.typed import Type
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.scope import UNKNOWN, Known, Scope, another_name, suggestion
from checker.language.typecheck.types import MESSAGE, fits, show
from checker.records import replace

Names = dict[str, Known]


def binder_pattern(
    pattern: ast.Expr, type_: Type, scope: Scope, role: str | None = None
) -> tuple[typed.Pattern, Names]:
    """Types the pattern of a binder: names and tuples of names.  Raises :class:`Hole`."""
    names: Names = {}
    made = _bound(pattern, type_, scope, names, role)
    return made, names


def after_condition(condition: ast.Expr | None, scope: Scope) -> Scope:
    """Returns the scope behind ``condition``, which has a hint for each name bound inside it."""
    hints = dict(scope.hints)
    for node in nodes_of(condition):
        for binder in node.binders if isinstance(node, ast.Quantified) else ():
            names = [*pattern_names(binder.pattern)]
            pattern = names[0] if len(names) == 1 else f"({', '.join(names)})"
            domain = binder.domain.text if isinstance(binder.domain, ast.Name) else "…"
            again = f"repeat it as `choose {pattern} in {domain} when …`"
            said = "is bound inside the condition only"
            hints |= {name: f"`{name}` {said}: {again}" for name in names}
    return replace(scope, hints=hints)


def _bound(
    pattern: ast.Expr, type_: Type, scope: Scope, names: Names, role: str | None
) -> typed.Pattern:
    match pattern:
        case ast.Name("_", _):
            return typed.Ignore(type_)
        case ast.Name(text, span):
            fresh(ast.Name(text, span), scope.bind(names))
            names[text] = Known(type_, role)
            return typed.Bind(type_, text)
        case ast.Display("tuple", items, span):
            parts = _parts(items, type_, span, scope)
            pairs = zip(items, parts, strict=True)
            return typed.Parts(type_, tuple(_bound(i, t, scope, names, None) for i, t in pairs))
        case _:
            message = "only names can be bound here"
            scope.report.fail("N024", message, pattern.span, "a name, or a tuple of names")


def pattern_names(pattern: ast.Expr) -> Iterator[str]:
    """Yields the names that the pattern of a binder binds."""
    match pattern:
        case ast.Name(text, _):
            yield text
        case ast.Display("tuple", items, _):
            for item in items:
                yield from pattern_names(item)
        case _:
            pass


def fresh(name: ast.Name, scope: Scope) -> None:
    """Reports a name that already has a meaning, and raises :class:`Hole`."""
    taken = scope.meaning_of(name.text)
    if taken:
        hint = another_name(name.text)
        scope.report.fail("N004", f"`{name.text}` is already {taken}", name.span, hint=hint)


def _parts(items: tuple[ast.Expr, ...], type_: Type, span: Span, scope: Scope) -> tuple[Type, ...]:
    if type_ == UNKNOWN:
        return (UNKNOWN,) * len(items)
    if not isinstance(type_, typed.Tuple):
        message = f"this is {show(type_)}, not a tuple"
        scope.report.fail("N003", message, span, f"a tuple of {len(items)}")
    if len(type_.items) != len(items):
        message = f"the pattern has {len(items)} components, and the tuple {len(type_.items)}"
        scope.report.fail("N006", message, span, show(type_))
    return type_.items


def handler_patterns(
    args: tuple[ast.Expr, ...],
    fields: tuple[tuple[str, Type], ...],
    what: str,
    span: Span,
    scope: Scope,
    names: Names,
) -> tuple[typed.Pattern, ...]:
    """Types the patterns of a handler's event and adds to ``names``; raises :class:`Hole`."""
    if len(args) != len(fields):
        wanted = f"{what}({', '.join(n for n, _ in fields)})" if fields else what
        message = f"`{what}` has {count(len(fields), 'argument')}, not {len(args)}"
        scope.report.fail("N006", message, span, wanted)
    pairs = zip(args, fields, strict=True)
    return tuple(pattern_of(arg, type_, scope, names) for arg, (_, type_) in pairs)


def pattern_of(arg: ast.Expr, type_: Type, scope: Scope, names: Names) -> typed.Pattern:
    """Types one pattern of a handler: a fresh name binds, all else is compared or destructured."""
    match arg:
        case ast.Name("_", _):
            return typed.Ignore(type_)
        case ast.Name(text, span) if _binds(arg, type_, scope.bind(names)):
            names[text] = Known(type_)
            return typed.Bind(type_, text)
        case ast.Display("tuple", items, span):
            parts = _parts(items, type_, span, scope)
            made = tuple(pattern_of(i, t, scope, names) for i, t in zip(items, parts, strict=True))
            return typed.Parts(type_, made)
        case ast.Name(text, span) | ast.Apply(text, _, span) if type_ == MESSAGE:
            return _constructor(text, arg, span, scope, names)
        case _:
            from checker.language.typecheck.expressions import check

            if isinstance(arg, ast.Name):
                _require_fit(arg, type_, scope)
            return typed.Equals(type_, check(arg, scope.bind(names), type_))


def _binds(name: ast.Name, type_: Type, scope: Scope) -> bool:
    if isinstance(type_, typed.Enum) and name.text in type_.labels:
        return False
    taken = scope.meaning_of(name.text)
    if taken == "a state variable":
        hint = f"choose another name, and compare with `when … == {name.text}`"
        scope.report.fail("N004", f"`{name.text}` is already {taken}", name.span, hint=hint)
    if taken in ("a set of processes", "a type"):
        hint = "choose another name"
        if taken == "a set of processes":
            hint = f"bind a name and test its role: `p … when p in {name.text}`"
        scope.report.fail("N004", f"`{name.text}` is already {taken}", name.span, hint=hint)
    if taken == "a message" and type_ != MESSAGE:
        message = f"`{name.text}` is a message, and the value here is `{show(type_)}`"
        scope.report.fail("N003", message, name.span, show(type_))
    return not taken


def _require_fit(name: ast.Name, type_: Type, scope: Scope) -> None:
    """Reports a parameter that can't equal what is received here: a new name was meant."""
    known = scope.home.params.get(name.text, UNKNOWN)
    if UNKNOWN in (known, type_) or name.text in scope.names or fits(known, type_):
        return
    message = f"`{name.text}` is {scope.meaning_of(name.text)}, not `{show(type_)}`"
    hint = another_name(name.text, " for what is received")
    scope.report.fail("N003", message, name.span, show(type_), hint)


def _constructor(text: str, arg: ast.Expr, span: Span, scope: Scope, names: Names) -> typed.Pattern:
    if text not in scope.home.messages:
        if isinstance(arg, ast.Name):
            from checker.language.typecheck.expressions import check

            return typed.Equals(MESSAGE, check(arg, scope.bind(names), MESSAGE))
        hint = suggestion(text, scope.home.messages)
        scope.report.fail("N012", f"no message `{text}`", span, hint=hint)
    args = arg.args if isinstance(arg, ast.Apply) else ()
    fields = scope.home.messages[text].fields
    made = handler_patterns(args, fields, text, span, scope, names)
    return typed.Match(MESSAGE, text, made)


def received_pattern(arg: ast.Expr, type_: Type, scope: Scope) -> typed.Pattern:
    """Types a field in ``received(M(…))``: ``_``, or a value in which fresh names are bound."""
    from checker.language.typecheck.expressions import check

    if isinstance(arg, ast.Name) and arg.text == "_":
        return typed.Ignore(type_)
    if scope.free is not None:
        _collect(arg, type_, scope)
    return typed.Equals(type_, check(arg, scope, type_))


def _collect(arg: ast.Expr, type_: Type, scope: Scope) -> None:
    """Records the fresh names of ``arg``."""
    assert scope.free is not None
    match arg:
        case ast.Name("_", span):
            hint = "bind it to a name"
            message = "`_` inside a tuple in `received` is not supported yet"
            scope.report.fail("N001", message, span, hint=hint)
        case ast.Name(text, _) if not scope.meaning_of(text):
            if not (isinstance(type_, typed.Enum) and text in type_.labels):
                scope.free[text] = type_
        case ast.Display("tuple", items, span):
            for item, part in zip(items, _parts(items, type_, span, scope), strict=True):
                _collect(item, part, scope)
        case _:
            pass
