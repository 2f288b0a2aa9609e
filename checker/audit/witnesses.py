"""The smallest witness of a violation as a trace: what really happened, for the views of runs."""

from __future__ import annotations

from checker.audit.engine import Engine
from checker.audit.judge import Answer
from checker.audit.processes import ProcessState
from checker.audit.wording import Words
from checker.language.syntax.typed import Interface
from checker.results.trace import Trace


def witness(
    answer: Answer,
    engine: Engine,
    states: list[ProcessState],
    words: Words,
    file: str,
    interface: Interface,
) -> Trace | None:
    return None
