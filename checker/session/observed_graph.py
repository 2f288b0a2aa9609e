"""Makes a picture's graph of a check's states: each is a node where they are few, otherwise those
that agree in what its properties read are one.

A node that stands for several states has the steps of them all, so a path in the picture need not
be one of the check (an existential abstraction: Baier and Katoen, *Principles of Model Checking*,
7.1); each step and each state of the check is in the picture, though.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.ir import Property, PropertyKind, TransitionSystem, Variable, VariableKind
from checker.model.types import MapT, SetT, sort_key, universe
from checker.results.fair_lasso import satisfies
from checker.results.narrate import SPECS, is_of_processes, narrate_step
from checker.results.rerun import Moment
from checker.results.show_values import show, show_parts
from checker.results.state_graph import StateEdge, StateGraph, StateNode
from checker.results.trace import Step
from checker.session.load import load_check, read_spec
from checker.session.small_systems import (
    Expanded,
    RunError,
    TooLarge,
    columns_of_properties,
    explored,
    of_small_system,
)
from checker.words.steps import headline
from checker.words.wrappers import fold_wrappers_of_steps

STATES = 20_000
"""The states of the largest graph that is made."""

EACH = 60
"""The largest number of states that are drawn as one node each."""

NODES = 200
"""The nodes of the largest picture."""

REPEATED = "@repeated."
"""The prefixes of variables that only count repetitions of an event."""


def observed_graph(spec: Spec | str, name: str | None, options: Options) -> StateGraph:
    """Returns the graph of the check ``name`` of ``spec`` (``None``: its only one).

    Raises :class:`SpecError`: E129 where it has more than ``STATES`` states, or ``NODES`` nodes."""

    spec = read_spec(spec)
    asked = load_check(spec, name, options.settings).name
    short = "/".join(Path(str(spec)).parts[-2:])

    def graph(system: TransitionSystem) -> StateGraph:
        return _Drawn(system, [*explored(system, STATES)], asked).graph(short)

    try:
        return of_small_system(spec, asked, options, graph)
    except TooLarge:
        hint = f"`bivalence check {spec}::{asked} --states-out DIR` writes all states as tables"
        raise _too_large(f"the check has more than {STATES:,} states", hint) from None


def _too_large(why: str, hint: str) -> SpecError:
    return SpecError((Diagnostic("E129", f"no state graph: {why}", hint=hint),))


class _Drawn:
    """The states of ``system``, by number."""

    def __init__(self, system: TransitionSystem, expanded: list[Expanded], check: str) -> None:
        self.system, self.expanded, self.check = system, expanded, check
        starts = [e.state for e in expanded if e.initial and not isinstance(e.state, RunError)]
        self._start = [_common(values) for values in zip(*starts, strict=True)]

    def graph(self, file: str) -> StateGraph:
        """Returns the graph of the nodes.  Raises :class:`SpecError` (E129)."""
        several = len(self.expanded) > EACH
        columns = self._observed()
        numbers: dict[object, int] = {}
        node_of = [
            numbers.setdefault(self._key(each.state, columns) if several else at, len(numbers))
            for at, each in enumerate(self.expanded)
        ]
        if len(numbers) > NODES:
            why = f"{len(self.expanded):,} states are {len(numbers):,} nodes, more than {NODES}"
            hint = "fewer properties tell fewer states apart: `--only PROPERTY`"
            raise _too_large(why, hint)
        members: list[list[Expanded]] = [[] for _ in numbers]
        for at, node in enumerate(node_of):
            members[node].append(self.expanded[at])
        titles = dict.fromkeys(_title(self.system.variables[at]) for at in columns)
        judged = {prop.name for prop in self.system.asked_properties if is_seen(prop)}
        return StateGraph(
            file,
            self.check,
            tuple(self._node(each, columns, several) for each in members),
            tuple(self._edges(node_of, several)),
            len(self.expanded),
            sum(len(each.steps) for each in self.expanded),
            tuple(titles) if several else (),
            tuple(p.asked for p in self.system.asked_properties if p.name not in judged),
        )

    def _observed(self) -> list[int]:
        """Returns the places of what the properties read; of the spec's own variables where they
        read nothing."""
        variables = self.system.variables
        read = columns_of_properties(self.system)
        return read or [at for at, each in enumerate(variables) if each.kind in SPECS]

    def _key(self, state: State | RunError, columns: list[int]) -> object:
        return state if isinstance(state, RunError) else tuple(state[at] for at in columns)

    def _node(self, members: list[Expanded], columns: list[int], several: bool) -> StateNode:
        first, facts, more = members[0].state, list[str](), list[str]()
        if not isinstance(first, RunError):
            for at in range(len(first)):
                of = facts if at in columns else more
                of += _facts(self.system, self.system.variables[at], self._start[at], first[at])
        violated = dict.fromkeys(name for each in members for name in self._violated(each))
        return StateNode(
            tuple(facts),
            () if several else tuple(more),
            len(members),
            any(each.initial for each in members),
            any(self._is_end(each.state) for each in members),
            tuple(violated),
        )

    def _is_end(self, state: State | RunError) -> bool:
        if isinstance(state, RunError):
            return False
        try:
            return interpreter.is_admissible_end(self.system, state)
        except RunFault:
            return False

    def _violated(self, each: Expanded) -> Iterator[str]:
        state = each.state
        if isinstance(state, RunError):
            yield state.code
            return
        for prop in self.system.properties:
            if prop.kind is PropertyKind.INVARIANT:
                if interpreter.surely_holds(self.system, prop.bad, state):
                    yield prop.asked
            elif is_seen(prop) and self._is_end(state):
                values = interpreter.assignments(prop.params)
                if not all(satisfies(self.system, prop, each, (state,), 0) for each in values):
                    yield prop.asked

    def _edges(self, node_of: list[int], several: bool) -> Iterator[StateEdge]:
        """Yields the edges; of a node that stands for several states none leads back to it."""
        steps: dict[object, Step] = {}
        between: dict[tuple[int, int], dict[object, None]] = {}
        for source, each in enumerate(self.expanded):
            for taken, target in each.steps:
                ends = node_of[source], node_of[target]
                if several and ends[0] == ends[1]:
                    continue
                key = (taken.action.name, taken.params, taken.events)
                if key not in steps:
                    steps[key] = self._step(each.state, taken)
                between.setdefault(ends, {})[key] = None
        told = map(headline, fold_wrappers_of_steps([*steps.values()]))
        said = dict(zip(steps, told, strict=True))
        for (source, target), keys in between.items():
            yield StateEdge(source, target, tuple(dict.fromkeys(said[key] for key in keys)))

    def _step(self, state: State | RunError, taken: Transition) -> Step:
        assert not isinstance(state, RunError)
        moment = Moment(taken.successor or state, taken, taken.events)
        return narrate_step(self.system, 1, state, moment)


def _common(values: tuple[Any, ...]) -> Any:
    """Returns what all ``values`` are; of tuples, with what differs left open."""
    if len({*values}) == 1:
        return values[0]
    if all(isinstance(each, tuple) and len(each) == len(values[0]) for each in values):
        return tuple(_common(each) for each in zip(*values, strict=True))
    return _OPEN


_OPEN = object()


def is_seen(prop: Property) -> bool:
    """Returns whether a violation shows in single states: of an invariant where it is false, of a
    liveness property *always …* where a run stays forever."""
    formula = prop.formula
    always = isinstance(formula, ir.Modal) and formula.op == "always"
    return prop.kind is PropertyKind.INVARIANT or always


def _title(variable: Variable) -> str:
    named = variable.title or variable.name
    return named.removeprefix("@history.").removeprefix("@repeated.").removeprefix("@")


def _facts(system: TransitionSystem, variable: Variable, start: Any, value: Any) -> Iterator[str]:
    """Yields the value of a variable in words: of each process where it is a map from processes,
    as indications and requests where it is a history."""
    type_, title = variable.type, _title(variable)
    if not isinstance(type_, MapT) or not is_of_processes(system, type_):
        if value != start:
            yield f"{title} = {show(type_, value)}"
        return
    for key, held, initial in zip(universe(type_.key), value, start, strict=True):
        who, inner = show(type_.key, key), type_.value
        if held == initial:
            continue
        if variable.kind is VariableKind.HISTORY and isinstance(inner, SetT):
            twice = " twice" if variable.name.startswith(REPEATED) else ""
            for member in sorted(held, key=sort_key):
                yield f"{who} {title}({', '.join(show_parts(inner.item, member))}){twice}"
        else:
            yield f"{who}.{title} = {show(inner, held)}"
