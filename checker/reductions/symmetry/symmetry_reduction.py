"""Symmetry as a reduction: one state of each orbit is explored."""

from __future__ import annotations

from checker.model.ir import TransitionSystem
from checker.reductions.contract import GOES_ROUND, Ask, Found, Reduction, TableEntry, Use
from checker.reductions.reduction_plan import PlanPart
from checker.reductions.symmetry import automorphisms
from checker.reductions.symmetry.monitored import KEPT, unmoved

NAME = "symmetry"

AGREE = "agreement/test_reductions.py::"
IP = "Ip and Dill 1996"
CLARKE = "Clarke, Enders, Filkorn, Jha 1996"
EMERSON = "Emerson and Sistla 1997"


def analyse(system: TransitionSystem) -> Found:
    """The group of renamings under which ``system`` is the same."""
    group, reasons = automorphisms.find_symmetry(system)
    if group is not None:
        group, more = unmoved(system, group)
        reasons += more
    return (None if group is None else PlanPart(NAME, symmetry=group, text=group.text)), reasons


COLUMN = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "Every renaming of the group maps initial states to initial states and steps to steps,"
        " so it maps G onto itself. The bad condition names no renamed atom: it has the same"
        " value throughout an orbit. So some member of an orbit is bad and reachable exactly"
        " when all of them are, and N has a node for each orbit of G.",
        f"{IP}; {CLARKE}",
        AGREE + "test_symmetry",
    ),
    Ask.LENGTH: TableEntry(
        Use.PROVEN,
        "A renaming maps a run to a run of the same length and initial states to initial"
        " states, so all members of an orbit have the same distance from the initial states. A"
        " path of N lifts to a run of G from any member of its first orbit, step by step. So the"
        " levels of N are the orbits of the levels of G, including the last one.",
        IP,
        AGREE + "test_symmetry_keeps_lengths",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "Promises and justice constraints are renamed with the state, so a whole orbit ends or"
        " none of it does. The condition that lasts is sought for some assignment of the"
        " parameters; their domains are closed under the group, so it has the same value"
        " throughout an orbit. Without cycles a fair run is one that ends, and ends are reached"
        " as in the first row. The parameters of the violation are recomputed for the run shown."
        " A step to another member of the same orbit is a loop of N, so N is acyclic only if G"
        " is.",
        f"{EMERSON}; {IP}",
        AGREE + "test_symmetry",
    ),
    Ask.ROUND: TableEntry(
        Use.UNFOLDED,
        "A cycle of N may permute the names each time: a constraint that it takes may belong to"
        " another process each time, and a condition that lasts may last for no single"
        " assignment. So cycles are unfolded. Let C be a strongly connected component of N, or of"
        " its states in which the condition lasts for some assignment, a set that is closed under"
        " the group; a step to another member of the same orbit is a cycle. Follow a cycle of N in"
        " G from a state s. It ends in a renaming p(s), and renamed by p it goes on to p(p(s)), so"
        " it returns to s: the group is finite. So the states of G whose orbits are in"
        " C form components that have a member of each of these orbits, and are renamings of one"
        " another; and each component of G with a cycle is one of them, for some C. So it suffices"
        " to search G, with the plan that is proven for cycles, from one state of each C, among"
        " states whose orbits are in such components: each fair cycle of G is there, up to a"
        " renaming, which maps assignments to assignments. Conversely all steps of these states"
        " are known, so a fair cycle found there is one of G. The run to it is that of N to its"
        " first state; the cycle is renamed so that it begins where that run ends in G. If the run"
        " is bounded by a view, or if most states lie in such components, symmetry is given up.",
        EMERSON,
        AGREE + "test_symmetry_unfolds_cycles",
        GOES_ROUND,
    ),
    Ask.FOLLOWED: TableEntry(
        Use.ACYCLIC,
        "Let the group of N be such that each assignment of the parameters can be renamed, in the"
        " larger group of all renamings of the system, to one that no renaming of N changes; only"
        " the latter are examined. A system violates the formula for an assignment exactly when it"
        " does for a renamed one: runs, their fairness and the propositions are renamed with it."
        " For an assignment that N keeps, each proposition has the same value throughout an orbit."
        " So a run of G and its path of N have the same letters, and the automaton, whose states"
        " name no atom, can do the same on both; a path of N lifts to a run of G with these"
        " letters. Without cycles a fair run is one that ends, and a whole orbit ends or none of it"
        " does, so an end is reached with an automaton state that accepts in N exactly when it is"
        " in G, and as soon. On a cycle of N fairness may need other names each time; unfolding is"
        " not proven for pairs with an automaton state, so symmetry is given up.",
        EMERSON,
        AGREE + "test_symmetry_with_a_monitor",
        GOES_ROUND,
        KEPT,
    ),
    Ask.FAIR: TableEntry(
        Use.UNFOLDED,
        "Without cycles a fair run is one that ends, and a whole orbit ends or none of it does."
        " If no run ends, some component of N has no step that leaves it, and so has the component"
        " of G that it stands for. Each constraint that is enabled there is taken there, so without"
        " justice conditions a run that visits all of it is fair. Otherwise, and if runs end at a"
        " bound, all cycles are unfolded, as in the row on cycles.",
        EMERSON,
        AGREE + "test_symmetry_unfolds_cycles",
        GOES_ROUND,
    ),
    Ask.PREMISE: TableEntry(
        Use.PROVEN,
        "As in the first row: the premise has the same value throughout an orbit.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.HAPPENS: TableEntry(
        Use.PROVEN,
        "A mark is a statement. The renamed step runs the same statements with renamed values,"
        " so a whole orbit passes the same marks.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "The renamed instance fails where the instance does: the statements are the same, and a"
        " sort is not symmetric if something that could fail is evaluated in order of its ranks."
        " So a whole orbit fails or none of it does, at the same distance.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has orbits, whose number differs.",
        IP,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table must contain every state and every step.",
        IP,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "it needs the number of states",
    ),
    Ask.VALENCE: TableEntry(
        Use.NO,
        "That a value is decided names the value, and what can be decided without a process"
        " names the process: neither is the same throughout an orbit. Both would have to be"
        " renamed with states.",
        IP,
        "valence/test_all_states.py::test_no_reduction_is_used",
        "it needs every state",
    ),
    Ask.DEPTH: TableEntry(
        Use.PROVEN,
        "The levels of N are the orbits of those of G: what was seen up to a depth in N was"
        " seen up to that depth in G, and the level after it is empty in both or in neither.",
        IP,
        AGREE + "test_symmetry_keeps_lengths",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "The verdict is then unknown, and any counterexample is replayed in the unreduced"
        " system. Nothing is claimed about unexplored states.",
        IP,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.VIEW: TableEntry(
        Use.PROVEN,
        "The terms of a view are variables that every step computes, so a renaming of the group"
        " maps them with the state; one that they distinguish is in no group. Two members of an"
        " orbit have the same runs, up to names. So one may stand for the other, and the view"
        " identifies only such representatives: each stored state is reachable, up to names, and"
        " the verdict claims no more than *within the view*.",
        IP,
        "instantiate/test_views.py::test_symmetry_goes_with_a_view",
    ),
}

SYMMETRY = Reduction(NAME, "symmetry", "symmetry", COLUMN, analyse)
