"""Estimates which variable, or which type of message, multiplies the number of states.

A variable's *weight* is the number of explored states divided by the number of states left when the
variable is ignored.  Neither need be counted: let a state's *row* be the explored states that
differ from it in this variable only; then the states without the variable are as many as there are
rows, and the weight is one over the mean, over all states, of one over the length of a state's row.
The mean is taken over a sample: the states with the smallest checksums in a few levels, whichever
worker found them.  A row is walked by lookups in the visited set: from a state one entry of the
variable is changed to another value that occurs in the sample, and so on.  Where a row is too long
to be walked completely the weight is too small.
"""

from __future__ import annotations

import ctypes
import heapq
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from checker.engines.native.codegen.layout import Layout
from checker.engines.native.search.store import Store
from checker.model.ir import TransitionSystem, VariableKind
from checker.model.types import BagT, MapT, SeqT, SetT, Type, Value, VariantT, sort_key
from checker.results.answer import State, Variety, Weight

SAMPLE, WALKED = 96, 24
"""The number of states from which values are taken, and of states whose rows are walked."""
VALUES = 16
"""The most frequent values of an entry, or of the messages of a type."""
QUESTIONS = 200
"""The maximum number of lookups in the visited set for one row."""
NOTHING = (1 << 64) - 1
"""The visited set's result for a state that it does not have."""
MANY = 1 << 18
"""The sample is taken from levels with so many states at most, the largest of them."""
WORTH_SAYING = 1.5
"""Smaller weights are not reported."""


def blowup(
    system: TransitionSystem, store: Store, rows: Sequence[tuple[int, ...]]
) -> tuple[tuple[Weight, ...], tuple[Variety, ...]]:
    """The factors that multiply the states in ``store``, and the numbers of values that the
    variables have in a sample of them, the largest first.  ``rows``: the words of the sample."""
    if not rows:
        return (), ()
    layout = store.kernel.image.layout
    sample = [layout.unpack(words) for words in rows]
    return _weights(system, store, rows, sample), _varieties(system, sample)


def _weights(
    system: TransitionSystem, store: Store, rows: Sequence[tuple[int, ...]], sample: Sequence[State]
) -> tuple[Weight, ...]:
    layout, seen = store.kernel.image.layout, _Seen(store)
    step = max(1, len(rows) // WALKED)
    walked = [(_whole(words), state) for words, state in zip(rows, sample, strict=True)][::step]
    found = []
    for row in _aspects(system, layout, sample):
        lengths = [row(seen, whole, state) for whole, state in walked]
        found.append(Weight(row.name, len(lengths) / sum(1 / length for length in lengths)))
    found.sort(key=lambda each: (-each.factor, each.name))
    return tuple(each for each in found if each.factor >= WORTH_SAYING)


def _varieties(system: TransitionSystem, sample: Sequence[State]) -> tuple[Variety, ...]:
    found = []
    for index, variable in enumerate(system.variables):
        values = len({state[index] for state in sample})
        if values > 1:
            name = f"`{variable.title or variable.name}`"
            found.append(Variety(name, values, len(sample)))
    return tuple(sorted(found, key=lambda each: (-each.values, each.name)))


def sample_rows(store: Store, most: int) -> list[tuple[int, ...]]:
    """Returns the words of ``most`` sampled states, in an order that depends only on the states."""
    rows = (row for level in _levels(store) for row in _rows(store, level))
    least = heapq.nsmallest(most, ((zlib.crc32(row), row) for row in rows))
    return [tuple(memoryview(row).cast("Q")) for _, row in least]


def _levels(store: Store) -> list[int]:
    """The largest levels that together have few enough states."""
    sizes = [(store.level_size(depth), depth) for depth in range(len(store.workers[0].starts))]
    chosen, left = [], MANY
    for size, depth in sorted(sizes, reverse=True):
        if size <= left:
            chosen.append(depth)
            left -= size
    return chosen


def _rows(store: Store, depth: int) -> Iterator[bytes]:
    """The states of a level."""
    for rows in store.blocks(depth):
        for at in range(0, rows.nbytes, store.width):
            yield bytes(rows[at : at + store.width])


def _whole(words: Sequence[int]) -> int:
    """The words of a state as one number."""
    return sum(word << 64 * i for i, word in enumerate(words))


class _Seen:
    """The explored states."""

    def __init__(self, store: Store) -> None:
        self._kernel, self._context = store.kernel, store.context_address
        self._bytes = 8 * store.shape.words
        self._row = (ctypes.c_uint64 * store.shape.words)()
        self._address = ctypes.addressof(self._row)

    def __contains__(self, whole: int) -> bool:
        ctypes.memmove(self._address, whole.to_bytes(self._bytes, "little"), self._bytes)
        return self._kernel.lookup(self._context, self._address) != NOTHING


def _frequent(values: Iterator[Value]) -> list[Value]:
    return [value for value, _ in Counter(values).most_common(VALUES)]


def _aspects(
    system: TransitionSystem, layout: Layout, sample: Sequence[State]
) -> Iterator[_Entries | _Messages]:
    """The aspects in which states may differ."""
    for index, variable in enumerate(system.variables):
        if len({state[index] for state in sample}) == 1:
            continue
        name = variable.title or variable.name
        yield _Entries(f"`{name}`", index, variable.type, layout, sample)
        if variable.kind is VariableKind.LINK:
            kinds = _kinds(variable.type)
            for kind in kinds if len(kinds) > 1 else ():
                title = f"{kind} in `{name}`"
                yield _Messages(title, index, variable.type, kind, layout, sample)


class _Entries:
    """The row of a state in a variable, walked entry by entry where it is a map."""

    def __init__(
        self, name: str, index: int, type_: Type, layout: Layout, sample: Sequence[State]
    ) -> None:
        self.name, self._index, self._layout = name, index, layout
        self._map = isinstance(type_, MapT)
        self._base = self._entries(sample[0])
        entries = zip(*(self._entries(state) for state in sample), strict=True)
        self._values = [_frequent(iter(values)) for values in entries]
        self._known: dict[tuple[int, Value], int] = {}

    def __call__(self, seen: _Seen, whole: int, state: State) -> int:
        """The number of explored states that differ from ``state`` here only, itself included."""
        found, left, questions = {whole}, [(whole, self._entries(state))], 0
        while left:
            here, entries = left.pop()
            for at, values in enumerate(self._values):
                rest = here ^ self._bits(at, entries[at])
                for value in values:
                    there = rest ^ self._bits(at, value)
                    if there in found:
                        continue
                    questions += 1
                    if there in seen:
                        found.add(there)
                        left.append((there, (*entries[:at], value, *entries[at + 1 :])))
                if questions > QUESTIONS:
                    return len(found)
        return len(found)

    def _entries(self, state: State) -> tuple[Value, ...]:
        value: Any = state[self._index]
        return tuple(value) if self._map else (value,)

    def _bits(self, at: int, value: Value) -> int:
        """The change to a state with the base's entry that gives the entry ``value``."""
        key = at, value
        if key not in self._known:
            changed = (*self._base[:at], value, *self._base[at + 1 :])
            self._known[key] = self._part(self._base) ^ self._part(changed)
        return self._known[key]

    def _part(self, entries: tuple[Value, ...]) -> int:
        return _whole(self._layout.part(self._index, entries if self._map else entries[0]))


class _Messages:
    """The row of a state in the messages of one type in a link."""

    def __init__(
        self,
        name: str,
        index: int,
        type_: Type,
        kind: str,
        layout: Layout,
        sample: Sequence[State],
    ) -> None:
        self.name, self._index, self._type, self._kind = name, index, type_, kind
        self._layout = layout
        self._parts = _frequent(self._mine(state[index]) for state in sample)

    def __call__(self, seen: _Seen, whole: int, state: State) -> int:
        """The number of explored states that differ from ``state`` here only, itself included."""
        link = state[self._index]
        rest = _filter_items(self._type, link, lambda name: name != self._kind)
        base = whole ^ self._bits(link)
        others = {_merge_values(self._type, rest, part) for part in self._parts} - {link}
        return 1 + sum(self._is_seen(seen, base, other) for other in others)

    def _is_seen(self, seen: _Seen, base: int, link: Value) -> bool:
        try:
            return base ^ self._bits(link) in seen
        except ValueError:  # more messages than the link has room for
            return False

    def _mine(self, link: Value) -> Value:
        return _filter_items(self._type, link, lambda name: name == self._kind)

    def _bits(self, link: Value) -> int:
        return _whole(self._layout.part(self._index, link))


# ---- messages ---------------------------------------------------------------------------------


def _kinds(type_: Any) -> tuple[str, ...]:
    """The types of the messages in values of a type, each once."""
    match type_:
        case MapT(_, item) | BagT(item) | SetT(item) | SeqT(item):
            return _kinds(item)
        case VariantT(cases=cases):
            inner = (_kinds(case.fields[-1][1]) if case.fields else () for case in cases)
            pairs = zip(cases, inner, strict=True)
            return tuple(dict.fromkeys(k for case, below in pairs for k in below or (case.name,)))
        case _:
            items = getattr(type_, "items", ())
            return _kinds(items[-1]) if items else ()


def _kind(type_: Any, value: Any) -> str:
    """The type of the message in ``value``, an element of a link."""
    match type_:
        case VariantT(cases=cases):
            case = cases[value[0]]
            below = _kind(case.fields[-1][1], value[-1]) if case.fields else ""
            return below or case.name
        case _:
            items = getattr(type_, "items", ())
            return _kind(items[-1], value[-1]) if items else ""


def _filter_items(type_: Any, value: Any, wanted: Callable[[str], bool]) -> Value:
    match type_:
        case MapT(_, item):
            return tuple(_filter_items(item, each, wanted) for each in value)
        case SetT(item):
            return frozenset(each for each in value if wanted(_kind(item, each)))
        case BagT(item) | SeqT(item):
            return tuple(each for each in value if wanted(_kind(item, each)))
        case _:
            return value


def _merge_values(type_: Any, one: Any, other: Any) -> Value:
    match type_:
        case MapT(_, item):
            return tuple(_merge_values(item, a, b) for a, b in zip(one, other, strict=True))
        case SetT():
            return one | other
        case BagT():
            return tuple(sorted((*one, *other), key=sort_key))
        case SeqT():
            return (*one, *other)
        case _:
            return other
