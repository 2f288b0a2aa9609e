"""Renders the counterfactuals of a violation: the results without each part of the execution."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs
from checker.results.trace import Counterfactual, Explanation, Trace

OUTCOMES = {"holds": ("+", "bold green"), "violated": ("-", "red")}
"""The sign in front of a counterfactual, and its style."""


def ablations_view(trace: Trace) -> RenderableType | None:
    """Renders the results without each fault and each message; ``None`` if not computed."""
    explanation = trace.explanation
    if explanation is None or not explanation.ablations:
        return None
    rows = []
    known = [a for a in explanation.ablations if a.outcome in ("holds", "violated")]
    for ablation in known:
        sign, style = OUTCOMES[ablation.outcome]
        rows.append((Text(sign, style=style), Text(_would(ablation))))
    unknown: dict[str, list[Counterfactual]] = {}
    for ablation in explanation.ablations:
        if ablation not in known:
            unknown.setdefault(ablation.why, []).append(ablation)
    for why, some in unknown.items():
        because = f" ({why})" if why else ""
        said = f"{listing([_what(ablation) for ablation in some])}: not known{because}"
        rows.append((Text("?", style="yellow"), Text(said)))
    return Group(Text("Counterfactuals", style="bold"), pairs(rows, 2, 1))


def smaller_view(trace: Trace) -> RenderableType | None:
    """Renders the execution's size, now and before minimisation; ``None`` if not known."""
    explanation = trace.explanation
    if explanation is None:
        return None
    said = smaller(explanation)
    if explanation.note:
        note = explanation.note[:1].upper() + explanation.note[1:]
        said = f"{said} {note if note.endswith('.') else f'{note}.'}".lstrip()
    return Text(said, style="dim") if said else None


def smaller(explanation: Explanation) -> str:
    """Describes in sentences what minimisation removed; empty where nothing is known."""
    before, after = explanation.before, explanation.after
    if after is None:
        return ""
    least = " It is minimal: no violation takes less." if explanation.least else ""
    if before is None or before == after:
        return f"The run takes {after}.{least}"
    return f"Minimised: from {before} to {after}.{least}"


def _would(ablation: Counterfactual) -> str:
    if ablation.outcome == "holds":
        return f"{_what(ablation)}: the property would hold"
    took = "" if ablation.steps is None else f", in {count(ablation.steps, 'step')}"
    return f"{_what(ablation)}: it would still fail{took}"


def _what(ablation: Counterfactual) -> str:
    """Names what is left out; a fault that a process has from the start is at no step."""
    return f"{ablation.what} (step {ablation.step})" if ablation.step else ablation.what
