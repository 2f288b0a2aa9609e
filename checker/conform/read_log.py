"""Reads logs: JSON objects or lines of text, in one file or several, into the rows of each process.

Only positions order rows, and only those of one process; files may be merged or apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.diagnostics.english import count
from checker.logs.content import Unreadable, read, require_objects
from checker.logs.entries import Entries, Matched, is_otlp, stem_of
from checker.logs.mapping import OBJECTS, LogMapping, with_part
from checker.logs.objects import Cut, texts
from checker.logs.paths import ABSENT, LINE, ROW, Entry, used_names
from checker.record.kinds import GAP, KINDS

SAID = frozenset(
    "run process kind state msg sender seq partition offset payload_hash name arguments message"
    " fields receivers to from lost chosen".split()
)
"""The fields of a line that say something, besides its position and its time."""

FIELDS = ("pos", *sorted(SAID))
"""The fields of a line that are read."""

RESOLVED = ("message", "name")
"""The columns whose values are renamed where a line is resolved by a system."""

MOST_KEPT = 50_000
"""The largest number of templates, and of shared rows, that are kept."""

BEYOND = 1 << 63
"""Positions are smaller than this."""


class Row(Struct, frozen=True):
    """A line of a log: ``number`` is that of the line in ``file``, counted from 1.

    ``data``: what it says, without its position and time; lines that say the same may share it.
    """

    file: str
    number: int
    process: str
    pos: int
    kind: str
    data: Mapping[str, Any]

    @property
    def place(self) -> Span:
        """Where it stands."""
        return Span(self.file, self.number, 1, self.number, 2)

    @property
    def run(self) -> str:
        """The name of its run; empty where it says none, or null."""
        run = self.data.get("run")
        return "" if run is None else str(run)


class Log(Struct):
    """The rows of each process in one run, in the order of their positions.

    ``read``: lines that were read; ``ignored``: those that the mapping passes over; ``gaps``: the
    places where something is missing, in words.  ``run``: its name, where the lines say one.
    ``skipped``: what is to be said of lines of its files that are no rows.
    """

    files: tuple[str, ...]
    run: str = ""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    read: int = 0
    ignored: int = 0
    gaps: list[str] = field(default_factory=list)
    skipped: tuple[str, ...] = ()


def read_log(paths: Iterable[str], mapping: LogMapping) -> Log:
    """Reads the files ``paths`` as the log of one run; raises what :func:`read_logs` does, and
    :class:`SpecError` (E073) where they are of several."""
    first, *others = read_logs(paths, mapping)
    if others:
        names = ", ".join(log.run or "an unnamed run" for log in (first, *others))
        raise _wrong("E073", f"these files have lines of several runs: {names}")
    return first


def read_logs(paths: Iterable[str], mapping: LogMapping) -> tuple[Log, ...]:
    """Reads the files ``paths`` together: the log of each run of which there is a line, in the
    order of their first lines, or an empty one.

    Raises :class:`SpecError`: E077 a line that can't be read, E071 one without process or position,
    E072 a process that goes back, E073 two logs of one process in a run, or lines that name no run
    beside some that do, E075 a file that can't be read, E098 one of text in which no line is a row.
    """
    files = tuple(paths)
    logs: dict[str, Log] = {}
    begun: dict[tuple[str, str], str] = {}
    reader = _Reader(mapping)
    for path in files:
        for row in reader.rows(path):
            run = row.run
            log = logs.get(run)
            if log is None:
                log = logs[run] = Log((), run)
            before = begun.get((run, row.process))
            if before is None:
                begun[run, row.process] = path
                log.files = tuple(dict.fromkeys((*log.files, path)))
            elif before != path:
                where = f" in the run {run}" if run else ""
                message = f"{row.process} has two logs{where}: the other one is {before}"
                raise _wrong("E073", message, row.place)
            log.read += 1
            if row.kind in mapping.ignored:
                log.ignored += 1
                row = Row(row.file, row.number, row.process, row.pos, "", row.data)
            _append(log, row)
    if len(logs) > 1 and "" in logs:
        first = next(iter(logs[""].rows.values()))[0]
        message = "these lines have no `run`, but others in these files do"
        raise _wrong("E073", message, first.place, "write `run` in all lines, or in none")
    for log in logs.values():
        log.rows = {p: [row for row in rows if row.kind] for p, rows in log.rows.items()}
        log.skipped = tuple(reader.skipped)
    if len(logs) > 1:
        return tuple(logs.values())
    (log,) = logs.values() or (Log(files, skipped=tuple(reader.skipped)),)
    log.files = files
    return (log,)


def missing_before(row: Row, last: int | None) -> int:
    """Returns how many lines of its process are missing before ``row``, where ``last`` is the
    position of the row before it, if there is one."""
    before = min(row.pos, 1) - 1 if last is None else last
    return max(row.pos - before - 1, 0)


def gap_before(row: Row) -> Row:
    """Returns the gap that missing lines before ``row`` are."""
    return Row(row.file, row.number, row.process, row.pos - 1, GAP, {})


def _append(log: Log, row: Row) -> None:
    rows = log.rows.setdefault(row.process, [])
    if rows and row.pos <= rows[-1].pos:
        last = rows[-1]
        message = f"the positions of {row.process} decrease: {row.pos} after {last.pos}"
        hint = f"line {last.number} has position {last.pos}; positions of a process must increase"
        raise _wrong("E072", message, row.place, hint)
    missing = missing_before(row, rows[-1].pos if rows else None)
    if missing:
        where = f"{row.file}:{row.number}: {count(missing, 'line')} of {row.process} missing here"
        log.gaps.append(where)
        rows.append(gap_before(row))
    elif row.kind == GAP:
        what = "a truncated line" if "lost" in row.data else "a recorded gap"
        log.gaps.append(f"{row.file}:{row.number}: {row.process} has {what}")
    rows.append(row)


class RowsOfLines:
    """Finds the rows in the lines of one file, or of what is read as one.

    ``numbers``: where rows are numbered, how many each process of a run has.
    """

    def __init__(self, path: str, mapping: LogMapping, numbers: dict[str, int] | None) -> None:
        self.path, self.mapping, self.numbers = path, mapping, numbers
        self._templates = Templates(mapping)
        self._entries = Entries(mapping, stem_of(path))

    def of(self, number: int, text: str) -> list[Row]:
        """Returns the rows of the JSON object ``text``, in the line ``number``.

        Raises :class:`Unreadable`, and :class:`SpecError` (E071, E077).
        """
        known = self._templates.row(self.path, number, text)
        if known is not None:
            return [known]
        data = self._entries.parsed(text, number)
        is_span = is_otlp(data)
        found = [
            self._templates.shared(self._row(entry, own=not is_span))
            for entry in self._entries.of(data, number)
        ]
        if found and not is_span:
            self._templates.note(text, data, found[-1])
        return found

    def of_groups(self, number: int, groups: dict[str, str]) -> Row:
        """Returns the row of a line of text, whose named groups are ``groups``."""
        return self._row(self._entries.one(_meant(groups), number), own=True)

    @property
    def count(self) -> int:
        """How many rows there were so far."""
        return self._entries.number

    def _row(self, entry: Entry, *, own: bool) -> Row:
        """Returns the row that an entry is; ``own``: columns may have our names in it."""
        named = self._named(entry, own)
        if self.numbers is not None and named.get("process") not in (None, ""):
            of = f"{named.get('run')} {named['process']}"
            named["pos"] = self.numbers[of] = self.numbers.get(of, 0) + 1
        return _row(self.path, entry, named, self.mapping)

    def _named(self, entry: Entry, own: bool) -> dict[str, Any]:
        """Returns the fields of a line by our names."""
        mapping = self.mapping
        if not mapping.columns:
            return dict(entry.row) if own else {}
        names = FIELDS if own else [name for name in mapping.columns if name in FIELDS]
        found = {name: mapping.written(name, entry) for name in names}
        found = {name: value for name, value in found.items() if value is not ABSENT}
        for name in mapping.columns:
            whole, _, part = name.partition(".")
            value = mapping.written(name, entry) if whole in OBJECTS and part else ABSENT
            if value is not ABSENT:
                found[whole] = with_part(found.get(whole), part, value)
        return found


def numbering(mapping: LogMapping) -> dict[str, int] | None:
    """Returns where the rows of processes are counted; ``None`` if they have positions."""
    return {} if mapping.special("pos") in (ROW, LINE) else None


class _Reader:
    """Reads files; ``skipped``: what is to be said of lines of text that are no rows."""

    def __init__(self, mapping: LogMapping) -> None:
        self.mapping = mapping
        self.skipped: list[str] = []
        self._numbers = numbering(mapping)

    def rows(self, path: str) -> Iterator[Row]:
        """Yields the rows of a file."""
        try:
            if self.mapping.lines is not None:
                yield from self._of_text(path, self.mapping.lines)
            else:
                yield from self._of_objects(path)
        except Unreadable as problem:
            raise unreadable(path, problem) from None

    def _of_objects(self, path: str) -> Iterator[Row]:
        last: Row | None = None
        rows = RowsOfLines(path, self.mapping, self._numbers)
        content = read(path)
        require_objects(content)
        for number, text, whole in texts(content):
            try:
                found = rows.of(number, text)
            except Cut:
                if whole:
                    raise
                yield half(path, number, text, last)
                return
            for last in found:
                yield last

    def _of_text(self, path: str, pattern: re.Pattern[str]) -> Iterator[Row]:
        matched, rows = Matched(path, pattern), RowsOfLines(path, self.mapping, self._numbers)
        last: Row | None = None
        for number, groups in matched.rows(read(path)):
            last = rows.of_groups(number, groups)
            yield last
        if matched.cut:
            yield half(path, matched.cut, "", last)
        for warning in matched.warnings(rows.count):
            if warning.code != "E085":
                where = f"{path}:{warning.span.line}" if warning.span else path
                self.skipped.append(f"{where}: {warning.message} [{warning.code}]")


def _meant(groups: Mapping[str, str]) -> dict[str, Any]:
    """Returns what the parts of a line of text are: positions are numbers, and what is JSON is
    read."""
    found: dict[str, Any] = dict(groups)
    for name, text in groups.items():
        if re.fullmatch(r"-?(0|[1-9]\d{0,18})|\[.*\]|\{.*\}", text, re.ASCII):
            try:
                found[name] = json.loads(text)
            except (ValueError, RecursionError):
                continue
    return found


def half(path: str, number: int, text: str, last: Row | None) -> Row:
    """Returns the gap that a last line that is cut short leaves: in the log of the process of the
    line before it, or of that which the file is named after."""
    if last is None:
        return Row(path, number, stem_of(path), 1, GAP, {"lost": text})
    return Row(path, number, last.process, last.pos + 1, GAP, {"lost": text, "run": last.run})


def unreadable(path: str, problem: Unreadable) -> SpecError:
    """Returns the error (E075, E077) that a log can't be read."""
    if problem.line:
        place = Span(path, problem.line, 1, problem.line, 2)
        return _wrong("E077", problem.why, place, problem.hint)
    name = path or "a log"
    return _wrong("E075", f"{name} can't be read: {problem.why}", hint=problem.hint)


class Templates:
    """Lines that differ in their position and time only are parsed once.

    A template is a line without the values of these two: where one line with it has them at the
    top, all lines with it do, and say the same.  Where other fields differ that have no meaning
    here, lines are parsed, but share what they say.
    """

    def __init__(self, mapping: LogMapping) -> None:
        others = {
            name
            for column, paths in mapping.columns.items()
            if column not in ("pos", "ts")
            for name in used_names(paths)
        }
        names = {ours: mapping.theirs(ours) for ours in ("pos", "ts")}
        self._names = {
            theirs[0]: ours
            for ours, theirs in names.items()
            if len(theirs) == 1 and theirs[0] not in others
        }
        if not mapping.is_flat or "pos" not in self._names.values():
            self._names = {}
        known = "|".join(map(re.escape, self._names))
        self._numbers = re.compile(
            rf'"({known})"[ \t]*:[ \t]*(-?(?:0|[1-9]\d{{0,18}})(?:\.\d+)?|"[^"\\\x00-\x1f]*")',
            re.ASCII,
        )
        self._known: dict[tuple[str, ...], Row] = {}
        self._said: dict[str, Mapping[str, Any]] = {}

    def shared(self, row: Row) -> Row:
        """Returns ``row`` with what another one says that says the same."""
        if len(self._said) >= MOST_KEPT:
            self._said.clear()
        data = self._said.setdefault(repr(row.data), row.data)
        return Row(row.file, row.number, row.process, row.pos, row.kind, data)

    def row(self, path: str, number: int, line: str) -> Row | None:
        """Returns what ``line`` says, where one with its template was noted."""
        parts = self._numbers.split(line)
        known = self._known.get(_template(parts))
        if known is None:
            return None
        pos = next(value for name, value in _numbers(parts) if self._names[name] == "pos")
        if not pos.isdecimal() or len(pos) >= len(str(BEYOND)):
            return None
        return Row(path, number, known.process, int(pos), known.kind, known.data)

    def note(self, line: str, data: Mapping[str, Any], row: Row) -> None:
        """Notes what ``line`` says, where its position and time are a number, and a number or a
        text, at its top, and no others have these names."""
        if "\\" in line:  # names can be written otherwise
            return
        parts = self._numbers.split(line)
        found = [(name, json.loads(value)) for name, value in _numbers(parts)]
        ours = [self._names[name] for name, _ in found]
        if "pos" in ours and len(set(ours)) == len(ours):
            if all(data.get(name) == value for name, value in found):
                if len(self._known) >= MOST_KEPT:
                    self._known.clear()
                self._known[_template(parts)] = row


def _template(parts: list[str]) -> tuple[str, ...]:
    return (*parts[::3], *parts[1::3])


def _numbers(parts: list[str]) -> Iterable[tuple[str, str]]:
    return zip(parts[1::3], parts[2::3], strict=True)


def _row(path: str, entry: Entry, named: Mapping[str, Any], mapping: LogMapping) -> Row:
    place = Span(path, entry.line, 1, entry.line, 2)
    for needed in ("process", "pos", "kind"):
        if named.get(needed) in (None, ""):
            raise _wrong("E071", f"this line has no `{needed}`", place, _lacking(needed, entry))
    if type(named["pos"]) is not int:
        raise _wrong("E071", f"`{named['pos']}` is not a position: it must be a number", place)
    if abs(named["pos"]) >= BEYOND:
        raise _wrong("E071", "this position is too large: the limit is 2^63 - 1", place)
    kind = str(mapping.value("kind", named["kind"]))
    if kind not in KINDS and kind not in mapping.ignored:
        near = get_close_matches(kind, KINDS, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(KINDS)}"
        raise _wrong("E077", f"unknown kind of line `{kind}`", place, hint)
    process = str(mapping.value("process", named["process"]))
    said = {
        name: value if name in RESOLVED else mapping.value(name, value)
        for name, value in named.items()
        if name in SAID
    }
    return Row(path, entry.line, process, named["pos"], kind, said)


def _lacking(needed: str, entry: Entry) -> str:
    """Returns what can be done about a column that a line lacks."""
    if len(entry.scope) > 1:
        return "name its path in [columns] of a mapping (docs/logs.md)"
    near = get_close_matches(needed, [n for n in entry.row if n not in ("process", "pos")], 1)
    return f"did you mean `{near[0]}`? rename it in [columns] of a mapping" if near else ""


def _wrong(code: str, message: str, place: Span | None = None, hint: str = "") -> SpecError:
    return SpecError((Diagnostic(code, message, place, hint=hint),))
