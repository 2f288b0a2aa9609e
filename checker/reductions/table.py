"""The table of which reduction is used for which query, and why that is sound.

:mod:`checker.reductions.choose` takes its decisions from it, the page on reductions its content.
The proofs cite their sources; the tests are named cell by cell.

In the proofs ``G`` is the graph of all reachable states and their steps, where a step always leads
to another state (:mod:`checker.system.ir`), and ``N`` what is explored instead: orbits (symmetry),
states whose dead parts are reset (dead parts), the same states with fewer steps (partial order).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from checker.reductions.reduction_plan import Kind


class Ask(Enum):
    """The queries; the value describes each in words."""

    EVERY = "what must hold in every state"
    LENGTH = "the length of a shortest run to a bad state, the depth"
    END = "what must come true (`eventually`, `~>` over growing histories), no run goes round"
    ROUND = "the same where some run goes round"
    FOLLOWED = "any other formula about whole runs: it is followed from where runs start"
    FAIR = "whether any run is fair"
    PREMISE = "whether a premise ever holds"
    HAPPENS = "what happens at all: handlers that run, messages that are sent"
    FAULT = "errors of the run"
    STATES = "the number of states"
    COVERAGE = "coverage, tables of all states"
    DEPTH = "what is said up to `--max-depth`"
    BUDGET = "what is said where another budget ends the run"


class Use(Enum):
    """Whether a reduction is used for a query."""

    PROVEN = "yes"
    ACYCLIC = "where no run goes round"  # an engine that finds a cycle starts again without it
    CONFIRMED = "yes; what never was is confirmed without"
    NO = "no"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """``why``: the reason given where it is not used, or where there is a cycle; ``proof``: a
    sketch, or the argument that fails; ``where``: a further condition that is decided for each
    system; ``test``: what checks the cell, as ``file::function`` below ``tests/``.
    """

    use: Use
    proof: str
    source: str
    test: str
    why: str = ""
    where: str = ""


AGREE = "agreement/test_reductions.py::"
IP = "Ip and Dill 1996"
CLARKE = "Clarke, Enders, Filkorn, Jha 1996"
EMERSON = "Emerson and Sistla 1997"
LIVE = "Bozga, Fernandez, Ghirvu 1999"
STUTTER = "Namjoshi 1997"
VALMARI = "Valmari 1990"
PELED = "Peled 1994"
GODEFROID = "Godefroid 1996"
HOLZMANN = "Bosnacki and Holzmann 2005"
LAMPORT = "Lamport 1983"

GOES_ROUND = "some run goes round for ever"
KEPT = "no step keeps the promise of an eager one and leaves the state as it is"
UNSEEN = (
    "an eager step writes nothing that the condition reads, or the condition, once true, stays true"
)

_SYMMETRY = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "Every renaming of the group maps initial states to initial states and steps to steps, so"
        " it maps G onto itself. The bad condition names no atom that is renamed: it has one value"
        " in an orbit. So some member of an orbit is bad and reachable exactly when all of them"
        " are, and N has a node for each orbit of G.",
        f"{IP}; {CLARKE}",
        AGREE + "test_symmetry",
    ),
    Ask.LENGTH: TableEntry(
        Use.PROVEN,
        "A renaming maps a run to a run of the same length and initial states to initial states,"
        " so all members of an orbit are as far from where runs start. A path of N lifts to a run"
        " of G from any member of its first orbit, step by step. So the levels of N are the orbits"
        " of the levels of G, the last one included.",
        IP,
        AGREE + "test_symmetry_keeps_lengths",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "What is promised, and justice, are renamed with the state, so a whole orbit ends or none"
        " of it does. The condition that lasts is asked for some assignment of the parameters;"
        " their domains are closed under the group, so it has one value in an orbit. Without"
        " cycles a fair run is one that ends, and ends are reached as in the first row. The"
        " parameters of the violation are computed again for the run that is shown. A step to"
        " another member of the same orbit is a loop of N, so N has no cycle only where G has"
        " none.",
        f"{EMERSON}; {IP}",
        AGREE + "test_symmetry",
    ),
    Ask.ROUND: TableEntry(
        Use.NO,
        "In a loop of N the names may be turned round each time: a constraint that is taken in"
        " every round of it may be another process's each time, and what lasts for one assignment"
        " may last for none. Fairness of single processes can't be seen in N (it needs the group's"
        " elements on the edges, which is not built).",
        f"{EMERSON} (what it would take)",
        AGREE + "test_symmetry_is_given_up_where_runs_go_round",
        GOES_ROUND,
    ),
    Ask.FOLLOWED: TableEntry(
        Use.NO,
        "The automaton reads the propositions of one assignment of the parameters along a run; a"
        " path of N changes names from step to step, so the assignment would have to be renamed"
        " with it.",
        EMERSON,
        "reductions/test_table.py::test_what_is_followed_needs_all_steps",
        "`{name}` is followed from where runs start",
    ),
    Ask.FAIR: TableEntry(
        Use.ACYCLIC,
        "Without cycles a fair run is one that ends, and a whole orbit ends or none of it does."
        " Where runs go round see above.",
        EMERSON,
        AGREE + "test_symmetry",
        GOES_ROUND,
    ),
    Ask.PREMISE: TableEntry(
        Use.PROVEN,
        "As the first row: the premise has one value in an orbit.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.HAPPENS: TableEntry(
        Use.PROVEN,
        "A mark is a statement. The renamed step runs the same statements with renamed values, so"
        " the marks that are passed are the same in a whole orbit.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "The renamed instance fails where the instance does: the statements are the same, and"
        " whatever is evaluated in order of rank and could fail loses its sort the symmetry. So a"
        " whole orbit fails or none of it does, at the same distance.",
        IP,
        AGREE + "test_symmetry",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has orbits, and their number is another one.",
        IP,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "the number of states is asked for",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table has to have every state and every step.",
        IP,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "the number of states is asked for",
    ),
    Ask.DEPTH: TableEntry(
        Use.PROVEN,
        "The levels of N are the orbits of those of G: what was seen up to a depth in N was seen"
        " up to that depth in G, and the level after it is empty in both or in none.",
        IP,
        AGREE + "test_symmetry_keeps_lengths",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "Such a run says unknown, and what it has found is made again in the system itself."
        " Nothing is said of what was not explored.",
        IP,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
}

_DEAD = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "A dead part is read by nothing that can still happen, so a state and the one with the"
        " part at rest have the same steps, up to dead parts: the relation is a bisimulation in"
        " which steps of dead parts only are stuttering. The bad condition reads no dead part. So"
        " it holds in some state of G exactly when it holds in its node of N.",
        f"{LIVE}; {STUTTER}",
        AGREE + "test_dead_parts",
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "Steps that change dead parts only lead to the same node of N, so runs of N are shorter.",
        STUTTER,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "the length of a shortest run is asked for",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "A step of dead parts only leads in N from a node to itself, and takes its constraint there"
        " as it does in G: the instances of a state and of its node are the same, but for those"
        " that receive dead messages, each of which is a promise of its own that is not owed in N."
        " So a fair run of G that stays in a node for ever keeps all promises that are owed in N by"
        " such steps, and the node is an end. The other way, in G they can be taken again and"
        " again, and dead messages be received in between: a fair run that stays in the node.",
        f"{STUTTER}; {LIVE}",
        AGREE + "test_dead_parts",
    ),
    Ask.ROUND: TableEntry(
        Use.PROVEN,
        "As above: a run of G without its receptions of dead messages is a run of N that takes the"
        " same constraints, those of steps that lead from a node to itself included; and what is"
        " enabled is the same, but for dead messages, which stay dead. So the one is fair where the"
        " other is, receptions of dead messages put in where they are owed.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.FOLLOWED: TableEntry(
        Use.PROVEN,
        "Formulas have no `next`, so they can't tell a run from one that stutters; propositions"
        " read no dead part. Fair runs are matched as in the rows above.",
        f"{LAMPORT}; {STUTTER}",
        AGREE + "test_dead_parts",
    ),
    Ask.FAIR: TableEntry(
        Use.PROVEN,
        "Fair runs of G and of N are matched as in the rows on what must come true.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.PREMISE: TableEntry(
        Use.PROVEN,
        "As the first row: the premise reads no dead part.",
        LIVE,
        AGREE + "test_dead_parts",
    ),
    Ask.HAPPENS: TableEntry(
        Use.CONFIRMED,
        "Whatever runs in N runs in G. A step that nobody notices, such as the reception of a"
        " message that no handler can take any more, may be missing in N, so what was never seen"
        " to happen is asked again.",
        STUTTER,
        AGREE + "test_dead_parts",
    ),
    Ask.FAULT: TableEntry(
        Use.PROVEN,
        "What decides whether a step fails is read by it, so it is not dead; and a step that can"
        " fail is never left out as one of dead parts only. Guessed capacities may suffice longer:"
        " they are no errors of the run.",
        LIVE,
        AGREE + "test_dead_parts",
    ),
    Ask.STATES: TableEntry(
        Use.NO,
        "N has one node for all states that differ in dead parts only.",
        LIVE,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "the number of states is asked for",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table has to have every state and every step.",
        LIVE,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "the number of states is asked for",
    ),
    Ask.DEPTH: TableEntry(
        Use.PROVEN,
        "A run of G without its stuttering is a run of N that is no longer: each state of G up to"
        " a depth has its node in N up to that depth.",
        STUTTER,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "Such a run says unknown, and what it has found is made again in the system itself.",
        STUTTER,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
}

_ORDER = {
    Ask.EVERY: TableEntry(
        Use.PROVEN,
        "Where an instance is eager, every run that goes on without it commutes with it, step by"
        " step: it can be taken first, and what came first still follows. Taken first it leads"
        " past the states between, whose values differ by that step only: the condition does not"
        " see it, or it can only make the condition true, so that it is seen behind. No run goes"
        " round by eager steps alone (each sets what none of them sets back, or takes a message"
        " and sends none), so that nothing is put off for ever.",
        f"{PELED}; {GODEFROID}; {HOLZMANN}",
        AGREE + "test_partial_order",
        where=UNSEEN,
    ),
    Ask.LENGTH: TableEntry(
        Use.NO,
        "An eager step goes before others even where a shortest run would do without it.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "the length of a shortest run is asked for",
    ),
    Ask.END: TableEntry(
        Use.PROVEN,
        "An eager instance stays enabled, promised, and leads elsewhere as long as it is not"
        " taken, and staying where one is keeps no promise in its place. So no run ends without it:"
        " every run to an end contains it and may take it first"
        " and end in the same state. By induction on its length N has a run to the same end. If G"
        " had a run that goes on for ever so would N (take the eager step first, the rest goes"
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
        "`{name}` is followed from where runs start",
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
        "the number of states is asked for",
    ),
    Ask.COVERAGE: TableEntry(
        Use.NO,
        "A table has to have every state and every step.",
        GODEFROID,
        "reductions/test_table.py::test_numbers_of_states_are_those_of_all_states",
        "the number of states is asked for",
    ),
    Ask.DEPTH: TableEntry(
        Use.NO,
        "Eager steps go first: what happens at a depth in G may come later in N, so a depth of N"
        " says nothing of that depth of G.",
        GODEFROID,
        "reductions/test_table.py::test_lengths_are_those_of_all_steps",
        "a limit of depth is given",
    ),
    Ask.BUDGET: TableEntry(
        Use.PROVEN,
        "Such a run says unknown, and what it has found is a run of G.",
        GODEFROID,
        AGREE + "test_budgets_say_unknown_or_the_truth",
    ),
}

TABLE: dict[Kind, dict[Ask, TableEntry]] = {
    Kind.SYMMETRY: _SYMMETRY,
    Kind.DEAD: _DEAD,
    Kind.ORDER: _ORDER,
}
"""The proven cells, of each reduction for each query."""


def against(kind: Kind, asked: Iterable[tuple[Ask, str]]) -> Iterator[str]:
    """The reasons, in words, why ``kind`` is not used for the queries, each once.

    ``asked``: queries, each with the name of the property that makes it (or nothing).
    """
    reasons = (
        TABLE[kind][ask].why.format(name=name)
        for ask, name in asked
        if TABLE[kind][ask].use is Use.NO
    )
    return iter(dict.fromkeys(reasons))


def shows_all(used: Iterable[str]) -> bool:
    """Whether all behaviour remains observable with these reductions, given by their names."""
    return all(TABLE[Kind(name)][Ask.HAPPENS].use is Use.PROVEN for name in used)


def markdown() -> list[str]:
    """The table, line by line; the proofs below, one for each cell."""
    kinds = list(TABLE)
    lines = [f"| | {' | '.join(_TITLES[kind] for kind in kinds)} |", f"|---|{'---|' * len(kinds)}"]
    for ask in Ask:
        cells = " | ".join(_cell_text(TABLE[kind][ask]) for kind in kinds)
        lines.append(f"| {ask.value} | {cells} |")
    for kind in kinds:
        lines += ["", f"### {_TITLES[kind].capitalize()}"]
        for ask, cell in TABLE[kind].items():
            where = f" Where {cell.where}." if cell.where else ""
            lines += ["", f"**{ask.value.capitalize()}**: {cell.use.value}.{where} {cell.proof}"]
            lines.append(f"({cell.source}; `tests/{cell.test}`)")
    return lines


_TITLES = {Kind.SYMMETRY: "symmetry", Kind.DEAD: "dead parts", Kind.ORDER: "partial order"}


def _cell_text(cell: TableEntry) -> str:
    return cell.use.value + (" (1)" if cell.where == UNSEEN else " (2)" if cell.where else "")
