"""Narrates a replayed execution step by step, as a trace."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model import ir
from checker.model.interpreter import State, Transition, events_before
from checker.model.ir import (
    ActionKind,
    Property,
    TransitionSystem,
    Variable,
    VariableKind,
)
from checker.model.tree import nodes
from checker.model.types import AtomT, MapT, default, universe
from checker.records import replace
from checker.results.crash_truncation import cut_short
from checker.results.events import Crashed, Event, Received, Stored
from checker.results.lacking import lacking
from checker.results.lost_at_recovery import with_lost_state
from checker.results.mark_events import acting, at, trace_events
from checker.results.operations import intervals
from checker.results.origin import origin_of_property
from checker.results.outcomes import copies_of, ever_crashed, in_flight, outcomes_of
from checker.results.rerun import Moment, Run
from checker.results.show_values import encode, show
from checker.results.trace import (
    ERRORS,
    RECORD,
    START,
    Change,
    Failure,
    Header,
    InFlight,
    Json,
    ProcessOutcome,
    Step,
    Trace,
    TraceWord,
)
from checker.results.violation_witnesses import sentence, witness

QUIET = (VariableKind.LINK, VariableKind.WORLD, VariableKind.HISTORY)
"""Kinds of variables whose changes the events of a step report already."""
SPECS = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
"""Kinds of variables that a spec declares."""


def narrate(system: TransitionSystem, run: Run, prop: Property | None, header: Header) -> Trace:
    """Returns the trace of ``run``, which violates ``prop`` (``None``: it ends with an error, or,
    without one, violates nothing: its word is ``run``)."""
    steps = tuple(_steps(system, run))
    closing = _closing(system, run, len(steps))
    if run.closing is None or closing is None:
        steps = with_lost_state(system, run.moments, steps)
    else:
        moments = (*run.moments, run.closing)
        *most, closing = with_lost_state(system, moments, (*steps, closing))
        steps = tuple(most)
    failure = None if run.fault is None else _failure(run.fault)
    if failure is not None and run.fault is not None:
        failure = replace(failure, step=_failing(system, run, run.fault))
    values: tuple[tuple[str, str], ...] = ()
    word: TraceWord
    if prop is not None:
        name, definition, word = prop.asked, prop.definition, "violated"
        values = witness(system, prop, run)
        said = sentence(prop, values)
    elif failure is not None:
        name, definition, word = ERRORS, "", "error"
        said = f"error {failure.code}: {failure.message}"
    else:
        asked = bool(system.properties)
        said = "no property of the check is violated" if asked else "the check has no property"
        name, definition, word = "", "", "run"
    whole = steps if closing is None else (*steps, closing)
    fates = outcomes_of(system, run, whole)
    return Trace(
        header=header,
        property_name=name,
        definition=definition,
        word=word,
        sentence=said,
        processes=system.processes,
        variables=tuple((v.name, v.kind) for v in system.variables),
        steps=steps,
        fates=fates,
        copies=copies_of(run, system, ever_crashed(whole) | _down(fates)),
        in_flight=_still_in_flight(system, run, failure),
        ends=run.ends,
        failure=failure,
        loop=run.loop,
        closing=closing,
        ledger=run.ledger,
        values=() if prop is None else _values(prop, run),
        at=None if prop is None else at(prop.place),
        operations=intervals(system, run),
        origin=None if prop is None else origin_of_property(prop),
        witness=values,
        lacking=() if prop is None else lacking(system, prop, run),
        reads=() if prop is None else _read_by(system, prop),
    )


def _read_by(system: TransitionSystem, prop: Property) -> tuple[str, ...]:
    """Returns the variables of the spec that ``prop`` reads."""
    read = {n.variable for n in nodes((prop.bad, *prop.propositions)) if isinstance(n, ir.Read)}
    spec = (v.name for v in system.variables if v.kind in SPECS and RECORD not in v.name)
    return tuple(name for name in spec if name in read)


def _down(fates: tuple[ProcessOutcome, ...]) -> frozenset[str]:
    return frozenset(fate.process for fate in fates if fate.crashed)


def _values(prop: Property, run: Run) -> tuple[tuple[str, Json], ...]:
    pairs = zip(prop.params, run.values, strict=True)
    return tuple((p.name, encode(ir.domain_item(p.domain), value)) for p, value in pairs)


def _failure(transition: Transition) -> Failure:
    fault = transition.fault
    assert fault is not None
    during = _instance(transition)
    if fault.place is None:
        return Failure(fault.code, fault.message, during)
    at = fault.place
    return Failure(fault.code, f"{fault.message}{at.calls}", during, at.file, at.line, at.column)


def _still_in_flight(
    system: TransitionSystem, run: Run, failure: Failure | None
) -> tuple[InFlight, ...]:
    """Returns the messages on links at the end, without the one that a step in error receives."""
    found = list(in_flight(system, run))
    events = () if failure is None or failure.step is None else failure.step.events
    for event in events:
        if isinstance(event, Received):
            text = f"{event.message} from {event.sender} to {event.process}"
            arrived = next((each for each in found if each.text == text), None)
            if arrived is not None:
                found.remove(arrived)
    return tuple(found)


def _failing(system: TransitionSystem, run: Run, fault: Transition) -> Step | None:
    """Returns the step that ends in an error, as far as it went; ``None`` where nothing happened
    before."""
    events = events_before(system, run.last, fault)
    if not events:
        return None
    return narrate_step(system, len(run.moments), run.last, Moment(run.last, fault, events))


def _steps(system: TransitionSystem, run: Run) -> Iterator[Step]:
    before: State | None = None
    for number, moment in enumerate(run.moments):
        yield narrate_step(system, number, before, moment)
        before = moment.state


def _closing(system: TransitionSystem, run: Run, number: int) -> Step | None:
    """Returns the step that leads from the last state back into the loop."""
    return None if run.closing is None else narrate_step(system, number, run.last, run.closing)


def narrate_step(
    system: TransitionSystem, number: int, before: State | None, moment: Moment
) -> Step:
    """Returns what happened from ``before`` (``None``: at the start) to ``moment``."""
    events = trace_events(system, moment.events)
    changes = () if before is None else tuple(_changes(system, before, moment.state, events))
    return Step(
        number=number,
        action="" if moment.transition is None else _instance(moment.transition),
        kind=START if moment.transition is None else moment.transition.action.kind.value,
        process=_whose(system, moment),
        events=events,
        changes=changes,
        state=_data(system, moment.state),
        cut=cut_short(system, before, moment),
        reads=() if moment.transition is None else _read(system, moment.transition.action),
        inner="" if moment.transition is None else inner(moment.transition),
    )


def _read(system: TransitionSystem, action: ir.Action) -> tuple[str, ...]:
    """Returns the variables that ``action`` may read and other processes may have written.

    These are shared ones; and an oracle reads what it has noted of every process.
    """
    kinds = {VariableKind.SHARED}
    if action.kind is ActionKind.DETECT:
        kinds.add(VariableKind.HISTORY)
    code = (*action.params, action.guard, *action.body)
    read = {node.variable for node in nodes(code) if isinstance(node, ir.Read)}
    return tuple(v.name for v in system.variables if v.kind in kinds and v.name in read)


def _whose(system: TransitionSystem, moment: Moment) -> str:
    if moment.transition is None:
        return ""
    return acting(system, moment.events) or within(moment.transition)


def within(transition: Transition) -> str:
    """Returns the process that takes a further step inside a handler; empty where there is none."""
    action = transition.action
    if action.kind is not ActionKind.EFFECT or not action.params:
        return ""
    return show(ir.domain_item(action.params[0].domain), transition.params[0])


def inner(transition: Transition) -> str:
    """Returns the effect with which a process continues inside a handler; empty if it does not."""
    return transition.action.name.removeprefix("effect ") if within(transition) else ""


def _data(system: TransitionSystem, state: State) -> dict[str, Json]:
    pairs = zip(system.variables, state, strict=True)
    return {variable.name: encode(variable.type, value) for variable, value in pairs}


def _instance(transition: Transition) -> str:
    params = zip(transition.action.params, transition.params, strict=False)
    shown = (show(ir.domain_item(p.domain), value) for p, value in params)
    return f"{transition.action.name}({', '.join(shown)})"


def _changes(
    system: TransitionSystem, before: State, after: State, events: tuple[Event, ...]
) -> Iterator[Change]:
    """Yields what changed; ``quiet`` marks what events report already, such as the state that a
    crash loses, and what is stored."""
    gone = frozenset(e.process for e in events if isinstance(e, Crashed))
    stored = {(e.process, e.variable) for e in events if isinstance(e, Stored)}
    for variable, old, new in zip(system.variables, before, after, strict=True):
        if old == new:
            continue
        title, quiet = variable.title or variable.name, variable.kind in QUIET
        for process, was, becomes, is_default in _entries(system, variable, old, new):
            untold = quiet or (process in gone and is_default) or (process, title) in stored
            yield Change(variable.name, title, process, was, becomes, variable.kind, untold)


def _entries(
    system: TransitionSystem, variable: Variable, old: object, new: object
) -> Iterator[tuple[str, str, str, bool]]:
    """Yields what changed: per process for a map from processes, otherwise the whole value.

    The last component: whether the new value is the one of what was never assigned.
    """
    type_ = variable.type
    if isinstance(type_, MapT) and is_of_processes(system, type_):
        assert isinstance(old, tuple)
        assert isinstance(new, tuple)
        for key, was, becomes in zip(universe(type_.key), old, new, strict=True):
            if was != becomes:
                inner = type_.value
                initial = becomes == default(inner)
                yield show(type_.key, key), show(inner, was), show(inner, becomes), initial
    else:
        yield "", show(type_, old), show(type_, new), new == default(type_)


def is_of_processes(system: TransitionSystem, type_: MapT) -> bool:
    """Returns whether a map has an entry for each of some processes."""
    return isinstance(type_.key, AtomT) and set(type_.key.labels) <= set(system.processes)
