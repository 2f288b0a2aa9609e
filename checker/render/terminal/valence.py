"""Renders the valence of a check in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.steps import headline_list
from checker.render.terminal.text import trace_view
from checker.results.trace import Trace
from checker.results.valence import Critical, Level, Start, UndecidedRun, Valence

MOST_LEVELS, BAR = 12, 28
"""Levels that are shown unless all are asked for, and the columns of a bar."""
MOST_STARTS, MOST_ADJACENT = 32, 4
COLOURS = ("blue", "yellow", "cyan", "green")
"""Colours of the values; more values are not distinguished by colour."""
BIVALENT, SILENT, SPLIT = "magenta", "dim", "red"
SIGNS = {"kept": "green", "given up": "bold red", "unknown": "yellow"}


def valence_view(
    report: Valence, *, runs: bool = True, every_level: bool = False
) -> RenderableType:
    """Renders the report; ``runs``: with the runs that it has; ``every_level``: with all levels."""
    if report.stopped is not None:
        return Group(_title(report), _unknown(report))
    parts: list[RenderableType] = [Group(_title(report), _sizes(report)), _corners(report)]
    parts += [_starts(report), _levels(report, every_level)]
    parts += [part for part in (_critical(report, runs), _without(report)) if part is not None]
    parts.append(_undecided(report, runs))
    if report.notes:
        parts.append(Group(*(Text(f"note  {said}", style="dim") for said in report.notes)))
    if report.disagreement is not None and runs:
        parts.append(Group(Text("Two values are decided", style="bold"), _run(report.disagreement)))
    return stack(parts)


def values_text(values: Sequence[str]) -> str:
    """Returns ``{0,1}``."""
    return "{" + ",".join(values) + "}"


def _title(report: Valence) -> Text:
    title = Text(f"{report.check}: what `{report.outcome}` can still become", style="bold")
    return title.append(f"\n{report.world}", style="dim not bold") if report.world else title


def _unknown(report: Valence) -> Text:
    said = Text("UNKNOWN", style="bold yellow")
    said.append(f"  {report.stopped}; ", style="not bold")
    said.append(
        f"valence is known once all states are, so far {count(report.states, 'state')}"
        f" to depth {report.depth}",
        style="not bold",
    )
    return said


def _sizes(report: Valence) -> Text:
    words = report.graph_seconds + report.word_seconds
    return Text(
        f"{count(report.states, 'state')}, depth {report.depth}, {count(report.edges, 'step')};"
        f" search {report.seconds:.2g} s, valence {words:.2g} s",
        style="dim",
    )


def _corners(report: Valence) -> RenderableType:
    rows = [
        (Text(f"{corner.name}"), Text(f"{corner.kept:8}", style=SIGNS[corner.kept]).append(
            f"  {corner.reason}", style="not bold default"))
        for corner in report.corners
    ]  # fmt: skip
    return Group(Text("The corners of the triangle", style="bold"), pairs(rows, 2, 13))


# ---- initial states ---------------------------------------------------------------------------


def _style(report: Valence, values: Sequence[str]) -> str:
    if len(values) > 1:
        return BIVALENT
    if not values:
        return SILENT
    number = report.values.index(values[0])
    return COLOURS[number % len(COLOURS)]


def input_text(start: Start) -> str:
    """Returns the inputs of ``start``, in the order of the processes: ``0 1 1``."""
    return " ".join(value for _, value in start.inputs) or "as written"


def _starts(report: Valence) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    named = [process for process, _ in report.starts[0].inputs] if report.starts else []
    table.add_column(" ".join(named) or "input")
    table.add_column("open")
    for process in report.processes:
        table.add_column(f"without {process}")
    for start in report.starts[:MOST_STARTS]:
        cells = [Text(input_text(start)), _open(report, start.open)]
        cells += [_open(report, each.open) for each in start.without]
        table.add_row(*cells)
    parts: list[RenderableType] = [Text("From each input", style="bold"), table]
    if len(report.starts) > MOST_STARTS:
        parts.append(Text(f"and {len(report.starts) - MOST_STARTS:,} more", style="dim"))
    parts += [Text(said) for said in adjacent_texts(report)]
    return Group(*parts)


def _open(report: Valence, values: Sequence[str]) -> Text:
    return Text(values_text(values), style=_style(report, values))


def adjacent_texts(report: Valence) -> Iterator[str]:
    """Yields what lemma 2 says here, in sentences."""
    bivalent = sum(start.open[1:] != () for start in report.starts)
    if bivalent:
        yield f"{bivalent} of {count(len(report.starts), 'input')} {_are(bivalent)} bivalent."
    for pair in report.adjacent[:MOST_ADJACENT]:
        one, other = report.starts[pair.one], report.starts[pair.other]
        said = (
            f"Adjacent: {input_text(one)} can only decide {one.open[0]}, and {input_text(other)},"
            f" which differs in {pair.process} alone, only {other.open[0]}. Without {pair.process}"
        )
        if pair.without:
            yield f"{said} {values_text(pair.without)} can be decided."
        else:
            yield f"{said} nothing can be decided: that is what the lemma excludes."
    if len(report.adjacent) > MOST_ADJACENT:
        yield f"There are {len(report.adjacent) - MOST_ADJACENT} more such pairs."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


# ---- levels -----------------------------------------------------------------------------------


def _levels(report: Valence, every: bool) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    for title in ("depth", "states", "bivalent", *(f"only {v}" for v in report.values), "none"):
        table.add_column(title, justify="right")
    split = any(level.split for level in report.levels)
    if split:
        table.add_column("several decided", justify="right")
    table.add_column("", no_wrap=True)
    shown = _some(report.levels, every)
    widest = max((level.states for level in report.levels), default=1)
    for level in shown:
        cells = [level.depth, level.states, level.bivalent, *level.univalent, level.silent]
        cells += [level.split] if split else []
        table.add_row(*(f"{cell:,}" for cell in cells), _bar(report, level, widest))
    heading = Text("Level by level", style="bold")
    if len(shown) < len(report.levels):
        heading.append(f"  {len(shown)} of {len(report.levels)}, --levels shows all", style="dim")
    return Group(heading, table)


def _some(levels: Sequence[Level], every: bool) -> Sequence[Level]:
    """Returns the levels that are shown, spread evenly, the first and the last among them."""
    if every or len(levels) <= MOST_LEVELS:
        return levels
    last = len(levels) - 1
    return [levels[round(i * last / (MOST_LEVELS - 1))] for i in range(MOST_LEVELS)]


def _bar(report: Valence, level: Level, widest: int) -> Text:
    """Returns a bar as wide as the level, divided by valence."""
    parts = [(level.split, SPLIT, "#"), (level.bivalent, BIVALENT, "=")]
    parts += [
        (n, COLOURS[i % len(COLOURS)], report.values[i][:1]) for i, n in enumerate(level.univalent)
    ]
    parts.append((level.silent, SILENT, "."))
    bar, done, drawn = Text(), 0, 0
    for number, style, sign in parts:
        done += number
        until = -(-done * BAR // widest)
        bar.append(sign * (until - drawn), style=style)
        drawn = until
    return bar


# ---- critical states --------------------------------------------------------------------------


def _critical(report: Valence, runs: bool) -> RenderableType | None:
    if not report.critical_states:
        bivalent = sum(level.bivalent for level in report.levels)
        if not bivalent:
            return None
        return Group(
            Text("Critical states", style="bold"),
            Text("None: from every bivalent state some step leads to a bivalent state."),
        )
    title = Text("Critical states", style="bold")
    title.append(f"  {report.critical_states:,}, the nearest first", style="dim not bold")
    return Group(title, *(_hook(report, each, runs) for each in report.critical))


def _hook(report: Valence, found: Critical, runs: bool) -> RenderableType:
    rows = [
        (_open(report, branch.open), Text(f"after: {branch.headline}")) for branch in found.branches
    ]
    parts: list[RenderableType] = [Text(holder_text(found))]
    if runs:
        parts.append(headline_list(found.trace))
    return Group(*parts, pairs(rows, 2, 6))


def holder_text(found: Critical) -> str:
    """Returns who holds the decision in a critical state, in a sentence."""
    where = f"After {count(found.trace.length, 'step')}"
    if not found.holder:
        return f"{where} the next step decides, whoever takes it."
    said = f"{where} {found.holder} holds the decision"
    if found.without_holder:
        return f"{said}; without it {values_text(found.without_holder)} can be decided."
    return f"{said}: without it nothing can be decided."


# ---- without a process, and runs --------------------------------------------------------------


def _without(report: Valence) -> RenderableType | None:
    rows = [
        (
            Text(each.process),
            Text(
                f"if it stops, nothing can be decided in {count(each.states, 'state')} where"
                " something still could be" + (", from the start" if each.initial else "")
            ),
        )
        for each in report.blocking
    ]
    rows.append((Text("all"), Text(
        f"{count(report.non_uniform, 'state')} where several values can each be decided without"
        " some process"
    )))  # fmt: skip
    return Group(Text("Without a process", style="bold"), pairs(rows, 2, 6))


def _undecided(report: Valence, runs: bool) -> RenderableType:
    run = report.undecided
    if run is None:
        said = "None: every admissible run of this check decides."
        return Group(Text("A run that never decides", style="bold"), Text(said))
    parts: list[RenderableType] = [Text("A run that never decides", style="bold")]
    parts.append(Text(undecided_text(run)))
    parts += [Text(f"  {number}. {said}") for number, said in enumerate(run.schedule, 1)]
    return stack([Group(*parts), _run(run.trace)]) if runs else Group(*parts)


def undecided_text(run: UndecidedRun) -> str:
    """Returns what kind of run it is, in a sentence."""
    if run.kind == "bivalent":
        said = "Every state of it is bivalent, and it is fair."
    else:
        last = run.trace.still_open[-1].values
        still = f"{listing(last)} could still be decided" if last else "nothing can be decided"
        said = f"It is fair, and eventually {still}."
    if not run.schedule:
        return f"{said} It stays in its state forever after {count(run.trace.length, 'step')}."
    after = f"After {count(run.trace.loop or 0, 'step')}, again" if run.trace.loop else "Again"
    return f"{said} {after} and again:"


def _run(trace: Trace) -> RenderableType:
    return trace_view(trace)
