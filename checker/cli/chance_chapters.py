"""The chapters of the gallery on chance: how improbable the run that never decides is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.render.html.gallery import Chapter


def write_chance_chapters(files: Iterable[Path], target: Path, budget: float) -> list[Chapter]:
    """Writes the page of each chapter whose file of the library is among ``files`` into the folder
    ``target``, within ``budget`` seconds a check; checks that take longer are left out."""
    from checker import resources
    from checker.cli.console import write_file
    from checker.cli.gallery_chapters import gallery_chapters
    from checker.engines.options import Options
    from checker.render.html.chance import chance_page
    from checker.render.html.gallery import Chapter
    from checker.results.answer import Limits
    from checker.session.pipeline import run_check

    given, chapters = {file.resolve() for file in files}, []
    options = Options(limits=Limits(timeout=budget))
    for theme in gallery_chapters().chance:
        path = resources.specs() / theme.file
        if path.resolve() not in given:
            continue
        reports = [run_check(str(path), name, options) for name in theme.checks]
        found = [r for r in reports if any(verdict.chance is not None for verdict in r.verdicts)]
        if not found:
            continue
        (target / "chance").mkdir(exist_ok=True)
        page = f"chance/{theme.page}.html"
        write_file(str(target / page), chance_page(found))
        chapters.append(Chapter(theme.title, page, theme.said))
    return chapters
