"""The order of calls and returns of some operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from checker.histories.steps import Bound


class Events(Struct, frozen=True):
    """Calls and returns in their order: the operation's number, and whether it is called.

    ``lost``: operations that never return, and may have taken effect after their call, or never;
    ``optional``: those that return, and may have taken effect before, or never.  ``before``: of
    an operation, others that precede it though ``order`` does not say so.
    """

    order: tuple[tuple[int, bool], ...]
    lost: frozenset[int]
    optional: frozenset[int] = frozenset()
    before: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def prefix(self, end: int) -> Events:
        """Returns the events before the position ``end``; what has not returned there is lost."""
        order = self.order[:end]
        returned = {number for number, is_call in order if not is_call}
        return Events(order, frozenset(n for n, is_call in order if is_call) - returned)


def events_of(bound: Sequence[Bound]) -> Events:
    """Returns the events of the operations ``bound``, which their positions number."""
    places: list[tuple[int, int, bool]] = []
    for number, one in enumerate(bound):
        places.append((one.recorded.called, number, True))
        if one.recorded.returned is not None:
            places.append((one.recorded.returned, number, False))
    lost = (number for number, one in enumerate(bound) if one.recorded.returned is None)
    return Events(tuple((n, is_call) for _, n, is_call in sorted(places)), frozenset(lost))
