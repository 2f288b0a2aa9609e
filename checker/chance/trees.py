"""The adversary that attains a value, as a tree of runs that the interpreter has made."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

from checker.chance.questions import Asked
from checker.chance.values import Strategy, Value
from checker.engines.chance import STAY, ChanceGraph
from checker.model import distributions
from checker.model.distributions import Branch, Choice
from checker.model.interpreter import State, Transition
from checker.results.chance import Adversary, ChanceBranch, Visit
from checker.results.narrate import narrate_step
from checker.results.rerun import Moment
from checker.results.trace import Step

VISITS = 24
"""The largest number of visits that a tree shows."""
LONGEST = 200
"""The largest number of steps between two of them."""
COUNTED = 2_000
"""Of so many states at most it is counted what is chosen in them."""
KINDS = 8
"""So many kinds of steps are named."""


def adversary_of(asked: Asked, graph: ChanceGraph, value: Value) -> Adversary | None:
    """Returns what the adversary of a value does; ``None`` where nothing it does matters."""
    if value.strategy is None:
        return None
    play = _Play(graph, value.strategy)
    states, rules = play.rules()
    kind = "best" if asked.question.some else "worst"
    return Adversary(kind, states, rules, play.tree())


@dataclass(frozen=True, slots=True)
class _Place:
    """A state, by number, and how many rows of the strategy are used up."""

    number: int
    used: int = 0


@dataclass
class _Play:
    """The runs of a strategy in a graph."""

    graph: ChanceGraph
    strategy: Strategy
    visited: dict[_Place, int] = field(default_factory=dict)
    order: count[int] = field(default_factory=count)

    def choice(self, place: _Place) -> int | None:
        """Returns the choice of the strategy; ``None`` where it has none any more."""
        rows = self.strategy.choices
        if place.number in self.strategy.aim or (len(rows) > 1 and place.used >= len(rows)):
            return None
        if not rows:
            return None
        found = rows[min(place.used, len(rows) - 1)][place.number]
        return None if found < 0 else found

    def made(self, place: _Place, choice: int) -> tuple[Choice | None, Sequence[int]]:
        """Returns the choice as the interpreter has it (``None``: to stay), and for each branch the
        number of the state that it leads to."""
        steps = self.graph.steps
        first, last = steps.first_branch[choice], steps.first_branch[choice + 1]
        if steps.action[choice] == STAY:
            return None, ()
        shares = {
            self.graph.state(steps.target[b]): (steps.target[b], steps.weight[b])
            for b in range(first, last)
        }
        whole = sum(weight for _, weight in shares.values())
        action = self.graph.system.actions[steps.action[choice]]
        for found in distributions.choices(self.graph.system, self.graph.state(place.number)):
            if found.action.name != action.name:
                continue
            likely = _shares(found.branches)
            if likely.keys() == shares.keys() and all(
                likely[s] == Fraction(shares[s][1], whole) for s in shares
            ):
                return found, [shares[b.successor][0] for b in found.branches]
        raise AssertionError("the interpreter has no such choice")

    def after(self, place: _Place, number: int) -> _Place:
        """Returns the place behind a step."""
        more = len(self.strategy.choices) > 1
        return _Place(number, place.used + more)

    def step(self, before: State, choice: Choice, branch: Branch) -> Step:
        """Returns a branch of a choice as a step of a trace."""
        moved = Transition(choice.action, choice.params, branch.successor, branch.events)
        return narrate_step(
            self.graph.system, 1, before, Moment(branch.successor, moved, branch.events)
        )

    # -- the tree -------------------------------------------------------------------------------

    def tree(self) -> tuple[Visit, ...]:
        """Returns the most likely visits, the first one at the start."""
        start = _Place(self.strategy.start)
        self.visited = {start: 0}
        waiting = [(Fraction(-1), next(self.order), 0, start)]
        found: dict[int, Visit] = {}
        while waiting:
            so_far, _, number, place = heapq.heappop(waiting)
            if len(found) >= VISITS:
                found[number] = Visit((), ends="more")
                continue
            found[number] = self._visit(place, -so_far, waiting)
        return tuple(found[number] for number in range(len(found)))

    def _visit(
        self, place: _Place, so_far: Fraction, waiting: list[tuple[Fraction, int, int, _Place]]
    ) -> Visit:
        """Follows the strategy from a place to where chance has a part."""
        done: list[str] = []
        passed = {place}
        while True:
            choice = self.choice(place)
            if choice is None:
                return Visit(tuple(done), ends=self._ends(place))
            made, numbers = self.made(place, choice)
            if made is None:
                return Visit((*done, "nothing more happens"), ends="never")
            before = self.graph.state(place.number)
            done.append(self.step(before, made, made.branches[0]).headline)
            if len(set(numbers)) > 1:
                branches = self._branches(place, made, numbers, so_far, waiting)
                return Visit(tuple(done), branches)
            place = self.after(place, numbers[0])
            if place in passed or len(done) >= LONGEST:
                return Visit(tuple(done), ends="never" if place in passed else "more")
            passed.add(place)

    def _branches(
        self,
        place: _Place,
        made: Choice,
        numbers: Sequence[int],
        so_far: Fraction,
        waiting: list[tuple[Fraction, int, int, _Place]],
    ) -> tuple[ChanceBranch, ...]:
        shares: dict[int, Fraction] = {}
        first: dict[int, Branch] = {}
        for branch, number in zip(made.branches, numbers, strict=True):
            shares[number] = shares.get(number, Fraction(0)) + branch.probability
            first.setdefault(number, branch)
        found = []
        for number, share in sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])):
            there = self.after(place, number)
            if there not in self.visited:
                self.visited[there] = len(self.visited)
                entry = (-so_far * share, next(self.order), self.visited[there], there)
                heapq.heappush(waiting, entry)
            shows = self._shows(place, made, first[number])
            found.append(ChanceBranch(str(share), str(so_far * share), shows, self.visited[there]))
        return tuple(found)

    def _shows(self, place: _Place, made: Choice, branch: Branch) -> str:
        step = self.step(self.graph.state(place.number), made, branch)
        changes = (c for c in step.changes if not c.quiet)
        said = [f"{c.process and c.process + '.'}{c.title} = {c.after}" for c in changes]
        return ", ".join(said) or "nothing changes"

    def _ends(self, place: _Place) -> str:
        """Returns why the strategy has no choice in a place."""
        at_goal = place.number in self.strategy.aim
        return "reached" if at_goal is not self.strategy.missing else "never"

    # -- the rules ------------------------------------------------------------------------------

    def rules(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        """Returns how many states the strategy leads to, and how often each kind of step is its
        choice where there are others; no kinds where the states are too many."""
        steps, start = self.graph.steps, _Place(self.strategy.start)
        seen, todo, free = {start}, [start], list[tuple[_Place, int]]()
        while todo:
            place = todo.pop()
            choice = self.choice(place)
            if choice is None:
                continue
            if steps.first_choice[place.number + 1] - steps.first_choice[place.number] > 1:
                free.append((place, choice))
            for target in steps.target[steps.first_branch[choice] : steps.first_branch[choice + 1]]:
                there = self.after(place, target)
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
        states = len({place.number for place in seen})
        if len(free) > COUNTED:
            return states, ()
        kinds = Counter(self._kind(place, choice) for place, choice in free)
        return states, tuple(kinds.most_common(KINDS))

    def _kind(self, place: _Place, choice: int) -> str:
        made, _ = self.made(place, choice)
        if made is None:
            return "nothing more happens"
        return self.step(self.graph.state(place.number), made, made.branches[0]).headline


def _shares(branches: Sequence[Branch]) -> dict[State, Fraction]:
    found: dict[State, Fraction] = {}
    for branch in branches:
        found[branch.successor] = found.get(branch.successor, Fraction(0)) + branch.probability
    return found
