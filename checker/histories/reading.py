"""Reads the rows of a history: Jepsen's EDN and printed logs, NDJSON, and our own recorder's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic
from checker.histories import edn
from checker.histories.rows import (
    FAIL,
    INFO,
    INVOKE,
    MISSING,
    OK,
    TYPES,
    Row,
    at_line,
    frozen,
    wrong,
)
from checker.logs.content import Unreadable, beginning, read
from checker.logs.objects import Cut, decoded, lines, parse, texts
from checker.polling import poll

EDN, PRINTED, JSON = "EDN", "Jepsen's printed log", "NDJSON"

_PRINTED = re.compile(r"jepsen\.util\s*[-:]\s*(\S+)\s+:(\w+)\s+:(\S+)\s*(.*)$")
_MARK = "jepsen.util"
_HINT = "see the formats in docs/judge.md"

RECORDED = {"request": INVOKE, "indicate": OK}
"""The kinds of lines of the recorder that are rows here."""
ENDED = "crash"
"""The kind of row after which a process's outstanding operation never returns."""


class History(Struct):
    """The rows of one file.

    ``columns``: where fields are that have other names; ``skipped``: the number of lines that are
    no rows of clients; ``cut``: a warning, where the file ends within a row.
    """

    file: str
    format: str
    rows: list[Row] = field(default_factory=list)
    skipped: int = 0
    cut: Diagnostic | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


def read_history(file: str, columns: Mapping[str, str] | None = None) -> History:
    """Reads the history in ``file``; ``columns``: the paths of fields that have other names.

    Raises :class:`SpecError`: E075 where the file can't be read, E093 where it is in no known
    format, or a row can't be read.
    """
    try:
        content = read(file)
        data = bytes(content[beginning(content) :])
        found = History(file, _format_of(data), columns=columns or {})
        rows = {EDN: _edn, PRINTED: _printed, JSON: _json}[found.format]
        _collect(found, rows(found, data))
    except Unreadable as problem:
        if not problem.line:
            raise wrong("E075", f"{file}: {problem.why}", None, problem.hint) from None
        place = at_line(file, problem.line)
        raise wrong("E093", problem.why, place, problem.hint or _HINT) from None
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
        history.cut = Diagnostic("E085", message, place, hint=hint, severity="warning")


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
    for line, form in edn.plain_maps(text) or edn.forms(text):
        if isinstance(form, dict):
            row = _of_map(history, form, line)
        elif isinstance(form, tuple) and len(form) >= 3:
            process, kind, f, *value = form
            row = _row(history, line, process, kind, f, MISSING, value[0] if value else None)
        else:
            raise Unreadable("a row is a map, or a vector [process type f value]", line)
        yield row


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(decoded(line, number) for number, line in lines(data))


def _of_map(history: History, form: Mapping[Any, Any], line: int) -> Row:
    if history.columns:
        form = {**form, **_moved(history.columns, form)}
    if "type" not in form:
        raise Unreadable("this row has no `type`", line)
    f = form.get("f", "txn")
    key = frozen(form["key"]) if "key" in form else MISSING
    return _row(
        history, line, form.get("process", MISSING), form["type"], f, key, form.get("value")
    )


def _moved(columns: Mapping[str, str], form: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the fields of a row that are elsewhere in ``form``."""
    found: dict[str, Any] = {}
    for name, path in columns.items():
        value: Any = form
        for part in path.split("."):
            value = value.get(part, MISSING) if isinstance(value, Mapping) else MISSING
        if value is not MISSING:
            found[name] = value
    return found


def _row(history: History, line: int, process: Any, kind: Any, f: Any, key: Any, value: Any) -> Row:
    if not isinstance(kind, str) or kind not in TYPES:
        known = ", ".join(f"`{each}`" for each in (INVOKE, OK, FAIL, INFO))
        raise Unreadable(f"unknown `type` of a row: {kind}", line, f"the types are {known}")
    return Row(frozen(process), kind, str(f), key, frozen(value), history.file, line)


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
    return _row(history, line, edn.value_of(process, line), kind, f, MISSING, said)


# ---- JSON ---------------------------------------------------------------------------------------


def _json(history: History, data: bytes) -> Iterator[Row]:
    last: tuple[int, str, bool] | None = None
    for entry in texts(data):
        if last is not None:
            yield from _of_json(history, *last)
        last = entry
    if last is not None:
        number, text, whole = last
        try:
            yield from _of_json(history, number, text, whole)
        except Cut as problem:
            if whole:
                raise Unreadable(problem.why, number) from None
            raise


def _of_json(history: History, number: int, text: str, whole: bool) -> Iterator[Row]:
    try:
        found = parse(text, number)
    except Cut as problem:
        if whole:
            raise Unreadable(problem.why, number) from None
        raise
    if "kind" in found and "type" not in found and not history.columns:
        row = _recorded(history, found, number)
        if row is None:
            history.skipped += 1
        else:
            yield row
        return
    if "process" not in found and "process" not in history.columns:
        raise Unreadable("this row has no `process`", number)
    yield _of_map(history, found, number)


def _recorded(history: History, found: Mapping[str, Any], line: int) -> Row | None:
    """Returns the row that a line of the recorder is, if it is one of a history."""
    kind, process = found["kind"], found.get("process")
    if kind == ENDED:
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
    values = frozen(arguments)
    if kind == "indicate":
        type_ = found.get("outcome", OK)
        if type_ not in (OK, FAIL, INFO):
            raise Unreadable(f"unknown `outcome`: {type_}", line)
        value = MISSING if not values else values[0] if len(values) == 1 else values
        return Row(process, type_, "", MISSING, Result(value), history.file, line)
    return Row(process, INVOKE, found["name"], MISSING, Arguments(values), history.file, line)


class Arguments(Struct, frozen=True):
    """Marks arguments that are recorded as such: they are not one value."""

    values: tuple[Any, ...]


class Result(Struct, frozen=True):
    """Marks a result that is recorded as such: it does not repeat the arguments."""

    value: Any
