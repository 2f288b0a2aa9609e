"""Expected values of the sum that an execution accumulates until it reaches a goal.

Every choice counts a number, 0 or more.  The sum on an execution that never reaches the
goal is infinite by definition, so an expected value is infinite where the goal is missed with
positive probability.  Under fair adversaries it may also have no bound where the goal is reached
almost surely: an adversary may stay in an unfair end component as long as it likes, though not
forever; and if something is counted there, it can make any number of it.

**Largest.**  Where the value is finite, nothing is counted in end components without the goal, so
they become one state each, and what is left is the largest expected value in a quotient without end
components (:mod:`checker.chance.intervals`).

**Smallest.**  Only adversaries matter that reach the goal almost surely (Bertsekas and Tsitsiklis,
An analysis of stochastic shortest path problems, 1991; de Alfaro, Computing minimum and maximum
reachability times in probabilistic systems, 1999).  End components in which nothing is counted
become one state each; in the others staying is never best.  Sweeps from 0 on that go over all
choices, rounded down, stay below the value.  From above it is bounded by the value of one
scheduler, which the bound of :mod:`checker.chance.intervals` bounds: a chain has no other choices,
and a rank, if the goal is reached.

**Where every choice counts** ``c`` or more (every step does, usually), no rank has to be found: if
``B x <= x + a`` with ``a < c``, then ``h = x / (c - a)`` is a rank, of all choices for the largest
value, and of the best scheduler for the smallest, which therefore reaches the goal.

*Proof.*  ``1 + P h = 1 + P x / (c - a) <= 1 + (x + a - r) / (c - a) <= x / (c - a)``, as ``r >=
c``.  So what is bounded from above by ``h`` in :mod:`checker.chance.intervals` is here, too.  The
smallest value is at least ``l = k x`` with ``k = 1 - b / (c - a)``, if ``x - b <= B x`` and ``k``
is not negative: for every choice ``r + P l >= r + k (x - b - r) = l + (1 - k) r - k b >= l``,
because ``(1 - k) r >= b``; and a scheduler that reaches the goal almost surely attains the limit of
its operator from ``l`` on.  So any values can be judged so, however they were found.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import ceil
from typing import Any

from msgspec import Struct

from checker import graphs
from checker.chance.graph import Closure, Part, ProcessGraph, end_component
from checker.chance.intervals import (
    Approximation,
    Interval,
    Progress,
    Rank,
    StiffError,
    Sweeps,
    find_rank,
    from_below,
    silent,
)
from checker.chance.kernels import numbers, octets, words
from checker.chance.native_graph import INSIDE, KEPT, NONE, OUT
from checker.chance.objective import Kind, Objective
from checker.chance.policies import ExactQuotient, solved
from checker.chance.probability import WIDTH, scheduled
from checker.chance.quotient import Arrays, Quotient, collapse
from checker.chance.targets import Target, Witness, fair_part, target_of, witness
from checker.records import replace

VALUE_BITS = 60
"""Values are below ``2**60``, in units that are chosen for that."""
FIRST_BITS = 16
"""Smallest values are first supposed to be below ``2**16`` times the largest reward, then more."""


class Infinite(Struct, frozen=True):
    """Why an expected value is infinite: ``witness`` is the end component, and the way to it.

    ``forever``: an adversary may stay there forever, and miss the goal; otherwise only as long as
    it likes, and accumulate any sum there.
    """

    witness: Witness
    forever: bool


class Problem(Struct, frozen=True):
    """The quotient for a finite expected value; ``ends``: the goal."""

    graph: ProcessGraph
    goal: AbstractSet[int]
    reward: array[int]
    part: Part
    quotient: Quotient
    largest: bool

    def is_finite(self, state: int) -> bool:
        """Returns whether the value of a state is finite, and known to the quotient."""
        return bool(self.quotient.classes[state] <= self.quotient.numbered)

    def rewards(self) -> array[Any]:
        """Returns the reward of each choice of the quotient."""
        count = self.quotient.arrays.first[self.quotient.numbered]
        return array("Q", map(self.reward.__getitem__, self.quotient.origin[:count]))

    def always_counts(self) -> bool:
        """Returns whether something is counted for each choice of the quotient."""
        count = self.quotient.arrays.first[self.quotient.numbered]
        return all(map(self.reward.__getitem__, self.quotient.origin[:count]))


class Expectation(Struct, frozen=True):
    """An expected value, for the best or the worst adversary; ``state``: the initial state that it
    picks."""

    interval: Interval
    state: int
    problem: Problem
    approximation: Approximation

    def scheduler(self) -> array[int]:
        """Returns the choice of the adversary in each state
        (:data:`~checker.chance.probability.ANY`: it may do anything)."""
        return scheduled(self.problem.graph, self.problem.quotient, self.approximation.chosen)


def expectation(
    graph: ProcessGraph,
    goal: AbstractSet[int],
    reward: array[int],
    *,
    largest: bool,
    fair: bool = True,
    width: Fraction = WIDTH,
    progress: Progress = silent,
) -> Expectation | Infinite:
    """Returns the expected sum of ``reward`` until a state of ``goal`` is reached.

    ``reward``: for each choice a number, 0 or more (``q``); ``largest``: for the adversary that
    makes it large, otherwise for the one that makes it small; ``fair``: among those only that are
    fair with probability 1.  The interval is at most ``width`` wide, if numbers of 62 bits can be
    so exact.  Raises :class:`~checker.chance.targets.UnfairProcessError` where no adversary is
    fair.
    """
    pose = _largest if largest else _smallest
    problem = pose(graph, goal, reward, fair)
    if isinstance(problem, Infinite):
        return problem
    starts = [state for state in graph.process.initial if problem.is_finite(state)]
    approximation = _approximated(problem, starts, width, progress)
    intervals = {state: approximation.interval(state) for state in starts}
    best = max if largest else min
    state = best(intervals, key=lambda s: intervals[s].lower)
    lower = best(interval.lower for interval in intervals.values())
    upper = best(interval.upper for interval in intervals.values())
    return Expectation(Interval(lower, upper), state, problem, approximation)


# ---- what is solved ---------------------------------------------------------------------------


def _until(graph: ProcessGraph, goal: AbstractSet[int], fair: bool) -> Part:
    """Returns the part of the process until the goal is reached: nothing follows on it."""
    part = fair_part(graph, fair).copy()
    for state in goal:
        for choice in graph.process.choices_of(state):
            part.choices[choice] = 0
    return part


def _missing(graph: ProcessGraph, goal: AbstractSet[int], fair: bool) -> Target:
    """Returns what the adversary reaches that misses the goal."""
    count = graph.process.states
    return target_of(graph, Objective(Kind.EVENTUALLY, goal).negation(count), fair)


def _largest(
    graph: ProcessGraph, goal: AbstractSet[int], reward: array[int], fair: bool
) -> Problem | Infinite:
    missed = _missing(graph, goal, fair)
    found = witness(graph, missed)
    if found is not None:
        return Infinite(found, True)
    part = _until(graph, goal, fair)
    counted, inner, found_in = _counting_components(graph, goal, reward, part)
    endless = Target(part, dict.fromkeys(counted).keys(), None)
    found = witness(graph, endless)
    if found is not None:
        number = found_in[found.state]
        inside = (s for s in graph.having(inner.states, INSIDE) if found_in[s] == number)
        component = end_component(graph.process, inside, inner.choices)
        return Infinite(Witness(found.route, found.state, component), False)
    lost = graph.reaching([*missed.states, *counted], part)
    between = _marked(part, lambda s: s not in goal and lost.status[s] != KEPT)
    loops = Part(between, part.choices)
    quotient = collapse(graph, part, between, _goal(graph, goal), loops, keep_self=True)
    return Problem(graph, goal, reward, part, quotient, True)


def _counting_components(
    graph: ProcessGraph, goal: AbstractSet[int], reward: array[int], part: Part
) -> tuple[list[int], Part, array[Any]]:
    """Returns a state of each end component without the goal in which something is counted, the
    part of all such components without the goal, and the number of each state's component."""
    inner, found = graph.end_components(graph.without(goal, part))
    counted, known = list[int](), set[int]()
    for state in graph.having(inner.states, INSIDE):
        number = found.of[state]
        if number not in known:
            taken = graph.process.choices_of(state)
            if any(reward[c] and inner.choices[c] for c in taken):
                known.add(number)
                counted.append(state)
    return counted, inner, found.of


def _smallest(
    graph: ProcessGraph, goal: AbstractSet[int], reward: array[int], fair: bool
) -> Problem | Infinite:
    part = _until(graph, goal, fair)
    sure, left = graph.almost_surely_reaching(goal, part)
    if not any(state in sure for state in graph.process.initial):
        found = witness(graph, _missing(graph, goal, fair))
        assert found is not None
        return Infinite(found, True)
    between = _marked(left, lambda s: s not in goal)
    nothing = array(
        "B", (int(kept and not r) for kept, r in zip(left.choices, reward, strict=True))
    )
    loops = Part(between, nothing)
    quotient = collapse(graph, left, between, _goal(graph, goal), loops, keep_self=True)
    return Problem(graph, goal, reward, left, quotient, False)


def _marked(part: Part, holds: Callable[[int], bool]) -> array[int]:
    """Returns INSIDE for the states of a part for which something holds."""
    kept = part.states
    return array("B", (INSIDE if k != OUT and holds(s) else OUT for s, k in enumerate(kept)))


def _goal(graph: ProcessGraph, goal: AbstractSet[int]) -> Closure:
    """Returns the goal as the states that are at their end."""
    status = octets(graph.process.states)
    for state in goal:
        status[state] = KEPT
    return Closure(status, numbers(graph.process.states, NONE), array("I", sorted(goal)))


# ---- bounds -----------------------------------------------------------------------------------


def _approximated(
    problem: Problem, starts: list[int], width: Fraction, progress: Progress
) -> Approximation:
    bound = _from_below if problem.largest else _from_zero
    if problem.always_counts():
        bound = _ranked_by_themselves
    try:
        return bound(problem, starts, width, progress)
    except StiffError:
        exact = ExactQuotient(problem.graph.process, problem.quotient, problem.reward)
        return solved(exact, (Fraction(0), Fraction(0)), problem.largest)


def _ranked_by_themselves(
    problem: Problem, starts: list[int], width: Fraction, progress: Progress
) -> Approximation:
    """Returns values where every choice counts: they are a rank, too."""
    quotient, reward = problem.quotient, problem.rewards()
    sense = "max" if problem.largest else "min"
    shift = VALUE_BITS - FIRST_BITS - max([1, *reward]).bit_length()
    while shift >= 0:
        sweeps = Sweeps(quotient, words(quotient.numbered + 2), reward, shift=shift)
        found = _refined(sweeps, sense, starts, width, progress)
        if found is not None:
            return found
        shift -= FIRST_BITS
    raise StiffError


def _refined(
    sweeps: Sweeps, sense: str, starts: list[int], width: Fraction, progress: Progress
) -> Approximation | None:
    """Returns the values that sweeps find; ``None``: they have no room, or are too coarse."""
    quotient, unit = sweeps.quotient, Fraction(1, 1 << sweeps.shift)
    limit = _least(sweeps) >> 2
    while True:
        sweeps.solve(sense, limit, progress)
        if max(sweeps.values) >> VALUE_BITS:
            return None
        bounds, finer = ranked_bounds(sweeps, sense), limit >> 2
        if bounds is not None:
            rank, above, below = bounds
            longest = max([Fraction(1), *(rank.of(quotient.classes[s]) for s in starts)])
            if (above + below) * longest * unit <= width or not limit:
                chosen = sweeps.greedy(sense)
                return Approximation(quotient, sweeps.values, rank, unit, above, below, chosen)
            finer = min(finer, int(width / (2 * unit * longest)))
        elif not limit:
            return None
        limit = finer


def _least(sweeps: Sweeps) -> int:
    """Returns what each choice counts at least, in units of a value."""
    return min(sweeps.reward or [1]) << sweeps.shift


def ranked_bounds(sweeps: Sweeps, sense: str) -> tuple[Rank, int, int] | None:
    """Returns values as a rank, and how wrong they are at most, from above and from below, as
    multiples of it; ``None``: they are no rank."""
    (above, below), least = sweeps.residual(sense), _least(sweeps)
    if above >= least:
        return None
    return Rank(sweeps.values, Fraction(1, least - above)), above, below


def _from_below(
    problem: Problem, starts: list[int], width: Fraction, progress: Progress
) -> Approximation:
    """Returns the largest values: as those of :func:`checker.chance.intervals.approximate`."""
    quotient, reward = problem.quotient, problem.rewards()
    rank = find_rank(quotient, progress)
    shift = VALUE_BITS - ceil(max([0, *reward]) * rank.largest()).bit_length()
    if shift < 0:
        raise StiffError
    sweeps = Sweeps(quotient, words(quotient.numbered + 2), reward, shift=shift)
    return from_below(sweeps, rank, starts, width, progress)


def _from_zero(
    problem: Problem, starts: list[int], width: Fraction, progress: Progress
) -> Approximation:
    """Returns the smallest values, from below, and the scheduler that bounds them from above."""
    quotient, reward = problem.quotient, problem.rewards()
    shift = VALUE_BITS - FIRST_BITS - max([0, *reward]).bit_length()
    limit = int(width * (1 << max(shift, 0))) >> FIRST_BITS
    sweeps = Sweeps(quotient, words(quotient.numbered + 2), reward, shift=shift, repeats=0)
    while shift >= 0:
        sweeps.solve("min", limit, progress)
        if max(sweeps.values) >> VALUE_BITS:
            shift -= FIRST_BITS
            sweeps = replace(sweeps, values=words(quotient.numbered + 2), shift=shift)
            continue
        found = _bounded_above(problem, sweeps, sweeps.greedy("min"), progress)
        if found is not None and (not limit or _widest(found, starts) <= width):
            return found
        if not limit:
            break
        limit >>= 3
    raise StiffError


def _widest(found: Approximation, starts: list[int]) -> Fraction:
    return max(found.interval(state).width for state in starts)


def _bounded_above(
    problem: Problem, sweeps: Sweeps, chosen: array[Any], progress: Progress
) -> Approximation | None:
    """Returns values with the bound that a scheduler gives them; ``None``: it may miss the goal."""
    chain = _chain(problem.quotient, chosen)
    if not _reaches_goal(chain):
        return None
    assert sweeps.reward is not None
    reward = array("Q", (sweeps.reward[choice] for choice in chosen[: chain.numbered]))
    rank = find_rank(chain, progress)
    above, _ = Sweeps(chain, sweeps.values, reward, shift=sweeps.shift).residual("max")
    unit = Fraction(1, 1 << sweeps.shift)
    return Approximation(problem.quotient, sweeps.values, rank, unit, above, 0, chosen)


def _chain(quotient: Quotient, chosen: array[Any]) -> Quotient:
    """Returns the quotient with one choice for each state."""
    old, starts = quotient.arrays, array("I", [0])
    successor, probability = array("I"), array("Q")
    for k in range(quotient.numbered):
        first, last = old.branch_first[chosen[k]], old.branch_first[chosen[k] + 1]
        successor.extend(old.successor[first:last])
        probability.extend(old.probability[first:last])
        starts.append(len(successor))
    one = Arrays(array("I", range(quotient.numbered + 1)), starts, successor, probability)
    return replace(quotient, arrays=one)


def _reaches_goal(chain: Quotient) -> bool:
    """Returns whether every state of a chain may come to the goal."""
    first, successor, goal = chain.arrays.branch_first, chain.arrays.successor, chain.numbered
    rows = {k: successor[first[k] : first[k + 1]] for k in range(goal)}
    before = graphs.predecessors({**rows, goal: ()})
    return len(graphs.reached([goal], before.__getitem__)) == goal + 1
