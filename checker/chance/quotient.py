"""The quotient of a decision process by its end components, for reaching a target.

States from which the target is reached with probability 1, or can't be reached, become one state
each; every maximal end component of the others becomes one, with the choices that may leave it (de
Alfaro 1997, 3.3.2; Haddad and Monmege 2018).  What the best scheduler attains is the same.  The
quotient has no end components: every scheduler leaves the states in between with probability 1, so
the equations of optimality have one solution.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from checker.chance.graph import Closure, Part, ProcessGraph
from checker.chance.kernels import kernels, numbers, words
from checker.chance.native_graph import INSIDE, KEPT, NONE, OUT


class Arrays(Struct, frozen=True):
    """Choices and branches in compressed rows, numbers of 32 bits, probabilities of 64
    (:mod:`checker.chance.native_sweeps`)."""

    first: array[Any]
    branch_first: array[Any]
    successor: array[Any]
    probability: array[Any]

    @property
    def given(self) -> tuple[array[Any], ...]:
        """The arrays as sweeps take them."""
        return self.first, self.branch_first, self.successor, self.probability


class Quotient(Struct, frozen=True):
    """States ``0 .. numbered - 1``, a component's (``bounds``) after those that it can reach; then
    ``numbered``, where the target is reached almost surely, and ``numbered + 1``, where it is not.

    ``classes``: the state of the quotient for each state of the process; ``origin``: the choice of
    the process for each choice; ``members`` of class ``k``: from ``start[k]`` to ``start[k + 1]``.
    ``sure``: the states that became the target, and how each comes there; ``inner``: the end
    components that became one state each.
    """

    classes: array[Any]
    numbered: int
    bounds: array[Any]
    components: int
    start: array[Any]
    members: array[Any]
    arrays: Arrays
    origin: array[Any]
    sure: Closure
    inner: Part

    def is_several(self, number: int) -> bool:
        """Returns whether a state of the quotient is more than one state of the process."""
        return bool(self.start[number + 1] - self.start[number] > 1)

    def choices_of(self, number: int) -> range:
        """Returns the choices of a state of the quotient."""
        return range(self.arrays.first[number], self.arrays.first[number + 1])


def collapse(
    graph: ProcessGraph,
    part: Part,
    between: array[int],
    sure: Closure,
    loops: Part,
    *,
    keep_self: bool = False,
) -> Quotient:
    """Returns the quotient of a part.

    ``between``: INSIDE for the states that become states in between; ``sure``: those that become
    the target; ``loops``: where end components are looked for that become one state each.
    ``keep_self``: choices that stay in their class with some probability keep that branch.
    """
    p, run = graph.process, kernels()
    within = Part(between, part.choices)
    order = graph.components(within)
    inner, ends = graph.end_components(loops)
    numbered = order.ordered - (p.states - inner.states.count(OUT)) + ends.count
    classes, bounds = numbers(p.states, numbered + 1), numbers(order.count + 1)
    named = numbers(max(ends.count, 1), NONE)
    given = order.order, order.of, ends.of, named, classes, bounds, order.ordered
    found = run("classify", *given)
    assert found == numbered
    run("fill", sure.status, classes, p.states, KEPT, numbered)
    start, members = numbers(numbered + 2), numbers(max(order.ordered, 1))
    run("gather", order.order, classes, start, members, order.ordered, numbered)
    room = numbers(numbered + 1), numbers(p.choices + 1), numbers(p.branches), words(p.branches)
    origin = words(p.choices)
    forward = p.first_choice, p.first_branch, p.target, p.weight, part.choices
    run("collapse", *forward, classes, start, members, *room, origin, numbered, int(keep_self))
    found_at = start, members, Arrays(*room), origin
    return Quotient(classes, numbered, bounds, order.count, *found_at, sure, inner)


def for_reaching(graph: ProcessGraph, part: Part, targets: Iterable[int]) -> Quotient:
    """Returns the quotient for the maximal probability of reaching ``targets`` in ``part``."""
    goals = list(targets)
    some = graph.reaching(goals, part)
    sure, _ = graph.almost_surely_reaching(goals, part)
    between = array(
        "B",
        bytes(
            INSIDE if may == KEPT and must != KEPT else OUT
            for may, must in zip(some.status, sure.status, strict=True)
        ),
    )
    return collapse(graph, part, between, sure, Part(between, part.choices))
