"""The table of what is proven: it is complete, its tests exist, and the choice obeys it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from checker.model import ir
from checker.model.build import negation
from checker.model.ir import FALSE, TRUE, Holds, PropertyKind, Read
from checker.model.types import BOOL
from checker.properties.buchi_automaton import always, either, eventually, refuting
from checker.reductions.choose import VERDICTS, SideQuestions, choose
from checker.reductions.contract import GOES_ROUND, Ask, Use
from checker.reductions.dead_variables import analysis as dead_variables
from checker.reductions.dominance import monotone_sets
from checker.reductions.partial_order import ample_sets as partial_order
from checker.reductions.partial_order.partial_order_reduction import KEPT
from checker.reductions.planning import questions_of
from checker.reductions.reduction_plan import AmpleAction, ReductionPlan, Sorts, Symmetry
from checker.reductions.registry import REDUCTIONS, modes
from checker.reductions.symmetry import automorphisms as symmetry
from checker.reductions.table import against, markdown
from tests.recurring import never_for_ever

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs" / "reductions.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

SAFE = ir.Property("safe", PropertyKind.INVARIANT, Read(BOOL, "v"), TRUE, "")
STEADY = never_for_ever("steady", negation(Read(BOOL, "v")))
FORMULA = always(either([ir.Connective("not", (Holds(0),)), eventually(Holds(1))]))
FOLLOWED = ir.Property(
    "odd",
    PropertyKind.LIVENESS,
    FALSE,
    TRUE,
    "",
    propositions=(Read(BOOL, "v"), Read(BOOL, "w")),
    formula=FORMULA,
    automaton=refuting(FORMULA),
)
GROUP = Symmetry(Sorts((("p",),)), (), "everything")
BLOCK: ir.Block = (ir.Assign(ir.Target(BOOL, "w", True), FALSE),)
EAGER = (AmpleAction(0, TRUE),)
ADDING = (AmpleAction(0, TRUE, ("w",)),)


def system(*properties: ir.Property) -> ir.TransitionSystem:
    variables = tuple(ir.Variable(n, BOOL, False, ir.VariableKind.SHARED) for n in ("v", "w"))
    body = (ir.Assign(ir.Target(BOOL, "v", True), TRUE),)
    action = ir.Action("a", ir.ActionKind.STEP, (), TRUE, body, TRUE)
    return ir.TransitionSystem("s", (), variables, (), (action,), (), properties, ())


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is found everywhere: what is left out is left out by the table."""
    monkeypatch.setattr(symmetry, "find_symmetry", lambda system: (GROUP, ()))
    monkeypatch.setattr(dead_variables, "find_dead", lambda system: (BLOCK, ()))
    monkeypatch.setattr(partial_order, "find_ample", lambda system: (EAGER, ()))
    monkeypatch.setattr(monotone_sets, "find_adding", lambda system: ADDING)


def kinds(plan: ReductionPlan | None) -> set[str]:
    assert plan is not None
    return set(plan.used)


def test_every_cell_is_filled() -> None:
    for reduction in REDUCTIONS.values():
        assert list(reduction.column) == list(Ask)
        for cell in reduction.column.values():
            assert cell.source
            assert len(cell.proof) > 20
            assert bool(cell.why) == (cell.use in (Use.NO, Use.ACYCLIC, Use.UNFOLDED))


def test_every_cell_names_a_test_that_exists() -> None:
    for reduction in REDUCTIONS.values():
        for cell in reduction.column.values():
            file, _, name = cell.test.partition("::")
            tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
            found = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
            assert name in found, cell.test


@pytest.mark.parametrize("properties", [(SAFE,), (STEADY,), (SAFE, STEADY), (FOLLOWED, SAFE)])
@pytest.mark.parametrize(
    "question",
    [
        VERDICTS,
        SideQuestions(states=True),
        SideQuestions(lengths=True),
        SideQuestions(bounded=True),
    ],
)
def test_the_choice_is_the_tables(
    properties: tuple[ir.Property, ...], question: SideQuestions
) -> None:
    of = system(*properties)
    plan = choose(of, "all", question)
    questions = questions_of(of, question)
    for kind, reduction in REDUCTIONS.items():
        reasons = list(against(reduction, questions))
        assert (kind in plan.used) == (not reasons)
        for why in reasons:
            assert (kind, why) in [(u.kind, u.why) for u in plan.unused]
    if any(p.kind is PropertyKind.LIVENESS for p in properties) and kinds(plan) - {"dead"}:
        assert plan.acyclic
        assert kinds(plan.careful) <= {
            n for n, r in REDUCTIONS.items() if r.column[Ask.ROUND].use is Use.PROVEN
        }


def test_what_must_hold_in_every_state_needs_no_caution() -> None:
    plan = choose(system(SAFE), "all", VERDICTS)
    assert kinds(plan) == set(REDUCTIONS)
    assert not plan.acyclic
    assert plan.fallback is None


def test_what_is_followed_needs_all_steps() -> None:
    plan = choose(system(FOLLOWED), "all", VERDICTS)
    assert kinds(plan) == {"symmetry", "dead"}
    assert plan.acyclic
    assert kinds(plan.careful) == {"dead"}
    whys = {u.kind: u.why for u in plan.unused if u.kind != "dominance"}
    assert whys == {"por": "`odd` is monitored from the initial states"}
    assert {u.why for u in plan.careful.unused if u.kind == "symmetry"} == {GOES_ROUND}


def test_what_is_followed_is_begun_without_symmetry() -> None:
    """Unless it is requested by name."""
    plan = choose(system(FOLLOWED), "auto", VERDICTS)
    assert kinds(plan) == {"dead"}
    assert not plan.acyclic
    assert plan.larger == choose(system(FOLLOWED), "all", VERDICTS)
    (why,) = (u.why for u in plan.unused if u.kind == "symmetry")
    assert why.startswith("`odd` is monitored from the initial states, so symmetry is used only")
    assert choose(system(STEADY), "auto", VERDICTS).larger is None


def test_numbers_of_states_are_those_of_all_states() -> None:
    plan = choose(system(SAFE, STEADY), "all", SideQuestions(states=True))
    assert not plan.used
    assert {u.kind for u in plan.unused} == set(REDUCTIONS)
    whys = {(u.kind, u.why) for u in plan.unused}
    assert {(kind, "it needs the number of states") for kind in REDUCTIONS} <= whys
    assert {why for kind, why in whys if kind != "dominance"} == {"it needs the number of states"}


def test_lengths_are_those_of_all_steps() -> None:
    assert kinds(choose(system(SAFE), "all", SideQuestions(lengths=True))) == {"symmetry"}
    bounded = choose(system(SAFE), "all", SideQuestions(bounded=True))
    assert kinds(bounded) == {"symmetry", "dead"}


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("none", set()),
        ("symmetry", {"symmetry"}),
        ("por", {"dead", "por", "dominance"}),
        ("auto", set(REDUCTIONS)),
        ("all", set(REDUCTIONS)),
    ],
)
def test_only_what_is_wanted_is_used(mode: str, wanted: set[str]) -> None:
    assert mode in modes()
    assert kinds(choose(system(SAFE), mode, VERDICTS)) == wanted
    assert kinds(choose(system(SAFE, STEADY), mode, VERDICTS)) == wanted - {"dominance"}


def test_what_is_about_whole_runs_needs_dominated_states() -> None:
    for asked in (STEADY, FOLLOWED):
        plan = choose(system(SAFE, asked), "all", VERDICTS)
        assert "dominance" not in plan.used
        why = f"`{asked.name}` is a liveness property; dominance is proven for safety only"
        assert why in [u.why for u in plan.unused if u.kind == "dominance"]


def test_where_runs_go_round_reasons_are_said() -> None:
    plan = choose(system(STEADY), "all", VERDICTS)
    unfolds = plan.fallback
    assert unfolds is not None and unfolds.acyclic
    assert kinds(unfolds) == {"symmetry", "dead"}
    assert unfolds.fallback == plan.careful
    assert kinds(plan.careful) == {"dead"}
    others = [u for u in plan.careful.unused if u.kind != "dominance"]
    assert {u.why for u in others} == {"the state graph has a cycle"}


def test_a_condition_is_one_that_is_decided() -> None:
    assert REDUCTIONS["por"].column[Ask.END].where == KEPT


def test_the_page_says_what_the_table_says() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    said = text.partition(BEGIN)[2].partition(END)[0]
    assert said.strip().splitlines() == markdown()
