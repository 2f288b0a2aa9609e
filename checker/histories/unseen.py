"""Leaves out operations that never return and of which nothing shows whether they took effect.

An enqueue that never returns need not take effect.  If its value is in no result, an order in which
it does is also one without it: take it out, and the dequeue that removes its item, if there is one,
which never returns either, for its result would be the value.  At each time the queue is what it
was without that item.  So each other dequeue finds the same first item as before, or none as
before: were that item the first one, it would be the dequeue that was taken out.
"""

from __future__ import annotations

from checker.histories.objects import Found
from checker.histories.rows import MISSING
from checker.histories.steps import Bound
from checker.language.library import prelude


def without_unseen(found: Found, bound: list[Bound]) -> list[Bound]:
    """Returns the operations of the library's queue without enqueues as above; of another object,
    all of them."""
    if found.decl is not prelude().objects["Queue"][0]:
        return bound
    results = [one.result for one in bound if one.name == "dequeue" and _returns(one)]
    if MISSING in results:
        return bound
    seen = {*results, None}
    return [
        one for one in bound if one.name != "enqueue" or _returns(one) or one.arguments[-1] in seen
    ]


def _returns(one: Bound) -> bool:
    return one.recorded.returned is not None
