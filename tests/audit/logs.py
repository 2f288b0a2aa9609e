"""Small logs, written as lines: `p1 0 broadcast a`, `p2 3 deliver a from p1`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from checker.audit.audit import Audit, Request, audit


def rows(text: str) -> list[dict[str, Any]]:
    """Returns the rows of a log: process, position, kind, and perhaps message and sender."""
    found = []
    for line in text.strip().splitlines():
        process, pos, kind, *more = line.split()
        row: dict[str, Any] = {"process": process, "pos": int(pos), "kind": kind}
        if more:
            row["msg"] = more[0]
        if "from" in more:
            row["sender"] = more[more.index("from") + 1]
        if "maybe" in more or "fail" in more:
            row["status"] = more[-1]
        found.append(row)
    return found


def write(folder: Path, text: str, name: str = "log.ndjson") -> str:
    """Writes a log as lines of JSON, and returns its name."""
    file = folder / name
    lines = "".join(json.dumps(row) + "\n" for row in rows(text))
    file.write_text(lines, encoding="utf-8")
    return str(file)


def ask(folder: Path, text: str, interface: str, **more: Any) -> Audit:
    """Audits a log that is written as lines."""
    return audit(Request((write(folder, text),), interface, **more))


def words(found: Audit) -> dict[str, str]:
    """Returns the verdict on each property."""
    return {v.property: v.label() for v in found.report.verdicts}
