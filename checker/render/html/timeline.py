"""Computes when the parts of a property are true, and the outcome of its obligations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from checker.results.trace import Claim, Obligation, Trace

NARROW = 6
"""An interval of less than the width divided by this has no space for two symbols."""


def timeline(trace: Trace) -> dict[str, Any] | None:
    """Returns rows for the chart and for the table; ``None`` where the property's parts are not
    known.

    ``claims``: stretches of steps with the same truth value; ``obligations``: where each arose, and
    was fulfilled or became impossible.  Widths are in steps.
    """
    explained = trace.explanation
    if explained is None or not (explained.claims or explained.obligations):
        return None
    last = len(trace.steps) - 1
    roles = _roles(explained.claims)
    truths = truths_of(explained.claims)
    return {
        "last": last,
        "claims": [
            _claim(claim, of, roles) for claim, of in zip(explained.claims, truths, strict=True)
        ],
        "obligations": [_obligation(each, last) for each in explained.obligations],
    }


def _roles(claims: tuple[Claim, ...]) -> dict[str, str]:
    """Returns the label in front of a claim of each role."""
    goals = [claim for claim in claims if claim.role == "goal"]
    if len(goals) != 1:
        return {"premise": "if"}
    return {"premise": "if", "goal": "then not:" if _is_goal_unwanted(claims) else "then"}


def truths_of(claims: tuple[Claim, ...]) -> list[tuple[bool, ...]]:
    """Returns after which steps each row's statement is true, negated where the row states that
    something must *not* hold.
    """
    negated = _is_goal_unwanted(claims)
    return [
        tuple(not true for true in claim.truths)
        if negated and claim.role == "goal"
        else claim.truths
        for claim in claims
    ]


def _is_goal_unwanted(claims: tuple[Claim, ...]) -> bool:
    """Returns whether the goal must not hold.  The execution violates the property: so a lone goal
    that is eventually true is one that must not hold.
    """
    goals = [claim for claim in claims if claim.role == "goal"]
    return len(goals) == 1 and goals[0].truths[-1:] == (True,)


def _claim(claim: Claim, truths: tuple[bool, ...], roles: dict[str, str]) -> dict[str, Any]:
    stretches = list(_stretches(truths))
    true = [_span(s["first"], s["first"] + s["width"] - 1) for s in stretches if s["true"]]
    return {
        "text": claim.text,
        "formula": claim.formula,
        "role": roles.get(claim.role, ""),
        "ends": truths[-1:] == (True,),
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
        "width": (width := max(end - found.opened, 0) + 1),
        "narrow": outcome != "open" and width * NARROW < last + 1,
    }
