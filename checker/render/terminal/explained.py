"""Renders the counterfactuals of a violation: which parts of the execution are essential to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs
from checker.results.trace import IN_EVERY_RUN, LEFT_OUT, Counterfactual, Explanation, Trace

LABEL = 12
"""The columns for ``replaceable``."""
FEW = 2
"""So many replaceable parts are named; of more, only the number is."""


def ablations_view(trace: Trace) -> RenderableType | None:
    """Renders which faults and messages are essential: without one of them the property holds.

    ``None`` where the counterfactuals were not computed.
    """
    explanation = trace.explanation
    if explanation is None or not explanation.ablations:
        return None
    rows = [*_essential(explanation), *_replaceable(explanation), *_unknown(explanation)]
    return Group(Text("What matters", style="bold"), pairs(rows, 2, LABEL))


def _essential(explanation: Explanation) -> Iterator[tuple[Text, Text]]:
    label = Text("essential", style="bold green")
    for found in _with_outcome(explanation, "holds"):
        yield label, Text(f"{_what(found)}: the property would hold without it")
        label = Text("")


def _replaceable(explanation: Explanation) -> Iterator[tuple[Text, Text]]:
    """Yields a row for the faults without each of which other executions violate the property, and
    one for such messages: where all are of that kind, no single one matters."""
    label = Text("replaceable", style="dim")
    for kind in LEFT_OUT:
        of_kind = [found for found in explanation.ablations if found.kind == kind]
        those = [found for found in of_kind if found.outcome == "violated"]
        if not those:
            continue
        others = "other executions violate"
        if len(those) == len(of_kind) and len(those) > 1:
            said = f"no single {kind} matters"
            without = f"any one of the {len(those)}"
        elif len(those) == 1:
            said, others, without = _what(those[0]), "another execution violates", f"this {kind}"
        elif len(those) <= FEW:
            said, without = listing([_what(found) for found in those]), "either of them"
        else:
            said, without = f"{len(those)} of the {count(len(of_kind), kind)}", "any one of them"
        yield label, Text(f"{said}: {others} the property without {without}{_steps(those)}")
        label = Text("")


def _steps(those: Sequence[Counterfactual]) -> str:
    """Returns how long the shortest of these executions is, where that is one number."""
    steps = {found.steps for found in those}
    (only,) = steps if len(steps) == 1 else (None,)
    return "" if only is None else f", in {count(only, 'step')}"


def _unknown(explanation: Explanation) -> Iterator[tuple[Text, Text]]:
    unknown: dict[str, list[Counterfactual]] = {}
    for found in _with_outcome(explanation, "unknown"):
        unknown.setdefault(found.why, []).append(found)
    for why, those in unknown.items():
        because = f" ({why})" if why else ""
        said = f"{listing([_what(found) for found in those])}{because}"
        label = "not applicable" if why == IN_EVERY_RUN else "not known"
        yield Text(label, style="yellow"), Text(said)


def _with_outcome(explanation: Explanation, outcome: str) -> list[Counterfactual]:
    return [found for found in explanation.ablations if found.outcome == outcome]


def size_text(trace: Trace) -> str:
    """Describes the execution's size, now and before minimisation, and what is missing in the
    explanation; empty if nothing is known."""
    explanation = trace.explanation
    if explanation is None:
        return ""
    said = smaller(explanation)
    if explanation.note:
        note = explanation.note[:1].upper() + explanation.note[1:]
        said = f"{said} {note if note.endswith('.') else f'{note}.'}".lstrip()
    return said


def smaller(explanation: Explanation) -> str:
    """Describes in sentences what minimisation removed; empty where nothing is known."""
    before, after = explanation.before, explanation.after
    if after is None:
        return ""
    least = " It is minimal: no violation needs less." if explanation.least else ""
    if before is None or before == after:
        return f"The run takes {after}.{least}"
    return f"Minimised: from {before} to {after}.{least}"


def _what(found: Counterfactual) -> str:
    """Names what is left out; a fault that a process has from the start is at no step."""
    return f"{found.what} (step {found.step})" if found.step else found.what
