"""Reads what ``kafka-dump-log --print-data-log`` prints of a partition's log.

A batch has a line, with its producer and whether it is transactional, and each of its records
another one.  https://github.com/apache/kafka, DumpLogSegments.scala, of versions 2 to 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.logs.content import Content, beginning
from checker.logs.objects import decoded, lines
from checker.polling import poll

BEGINNING = re.compile(
    rb"\s*(Dumping \S|Starting offset: \d|Log starting offset: \d|baseOffset: \d)"
)
"""How such a text begins."""

_SEGMENT = re.compile(r"Dumping (.*)")
_OTHER = re.compile(r"(Log s|S)tarting offset: \d+$|Snapshot end offset: |Found timestamp mismatch")
_BATCH = re.compile(r"baseOffset: \d+ lastOffset: \d+ ")
_RECORD = re.compile(r"(?:\| )?offset: \d+ ")
_PAIR = re.compile(r"(\w+): (\S+)")
_TAIL = re.compile(r" headerKeys: \[.*?\](?= |$)|(?= key: | payload: )")
_NO_DATA = "print it with `kafka-dump-log --print-data-log`"


class Dump(Struct):
    """The rows of a dump; ``torn``: whether its last line is cut short and left out; ``others``:
    how many lines are not of such a dump, the first of which is ``first``."""

    file: str
    torn: bool = False
    others: int = 0
    first: int = 0
    partition: str | None = None
    batch: dict[str, str] = field(default_factory=dict)
    _valid: bool = True

    def rows(self, data: Content) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yields the records, with their lines; raises :class:`SpecError` (E100) where a record is
        malformed, and ``Unreadable`` where a line is not UTF-8."""
        batches = records = 0
        for number, text in self._texts(data):
            poll()
            segment = _SEGMENT.match(text)
            if segment is not None:
                self.partition, self.batch = _partition(segment[1]), {}
            elif _BATCH.match(text):
                batches += 1
                self.batch = dict(_PAIR.findall(text))
                self._valid = self.batch.get("isvalid", "true") == "true"
                if not self._valid:
                    yield number, {"kind": "gap", "partition": self.partition}
            elif _RECORD.match(text):
                records += 1
                if self._valid:
                    yield number, self._row(number, text)
            elif not _OTHER.match(text):
                self.others += 1
                self.first = self.first or number
        if batches and not records:
            raise self._wrong(1, "this dump has batches and no records", _NO_DATA)

    def _texts(self, data: Content) -> Iterator[tuple[int, str]]:
        """Yields lines that are not blank; a record whose payload has line ends is one of them, if
        it and the lines after it have exactly the size of the value."""
        known: list[str] = []
        for number, line in lines(data, beginning(data)):
            if not line.endswith(b"\n"):
                self.torn = bool(line.strip())
                break
            known.append(decoded(line, number).rstrip("\n").removesuffix("\r"))
        at = 0
        while at < len(known):
            text, number, end = known[at], at + 1, at + 1
            missing = _missing(text) if _RECORD.match(text) else 0
            while missing > 0 and end < len(known):
                missing -= len(known[end].encode()) + 1
                end += 1
            if missing > 0 and self.torn:
                return
            if missing == 0 and end > number:
                text = "\n".join(known[at:end])
                at = end
            else:
                at += 1
            if text.strip():
                yield number, text

    def _row(self, number: int, text: str) -> dict[str, Any]:
        tail = _TAIL.search(text)
        head = text[: tail.start()] if tail else text
        own = dict(_PAIR.findall(head))
        found = self.batch | own
        after = text[tail.end() :] if tail else text[len(head) :]
        control = _control(after) if found.get("isControl", "false") == "true" else None
        key, payload = (None, None) if control else self._data(number, own, after)
        time = _known(found.get("CreateTime", found.get("LogAppendTime")))
        row: dict[str, Any] = {
            "kind": "control" if control else "indicate",
            "msg": payload,
            "partition": self.partition,
            "offset": self._integer(number, own, "offset"),
            "ts": None if time is None else self._number(number, time) / 1000,
            "producer": _known(found.get("producerId")),
            "epoch": self._known_number(number, found, "producerEpoch"),
            "seq": self._known_number(number, own, "sequence"),
            "transactional": found.get("isTransactional") == "true",
            "control": control,
            "key": key,
        }
        return {name: value for name, value in row.items() if value is not None}

    def _data(self, number: int, own: dict[str, str], after: str) -> tuple[str | None, str | None]:
        """Returns the key and the payload of a record."""
        key = payload = None
        size = self._size(number, own, "key")
        if after.startswith(" key: ") and size >= 0:
            key, after = _cut(after[len(" key: ") :], size)
            if len(key.encode()) < size:
                raise self._wrong(number, "the key of this record is shorter than its `keySize`")
        if after.startswith(" payload: "):
            payload = after[len(" payload: ") :]
        elif self._size(number, own, "value") >= 0:
            raise self._wrong(number, "this record has no payload", _NO_DATA)
        return key, payload

    def _size(self, number: int, own: dict[str, str], of: str) -> int:
        name = f"{of}Size" if f"{of}Size" in own else f"{of}size"
        return self._integer(number, own, name)

    def _known_number(self, number: int, found: dict[str, str], name: str) -> int | None:
        known = _known(found.get(name))
        return None if known is None else self._number(number, known)

    def _integer(self, number: int, found: dict[str, str], name: str) -> int:
        if name not in found:
            raise self._wrong(number, f"this record has no `{name}`")
        return self._number(number, found[name])

    def _number(self, number: int, text: str) -> int:
        if not re.fullmatch(r"-?\d{1,19}", text, re.ASCII):
            raise self._wrong(number, f"`{text}` is not a number")
        return int(text)

    def warnings(self) -> list[Diagnostic]:
        """Returns what is to be said of lines that are skipped (E098)."""
        if not self.others:
            return []
        more = f"; {self.others:,} lines are not" if self.others > 1 else ""
        message = f"skipped: this line is not one of kafka-dump-log{more}"
        return [Diagnostic("E098", message, self._place(self.first), severity="warning")]

    def _wrong(self, number: int, message: str, hint: str = "") -> SpecError:
        return SpecError((Diagnostic("E100", message, self._place(number), hint=hint),))

    def _place(self, number: int) -> Span:
        return Span(self.file, number, 1, number, 1 << 20)


def _partition(path: str) -> str:
    """Returns the name of the partition of a segment: that of its folder."""
    return Path(path.strip()).parent.name or Path(path.strip()).stem


def _known(value: str | None) -> str | None:
    """Returns a number that a record may have; -1 stands for none."""
    return None if value is None or value == "-1" else value


def _control(after: str) -> str:
    """Returns what a control record is: ``commit``, ``abort``, or another type."""
    found = re.search(r" (?:endTxnMarker|controlType): (\w+)", after)
    if found is not None:
        return found[1].lower()
    other = re.match(r" (\w+)", after)
    return "control" if other is None else other[1]


def _missing(text: str) -> int:
    """Returns how many bytes of the payload of a record are on the following lines."""
    size = re.search(r"value[Ss]ize: (\d{1,10}) ", text)
    tail = _TAIL.search(text)
    if size is None or tail is None:
        return 0
    after = text[tail.end() :]
    key = re.search(r"key[Ss]ize: (\d{1,10}) ", text)
    if after.startswith(" key: ") and key is not None:
        _, after = _cut(after[len(" key: ") :], int(key[1]))
    if not after.startswith(" payload: "):
        return 0
    return int(size[1]) - len(after[len(" payload: ") :].encode())


def _cut(text: str, size: int) -> tuple[str, str]:
    """Returns the first ``size`` bytes of a text, or all if it has fewer, and the rest."""
    data = text.encode()
    return data[:size].decode(errors="replace"), data[size:].decode(errors="replace")
