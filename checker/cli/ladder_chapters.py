"""The chapters of the gallery on the library's ladders: what each rule of a protocol is for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.cli.gallery_chapters import Rung
    from checker.render.diagram.rows import Layout
    from checker.render.html.gallery import Exhibit, LadderChapter, Step
    from checker.results.trace import Trace


def write_ladders(
    files: Iterable[Path], exhibits: Sequence[Exhibit], target: Path, layout: Layout
) -> list[LadderChapter]:
    """Returns the chapter of each ladder that has rungs in ``files``.

    A rung shows the run that is among ``exhibits``; where there is none, since the search took too
    long, that of the check's scenario, whose page is written into the folder ``target``.
    """
    from checker import resources
    from checker.cli.gallery_chapters import gallery_chapters
    from checker.render.html.gallery import LadderChapter

    given = {file.resolve() for file in files}
    shown: dict[tuple[Path, str], Exhibit] = {}
    for exhibit in exhibits:
        header = exhibit.trace.header
        shown.setdefault((Path(header.file).resolve(), header.check), exhibit)
    found = []
    for ladder in gallery_chapters().ladders:
        steps = []
        for rung in ladder.rungs:
            path = (resources.specs() / rung.file).resolve()
            if path in given:
                steps.append(_step(rung, path, shown.get((path, rung.check)), target, layout))
        if steps:
            found.append(LadderChapter(ladder.title, ladder.said, tuple(steps)))
    return found


def _step(rung: Rung, path: Path, exhibit: Exhibit | None, target: Path, layout: Layout) -> Step:
    from checker.cli.gallery import hang
    from checker.diagnostics.english import count
    from checker.render.html.gallery import Step

    word = "found"
    if exhibit is None:
        trace = scenario_trace(path, rung.check)
        if trace is None:
            return Step(rung.check, rung.rule, f"bivalence check specs/{rung.file}::{rung.check}")
        word, exhibit = "a scenario", hang(trace, path, target, layout)
    trace = exhibit.trace
    about = f"{trace.property_name} violated, {count(trace.length, 'step')}, {word}"
    return Step(rung.check, rung.rule, about, exhibit.page)


def scenario_trace(path: Path, check: str) -> Trace | None:
    """Returns the run of the first scenario of ``check``, in the spec at ``path``, that claims a
    violation; None where it has none, or the scenario fails."""
    from checker.session import pipeline
    from checker.simulate.scenario import play
    from checker.simulate.session import trace_of_choices

    opened = pipeline.open_check(str(path), check, pipeline.Options())
    for scenario in opened.check.scenarios:
        violated = [claim.what for claim in scenario.claims if claim.word == "violated"]
        if not violated:
            continue
        played = play(opened, scenario)
        if played.problem is None:
            return trace_of_choices(opened, played.taken, played.loop, violated[0])
    return None
