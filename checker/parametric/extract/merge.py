"""Merges equivalent local states, and puts them in topological order.

What a local state records (what was sent, what is known to have been received) is dropped where no
future step can depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from checker.graphs import reached
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import TRUE
from checker.parametric.automaton.automaton import AtLeast, Condition, Linear
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.parametric.extract.local_states import LocalState, Step, Wanted
from checker.parametric.extract.numbers import (
    ONE,
    at_least,
    atoms,
    implies,
    minus,
    receipts_in,
    simplify_under,
)
from checker.parametric.extract.values import Made
from checker.records import replace


class Chart(Struct):
    """Local states with the steps that lead on from each; ``entered``: by those in which a process
    is ahead, those in which it begins the next round."""

    starts: tuple[LocalState, ...]
    steps: dict[LocalState, list[Step]] = field(default_factory=dict)
    entered: dict[LocalState, LocalState] = field(default_factory=dict)

    @property
    def begins(self) -> tuple[LocalState, ...]:
        """The local states in which a process begins a round."""
        return tuple(dict.fromkeys((*self.starts, *self.entered.values())))


class _Ahead(Struct, frozen=True):
    """What the steps that can follow depend on: kinds that are counted, how they are compared,
    messages that are sent, messages for which they wait."""

    kinds: frozenset[int] = frozenset()
    compared: frozenset[Linear] = frozenset()
    attempts: frozenset[Made] = frozenset()
    wanted: frozenset[Wanted] = frozenset()

    def join(self, other: _Ahead) -> _Ahead:
        return _Ahead(
            self.kinds | other.kinds,
            self.compared | other.compared,
            self.attempts | other.attempts,
            self.wanted | other.wanted,
        )


def merge_locations(
    chart: Chart,
    receipts: Mapping[str, tuple[int, ...]],
    kinds_of: Callable[[Made, int], frozenset[int]],
    handler_of: Callable[[Step], typed.Handler | None],
    faulty: Linear,
    found: FragmentErrors,
) -> Chart:
    """Returns ``chart`` with equivalent local states merged, in topological order.

    ``faulty``: how many processes may be faulty.  A cycle leaves the fragment (T011), which is
    added to ``found``.
    """
    order = _topological_order(chart, handler_of, found)
    if found.diagnostics:
        return chart
    ahead: dict[LocalState, _Ahead] = {}
    small: dict[LocalState, LocalState] = {}
    steps: dict[LocalState, list[Step]] = {}
    known: dict[tuple[LocalState, frozenset[Step]], LocalState] = {}
    for spot in reversed(order):
        whole = _Ahead()
        for step in chart.steps[spot]:
            counted = (receipts.get(name, ()) for name in receipts_in(step.guard))
            kinds = frozenset(kind for numbers in counted for kind in numbers)
            wanted = frozenset({step.wanted}) if step.wanted is not None else frozenset()
            whole = whole.join(ahead[step.target])
            whole = whole.join(_Ahead(kinds, atoms(step.guard), step.attempts, wanted))
        ahead[spot] = whole
        out = [
            replace(step, target=small[step.target], attempts=frozenset(), wanted=None)
            for step in chart.steps[spot]
        ]
        needed = _drop_covered(list(dict.fromkeys(out)), steps)
        alike = _forgetting(spot, whole, receipts, kinds_of, faulty)
        number = sum(1 for other, _ in known if other == alike)
        new = replace(alike, variant=number)
        small[spot] = known.setdefault((alike, frozenset(needed)), new)
        steps.setdefault(small[spot], needed)
    starts = tuple(dict.fromkeys(small[spot] for spot in chart.starts))
    forward = dict.fromkeys(small[spot] for spot in order)
    entered = {small[spot]: small[begun] for spot, begun in chart.entered.items()}
    return _restrict_to_reachable(Chart(starts, {spot: steps[spot] for spot in forward}, entered))


def _drop_covered(out: list[Step], steps: Mapping[LocalState, list[Step]]) -> list[Step]:
    """Returns ``out`` without steps that a more general one with the same effect covers."""
    kept: list[Step] = []
    for step in sorted(out, key=lambda s: len(s.target.known)):
        if not any(_covers(other, step, steps) for other in kept):
            kept.append(step)
    return sorted(kept, key=out.index)


def _covers(less: Step, more: Step, steps: Mapping[LocalState, list[Step]]) -> bool:
    alike = _step_effect(less) == _step_effect(more)
    asks = alike and implies(more.guard, less.guard)
    return asks and _forgets(less.target, more.target, steps)


def _step_effect(step: Step) -> tuple[object, ...]:
    return step.sends, step.indications, step.is_fair


def _forgets(less: LocalState, more: LocalState, steps: Mapping[LocalState, list[Step]]) -> bool:
    """Returns whether ``less`` and ``more`` are bisimilar but for what is known at ``more`` only:
    each can do what the other can where that is known."""
    if less == more:
        return True
    same = replace(less, known=more.known, variant=more.variant) == more
    known = all(any(implies(c, k) for c in more.known) for k in less.known)
    if not same or not known:
        return False

    def matches(one: Step, other: Step) -> bool:
        """Returns whether ``one``, from ``less``, is the same step as ``other`` from ``more``."""
        alike = _step_effect(one) == _step_effect(other)
        asks = alike and simplify_under(one.guard, more.known) == simplify_under(
            other.guard, more.known
        )
        return asks and _forgets(one.target, other.target, steps)

    return all(any(matches(u, t) for t in steps[more]) for u in steps[less]) and all(
        any(matches(u, t) for u in steps[less]) for t in steps[more]
    )


def _restrict_to_reachable(chart: Chart) -> Chart:
    """Returns ``chart`` with the local states that are reachable in it, in its order."""

    def after(spot: LocalState) -> Iterator[LocalState]:
        yield from (step.target for step in chart.steps[spot])
        if spot in chart.entered:
            yield chart.entered[spot]

    seen = set(reached(chart.starts, after))
    steps = {spot: out for spot, out in chart.steps.items() if spot in seen}
    entered = {spot: begun for spot, begun in chart.entered.items() if spot in seen}
    return Chart(chart.starts, steps, entered)


def _forgetting(
    spot: LocalState,
    ahead: _Ahead,
    receipts: Mapping[str, tuple[int, ...]],
    kinds_of: Callable[[Made, int], frozenset[int]],
    faulty: Linear,
) -> LocalState:
    def matters(name: str) -> bool:
        return not ahead.kinds.isdisjoint(receipts.get(name, ()))

    def is_tested(condition: Condition) -> bool:
        mine = receipts_in(condition)
        kinds = {kind for name in mine for kind in receipts.get(name, ())}
        return any(map(matters, mine)) and not _lower(condition, kinds, ahead, receipts, faulty)

    return replace(
        spot,
        sent=spot.sent & ahead.attempts,
        own=frozenset(m for m in spot.own if not ahead.kinds.isdisjoint(kinds_of(m, spot.group))),
        known=frozenset(filter(is_tested, spot.known)),
        soiled=spot.soiled & ahead.wanted,
        missed=frozenset(),
    )


def _lower(
    condition: Condition,
    kinds: set[int],
    ahead: _Ahead,
    receipts: Mapping[str, tuple[int, ...]],
    faulty: Linear,
) -> bool:
    """Returns whether ``condition`` is a bound of one count below all others that follow.

    Then it need not be known: what has been received suffices for it, and where that does not
    suffice for what follows, there is a number of receipts between the two.  (Where the two bounds
    meet no process is faulty, and what was received was sent by correct processes.)
    """
    if not isinstance(condition, AtLeast):
        return False
    (name,) = mine if len(mine := receipts_in(condition)) == 1 else ("",)
    if (name, 1) not in condition.linear.terms:
        return False
    for other in ahead.compared:
        counted = [(n, c) for n, c in other.terms if not kinds.isdisjoint(receipts.get(n, ()))]
        if not counted:
            continue
        if len(receipts_in(AtLeast(other))) > 1 or counted != [(name, 1)]:
            return False
        between = minus(condition.linear, other)
        if TRUE not in (at_least(minus(between, faulty)), at_least(minus(between, ONE))):
            return False
    return True


def _topological_order(
    chart: Chart, handler_of: Callable[[Step], typed.Handler | None], found: FragmentErrors
) -> list[LocalState]:
    """Returns all local states, each before those to which its steps lead."""
    done: dict[LocalState, bool] = {}
    order: list[LocalState] = []
    way: list[tuple[LocalState, int]] = []
    for start in chart.begins:
        if start in done:
            continue
        way.append((start, 0))
        done[start] = False
        while way:
            spot, position = way.pop()
            if position == len(chart.steps[spot]):
                done[spot] = True
                order.append(spot)
                continue
            way.append((spot, position + 1))
            step = chart.steps[spot][position]
            if step.target not in done:
                done[step.target] = False
                way.append((step.target, 0))
            elif not done[step.target]:
                _cycle(chart, way, step, handler_of, found)
    order.reverse()
    return order


def _cycle(
    chart: Chart,
    way: list[tuple[LocalState, int]],
    last: Step,
    handler_of: Callable[[Step], typed.Handler | None],
    found: FragmentErrors,
) -> None:
    """Reports the path from the target of ``last`` back to it."""
    spots = [spot for spot, _ in way]
    first = spots.index(last.target)
    steps = [chart.steps[spot][position - 1] for spot, position in way[first:-1]]
    handlers = [h for h in map(handler_of, (*steps, last)) if h is not None]
    if not handlers:
        return
    labels = sorted({f"`{handler.label}`" for handler in handlers})
    message = f"a process can return to an earlier location, by {', '.join(labels)}"
    hint = "use a variable that is set only once, or model one round"
    last_one = max(handlers, key=lambda handler: (handler.span.line, handler.span.column))
    found.add(Leaves("T011", message, last_one.span, hint))
