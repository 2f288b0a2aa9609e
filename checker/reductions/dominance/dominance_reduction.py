"""Dominance as a reduction: where a successor can do whatever the state can, it alone is explored.

A step is taken alone where it changes nothing but monotone sets (see :mod:`.monotone_sets`), into
which it puts something: what is sent over a link that keeps its messages, say.
"""

from __future__ import annotations

from checker.model.ir import TransitionSystem
from checker.reductions.contract import Ask, Found, Reduction, TableEntry, Use
from checker.reductions.dominance import monotone_sets
from checker.reductions.reduction_plan import PlanPart

NAME = "dominance"

AGREE = "agreement/test_reductions.py::"
MILNER = "Milner 1971"
FINKEL = "Finkel and Schnoebelen 2001"
TORRALBA = "Torralba 2017"

WHOLE_RUNS = "`{name}` is a liveness property; dominance is proven for safety only"


def analyse(system: TransitionSystem) -> Found:
    """The actions of which an outcome may be explored alone that only adds to monotone sets."""
    found = monotone_sets.find_adding(system)
    return (PlanPart(NAME, ample_actions=found) if found else None), ()


def _not_about_whole_runs(proof: str) -> TableEntry:
    test = "reductions/test_table.py::test_what_is_about_whole_runs_needs_dominated_states"
    return TableEntry(Use.NO, proof, MILNER, test, WHOLE_RUNS)


COLUMN = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "Let x <= y where y has all that x has in monotone sets, and is equal otherwise. Steps find"
        " more in larger sets and leave more there, and nothing else reads them, so <= is a"
        " simulation up to stuttering; the bad condition, if it holds in x, holds in y. So from y a"
        " bad state is no further than from x. A successor t of s with s <= t is explored alone,"
        " for from t a bad state is no further than from s. It is strictly larger than s, and sets"
        " are finite, so after finitely many such steps all steps are explored, one of them towards"
        " the bad state: by induction on the distance N has one.",
        f"{MILNER}; {FINKEL}; {TORRALBA}",
        AGREE + "test_dominance",
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "What is put into monotone sets goes first even where a shortest run would do without it.",
        FINKEL,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "it needs the length of a shortest run",
    ),
    Ask.END: _not_about_whole_runs(
        "A run that ends in s has a counterpart from t that may go on: where there is more to"
        " receive, more may be promised."
    ),
    Ask.ROUND: _not_about_whole_runs(
        "As above; and a simulation says nothing of which constraints are enabled."
    ),
    Ask.FOLLOWED: _not_about_whole_runs(
        "A simulation up to stuttering keeps what runs do, but not whether they are fair."
    ),
    Ask.FAIR: _not_about_whole_runs("As above: fair runs are not matched with fair ones."),
    Ask.PREMISE: TableEntry(
        Use.CONFIRMED,
        "All states of N are states of G. A premise that holds in a smaller set only may be passed"
        " by, so what never was true is asked again.",
        FINKEL,
        AGREE + "test_dominance",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "All steps of N are steps of G; what puts into a set what is there already is no step, so"
        " what was never seen to happen is asked again.",
        FINKEL,
        AGREE + "test_dominance",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "What reads a monotone set can't fail, and all else has the same value in x and in y where"
        " x <= y: a step that fails in x fails in y. So failing is bad as in the first row."
        " Guessed capacities may have to be larger: they are no run-time errors.",
        f"{MILNER}; {FINKEL}",
        AGREE + "test_dominance",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has not all states.",
        FINKEL,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table has to have every state and every step.",
        FINKEL,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "What can be decided in a state can be in a larger one, and more may be; states that are"
        " passed by have a valence of their own.",
        FINKEL,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.NO,
        "What is put into sets goes first: a depth of N says nothing of that depth of G.",
        FINKEL,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "a depth limit is set",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "Such a run says unknown, and what it has found is a run of G.",
        FINKEL,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.NO,
        "The order compares whole states. Where a view leaves out a monotone set, a larger state"
        " may be taken for the one that it replaces, and nothing else is explored.",
        FINKEL,
        "instantiate/test_views.py::test_other_reductions_are_left_out_with_a_view",
        "the check has a view",
    ),
}

DOMINANCE = Reduction(NAME, "dominance", "por", COLUMN, analyse)
"""A successor that can do whatever the state can takes its place."""
