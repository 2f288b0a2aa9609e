"""Is there a cycle through states that satisfy ``bad``?

States are numbered worker by worker.  Edges are not stored: the states inside are expanded once to
count the edges to each, and once more when no edge to them is left, to take their own edges away
(Kahn, 1962).  Sweeps go level by level, so that one of them suffices unless edges lead back.
"""

from __future__ import annotations

from checker.engines.native.memory import Buffer
from checker.engines.native.search import Search
from checker.kernels.fields import Context, Mode, Worker
from checker.witness.answer import Unsupported


class LostProperty(Exception):
    """A property can't be evaluated in the state with these words."""

    def __init__(self, words: tuple[int, ...]) -> None:
        super().__init__()
        self.words = words


class Unfinished(Exception):
    """The budget does not suffice for the question; the message says which."""


def cyclic(search: Search, prop: int) -> bool:
    """Whether a cycle runs through states in which property ``prop`` is bad.

    Raises :class:`LostProperty` where that can't be told, :class:`Unfinished` for lack of time.
    """
    inside = _inside(search, prop)
    count = inside.bytes()[: search.store.states].tobytes().count(1)
    if not search.maybe_cyclic or not count:
        return False
    store = search.store
    degrees = Buffer(4 * store.states)
    _number(search)
    store.context[Context.ALIVE] = inside.address
    store.context[Context.INDEGREE] = degrees.address
    for crew in store.crew:
        crew.put(Worker.CYCLE, 0)
        crew.put(Worker.FOUND, 0)
    _sweep(search, Mode.INDEGREE)
    if store.total(Worker.CYCLE):
        return True
    removed = -1
    while removed != store.total(Worker.FOUND):
        removed = store.total(Worker.FOUND)
        _sweep(search, Mode.TRIM)
    return removed < count


def _sweep(search: Search, mode: Mode) -> None:
    for depth in range(search.depth + 1):
        search.sweep(depth, mode, parallel=False)
        if search.stopped is not None:
            raise Unfinished(search.stopped)


def _inside(search: Search, prop: int) -> Buffer:
    """One byte for each state: 1 where the property is bad."""
    store = search.store
    inside, at = Buffer(store.states), 0
    for crew in store.crew:
        classify = search.kernel.classify[prop]
        classify(crew.rows.address, crew.count, inside.address + at)
        at += crew.count
    lost = inside.bytes()[: store.states].tobytes().find(2)
    if lost >= 0:
        raise LostProperty(_words(search, lost))
    return inside


def _words(search: Search, number: int) -> tuple[int, ...]:
    width = search.store.shape.words
    for crew in search.store.crew:
        if number < crew.count:
            return tuple(crew.rows.words()[number * width : (number + 1) * width])
        number -= crew.count
    raise IndexError(number)


def _number(search: Search) -> None:
    """Makes every state's number known to native code."""
    store = search.store
    if store.states >= 1 << 32:
        raise Unsupported("more than 2^32 states in the question for cycles")
    first = 0
    for i, crew in enumerate(store.crew):
        store.context[Context.PREFIX + i] = first
        first += crew.count
    if store.shape.words == 1 and not store.context[Context.VALS]:
        store.numbers = Buffer(4 * store.slots)
        store.context[Context.VALS] = store.numbers.address
        for crew in store.crew:
            search.kernel.number(store.context_address, crew.address)
