"""When the parts of a property are true in a run, and what becomes of what it demands."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from checker.witness.trace import Claim, Obligation, Trace


def timeline(trace: Trace) -> dict[str, Any] | None:
    """Rows for the chart and for the table; ``None`` where the property's parts are not known.

    ``claims``: stretches of steps with the same truth; ``obligations``: where each was opened, and
    met or became impossible.  Widths are in steps.
    """
    explained = trace.explanation
    if explained is None or not (explained.claims or explained.obligations):
        return None
    last = len(trace.steps) - 1
    roles = _roles(explained.claims)
    return {
        "last": last,
        "claims": [_claim(claim, roles) for claim in explained.claims],
        "obligations": [_obligation(each, last) for each in explained.obligations],
    }


def _roles(claims: tuple[Claim, ...]) -> dict[str, str]:
    """What is said before a claim of each role.  The run violates the property: so a lone goal that
    is true in the end is one that must not be."""
    goals = [claim for claim in claims if claim.role == "goal"]
    if len(goals) != 1:
        return {"premise": "if"}
    unwanted = goals[0].truths[-1:] == (True,)
    return {"premise": "if", "goal": "then not" if unwanted else "then"}


def _claim(claim: Claim, roles: dict[str, str]) -> dict[str, Any]:
    stretches = list(_stretches(claim.truths))
    true = [_span(s["first"], s["first"] + s["width"] - 1) for s in stretches if s["true"]]
    return {
        "text": claim.text,
        "formula": claim.formula,
        "role": roles.get(claim.role, ""),
        "ends": claim.truths[-1:] == (True,),
        "stretches": stretches,
        "true": true,
    }


def _stretches(truths: Iterable[bool]) -> Iterable[dict[str, Any]]:
    for true, group in groupby(enumerate(truths), key=lambda pair: pair[1]):
        numbers = [number for number, _ in group]
        first, last = numbers[0], numbers[-1]
        after = _span(first, last)["text"]
        said = f"{'true' if true else 'false'} after step {after}"
        yield {"true": true, "first": first, "width": last - first + 1, "said": said}


def _span(first: int, last: int) -> dict[str, Any]:
    return {"step": first, "text": f"{first}" if first == last else f"{first} to {last}"}


def _obligation(found: Obligation, last: int) -> dict[str, Any]:
    if found.met is not None:
        outcome, end = "met", found.met
    elif found.impossible is not None:
        outcome, end = "impossible", found.impossible
    else:
        outcome, end = "open", last
    return {
        "text": found.text,
        "opened": found.opened,
        "outcome": outcome,
        "end": end,
        "width": max(end - found.opened, 0) + 1,
    }
