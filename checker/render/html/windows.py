"""Renders the score of logs by windows as a self-contained page: the table, and the spec, each line
of it with its windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.diagnostics.english import count, listing
from checker.diagnostics.visible import visible
from checker.records import replace
from checker.render.html.content import as_sentence, short_file_name, with_code
from checker.render.html.obstacles import line_of
from checker.render.html.page import environment, policy, style
from checker.render.terminal.conformance import price_of
from checker.render.terminal.windows import COLUMNS, place_text, unseen_by_run, unseen_text
from checker.results.conformance import Conformance
from checker.results.conformance_lines import Obstacle
from checker.results.trace import Source
from checker.results.windows import HandlerScore, LineScore, WindowScore


def windows_page(
    reports: Sequence[Conformance], score: WindowScore, sources: Sequence[Source]
) -> str:
    """Returns the page on the ``score`` of logs, on which there are ``reports``; ``sources``: the
    texts of the spec."""
    first = reports[0]
    data = {
        "title": f"{short_file_name(first.file)}::{first.check}",
        "said": as_sentence(first.sentence) if len(reports) == 1 else count(len(reports), "log"),
        "columns": COLUMNS,
        "rows": [_row(each, n, sources) for n, each in enumerate(score.handlers, 1)],
        "files": [_file(source, score, sources) for source in sources],
        "unseen": [
            place_text(replace(each, file=short_file_name(each.file)))
            for each in score.covered
            if not each.reached
        ],
        "runs": [
            {"steps": run, "shown": [unseen_text(each) for each in shown]}
            for run, shown in unseen_by_run(score).items()
        ],
        "aside": score.aside,
        "assumed": listing(score.assumed),
        "nowhere": count(score.nowhere, "message") if score.nowhere else "",
        "proposals": [
            {"said": f"{each.step}: {price_of(each)}", "toml": each.toml}
            for report in reports
            for each in report.proposals
        ],
        "style": style(),
        "policy": policy(""),
    }
    return visible(environment().get_template("windows.html").render(data))


def _row(each: HandlerScore, number: int, sources: Sequence[Source]) -> dict[str, Any]:
    numbers = (each.windows, each.explained, each.red, each.weak, each.unasked, each.outcomes)
    return {
        "id": f"w{number}",
        "name": each.name,
        "numbers": [f"{number:,}" for number in numbers],
        "red": each.red,
        "first": None if each.first is None else _why(each.first, sources),
        "condition": each.condition if each.red > 1 else "",
        "shared": listing(each.shared),
    }


def _why(obstacle: Obstacle, sources: Sequence[Source]) -> dict[str, Any]:
    """Returns the variables of a line of a log, and the reasons, with their values."""
    line = line_of(obstacle, sources)
    reasons = zip(line["rows"], obstacle.candidates, strict=True)
    return line | {"rows": [{**row, "why": with_code(found.text)} for row, found in reasons]}


def _file(source: Source, score: WindowScore, sources: Sequence[Source]) -> dict[str, Any]:
    by_line = {each.line: each for each in score.lines if each.file == source.file}
    covered = [each for each in score.covered if each.file == source.file]
    reached = {each.line for each in covered if each.reached}
    unseen = {each.line for each in covered} - reached
    return {
        "file": short_file_name(source.file),
        "shipped": source.shipped,
        "lines": [
            _line(text, by_line.get(number), number in unseen, sources)
            for number, text in enumerate(source.text.splitlines(), 1)
        ],
    }


def _line(
    text: str, score: LineScore | None, is_unseen: bool, sources: Sequence[Source]
) -> dict[str, Any]:
    """Returns the variables of a line of the spec: its text, and what is said of its windows."""
    kind, said = "", ""
    if score is not None and score.red:
        kind, said = "red", f"{score.red:,} red, {score.explained:,} explained"
    elif score is not None and score.weak == score.explained:
        kind, said = "weak", f"{count(score.explained, 'window')}, all weak"
    elif score is not None:
        kind, said = "explained", f"{score.explained:,} explained"
    elif is_unseen:
        kind, said = "unseen", "never seen"
    code, slashes, comment = text.partition("//")
    first = None if score is None or score.first is None else _why(score.first, sources)
    return {
        "code": code,
        "comment": slashes + comment,
        "kind": kind,
        "said": said,
        "first": first,
    }
