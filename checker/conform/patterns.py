"""Patterns of values: what a line of a log says of a value, where it need not say all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, assert_never

from msgspec import Struct

from checker.instantiate.capacities import LARGEST_CAPACITY
from checker.model import types as t
from checker.model.types import Type, Value

FREE = ("_", "…")
"""What stands in a log for a value that is not known."""


class NoValue(ValueError):
    """What a log says is no value of the spec; the message says what would be one."""


class TooSmall(NoValue):
    """A value needs a ``capacity`` of at least ``size``, and a smaller one was guessed."""

    def __init__(self, message: str, capacity: str, size: int) -> None:
        super().__init__(message)
        self.capacity, self.size = capacity, size


class Anything(Struct, frozen=True):
    """Any value."""


class Exactly(Struct, frozen=True):
    """This value only."""

    value: Value


class Parts(Struct, frozen=True):
    """A tuple, or a map by the ranks of its keys, each part of which matches."""

    parts: tuple[Pattern, ...]


class OneCase(Struct, frozen=True):
    """A message or another variant of this case, each field of which matches."""

    case: int
    fields: tuple[Pattern, ...]


class Present(Struct, frozen=True):
    """An option that has a value, which matches."""

    item: Pattern


Pattern = Anything | Exactly | Parts | OneCase | Present

ANYTHING = Anything()


def matches(pattern: Pattern, value: Any) -> bool:
    """Returns whether ``value`` is one of those that ``pattern`` describes."""
    match pattern:
        case Anything():
            return True
        case Exactly(wanted):
            return bool(wanted == value)
        case Parts(parts):
            return all(map(matches, parts, value))
        case OneCase(case, fields):
            return value[0] == case and all(map(matches, fields, value[1:]))
        case Present(item):
            return value is not None and matches(item, value[0])
        case _:
            assert_never(pattern)


def is_exact(pattern: Pattern) -> bool:
    """Returns whether only one value matches."""
    match pattern:
        case Anything():
            return False
        case Exactly():
            return True
        case Parts(parts) | OneCase(_, parts):
            return all(is_exact(part) for part in parts)
        case Present(item):
            return is_exact(item)
        case _:
            assert_never(pattern)


TRUTHS = {"true": True, "false": False}
"""Truth values as lines of text have them."""


def parse(type_: Type, data: Any, rename: Callable[[str], str] = str) -> Pattern:
    """Returns the pattern that ``data`` of a log describes among the values of ``type_``.

    Numbers, truth values (texts, too) and names are what they are; sets, bags and sequences are
    lists; records, messages' fields and maps are objects, of which parts may be missing; an option
    is ``null`` or its value; ``"_"`` is any value.  What the Informal Trace Format has for them
    is understood, too.  ``rename``: from texts of the log to names of the spec.

    Raises :class:`NoValue`, and :class:`TooSmall` where a guessed capacity has to be larger.
    """
    if isinstance(data, str):
        data = rename(data)
        if data in FREE:
            return ANYTHING
    match type_:
        case t.BoolT():
            return Exactly(_of(bool, TRUTHS.get(str(data), data), "true or false"))
        case t.IntT():
            return Exactly(_number(type_, data))
        case t.AtomT(name, labels, first):
            return Exactly(first + _index(str(data), labels, name))
        case t.TupleT(items, names):
            return _exactly(Parts, _tuple(items, names, data, rename))
        case t.OptionT(item):
            if data is None or data == "none" or _tag(data) == "None":
                return Exactly(None)
            inner = parse(item, data["value"] if _tag(data) == "Some" else data, rename)
            return Exactly((inner.value,)) if isinstance(inner, Exactly) else Present(inner)
        case t.SetT(item):
            return Exactly(frozenset(_all_of(item, _list(data, "#set"), rename)))
        case t.MapT(key, item):
            return _exactly(Parts, _map(key, item, data, rename))
        case t.SeqT(item):
            return Exactly(_fitting(type_, tuple(_all_of(item, _list(data), rename))))
        case t.BagT(item):
            inside = _all_of(item, _list(data), rename)
            return Exactly(_fitting(type_, tuple(sorted(inside, key=t.sort_key))))
        case t.VariantT():
            return _variant(type_, data, rename)
        case _:
            assert_never(type_)


def messages(
    type_: t.VariantT, name: str, fields: Any, rename: Callable[[str], str] = str
) -> tuple[Pattern, ...]:
    """Returns patterns of the messages called ``name`` with ``fields``: as it is sent, or else
    inside of the messages of layers below.  Empty where there is none of that name.
    """
    for index, case in enumerate(type_.cases):
        if case.name == name:
            return (OneCase(index, _fields(case.fields, fields, rename)),)
    found: list[Pattern] = []
    for index, case in enumerate(type_.cases):
        for place, (_, inner) in enumerate(case.fields):
            if isinstance(inner, t.VariantT):
                for pattern in messages(inner, name, fields, rename):
                    free: list[Pattern] = [ANYTHING] * len(case.fields)
                    free[place] = pattern
                    found.append(OneCase(index, tuple(free)))
    return tuple(found)


def message_names(type_: Type) -> list[str]:
    """Returns the names of messages, those inside of others included."""
    return list(
        dict.fromkeys(
            case.name
            for part in t.parts_of(type_)
            if isinstance(part, t.VariantT)
            for case in part.cases
        )
    )


def field_names(type_: Type, message: str = "") -> set[str]:
    """Returns the names of fields of a ``message``, or of all messages; those inside of others
    included."""
    return {
        name
        for part in t.parts_of(type_)
        if isinstance(part, t.VariantT)
        for case in part.cases
        if message in ("", case.name)
        for name, _ in case.fields
    }


def names_in(type_: Type, value: Any) -> frozenset[str]:
    """Returns the names of the message ``value``, those inside of it included."""
    if not isinstance(type_, t.VariantT):
        return frozenset()
    case = type_.cases[value[0]]
    inner = zip(case.fields, value[1:], strict=True)
    return frozenset({case.name}).union(*(names_in(kind, v) for (_, kind), v in inner))


def _exactly(make: Callable[[tuple[Pattern, ...]], Pattern], parts: Sequence[Pattern]) -> Pattern:
    """Returns a pattern of one value where all parts are of one."""
    values = [part.value for part in parts if isinstance(part, Exactly)]
    return Exactly(tuple(values)) if len(values) == len(parts) else make(tuple(parts))


def _of(kind: type, data: Any, wanted: str) -> Any:
    if type(data) is not kind:
        said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        raise NoValue(f"`{said}` is not {wanted}")
    return data


def _number(type_: t.IntT, data: Any) -> int:
    lo, hi, grows = type_.lo, type_.hi, type_.grows
    wanted = f"a number from {lo} to {hi}" if grows is None else f"a number from {lo} on"
    number: int = _of(int, data, wanted)
    if number > hi and grows is not None:
        said = f"{number} is larger than {LARGEST_CAPACITY:,}, and its bound is guessed up to there"
        raise TooSmall(said, grows, number)
    if not lo <= number <= hi:
        raise NoValue(f"{number} is not {wanted}")
    return number


def _fitting(type_: t.SeqT | t.BagT, items: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(items) <= type_.cap:
        return items
    many = f"a list of {len(items):,} items"
    if type_.grows is None:
        raise NoValue(f"{many}, and there are at most {type_.cap:,}")
    said = f"{many} is longer than {LARGEST_CAPACITY:,}, and its bound is guessed up to there"
    raise TooSmall(said, type_.grows, len(items))


def _index(name: str, names: Sequence[str], what: str) -> int:
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, 1, 0.5)
    known = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(names)}"
    raise NoValue(f"unknown {what} `{name}`: {known}")


def _tag(data: Any) -> object:
    return data.get("tag") if isinstance(data, Mapping) else None


def _list(data: Any, tag: str = "") -> list[Any]:
    if tag and isinstance(data, Mapping) and set(data) == {tag}:
        data = data[tag]
    if not isinstance(data, list):
        raise NoValue(f"`{data}` is not a list")
    return data


def _all_of(item: Type, data: list[Any], rename: Callable[[str], str]) -> list[Value]:
    found = [parse(item, each, rename) for each in data]
    if not all(isinstance(pattern, Exactly) for pattern in found):
        raise NoValue("the items of a list must be complete")
    return [pattern.value for pattern in found if isinstance(pattern, Exactly)]


def _tuple(
    items: Sequence[Type], names: Sequence[str], data: Any, rename: Callable[[str], str]
) -> list[Pattern]:
    if isinstance(data, Mapping) and names:
        return list(_fields(list(zip(names, items, strict=True)), data, rename))
    values = _list(data, "#tup")
    if len(values) != len(items):
        raise NoValue(f"{len(values)} values instead of {len(items)}")
    return [parse(item, value, rename) for item, value in zip(items, values, strict=True)]


def _map(key: Type, item: Type, data: Any, rename: Callable[[str], str]) -> list[Pattern]:
    if not isinstance(data, Mapping):
        raise NoValue(f"`{data}` is not an object that maps keys to values")
    pairs = data["#map"] if set(data) == {"#map"} else data.items()
    given = {_key(key, k, rename): parse(item, value, rename) for k, value in pairs}
    return [given.get(rank, ANYTHING) for rank in t.universe(key)]


def _key(type_: Type, data: Any, rename: Callable[[str], str]) -> Value:
    if isinstance(type_, t.IntT) and isinstance(data, str) and data.lstrip("-").isdigit():
        data = int(data)
    pattern = parse(type_, data, rename)
    if not isinstance(pattern, Exactly):
        raise NoValue("keys must be complete")
    return pattern.value


def _variant(type_: t.VariantT, data: Any, rename: Callable[[str], str]) -> Pattern:
    if isinstance(data, str):
        name, fields = data, None
    elif isinstance(data, Mapping) and "tag" in data:
        name, fields = str(data["tag"]), data.get("value")
    elif isinstance(data, Mapping) and len(data) == 1:
        ((name, fields),) = data.items()
    else:
        raise NoValue(
            f"`{data}` is not a message: write its name, or an object with name and fields"
        )
    found = messages(type_, rename(name), fields, rename)
    if not found:
        _index(rename(name), message_names(type_), "message")
    if len(found) > 1:
        raise NoValue(f"there are several messages `{name}`")
    return found[0]


def _fields(
    known: Sequence[tuple[str, Type]], data: Any, rename: Callable[[str], str]
) -> tuple[Pattern, ...]:
    if data is None:
        return (ANYTHING,) * len(known)
    if isinstance(data, list):
        return tuple(_tuple([kind for _, kind in known], (), data, rename))
    if not isinstance(data, Mapping):
        raise NoValue(f"`{data}` is not an object that maps names of fields to values")
    names = [name for name, _ in known]
    given = {names[_index(rename(k), names, "field")]: value for k, value in data.items()}
    return tuple(
        parse(kind, given[name], rename) if name in given else ANYTHING for name, kind in known
    )
