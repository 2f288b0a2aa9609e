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
        "Let x <= y if y has all that x has in monotone sets, and is equal otherwise. Steps"
        " find more in larger sets and leave more there, and nothing else reads them, so <= is a"
        " simulation up to stuttering; if the bad condition holds in x, it holds in y. So a bad"
        " state is no further from y than from x. A successor t of s with s <= t is explored"
        " alone, since a bad state is no further from t than from s. It is strictly larger than"
        " s, and sets are finite, so after finitely many such steps all steps are explored, one"
        " of them towards the bad state: by induction on the distance N has one.",
        f"{MILNER}; {FINKEL}; {TORRALBA}",
        AGREE + "test_dominance",
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "Steps that add to monotone sets go first even if a shortest run would omit them.",
        FINKEL,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "it needs the length of a shortest run",
    ),
    Ask.END: _not_about_whole_runs(
        "A run that ends in s has a counterpart from t that may go on: with more to receive,"
        " fairness may require more."
    ),
    Ask.ROUND: _not_about_whole_runs(
        "As above; and a simulation says nothing about which constraints are enabled."
    ),
    Ask.FOLLOWED: _not_about_whole_runs(
        "A simulation up to stuttering preserves what runs do, but not whether they are fair."
    ),
    Ask.FAIR: _not_about_whole_runs("As above: fair runs are not matched with fair ones."),
    Ask.PREMISE: TableEntry(
        Use.CONFIRMED,
        "All states of N are states of G. A premise that holds only with a smaller set may be"
        " missed, so one that was never true is searched for again.",
        FINKEL,
        AGREE + "test_dominance",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "All steps of N are steps of G; adding an element that a set already has is not a step,"
        " so an event that was never seen is searched for again.",
        FINKEL,
        AGREE + "test_dominance",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "An expression that reads a monotone set can't fail, and all others have the same value"
        " in x and in y if x <= y: a step that fails in x fails in y. So failing is bad as in"
        " the first row. Guessed capacities may have to be larger: they are not run-time errors.",
        f"{MILNER}; {FINKEL}",
        AGREE + "test_dominance",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N lacks some of the states.",
        FINKEL,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table must contain every state and every step.",
        FINKEL,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "Whatever can be decided in a state can be decided in a larger one, and perhaps more;"
        " skipped states have their own valence.",
        FINKEL,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.NO,
        "Steps that add to sets go first: a depth of N says nothing about that depth of G.",
        FINKEL,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "a depth limit is set",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "The verdict is then unknown, and any counterexample is a run of G.",
        FINKEL,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.NO,
        "The order compares whole states. If a view leaves out a monotone set, a larger state"
        " may be identified with the one that it replaces, and nothing else is explored.",
        FINKEL,
        "instantiate/test_views.py::test_other_reductions_are_left_out_with_a_view",
        "the check has a view",
    ),
}

DOMINANCE = Reduction(NAME, "dominance", "por", COLUMN, analyse)
"""Replaces a state by a successor that can do everything that it can."""
