"""Witnesses of a violation: values for the quantifiers of a property's ``bad``."""

from __future__ import annotations

from collections.abc import Iterable

from checker.system import ir
from checker.system.evaluate import Scope, elements, evaluate
from checker.system.interpreter import State, holds, name_values
from checker.system.ir import Expr, Op, Property, PropertyKind, Quantifier, TransitionSystem
from checker.system.types import Type, Value
from checker.witness.rerun import Run
from checker.witness.show_values import show

Binding = tuple[str, Type, Value]


def sentence(system: TransitionSystem, prop: Property, run: Run) -> str:
    """``agreement is violated with p = p2, q = p3: <definition>`` for a run that violates it."""
    if prop.kind is PropertyKind.LIVENESS:
        found = constant_violators(system, prop, run)
    else:
        found = bindings(system, prop.bad, run.last)
    parts = [f"{n} = {show(t, v)}" for n, t, v in found]
    whom = f" with {', '.join(parts)}" if parts else ""
    definition = " ".join(prop.definition.split())
    return f"{prop.name} is violated{whom}" + (f": {definition}" if definition else "")


def constant_violators(system: TransitionSystem, prop: Property, run: Run) -> tuple[Binding, ...]:
    """Who it is that a run which goes on for ever fails: the values of the property's parameters,
    then the witnesses of each proposition that stays as it is all the time while it goes round."""
    given = zip(prop.params, run.values, strict=True)
    known = [(p.name, ir.domain_item(p.domain), value) for p, value in given]
    names = {name: value for name, _, value in known}
    states = [moment.state for moment in run.moments[run.loop or 0 :]]
    found: dict[str, Binding] = {}
    for proposition in prop.propositions:
        truths = {holds(system, proposition, state, names) for state in states}
        if len(truths) == 1:
            scope = Scope(name_values(system, states[0]), dict(names))
            _walk(proposition, scope, truths.pop(), found)
    return _authors((*known, *found.values()))


def bindings(system: TransitionSystem, expr: Expr, state: State) -> tuple[Binding, ...]:
    """The first members that make ``expr`` true, for each quantifier on the way to the reason.

    Names that start with ``_`` were made up by the tool and are left out; of a name like ``p.3``
    the part before the dot is the author's.
    """
    found: dict[str, Binding] = {}
    _walk(expr, Scope(name_values(system, state), {}), True, found)
    return _authors(found.values())


def _authors(found: Iterable[Binding]) -> tuple[Binding, ...]:
    authors: dict[str, Binding] = {}
    for name, type_, value in found:
        shown = name.partition(".")[0]
        if shown and not shown.startswith("_"):
            authors.setdefault(shown, (shown, type_, value))
    return tuple(authors.values())


def _walk(expr: Expr, scope: Scope, value: bool, found: dict[str, Binding]) -> None:
    """Collects the witnesses of ``expr``'s being ``value``, which it is."""
    match expr:
        case ir.Quant(kind, name, domain, body):
            if kind is not (Quantifier.EXISTS if value else Quantifier.FORALL):
                return
            for member in elements(domain, scope):
                inner = scope.bind(name, member)
                if bool(evaluate(body, inner)) is value:
                    found.setdefault(name, (name, ir.domain_item(domain), member))
                    _walk(body, inner, value, found)
                    return
        case ir.Let(_, name, inner_value, body):
            _walk(body, scope.bind(name, evaluate(inner_value, scope)), value, found)
        case ir.Apply(_, Op.NOT, (arg,)):
            _walk(arg, scope, not value, found)
        case ir.Apply(_, Op.AND | Op.OR as op, args):
            _walk_all(args, scope, value, found, every=(op is Op.AND) is value)
        case _:
            return


def _walk_all(
    args: tuple[Expr, ...], scope: Scope, value: bool, found: dict[str, Binding], *, every: bool
) -> None:
    """All of ``args`` are ``value`` (``every``), or the first one that is decides."""
    for arg in args:
        if every or bool(evaluate(arg, scope)) is value:
            _walk(arg, scope, value, found)
            if not every:
                return
