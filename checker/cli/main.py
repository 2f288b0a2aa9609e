"""The entry point: prepares streams before anything else is imported, has the work done by a
process that is supervised, and flushes the output at the very end.

Exit codes: 0 as it should be, 1 violated, 4 vacuous, 3 unknown, 2 unusable input or output that
can't be written, 70 an internal error, 141 the reader of the output has closed it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

VERDICTS = (0, 1, 3, 4)
USAGE, UNKNOWN, UNREAD = 2, 3, 141
"""``UNREAD``: the exit code that a shell reports for a process that SIGPIPE ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code, which is a verdict's only where that verdict
    could be printed.

    Without ``arguments`` the program's own are used, and another process does the work, which this
    one supervises (:mod:`checker.cli.supervisor`).
    """
    if not _can_speak():
        _last_word("error: stdout is closed, so results can't be printed")
        return USAGE
    if arguments is not None:
        return work(arguments)
    from checker.cli.supervisor import supervised

    return supervised(work)


def work(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line in this process and returns its exit code."""
    try:
        from checker.cli.commands import run

        code = _flush(run(arguments))
    except KeyboardInterrupt:
        _last_word("interrupted")
        return UNKNOWN
    if arguments is None:
        _leave_what_goes_on(code)
    return code


def _leave_what_goes_on(code: int) -> None:
    """Exits with ``code`` at once where work is running that can't be stopped (a compiler, say)."""
    from checker.cli import last_words
    from checker.engines.budgets import has_abandoned_work

    if has_abandoned_work():
        last_words.done(code)
        os._exit(code)


def _can_speak() -> bool:
    """Returns whether there is a stdout.

    Closed streams are redirected to the null device; otherwise a file that is opened later could
    get the descriptor of one, and receive what is written to the stream.
    """
    speaks = sys.stdout is not None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _to_nowhere(number)
            mode = "r" if name == "stdin" else "w"
            stream = open(number, mode, errors="backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    return speaks


def _flush(code: int) -> int:
    """Returns ``code`` if all output could be flushed; nothing is left to flush at the exit."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except OSError as problem:
            _to_nowhere(stream.fileno())
            if stream is sys.stdout and code in VERDICTS:
                code = _unheard(problem)
    return code


def _unheard(problem: OSError) -> int:
    if isinstance(problem, BrokenPipeError):
        return UNREAD
    _last_word(f"error: stdout: {problem.strerror or problem}")
    return USAGE


def _last_word(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _to_nowhere(sys.stderr.fileno())


def _to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
