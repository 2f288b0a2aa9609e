"""A plugin of pytest: ``*.bcast`` files are collected, and each check in them is a test.

A test passes where everything is as its check expects.  Its failure is what ``bivalence check``
says: the sentence of the violation and the picture of the execution.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from checker.language.load import Spec
    from checker.results.verdict import Report

SUFFIX = ".bcast"
TIMEOUT = 60.0
"""Seconds for each check, unless said otherwise."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of the time for each check, and the setting that leaves specs out."""
    group = parser.getgroup("bivalence", "checks of broadcast protocols")
    said = f"Seconds for each check of a spec (default: {TIMEOUT:g})."
    group.addoption(
        "--bivalence-timeout", type=float, default=TIMEOUT, metavar="SECONDS", help=said
    )
    parser.addini(
        "bivalence", "Whether checks in *.bcast files are tests.", type="bool", default=True
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Returns the collector of a spec that is asked for."""
    if file_path.suffix != SUFFIX or not parent.config.getini("bivalence"):
        return None
    return SpecFile.from_parent(parent, path=file_path)


class SpecFile(pytest.File):
    """A spec, whose checks are tests."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yields a test for each check; raises the diagnostics of a spec with errors."""
        from checker.session.load import read_spec

        spec = read_spec(str(self.path))
        for name in spec.names:
            yield CheckItem.from_parent(self, name=name, spec=spec)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns the diagnostics as the command shows them."""
        return _refusal(excinfo.value) or super().repr_failure(excinfo)


class Unexpected(Exception):
    """Something is not as its check expects; ``said`` is the whole story."""

    def __init__(self, said: str) -> None:
        super().__init__(said.partition("\n")[0])
        self.said = said


class CheckItem(pytest.Item):
    """A check."""

    def __init__(self, *, spec: Spec, **how: Any) -> None:
        super().__init__(**how)
        self._spec = spec

    def runtest(self) -> None:
        """Runs the check; raises :class:`Unexpected` where it does not come out as it expects."""
        from checker.engines.options import Options
        from checker.proving.dispatch_check import answer_check
        from checker.results.answer import Limits

        seconds = self.config.getoption("--bivalence-timeout")
        options = Options(limits=Limits(timeout=seconds), explain=5.0, explain_expected=False)
        report = answer_check(self._spec, self.name, options)
        if report.was_interrupted:
            raise KeyboardInterrupt
        if report.exit_code:
            raise Unexpected(_story(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns what is not as expected, without a trace of the tool's own calls."""
        if isinstance(excinfo.value, Unexpected):
            return excinfo.value.said
        return _refusal(excinfo.value) or super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Returns where the check is, for the heading of its failure."""
        checks = self._spec.module.checks
        line = next((c.span.line - 1 for c in checks if c.name == self.name), None)
        return self.path, line, f"check {self.name}"


def _story(report: Report) -> str:
    """Returns what is not as expected, each with its text and picture."""
    from checker.render.ci.outcomes import outcomes_of

    wrong = [outcome for outcome in outcomes_of([report]) if not outcome.met]
    return "\n\n".join(f"{each.title}: {each.said}\n\n{each.text}".rstrip() for each in wrong)


def _refusal(problem: BaseException) -> str | None:
    """Returns the diagnostics of a spec that can't be used; ``None`` for any other problem."""
    from checker.diagnostics import SpecError
    from checker.diagnostics.render import render
    from checker.language.reading import read

    if not isinstance(problem, SpecError):
        return None
    said = []
    for found in problem.diagnostics:
        text = None
        if found.span is not None and found.span.line:
            try:
                text = read(Path(found.span.file))
            except SpecError:
                text = None
        said.append(render(found, text))
    return "\n".join(said)
