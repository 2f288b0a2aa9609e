"""Renders what is found about questions about chance as a self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from checker.diagnostics.visible import visible
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.render.terminal.chance import ENDS, adversary_text, value_lines, visit_text, when_text
from checker.results.chance import Visit
from checker.results.verdict import PropertyVerdict, Report

UNFOLDED = 4
"""So many coins deep a tree is open at first."""


def chance_page(reports: Sequence[Report]) -> str:
    """Returns the page of the questions about chance of some reports."""
    asked = [(report, v) for report in reports for v in report.verdicts if v.chance is not None]
    data = {
        "title": ", ".join(f"{short_file_name(r.file)}::{r.check}" for r in reports),
        "questions": [_question(r, verdict, i) for i, (r, verdict) in enumerate(asked, 1)],
        "style": style(),
        "policy": policy(""),
    }
    return visible(environment().get_template("chance.html").render(data))


def _question(report: Report, verdict: PropertyVerdict, number: int) -> dict[str, Any]:
    found = verdict.chance
    assert found is not None
    data: dict[str, Any] = {
        "title": verdict.property,
        "where": f"{short_file_name(report.file)}::{report.check} · {report.world}",
        "word": verdict.word.value,
        "reason": verdict.reason,
        "lines": [*value_lines(found)],
        "rules": [],
        "tree": None,
    }
    adversary = found.adversary
    if adversary is None:
        return data
    return data | {
        "kind": adversary.kind,
        "states": adversary_text(adversary),
        "rules": [
            {"step": rule.step, "when": when_text(rule), "states": rule.states}
            for rule in adversary.rules
        ],
        "tree": _Tree(adversary.tree, f"t{number}").visit(0, Fraction(1), 0),
    }


@dataclass
class _Tree:
    """The data of a tree of runs; a visit that several branches lead to is drawn where it is met
    first."""

    visits: Sequence[Visit]
    name: str
    drawn: set[int] = field(default_factory=set)

    def visit(self, number: int, so_far: Fraction, depth: int) -> dict[str, Any]:
        visit = self.visits[number]
        self.drawn.add(number)
        branches = []
        for branch in visit.branches:
            here = so_far * Fraction(branch.probability)
            data: dict[str, Any] = {
                "probability": branch.probability,
                "shows": branch.shows,
                "so_far": str(here),
                "percent": max(1, round(100 * here)),
                "open": depth < UNFOLDED,
                "again": None,
            }
            then = branch.then
            if then in self.drawn and self.visits[then].branches:
                data["again"] = {"number": then, "id": self.id(then)}
            else:
                data["visit"] = self.visit(then, here, depth + 1)
            branches.append(data)
        return {
            "number": number,
            "id": self.id(number),
            "said": visit_text(visit),
            "ends": visit.ends,
            "end_text": ENDS[visit.ends][0] if visit.ends else "",
            "branches": branches,
        }

    def id(self, number: int) -> str:
        """Returns the anchor of a visit."""
        return f"{self.name}-{number}"
