"""Renders a report on the mutants of a spec in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.terminal.canvas import pairs, stack
from checker.results.mutation import STRONGER, WEAKER, Fate, Kill, MutantResult, Mutation

STYLES = {
    Fate.KILLED: "green", Fate.SURVIVED: "bold red", Fate.EQUIVALENT: "dim",
    Fate.STILLBORN: "dim", Fate.UNKNOWN: "bold yellow",
}  # fmt: skip
SHOWN = (Fate.SURVIVED, Fate.UNKNOWN)
"""The fates that are always listed, beside mutants whose equivalence has a reason; others are
listed with ``--verbose``."""


def mutation_view(report: Mutation, *, verbose: bool = False) -> RenderableType:
    """Renders the report; ``verbose``: with all mutants."""
    parts: list[RenderableType] = [_summary(report)]
    fates = tuple(Fate) if verbose else SHOWN
    told = [each for each in report.with_fate(Fate.EQUIVALENT) if each.reason]
    listed = [each for each in report.mutants if each.fate in fates or each in told]
    if listed:
        parts.append(Group(*map(_mutant, listed)))
    parts.append(pairs([(Text(name), Text(said)) for name, said in _rows(report)], 2, 12))
    return stack(parts)


def _summary(report: Mutation) -> Text:
    every = count(report.known, "world" if report.worlds else "mutant")
    if report.properties:
        every = count(report.known, "changed property")
    said = f"{report.drawn} of {every}" if report.drawn < report.known else every
    fates = [f"{len(found)} {fate.value}" for fate in Fate if (found := report.with_fate(fate))]
    score = "" if report.score is None else f"; score {score_text(report.score)}"
    return Text(f"{report.file}: {said}: {', '.join(fates) or 'none judged'}{score}", style="bold")


def score_text(score: float) -> str:
    """Returns a score in percent, rounded down, so that 100 % means all."""
    return f"{int(100 * score)} %"


def searched_text(report: Mutation) -> str:
    """Returns which checks are not decided, how far they were searched, and what that means."""
    depths = ", ".join(f"{depth} of {name}" for name, depth in report.searched.items())
    return f"{depths}; not decided, so these checks can kill, and with them no mutant survives"


def _mutant(each: MutantResult) -> Text:
    text = Text(f"{each.number:>4}  ")
    text.append(each.fate.value, style=STYLES[each.fate])
    of = f"{each.protocol} " if each.kind in (STRONGER, WEAKER) else ""
    text.append(f"  line {each.line}: {of}{each.what}{_direction(each.kind)}")
    if each.kills:
        text.append(f"\n      by {_kill(each.kills[0])}", style="dim")
    if each.reason:
        text.append(f"\n      {'accepted: ' if each.accepted else ''}{each.reason}", style="dim")
    return text


def _direction(kind: str) -> str:
    return {STRONGER: ", which is stronger", WEAKER: ", which is weaker"}.get(kind, "")


def _kill(kill: Kill) -> str:
    length = "" if kill.steps is None else f" in {count(kill.steps, 'step')}"
    return f"{kill.property} of {kill.check}: {kill.verdict}{length}"


def _rows(report: Mutation) -> Iterator[tuple[str, str]]:
    if report.properties:
        yield (
            "promised",
            ", ".join(report.promised) or "nothing more: each stronger one is violated",
        )
        yield "no run", ", ".join(report.undistinguished) or "each part is shown by some run"
    elif report.worlds:
        unneeded = ", ".join(report.unneeded)
        yield "unneeded", unneeded or "nothing: each worse world breaks a check, or is not decided"
    elif report.unguarded:
        lines = ", ".join(map(str, report.unguarded))
        yield "unguarded", f"{'line' if len(report.unguarded) == 1 else 'lines'} {lines}"
    if report.every_check:
        idle = [name for name, times in report.kills.items() if not times]
        if idle:
            yield "kill none", ", ".join(idle)
        if report.sufficient:
            yield "enough", f"{', '.join(report.sufficient)} kill all that are killed"
    yield "checks", ", ".join(report.checks)
    if report.left_out:
        yield "not run", f"{', '.join(report.left_out)}: for all n"
    if report.searched:
        yield "first steps", searched_text(report)
    if report.undecided:
        yield "not asked", f"{', '.join(report.undecided)}: not decided in their share of the time"
    if report.since is not None:
        yield "since", f"only lines that have changed since {report.since}"
    if report.seed is not None:
        yield "drawn", f"with seed {report.seed}"
    if report.stopped:
        yield "stopped", report.stopped
