"""The chapters of the gallery on valence: the proof of Fischer, Lynch and Paterson on the library's
protocols."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.render.html.gallery import Chapter


def write_chapters(files: Iterable[Path], target: Path, budget: float) -> list[Chapter]:
    """Writes the page of each chapter whose file of the library is among ``files`` into the folder
    ``target``, within ``budget`` seconds each; what is not known by then is left out."""
    from checker import resources
    from checker.cli.console import write_file
    from checker.cli.gallery_chapters import gallery_chapters
    from checker.engines import budgets
    from checker.engines.options import Options
    from checker.render.html.gallery import Chapter
    from checker.render.html.valence import valence_page
    from checker.results.answer import Limits
    from checker.valence.analysis import analyse
    from checker.valence.compute import compute
    from checker.valence.question import question_of

    given, found = {file.resolve() for file in files}, []
    for theme in gallery_chapters().valence:
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
