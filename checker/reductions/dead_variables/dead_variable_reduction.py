"""The reset of dead values as a reduction."""

from __future__ import annotations

from checker.model.ir import TransitionSystem
from checker.reductions.contract import Ask, Found, Reduction, TableEntry, Use
from checker.reductions.dead_variables import analysis
from checker.reductions.reduction_plan import PlanPart

NAME = "dead"

AGREE = "agreement/test_reductions.py::"
LIVE = "Bozga, Fernandez, Ghirvu 1999"
STUTTER = "Namjoshi 1997"
LAMPORT = "Lamport 1983"


def analyse(system: TransitionSystem) -> Found:
    """The statements that reset parts that will not be read again."""
    block, reasons = analysis.find_dead(system)
    return (PlanPart(NAME, resets=block) if block else None), reasons


COLUMN = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "No step that can still happen reads a dead part, so a state and the same state with"
        " that part reset have the same steps, up to dead parts: the relation is a bisimulation"
        " in which steps that change only dead parts stutter. The bad condition reads no dead"
        " part. So it holds in some state of G exactly when it holds in its node of N. Dead"
        " messages ahead of others in a queue are received first, without effect; part of a"
        " queue is dead only if it is so whichever of its messages is received.",
        f"{LIVE}; {STUTTER}",
        AGREE + "test_dead_parts",
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "Steps that change only dead parts lead to the same node of N, so runs of N are shorter.",
        STUTTER,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "it needs the length of a shortest run",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "A step that changes only dead parts is a self-loop in N, and takes its constraint"
        " there as in G: a state and its node have the same instances, except those that receive"
        " dead messages, each of which has no constraint, or a separate one that is not enabled"
        " in N. So a fair run of G that stays in a node forever meets all constraints that are"
        " enabled in N by such steps, and the node is an end. Conversely, in G they can be taken"
        " again and again, with dead messages received in between: a fair run that stays in the"
        " node. (If fairness requires no reception from a set, sending into it changes it"
        " finitely often; then such a step leaves the state of G unchanged, too.)",
        f"{STUTTER}; {LIVE}",
        AGREE + "test_dead_parts",
    ),
    Ask.ROUND: TableEntry(
        Use.PROVEN,
        "As above: a run of G without its receptions of dead messages is a run of N that takes"
        " the same constraints, including those of self-loops; and the same instances are"
        " enabled, except for dead messages, which stay dead. So one is fair exactly when the"
        " other is, with receptions of dead messages inserted where their constraint is enabled.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.FOLLOWED: TableEntry(
        Use.PROVEN,
        "Formulas have no `next`, so they can't distinguish a run from one that stutters;"
        " propositions read no dead part. Fair runs are matched as in the rows above.",
        f"{LAMPORT}; {STUTTER}",
        AGREE + "test_dead_parts",
    ),
    Ask.FAIR: TableEntry(
        Use.PROVEN,
        "Fair runs of G and of N are matched as in the rows on liveness.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.PREMISE: TableEntry(
        Use.PROVEN,
        "As in the first row: the premise reads no dead part.",
        LIVE,
        AGREE + "test_dead_parts",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "Whatever runs in N runs in G. A step without observable effect, such as the reception"
        " of a message that no handler can take any more, may be missing in N, so an event that"
        " was never seen is searched for again.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "A step reads everything that decides whether it fails, so none of that is dead; and a"
        " step that can fail is never omitted as one that changes only dead parts. So a step"
        " that fails in a state fails in its node. Conversely, a step that fails in a node fails"
        " in G as well, after the dead messages ahead of the one that it takes have been"
        " received, which changes nothing else: the run shown receives them. Guessed capacities"
        " may suffice longer: they are not run-time errors.",
        LIVE,
        AGREE + "test_dead_parts",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has one node for all states that differ only in dead parts.",
        LIVE,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table must contain every state and every step.",
        LIVE,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "The same values can be decided in a state and in its node, but states are counted, by"
        " level and by valence, and N has others.",
        LIVE,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.PROVEN,
        "A run of G without its stuttering is a run of N, and no longer: each state of G up to"
        " a depth has its node in N up to that depth.",
        STUTTER,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "The verdict is then unknown, and any counterexample is replayed in the unreduced system.",
        STUTTER,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.NO,
        "The terms of a view read variables that no step reads any more; and they are only"
        " written, so they would be dead themselves.",
        LIVE,
        "instantiate/test_views.py::test_other_reductions_are_left_out_with_a_view",
        "the check has a view",
    ),
}

DEAD_VALUES = Reduction(NAME, "dead values", "por", COLUMN, analyse)
