"""What single states are asked in place of a run gives the verdicts that the run gives."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.instantiate import assemble
from checker.model import ir
from checker.model.build import conj, disj, entry, member, negation
from checker.model.evaluate import RunFault
from checker.model.ir import FALSE, TRUE, Holds, Local, Property, Read, TransitionSystem
from checker.model.types import BOOL, AtomT, IntT, MapT, SetT, Type, default
from checker.model.verify import verify
from checker.properties.buchi_automaton import (
    accepting,
    always,
    either,
    eventually,
    inverse,
    refuting,
)
from checker.properties.formula import ask
from checker.properties.persistence import monitored
from checker.records import replace
from checker.reductions import single_states
from checker.reductions.single_states import by_single_states, translated
from checker.results.answer import Answer, Limits
from checker.results.rerun import rerun
from checker.session.pipeline import load_check, run_check
from checker.session.run_engine import answer_of
from tests.agreement.alike import Alike
from tests.selection import some

WITH, WITHOUT = Holds(0), Holds(1)
PREMISE = eventually(always(WITH))
UNDER_PREMISE = either((inverse(PREMISE), eventually(WITHOUT)))
BOTH = either((inverse(PREMISE), always(eventually(WITHOUT))))
SEEDS = 200
PARTS = 8


@dataclass(frozen=True)
class Seen:
    """What is said of liveness: which properties are violated, and which hold because no fair run
    satisfies their premise."""

    violated: frozenset[str]
    unmet: frozenset[str]


def seen(system: TransitionSystem, answer: Answer) -> Seen:
    """Each run to a violation is replayed."""
    live = [p for p in system.properties if p.kind is ir.PropertyKind.LIVENESS]
    found = frozenset(p.name for p in live if p.name in answer.violations)
    for prop in live:
        if prop.name in found:
            rerun(system, answer.violations[prop.name], prop)
    return Seen(found, answer.unmet)


def plainly(system: TransitionSystem, most: int = 400) -> Answer | None:
    """The answer of the reference engine, where it is about all states."""
    try:
        answer = reference.explore(system, Limits(max_states=most))
    except RunFault:
        return None
    return answer if answer.exhaustive and answer.fault is None else None


def with_premise(system: TransitionSystem) -> TransitionSystem:
    """``system``, the last property of which has a premise about whole runs."""
    *others, prop = system.properties
    given = ir.Given(accepting(PREMISE), "it lasts")
    return verify(replace(system, properties=(*others, replace(prop, given=given))))


@pytest.mark.parametrize("part", range(PARTS))
def test_random_systems_agree_with_the_reference_engine(part: int) -> None:
    said: list[Seen] = []
    for seed in range(part, some(SEEDS), PARTS):
        draw = random.Random(seed)
        system = Alike(draw.randrange).system(draw.choice((UNDER_PREMISE, BOTH)))
        system = with_premise(system) if draw.random() < 0.7 else system
        asked = by_single_states(system)
        if asked is system:
            continue
        before, after = plainly(system), plainly(verify(asked))
        if before is None or after is None:
            continue
        found = seen(system, before)
        assert seen(system, translated(system, asked, after)) == found, f"seed {seed}"
        said.append(found)
    assert said


def test_random_systems_agree_with_reductions() -> None:
    compared = 0
    for seed in range(200, 260):
        draw = random.Random(seed)
        system = with_premise(Alike(draw.randrange).system(UNDER_PREMISE))
        before = None if by_single_states(system) is system else plainly(system)
        if before is None or compared == some(3):
            continue
        answer = answer_of(system, Options(engine="native", threads=1), None, None)
        assert seen(system, answer) == seen(system, before), f"seed {seed}"
        compared += 1
    assert compared


# ---- what has to stay true -----------------------------------------------------------------------

PROC = AtomT("proc", ("p1", "p2"))
VARIABLES: dict[str, Type] = {
    "on": MapT(PROC, BOOL),
    "down": SetT(PROC),
    "age": MapT(PROC, IntT(0, 2)),
}
P = Local(PROC, "p")
ON = entry(Read(VARIABLES["on"], "on"), P)
DOWN = Read(VARIABLES["down"], "down")
SOME_ON = ir.Quant(ir.Quantifier.EXISTS, "p", ir.Universe(PROC), ON, BOOL)


def sets(value: ir.Expr) -> ir.Assign:
    return ir.Assign(ir.Target(BOOL, "on", True, (ir.Key(P, PROC),)), value)


GOES_DOWN = ir.Assign(
    ir.Target(DOWN.type, "down", True), ir.Apply(DOWN.type, ir.Op.INSERT, (DOWN, P))
)


def action(name: str, guard: ir.Expr, *body: ir.Stmt) -> ir.Action:
    """One for each process, which fairness demands."""
    param = ir.Param("p", ir.Universe(PROC), TRUE)
    return ir.Action(name, ir.ActionKind.STEP, (param,), guard, body, TRUE)


RAISES = action("raises", negation(disj(ON, member(P, DOWN))), sets(TRUE))


def world(*actions: ir.Action) -> TransitionSystem:
    """It is asked whether, if finally nothing is on, something has been on."""
    prop = Property(
        "is_on",
        ir.PropertyKind.LIVENESS,
        FALSE,
        TRUE,
        "",
        propositions=(negation(SOME_ON), SOME_ON),
        formula=UNDER_PREMISE,
        automaton=refuting(UNDER_PREMISE),
        given=ir.Given(accepting(PREMISE), "finally nothing is on"),
    )
    kind = ir.VariableKind.SHARED
    variables = tuple(ir.Variable(n, t, default(t), kind) for n, t in VARIABLES.items())
    return verify(
        TransitionSystem("world", PROC.labels, variables, (), actions, (), (prop,), (), ())
    )


LOWERS = action("lowers", conj(ON, negation(member(P, DOWN))), GOES_DOWN, sets(FALSE))
"""Finally nothing is on, but everything has been; ``on`` grows until its process is down."""

LOWERS_ALONE = action("lowers", ON, sets(FALSE))


@pytest.mark.parametrize("lowers", [LOWERS, LOWERS_ALONE])
def test_what_is_lowered_is_followed(lowers: ir.Action, monkeypatch: pytest.MonkeyPatch) -> None:
    system = world(RAISES, lowers)
    assert by_single_states(system) is system
    answer = plainly(system)
    assert answer is not None and not answer.violations
    if lowers is LOWERS:
        assert not answer.unmet
        monkeypatch.setattr(single_states, "_stays_refuted", lambda prop, moves: True)
        asked = by_single_states(system)
        wrong = plainly(asked)
        assert wrong is not None and "is_on" in wrong.violations


def test_what_is_only_raised_is_decided_by_single_states() -> None:
    system = world(RAISES)
    asked = by_single_states(system)
    assert asked is not system and not monitored(asked)
    answer = plainly(asked)
    assert answer is not None
    assert seen(system, translated(system, asked, answer)) == Seen(
        frozenset(), frozenset({"is_on"})
    )


def test_an_undecided_premise_leaves_the_property_undecided() -> None:
    system = world(RAISES)
    asked = by_single_states(system)
    answer = plainly(asked)
    assert answer is not None
    late = replace(answer, undecided={"is_on" + single_states.PREMISE: "no time"})
    found = translated(system, asked, late)
    assert found.undecided == {"is_on": "no time"} and not found.unmet


# ---- the library ---------------------------------------------------------------------------------


def test_progress_of_raft_needs_no_server_in_place() -> None:
    file, check = "specs/replication/raft_progress.bcast", "two"
    system = assemble.instantiate(load_check(file, check, {}), {}, ask).system
    assert monitored(system)
    assert not monitored(by_single_states(system))
    reduced = run_check(file, check, Options(reduce="symmetry"))
    plain = run_check(file, check, Options(reduce="none"))
    assert [v.word for v in reduced.verdicts] == [v.word for v in plain.verdicts]
    assert reduced.distinct_states is not None and plain.distinct_states is not None
    assert reduced.distinct_states < plain.distinct_states
    assert not [u for u in reduced.reduced.unused if single_states.PREMISE in u[1]]
