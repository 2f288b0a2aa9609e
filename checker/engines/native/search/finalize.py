"""Finalises a search: decides liveness, reconstructs traces and makes the answer."""

from __future__ import annotations

from contextlib import suppress
from typing import NoReturn

from checker.engines import budgets
from checker.engines.native.liveness.liveness_decision import (
    Verdicts,
    bad_for,
    decide,
    open_ones,
    verdicts_of_ends,
)
from checker.engines.native.search.compact import omission_probability, omission_text
from checker.engines.native.search.explored import Explored
from checker.engines.native.search.findings import Best, Target
from checker.engines.native.search.lift_trace import CapacityMet, TraceLifter
from checker.engines.native.search.reduction_stats import reduction_stats
from checker.engines.native.search.states import Unevaluable
from checker.engines.search_engine import Cyclic
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.properties.persistence import persistence
from checker.records import replace
from checker.results.answer import INTERRUPTED, Answer, Path, stop_reason, without_run

NOWHERE: Target = (-1, (0, ()))
LONG = 20_000
"""The number of states from which on the verdicts on safety are reported before liveness is
decided."""


def finalize(engine: str, search: Explored) -> Answer:
    """The answer of ``engine``.  Raises ``RunFault`` where a property can't be evaluated."""
    if search.lost is not None:
        _raise_lost(search, search.lost[1], search.lost)
    plan = search.kernel.image.reductions
    if plan.acyclic and search.found.cyclic and not search.unfolds:
        raise Cyclic(search.states)
    if search.exhaustive and search.states >= LONG:
        with suppress(KeyboardInterrupt):
            search.known(answer_so_far(engine, search))
    try:
        live = decide(search)
    except Unevaluable as lost:
        _raise_lost(search, lost.words)
    return replace(_answer(engine, search, live), reduced=reduction_stats(search, live.part))


def answer_so_far(engine: str, search: Explored) -> Answer:
    """The answer if ``search`` were interrupted now: of liveness, only bad ends are decided."""
    live = verdicts_of_ends(search)
    live.undecided |= dict.fromkeys((prop.name for prop in open_ones(search)), INTERRUPTED)
    return replace(_answer(engine, search, live), stopped=INTERRUPTED)


def _answer(engine: str, search: Explored, live: Verdicts) -> Answer:
    """The answer with these verdicts on liveness; what reductions have saved is not counted."""
    found, runs = search.found, _Runs(search, live)
    bits = search.kernel.image.compact
    omitted = omission_probability(search.states, bits) if bits else None
    return Answer(
        engine=engine,
        distinct_states=search.states,
        depth=search.depth,
        exhaustive=search.exhaustive,
        seconds=search.seconds,
        transitions=found.transitions,
        violations=runs.violations,
        fault=runs.fault,
        reached_marks=frozenset(found.marks_reached()),
        premises=frozenset(found.premises),
        ends=found.ends,
        beyond=found.beyond,
        stopped=search.stopped or runs.stopped,
        bytes_per_state=search.used / max(1, search.states),
        fair=live.fair,
        undecided=live.undecided | runs.missing,
        unmet=frozenset(live.unmet),
        edges=live.edges,
        bytes_per_edge=live.bytes_per_edge,
        liveness_seconds=live.seconds,
        remarks=() if omitted is None else (omission_text(omitted, bits),),
        omission=omitted,
        judged=_judged_depth(search),
    )


def _judged_depth(search: Explored) -> int:
    """The last level of which all states were found and judged."""
    if search.exhaustive:
        return search.depth
    looked = search.stopped is not None and search.stopped == search.limits.no_deeper
    return search.found.depth if looked else search.found.depth - 1


class _Runs:
    """The executions that a search has found, reconstructed one after the other.

    ``missing``: the properties found to fail for which there was no time, or no room in a guessed
    capacity, to reconstruct an execution, each with the reason;
    ``stopped``: why there is no execution to the runtime error.
    """

    def __init__(self, search: Explored, live: Verdicts) -> None:
        self.search, self.live = search, live
        self.violations: dict[str, Path] = {}
        self.missing: dict[str, str] = {}
        self.fault: Path | None = None
        self.stopped: str | None = None
        used = search.kernel.image.reductions.used
        self._concrete = TraceLifter(search.system, search.kernel) if used else None
        failing = (search.found.violating.keys() | live.violations.keys()) - live.undecided.keys()
        first = {p.asked: p.name for p in reversed(search.system.properties) if p.name in failing}
        names = [p.name for p in search.system.properties if first.get(p.asked) == p.name]
        for name in names:
            known = self.search.runs.get(search.found.violating.get(name, NOWHERE))
            if known is not None and name not in live.violations:
                self.violations[name] = known
        error = budgets.ended(lambda: self._make(names), late=True)
        if error is not None:
            self.stopped = stop_reason(error) if search.found.faulty and not self.fault else None
            late = {name: without_run(error) for name in names if name not in self.violations}
            self.missing.update(late)

    def _make(self, names: list[str]) -> None:
        found, concrete = self.search.found, self._concrete
        for name in names:
            if name in self.violations:
                continue
            path = self.live.violations.get(name) or self.search.path_to(*found.violating[name])
            try:
                if name in self.live.unfolded:
                    self.violations[name] = self.live.unfolded[name](name, path)
                    continue
                self.violations[name] = _lift_path(concrete, name, path) if concrete else path
                if name not in self.live.violations:
                    self.search.runs[found.violating[name]] = self.violations[name]
            except CapacityMet as capacity:
                self.fault, self.missing[name] = capacity.met, str(capacity)
        if found.faulty and self.fault is None:
            path = replace(self.search.path_to(*found.faulty), then_fault=True)
            try:
                self.fault = concrete.path(path) if concrete else path
            except CapacityMet as capacity:
                self.fault = capacity.met


def _lift_path(concrete: TraceLifter, name: str, path: Path) -> Path:
    """An execution of the system for one in normal form that violates the property ``name``."""
    found = concrete.path(path)
    if found.loop != len(found.states) - 1 or not path.values:
        return found
    prop = next(p for p in concrete.system.properties if p.name == name)
    if persistence(prop) is None:
        return found
    return replace(found, values=bad_for(concrete.system, prop, found.states[-1]))


def _raise_lost(search: Explored, words: tuple[int, ...], best: Best | None = None) -> NoReturn:
    """Lets the interpreter report what is wrong with a property in a state, and how it is reached
    (``best``: where it is a state of the last level that was judged).
    """
    try:
        _evaluate_all(search.system, search.kernel.image.layout.unpack(words))
    except RunFault as fault:
        fault.states = ()
        if best is not None and not search.kernel.image.compact:
            with suppress(KeyboardInterrupt), budgets.raising_when_exhausted(late=True):
                fault.states = _run_to(search, best).states
        raise
    raise AssertionError("a property had a run-time error in native code only")


def _run_to(search: Explored, best: Best) -> Path:
    """An execution of the system to a state of the last level that was judged."""
    path, kernel = search.path_to(search.found.depth, best), search.kernel
    if not kernel.image.reductions.used:
        return path
    try:
        return TraceLifter(search.system, kernel).path(path)
    except CapacityMet as capacity:
        raise capacity.fault from None


def _evaluate_all(system: TransitionSystem, state: State) -> None:
    """Evaluates every predicate in a state; raises ``RunFault``."""
    for justice in system.justice:
        interpreter.holds(system, justice.holds, state)
    for prop in system.properties:
        interpreter.holds(system, prop.premise, state)
        interpreter.holds(system, prop.bad, state)
        for values in interpreter.assignments(prop.params):
            names = dict(zip((p.name for p in prop.params), values, strict=True))
            for proposition in prop.propositions:
                interpreter.holds(system, proposition, state, names)
