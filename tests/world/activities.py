"""Activities: what is left of a handler behind an ``await``, while its process is free."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.world import spec as s
from tests.world.step import Step

if TYPE_CHECKING:
    from tests.world.running import Place, Way
    from tests.world.system import Model, Path, State


@dataclass(frozen=True)
class Activity:
    """``body`` is left of ``handler``, which a condition or a timer began with the values ``own``
    (``None``: anything else began it); it uses ``names``, and waits for ``condition``."""

    path: Path
    handler: Hashable
    own: tuple[Any, ...] | None
    text: str
    names: tuple[tuple[str, Any], ...]
    condition: s.Expr | None = field(compare=False)
    body: s.Block = field(compare=False)


def put_off(at: Place, condition: s.Expr | None, body: s.Block) -> None:
    """What follows an ``await`` is left for later."""
    text = "  ".join(["" if condition is None else condition.text, *(each.text for each in body)])
    words = set(re.findall(r"[\w']+", text))
    names = tuple(sorted((name, value) for name, value in at.names.items() if name in words))
    made = Activity(at.path, at.handler, at.own, text, names, condition, body)
    _change(at.way.state, at.me, made, 1)


def _change(state: State, p: str, activity: Activity, by: int) -> None:
    """One more of ``activity``, or one less."""
    counts = Counter(dict(state["activities", p]))
    counts[activity] += by
    state["activities", p] = frozenset((+counts).items())


def is_under_way(state: State, p: str, handler: Hashable, own: tuple[Any, ...]) -> bool:
    """Whether ``p`` has begun ``handler`` with these values, and not ended it."""
    return any((a.handler, a.own) == (handler, own) for a, _ in state["activities", p])


def steps_of_activities(model: Model, state: State, p: str) -> Iterator[Step]:
    """``p`` goes on with something; of activities that are alike, with one."""
    from tests.world.steps import own

    for each, _ in state["activities", p]:
        promise = own(model, state, ("activity", p, each), p)
        yield Step(f"{p} goes on with {each.text!r} {each.names}", _goes_on(p, each), promise)


def _goes_on(p: str, activity: Activity) -> Callable[[Way], None]:
    def does(way: Way) -> None:
        from tests.world.running import NoWay, Place

        names = dict(activity.names)
        path, handler, own = activity.path, activity.handler, activity.own
        at = Place(way, p, path, names, None, set(names), handler, own)
        if activity.condition is not None and not activity.condition.value(at):
            raise NoWay
        _change(way.state, p, activity, -1)
        way.run(p, lambda: way.top_level(at, activity.body))

    return does
