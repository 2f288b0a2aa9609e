"""The search of products of chains, against all points."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping

import pytest

from checker.worlds.monotone import (
    Answer,
    Boundary,
    Point,
    Search,
    below,
    contradictions,
    maximal,
    minimal,
)


def run(
    sizes: tuple[int, ...],
    start: Point,
    answer: Callable[[Point], Answer],
    exists: Callable[[Point], bool] = lambda _: True,
) -> Boundary:
    search = Search((0,) * len(sizes), tuple(n - 1 for n in sizes), start, exists)
    asking = search.run()
    asked: set[Point] = set()
    said: Mapping[Point, Answer] | None = None
    while True:
        try:
            wanted = next(asking) if said is None else asking.send(said)
        except StopIteration:
            assert set(search.boundary().answers) <= asked and search.boundary().complete
            return search.boundary()
        assert wanted and not wanted & asked, "no point is asked twice"
        asked |= wanted
        said = {point: answer(point) for point in wanted}


def every(sizes: tuple[int, ...]) -> list[Point]:
    return list(itertools.product(*map(range, sizes)))


@pytest.mark.every
@pytest.mark.parametrize("seed", range(60))
def test_both_sides_are_those_of_all_points(seed: int) -> None:
    """The maximal points that hold and the minimal ones that fail, of random monotone functions."""
    draw = random.Random(seed)
    sizes = tuple(draw.randint(1, 4) for _ in range(draw.randint(1, 4)))
    points = every(sizes)
    fails = draw.sample(points, min(len(points), draw.randint(0, 4)))

    def answer(point: Point) -> Answer:
        return Answer.FAILS if any(below(f, point) for f in fails) else Answer.HOLDS

    found = run(sizes, draw.choice(points), answer)
    assert list(found.holding) == maximal(p for p in points if answer(p) is Answer.HOLDS)
    assert sorted(found.failing) == minimal(p for p in points if answer(p) is Answer.FAILS)
    assert found.contradictions == ()
    for point in found.failing:
        assert found.answers[point] is Answer.FAILS
        lower = [p for p in points if below(p, point) and sum(point) - sum(p) == 1]
        assert all(found.answers[p] is Answer.HOLDS for p in lower), "each removal has its run"
    assert all(found.answers[p] is Answer.HOLDS for p in found.holding)


@pytest.mark.every
@pytest.mark.parametrize("seed", range(40))
def test_contradictory_points_are_left_out(seed: int) -> None:
    """Where two levels contradict each other, both sides are those of the points that exist."""
    draw = random.Random(seed)
    sizes = tuple(draw.randint(2, 4) for _ in range(draw.randint(2, 4)))
    one, other = draw.sample(range(len(sizes)), 2)
    at, too = draw.randrange(1, sizes[one]), draw.randrange(1, sizes[other])

    def exists(point: Point) -> bool:
        return not (point[one] == at and point[other] >= too)

    points = [p for p in every(sizes) if exists(p)]
    fails = draw.sample(points, min(len(points), draw.randint(0, 3)))

    def answer(point: Point) -> Answer:
        assert exists(point)
        return Answer.FAILS if any(below(f, point) for f in fails) else Answer.HOLDS

    found = run(sizes, (0,) * len(sizes), answer, exists)
    assert list(found.holding) == maximal(p for p in points if answer(p) is Answer.HOLDS)
    assert all(not exists(p) for p in found.impossible)
    for point in fails:
        assert any(below(f, point) for f in found.failing)


def test_a_point_found_impossible_when_it_is_asked() -> None:
    def answer(point: Point) -> Answer:
        if point == (1, 1):
            return Answer.IMPOSSIBLE
        return Answer.HOLDS

    found = run((2, 2), (0, 0), answer)
    assert found.holding == ((0, 1), (1, 0)) and found.impossible == {(1, 1)}
    assert (1, 1) not in found.answers


@pytest.mark.parametrize("other", [Answer.VACUOUS, Answer.UNKNOWN])
def test_what_is_not_known_to_hold_never_counts(other: Answer) -> None:
    def answer(point: Point) -> Answer:
        return other if point[0] else Answer.HOLDS

    found = run((2, 3), (0, 0), answer)
    assert found.holding == ((0, 2),)
    assert dict(found.failing) == {(1, 0): other}


def test_what_is_too_large_together_is_approached_from_below() -> None:
    """Each of five alone holds, three together, more are not decided: one such three is found, and
    that nothing is known beyond."""

    def answer(point: Point) -> Answer:
        return Answer.HOLDS if sum(point) < 4 else Answer.UNKNOWN

    found = run((2,) * 5, (0,) * 5, answer)
    assert found.holding == ((0, 0, 0, 0, 1), (0, 0, 0, 1, 0), (1, 1, 1, 0, 0))
    assert found.failing == {} and found.undecided == {(1,) * 5} and found.complete
    assert len(found.answers) <= 12


def test_a_failure_below_what_holds_is_reported() -> None:
    """The middle of three fails: whichever side the search starts from, it is not smoothed over."""

    def answer(point: Point) -> Answer:
        return Answer.FAILS if point == (1,) else Answer.HOLDS

    answers = {p: answer(p) for p in every((3,))}
    assert contradictions(answers) == (((1,), (2,)),)
    assert run((3,), (2,), answer).contradictions == ()  # nothing was asked below
    both = run((2, 3), (0, 2), lambda p: Answer.FAILS if p == (0, 1) else answer((9,)))
    assert both.contradictions == () or both.contradictions == (((0, 1), (0, 2)),)
    first = run((3,), (1,), answer)
    assert first.failing == {(1,): Answer.FAILS} and first.holding == ((0,),)


def test_a_jump_over_a_failure_is_reported() -> None:
    holds = {(0, 0), (1, 0), (1, 1)}  # (0, 1) fails below (1, 1)
    found = run((2, 2), (1, 1), lambda p: Answer.HOLDS if p in holds else Answer.FAILS)
    assert found.contradictions == ()
    asked = {p: Answer.HOLDS if p in holds else Answer.FAILS for p in every((2, 2))}
    assert contradictions(asked) == (((0, 1), (1, 1)),)


def test_few_points_are_asked() -> None:
    """Of 4,096 points a dozen and a few for each failure."""
    sizes = (2,) * 12
    found = run(
        sizes, (0,) * 12, lambda p: Answer.FAILS if p[3] or (p[5] and p[7]) else Answer.HOLDS
    )
    assert len(found.answers) < 40 and len(found.holding) == 2
