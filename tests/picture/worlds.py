"""Random worlds: small specs with all kinds of features, and random broadcast protocols."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.picture.asking import Folder
from tests.picture.logs import text_of
from tests.picture.views import runs_in, show_check
from tests.world.drawing import spec_of
from tests.world.features import covering_sets

STATES, QUESTIONS = "60", 6
KINDS = ("--all", "3")
EXPLAINED, PICTURED = 100, 10
"""Of that number of worlds one is explained, or shown in all views."""


@cache
def _features(seed: int) -> list[frozenset[str]]:
    return covering_sets(seed, 4)


def world(number: int) -> str:
    """Returns the text of a random spec."""
    half, kind = divmod(number, 2)
    if kind:
        return text_of(half)
    seed, at = divmod(half, 1000)
    spec = spec_of(_features(seed)[at], half)
    return replace(spec, questions=spec.questions[:QUESTIONS]).text()


def show_world(folder: Folder, number: int) -> None:
    """Writes views of the world ``number``, where it has a violation among its first states."""
    Path("world.bcast").write_text(world(number), encoding="utf-8")
    ask = ("--engine", "reference", "--max-states", STATES)
    explained = number % (2 * EXPLAINED) < 2
    asked = (*ask, *(() if explained else ("--no-explain",)))
    said = folder.ask("check", "world.bcast::c", "--threads", "1", *asked, "--json", "report.json")
    runs = runs_in("report.json")
    if not runs and "exit code 2" not in said:
        return
    folder.put("world.bcast", Path("world.bcast").read_text(encoding="utf-8"))
    if explained or number % (2 * PICTURED) < 2:
        show_check(folder, "world.bcast::c", *asked, most=1)
        if explained:
            folder.keep("kinds.txt", "check", "world.bcast::c", "--threads", "1", *asked, *KINDS)
            for run in list(runs)[:1]:
                folder.keep(f"{run}/explain.txt", "explain", f"{run}.json", "--threads", "1")
        return
    folder.put("check.txt", said)
    folder.take("report.json", "report.json")
    for run in list(runs)[:1]:
        Path("run.json").write_text(runs[run], encoding="utf-8")
        folder.keep("view.txt", "view", "run.json", "--steps", columns=120)
        folder.keep("run.svg", "export", "run.json", "--to", "svg")
        folder.keep("run.mermaid", "export", "run.json", "--to", "mermaid")
        folder.keep("replay.txt", "replay", "run.json", "--steps")
