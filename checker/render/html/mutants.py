"""Renders which faults of a spec its checks would not notice as a self-contained page: the lines
that nothing guards come first, then the spec, each line of it with its mutants."""

from __future__ import annotations

from typing import Any

from checker.diagnostics.english import count
from checker.diagnostics.visible import visible
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.render.terminal.mutants import score_text, searched_text
from checker.results.mutation import Fate, MutantResult, Mutation

KINDS = {Fate.SURVIVED: "red", Fate.UNKNOWN: "weak", Fate.KILLED: "explained"}
"""The look of a line by the worst fate of its mutants, the worst first."""
SAID = {
    Fate.SURVIVED: "not noticed",
    Fate.UNKNOWN: "not decided",
    Fate.KILLED: "killed",
    Fate.EQUIVALENT: "equivalent here",
}
"""The heading of the mutants with a fate."""


def mutants_page(report: Mutation, text: str) -> str:
    """Returns the page of a report on the protocols of a spec; ``text``: the spec."""
    lines = text.splitlines()
    data: dict[str, Any] = {
        "report": report,
        "file": short_file_name(report.file),
        "lead": _lead(report),
        "figures": _figures(report),
        "survivors": [_mutant(m, lines) for m in _open(report, Fate.SURVIVED)],
        "unknown": [_mutant(m, lines) for m in _open(report, Fate.UNKNOWN)],
        "accepted": [_mutant(m, lines) for m in report.mutants if m.accepted],
        "lines": [_line(code, n, report) for n, code in enumerate(lines, 1)],
        "searched": searched_text(report) if report.searched else "",
        "idle": [p for p, times in report.kills.items() if not times] if report.every_check else [],
        "style": style(),
        "policy": policy(""),
    }
    return visible(environment().get_template("mutants.html").render(data))


def _open(report: Mutation, fate: Fate) -> list[MutantResult]:
    found = [each for each in report.with_fate(fate) if not each.accepted]
    return sorted(found, key=lambda each: (each.line, each.number))


def _lead(report: Mutation) -> str:
    survivors = len(_open(report, Fate.SURVIVED))
    if report.score is None:
        return "No mutant was killed or survived."
    noticed = "Every fault that was tried is noticed" if report.score == 1 else (
        f"{count(survivors, 'fault')} of the spec would not be noticed"
    )  # fmt: skip
    undecided = len(_open(report, Fate.UNKNOWN))
    if undecided:
        noticed += f", and of {count(undecided, 'fault')} that is not known"
    return f"{noticed}; score {score_text(report.score)}."


def _figures(report: Mutation) -> str:
    judged = len(report.mutants)
    said = count(judged, "mutant")
    said = f"{judged} of {count(report.known, 'mutant')}" if judged < report.known else said
    fates = [f"{len(found)} {fate.value}" for fate in Fate if (found := report.with_fate(fate))]
    return f"{said}: {', '.join(fates) or 'none judged'}"


def _mutant(each: MutantResult, lines: list[str]) -> dict[str, Any]:
    inside = each.line <= len(lines)
    return {
        "number": each.number,
        "line": each.line,
        "code": lines[each.line - 1].partition("//")[0].strip() if inside else "",
        "what": each.what,
        "reason": each.reason,
    }


def _line(text: str, number: int, report: Mutation) -> dict[str, Any]:
    """Returns the variables of a line of the spec: its text, and what becomes of its mutants."""
    here = [each for each in report.mutants if each.line == number and not each.accepted]
    fates = {each.fate for each in here}
    said = [
        f"{number} {words}"
        for fate, words in SAID.items()
        if (number := sum(each.fate is fate for each in here))
    ]
    code, slashes, comment = text.partition("//")
    return {
        "code": code,
        "comment": slashes + comment,
        "kind": next((kind for fate, kind in KINDS.items() if fate in fates), ""),
        "said": ", ".join(said),
        "survivors": [each for each in here if each.fate is Fate.SURVIVED],
    }
