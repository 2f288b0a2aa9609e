"""All views of a check, and of a run that it finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.picture.asking import Folder

WALK = (1, 2, 1, 3, 2, 1, 4, 1)
"""The numbers of the steps that are taken by hand."""

ASKED = 8
"""The largest number of steps of a run for which alternatives and obstacles are asked."""


def show_check(folder: Folder, name: str, *options: str, most: int | None = None) -> None:
    """Writes all views of the check ``name`` (FILE::CHECK), run with ``options``, and of the runs
    that it has found, or the first ``most``."""
    files = ("--json", "report.json", "--junit", "report.xml", "--sarif", "report.sarif")
    ask = ("check", name, "--threads", "1", *options)
    folder.keep("check.txt", *ask, "-v", *files, "--itf-out", "run.itf.json")
    for made in (*files[1::2], "run.itf.json"):
        folder.take(made, made)
    runs = runs_in("report.json")
    folder.keep("github.txt", *ask, "-q", "--github")
    if runs:
        folder.keep("check-120.txt", *ask, "-v", columns=120)
        folder.keep("steps.txt", *ask, "--steps", "--layout", "causality")
    for run, document in list(runs.items())[:most]:
        Path(f"{run}.json").write_text(document, encoding="utf-8")
        show_run(folder, run)


def runs_in(file: str) -> dict[str, str]:
    """Returns the trace documents in the report ``file``, by the names of their properties."""
    if not Path(file).exists():
        return {}
    found: dict[str, str] = {}
    for report in json.loads(Path(file).read_text(encoding="utf-8"))["reports"]:
        for verdict in report.get("verdicts", [report]):
            if trace := verdict.get("trace"):
                found[f"{verdict.get('property', 'run')}"] = json.dumps(trace)
    return found


def show_run(folder: Folder, run: str, *, again: bool = True) -> None:
    """Writes all views of the trace document ``run``.json; ``again``: also those for which its run
    is made again from its spec."""
    trace = f"{run}.json"
    folder.put(f"{run}/trace.json", Path(trace).read_text(encoding="utf-8"))
    folder.keep(f"{run}/view.txt", "view", trace)
    folder.keep(f"{run}/view-120.txt", "view", trace, "--steps", columns=120)
    folder.keep(f"{run}/view-causality.txt", "view", trace, "--layout", "causality", "--fold")
    for made in ("svg", "mermaid", "csv", "itf", "shiviz"):
        folder.keep(f"{run}/run.{made}", "export", trace, "--to", made)
    folder.keep(f"{run}/causality.svg", "view", trace, "--svg", "-", "--layout", "causality")
    _show_page(folder, f"{run}/page.html", trace)
    if again:
        _show_page(folder, f"{run}/page-without-faults.html", trace, "--without-faults")
        folder.keep(f"{run}/replay.txt", "replay", trace, "--steps")
        folder.keep(f"{run}/scenario.txt", "scenario", trace)
        folder.keep(f"{run}/explore.txt", "explore", "--from", trace, lines=questions(trace))


def _show_page(folder: Folder, name: str, trace: str, *options: str) -> None:
    folder.ask("view", trace, "--html", "page.html", *options)
    folder.take(name, "page.html")
    Path("page.html").unlink(missing_ok=True)


def questions(trace: str) -> str:
    """Returns what is asked at the end of a run, at its middle and at its start."""
    steps: list[dict[str, Any]] = json.loads(Path(trace).read_text(encoding="utf-8"))["steps"]
    some = steps[:: max(1, -(-len(steps) // ASKED))]
    obstacles = [f"why not {step['headline']}" for step in some]
    standing = ["state", "deliveries", "messages", *obstacles]
    others = [f"alternatives {step['number']}" for step in some]
    middle, start = f"jump {len(steps) // 2}", "jump 0"
    lines = [*standing, "alternatives", *others, middle, *standing, start, *obstacles]
    return "".join(f"{line}\n" for line in (*lines, "instead 1 1", "undo", "quit"))


def show_walk(folder: Folder, name: str) -> None:
    """Writes what stepping by hand shows, and what random walks find."""
    lines = "".join(f"{number}\n" for number in WALK)
    asked = "deliveries\nmessages\nstate\nwhy not p1 crashes\nalternatives\nundo\n"
    folder.keep("explore.txt", "explore", name, lines=lines + asked)
    walks = ("--seed", "7", "--walks", "60", "--steps", "40", "--threads", "1")
    folder.keep("simulate.txt", "simulate", name, *walks, "-v", "--no-explain")
