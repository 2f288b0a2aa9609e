"""Extracts the threshold automaton of a typed protocol, parametric as it is.

Every handler is executed in every local state of a process, with counts and parameters left open;
each path through its body is a rule.  Local states with the same future are one location.

The automaton simulates the finite system: where the two differ it does more.  What can be received
of a process that crashes is left to each receiver; conditions that need not stay true are taken to
hold whenever some receipts up to now make them true.
"""

from __future__ import annotations

from itertools import islice

from msgspec import Struct, field

from checker.diagnostics.english import listing
from checker.instantiate.protocol.ghosts import without_unread
from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.model.ir import SourceLocation
from checker.parametric.automaton.arithmetic import FALSE
from checker.parametric.automaton.automaton import Automaton, Kind, Linear, Location, Receipt, Rule
from checker.parametric.automaton.fragment import FragmentErrors, Leaves, survey
from checker.parametric.automaton.questions_states import names_read
from checker.parametric.automaton.rounds import with_rounds
from checker.parametric.extract.local_states import History, LocalState, Step
from checker.parametric.extract.merge import Chart, merge_locations
from checker.parametric.extract.numbers import receipts_in, without
from checker.parametric.extract.operations import fits
from checker.parametric.extract.rounds import one_round, rounds_of
from checker.parametric.extract.start import check_states
from checker.parametric.extract.steps import Steps
from checker.parametric.extract.values import OTHERS, Count, Made, Who, value_text
from checker.parametric.extract.world import Settings, for_every, settings_of
from checker.polling import poll

LARGEST = 3_000
"""Locations at most."""

SPOTS = 6_000
"""Local states at most, before equivalent ones are merged."""


def extract(check: typed.Check) -> Automaton:
    """Returns the threshold automaton of ``check``, for all numbers (see :func:`for_every`).

    Raises :class:`SpecError` with a diagnostic (T…) for each construct that leaves the fragment.
    """
    found = FragmentErrors()
    whole = for_every(check)
    check = one_round(without_unread(whole), found)
    survey(check, found)
    found.raise_if_any()
    settings = settings_of(check, found)
    check_states(check.protocol.roles[0], settings.scale, found)
    found.raise_if_any()
    steps = Steps(settings, histories_of(check), _sees_crashes(check), found)
    if sum(1 for _ in islice(steps.initial(), LARGEST + 1)) > LARGEST:
        _too_many(steps, LARGEST, found)
        found.raise_if_any()
    chart = _explore_chart(steps, found)
    found.raise_if_any()
    drawn = _Drawn(settings, steps, _possible(chart, settings, steps))
    automaton, entered = drawn.automaton(found)
    rounds = rounds_of(whole)
    if rounds is None:
        return automaton
    read = names_read(tuple(definition.formula for definition in check.prove))
    return with_rounds(automaton, entered, read, rounds.last)


def histories_of(check: typed.Check) -> tuple[History, ...]:
    """Returns the histories that the properties read."""
    formulas = tuple(p.formula for p in check.prove)
    found: dict[History, None] = {}
    for node in nodes(formulas):
        if isinstance(node, typed.History | typed.HistoryOrder | typed.Repeated):
            found[node.kind, node.op] = None
    return tuple(found)


def _sees_crashes(check: typed.Check) -> bool:
    """Returns whether a property reads which processes have crashed."""
    formulas = tuple(p.formula for p in check.prove)
    found = (n for n in nodes(formulas) if isinstance(n, typed.Correct))
    return check.crash is not None and any(node.kind != "correct" for node in found)


def _explore_chart(steps: Steps, found: FragmentErrors) -> Chart:
    """Returns all local states with their steps, whatever is received."""
    chart = Chart(tuple(dict.fromkeys(islice(steps.starts(), SPOTS + 1))))
    todo = list(chart.starts)
    seen = set(todo)
    while todo and not found.diagnostics:
        poll()
        if len(seen) > SPOTS:
            _too_many(steps, SPOTS, found)
            break
        spot = todo.pop()
        out = steps.steps(spot)
        chart.steps[spot] = out
        if spot.ahead:
            chart.entered[spot] = spot.in_next_round()
        for after in (*(step.target for step in out), *_begun(chart, spot)):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return chart


def _begun(chart: Chart, spot: LocalState) -> tuple[LocalState, ...]:
    """Returns the local state in which a process in ``spot`` begins the next round, if any."""
    return (chart.entered[spot],) if spot in chart.entered else ()


def _too_many(steps: Steps, number: int, found: FragmentErrors) -> None:
    role = steps.role
    message = f"the automaton has {number:,} locations or more; the limit is {LARGEST:,}"
    hint = "use fewer variables, payloads or guards"
    found.add(Leaves("T012", message, role.span, hint))


# ---- possible messages ------------------------------------------------------------------------


def _possible(chart: Chart, settings: Settings, steps: Steps) -> Chart:
    """Returns ``chart`` without steps that wait for what no process can send."""
    forged = _forgeable_messages(settings, steps)
    sent: set[tuple[Made, str]] = set()
    while True:
        gone = frozenset(
            name
            for name, count in settings.scale.counts.items()
            if not any(_counts(count, made, sender) for made, sender in (*sent, *forged))
        )
        found = Chart(chart.starts)
        more = set(sent)
        todo = list(chart.starts)
        while todo:
            poll()
            spot = todo.pop()
            if spot in found.steps:
                continue
            out = [step for step in chart.steps[spot] if without(step.guard, gone) != FALSE]
            found.steps[spot] = out
            for begun in _begun(chart, spot):
                found.entered[spot] = begun
                todo.append(begun)
            sender = settings.groups[spot.group].process or OTHERS
            for step in out:
                more.update((made, sender) for made in step.sends)
                todo.append(step.target)
        if more == sent:
            return found
        sent = more


def _forgeable_messages(settings: Settings, steps: Steps) -> set[tuple[Made, str]]:
    """Returns the messages that Byzantine processes may send, each with the claimed sender."""
    if not settings.byzantine:
        return set()
    names = (OTHERS, *settings.scale.named)
    decls = settings.check.protocol.messages
    return {
        (made, who) for d in decls for made in steps.receptions.messages(d.name) for who in names
    }


def _counts(count: Count, made: Made, sender: str) -> bool:
    """Returns whether ``made`` of ``sender`` is among what is counted."""
    same = count.message == made.message and count.sender in (None, sender)
    return same and fits(count.patterns, made.fields)


# ---- the automaton ----------------------------------------------------------------------------


class _Drawn(Struct):
    """Builds the automaton."""

    settings: Settings
    steps: Steps
    chart: Chart
    kinds: dict[tuple[Made, str | None], int] = field(default_factory=dict)
    receipts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()

    def automaton(self, found: FragmentErrors) -> tuple[Automaton, dict[int, int]]:
        """Returns the automaton, and by locations in which a process is ahead those in which it
        begins the next round; what leaves the fragment is added to ``found``, and raised."""
        self._count(found)
        faulty = self.settings.faulty
        chart = merge_locations(
            self.chart, self.receipts, self._kinds_of, self._place_of, faulty, found
        )
        found.raise_if_any()
        if len(chart.steps) > LARGEST:
            _too_many(self.steps, len(chart.steps), found)
            found.raise_if_any()
        numbers = {spot: number for number, spot in enumerate(chart.steps)}
        locations = self._locations(chart)
        rules = [
            self._rule(spot, step, numbers) for spot, out in chart.steps.items() for step in out
        ]
        settings, kinds = self.settings, tuple(map(self._kind, self.kinds))
        entered = {numbers[spot]: numbers[begun] for spot, begun in chart.entered.items()}
        automaton = Automaton(
            name=f"{settings.check.protocol.name}::{settings.check.name}",
            parameters=settings.parameters,
            hidden=settings.hidden,
            quotients=tuple(settings.scale.quotients.values()),
            constraints=settings.constraints,
            resilience=settings.resilience,
            groups=settings.groups,
            locations=locations,
            kinds=kinds,
            receipts=tuple(Receipt(name, numbers) for name, numbers in self.receipts.items()),
            rules=tuple(rules),
        )
        return automaton, entered

    # ---- what is counted ----------------------------------------------------------------------

    def _count(self, found: FragmentErrors) -> None:
        """Numbers the kinds of messages that guards count."""
        sent = {
            (made, self.settings.groups[spot.group].process or OTHERS)
            for spot, out in self.chart.steps.items()
            for step in out
            for made in step.sends
        }
        forged = _forgeable_messages(self.settings, self.steps)
        guards = [step.guard for out in self.chart.steps.values() for step in out]
        asked = {name for guard in guards for name in receipts_in(guard)}
        possible = sorted(sent | forged, key=repr)
        for name, count in self.settings.scale.counts.items():
            if name not in asked:
                continue
            mades = [made for made, sender in possible if _counts(count, made, sender)]
            for made in mades:
                self.kinds.setdefault((made, count.sender), len(self.kinds))
            self.receipts[name] = tuple(sorted({self.kinds[m, count.sender] for m in mades}))
            self._once(count, mades, found)
        self.gone = frozenset(n for n, kinds in self.receipts.items() if not kinds)
        for name in self.gone:
            del self.receipts[name]

    def _once(self, count: Count, mades: list[Made], found: FragmentErrors) -> None:
        """Rejects a count of which one process sends several messages."""
        counted = set(mades)
        for spot in self.chart.steps:
            if len(counted & spot.sent) > 1:
                decls = self.settings.check.protocol.messages
                span = next(d.span for d in decls if d.name == count.message)
                two = listing(sorted(_name(made) for made in counted & spot.sent))
                message = f"one process may send {two}, and `{count.name}` counts it only once"
                found.add(Leaves("T007", message, span, "count each message separately"))
                return

    def _kinds_of(self, made: Made, group: int) -> frozenset[int]:
        """Returns the kinds of ``made`` when a process of ``group`` sends it."""
        sender = self.settings.groups[group].process or OTHERS
        found = (self.kinds.get((made, each)) for each in (None, sender))
        return frozenset(kind for kind in found if kind is not None)

    def _kind(self, key: tuple[Made, str | None]) -> Kind:
        made, sender = key
        name = _name(made) + ("" if sender is None else f" from {sender or 'others'}")
        fields = tuple(_plain(value) for value in made.fields)
        liars = self.settings.liars.get(sender, Linear())
        return Kind(name, made.message, fields, sender or None, liars)

    # ---- locations and rules ------------------------------------------------------------------

    def _locations(self, chart: Chart) -> tuple[Location, ...]:
        starts = set(chart.starts)
        taken: dict[str, int] = {}
        found: list[Location] = []
        for spot in chart.steps:
            name = self._title(spot)
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                name = f"{name} ({taken[name]})"
            own = frozenset(k for made in spot.own for k in self._kinds_of(made, spot.group))
            known = (without(part, self.gone) for part in spot.known)
            found.append(
                Location(
                    name=name,
                    group=spot.group,
                    values=self._values(spot),
                    initial=spot in starts,
                    crashed=spot.crashed,
                    known=tuple(sorted(known, key=repr)),
                    own=own,
                )
            )
        return tuple(found)

    def _values(self, spot: LocalState) -> tuple[tuple[str, object], ...]:
        types = self.steps.types
        states = [
            (name, with_labels(types[name], _plain(value)))
            for name, value in zip(self.steps.states, spot.values, strict=True)
        ]
        for (_, op), told in zip(self.steps.histories, spot.told, strict=True):
            states.append((history_name(op), tuple(_plain(entry) for entry in told)))
        process = self.settings.groups[spot.group].process
        if self.settings.requests[process or OTHERS]:
            states.append(("requests made", spot.turn))
        return tuple(states)

    def _title(self, spot: LocalState) -> str:
        """Returns what distinguishes a location, in words of the spec."""
        words: list[str] = []
        if len(self.settings.groups) > 1:
            words.append(self.settings.groups[spot.group].name)
        for name, value in zip(self.steps.states, spot.values, strict=True):
            words += self._word(name, value)
        for (_, op), told in zip(self.steps.histories, spot.told, strict=True):
            words += [f"{history_name(op)} {value_text(_plain(entry))}" for entry in told]
        if spot.ahead:
            words.append("in the next round")
        elif spot.pending:
            words.append("about to send")
        if spot.resting:
            words.append("resting")
        if spot.crashed:
            words.append("crashed")
        return ", ".join(words) or "begin"

    def _word(self, name: str, value: object) -> list[str]:
        type_ = self.steps.types[name]
        if isinstance(value, bool):
            return [name] if value else []
        if isinstance(type_, typed.Enum):
            return [str(with_labels(type_, value))]
        return (
            [] if value is None else [f"{name} = {value_text(with_labels(type_, _plain(value)))}"]
        )

    def _rule(self, spot: LocalState, step: Step, numbers: dict[LocalState, int]) -> Rule:
        sends = {kind for made in step.sends for kind in self._kinds_of(made, spot.group)}
        return Rule(
            source=numbers[spot],
            target=numbers[step.target],
            guard=without(step.guard, self.gone),
            sends=tuple(sorted(sends)),
            label=step.label,
            place=self._place(step),
            indications=step.indications,
            is_fair=step.is_fair,
        )

    def _place(self, step: Step) -> SourceLocation | None:
        if step.handler < 0:
            return None
        span = self.steps.role.handlers[step.handler].span
        return SourceLocation(span.file, span.line, span.column)

    def _place_of(self, step: Step) -> typed.Handler | None:
        return self.steps.role.handlers[step.handler] if step.handler >= 0 else None


def with_labels(type_: typed.Type, value: object) -> object:
    """Returns ``value``, of ``type_``, with labels of enums for their numbers."""
    match type_:
        case typed.Enum(_, labels) if isinstance(value, int):
            return labels[value]
        case typed.Option(item) if isinstance(value, tuple):
            return (with_labels(item, value[0]),)
        case typed.Tuple(items) if isinstance(value, tuple):
            return tuple(with_labels(t, v) for t, v in zip(items, value, strict=True))
        case typed.Set(item) if isinstance(value, frozenset):
            return frozenset(with_labels(item, v) for v in value)
        case _:
            return value


def _name(made: Made) -> str:
    if not made.fields:
        return made.message
    return f"{made.message}({', '.join(value_text(value) for value in made.fields)})"


def _plain(value: object) -> object:
    """Returns ``value`` with processes by their names."""
    match value:
        case Who(name):
            return name
        case tuple():
            return tuple(_plain(part) for part in value)
        case frozenset():
            return frozenset(_plain(part) for part in value)
        case _:
            return value
