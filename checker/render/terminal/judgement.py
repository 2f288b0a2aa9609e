"""Renders a report on a recorded history in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.terminal.canvas import pairs, stack
from checker.results.judgement import Anomaly, Judgement, Recorded, Refutation
from checker.results.verdict import Word

STYLES = {Word.HOLDS: "bold green", Word.VIOLATED: "bold red"}
WIDEST = 48
"""The largest number of columns of the bars."""
LONGEST = 60
"""The largest number of characters of an operation in the picture."""


def judgement_view(report: Judgement, *, pictures: bool = True) -> RenderableType:
    """Renders the report; ``pictures``: with the operations that show a violation."""
    parts: list[RenderableType] = [_verdict(report)]
    if pictures and report.refutation is not None:
        parts.append(Group(*_refutation(report.refutation, report.file)))
    if pictures:
        parts += [Group(*_anomaly(each, report.file)) for each in report.anomalies]
    parts.append(pairs([(Text(name), Text(said)) for name, said in _rows(report)], 2, 12))
    return stack(parts)


def judgement_line(report: Judgement) -> Text:
    """Renders one of several reports in a line."""
    said = f"{report.file}: {report.sentence}"
    return _word(report).append(f"  {said}", style="default not bold")


def judgements_summary(reports: Sequence[Judgement], failed: int, wanted: int) -> Text:
    """Renders how many of several histories have which verdict; ``failed``: the number of those
    that can't be used."""
    words = [report.word for report in reports]
    kinds = (
        (Word.HOLDS, "hold"), (Word.VIOLATED, "violated"), (Word.VACUOUS, "vacuous"),
        (Word.UNKNOWN, "unknown"),
    )  # fmt: skip
    said = [f"{words.count(word):,} {name}" for word, name in kinds if word in words]
    said += [f"{failed:,} can't be used"] if failed else []
    missing = wanted - len(reports) - failed
    said += [f"{missing:,} not judged"] if missing else []
    return Text(f"{count(wanted, 'history')}: {', '.join(said)}", style="bold")


def _word(report: Judgement) -> Text:
    return Text(report.word.value.upper(), style=STYLES.get(report.word, "bold yellow"))


def _verdict(report: Judgement) -> Text:
    return judgement_line(report)


def _refutation(found: Refutation, file: str) -> Iterator[RenderableType]:
    where = f"Key {found.key}: " if found.key else ""
    yield Text(f"{where}{found.sentence}", style="bold")
    yield from _bars(found.operations, found.refuted, file)
    for reason in found.reasons:
        yield Text(f"  {reason}")
    if found.left_out:
        yield Text(
            f"  {count(found.left_out, 'operation')} before that left out: wherever between its"
            " call and its return each took effect, the others have no order",
            style="dim",
        )


def _bars(operations: Sequence[Recorded], refuted: int | None, file: str) -> Iterator[Text]:
    """Yields a line for each operation, by process: a bar from its call to its return."""
    places = sorted({at for one in operations for at in (one.begin, one.end)})
    step = max(1, min(4, WIDEST // max(1, len(places))))
    column = {at: number * step for number, at in enumerate(places)}
    width = column[places[-1]] + 2
    processes = list(dict.fromkeys(one.process for one in operations))
    name = max(map(len, processes))
    texts = [_short(one.text) for one in operations]
    longest = max(map(len, texts))
    before = None
    for process in processes:
        for number, one in enumerate(operations):
            if one.process != process:
                continue
            own = process if process != before else ""
            before = process
            begin, end = column[one.begin], column[one.end]
            bar = "├" + "─" * max(0, end - begin - 1) + ("┤" if one.returned else "╌")
            line = Text(f"  {own:>{name}}  {texts[number]:<{longest}}  {' ' * begin}")
            is_last = number == refuted
            line.append(bar + (" ✗" if is_last else ""), style="bold red" if is_last else "")
            pad = width - begin - len(bar) + (0 if is_last else 2)
            lines = f"{one.called}" + (f"–{one.returned}" if one.returned else "")
            yield line.append(f"{' ' * pad}  {file}:{lines}", style="dim")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _anomaly(found: Anomaly, file: str) -> Iterator[RenderableType]:
    more = f" ({found.times:,} found)" if found.times > 1 else ""
    yield Text(f"{found.name}: {found.sentence}{more}", style="bold")
    for number, one in enumerate(found.transactions, start=1):
        lines = f"{one.called}" + (f"–{one.returned}" if one.returned else "")
        who = f"process {one.process}  " if one.process else ""
        line = Text(f"  T{number}  {who}{one.text}")
        yield line.append(f"  {file}:{lines}", style="dim")
    for edge in found.dependencies:
        yield Text(f"  T{edge.before + 1} → T{edge.after + 1}  {edge.kind}: {edge.text}")


def _rows(report: Judgement) -> Iterator[tuple[str, str]]:
    """Yields what was read and searched."""
    ignored = f", {report.ignored:,} of them ignored" if report.ignored else ""
    yield (
        "read",
        f"{count(report.rows, 'row')}{ignored}" + (f" ({report.format})" if report.format else ""),
    )
    without = f", {report.indeterminate:,} without a known outcome" if report.indeterminate else ""
    failed = f", {report.failed:,} failed and left out" if report.failed else ""
    yield "operations", f"{report.operations:,}{without}{failed}"
    if report.parts > 1:
        yield "keys", f"{report.parts:,}"
    if report.allowed:
        yield "allowed", f"{', '.join(report.allowed)}: found, and not forbidden by this model"
    for each in report.undecided:
        yield "unknown", each
    work = f"{count(report.work, 'configuration')}, " if report.work else ""
    yield "search", f"{work}{report.seconds:.2f} s"
    for note in report.notes:
        yield "note", note
