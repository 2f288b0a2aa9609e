"""The tree of an adversary's runs as it is drawn: a visit that several branches lead to stands
where it is met first, by the number of coins, and the others refer to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct, field

from checker.results.chance import ChanceBranch, Visit


class Node(Struct):
    """A visit with its ``number``, and what follows on each of its branches."""

    number: int
    visit: Visit
    branches: list[Edge] = field(default_factory=list)


class Edge(Struct, frozen=True):
    """A branch, the probability of the run ``so_far``, and what follows (``None``: it is drawn
    elsewhere)."""

    branch: ChanceBranch
    so_far: Fraction
    then: Node | None


def adversary_tree(visits: Sequence[Visit]) -> Node:
    """Returns the root of the tree of some visits, the first of which is the start."""
    root = Node(0, visits[0])
    todo, drawn = deque([(root, Fraction(1))]), {0}
    while todo:
        node, so_far = todo.popleft()
        for branch in node.visit.branches:
            here, following = so_far * Fraction(branch.probability), visits[branch.then]
            if branch.then in drawn and following.branches:
                node.branches.append(Edge(branch, here, None))
                continue
            drawn.add(branch.then)
            then = Node(branch.then, following)
            node.branches.append(Edge(branch, here, then))
            todo.append((then, here))
    return root
