"""What types and the code of a transition system have in common: they are values, made often."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from checker.records import MISSING, RecordField

if TYPE_CHECKING:
    from checker.model.names import NamesOf

K = TypeVar("K", bound="Hashed")


class Hashed:
    """The base of classes of values that are trees of one another (:func:`value_class`).

    Each value computes its hash once, when it is first asked for; what is kept is no part of the
    value: it is not compared, copied or pickled.
    """

    __slots__ = ("kept_hash",)
    kept_hash: int


class Node(Hashed):
    """An expression, a domain, a statement or a part of one.

    ``kept_names``: its names, from when they are first asked for (:mod:`checker.model.names`).
    """

    __slots__ = ("kept_names",)
    kept_names: NamesOf


@dataclass_transform(frozen_default=True)
def value_class(declared: type[K]) -> type[K]:
    """Returns the class of values, subclass of :class:`Hashed`, whose fields are those that the
    annotations of ``declared`` declare.

    Every command waits until all of them are made, and a dataclass takes ten times as long.  (With
    a metaclass each failing ``isinstance`` would take twice as long.)  That nothing is assigned to
    a field afterwards is left to the type checker.
    """
    body = {name: each for name, each in vars(declared).items() if name not in _OF_THE_FIRST}
    types = body.get("__annotations__", {})
    fields = tuple(RecordField(n, kind, body.pop(n, MISSING)) for n, kind in types.items())
    names = tuple(types)
    body |= {"__slots__": names, "__match_args__": names, "record_fields": fields}
    body |= _methods(declared.__name__, fields)
    made: Any = type(declared.__name__, declared.__bases__, body)
    return made  # type: ignore[no-any-return]


_OF_THE_FIRST = ("__dict__", "__weakref__")
"""What a class has that is declared without slots."""


def _methods(kind: str, fields: tuple[RecordField, ...]) -> dict[str, Any]:
    """Returns how values of the class ``kind`` are made, compared, hashed, printed and pickled."""
    names = tuple(field.name for field in fields)
    values = values_of(names)

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

    def printed(one: Any) -> str:
        pairs = zip(names, values(one), strict=True)
        return f"{kind}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    return {
        "__init__": _constructor(fields),
        "__eq__": is_equal,
        "__hash__": hashed,
        "__repr__": printed,
        "__reduce__": lambda one: (type(one), values(one)),
    }


def _constructor(fields: tuple[RecordField, ...]) -> Any:
    """Returns ``__init__``, which takes ``fields`` in their order or by name."""
    given = {f"default_{f.name}": f.default for f in fields if f.default is not MISSING}
    parameters = [
        f"{f.name}=default_{f.name}" if f"default_{f.name}" in given else f.name for f in fields
    ]
    body = "; ".join(f"self.{f.name} = {f.name}" for f in fields) or "pass"
    made: dict[str, Any] = {}
    exec(f"def __init__({', '.join(['self', *parameters])}): {body}", given, made)
    return made["__init__"]


def values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Returns the function that gives the values of the attributes ``names``, as a tuple."""
    match names:
        case ():
            return lambda node: ()
        case (name,):
            return lambda node: (getattr(node, name),)
        case _:
            return attrgetter(*names)
