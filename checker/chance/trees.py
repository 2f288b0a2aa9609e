"""The adversary that attains a value, as a tree of runs that the interpreter has made."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence
from fractions import Fraction
from itertools import count

from msgspec import Struct, field

from checker.chance.decision_table import Decision, rules_of, values_of
from checker.chance.graph import EndComponent
from checker.chance.questions import Asked
from checker.chance.unfolding import OVER
from checker.chance.values import Strategy, Value
from checker.engines.chance import STAY, ChanceGraph
from checker.model import distributions
from checker.model.distributions import Branch, Choice
from checker.model.interpreter import State, Transition
from checker.results.chance import RESTS, Adversary, ChanceBranch, Visit
from checker.results.events import Drawn
from checker.results.narrate import narrate_step
from checker.results.rerun import Moment
from checker.results.trace import Step
from checker.words.events import assignment
from checker.words.steps import headline

VISITS = 24
"""The largest number of visits that a tree shows."""
LONGEST = 200
"""The largest number of steps between two of them."""
COUNTED = 2_000
"""The largest number of states with a choice for which rules are found."""
TAKEN = 6
"""So many choices of an end component are named."""
RULES = 12
"""So many rules are told."""


def adversary_of(asked: Asked, graph: ChanceGraph, value: Value) -> Adversary | None:
    """Returns what the adversary of a value does; ``None`` where nothing it does matters."""
    if value.strategy is None:
        return None
    play = _Play(graph, value.strategy)
    states, free = play.choosing()
    decisions = play.decisions(free) if len(free) <= COUNTED else []
    rules = rules_of(decisions, RULES)
    told = sum(rule.states for rule in rules)
    return Adversary(
        "best" if asked.question.some else "worst", states, len(free), told, rules, play.tree()
    )


class _Play(Struct):
    """The runs of a strategy in a graph."""

    graph: ChanceGraph
    strategy: Strategy
    visited: dict[int, int] = field(default_factory=dict)
    order: count[int] = field(default_factory=count)

    def state(self, place: int) -> State:
        """Returns the state that a place, a state of what the strategy plays in, stands for."""
        return self.graph.state(self.strategy.state(place))

    def choice(self, place: int) -> int | None:
        """Returns the choice of the strategy; ``None`` where it has none any more."""
        if place in self.strategy.aim:
            return None
        found = self.strategy.choices[place]
        return None if found < 0 else found

    def targets(self, choice: int) -> array[int]:
        """Returns the places to which a choice may lead."""
        process = self.strategy.posed.process
        branches = process.branches_of(choice)
        return process.target[branches.start : branches.stop]

    def interpreted(self, place: int, choice: int) -> tuple[Choice | None, Sequence[int]]:
        """Returns the interpreter's choice for one of the graph (``None``: to stay), and for each
        of its branches the place that it leads to."""
        steps, origin = self.graph.steps, self.strategy.origin(choice)
        first, last = steps.first_branch[origin], steps.first_branch[origin + 1]
        if steps.action[origin] == STAY:
            return None, ()
        # Where the last step of a bound leads does not matter: to one place, whatever the coins.
        there = self.targets(choice)
        places = [there[i % len(there)] for i in range(last - first)]
        shares = {
            self.graph.state(steps.target[b]): (place, steps.weight[b])
            for b, place in zip(range(first, last), places, strict=True)
        }
        whole = sum(weight for _, weight in shares.values())
        action = self.graph.system.actions[steps.action[origin]]
        for found in distributions.choices(self.graph.system, self.state(place)):
            if found.action.name != action.name:
                continue
            likely = _shares(found.branches)
            if likely.keys() == shares.keys() and all(
                likely[s] == Fraction(shares[s][1], whole) for s in shares
            ):
                return found, [shares[b.successor][0] for b in found.branches]
        raise AssertionError("the interpreter has no such choice")

    def step(self, before: State, choice: Choice, branch: Branch) -> Step:
        """Returns a branch of a choice as a step of a trace."""
        moved = Transition(choice.action, choice.params, branch.successor, branch.events)
        return narrate_step(
            self.graph.system, 1, before, Moment(branch.successor, moved, branch.events)
        )

    # -- the tree -------------------------------------------------------------------------------

    def tree(self) -> tuple[Visit, ...]:
        """Returns the most likely visits, the first one at the start."""
        start = self.strategy.start
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
        self, place: int, so_far: Fraction, waiting: list[tuple[Fraction, int, int, int]]
    ) -> Visit:
        """Follows the strategy from a place to where chance has a part."""
        done: list[str] = []
        passed: dict[int, int] = {}
        while place not in passed and len(done) < LONGEST:
            passed[place] = len(done)
            choice = self.choice(place)
            if choice is None:
                return self._end(done, place)
            made, places = self.interpreted(place, choice)
            if made is None:
                return Visit(tuple(done), ends="never", again=(RESTS,))
            done.append(self._headline(place, made))
            if len(set(places)) > 1:
                return Visit(tuple(done), self._branches(place, made, places, so_far, waiting))
            place = places[0]
        if place not in passed:
            return Visit(tuple(done), ends="more")
        loop = passed[place]
        return Visit(tuple(done[:loop]), ends="never", again=tuple(done[loop:]))

    def _headline(self, place: int, made: Choice) -> str:
        return headline(self.step(self.state(place), made, made.branches[0]))

    def _end(self, done: list[str], place: int) -> Visit:
        """Returns a visit that ends where the strategy has no choice: in a fair end component, in
        which every choice is taken in turn, what these are."""
        at_goal = place in self.strategy.aim
        ends = "reached" if at_goal is not self.strategy.missing else "never"
        components, again = self.strategy.components, list[str]()
        if at_goal and components is not None and self._goes_on(place):
            component = components.component(place)
            owners = self._owners(component)
            again = [self._said(owners[choice], choice) for choice in component.choices[:TAKEN]]
            again = again or [RESTS]
            if len(component.choices) > TAKEN:
                again.append(f"and {len(component.choices) - TAKEN} other steps")
        return Visit(tuple(done), ends=ends, again=tuple(dict.fromkeys(again)))

    def _goes_on(self, place: int) -> bool:
        """Returns whether what happens from a place on belongs to the question."""
        state = self.strategy.state(place)
        if state == OVER:
            return False
        first = self.graph.steps.first_choice
        return first[state] == first[state + 1] or bool(
            self.strategy.posed.process.choices_of(place)
        )

    def _owners(self, component: EndComponent) -> dict[int, int]:
        """Returns the state of each choice of a component."""
        process = self.strategy.posed.process
        return {choice: s for s in component.states for choice in process.choices_of(s)}

    def _branches(
        self,
        place: int,
        made: Choice,
        places: Sequence[int],
        so_far: Fraction,
        waiting: list[tuple[Fraction, int, int, int]],
    ) -> tuple[ChanceBranch, ...]:
        shares: dict[int, Fraction] = {}
        first: dict[int, Branch] = {}
        for branch, there in zip(made.branches, places, strict=True):
            shares[there] = shares.get(there, Fraction(0)) + branch.probability
            first.setdefault(there, branch)
        found = []
        for there, share in sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])):
            if there not in self.visited:
                self.visited[there] = len(self.visited)
                entry = (-so_far * share, next(self.order), self.visited[there], there)
                heapq.heappush(waiting, entry)
            shows = self._shows(place, made, first[there])
            found.append(ChanceBranch(str(share), shows, self.visited[there]))
        return tuple(found)

    def _shows(self, place: int, made: Choice, branch: Branch) -> str:
        """Returns what the coins of a branch show, and what that changes."""
        step = self.step(self.state(place), made, branch)
        drawn = [assignment(event) for event in step.events if isinstance(event, Drawn)]
        changes = (c for c in step.changes if not c.quiet)
        said = [f"{c.process and c.process + '.'}{c.title} = {c.after}" for c in changes]
        told = ", ".join(said) or "nothing changes"
        return f"{', '.join(drawn)}: {told}" if drawn else told

    # -- the rules ------------------------------------------------------------------------------

    def choosing(self) -> tuple[int, list[int]]:
        """Returns how many states the strategy leads to, and the places where it has a choice."""
        process, start = self.strategy.posed.process, self.strategy.start
        seen, todo, free = {start}, [start], list[int]()
        while todo:
            place = todo.pop()
            choice = self.choice(place)
            if choice is None:
                continue
            if len(process.choices_of(place)) > 1:
                free.append(place)
            for there in self.targets(choice):
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
        return len({self.strategy.state(place) for place in seen} - {OVER}), free

    def decisions(self, places: Sequence[int]) -> list[Decision]:
        """Returns what is chosen in some places, with the values of all variables there."""
        left, found = self.strategy.posed.left, list[Decision]()
        for place in places:
            choice = self.choice(place)
            assert choice is not None
            spare = None if left is None else left[place]
            values = values_of(self.graph.system, self.state(place), spare)
            found.append(Decision(values, self._said(place, choice)))
        return found

    def _said(self, place: int, choice: int) -> str:
        made, _ = self.interpreted(place, choice)
        return RESTS if made is None else self._headline(place, made)


def _shares(branches: Sequence[Branch]) -> dict[State, Fraction]:
    found: dict[State, Fraction] = {}
    for branch in branches:
        found[branch.successor] = found.get(branch.successor, Fraction(0)) + branch.probability
    return found
