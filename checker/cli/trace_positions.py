"""Finds a step of a trace document, ``TRACE@STEP``, and goes there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.cli.trace_documents import Loaded
    from checker.results.trace import Trace
    from checker.simulate.choices import Choice
    from checker.simulate.prepared_check import PreparedCheck
    from checker.simulate.session import SteppingSession


def session_from(position: str) -> SteppingSession:
    """Returns stepping through the check of a trace, at the step that ``TRACE@STEP`` names, or at
    the end of the run; the later steps of the trace can be redone.

    Raises :class:`checker.diagnostics.SpecError`: E009 where the trace is no run of its spec as it
    is now, E044 where it has no such step.
    """
    from checker.cli.trace_documents import load_document
    from checker.simulate.session import SteppingSession

    path, step = _split(position)
    opened, taken = retrace(load_document(path))
    number = _number(step, len(taken) - 1, path)
    session = SteppingSession(opened)
    session.follow(taken, number)
    return session


def retrace(document: Loaded) -> tuple[PreparedCheck, tuple[Choice, ...]]:
    """Returns the check of a trace document as its spec is now, and the steps of the run.

    Raises :class:`checker.diagnostics.SpecError` (E009) where the spec has no such run.
    """
    from checker.cli.trace_documents import replay_document

    return steps_of(replay_document(document))


def steps_of(trace: Trace) -> tuple[PreparedCheck, tuple[Choice, ...]]:
    """Returns the check of an execution that was replayed, and its steps."""
    from checker.results.replay import path_of
    from checker.session import pipeline
    from checker.simulate.scenario import as_choices

    opened = pipeline.open_again(trace)
    return opened, as_choices(opened, path_of(opened.system, trace))


def _split(position: str) -> tuple[str, str | None]:
    """Splits ``TRACE@STEP``; the whole is a file's name where there is such a file."""
    path, at, step = position.rpartition("@")
    return (path, step) if at and not Path(position).exists() else (position, None)


def _number(step: str | None, last: int, path: str) -> int:
    from checker.diagnostics import Diagnostic, SpecError

    if step is None:
        return last
    if step.isdecimal() and int(step) <= last:
        return int(step)
    message = f"{path} has no step `{step}`"
    hint = f"`--from {path}@{last}` is the end of the run; `bivalence view {path}` shows its steps"
    raise SpecError((Diagnostic("E044", message, None, f"a number from 0 to {last}", hint),))
