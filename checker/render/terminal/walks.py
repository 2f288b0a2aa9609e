"""Reports on random walks: how many, what they saw, and that they prove nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.coverage import coverage_view
from checker.results.verdict import Covered

WORDS = {
    "crash": ("crash", "crashes"),
    "recover": ("recovery", "recoveries"),
    "lose": ("loss", "losses"),
    "forge": ("forged message", "forged messages"),
}

LABEL = 8


@dataclass(frozen=True, slots=True)
class Walked:
    """The data of a report on random walks; ``wrong``: how often each kind of fault occurred;
    ``found``: what is violated, in a sentence, and in which walk; ``ends``: how often a walk could
    have stayed forever where it was, ``None`` where no liveness property was looked at; ``left``:
    how many walks ended beyond a bound of the check.
    """

    title: str
    seed: int
    walks: int
    steps: int
    states: int
    ends: int | None
    seconds: float
    wrong: Mapping[str, int]
    coverage: tuple[Covered, ...]
    left: int = 0
    stopped: str = ""
    found: str = ""
    walk: int = 0


def walks_view(walked: Walked) -> RenderableType:
    """Renders the whole report, without the trace."""
    rate = f" ({walked.steps / walked.seconds:,.0f} steps/s)" if walked.seconds > 0.01 else ""
    far = f"{count(walked.walks, 'walk')}, {count(walked.steps, 'step')}"
    ends = ""
    if walked.ends is not None:
        ends = f"; {count(walked.ends, 'time')} a walk could have stayed forever where it was"
    rows = [
        ("walked", f"{far}, {walked.seconds:.1f} s{rate}; seed {walked.seed}"),
        ("seen", f"{count(walked.states, 'distinct state')}{ends}"),
        ("faults", _faults(walked.wrong)),
    ]
    if walked.left:
        rows.append(("bound", f"{count(walked.left, 'walk')} ended beyond a bound of the check"))
    if walked.stopped:
        rows.append(("stopped", walked.stopped))
    rows.append(("so", _conclusion(walked)))
    shown = [(Text(name, style="dim"), Text(text)) for name, text in rows]
    title = Text(walked.title, style="bold")
    return stack([Group(title, pairs(shown, 0, LABEL)), coverage_view(walked.coverage)])


def _faults(wrong: Mapping[str, int]) -> str:
    said = [
        f"{wrong[kind]:,} {words[0] if wrong[kind] == 1 else words[1]}"
        for kind, words in WORDS.items()
        if wrong.get(kind)
    ]
    return listing(said) if said else "none"


def _conclusion(walked: Walked) -> str:
    if walked.found:
        return f"{walked.found} (walk {walked.walk:,} of seed {walked.seed})"
    return (
        f"UNKNOWN: nothing was found in {count(walked.walks, 'walk')}, which says nothing of runs "
        "that were not walked"
    )
