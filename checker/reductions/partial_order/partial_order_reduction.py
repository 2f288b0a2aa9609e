"""Ample sets as a reduction: a step that commutes with all that may follow goes first."""

from __future__ import annotations

from checker.model.ir import TransitionSystem
from checker.reductions.contract import GOES_ROUND, Ask, Found, Reduction, TableEntry, Use
from checker.reductions.partial_order import ample_sets
from checker.reductions.reduction_plan import PlanPart

NAME = "por"

AGREE = "agreement/test_reductions.py::"
VALMARI = "Valmari 1990"
PELED = "Peled 1994"
GODEFROID = "Godefroid 1996"
HOLZMANN = "Bosnacki and Holzmann 2005"

KEPT = "no step meets the constraint of an eager one and leaves the state as it is"
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
        "Where an instance is eager, every run that goes on without it commutes with it, step by"
        " step: it can be taken first, and what came first still follows. Taken first it leads"
        " past the states between, whose values differ by that step only: the condition does not"
        " see it, or it can only make the condition true, so that it is seen behind. No cycle"
        " consists of eager steps alone (each sets what none of them sets back, or takes a message"
        " and sends none), so that nothing is put off forever.",
        f"{PELED}; {GODEFROID}; {HOLZMANN}",
        AGREE + "test_partial_order",
        where=UNSEEN,
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "An eager step goes before others even where a shortest run would do without it.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "it needs the length of a shortest run",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "An eager instance stays enabled, promised, and leads elsewhere as long as it is not"
        " taken, and staying where one is keeps no promise in its place. So no run ends without it:"
        " every run to an end contains it and may take it first"
        " and end in the same state. By induction on its length N has a run to the same end. If G"
        " had a run that goes on forever so would N (take the eager step first, the rest goes"
        " on), so an acyclic N is enough to know that G is.",
        f"{VALMARI}; {GODEFROID}",
        AGREE + "test_partial_order",
        where=KEPT,
    ),
    Ask.ROUND: TableEntry(
        Use.NO,
        "Fairness counts steps of single processes that are invisible otherwise; ample sets keep"
        " runs up to stuttering, and whether a run is fair is not kept with it.",
        f"{PELED} (fairness makes every step visible)",
        AGREE + "test_partial_order_is_given_up_where_runs_go_round",
        GOES_ROUND,
    ),
    Ask.FOLLOWED: TableEntry(
        Use.NO,
        "All propositions of the formula would have to be unseen by eager steps, and its runs be"
        " kept up to stuttering together with their fairness; that is not proven here.",
        PELED,
        "reductions/test_table.py::test_what_is_followed_needs_all_steps",
        "`{name}` is monitored from the initial states",
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
        "All states of N are states of G. A premise that holds on the way only may be passed by,"
        " so what never was true is asked again.",
        GODEFROID,
        AGREE + "test_partial_order",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "All steps of N are steps of G; what was never seen to happen is asked again.",
        GODEFROID,
        AGREE + "test_partial_order",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "An eager instance can't fail, and what it writes decides of no other step whether it"
        " fails. So a step that fails in G, reached without the eager one, fails behind it as"
        " well; by induction on the length of the run to it N has a state in which it fails.",
        f"{VALMARI}; {GODEFROID}",
        AGREE + "test_partial_order",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has not all states.",
        GODEFROID,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table has to have every state and every step.",
        GODEFROID,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "A state is critical if each of its steps decides, and with an ample set it has not all of"
        " them; states between two steps that commute are left out, and were to be counted.",
        GODEFROID,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.NO,
        "Eager steps go first: what happens at a depth in G may come later in N, so a depth of N"
        " says nothing of that depth of G.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "a depth limit is set",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "Such a run says unknown, and what it has found is a run of G.",
        GODEFROID,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.NO,
        "Steps commute up to whole states. Of two orders that a view takes for one, one may be"
        " cut off where another state was found first, and the eager step is not tried again.",
        GODEFROID,
        "instantiate/test_views.py::test_other_reductions_are_left_out_with_a_view",
        "the check has a view",
    ),
}

PARTIAL_ORDER = Reduction(NAME, "partial order", "por", COLUMN, analyse)
