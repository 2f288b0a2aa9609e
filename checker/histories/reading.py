"""Reads the rows of a history: Jepsen's EDN and printed logs, JSON, OTLP, text, our recorder's."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic
from checker.histories import edn
from checker.histories.boxes import boxed, hosts_of, in_order
from checker.histories.rows import (
    FAIL,
    INFO,
    INVOKE,
    MISSING,
    OK,
    TYPES,
    Arguments,
    Result,
    Row,
    at_line,
    frozen,
    wrong,
)
from checker.logs.content import Unreadable, beginning, read, require_objects
from checker.logs.entries import Entries, Matched, is_otlp, stem_of
from checker.logs.mapping import NO_MAPPING, UNITS, LogMapping
from checker.logs.objects import Cut, decoded, lines, texts
from checker.logs.paths import ABSENT, Entry, Path, path_of, used_names
from checker.polling import poll

EDN, PRINTED, JSON, TEXT = "EDN", "Jepsen's printed log", "NDJSON", "text"
OTLP = "OTLP JSON"

_PRINTED = re.compile(r"jepsen\.util\s*[-:]\s*(\S+)\s+:(\w+)\s+:(\S+)\s*(.*)$")
_MARK = "jepsen.util"
_HINT = "see the formats in docs/judge.md"

RECORDED = {"request": INVOKE, "indicate": OK}
"""The kinds of lines of the recorder that are rows here."""
STATUS = {"ok": OK, "fail": FAIL, "maybe": INFO}
"""What the recorder says of an answer, and the kind of row that it is."""
ENDED = "crash"
"""The kind of row after which a process's outstanding operations never return."""
ENDING = (ENDED, "start", "recover")
"""The kinds of lines of the recorder that are such a row."""


FIELDS = ("process", "type", "f", "key", "value", "call_time", "result", "return_time", "host")
"""The fields of a row of JSON."""
BESIDE = ("index", "time", "error", "ts", "pos")
"""What a row may have beside them, and no verdict depends on."""


def _paths(*texts: str) -> tuple[Path, ...]:
    return tuple(path for path in map(path_of, texts) if path is not None)


_CLIENTS = ("service.instance.id", "service.name")
SPANS = LogMapping(
    columns={
        "process": _paths(
            *("attributes.process", "attributes.thread.name", "attributes.thread.id"),
            *(f"resource.attributes.{name}" for name in _CLIENTS),
        ),
        "f": _paths("name"),
        "type": _paths("status.code"),
        "key": _paths("attributes.key"),
        "value": _paths("attributes.value"),
        "result": _paths("attributes.result"),
        "host": _paths("resource.attributes.host.id", "resource.attributes.host.name"),
        "call_time": _paths("startTimeUnixNano"),
        "return_time": _paths("endTimeUnixNano"),
    },
    values={
        "type": {"2": INFO, "STATUS_CODE_ERROR": INFO}
        | dict.fromkeys(("0", "1", "STATUS_CODE_UNSET", "STATUS_CODE_OK"), OK)
    },
    unit=UNITS["ns"],
)
"""What the spans of OTLP are here, unless a mapping says otherwise: one with an error may have
taken effect or not."""


class History(Struct):
    """The rows of one file, in their order.

    ``mapping``: where fields are that have other names; ``skipped``: the number of lines that are
    no rows of clients; ``warnings``: a file that ends within a row, and lines that are no rows.
    ``hosts``: those whose clocks order the rows, or none.  ``known``: the fields of a row of JSON
    that are read, may be ignored, or have been told of.
    """

    file: str
    format: str
    rows: list[Row] = field(default_factory=list)
    skipped: int = 0
    warnings: tuple[Diagnostic, ...] = ()
    mapping: LogMapping = NO_MAPPING
    hosts: list[Any] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def tell_unknown(self, row: Mapping[str, Any], line: int) -> None:
        """Adds a warning (E084) for each field of a row that is not read, once."""
        for name in sorted(row.keys() - self.known):
            self.known.add(name)
            near = get_close_matches(name, FIELDS, 1)
            hint = f"did you mean `{near[0]}`? " if near else ""
            hint += "list it in `ignored` of the mapping if it is irrelevant"
            place, message = at_line(self.file, line), f"unknown field `{name}`"
            told = Diagnostic("E084", message, place, hint=hint, severity="warning")
            self.warnings = (*self.warnings, told)

    @property
    def entries(self) -> Entries:
        """What finds the rows in objects."""
        return Entries(self.mapping, stem_of(self.file))


def read_history(file: str, mapping: LogMapping = NO_MAPPING) -> History:
    """Reads the history in ``file``; ``mapping``: where fields are that have other names.

    Raises :class:`SpecError`: E075 where the file can't be read, E093 where it is in no known
    format, or a row can't be read, E098 where no line is a row, E099 for a time that is none.
    """
    try:
        content = read(file)
        if mapping.lines is None:
            require_objects(content)
        data = bytes(content[beginning(content) :])
        kind = TEXT if mapping.lines is not None else _format_of(data)
        found = History(file, kind, mapping=mapping, known={*FIELDS} - {*mapping.columns})
        found.known |= {*BESIDE, *mapping.ignored}
        found.known |= {name for paths in mapping.columns.values() for name in used_names(paths)}
        rows = {EDN: _edn, PRINTED: _printed, JSON: _json, TEXT: _text}[kind](found, data)
        del content, data  # a history may be large: each reader has it once
        _collect(found, rows)
    except Unreadable as problem:
        if not problem.line:
            raise wrong("E075", f"{file}: {problem.why}", None, problem.hint) from None
        place = at_line(file, problem.line)
        raise wrong("E093", problem.why, place, problem.hint or _HINT) from None
    found.rows = in_order(found.rows)
    found.hosts = hosts_of(found.rows)
    return found


def _collect(history: History, rows: Iterator[Row]) -> None:
    try:
        for row in rows:
            poll()
            history.rows.append(row)
    except Cut as problem:
        message = "the file ends within this row"
        hint = "the complete rows before it are judged"
        place = at_line(history.file, problem.line)
        cut = Diagnostic("E085", message, place, hint=hint, severity="warning")
        history.warnings = (*history.warnings, cut)


def _format_of(data: bytes) -> str:
    """Returns the format of ``data`` by its first characters; raises :class:`Unreadable`."""
    head = data[: 1 << 16].decode("utf-8", "replace")
    bare = re.sub(r"^(\s|;[^\n]*\n?)*", "", head)
    if re.match(r'(\[\s*)?\{\s*"', bare):
        return JSON
    if not bare or bare[0] in "{[(#":
        return EDN
    if _MARK in head:
        return PRINTED
    raise Unreadable("this is not a history in a known format", 1)


# ---- EDN --------------------------------------------------------------------------------------


def _edn(history: History, data: bytes) -> Iterator[Row]:
    text = _decoded(data)
    del data
    entries = history.entries
    for line, form in edn.plain_maps(text) or edn.forms(text):
        if isinstance(form, dict) and _is_plain(history, form):
            yield _plain(history, form, line)
        elif isinstance(form, dict):
            for entry in entries.of(form, line):
                yield from _of_entry(history, entry)
        elif isinstance(form, tuple) and len(form) >= 3:
            process, kind, f, *value = form
            said = history.mapping.value
            kind, f = said("type", kind), said("f", f)
            given = said("value", value[0] if value else None)
            yield _row(history, line, said("process", process), kind, f, MISSING, given)
        else:
            raise Unreadable("a row is a map, or a vector [process type f value]", line)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(decoded(line, number) for number, line in lines(data))


def _is_plain(history: History, form: Mapping[Any, Any]) -> bool:
    """Returns whether a row is a call or a return, by our names."""
    return history.mapping is NO_MAPPING and "call_time" not in form


def _plain(history: History, form: Mapping[Any, Any], line: int) -> Row:
    """Returns the row that an object is, by our names."""
    if "type" not in form:
        raise Unreadable("this row has no `type`", line)
    key = frozen(form["key"]) if "key" in form else MISSING
    process, f = form.get("process", MISSING), form.get("f", "txn")
    return _row(history, line, process, form["type"], f, key, form.get("value"))


def _of_entry(history: History, entry: Entry, of: LogMapping | None = None) -> Iterator[Row]:
    """Yields the rows that a row of the file is: an operation with times is two."""
    line = entry.line
    mapping = history.mapping if of is None else of
    found = {name: mapping.of(name, entry) for name in FIELDS}
    process, kind, f, key, value, began, result, ended, host = (
        MISSING if each is ABSENT else each for each in found.values()
    )
    f = "txn" if f is MISSING else f
    value = None if value is MISSING else value
    if began is MISSING:
        if kind is MISSING:
            raise Unreadable("this row has no `type`", line)
        yield _row(history, line, process, kind, f, frozen(key), value)
        return
    call = _row(history, line, process, INVOKE, f, frozen(key), value)
    call.call, call.host = entry.number, frozen(host)
    yield from boxed(call, kind, result, (began, ended), mapping.unit)


def _row(history: History, line: int, process: Any, kind: Any, f: Any, key: Any, value: Any) -> Row:
    known = TYPES.get(kind) if isinstance(kind, str) else None
    if known is None:
        types = ", ".join(f"`{each}`" for each in (INVOKE, OK, FAIL, INFO))
        raise Unreadable(f"unknown `type` of a row: {kind}", line, f"the types are {types}")
    name = sys.intern(f) if type(f) is str else str(f)
    return Row(frozen(process), known, name, key, frozen(value), history.file, line)


# ---- printed logs -------------------------------------------------------------------------------


def _printed(history: History, data: bytes) -> Iterator[Row]:
    for number, line in lines(data):
        if not line.endswith(b"\n") and line.strip():
            raise Cut("this line may be incomplete", number)
        text = decoded(line, number).rstrip("\r\n")
        found = _PRINTED.search(text)
        if found is not None:
            try:
                yield _of_line(history, number, *found.groups())
            except Cut as problem:
                raise Unreadable(problem.why, number) from None
        elif _MARK in text and " :" in text:
            raise Unreadable("this line is not `process :type :f value`", number)
        else:
            history.skipped += bool(text.strip())


def _of_line(history: History, line: int, process: str, kind: str, f: str, value: str) -> Row:
    said = edn.value_of(value, line) if value.strip() else None
    mapping, who = history.mapping, edn.value_of(process, line)
    return _row(
        history, line, mapping.value("process", who), mapping.value("type", kind),
        mapping.value("f", f), MISSING, mapping.value("value", said),
    )  # fmt: skip


# ---- text ---------------------------------------------------------------------------------------


def _text(history: History, data: bytes) -> Iterator[Row]:
    assert history.mapping.lines is not None
    matched, entries = Matched(history.file, history.mapping.lines), history.entries
    for number, groups in matched.rows(data):
        meant = {name: _meant(said) for name, said in groups.items()}
        yield from _of_entry(history, entries.one(meant, number))
    history.skipped += matched.others
    history.warnings = (*history.warnings, *matched.warnings(entries.number))


def _meant(text: str) -> Any:
    """Returns the value that a text is: a number, a list, or itself."""
    try:
        return edn.value_of(text, 0)
    except Unreadable:
        return text


# ---- JSON ---------------------------------------------------------------------------------------


def _json(history: History, data: bytes) -> Iterator[Row]:
    last: tuple[int, str, bool] | None = None
    entries = history.entries
    for entry in texts(data):
        if last is not None:
            yield from _of_json(history, entries, *last)
        last = entry
    if last is not None:
        number, text, whole = last
        try:
            yield from _of_json(history, entries, number, text, whole)
        except Cut as problem:
            if whole:
                raise Unreadable(problem.why, number) from None
            raise


def _of_json(
    history: History, entries: Entries, number: int, text: str, whole: bool
) -> Iterator[Row]:
    try:
        found = entries.parsed(text, number)
    except Cut as problem:
        if whole:
            raise Unreadable(problem.why, number) from None
        raise
    of = history.mapping
    if "type" in found and "process" in found and _is_plain(history, found):
        history.tell_unknown(found, number)
        yield _plain(history, found, number)
        return
    if is_otlp(found):
        history.format, of = OTLP, of.over(SPANS)
    for entry in entries.of(found, number):
        if _is_recorded(entry.row, of):
            row = _recorded(history, entry.row, entry.line)
            history.skipped += row is None
            if row is not None:
                yield row
            continue
        if of.rows is None and not is_otlp(found):
            history.tell_unknown(entry.row, entry.line)
        if of.of("process", entry) is ABSENT and of.of("call_time", entry) is ABSENT:
            raise Unreadable("this row has no `process`", entry.line)
        yield from _of_entry(history, entry, of)


def _is_recorded(row: Mapping[str, Any], mapping: LogMapping) -> bool:
    """Returns whether a row is a line of the recorder."""
    return "kind" in row and "type" not in row and not mapping.columns and "call_time" not in row


def _recorded(history: History, found: Mapping[str, Any], line: int) -> Row | None:
    """Returns the row that a line of the recorder is, if it is one of a history."""
    kind, process, call = found["kind"], found.get("process"), found.get("call")
    if kind in ENDING:
        return Row(process, ENDED, "", MISSING, MISSING, history.file, line)
    if kind not in RECORDED:
        return None
    if not isinstance(found.get("name"), str) or process is None:
        raise Unreadable(f"a `{kind}` must have `process` and `name`", line)
    arguments = found.get("arguments", [])
    if isinstance(arguments, Mapping):
        arguments = [*arguments.values()]
    if not isinstance(arguments, list):
        raise Unreadable("`arguments` must be a list or an object", line)
    if call is not None:
        if not isinstance(call, int | str):
            raise Unreadable("`call` must be a number or a text", line)
        call = (process, call)
    values = frozen(arguments)
    if kind == "indicate":
        value = MISSING if not values else values[0] if len(values) == 1 else values
        type_ = _outcome(found, line)
        return Row(process, type_, "", MISSING, Result(value), history.file, line, call)
    f = history.mapping.value("f", found["name"])
    return Row(process, INVOKE, f, MISSING, Arguments(values), history.file, line, call)


def _outcome(found: Mapping[str, Any], line: int) -> str:
    status = found.get("status", "ok")
    outcome = found.get("outcome", STATUS.get(status) if isinstance(status, str) else None)
    if outcome not in (OK, FAIL, INFO):
        shown = found.get("outcome", status)
        raise Unreadable(f"unknown outcome of an operation: {shown}", line)
    return str(outcome)
