"""Shows a sweep as a table: a line for each cell, then the results of each property."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.report import STYLES
from checker.results.verdict import Word
from checker.sweep.cells import Status
from checker.sweep.rows import Row, in_order, next_steps_of
from checker.sweep.sweep_plan import SweepPlan

SHOUTED = (
    Word.VIOLATED,
    Word.ERROR,
    Word.VACUOUS,
    Word.PENDING,
    Word.UNKNOWN,
    Word.BOUNDED,
    Word.WITHIN,
)
LABEL = 8
CALM = (Status.DONE,)
MOST_STEPS = 4
"""Next steps that are shown; the documents have those of each cell."""


def sweep_view(plan: SweepPlan, rows: Sequence[Row], most: int | None = None) -> RenderableType:
    """Renders the sweep; of its cells the first ``most`` where that is not ``None``."""
    ordered = in_order(rows)
    title = Text(f"{plan.path}::{plan.check.name}", style="bold")
    fixed = ", ".join(f"{name}={value}" for name, value in plan.options.settings.items())
    if fixed:
        title.append(f"  {fixed}", style="default not bold")
    return stack([title, _table(plan, ordered[:most]), _facts(plan, ordered, most)])


def _table(plan: SweepPlan, rows: Sequence[Row]) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for name in plan.grid.names:
        numbers = all(isinstance(row.cell.parameters.get(name), int) for row in rows)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    table.add_column("verdicts", ratio=1, overflow="fold")
    for name in ("states", "depth", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        values = [str(row.cell.settings[name]) for name in plan.grid.names]
        table.add_row(*values, _outcome(row), *_numbers(row))
    return table


def _numbers(row: Row) -> tuple[str, str, str]:
    if row.report is None:
        return "", "", f"{row.seconds:.1f}" if row.seconds else ""
    report = row.report
    return f"{report.distinct_states:,}", str(report.depth), f"{row.seconds:.1f}"


def _outcome(row: Row) -> Text:
    said = Text()
    for word in SHOUTED:
        names = [name for name, verdict in row.verdicts.items() if verdict.word is word]
        if names:
            _join(said, "; ").append(word.value.upper(), style=STYLES[word])
            said.append(f" {', '.join(names)}")
    held = sum(verdict.word in (Word.HOLDS, Word.PROVED) for verdict in row.verdicts.values())
    if held:
        _join(said, "; ").append(f"{held} {'holds' if held == 1 else 'hold'}", style="green")
    if row.status not in CALM or not row.verdicts:
        what = "explored" if row.status is Status.DONE else row.status.value
        _join(said, "; ").append(what, style="" if row.status is Status.DONE else "yellow")
    if row.reason:
        said.append(f": {row.reason}", style="dim")
    if row.cell.within is False:
        _join(said, "; ").append("outside `requires`", style="dim")
    for verdict in row.verdicts.values():
        if verdict.trace:
            said.append("\n")
            said.append(Path(verdict.trace).name, style=f"dim link {_link(verdict.trace)}")
    return said


def _join(said: Text, between: str) -> Text:
    return said.append(between) if said else said


def _link(path: str) -> str:
    return Path(os.path.abspath(path)).as_uri()


def _facts(plan: SweepPlan, rows: Sequence[Row], most: int | None) -> RenderableType:
    shown = [("cells", _statuses(rows))]
    if most is not None and len(rows) > most:
        shown.append(("shown", f"only the first {most:,} are shown; the file has all"))
    for name in plan.properties:
        words = Counter(row.verdicts[name].word for row in rows if name in row.verdicts)
        told = ", ".join(f"{word.value} in {words[word]}" for word in Word if words[word])
        if told:
            shown.append(("property", f"{name}: {told}"))
    folders = {str(Path(v.trace).parent) for row in rows for v in row.verdicts.values() if v.trace}
    undecided = (row for row in rows if row.status not in CALM)
    steps = [step for row in undecided for step in next_steps_of(row, plan)]
    shown += [("next", step) for step in [*dict.fromkeys(steps)][:MOST_STEPS]]
    shown += [("traces", f"in {folder}") for folder in sorted(folders)]
    shown += [("note", note) for note in plan.notes]
    return pairs([(Text(name, style="dim"), Text(text)) for name, text in shown], 0, LABEL)


def _statuses(rows: Sequence[Row]) -> str:
    found = Counter(row.status for row in rows)
    told = ", ".join(f"{found[status]} {status.value}" for status in Status if found[status])
    return f"{count(len(rows), 'cell')}: {told}"
