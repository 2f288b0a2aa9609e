"""Sentences about what the properties of a check need."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count, listing
from checker.results.verdict import Word
from checker.results.weakest_worlds import Needed, PropertyWorlds, WeakestWorlds


def summary(found: PropertyWorlds) -> str:
    """Returns what a property needs and what it does not, in a sentence or two."""
    if found.unasked:
        return f"{found.property}: not asked, since {found.unasked}."
    needs = [one_of(each) for each in (*found.shown(alone=True), *found.shown(alone=False))]
    if found.verdict is Word.VIOLATED:
        return _missing(found, needs)
    said = f"{found.property} needs {_list(needs, '; ')}" if needs else _nothing(found)
    if found.unneeded:
        said += f". It does not need {_list([words for _, words in found.unneeded], '; ')}"
    return f"{said}."


def _nothing(found: PropertyWorlds) -> str:
    return f"{found.property} fails in none of the worlds that were decided"


def _missing(found: PropertyWorlds, needs: list[str]) -> str:
    if not found.weakest:
        return f"{found.property} is violated here, and holds in no world that was decided."
    if not needs:
        return f"{found.property} is violated here. What it would need is not known."
    return f"{found.property} is violated here. It would need {_list(needs, '; ')}."


def one_of(needed: Needed) -> str:
    """Returns assumptions of which one at least is needed: ``A or B``."""
    return " or ".join(f"“{words}”" for words in needed.assumptions) or "a stronger world"


def _list(parts: list[str], between: str) -> str:
    quoted = [part if part.startswith("“") or "” or “" in part else f"“{part}”" for part in parts]
    return listing(quoted) if between == ", " else between.join(quoted)


def shown_by(needed: Needed) -> str:
    """Returns what shows that an assumption is needed: ``violated in 4 steps with --set …``."""
    steps = "" if needed.steps is None else f" in {count(needed.steps, 'step')}"
    why = "" if needed.is_shown else f" ({needed.reason})"
    return f"{needed.found}{steps} {_with(needed.settings)}{why}"


def _with(settings: str) -> str:
    return settings if settings.startswith(("as ", "without")) else f"with {settings}"


def open_questions(found: PropertyWorlds) -> Iterator[str]:
    """Yields what is not decided about a property."""
    for each in found.undecided():
        yield f"whether it needs {one_of(each)}: {shown_by(each)}"
    for settings in found.together:
        yield f"whether it holds {_with(settings)}: too large for the limits"


def loud(found: PropertyWorlds) -> Iterator[str]:
    """Yields what contradicts that a weaker world allows more."""
    for fails, holds in found.contradictions:
        yield (
            f"NOT MONOTONE: {found.property} fails {_with(fails)} and holds {_with(holds)},"
            " although that allows more; the spec or the tool is wrong"
        )


def figures(report: WeakestWorlds) -> str:
    """Returns how many worlds were run, and how many left out."""
    skipped = max((each.skipped for each in report.properties), default=0)
    left = f", {count(skipped, 'contradictory world')} skipped" if skipped else ""
    return f"{count(report.runs, 'world')} run{left}"
