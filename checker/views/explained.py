"""Why a run violates its property, beyond the sentences: what it would be without its parts."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from checker.views.paper import count, listing, pairs
from checker.witness.trace import Ablation, Cost, Trace

OUTCOMES = {
    "holds": ("+", "bold green"),
    "violated": ("-", "red"),
    "unknown": ("?", "yellow"),
}
"""The sign in front of an ablation, and its style."""


def ablations_view(trace: Trace) -> RenderableType | None:
    """What would be without each fault and each message; ``None`` where nobody has asked."""
    explanation = trace.explanation
    if explanation is None or not explanation.ablations:
        return None
    rows = []
    for ablation in explanation.ablations:
        sign, style = OUTCOMES.get(ablation.outcome, OUTCOMES["unknown"])
        rows.append((Text(sign, style=style), Text(_would(ablation))))
    return Group(Text("What would be without", style="bold"), pairs(rows, 2, 1))


def smaller_view(trace: Trace) -> RenderableType | None:
    """What the run takes, and what it took as it was found; ``None`` where that is not known."""
    explanation = trace.explanation
    if explanation is None:
        return None
    before, after, said = explanation.before, explanation.after, Text(style="dim")
    if after is not None and before is not None and before != after:
        said.append(f"Made smaller: from {_cost(before)} to {_cost(after)}. ")
    elif after is not None:
        said.append(f"The run takes {_cost(after)}. ")
    if after is not None and explanation.least:
        said.append("No run that violates the property takes less. ")
    if explanation.note:
        note = explanation.note[:1].upper() + explanation.note[1:]
        said.append(note if note.endswith(".") else f"{note}.")
    said.rstrip()
    return said if said.plain else None


def _would(ablation: Ablation) -> str:
    at = f" (step {ablation.step})"
    match ablation.outcome:
        case "holds":
            return f"{ablation.what}{at}: the property would hold"
        case "violated":
            took = "" if ablation.steps is None else f", in {count(ablation.steps, 'step')}"
            return f"{ablation.what}{at}: it would still fail{took}"
        case _:
            why = f": {ablation.why}" if ablation.why else ""
            return f"{ablation.what}{at}: not known{why}"


def _cost(cost: Cost) -> str:
    parts = [(cost.faults, "fault"), (cost.messages, "message"), (cost.steps, "step")]
    return listing([count(number, noun) for number, noun in parts])
