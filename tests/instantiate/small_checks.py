"""The check of a small spec that a test writes, by each engine and way of stepping."""

from __future__ import annotations

from pathlib import Path

from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check

MODES = ("reference", "native", "native plain", "native fine")
"""An engine; *plain*: without reductions; *fine*: copies of a multicast leave one by one."""


def report(folder: Path, text: str, mode: str = "reference", **more: object) -> Report:
    """Returns the report of the only check in ``text``; ``more``: options of the session."""
    path = folder / "small.bcast"
    path.write_text(text, encoding="utf-8")
    engine, *how = mode.split()
    options = Options(
        engine=engine,
        reduce="none" if "plain" in how else "auto",
        fine_steps="fine" in how,
        threads=1,
        **more,  # type: ignore[arg-type]
    )
    return run_check(str(path), None, options)
