"""The logs of nodes, as they grow: one JSON object in a line, as docs/logs.md of Bivalence says."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .acts import Line

ENVIRONMENT = ("start", "end", "crash", "gap", "send")
"""Kinds of lines that no step waits for."""


def said(value: Any) -> str | None:
    """Returns a value of a log as the trace prints it; ``None`` for sets, lists and records, which
    are not compared."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    return str(value) if isinstance(value, str | int) else None


def agree(wanted: Mapping[str, str] | Sequence[str], given: Mapping[str, Any]) -> bool:
    """Whether what is ``given`` is as ``wanted``, as far as it says something: by names, or in
    order where the names are others."""
    if isinstance(wanted, Mapping) and set(given) <= set(wanted):
        pairs = [(wanted[name], said(value)) for name, value in given.items()]
    else:
        values = list(wanted.values() if isinstance(wanted, Mapping) else wanted)
        pairs = list(zip(values, map(said, given.values()), strict=False))
    return all(text in (None, "_", value) for value, text in pairs)


def is_line(wanted: Line, row: Mapping[str, Any]) -> bool:
    """Whether a row of a log is the line ``wanted``."""
    kind = {"broadcast": "request", "deliver": "indicate"}.get(row["kind"], row["kind"])
    if kind != wanted.kind:
        return False
    name = row.get("message", row.get("name", row["kind"]))
    if wanted.name and name != wanted.name:
        return False
    if wanted.sender and row.get("from", wanted.sender) != wanted.sender:
        return False
    return agree(wanted.values, values_of(row))


def values_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the arguments or fields of a row, by name; by number where they have none."""
    if row["kind"] in ("broadcast", "deliver"):
        pairs = {"1": row.get("sender", "_"), "2": row.get("msg", "_")}
        return pairs if row["kind"] == "deliver" else {"1": pairs["2"]}
    found = row.get("fields", row.get("arguments")) or {}
    if isinstance(found, Mapping):
        return found
    return {str(number): value for number, value in enumerate(found, 1)}


def printed(row: Mapping[str, Any]) -> str:
    """Returns a row in words: ``deliver(p1, a)``."""
    values = [said(value) or "…" for value in values_of(row).values()]
    name = row.get("message", row.get("name", row["kind"]))
    kind = {"broadcast": "request", "deliver": "indicate"}.get(row["kind"], row["kind"])
    return str(Line(kind, "" if name == kind else str(name), values, str(row.get("from", ""))))


class NodeLog:
    """The log of one node, read on as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self.matched: set[int] = set()
        self._at = 0

    def read(self) -> int:
        """Reads whole lines that are new; returns how many rows there are.  What is no JSON object
        with a ``kind`` counts as a row that no step waits for."""
        if not self.path.exists():
            return 0
        with self.path.open("rb") as file:
            file.seek(self._at)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._at += len(whole) + len(newline)
        for line in whole.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            known = isinstance(row, dict) and isinstance(row.get("kind"), str)
            self.rows.append(row if known else {"kind": "gap"})
        return len(self.rows)

    def find(self, wanted: Line) -> bool:
        """Whether there is such a line that no step has waited for yet; it is taken."""
        self.read()
        for number, row in enumerate(self.rows):
            if number not in self.matched and is_line(wanted, row):
                self.matched.add(number)
                return True
        return False

    def others(self, kinds: Sequence[str]) -> list[str]:
        """Returns the lines of ``kinds`` that no step of the trace has waited for."""
        self.read()
        alias = {"broadcast": "request", "deliver": "indicate"}
        return [
            f"line {number}: {printed(row)}"
            for number, row in enumerate(self.rows, 1)
            if number - 1 not in self.matched
            and row["kind"] not in ENVIRONMENT
            and alias.get(row["kind"], row["kind"]) in kinds
        ]

    def write_crash(self, process: str) -> None:
        """Appends the line ``crash`` of a process that was killed; what the kill has left of a line
        becomes a ``gap``."""
        if not self.path.exists():
            return
        whole, newline, half = self.path.read_bytes().rpartition(b"\n")
        last: dict[str, Any] = {}
        for line in reversed(whole.splitlines()):
            try:
                last = json.loads(line)
                break
            except ValueError:
                continue
        if not isinstance(last, dict) or not isinstance(last.get("pos"), int):
            return  # no log that numbers its lines
        rows: list[dict[str, Any]] = (
            [{"kind": "gap", "lost": half.decode("utf-8", "replace")}] if half else []
        )
        rows.append({"kind": "crash"})
        run = {"run": last["run"]} if "run" in last else {}
        with self.path.open("r+b") as file:
            file.truncate(len(whole) + len(newline))
            file.seek(0, os.SEEK_END)
            for number, row in enumerate(rows, 1):
                row = {**run, "process": last.get("process", process), "pos": last["pos"] + number,
                       **row, "ts": round(time.time(), 6)}  # fmt: skip
                file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
