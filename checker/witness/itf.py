"""Traces in Apalache's Informal Trace Format (its ADR 15), for the tools that read it."""

from __future__ import annotations

from typing import Any

from checker.witness.trace import Trace


def trace_to_itf(trace: Trace) -> dict[str, Any]:
    """The trace as an ITF document: variables, and a value for each of them in every state.

    ``loop`` is there where the run goes on for ever: from the last state back to that one.

    Values are in ITF's encoding already, see :mod:`checker.witness.show`.
    """
    header = trace.header
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
        },
        "params": [],
        "vars": [name for name, _ in trace.variables],
        "states": [
            {
                "#meta": {"index": step.number, "action": step.action, "said": step.headline},
                **step.state,
            }
            for step in trace.steps
        ],
        **loop,
    }
