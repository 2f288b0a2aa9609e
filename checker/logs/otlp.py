"""OpenTelemetry's JSON (OTLP): attributes are lists of keys and values, and integers are texts.

The format: https://opentelemetry.io/docs/specs/otlp, section JSON Protobuf Encoding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

RESOURCES = "resourceSpans"
"""The key by which an object is recognised."""
SPANS = "resourceSpans[].scopeSpans[].spans[]"
"""Where the rows of such an object are."""

KINDS = frozenset(
    "stringValue boolValue intValue doubleValue arrayValue kvlistValue bytesValue".split()
)


class Malformed(Exception):
    """Attributes are not written as OTLP has them."""


def is_attributes(value: Sequence[Any]) -> bool:
    """Returns whether a list is one of attributes."""
    return bool(value) and all(isinstance(item, dict) and "key" in item for item in value)


def attributes_of(listed: Sequence[Any]) -> dict[str, Any]:
    """Returns attributes by their keys; raises :class:`Malformed`."""
    found: dict[str, Any] = {}
    for item in listed:
        key = item.get("key") if isinstance(item, dict) else None
        if not isinstance(key, str):
            raise Malformed("an attribute is not a `key` with one `value`")
        if key in found:
            raise Malformed(f"duplicate attribute `{key}`")
        found[key] = value_of(item.get("value"))
    return found


def value_of(given: Any) -> Any:
    """Returns the value of an attribute; raises :class:`Malformed`."""
    if given is None or given == {}:
        return None
    if not isinstance(given, dict) or len(given) != 1 or not KINDS.issuperset(given):
        raise Malformed("an attribute is not a `key` with one `value`")
    ((kind, value),) = given.items()
    if kind == "intValue" and isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d{1,19}", value, re.ASCII) else value
    if kind == "arrayValue":
        return [value_of(each) for each in _values(value)]
    return attributes_of(_values(value)) if kind == "kvlistValue" else value


def _values(given: Any) -> Sequence[Any]:
    found = given.get("values", []) if isinstance(given, dict) else None
    if not isinstance(found, list):
        raise Malformed("`values` of an attribute is not a list")
    return found
