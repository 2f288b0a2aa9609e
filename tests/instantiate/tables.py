"""Small specs with the verdicts that the language's definition gives them, worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check

REQUEST = "  request go(m: Msg)\n"
"""Left out where a spec does not handle it: a check without clients would be vacuous."""

INTERFACE = """
interface Out {
  request go(m: Msg)
  indication deliver(p: Proc, m: Msg)
  indication note(k: 0..9)
}
"""

WAYS = [
    ("reference", False),
    ("native", False),
    pytest.param("reference", True, marks=pytest.mark.slow),
    ("native", True),
]
"""Engine, and whether every effect is a step: all must give the same verdicts, worked out by hand.
The interpreter, which takes longest where every effect is a step, is asked so in the full run."""


@dataclass(frozen=True)
class Case:
    """A spec, the verdict of each property, and where it can be told the number of states.

    ``expected`` reads ``name verdict, name verdict``; ``states`` is without fine steps.
    """

    name: str
    text: str
    expected: str
    states: int | None = None

    def verdicts(self) -> dict[str, str]:
        pairs = (part.rsplit(None, 1) for part in self.expected.split(","))
        return {name.strip(): word for name, word in pairs}


def run(
    folder: Path, text: str, engine: str = "native", fine: bool = False, reduce: str = "auto"
) -> Report:
    """The report on the only check of ``text``."""
    path = folder / "spec.bcast"
    asked = INTERFACE if "request go" in text else INTERFACE.replace(REQUEST, "")
    path.write_text(asked + text, encoding="utf-8")
    return run_check(str(path), None, Options(engine=engine, fine_steps=fine, reduce=reduce))


def words(report: Report) -> dict[str, str]:
    return {v.property: v.word.value for v in report.verdicts}


def compare(folder: Path, case: Case, engine: str, fine: bool) -> None:
    """Holds the tool to ``case``."""
    reduce = "auto" if case.states is None else "none"
    report = run(folder, case.text, engine, fine, reduce)
    assert words(report) == case.verdicts()
    if case.states is not None and not fine:
        assert report.distinct_states == case.states
