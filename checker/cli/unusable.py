"""What is said of a check that can't be asked, and what that is worth as an exit code."""

from __future__ import annotations

from checker.cli import say

USAGE, VIOLATED = 2, 1


def say_unusable(problem: BaseException) -> int | None:
    """Says on stderr why a check can't be asked, or that no run of it can start; the exit code.

    ``None``, and nothing is said, where ``problem`` is not the spec's or the command's.
    """
    from checker.diagnostics import SpecError
    from checker.system.evaluate import RunFault
    from checker.witness.answer import Unsupported

    if isinstance(problem, SpecError):
        for found in problem.diagnostics:
            say.note(say.rendered(found).rstrip("\n"))
        say_notes(problem)
        return USAGE
    if isinstance(problem, Unsupported):
        say.note(f"error: {problem}")
        return USAGE
    if isinstance(problem, RunFault):
        at = problem.place
        where = f"{at.file}:{at.line}:{at.column}: " if at is not None else ""
        say.note(f"{where}no run can start: {problem.message} ({problem.code})")
        return VIOLATED
    return None


def say_notes(problem: BaseException) -> None:
    """Says what somebody has added on the way, such as where a run is kept."""
    for each in (problem, problem.__cause__):
        for said in getattr(each, "__notes__", ()):
            say.note(said)
