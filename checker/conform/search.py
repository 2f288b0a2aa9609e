"""The search for a run that a log is the log of.

A node is a state of the system and a cursor in the log of each process; its successors are the
steps of the state that explain the next lines, or none (silent steps).  The search is depth first,
with steps that explain lines before silent ones and steps without a fault before those with one,
and remembers every node exactly; so what it does not find is not there.

Where the lines can't all be explained, a second search finds the run with the fewest faults among
those that explain the most lines, in order of the number of faults (Dial, Algorithm 360:
shortest-path forest with topological ordering, 1969), so that no invented fault hides the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct, field

from checker.conform.explain_events import Cursors, Observation
from checker.model.interpreter import State

S = TypeVar("S", bound=Hashable)

KEPT = 8
"""So many nodes that explain the longest prefix are kept."""

OFTEN = 256
"""After so many nodes the listener is told."""


class Way(NamedTuple, Generic[S]):
    """A step to ``state`` after which ``cursors`` are next; ``lines``: how many it explains;
    ``faults``: the number of crashes, losses and partitions in it."""

    state: S
    cursors: Cursors
    lines: int
    faults: int = 0


class Steps(Protocol[S]):
    """The steps of a system, in some representation of its states."""

    def starts(self) -> list[S]:
        """Returns the initial states."""
        ...

    def ways(self, state: S, cursors: Cursors) -> list[Way[S]]:
        """Returns the steps of ``state`` that what is logged admits."""
        ...

    def shown(self, state: S) -> State:
        """Returns ``state`` as the interpreter has it."""
        ...

    def packed(self, state: State) -> S:
        """Returns a state of the interpreter in this representation."""
        ...


class Node(Struct, Generic[S], eq=False):
    """A node on the way from ``before``; ``explained``: how many lines the way to it explains."""

    state: S
    cursors: Cursors
    explained: int
    before: Node[S] | None = None

    def run(self) -> list[Node[S]]:
        """Returns the way from the start to this node."""
        found: list[Node[S]] = []
        node: Node[S] | None = self
        while node is not None:
            found.append(node)
            node = node.before
        return found[::-1]


class Found(Struct, Generic[S]):
    """What a search has found.

    ``complete``: all lines are explained, by the way to the first of ``furthest``: the nodes that
    explain most lines, at most ``KEPT``.  ``reached``: the goal of the search is, by the way to
    the first of these.  ``nodes`` and ``steps``: how many were visited, and looked at.
    """

    complete: bool = False
    reached: bool = False
    furthest: list[Node[S]] = field(default_factory=list)
    nodes: int = 0
    steps: int = 0

    @property
    def explained(self) -> int:
        """How many lines are explained."""
        return self.furthest[0].explained if self.furthest else 0


class Search(Generic[S]):
    """A search by ``steps``; ``tell`` is called with what was found so far after each ``often``
    nodes, and may raise."""

    def __init__(
        self,
        steps: Steps[S],
        observation: Observation,
        tell: Callable[[Found[S]], None],
        often: int = OFTEN,
        goal: tuple[int, int] | None = None,
    ) -> None:
        """``goal``: a log and a cursor in it, if the search ends where that is reached."""
        self.steps, self.observation, self.tell = steps, observation, tell
        self.often, self.goal, self._lines = often, goal, observation.lines
        self.found: Found[S] = Found()
        self._seen: set[tuple[S, Cursors]] = set()
        self._starts: Iterator[S] | None = None
        self._path: list[tuple[Node[S], Iterator[Way[S]]]] = []

    def run(self, most: int | None = None) -> bool:
        """Searches to the end, or until ``most`` nodes were visited in all, and returns whether it
        came to the end; raises what ``tell`` does.  Leaves what was found so far in ``found``, and
        goes on from there when it is called again."""
        found = self.found
        if self._starts is None:
            self._starts = iter(self.steps.starts())
        while not (found.complete or found.reached or found.nodes == most):
            if not self._path:
                start = next(self._starts, None)
                if start is None:
                    break
                self._visit(Node(start, self.observation.start, 0))
                continue
            node, ways = self._path[-1]
            way = next(ways, None)
            if way is None:
                self._path.pop()
            else:
                self._visit(Node(way.state, way.cursors, node.explained + way.lines, node))
        return found.complete or most is None or found.nodes < most

    def _visit(self, node: Node[S]) -> None:
        """Goes on from a node, if it was not visited before."""
        if self._is_new(node):
            self._path.append((node, self._in_order(node)))

    def _is_new(self, node: Node[S]) -> bool:
        """Returns whether a node was not visited before, and notes it."""
        key = (node.state, node.cursors)
        if key in self._seen:
            return False
        self._seen.add(key)
        found = self.found
        found.nodes += 1
        if not found.furthest or node.explained > found.explained:
            found.furthest = [node]
        elif node.explained == found.explained and len(found.furthest) < KEPT:
            found.furthest.append(node)
        found.complete = node.explained == self._lines
        if self.goal is not None and node.cursors[self.goal[0]] == self.goal[1]:
            found.reached, found.furthest = True, [node]
        if found.nodes % self.often == 0:
            self.tell(found)
        return True

    def _in_order(self, node: Node[S]) -> Iterator[Way[S]]:
        """Yields the ways from a node: those that explain lines first, then by number of faults."""
        ways = self.steps.ways(node.state, node.cursors)
        self.found.steps += len(ways)
        yield from sorted(ways, key=_order)

    def fewest_faults(self) -> Node[S]:
        """Returns a node that explains as many lines as any that :meth:`run` has visited, on a way
        with the fewest faults; raises what ``tell`` does."""
        seen: set[tuple[S, Cursors]] = set()
        levels: dict[int, list[Node[S]]] = {
            0: [Node(state, self.observation.start, 0) for state in self.steps.starts()[::-1]]
        }
        while levels:
            faults = min(levels)
            stack = levels[faults]
            if not stack:
                del levels[faults]
                continue
            node = stack.pop()
            if (node.state, node.cursors) in seen:
                continue
            if node.explained == self.found.explained:
                return node
            seen.add((node.state, node.cursors))
            if len(seen) % self.often == 0:
                self.tell(self.found)
            for way in reversed(list(self._in_order(node))):
                new = Node(way.state, way.cursors, node.explained + way.lines, node)
                levels.setdefault(faults + way.faults, []).append(new)
        raise AssertionError("the first search has visited such a node")


def _order(way: Way[S]) -> tuple[bool, int]:
    return not way.lines, way.faults
