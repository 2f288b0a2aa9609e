"""Formulas over processes as formulas over counters: how many are in which locations.

A variable that ranges over all processes stands for one that is already known by another name, or
for another one in some location.  Locations that the formula can't distinguish are taken together.
A Byzantine process is in no location.  Whether there is one is left open in favour of the
violation: the answer may be a spurious violation, never a wrong proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.parametric.automaton.arithmetic import joined
from checker.parametric.automaton.automaton import (
    AllOf,
    AnyOf,
    Automaton,
    Mode,
    NotState,
    Somebody,
    StateFormula,
)
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.binders import domain, match_pattern
from checker.parametric.extract.start import initial_values
from checker.parametric.extract.values import ME, Scene, Who, evaluate
from checker.parametric.extract.world import Settings
from checker.records import replace

TRUE: StateFormula = AllOf(())
FALSE: StateFormula = AnyOf(())


def both(*parts: StateFormula) -> StateFormula:
    return joined(AllOf, FALSE, parts)


def either(*parts: StateFormula) -> StateFormula:
    return joined(AnyOf, TRUE, parts)


def inverse(part: StateFormula) -> StateFormula:
    if isinstance(part, NotState):
        return part.part
    return FALSE if part == TRUE else TRUE if part == FALSE else NotState(part)


class Look(Struct, frozen=True):
    """The part of a process that is observable to a formula: ``values`` of variables and histories
    by name."""

    process: str | None
    correct: bool
    crashed: bool
    byzantine: bool
    values: tuple[tuple[str, object], ...]


class Cast(Struct, frozen=True):
    """An assignment of processes, by name or token, to their observable parts."""

    looks: Mapping[Who, Look] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)

    def bound(self, names: Mapping[str, object]) -> Cast:
        return replace(self, names={**self.names, **names})

    def with_process(self, who: Who, look: Look) -> Cast:
        return replace(self, looks={**self.looks, who: look})


Body = Callable[[Cast], StateFormula]


def names_read(root: object) -> frozenset[str]:
    """Returns the variables and histories that are read below ``root``."""
    found: set[str] = set()
    for node in nodes(root):
        if isinstance(node, typed.StateRef):
            found.add(node.name)
        elif isinstance(node, typed.History | typed.HistoryOrder | typed.Repeated):
            found.add(history_name(node.op))
    return frozenset(found)


class Views:
    """The processes of ``automaton`` as observed by formulas that read ``names``."""

    def __init__(self, settings: Settings, automaton: Automaton, names: frozenset[str]) -> None:
        self.settings, self.automaton, self.names = settings, automaton, names
        self.crashes = any(location.crashed for location in automaton.locations)
        self.places: dict[Look, frozenset[int]] = {}
        self.look_at: list[Look] = []
        for number, location in enumerate(automaton.locations):
            group = automaton.groups[location.group]
            values = tuple((n, v) for n, v in location.values if n in names)
            correct = group.mode is Mode.CORRECT
            look = Look(group.process, correct, location.crashed, False, values)
            self.look_at.append(look)
            self.places[look] = self.places.get(look, frozenset()) | {number}
        self.liars = {name: tuple(self._liars(name)) for name in (None, *settings.scale.named)}

    def _liars(self, name: str | None) -> Iterator[Look]:
        """Yields the observable parts of a Byzantine process: it keeps its initial values."""
        if not self.settings.byzantine:
            return
        role = self.settings.check.protocol.roles[0]
        seen = set()
        histories = [(n, ()) for n in dict(self.automaton.locations[0].values) if n in self.names]
        for values in initial_values(role, Scene(self.settings.scale, Who(name) if name else ME)):
            known = {**dict(histories), **{n: v for n, v in values.items() if n in self.names}}
            seen.add(Look(name, False, False, True, tuple(known.items())))
        yield from sorted(seen, key=repr)

    def of(self, process: str | None) -> list[tuple[Look, frozenset[int]]]:
        """Returns the observable parts of processes of that name (``None``: without one), and their
        locations."""
        return [(look, where) for look, where in self.places.items() if look.process == process]

    def moves(self) -> set[tuple[Look, Look]]:
        """Returns how rules change the observable part of a process."""
        rules = self.automaton.rules
        found = {(self.look_at[r.source], self.look_at[r.target]) for r in rules}
        return {(before, after) for before, after in found if before != after}


class CounterAbstraction:
    """Turns formulas over processes into formulas over counters."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.scale = views.settings.scale
        self._tokens = itertools.count(1)

    # ---- processes with a name ----------------------------------------------------------------

    def whole(self, body: Body) -> StateFormula:
        """Returns ``body`` with every process that has a name cast; in favour of what makes it
        true."""

        def cast(names: tuple[str, ...], so_far: Cast) -> StateFormula:
            if not names:
                return body(so_far)
            name, *others = names
            rest, who = tuple(others), Who(name)
            found: dict[StateFormula, frozenset[int]] = {}
            for look, where in self.views.of(name):
                inner = cast(rest, so_far.with_process(who, look))
                found[inner] = found.get(inner, frozenset()) | where
            parts = [both(Somebody(where), inner) for inner, where in found.items()]
            everywhere = frozenset(p for _, where in self.views.of(name) for p in where)
            absent = inverse(Somebody(everywhere))
            liars = self.views.liars[name]
            parts += [both(absent, cast(rest, so_far.with_process(who, liar))) for liar in liars]
            return either(*(part for part in parts if part != FALSE))

        return cast(self.scale.named, Cast())

    # ---- formulas -----------------------------------------------------------------------------

    def formula(self, expr: typed.Expr, cast: Cast, positive: bool) -> StateFormula:
        """Returns ``expr`` over counters; where a Byzantine process would matter that need not
        exist, what makes it true (``positive``) or false."""
        match expr:
            case typed.Operation(_, "and", args, _):
                return both(*self._until(args, cast, positive, FALSE))
            case typed.Operation(_, "or", args, _):
                return either(*self._until(args, cast, positive, TRUE))
            case typed.Operation(_, "not", (arg,), _):
                return inverse(self.formula(arg, cast, not positive))
            case typed.Operation(_, "=>", (left, right), _):
                premise = self.formula(left, cast, not positive)
                if premise == FALSE:
                    return TRUE
                return either(inverse(premise), self.formula(right, cast, positive))
            case typed.Quantified(_, "exists", binders, body, _):
                return self.exists(
                    binders, lambda c: self.formula(body, c, positive), cast, positive
                )
            case typed.Quantified(_, _, binders, body, _):
                none = self.exists(
                    binders,
                    lambda c: inverse(self.formula(body, c, positive)),
                    cast,
                    not positive,
                )
                return inverse(none)
            case _:
                return TRUE if self.holds(expr, cast) else FALSE

    def _until(
        self, args: tuple[typed.Expr, ...], cast: Cast, positive: bool, stop: StateFormula
    ) -> Iterator[StateFormula]:
        for arg in args:
            part = self.formula(arg, cast, positive)
            yield part
            if part == stop:
                return

    def exists(
        self, binders: tuple[typed.Binder, ...], body: Body, cast: Cast, positive: bool
    ) -> StateFormula:
        """Returns the formula that ``body`` is true for some values of ``binders``."""
        if not binders:
            return body(cast)
        binder, *others = binders
        rest = tuple(others)

        def inside(inner: Cast) -> StateFormula:
            where: StateFormula = TRUE
            if binder.where is not None:
                where = self.formula(binder.where, inner, positive)
            if where == FALSE:
                return FALSE
            return both(where, self.exists(rest, body, inner, positive))

        if over_processes(binder):
            return self._process(binder, inside, cast, positive)
        parts = []
        for value in self.domain(binder, cast):
            names = self.names_of(binder, value, cast)
            if names is not None:
                parts.append(inside(cast.bound(names)))
        return either(*(part for part in parts if part != FALSE))

    def names_of(self, binder: typed.Binder, value: object, cast: Cast) -> dict[str, object] | None:
        """Returns what the names of ``binder`` stand for; ``None`` where ``value`` does not
        match."""
        found = match_pattern(binder.pattern, value, self.scene(cast))
        if found is None or found[0] is False:
            return None
        if found[0] is not True:
            raise _not_countable(binder.domain)
        return found[1]

    def _process(
        self, binder: typed.Binder, inside: Body, cast: Cast, positive: bool
    ) -> StateFormula:
        """Returns the formula that ``inside`` is true of some process: one that is cast already, or
        another."""
        parts = []
        for who in cast.looks:
            names = self.names_of(binder, who, cast)
            if names is not None:
                parts.append(inside(cast.bound(names)))
        found: dict[StateFormula, frozenset[int]] = {}
        new = Who(f"another {next(self._tokens)}")
        names = self.names_of(binder, new, cast)
        if names is None:
            return either(*(part for part in parts if part != FALSE))
        for look, where in self.views.of(None):
            inner = inside(cast.with_process(new, look).bound(names))
            if inner != FALSE:
                found[inner] = found.get(inner, frozenset()) | where
        for inner, where in found.items():
            taken = sum(1 for look in cast.looks.values() if self._in(look, where))
            parts.append(both(Somebody(where, taken + 1), inner))
        if positive:
            liars = self.views.liars[None]
            parts += [inside(cast.with_process(new, liar).bound(names)) for liar in liars]
        return either(*(part for part in parts if part != FALSE))

    def _in(self, look: Look, where: frozenset[int]) -> bool:
        return not look.byzantine and self.views.places[look] <= where

    # ---- properties of cast processes ---------------------------------------------------------

    def scene(self, cast: Cast) -> Scene:
        def read(expr: typed.Expr, scene: Scene) -> object:
            return self._read(expr, cast, scene)

        return Scene(self.scale, None, {}, cast.names, read)

    def holds(self, expr: typed.Expr, cast: Cast) -> bool:
        found = evaluate(expr, self.scene(cast))
        if not isinstance(found, bool):
            raise _not_countable(expr)
        return found

    def domain(self, binder: typed.Binder, cast: Cast) -> tuple[object, ...]:
        return tuple(dict.fromkeys(domain(binder, self.scene(cast))))

    def _look(self, owner: typed.Expr, cast: Cast, scene: Scene) -> Look:
        who = evaluate(owner, scene)
        if not isinstance(who, Who) or who not in cast.looks:
            raise _not_countable(owner)
        return cast.looks[who]

    def _read(self, expr: typed.Expr, cast: Cast, scene: Scene) -> object:
        match expr:
            case typed.StateRef(type_, name, _, owner, _) if owner is not None:
                return _with_names(type_, dict(self._look(owner, cast, scene).values)[name])
            case typed.Correct(_, kind, process, _):
                look = self._look(process, cast, scene)
                down = look.crashed
                return {"correct": look.correct, "crashed": down}.get(kind, down or look.byzantine)
            case typed.History(type_, _, op, owner, _):
                return self._history(type_, op, self._look(owner, cast, scene))
            case typed.Repeated(_, _, op, owner, item, _):
                told = self._history_entries(op, owner, item, cast, scene)
                return told.count(evaluate(item, scene)) > 1
            case typed.HistoryOrder(_, _, op, owner, first, second, _):
                told = self._history_entries(op, owner, first, cast, scene)
                one, other = evaluate(first, scene), evaluate(second, scene)
                return one in told and other in told and told.index(one) < told.index(other)
            case _:
                raise _not_countable(expr)

    def _history_entries(
        self, op: str, owner: typed.Expr, item: typed.Expr, cast: Cast, scene: Scene
    ) -> tuple[object, ...]:
        return self._history(typed.Seq(item.type), op, self._look(owner, cast, scene))

    def _history(self, type_: typed.Type, op: str, look: Look) -> tuple[object, ...]:
        told = dict(look.values).get(history_name(op), ())
        assert isinstance(told, tuple) and isinstance(type_, typed.Seq)
        return tuple(_with_names(type_.item, entry) for entry in told)


def over_processes(binder: typed.Binder) -> bool:
    """Returns whether ``binder`` ranges over all processes."""
    match binder.domain:
        case typed.Processes():
            return True
        case typed.All(_, typed.Proc(), _):
            return True
        case _:
            return False


def _not_countable(expr: typed.Expr) -> Leaves:
    if isinstance(expr, typed.Consistent):
        message = "consistency conditions are checked for one size only"
        return Leaves("T013", message, expr.span, hint="set the size in the check: `n = 3`")
    message = "this part of the property can't be counted"
    return Leaves("T013", message, expr.span, "use state variables, histories and `correct(p)`")


def _with_names(type_: typed.Type, value: object) -> object:
    """Returns ``value`` of a location in the form of handlers: processes are :class:`Who`."""
    match type_:
        case typed.Proc():
            return Who(value) if isinstance(value, str) else value
        case typed.Enum(_, labels):
            return labels.index(value) if isinstance(value, str) else value
        case typed.Option(item):
            return None if not isinstance(value, tuple) else (_with_names(item, value[0]),)
        case typed.Tuple(items) if isinstance(value, tuple):
            return tuple(_with_names(t, v) for t, v in zip(items, value, strict=True))
        case typed.Set(item) if isinstance(value, frozenset):
            return frozenset(_with_names(item, v) for v in value)
        case _:
            return value
