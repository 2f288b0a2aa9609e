"""The state that a process has lost when it comes back: the values that its variables had when it
stopped, with what they are after its recovery.

A state in which the process is down does not tell: a crash may reset a variable at once, and inside
a handler it resets what the handler has assigned just before.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import STOPS, Mark, Read, TransitionSystem, Variable, VariableKind
from checker.model.tree import rewritten
from checker.model.types import AtomT, MapT, Value, universe
from checker.records import replace
from checker.results.events import Crashed, Event, Forgotten, Left, Recovered, Stored
from checker.results.rerun import Moment
from checker.results.show_values import show
from checker.results.trace import Step

Known = dict[tuple[str, str], Value]
"""Values by process and name of the variable."""


def with_lost_state(
    system: TransitionSystem, moments: tuple[Moment, ...], steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """Returns ``steps``, each of which leads to one of ``moments``, with what is lost in their
    :class:`Recovered`; changes of the volatile state in such a step are quiet."""
    had: Known = {}
    told: list[Step] = []
    for number, (moment, step) in enumerate(zip(moments, steps, strict=True)):
        stopped = {e.process for e in step.events if isinstance(e, Crashed)}
        if stopped and number:
            left = {(e.process, e.variable) for e in step.events if isinstance(e, Left)}
            before = _at_stop(system, moments[number - 1].state, moment)
            for variable, process, value in _local(system, before):
                if process in stopped and (process, _title(variable)) not in left:
                    had[process, variable.name] = value
        told.append(_told(system, moment.state, step, had))
    return tuple(told)


def _told(system: TransitionSystem, state: State, step: Step, had: Known) -> Step:
    back = {e.process for e in step.events if isinstance(e, Recovered)}
    if not back:
        return step
    stored = {(e.process, e.variable) for e in step.events if isinstance(e, Stored)}
    lost: dict[str, list[Forgotten]] = {process: [] for process in back}
    known = set[tuple[str, str]]()
    for variable, process, value in _local(system, state):
        place = process, variable.name
        if process not in back or place not in had or (process, _title(variable)) in stored:
            continue
        known.add(place)
        was = had.pop(place)
        if was != value:
            type_ = _entries(variable).value
            gone = Forgotten(_title(variable), show(type_, was), show(type_, value))
            lost[process].append(gone)
    events: tuple[Event, ...] = tuple(
        replace(e, lost=tuple(lost[e.process])) if isinstance(e, Recovered) else e
        for e in step.events
    )
    changes = tuple(
        replace(c, quiet=True) if (c.process, c.variable) in known else c for c in step.changes
    )
    return replace(step, events=events, changes=changes)


def _at_stop(system: TransitionSystem, before: State, moment: Moment) -> State:
    """Returns the state in which a process stops in the step from ``before`` to ``moment``: as it
    is when the first mark of a stop is passed."""
    taken = moment.transition
    assert taken is not None
    every = tuple(Read(v.type, v.name) for v in system.variables)

    def noting(node: object) -> Mark | None:
        if isinstance(node, Mark) and system.marks[node.mark].kind in STOPS:
            return replace(node, args=(*node.args, *every))
        return None

    action = replace(taken.action, body=rewritten(taken.action.body, noting))
    for way in interpreter.action_transitions(system, action, before, taken.params):
        plain = tuple(_plain(system, event) for event in way.events)
        if way.successor == moment.state and plain == moment.events:
            stop = next(e for e in way.events if system.marks[e.mark].kind in STOPS)
            return stop.args[-len(every) :]
    raise AssertionError("a step of the run is none of its action")


def _plain(system: TransitionSystem, event: interpreter.Event) -> interpreter.Event:
    info = system.marks[event.mark]
    return replace(event, args=event.args[: len(info.types)]) if info.kind in STOPS else event


def _local(system: TransitionSystem, state: State) -> Iterator[tuple[Variable, str, Value]]:
    """Yields the entries of the spec's variables of processes."""
    for variable, value in zip(system.variables, state, strict=True):
        if variable.kind is not VariableKind.LOCAL or "@" in variable.name:
            continue
        if isinstance(variable.type, MapT) and isinstance(variable.type.key, AtomT):
            assert isinstance(value, tuple)
            for key, entry in zip(universe(variable.type.key), value, strict=True):
                yield variable, show(variable.type.key, key), entry


def _entries(variable: Variable) -> MapT:
    assert isinstance(variable.type, MapT)
    return variable.type


def _title(variable: Variable) -> str:
    return variable.title or variable.name
