"""Reports errors, and determines the exit code of each."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from checker.cli import console

if TYPE_CHECKING:
    from checker.diagnostics import Diagnostic

VIOLATED, USAGE, UNKNOWN, BUG = 1, 2, 3, 70
DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
"""Errors of a disk that is full, or not writable: none that the tool could avoid."""
MOST = 50
"""The largest number of diagnostics of one problem that are printed."""
DEBUG = "BIVALENCE_DEBUG"
UNREPORTED = "it failed to run: see stderr"


def attempt(what: Callable[[], None]) -> int:
    """Calls ``what``; returns the exit code of its error, which is reported, or else 0.

    Raises the error where stdout can't be written to, since there is no use in going on.
    """
    try:
        what()
    except (console.OutputFailed, console.OutputClosed):
        raise
    except Exception as problem:
        return say_problem(problem)
    return 0


class Failure(Struct, frozen=True):
    """The exit ``code`` of an error, 0 without one; ``said``: what is printed of it; ``errors``:
    the diagnostics that it holds."""

    code: int
    said: str
    errors: tuple[Diagnostic, ...] = ()

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The diagnostics; an error that has none is one without a code and a place."""
        from checker.diagnostics import Diagnostic

        return self.errors or (Diagnostic("", self.said.strip() or UNREPORTED),)


def attempt_quietly(what: Callable[[], None]) -> Failure:
    """Does what :func:`attempt` does, but returns what it would print beside the exit code."""
    from checker.diagnostics import SpecError

    said = io.StringIO()
    errors: list[Diagnostic] = []

    def noting() -> None:
        try:
            what()
        except Exception as problem:
            found = named(problem)
            if isinstance(found, SpecError):
                errors.extend(found.diagnostics)
            raise

    with contextlib.redirect_stderr(said):
        code = attempt(noting)
    return Failure(code, said.getvalue(), tuple(errors))


def failure_of(problem: Exception) -> Failure:
    """Returns an error as a failure, without printing it."""

    def again() -> None:
        raise problem

    return attempt_quietly(again)


def say_problem(problem: Exception) -> int:
    """Reports the error on stderr, and returns its exit code."""
    code = say_unusable(problem)
    if code is not None:
        return code
    if isinstance(problem, click.ClickException):
        said = io.StringIO()
        problem.show(said)
        console.print_note(said.getvalue().rstrip("\n"))
        return problem.exit_code
    if isinstance(problem, MemoryError):
        code, what = UNKNOWN, "out of memory: the verdict is unknown; limit memory with --memory"
    elif isinstance(problem, OSError):
        code, what = _of_system(problem)
    else:
        said_by = " ".join(f"{type(problem).__name__}: {problem}".split())
        code = BUG
        what = f"internal error: {said_by}; please report it ({DEBUG}=1 shows where)"
    console.print_note(what)
    say_notes(problem)
    if code != UNKNOWN and os.environ.get(DEBUG, "") not in ("", "0"):
        console.print_note("".join(traceback.format_exception(problem)).rstrip("\n"))
    return code


def _of_system(problem: OSError) -> tuple[int, str]:
    """Handles errors of the operating system: a disk is full, a file can't be read or written."""
    where = f"{problem.filename}: " if problem.filename is not None else ""
    named = (
        isinstance(problem, (console.WriteFailed, console.OutputFailed)) or problem.errno in DISKS
    )
    return USAGE if named else BUG, f"error: {where}{problem.strerror or problem}"


def say_unusable(problem: BaseException) -> int | None:
    """Reports on stderr why a check can't be run, or that it has no initial state, and returns the
    exit code.

    Returns ``None``, and prints nothing, where ``problem`` is not the spec's or the command's.
    """
    from checker.diagnostics import SpecError
    from checker.model.evaluate import RunFault
    from checker.results.answer import Unsupported

    problem = named(problem)
    if isinstance(problem, SpecError):
        for found in problem.diagnostics[:MOST]:
            console.print_note(console.render_with_source(found).rstrip("\n"))
        if len(problem.diagnostics) > MOST:
            console.print_note(f"and {len(problem.diagnostics) - MOST:,} more")
        say_notes(problem)
        return USAGE
    if isinstance(problem, Unsupported):
        console.print_note(f"error: {problem}")
        return USAGE
    if isinstance(problem, RunFault):
        at = problem.place
        where = f"{at.file}:{at.line}:{at.column}: " if at is not None else ""
        console.print_note(f"{where}no run can start: {problem.message} ({problem.code})")
        return VIOLATED
    return None


def named(problem: BaseException) -> BaseException:
    """Returns the error itself; where a package of the extra ``arrow`` is missing, E130."""
    from checker.diagnostics.packages import OF_ARROW, lacking

    if isinstance(problem, ModuleNotFoundError) and problem.name in OF_ARROW:
        return lacking(problem.name)
    return problem


def say_notes(problem: BaseException) -> None:
    """Prints the notes that were added to an error, such as where a run is kept."""
    for each in (problem, problem.__cause__):
        for said in getattr(each, "__notes__", ()):
            console.print_note(said)


def say_refused() -> None:
    """Reports which folders of the cache were not used."""
    from checker.diagnostics import Diagnostic
    from checker.resources import take_refused_folders

    for folder, why in take_refused_folders().items():
        message = f"{folder} is not used: {why}, so nothing is cached"
        console.print_note(
            console.render_with_source(Diagnostic("E017", message, severity="warning")).rstrip("\n")
        )
