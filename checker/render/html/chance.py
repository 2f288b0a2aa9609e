"""Renders the answers to probability queries as a self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.diagnostics.visible import visible
from checker.render.adversary_tree import Edge, Node, adversary_tree
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.render.terminal.chance import ENDS, adversary_text, value_lines, visit_text, when_text
from checker.results.verdict import PropertyVerdict, Report

UNFOLDED = 4
"""So many coins deep a tree is open at first."""


def chance_page(reports: Sequence[Report]) -> str:
    """Returns the page on the probability queries of some reports."""
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
        "tree": _visit(adversary_tree(adversary.tree), f"t{number}"),
    }


def _visit(node: Node, name: str, depth: int = 0) -> dict[str, Any]:
    """Returns the data of a visit; ``name``: what anchors in its tree begin with."""
    visit = node.visit
    return {
        "number": node.number,
        "id": f"{name}-{node.number}",
        "said": visit_text(visit),
        "ends": visit.ends,
        "end_text": ENDS[visit.ends][0] if visit.ends else "",
        "branches": [_branch(edge, name, depth) for edge in node.branches],
    }


def _branch(edge: Edge, name: str, depth: int) -> dict[str, Any]:
    branch, again = edge.branch, None
    if edge.then is None:
        again = {"number": branch.then, "id": f"{name}-{branch.then}"}
    return {
        "probability": branch.probability,
        "shows": branch.shows,
        "so_far": str(edge.so_far),
        "percent": max(1, round(100 * edge.so_far)),
        "open": depth < UNFOLDED,
        "again": again,
        "visit": None if edge.then is None else _visit(edge.then, name, depth + 1),
    }
