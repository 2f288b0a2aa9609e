"""Stability of formulas: whether, once true of given processes, they stay true by the rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.parametric.automaton.automaton import Automaton
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.automaton.questions_states import (
    Cast,
    CounterAbstraction,
    Look,
    Views,
    names_read,
    over_processes,
)
from checker.parametric.extract.values import Who
from checker.parametric.extract.world import Settings

Scope = tuple[typed.Binder, ...]


class Steadiness:
    """The formulas that the rules of ``automaton`` never make false."""

    def __init__(self, settings: Settings, automaton: Automaton) -> None:
        self.settings, self.automaton = settings, automaton

    def require(self, binders: Scope, premise: typed.Expr | None, goal: typed.Expr) -> None:
        """Raises :class:`Leaves` (T014) where ``premise`` or ``goal`` may become false again."""
        for binder in binders:
            if names_read((binder.domain, binder.where)):
                message = "its values change during a run"
                raise Leaves("T013", message, binder.domain.span, "use `forall` over a fixed set")
        for part in (premise, goal):
            if part is not None:
                self._steady(part, binders, True)

    def _steady(self, expr: typed.Expr, scope: Scope, rising: bool) -> None:
        match expr:
            case typed.Operation(_, "and" | "or", args, _) if _over_processes(expr):
                for arg in args:
                    self._steady(arg, scope, rising)
            case typed.Operation(_, "not", (arg,), _) if _over_processes(expr):
                self._steady(arg, scope, not rising)
            case typed.Operation(_, "=>", (left, right), _) if _over_processes(expr):
                self._steady(left, scope, not rising)
                self._steady(right, scope, rising)
            case typed.Quantified(_, kind, binders, body, _) if _over_processes(expr):
                for number, binder in enumerate(binders):
                    before = (*scope, *binders[: number + 1])
                    if not over_processes(binder) and names_read(binder.domain):
                        raise _restless(expr)
                    if binder.where is not None:
                        self._steady(binder.where, before, rising == (kind == "exists"))
                self._steady(body, (*scope, *binders), rising)
            case _:
                self._try_casts(expr, scope, rising)

    def _try_casts(self, expr: typed.Expr, scope: Scope, rising: bool) -> None:
        """Tries every cast, and every step of one of the cast processes."""
        if not names_read(expr) and not _now(expr):
            return
        counting = CounterAbstraction(Views(self.settings, self.automaton, names_read(expr)))
        after: dict[Look, list[Look]] = {}
        for one, other in counting.views.moves():
            after.setdefault(one, []).append(other)
        asked = {node.name for node in nodes(expr) if isinstance(node, typed.Local)}
        for cast in _casts(tuple(b for b in scope if _binds(b) & asked), counting, Cast()):
            if counting.holds(expr, cast) is not rising:
                continue
            for who, look in cast.looks.items():
                for later in after.get(look, ()):
                    if counting.holds(expr, cast.with_process(who, later)) is not rising:
                        raise _restless(expr)


def _restless(expr: typed.Expr) -> Leaves:
    message = "this may become false again for some processes"
    return Leaves("T014", message, expr.span, "use histories, or variables that are set once")


def _now(expr: typed.Expr) -> bool:
    return any(isinstance(n, typed.Correct) and n.kind != "correct" for n in nodes(expr))


def _over_processes(expr: typed.Expr) -> bool:
    found = (n for n in nodes(expr) if isinstance(n, typed.Binder))
    return any(over_processes(binder) for binder in found)


def _binds(binder: typed.Binder) -> set[str]:
    return {n.name for n in nodes(binder.pattern) if isinstance(n, typed.Bind)}


def _casts(binders: Scope, counting: CounterAbstraction, cast: Cast) -> Iterator[Cast]:
    """Yields every way to cast the processes with a name, and the names of ``binders``."""
    named = counting.scale.named
    views = counting.views
    looks = [[look for look, _ in views.of(n)] + list(views.liars[n]) for n in named]
    for chosen in itertools.product(*looks):
        begun = cast
        for name, look in zip(named, chosen, strict=True):
            begun = begun.with_process(Who(name), look)
        yield from _bound(binders, counting, begun)


def _bound(binders: Scope, counting: CounterAbstraction, cast: Cast) -> Iterator[Cast]:
    if not binders:
        yield cast
        return
    binder, *others = binders
    name = next(iter(_binds(binder)), None)
    if not over_processes(binder):
        for value in counting.domain(binder, cast):
            names = counting.names_of(binder, value, cast)
            if names is not None:
                yield from _bound(tuple(others), counting, cast.bound(names))
        return
    if name is None:
        yield from _bound(tuple(others), counting, cast)
        return
    for who in cast.looks:
        yield from _bound(tuple(others), counting, cast.bound({name: who}))
    new = Who(f"one called {name}")
    for look in (*(look for look, _ in counting.views.of(None)), *counting.views.liars[None]):
        joined = cast.with_process(new, look).bound({name: new})
        yield from _bound(tuple(others), counting, joined)
