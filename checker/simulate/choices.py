"""Enumerates the possible steps of a state, each with a unique short phrase.

A phrase says what the step does in the words of the spec: ``p1 broadcasts a``, ``p2 receives
DATA(p1, a) from p1``, ``p1 crashes``.  It depends on the step's events and not on how states are
encoded.  Transitions with the same phrase and the same successor are one choice; where one phrase
has several successors, it is extended by what distinguishes them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct, field

from checker.language.syntax.verbs import verbs
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import AWAITED, CRASHING, PAUSING, ActionKind, TransitionSystem
from checker.records import replace
from checker.results.crash_truncation import cut_short
from checker.results.events import (
    AlternativeTaken,
    Crashed,
    Event,
    Handled,
    OracleIndicated,
    Recovered,
    Requested,
    kind_name,
    message_of,
)
from checker.results.mark_events import acting, trace_events
from checker.results.narrate import inner, within
from checker.results.rerun import Moment
from checker.results.show_values import show
from checker.results.terms import arguments, is_message
from checker.words.events import doing, on_its_own, opinion, sentence
from checker.words.steps import going_on, leading

START = "the run starts"
"""The phrase of the only initial state."""

NOBODYS = (ActionKind.WORLD, ActionKind.LOSE)
"""Kinds of steps that belong to no process."""

LONG = 72
"""The largest number of characters of a handler's condition in a phrase."""

HISSES = ("s", "x", "z", "sh", "ch")
"""Endings of verbs that take an ``es``."""


class Choice(Struct, frozen=True):
    """One possible step.

    ``text``: the phrase, unique among the choices of a state; ``also``: synonyms; ``process``:
    whose step it is, empty for the environment; ``kind``: a :class:`checker.model.ir.ActionKind`,
    or ``start``.  ``transition`` is never a runtime error, and ``None`` for an initial state;
    ``idle``: it does not change the state.
    """

    text: str
    process: str
    kind: str
    successor: State
    transition: Transition | None
    events: tuple[interpreter.Event, ...]
    also: tuple[str, ...] = ()
    idle: bool = False


class Choices(Struct, frozen=True):
    """A state's choices in canonical order; ``faults``: the steps that meet a runtime error."""

    ways: tuple[Choice, ...]
    faults: tuple[Transition, ...] = ()

    def by_process(self) -> dict[str, list[Choice]]:
        """Groups choices by process, in the order of the names; those of the environment last."""
        found: dict[str, list[Choice]] = defaultdict(list)
        for way in self.ways:
            found[way.process].append(way)
        return {name: found[name] for name in sorted(found, key=lambda n: (not n, _natural(n)))}


def _natural(name: str) -> tuple[str, int]:
    """Returns a sort key by which ``p2`` comes before ``p10``."""
    digits = name[len(name.rstrip("0123456789")) :]
    return name[: len(name) - len(digits)], int(digits or 0)


class _Way(Struct):
    """A transition with its phrases."""

    transition: Transition
    events: tuple[Event, ...]
    phrase: str
    also: tuple[str, ...] = field(default=())


def choices(system: TransitionSystem, state: State) -> Choices:
    """Returns the choices of all transitions enabled in ``state``."""
    ways: list[_Way] = []
    faults: list[Transition] = []
    for transition in interpreter.successors(system, state):
        if transition.successor is None:
            faults.append(transition)
        else:
            ways.append(_way(system, state, transition))
    groups: dict[str, dict[State, _Way]] = defaultdict(dict)
    for way in ways:
        assert way.transition.successor is not None
        groups[way.phrase].setdefault(way.transition.successor, way)
    made: dict[int, Choice] = {}
    for group in groups.values():
        apart = _apart(system, list(group.values()))
        for way, text in apart:
            made[id(way)] = _choice(system, state, way, text)
    return Choices(tuple(made[id(way)] for way in ways if id(way) in made), tuple(faults))


def _choice(system: TransitionSystem, state: State, way: _Way, text: str) -> Choice:
    transition = way.transition
    assert transition.successor is not None
    kind, suffix = transition.action.kind, text[len(way.phrase) :]
    return Choice(
        text,
        "" if kind in NOBODYS else acting(system, transition.events) or within(transition),
        kind.value,
        transition.successor,
        transition,
        transition.events,
        tuple(f"{other}{suffix}" for other in way.also),
        transition.successor == state,
    )


def starts(system: TransitionSystem) -> tuple[Choice, ...]:
    """Returns the initial states as choices, each with a unique phrase; may raise ``RunFault``."""
    found = dict(reversed(interpreter.initial_events(system)))
    states = [state for state in interpreter.initial_states(system)]
    said = _outcomes(system, states)
    return tuple(
        Choice(
            f"the run starts with {text}" if text else START, "", "start", state, None, found[state]
        )
        for state, text in zip(states, said, strict=True)
    )


# ---- phrases ----------------------------------------------------------------------------------


def phrases_of_transition(
    system: TransitionSystem, state: State, transition: Transition
) -> tuple[str, ...]:
    """Returns the phrases of ``transition``, which is no runtime error, the best one first; other
    transitions of ``state`` may have them, too.
    """
    way = _way(system, state, transition)
    return (way.phrase, *way.also)


def _way(system: TransitionSystem, state: State, transition: Transition) -> _Way:
    events = trace_events(system, transition.events)
    names = [name + _taken(events) for name in _names(transition, events)]
    names += _of_followers(events)
    if transition.action.kind is not ActionKind.CRASH:
        names = [name + _crash(system, state, transition, events) for name in names]
    return _Way(transition, events, names[0], tuple(names[1:]))


def _of_followers(events: tuple[Event, ...]) -> list[str]:
    """Returns phrases for what happens to processes with their leads: ``f1 crashes``, which is the
    step in which its lead does."""
    found: list[str] = []
    for event in events:
        if alone := on_its_own(event):
            recovers = [f"{event.process} recovers"] if isinstance(event, Recovered) else []
            found += [alone, *recovers]
    return found


def _names(transition: Transition, events: tuple[Event, ...]) -> list[str]:
    """Returns phrases for what the step does, the best one first."""
    lead = leading(transition.action.kind.value, events)
    if lead is None:
        name, said = transition.action.name, going_on(within(transition), inner(transition))
        return [said, name] if said else [name]
    said = sentence(lead)
    handler, awaited, _ = transition.action.name.partition(AWAITED)
    match lead:
        case Requested():
            return _request(lead)
        case Handled() if awaited:
            said = going_on(lead.process, handler)
            return [_shortened(said), said]
        case OracleIndicated() if lead.about:
            return [f"{lead.process} {opinion(lead)}", said]
        case Handled() if len(said) > LONG:
            return [_shortened(said), said]
        case Recovered():
            return [said, f"{lead.process} recovers"]
        case _:
            return [said, *_without_wrapper(lead)]


def _without_wrapper(event: Event) -> list[str]:
    """Phrases what happens to a message without what a layer puts around it, as traces do: ``p1
    receives DATA(a)`` for ``COPY(DATA(a))``."""
    match arguments(message_of(event) or ""):
        case (inside,) if is_message(inside):
            return [sentence(replace(event, message=inside))]
        case _:
            return []


def _taken(events: tuple[Event, ...]) -> str:
    """Describes which named alternatives are taken: `` as fails``."""
    taken = [event.alternative for event in events if isinstance(event, AlternativeTaken)]
    return f" as {', '.join(taken)}" if taken else ""


def _shortened(said: str) -> str:
    return f"{said[:LONG].rpartition(' ')[0]} …" if len(said) > LONG else said


def _request(event: Requested) -> list[str]:
    """Phrases a request as the clause ``clients`` does: ``p1 broadcasts a``."""
    operator, given = event.call.operator, ", ".join(event.call.values)
    items = f" ({given})" if _several(given) else f" {given}" if given else ""
    first, second = verbs(operator)
    if operator.endswith(HISSES):
        first, second = second, first
    said = [f"{event.process} {verb}{items}" for verb in (first, second, operator)]
    return [*said, sentence(event)]


def _several(given: str) -> bool:
    """Returns whether there is a comma outside of all brackets."""
    depth = 0
    for char in given:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return True
    return False


def _crash(
    system: TransitionSystem, state: State, transition: Transition, events: tuple[Event, ...]
) -> str:
    """Describes where a crash or a pause falls inside the handler: ``, and crashes after sending a
    to p2``."""
    if transition.action.name.endswith(PAUSING):
        before = [clause for event in events if (clause := doing(event))]
        return f", and pauses after {before[-1]}" if before else ", and pauses"
    crash = next((event for event in events if isinstance(event, Crashed)), None)
    if crash is None:
        return ""
    how = {"power": ", as its power fails", "wipe": ", and loses its disk"}
    more = how.get(kind_name(crash), "")
    if not transition.action.name.endswith(CRASHING):
        return f", and crashes{more}"
    assert transition.successor is not None
    moment = Moment(transition.successor, transition, transition.events)
    missing = cut_short(system, state, moment)
    done = [clause for event in events if (clause := doing(event))]
    if done:
        return f", and crashes after {done[-1]}{more}"
    ahead = [clause for event in missing if (clause := doing(event))]
    return f", and crashes before {ahead[0]}{more}" if ahead else f", and crashes inside{more}"


# ---- disambiguation ---------------------------------------------------------------------------


def _apart(system: TransitionSystem, ways: list[_Way]) -> list[tuple[_Way, str]]:
    """Makes the phrases of transitions with one phrase and several successors unique."""
    if len(ways) == 1:
        return [(ways[0], ways[0].phrase)]
    named = [_with(way.phrase, _arguments(way)) for way in ways]
    if len(set(named)) == len(ways):
        return list(zip(ways, named, strict=True))
    happened = [[sentence(event) for event in way.events] for way in ways]
    everywhere = set.intersection(*(set(each) for each in happened))
    acts = [[said for said in each if said not in everywhere] for each in happened]
    acted = [
        f"{way.phrase}, where {'; '.join(each)}" if each else way.phrase
        for way, each in zip(ways, acts, strict=True)
    ]
    if len(set(acted)) == len(ways):
        return list(zip(ways, acted, strict=True))
    states = [way.transition.successor for way in ways if way.transition.successor is not None]
    texts = (f"{ways[0].phrase}, so that {said}" for said in _outcomes(system, states))
    return list(zip(ways, texts, strict=True))


def _with(phrase: str, arguments: tuple[str, ...]) -> str:
    return f"{phrase}, with {', '.join(arguments)}" if arguments else phrase


def _arguments(way: _Way) -> tuple[str, ...]:
    """Returns the names that the step's first handler binds."""
    for event in way.events:
        if isinstance(event, Handled):
            return tuple(f"{name} = {value}" for name, value in event.arguments)
    return ()


def _outcomes(system: TransitionSystem, states: Sequence[State]) -> list[str]:
    """Returns the variables in which ``states`` differ, with the values that each has."""
    said: list[list[str]] = [[] for _ in states]
    for position, variable in enumerate(system.variables):
        values = [state[position] for state in states]
        if len(set(values)) == 1:
            continue
        title = variable.title or variable.name
        for each, value in zip(said, values, strict=True):
            each.append(f"{title} = {show(variable.type, value)}")
    return ["; ".join(each) for each in said]
