"""Renders a report as one line, what limits its verdicts below it, and the total of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.terminal.amounts import about
from checker.render.terminal.canvas import pairs
from checker.render.terminal.report import (
    STYLES,
    excuses,
    scope_text,
    tally_text,
    unmet,
    verdict_count_text,
)
from checker.results.answer import DECIDED
from checker.results.verdict import Report, Word, meets

INDENT, GAP = 2, 2
NAME = 28
"""The largest number of columns for a check's name; longer ones wrap."""
SIZE, TIME = 14, 8
"""Columns for ``999,999 states`` and ``1234.5 s``."""
LARGE = 1_000_000
"""So many states, and more, are rounded."""
FEW = 2
"""So many handlers and messages that never occurred are named; of more, only the number is."""

GREEN = (Word.PROVED, Word.HOLDS)
"""The only verdicts that may look like a success."""


def check_line(report: Report, seconds: float, names: Sequence[str]) -> RenderableType:
    """Renders the name of the check, its verdicts, its states and ``seconds`` as a line.

    ``names``: of all checks that are shown below one another, whose columns are equal.
    """
    if report.proof is not None:
        size = count(report.proof.queries, "query")
    elif report.distinct_states < LARGE:
        size = count(report.distinct_states, "state")
    else:
        size = f"{about(report.distinct_states)} states"
    return _row(report.check, outcome_text(report), size, f"{seconds:.1f} s", names)


def unusable_line(name: str, names: Sequence[str]) -> RenderableType:
    """Renders the line of a check that could not be run."""
    return _row(name, Text("could not be run", style="bold red"), "", "", names)


def _row(name: str, said: Text, size: str, time: str, names: Sequence[str]) -> RenderableType:
    table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False, expand=True)
    table.add_column(width=min(NAME, max(map(len, names))), overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    table.add_column(width=SIZE, justify="right", no_wrap=True)
    table.add_column(width=TIME, justify="right", no_wrap=True)
    table.add_row(Text(name, style="bold"), said, size, time)
    return Padding(table, (0, 0, 0, INDENT))


def outcome_text(report: Report) -> Text:
    """Returns the verdicts in a few words: what is not as expected first, each with what was
    expected, then what is, the properties that hold by their number alone."""
    said = [*_surprises(report), *_expected(report)]
    told = sum(scenario.met for scenario in report.scenarios)
    if told:
        said.append(Text(f"{count(told, 'scenario')} passed"))
    return Text("; ").join(said)


def _surprises(report: Report) -> Iterator[Text]:
    """Yields a text for each verdict, other expectation and scenario that is not as expected, equal
    verdicts together."""
    groups: dict[tuple[Word, str, str | None], list[str]] = {}
    for verdict in report.verdicts:
        wanted = report.expected_word(verdict)
        if not meets(verdict.word, wanted):
            key = verdict.word, verdict.loud_label(), wanted
            groups.setdefault(key, []).append(verdict.property)
    for (word, label, expected), names in groups.items():
        said = Text(f"{listing(names)} ")
        said.append(label, style="bold red" if word in GREEN else STYLES[word])
        yield said.append(f", expected {expected}") if expected else said
    judged = {verdict.property for verdict in report.verdicts}
    for each in unmet(report):
        if each.what not in judged:
            yield Text(f"{each.what} {each.found}, expected {each.expected}", style="bold red")
    for scenario in report.scenarios:
        if not scenario.met:
            yield Text(f"scenario {scenario.name} FAILED", style="bold red")


def _expected(report: Report) -> Iterator[Text]:
    """Yields a text for each word that verdicts as expected have."""
    if not report.verdicts:
        nothing = "nothing proved" if report.proof is not None else "states counted"
        yield Text("nothing checked" if report.is_about_nothing and not report.proof else nothing)
    met = [v for v in report.verdicts if meets(v.word, report.expected_word(v))]
    for word in Word:
        those = [verdict for verdict in met if verdict.word is word]
        if not those:
            continue
        if word in GREEN:
            yield Text(verdict_count_text(word, len(those)), style="green")
            continue
        said = f"{listing([verdict.property for verdict in those])} {those[0].label()}, as expected"
        yield Text(said, style="" if word is Word.VIOLATED else STYLES[word])


def caveats_view(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Renders ``rows`` of :func:`caveats` below the line of their check."""
    shown = [(Text(name, style="yellow"), Text(said)) for name, said in rows]
    return pairs(shown, 2 * INDENT, max(len(name) for name, _ in rows))


def caveats(report: Report) -> Iterator[tuple[str, str]]:
    """Yields what limits the verdicts of ``report``, as rows of a label and a text, but for its
    notes."""
    unfinished = not report.exhaustive and report.stopped != DECIDED
    if report.proof is None and (unfinished or report.omission is not None):
        yield "scope", scope_text(report)
    for verdict in report.verdicts:
        if verdict.word in (Word.VACUOUS, Word.UNKNOWN, Word.ERROR):
            yield verdict.word.value, f"{verdict.property}: {verdict.reason}"
    yield from (("rests on", said) for said in excuses(report))
    if report.audit is not None:
        yield "audit", report.audit.said
    if len(report.never) > FEW:
        yield "never", f"{len(report.never)} handlers and messages never occurred (-v names them)"
    else:
        yield from (("never", said) for said in report.never)


def notes_view(notes: Mapping[str, Sequence[str]]) -> RenderableType:
    """Renders each of ``notes``, with the names of the checks that it is about."""
    label = Text("note", style="yellow")
    rows = [(label, Text(f"{', '.join(checks)}: {said}")) for said, checks in notes.items()]
    return pairs(rows, INDENT, len("note"))


def total_text(reports: Sequence[Report], checks: int, seconds: float) -> Text:
    """Returns the total of ``checks`` checks, of which ``reports`` are those that could be run, in
    ``seconds``."""
    good = sum(report.exit_code == 0 for report in reports)
    states = count(sum(report.distinct_states for report in reports), "state")
    figures = "; ".join(part for part in (tally_text(reports), states, f"{seconds:.1f} s") if part)
    if good == checks:
        return Text(f"{count(checks, 'check')}, all as expected: {figures}", style="bold")
    said = Text(f"{good} of {count(checks, 'check')} as expected", style="bold red")
    wrong = [report.check for report in reports if report.exit_code != 0]
    rest = [f"NOT as expected: {listing(wrong)}"] if wrong else []
    rest += [f"not run: {checks - len(reports)}"] if checks > len(reports) else []
    return said.append(f" ({'; '.join(rest)}): {figures}", style="not bold default")
