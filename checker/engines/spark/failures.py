"""Summarises errors of Spark in one line; Spark's full messages go to a log file."""

from __future__ import annotations

import re
from pathlib import Path

from checker.diagnostics import Diagnostic, SpecError
from checker.results.answer import Unsupported

LONGEST = 300
"""The largest number of characters of the line."""

ENDED = "Spark's Java process has ended"

TRACEBACK = "Traceback (most recent call last):"


class Exited(Exception):
    """Java ended before anybody could connect to it; only its log says why."""


_CAUSE = re.compile(r"^\s*Caused by: (.+)$", re.MULTILINE)
_PYTHON = re.compile(r"^\s*(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b.*)$")
_JAVA = re.compile(r"^(?:[a-z_]\w*\.)+([A-Z][\w$]*)(?::\s*(.*))?$")
_RAISED = re.compile(
    r"^(?:: |Exception in thread \"[^\"]*\" )((?:[a-z_]\w*\.)+[A-Z].*)$", re.MULTILINE
)
_SAID = re.compile(r"^Error: .+$|^.*\b(?:Could not|Invalid|Unrecognized) .+$", re.MULTILINE)
_LOST = re.compile(
    r"(?:\((\S+) executor \S+\): )?ExecutorLostFailure \((?:(executor \S+) )?(.*?)\)?(?: Reason:"
    r" (.*))?$|(?:Python worker exited unexpectedly.*)$",
    re.MULTILINE,
)


def root_cause(problem: BaseException) -> str:
    """Returns the innermost cause that the exception of a job names, in one line."""
    if isinstance(problem, ConnectionError) or type(problem).__name__ == "Py4JNetworkError":
        return ENDED
    text = _text(problem)
    for find in (_of_python, _of_lost, _of_java):
        found = find(text)
        if found:
            return _short(found)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _short(_without_class(first) or type(problem).__name__)


def failure_of(
    problem: BaseException, log: Path, what: str = "a job on Spark failed", why: str | None = None
) -> SpecError:
    """Returns a diagnostic (E029) for ``problem``, all of which is appended to ``log``; ``why``:
    where the cause is known without it.
    """
    why = why or (_of_start(log) if isinstance(problem, Exited) else None) or root_cause(problem)
    keep(problem, log)
    message = f"{what}: {_short(why)}; Spark's log is {log}"
    return SpecError((Diagnostic("E029", message),))


def keep(problem: BaseException, log: Path) -> None:
    """Appends everything that is known of ``problem`` to ``log``; never fails."""
    import traceback

    try:
        with open(log, "a", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(problem)).rstrip() + "\n")
            file.write(_text(problem).rstrip() + "\n")
    except OSError:
        return


def _text(problem: BaseException) -> str:
    """Returns the message with the Java stack trace behind it, however PySpark wraps them."""
    try:
        parts = [str(problem)]
    except Exception:  # it queries Java, which may have ended
        parts = [f"{type(problem).__name__}: {ENDED}"]
    for more in ("_stackTrace", "_stacktrace"):
        stack = getattr(problem, more, None)
        if isinstance(stack, str) and stack not in parts[0]:
            parts.append(stack)
    return "\n".join(parts)


def _of_python(text: str) -> str | None:
    """Returns the last line of the first Python traceback."""
    at = text.find(TRACEBACK)
    if at < 0:
        return None
    indent = at - (text.rfind("\n", 0, at) + 1)
    margin = text[at - indent : at] if text[at - indent : at].isspace() else ""
    for line in text[at:].splitlines()[1:]:
        if (
            line.startswith(margin)
            and line[len(margin) :].strip()
            and not line[len(margin)].isspace()
        ):
            found = _PYTHON.match(line)
            return found[1] if found else line.strip()
    return None


def _of_lost(text: str) -> str | None:
    found = _LOST.search(text)
    if found is None:
        return None
    host, executor, what, why = found.groups()
    if what is None:
        return "a Python worker died"
    where = f" on {host}" if host else ""
    return f"{executor or 'an executor'}{where} was lost ({(why or what).strip()})"


def _of_java(text: str) -> str | None:
    causes = _CAUSE.findall(text) or _RAISED.findall(text)[:1]
    return _without_class(causes[-1]) if causes else None


def _of_start(log: Path) -> str | None:
    """Returns why Java ended before a connection was possible: the reason is in the log only."""
    try:
        said = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = _SAID.search(said)
    return _of_java(said) or (found[0] if found else None)


def _without_class(line: str) -> str:
    """Returns ``java.net.ConnectException: Connection refused`` without its package."""
    found = _JAVA.match(line.strip())
    if found is None:
        return line.strip()
    return f"{found[1]}: {found[2]}" if found[2] else found[1]


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def require_supported(problem: Exception) -> None:
    """Raises ``Unsupported`` where a task has reported it: another attempt would, too."""
    _, said, why = root_cause(problem).partition(f"{Unsupported.__name__}: ")
    if said:
        raise Unsupported(why) from None
