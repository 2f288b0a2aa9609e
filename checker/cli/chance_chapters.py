"""The chapter of the gallery on chance: how improbable the run that never decides is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.render.html.gallery import Chapter

FILE = "chance/ben_or_rounds.bcast"
CHECKS = ("terminates", "one_more_round", "three_rounds")
TITLE = "How improbable"
SAID = (
    "Ben-Or's answer to the theorem: the run that never decides is there, and has probability 0."
    " What the worst adversary does, coin by coin, and how likely it still succeeds, by round."
)


def write_chance_chapter(files: Iterable[Path], target: Path, budget: float) -> list[Chapter]:
    """Writes the page of the chapter into the folder ``target`` where its file of the library is
    among ``files``, within ``budget`` seconds a check; checks that take longer are left out."""
    from checker import resources
    from checker.cli.console import write_file
    from checker.engines.options import Options
    from checker.render.html.chance import chance_page
    from checker.render.html.gallery import Chapter
    from checker.results.answer import Limits
    from checker.session.pipeline import run_check

    path = resources.specs() / FILE
    if path.resolve() not in {file.resolve() for file in files}:
        return []
    options = Options(limits=Limits(timeout=budget))
    reports = [run_check(str(path), name, options) for name in CHECKS]
    found = [r for r in reports if any(verdict.chance is not None for verdict in r.verdicts)]
    if not found:
        return []
    (target / "chance").mkdir(exist_ok=True)
    page = "chance/ben_or.html"
    write_file(str(target / page), chance_page(found))
    return [Chapter(TITLE, page, SAID)]
