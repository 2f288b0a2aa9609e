"""Values that are not known, and stay so until something reads them.

A state may hold an :class:`Unknown` wherever it holds a value, and the interpreter runs on it as on
any other: it copies the unknown value, and where it looks at it, :class:`Unread` is raised.  Then
:func:`split` puts each value that it may have in its place, one level deep, and starts again.  That
is lazy narrowing (Runciman, Naylor, Lindblad: SmallCheck and Lazy SmallCheck, 2008); what no guard
and no assignment reads is never enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from checker.model import types as t
from checker.model.types import Type
from checker.polling import poll

R = TypeVar("R")

MOST_VALUES = 256
"""The largest number of values of a type that are put in the place of an unknown one."""
MOST_WAYS = 600
"""The largest number of combinations of values that :func:`split` tries."""


class TooMany(Exception):
    """An unknown value was read that has too many values, or values of a size that is guessed."""


class Unread(Exception):
    """The unknown value ``what`` was read."""

    def __init__(self, what: Unknown) -> None:
        super().__init__()
        self.what = what


class Unknown:
    """Some value of ``type``, the same one wherever this object is; ``free``: it belongs to the
    surroundings, of which nothing is known in any step.

    Whatever looks at it raises :class:`Unread`, its hash and its representation included.
    """

    __slots__ = ("free", "type")

    def __init__(self, type_: Type, free: bool = False) -> None:
        self.type, self.free = type_, free

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unread(self)


def _read(self: Any, *_: object) -> NoReturn:
    raise Unread(self)


_BINARY = ("add", "sub", "mul", "floordiv", "mod", "and", "or")
_READING = (
    *"eq ne lt le gt ge hash bool int index len iter contains getitem repr neg".split(),
    *_BINARY,
    *(f"r{name}" for name in _BINARY),
)
for _name in _READING:
    setattr(Unknown, f"__{_name}__", _read)


class OneMember:
    """A set of processes: whether ``process`` is in it (``there``), and the ``others`` in it."""

    __slots__ = ("others", "process", "there")

    def __init__(self, process: int, there: Any, others: Any) -> None:
        self.process, self.there, self.others = process, there, others

    def __contains__(self, item: Any) -> bool:
        return bool(self.there if item == self.process else item in self.others)

    def __or__(self, added: frozenset[int]) -> OneMember:
        if not added <= {self.process}:
            return OneMember(self.process, self.there, self.others | (added - {self.process}))
        return OneMember(self.process, True, self.others) if added else self

    def __sub__(self, removed: frozenset[int]) -> OneMember:
        if not removed <= {self.process}:
            return OneMember(self.process, self.there, self.others - removed)
        return OneMember(self.process, False, self.others) if removed else self

    def _whole(self, *_: object) -> NoReturn:
        """Makes what needs all members wait until they are known."""
        for part in (self.others, self.there):
            if isinstance(part, Unknown):
                raise Unread(part)
        raise AssertionError("a set all of which is known is a frozenset")


for _name in "eq ne lt le gt ge hash bool len iter and rand ror rsub".split():
    setattr(OneMember, f"__{_name}__", OneMember._whole)


def fresh(type_: Type, free: bool = False) -> Any:
    """Returns an unknown value of ``type_``; of tuples and maps, one with unknown parts."""
    match type_:
        case t.TupleT(items):
            return tuple([fresh(item, free) for item in items])
        case t.MapT(key, value) if t.cardinality_up_to(key, MOST_VALUES) < MOST_VALUES:
            return tuple([fresh(value, free) for _ in range(t.cardinality(key))])
        case _:
            return Unknown(type_, free)


def alternatives(what: Unknown) -> Iterator[Any]:
    """Yields what may stand in the place of ``what``; its parts may be unknown.

    Raises :class:`TooMany`.
    """
    free, type_ = what.free, what.type
    match type_:
        case t.OptionT(item):
            yield None
            yield (fresh(item, free),)
        case t.VariantT(cases=cases):
            for number, case in enumerate(cases):
                yield (number, *(fresh(kind, free) for _, kind in case.fields))
        case t.SeqT(item, cap, None) if cap < MOST_VALUES:
            for length in range(cap + 1):
                yield tuple([fresh(item, free) for _ in range(length)])
        case t.TupleT() | t.MapT():
            yield fresh(type_, free)
        case t.IntT(grows=str()) | t.SeqT() | t.BagT():
            raise TooMany
        case _:
            if t.cardinality_up_to(type_, MOST_VALUES + 1) > MOST_VALUES or _is_guessed(type_):
                raise TooMany
            yield from t.universe(type_)


def _is_guessed(type_: Type) -> bool:
    return any(getattr(part, "grows", None) is not None for part in t.parts_of(type_))


class Surroundings:
    """The ``values`` of what belongs to the surroundings: no other unknown value is in them."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values


def substituted(value: Any, what: Unknown, by: Any) -> Any:
    """Returns ``value`` with ``by`` in the place of ``what``."""
    if value is what:
        return by
    if isinstance(value, Surroundings):
        return Surroundings(substituted(value.values, what, by)) if what.free else value
    if isinstance(value, tuple):
        new = tuple([substituted(part, what, by) for part in value])
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    if isinstance(value, OneMember):
        there = substituted(value.there, what, by)
        others = substituted(value.others, what, by)
        if isinstance(others, frozenset):
            others -= {value.process}
            if isinstance(there, bool):
                return others | {value.process} if there else others
        return OneMember(value.process, there, others)
    return value


def split(value: Any, run: Callable[[Any], R]) -> list[tuple[Any, R]]:
    """Returns what ``run`` returns for ``value``, or, where it reads what is not known, for each
    value that it may be, with that value.

    Raises :class:`TooMany`.
    """
    found: list[tuple[Any, R]] = []
    todo = [value]
    tried = 0
    while todo:
        poll()
        tried += 1
        if tried > MOST_WAYS:
            raise TooMany
        now = todo.pop()
        try:
            found.append((now, run(now)))
        except Unread as unread:
            todo += [substituted(now, unread.what, each) for each in alternatives(unread.what)]
    return found


def is_known(value: Any) -> bool:
    """Returns whether all of ``value`` is known."""
    if isinstance(value, tuple):
        return all(map(is_known, value))
    return not isinstance(value, Unknown | OneMember)


def settled(value: Any, known: dict[int, Unknown] | None = None) -> Any:
    """Returns ``value`` with new unknown values for those in it, which are not free."""
    known = {} if known is None else known
    if isinstance(value, tuple):
        return tuple([settled(part, known) for part in value])
    if isinstance(value, Unknown):
        return known.setdefault(id(value), Unknown(value.type))
    return value


def key_of(value: Any) -> Any:
    """Returns what is equal for values that differ only in which unknown object is which."""
    try:
        hash(value)
    except Unread:
        return _key(value, {})
    return value


def identity_of(value: Any) -> Any:
    """Returns what is equal for two values only if they are: unknown parts if they are the same
    object."""
    match value:
        case tuple():
            return tuple([identity_of(part) for part in value])
        case Unknown():
            return ("?", id(value))
        case OneMember():
            return (value.process, identity_of(value.there), identity_of(value.others))
        case _:
            return value


def _key(value: Any, numbers: dict[int, int]) -> Any:
    if isinstance(value, tuple):
        return tuple([_key(part, numbers) for part in value])
    if isinstance(value, Unknown):
        return ("?", numbers.setdefault(id(value), len(numbers)))
    return value
