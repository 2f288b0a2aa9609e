"""Ample sets as a reduction: a step that commutes with all later ones goes first."""

from __future__ import annotations

from checker.model.ir import TransitionSystem
from checker.reductions.contract import (
    GOES_ROUND,
    MONITORED,
    Ask,
    Found,
    Reduction,
    TableEntry,
    Use,
)
from checker.reductions.partial_order import ample_sets
from checker.reductions.reduction_plan import PlanPart

NAME = "por"

AGREE = "agreement/test_reductions.py::"
VALMARI = "Valmari 1990"
PELED = "Peled 1994"
GODEFROID = "Godefroid 1996"
HOLZMANN = "Bosnacki and Holzmann 2005"

KEPT = "no step satisfies the constraint of an eager one without changing the state"
UNSEEN = (
    "an eager step writes nothing that the condition reads, or the condition, once true, stays true"
)


def analyse(system: TransitionSystem) -> Found:
    """The actions of which an instance may be explored alone."""
    eager, reasons = ample_sets.find_ample(system)
    return (PlanPart(NAME, ample_actions=eager) if eager else None), reasons


COLUMN = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "Every run that goes on without an eager instance commutes with it, step by step: the"
        " instance can be taken first, and the earlier steps still follow. Taken first it skips"
        " the states in between, whose values differ by that step only: the condition does not"
        " read them, or the step can only make the condition true, so that this is seen"
        " afterwards. No cycle consists of eager steps alone (each sets something that none of"
        " them resets, or takes a message and sends none), so no step is postponed forever.",
        f"{PELED}; {GODEFROID}; {HOLZMANN}",
        AGREE + "test_partial_order",
        where=UNSEEN,
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "An eager step goes first even if a shortest run would omit it.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "it needs the length of a shortest run",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "Until it is taken, an eager instance stays enabled, its constraint requires it, and it"
        " leads to another state; a step that changes nothing does not satisfy the constraint."
        " So no run ends without it: every run to an end contains it, and may take it first and"
        " end in the same state. By induction on the length, N has a run to the same end. If G"
        " had an infinite run so would N (take the eager step first, the rest follows), so if N"
        " is acyclic, so is G.",
        f"{VALMARI}; {GODEFROID}",
        AGREE + "test_partial_order",
        where=KEPT,
    ),
    Ask.ROUND: TableEntry(
        Use.NO,
        "Fairness counts steps of single processes, which are invisible otherwise; ample sets"
        " preserve runs up to stuttering, but not whether a run is fair.",
        f"{PELED} (fairness makes every step visible)",
        AGREE + "test_partial_order_is_given_up_where_runs_go_round",
        GOES_ROUND,
    ),
    Ask.FOLLOWED: TableEntry(
        Use.NO,
        "Eager steps would have to be invisible to all propositions of the formula, and its"
        " runs preserved up to stuttering together with their fairness; that is not proven here.",
        PELED,
        "reductions/test_table.py::test_what_is_followed_needs_all_steps",
        MONITORED,
    ),
    Ask.FAIR: TableEntry(
        Use.ACYCLIC,
        "Without cycles a fair run is one that ends, and all ends are reached.",
        VALMARI,
        AGREE + "test_partial_order",
        GOES_ROUND,
    ),
    Ask.PREMISE: TableEntry(
        Use.CONFIRMED,
        "All states of N are states of G. A premise that holds only in skipped states may be"
        " missed, so one that was never true is searched for again.",
        GODEFROID,
        AGREE + "test_partial_order",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "All steps of N are steps of G; an event that was never seen is searched for again.",
        GODEFROID,
        AGREE + "test_partial_order",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "An eager instance can't fail, and what it writes does not decide whether another step"
        " fails. So a step that fails in G, reached without the eager one, also fails after it;"
        " by induction on the length of the run to it N has a state in which it fails.",
        f"{VALMARI}; {GODEFROID}",
        AGREE + "test_partial_order",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N lacks some of the states.",
        GODEFROID,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table must contain every state and every step.",
        GODEFROID,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "A state is critical if each of its steps decides, and an ample set has only some of"
        " them; states between two steps that commute are omitted, but would have to be counted.",
        GODEFROID,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.NO,
        "Eager steps go first: what happens at a depth in G may come later in N, so a depth of"
        " N says nothing about that depth of G.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "a depth limit is set",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "The verdict is then unknown, and any counterexample is a run of G.",
        GODEFROID,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.NO,
        "Steps commute only on whole states. Of two orders that a view identifies, one may be"
        " cut off where another state was found first, and the eager step is not tried again.",
        GODEFROID,
        "instantiate/test_views.py::test_other_reductions_are_left_out_with_a_view",
        "the check has a view",
    ),
}

PARTIAL_ORDER = Reduction(NAME, "partial order", "por", COLUMN, analyse)
