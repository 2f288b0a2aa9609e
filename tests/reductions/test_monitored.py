"""Symmetry with formulas that are monitored from the initial states: names of parameters stay."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.native.search import search
from checker.model import ir
from checker.model.build import equal, negation
from checker.model.ir import FALSE, TRUE, Apply, Holds, Key, Local, Op, Read
from checker.model.types import BOOL, AtomT, MapT, OptionT, SetT, default
from checker.properties.buchi_automaton import always, either, refuting
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.resources import specs
from checker.results.answer import Answer, Limits
from checker.results.rerun import rerun
from checker.session.pipeline import Options, run_check

PROCESS = AtomT("proc", ("p1", "p2", "p3"))
VOTED, LEAD = MapT(PROCESS, BOOL), OptionT(PROCESS)
P, X = Local(PROCESS, "p"), Local(PROCESS, "x")
UNIVERSE = ir.Universe(PROCESS)
ONCE = always(either([ir.Connective("not", (Holds(0),)), always(Holds(0))]))
NEVER = always(either([ir.Connective("not", (Holds(0),)), always(Holds(1))]))
BOOKKEEPER = str(specs() / "replication" / "bookkeeper.bcast")


def voting(formula: ir.Formula, votes_first: bool = True) -> ir.TransitionSystem:
    """Some process leads for ever; then each may vote.  The formula is about whether ``x`` leads
    (0), and has voted (1)."""
    kind, step = ir.VariableKind.SHARED, ir.ActionKind.STEP
    lead = Read(LEAD, "lead")
    voted = ir.Index(BOOL, Read(VOTED, "voted"), P)
    variables = [
        ir.Variable("voted", VOTED, default(VOTED), kind),
        ir.Variable("lead", LEAD, default(LEAD), kind),
    ]
    some = Apply(BOOL, Op.IS_SOME, (lead,))
    leads = ir.Assign(ir.Target(LEAD, "lead", True), Apply(LEAD, Op.SOME, (P,)))
    votes = ir.Assign(ir.Target(BOOL, "voted", True, (Key(P, PROCESS),)), TRUE)
    each = (ir.Param("p", UNIVERSE, TRUE),)
    actions = (
        ir.Action("lead", step, each, negation(some), (leads,), TRUE),
        ir.Action("vote", step, (ir.Param("p", UNIVERSE, negation(voted)),), some, (votes,), TRUE),
    )
    prop = ir.Property(
        "asked",
        ir.PropertyKind.LIVENESS,
        FALSE,
        TRUE,
        "",
        params=(ir.Param("x", UNIVERSE, TRUE),),
        propositions=(
            equal(lead, Apply(LEAD, Op.SOME, (X,))),
            ir.Index(BOOL, Read(VOTED, "voted"), X),
        ),
        formula=formula,
        automaton=refuting(formula),
    )
    kept = tuple(variables if votes_first else reversed(variables))
    return ir.TransitionSystem("votes", PROCESS.labels, kept, (), actions, (), (prop,), ())


def explored(system: ir.TransitionSystem) -> Answer:
    plan = choose(system, "symmetry", VERDICTS)
    assert plan.symmetry is not None
    assert plan.symmetry.order == 2
    (why,) = (u.why for u in plan.unused if u.kind == "symmetry")
    assert why == "`asked` is monitored from the initial states, so `p1` stays in place"
    answer = native.explore(system, Limits(), plan=plan, threads=1)
    assert answer.distinct_states < native.explore(system, Limits(), threads=1).distinct_states
    return answer


@pytest.mark.parametrize("votes_first", [True, False])
def test_a_name_is_followed_along_a_run(votes_first: bool) -> None:
    """Representatives of one run have other leaders, but never one that was not renamed."""
    assert not explored(voting(ONCE, votes_first)).violations


@pytest.mark.parametrize("votes_first", [True, False])
def test_what_is_violated_for_each_name_is_found_for_the_one_that_stays(votes_first: bool) -> None:
    system = voting(NEVER, votes_first)
    path = explored(system).violations["asked"]
    assert path.values == (0,)
    rerun(system, path, system.properties[0])


def test_no_name_of_a_set_stays() -> None:
    """A parameter that is a set may name all of them."""
    system = voting(ONCE)
    (prop,) = system.properties
    sets = ir.Param("x", ir.Universe(SetT(PROCESS)), TRUE)
    inside = equal(Read(VOTED, "voted"), Read(VOTED, "voted"))
    asked = replace(prop, params=(sets,), propositions=(inside, inside))
    plan = choose(replace(system, properties=(asked,)), "symmetry", VERDICTS)
    assert plan.symmetry is None


def test_symmetry_is_used_once_there_are_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LARGE", 4096)
    report = run_check(BOOKKEEPER, "one_entry", Options(audit=True))
    assert report.exit_code == 0
    assert report.distinct_states == 12_385
    assert report.reduced.used == ("symmetry", "dead")
    assert report.audit is not None and "the same verdicts" in report.audit.said
    monkeypatch.setattr(search, "LARGE", 1_000_000)
    report = run_check(BOOKKEEPER, "one_entry", Options())
    assert report.distinct_states == 69_232
    assert report.reduced.used == ("dead",)


def test_compact_mode_does_not_rely_on_the_absence_of_cycles() -> None:
    report = run_check(BOOKKEEPER, "one_entry", Options(compact=True))
    assert report.exit_code in (0, 3)
    assert "symmetry" not in report.reduced.used
