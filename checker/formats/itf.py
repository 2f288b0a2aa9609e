"""Traces in Apalache's Informal Trace Format (its ADR 15), for the tools that read it.

Readers turn variables, records and variants into names and types of their language, so all names
are identifiers here, made of ASCII letters, digits and ``_`` (``rb.`` becomes ``rb_``, ``None``
``None_``, and ``@history.deliver`` ``history_deliver``).  The value of every variant is a record,
that of an optional value ``{"value": …}``.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from typing import Any

from checker.diagnostics.visible import json_text
from checker.results.trace import Json, Trace
from checker.words.steps import headline

ABSENT: Json = {"tag": "None", "value": {"tag": "UNIT", "value": None}}
"""An absent optional value, as a trace writes it."""


def trace_to_itf(trace: Trace) -> dict[str, Any]:
    """Returns the trace as an ITF document: variables, and a value for each of them in every state.

    ``loop`` is present where the execution is a lasso: from the last state back to that one.  What
    each variable is called in the spec and in traces is in ``#meta`` as ``names``.
    """
    header = trace.header
    declared = (name for name, _ in trace.variables)
    shown = (name for step in trace.steps for name in step.state)
    called = list(dict.fromkeys((*declared, *shown)))
    names = dict(zip(called, identifiers(called), strict=True))
    loop = {} if trace.loop is None else {"loop": trace.loop}
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": trace.sentence,
            "source": header.file,
            "status": "violation" if trace.word == "violated" else "error",
            "tool": f"bivalence {header.tool}".strip(),
            "check": header.check,
            "property": trace.property_name,
            **({} if trace.closing is None else {"closed-by": trace.closing.action}),
            "names": {made: name for name, made in names.items()},
        },
        "params": [],
        "vars": list(names.values()),
        "states": [
            {
                "#meta": {"index": step.number, "action": step.action, "said": headline(step)},
                **{names[name]: itf_value(value) for name, value in step.state.items()},
            }
            for step in trace.steps
        ],
        **loop,
    }


def trace_to_text(trace: Trace) -> str:
    """Returns the ITF document of ``trace`` as JSON text."""
    return json_text(trace_to_itf(trace)) + "\n"


def itf_value(data: Json) -> Json:
    """Returns a value of :func:`checker.results.show_values.encode` in the form that ITF's readers
    take."""
    if isinstance(data, list):
        return [itf_value(each) for each in data]
    if not isinstance(data, dict) or "#bigint" in data:
        return data
    if data == ABSENT:
        return {"tag": identifier("None"), "value": {}}
    if any(name.startswith("#") for name in data):
        return {name: itf_value(each) for name, each in data.items()}
    tag, value = data.get("tag"), data.get("value")
    if set(data) == {"tag", "value"} and isinstance(tag, str):
        if tag == "Some":
            return {"tag": tag, "value": {"value": itf_value(value)}}
        if isinstance(value, dict):
            return {"tag": identifier(tag), "value": _record(value)}
    return _record(data)


def _record(data: dict[str, Json]) -> Json:
    names = record_names(data)
    return {name: itf_value(value) for name, value in zip(names, data.values(), strict=True)}


def record_names(data: dict[str, Json]) -> tuple[str, ...]:
    """Returns the names of a record's fields in ITF; a record with a tag and a value is no
    variant."""
    if set(data) == {"tag", "value"}:
        return tuple("tag_" if name == "tag" else name for name in data)
    return identifiers(data)


def identifier(name: str) -> str:
    """Returns ``name``, or an identifier that resembles it."""
    made = re.sub(r"\W", "_", name.lstrip("@"), flags=re.ASCII)
    made = f"m{made}" if not made[:1].isalpha() else made
    return f"{made}_" if keyword.iskeyword(made) else made


def identifiers(names: Iterable[str]) -> tuple[str, ...]:
    """Returns an identifier for each of ``names``, all different.

    Names that are identifiers stay as they are; of others that would be the same, the later ones
    get a number.
    """
    wanted = list(names)
    made, used = dict[int, str](), set[str]()
    for i in sorted(range(len(wanted)), key=lambda i: identifier(wanted[i]) != wanted[i]):
        base = name = identifier(wanted[i])
        number = 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        made[i] = name
        used.add(name)
    return tuple(made[i] for i in range(len(wanted)))
