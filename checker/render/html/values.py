"""Formats values of the Informal Trace Format for reading."""

from __future__ import annotations

from checker.results.show_values import LAYERS
from checker.results.trace import Json


def value_text(value: Json) -> str:
    """Formats ``value``: ``{a, b}`` for a set, ``[a, b]`` for a list, ``DATA(p1, a)`` for a
    message, ``none`` for an empty option.

    A bag is a list in this format, and is written as one.
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{_list_text(value)}]"
    if isinstance(value, dict):
        return _record(value)
    return str(value)


def _record(value: dict[str, Json]) -> str:
    match value:
        case {"#set": list(items)}:
            return f"{{{_list_text(items)}}}"
        case {"#tup": list(items)}:
            return f"({_list_text(items)})"
        case {"#map": list(entries)}:
            return f"{{{', '.join(_entry(entry) for entry in entries)}}}"
        case {"#bigint": str(digits)}:
            return digits
        case {"tag": "None"}:
            return "none"
        case {"tag": "Some", "value": held}:
            return value_text(held)
        case {"tag": str(tag), "value": dict(fields)}:
            return _case(tag, list(fields.values()))
        case _:
            return f"({', '.join(f'{name}: {value_text(part)}' for name, part in value.items())})"


def _case(tag: str, fields: list[Json]) -> str:
    if not fields:
        return tag
    if tag in LAYERS and len(fields) == 1:
        return value_text(fields[0])
    return f"{tag}{_list_text(fields)}" if tag.endswith(".") else f"{tag}({_list_text(fields)})"


def _list_text(items: list[Json]) -> str:
    return ", ".join(value_text(item) for item in items)


def _entry(entry: Json) -> str:
    if isinstance(entry, list) and len(entry) == 2:
        return f"{value_text(entry[0])}: {value_text(entry[1])}"
    return value_text(entry)
