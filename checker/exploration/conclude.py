"""From a search that is over to an answer: liveness is decided, runs are made of states."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from checker.exploration.compact import omission, said
from checker.exploration.concrete import Concrete
from checker.exploration.explored import Cyclic, Explored
from checker.exploration.liveness import bad_for, decide
from checker.exploration.spared import reduced
from checker.exploration.states import Lost
from checker.properties.steady import steady
from checker.system import interpreter
from checker.witness.answer import Answer, Path


def conclude(engine: str, search: Explored) -> Answer:
    """The answer of ``engine``.  Raises ``RunFault`` where a property can't be evaluated."""
    if search.lost is not None:
        _raise_lost(search, search.lost[1])
    plan = search.kernel.image.reductions
    if plan.acyclic and search.found.cyclic:
        raise Cyclic
    try:
        live = decide(search)
    except Lost as lost:
        _raise_lost(search, lost.words)
    found = search.found
    fault = search.path_to(*found.faulty) if found.faulty else None
    violations = {
        name: live.violations.get(name) or search.path_to(depth, best)
        for name, (depth, best) in found.violating.items()
    } | live.violations
    if plan.used:
        concrete = Concrete(search.system, search.kernel)
        fault = fault and concrete.path(fault)
        violations = {name: _made(concrete, name, path) for name, path in violations.items()}
    bits = search.kernel.image.compact
    omitted = omission(search.states, bits) if bits else None
    return Answer(
        engine=engine,
        distinct_states=search.states,
        depth=search.depth,
        exhaustive=search.exhaustive,
        seconds=search.seconds,
        transitions=found.transitions,
        violations=violations,
        fault=replace(fault, then_fault=True) if fault else None,
        reached_marks=frozenset(found.reached_marks()),
        premises=frozenset(found.premises),
        ends=found.ends,
        stopped=search.stopped,
        bytes_per_state=search.used / max(1, search.states),
        fair=live.fair,
        undecided=live.undecided,
        unmet=frozenset(live.unmet),
        edges=live.edges,
        bytes_per_edge=live.bytes_per_edge,
        liveness_seconds=live.seconds,
        reduced=reduced(search),
        remarks=() if omitted is None else (said(omitted, bits),),
        omission=omitted,
        judged=_judged(search),
    )


def _judged(search: Explored) -> int:
    """The last level of which all states were found and looked at."""
    if search.exhaustive:
        return search.depth
    looked = search.stopped is not None and search.stopped == search.limits.no_deeper
    return search.found.depth if looked else search.found.depth - 1


def _made(concrete: Concrete, name: str, path: Path) -> Path:
    """A run of the system for one in normal form that violates the property called ``name``."""
    found = concrete.path(path)
    if found.loop != len(found.states) - 1 or not path.values:
        return found
    prop = next(p for p in concrete.system.properties if p.name == name)
    if steady(prop) is None:
        return found
    return replace(found, values=bad_for(concrete.system, prop, found.states[-1]))


def _raise_lost(search: Explored, words: tuple[int, ...]) -> NoReturn:
    """Lets the interpreter say what is wrong with a property in a state."""
    system, state = search.system, search.kernel.image.layout.unpack(words)
    for justice in system.justice:
        interpreter.holds(system, justice.holds, state)
    for prop in system.properties:
        interpreter.holds(system, prop.premise, state)
        interpreter.holds(system, prop.bad, state)
        for values in interpreter.assignments(prop.params):
            names = dict(zip((p.name for p in prop.params), values, strict=True))
            for proposition in prop.propositions:
                interpreter.holds(system, proposition, state, names)
    raise AssertionError("a property had an error of the run in native code only")
