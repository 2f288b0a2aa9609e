"""What types and the code of a transition system have in common: they are values, made often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.model.names import NamesOf


class Hashed:
    """The base of frozen dataclasses with slots that are trees of one another.

    Each computes its hash once, when it is first asked for; what is kept is no part of the value:
    it is not compared, copied or pickled.  Constructors take a third of the time that frozen
    dataclasses take, which defend their fields even against these; that nothing is assigned to a
    field afterwards is left to the type checker.
    """

    __slots__ = ("kept_hash",)
    kept_hash: int

    def __init_subclass__(cls) -> None:
        if "__dataclass_fields__" in vars(cls):  # it is the class with slots, which is made last
            _speed_up(cls)


class Node(Hashed):
    """An expression, a domain, a statement or a part of one.

    ``kept_names``: its names, from when they are first asked for (:mod:`checker.model.names`).
    """

    __slots__ = ("kept_names",)
    kept_names: NamesOf


def _speed_up(kind: Any) -> None:
    """Replaces what a frozen dataclass has for construction, comparison, hash and pickling."""
    own = [(f.name, "object", field(default=f.default)) for f in fields(kind)]
    plain = make_dataclass(kind.__name__, own)
    values = values_of(tuple(name for name, _, _ in own))

    def is_equal(one: Any, other: Any) -> Any:
        if one is other:
            return True
        if type(one) is type(other):
            return values(one) == values(other)
        return False if isinstance(other, Hashed) else NotImplemented

    def hashed(one: Any) -> int:
        found: int | None = getattr(one, "kept_hash", None)
        if found is None:
            found = one.kept_hash = hash(values(one))
        return found

    del kind.__setattr__, kind.__delattr__
    kind.__init__ = vars(plain)["__init__"]
    kind.__eq__, kind.__hash__ = is_equal, hashed
    kind.__reduce__ = lambda one: (kind, values(one))


def values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Returns the function that gives the values of the attributes ``names``, as a tuple."""
    match names:
        case ():
            return lambda node: ()
        case (name,):
            return lambda node: (getattr(node, name),)
        case _:
            return attrgetter(*names)
