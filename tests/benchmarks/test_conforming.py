"""The benchmark of logs and their windows: a score that is another one is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.comparing import WrongAnswer
from benchmarks.conforming import CHECK, SPEC, measured_windows, random_rows, write
from checker.engines.options import Options
from checker.session import pipeline


def test_windows_are_counted(tmp_path: Path) -> None:
    check = pipeline.open_check(SPEC, CHECK, Options())
    drawn = random_rows(check.system, 150, 3)
    write(tmp_path, drawn.logs)
    assert drawn.written <= int(measured_windows(check, tmp_path, drawn.written)[0]) < drawn.lines
    with pytest.raises(WrongAnswer, match="explained, of 150"):
        measured_windows(check, tmp_path, 150)
    row = next(r for rows in drawn.logs.values() for r in rows if "term" in r.get("state", {}))
    row["state"]["term"] = 1 + row["state"]["term"] % 2
    write(tmp_path, drawn.logs)
    with pytest.raises(WrongAnswer, match="explained"):
        measured_windows(check, tmp_path, drawn.written)
