"""Values of the transition system in words and in data, by their types.

The data is that of Apalache's Informal Trace Format (ADR 15): sets are ``{"#set": […]}``, maps
``{"#map": [[key, value], …]}``, tuples ``{"#tup": […]}``, integers beyond 2**53
``{"#bigint": "…"}``, and variants ``{"tag": …, "value": …}``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, assert_never, cast

from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    Case,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    sort_key,
    universe,
)
from checker.results.trace import Json

EXACT = 2**53
"""Integers up to this one are numbers in JSON; beyond, readers lose digits."""

LAYERS = ("top",)
"""Wrappers around the messages of a layer that mean nothing to a reader."""


def show(type_: Type, value: Value) -> str:
    """Returns ``value`` as a person would write it."""
    held = cast(Any, value)
    match type_:
        case BoolT():
            return "true" if held else "false"
        case IntT():
            return str(held)
        case AtomT(labels=labels, first=first):
            return labels[int(held) - first]
        case TupleT(items=items, names=names):
            parts = [show(t, v) for t, v in zip(items, held, strict=True)]
            if names:
                parts = [f"{name}: {part}" for name, part in zip(names, parts, strict=True)]
            return f"({', '.join(parts)})"
        case OptionT(item):
            return "none" if held is None else show(item, held[0])
        case SetT(item):
            return "{" + ", ".join(show(item, v) for v in sorted(held, key=sort_key)) + "}"
        case MapT(key, item):
            entries = zip(universe(key), held, strict=True)
            return "{" + ", ".join(f"{show(key, k)}: {show(item, v)}" for k, v in entries) + "}"
        case SeqT(item):
            return "[" + ", ".join(show(item, v) for v in held) + "]"
        case BagT(item):
            return "{" + ", ".join(_times(show(item, v), n) for v, n in _count_items(held)) + "}"
        case VariantT(cases=cases):
            return _show_case(cases[held[0]], held[1:])
        case _:
            assert_never(type_)


def show_parts(type_: Type, value: Value) -> list[str]:
    """Returns the members of a tuple, each as text; any other value as the only one."""
    if not isinstance(type_, TupleT):
        return [show(type_, value)]
    return [show(t, v) for t, v in zip(type_.items, cast(Any, value), strict=True)]


def _show_case(case: Case, values: tuple[Value, ...]) -> str:
    if not case.fields:
        return case.name
    parts = [show(t, v) for (_, t), v in zip(case.fields, values, strict=True)]
    if len(parts) == 1 and isinstance(case.fields[0][1], VariantT) and case.name in LAYERS:
        return parts[0]
    if case.name.endswith("."):  # a message of a layer, such as `rb.`
        return case.name + ", ".join(parts)
    return f"{case.name}({', '.join(parts)})"


def _count_items(bag: tuple[Value, ...]) -> list[tuple[Value, int]]:
    return list(Counter(sorted(bag, key=sort_key)).items())


def _times(text: str, count: int) -> str:
    return text if count == 1 else f"{text} x{count}"


def encode(type_: Type, value: Value) -> Json:
    """Returns ``value`` as data."""
    held = cast(Any, value)
    match type_:
        case BoolT():
            return bool(held)
        case IntT():
            return int(held) if abs(held) <= EXACT else {"#bigint": str(held)}
        case AtomT(labels=labels, first=first):
            return labels[int(held) - first]
        case TupleT(items=items, names=names):
            parts = [encode(t, v) for t, v in zip(items, held, strict=True)]
            return dict(zip(names, parts, strict=True)) if names else {"#tup": parts}
        case OptionT(item):
            if held is None:
                return {"tag": "None", "value": {"tag": "UNIT", "value": None}}
            return {"tag": "Some", "value": encode(item, held[0])}
        case SetT(item):
            return {"#set": [encode(item, v) for v in sorted(held, key=sort_key)]}
        case MapT(key, item):
            entries = zip(universe(key), held, strict=True)
            return {"#map": [[encode(key, k), encode(item, v)] for k, v in entries]}
        case SeqT(item) | BagT(item):
            return [encode(item, v) for v in held]
        case VariantT(cases=cases):
            case = cases[held[0]]
            fields = zip(case.fields, held[1:], strict=True)
            return {"tag": case.name, "value": {name: encode(t, v) for (name, t), v in fields}}
        case _:
            assert_never(type_)


def decode(type_: Type, data: Json) -> Value:
    """Returns the value that :func:`encode` wrote; raises ``ValueError`` if ``data`` is not such
    a value.

    Whether the value fits ``type_``'s bounds is not checked: a replay finds that out.
    """
    try:
        return _decode(type_, data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise ValueError(f"not a value of the spec: {data!r}") from problem


def _decode(type_: Type, data: Any) -> Value:
    match type_:
        case BoolT():
            return _plain(data, bool)
        case IntT():
            return int(data["#bigint"]) if isinstance(data, dict) else _plain(data, int)
        case AtomT(labels=labels, first=first):
            return first + labels.index(data)
        case TupleT(items=items, names=names):
            parts = [data[name] for name in names] if names else data["#tup"]
            return tuple(_decode(t, v) for t, v in zip(items, parts, strict=True))
        case OptionT(item):
            return None if data["tag"] == "None" else (_decode(item, data["value"]),)
        case SetT(item):
            return frozenset(_decode(item, v) for v in data["#set"])
        case MapT(key, item):
            entries = {_decode(key, k): _decode(item, v) for k, v in data["#map"]}
            return tuple(entries[k] for k in universe(key))
        case SeqT(item):
            return tuple(_decode(item, v) for v in data)
        case BagT(item):
            return tuple(sorted((_decode(item, v) for v in data), key=sort_key))
        case VariantT(cases=cases):
            return _decode_case(cases, data)
        case _:
            assert_never(type_)


def _decode_case(cases: tuple[Case, ...], data: Any) -> Value:
    index = [case.name for case in cases].index(data["tag"])
    fields = cases[index].fields
    return (index, *(_decode(t, data["value"][name]) for name, t in fields))


def _plain(data: Any, kind: type) -> Value:
    if type(data) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return data
