"""Replays executions: the interpreter repeats them, and only what it accepts becomes a trace."""

from __future__ import annotations

from checker import kept
from checker.model.interpreter import State
from checker.model.ir import Property, TransitionSystem, domain_item
from checker.model.types import Value
from checker.results.answer import Path
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import rerun, run_from_start
from checker.results.show_values import decode
from checker.results.trace import Header, Json, Trace

__all__ = ["ReplayMismatch", "path_of", "replay", "replay_document"]


def replay(
    system: TransitionSystem, path: Path, prop: Property | None, header: Header | None = None
) -> Trace:
    """Replays the execution ``path`` and returns its trace; raises :class:`ReplayMismatch` if it
    is not one of the system, or does not violate ``prop``.

    ``prop`` is the property that the execution violates, or ``None`` where it ends with an error
    (``path.then_fault``).
    """
    run, header = rerun(system, path, prop), header or Header("", system.name, "")

    def told() -> Trace:
        from checker.results.narrate import narrate

        return narrate(system, run, prop, header)

    return kept.result(told, "trace", system, path, prop and prop.name, header)


def path_of(system: TransitionSystem, trace: Trace) -> Path:
    """Returns the execution of a trace document, with the values of ``system``.

    Raises ``ValueError`` where it can't be one of ``system``.
    """
    states = tuple(_state(system, dict(step.state)) for step in trace.steps)
    return Path(states, trace.failure is not None, trace.loop, _values(system, trace))


def _values(system: TransitionSystem, trace: Trace) -> tuple[Value, ...]:
    """Returns the values of the property's parameters, where the trace violates one that has
    them."""
    prop = system.violated_part(trace.property_name, lasso=trace.loop is not None)
    params = () if prop is None else prop.params
    if [param.name for param in params] != [name for name, _ in trace.values]:
        raise ValueError(f"the trace gives {trace.property_name} different parameters")
    given = zip(params, trace.values, strict=True)
    return tuple(decode(domain_item(param.domain), data) for param, (_, data) in given)


def _state(system: TransitionSystem, data: dict[str, Json]) -> State:
    if set(data) != {v.name for v in system.variables}:
        raise ValueError("the trace and the spec have different variables")
    return tuple(decode(v.type, data[v.name]) for v in system.variables)


def replay_document(system: TransitionSystem, trace: Trace) -> Trace:
    """Replays the execution of a trace document in ``system`` and returns a new trace of it; where
    it names no property, only its steps have to be the system's.

    Raises ``ValueError`` where the document does not fit the system's variables or properties, and
    :class:`ReplayMismatch` if it fits but is not an execution.
    """
    prop: Property | None = None
    if trace.failure is None and not trace.property_name:
        from checker.results.narrate import narrate

        run = run_from_start(system, path_of(system, trace).states)
        return narrate(system, run, None, trace.header)
    if trace.failure is None:
        prop = system.violated_part(trace.property_name, lasso=trace.loop is not None)
        if prop is None:
            raise ValueError(f"the check has no property {trace.property_name}")
    return replay(system, path_of(system, trace), prop, trace.header)
