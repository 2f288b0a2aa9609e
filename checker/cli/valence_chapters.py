"""The chapters of the gallery on valence: the proof of Fischer, Lynch and Paterson on the library's
protocols."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from checker.render.html.gallery import Chapter


class Theme(Struct, frozen=True):
    """A chapter: the check that it shows, and the part of its page to begin with."""

    title: str
    file: str
    check: str
    part: str
    said: str


THEMES = (
    Theme(
        "The adjacent inputs",
        "consensus/leader.bcast",
        "leader_crash_one",
        "inputs",
        "Lemma 2: two inputs that differ in one process decide differently, and without that"
        " process nothing is decided.",
    ),
    Theme(
        "The hook",
        "commit/two_phase_commit.bcast",
        "coordinator_or_participant",
        "hook",
        "Lemma 3: where the next step decides, one process takes it, and all wait for that one.",
    ),
    Theme(
        "The run that never decides",
        "consensus/paxos.bcast",
        "duel",
        "never",
        "The theorem: every message is received, every state is bivalent, forever.",
    ),
)


def write_chapters(files: Iterable[Path], target: Path, budget: float) -> list[Chapter]:
    """Writes the page of each chapter whose file of the library is among ``files`` into the folder
    ``target``, within ``budget`` seconds each; what is not known by then is left out."""
    from checker import resources
    from checker.cli.console import write_file
    from checker.engines import budgets
    from checker.engines.options import Options
    from checker.render.html.gallery import Chapter
    from checker.render.html.valence import valence_page
    from checker.results.answer import Limits
    from checker.valence.analysis import analyse
    from checker.valence.compute import compute
    from checker.valence.question import question_of

    given, found = {file.resolve() for file in files}, []
    for theme in THEMES:
        path = resources.specs() / theme.file
        if path.resolve() not in given:
            continue
        options = Options(limits=Limits(timeout=budget))
        try:
            with budgets.within(budget):
                question = question_of(str(path), theme.check, options, None, free_inputs=True)
                report = analyse(compute(question, None))
        except budgets.BudgetExhausted:
            continue
        if report.stopped is not None:
            continue
        (target / "valence").mkdir(exist_ok=True)
        page = f"valence/{theme.part}.html"
        write_file(str(target / page), valence_page(report))
        found.append(Chapter(theme.title, f"{page}#{theme.part}", theme.said))
    return found
