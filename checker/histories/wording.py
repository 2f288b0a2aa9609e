"""Puts what was found in a history into words."""

from __future__ import annotations

from typing import Any

from checker.diagnostics.english import count
from checker.histories.linearizability import Part
from checker.histories.refutations import Refutation
from checker.histories.rows import MISSING, Row, shown
from checker.histories.steps import Bound
from checker.results import judgement

MOST_STATES = 6
"""The largest number of states that a reason lists."""
MOST_LOST = 4
"""The largest number of operations without a return that are named."""


def recorded(text: str, process: Any, call: Row, called: int, answer: Row | None, end: int,
             returned: int | None) -> judgement.Recorded:  # fmt: skip
    """Returns an operation for a report; ``end``: the last position of the history."""
    return judgement.Recorded(
        "" if process is MISSING else shown(process).strip('"'),
        text,
        call.line,
        0 if answer is None or returned is None else answer.line,
        called,
        end if returned is None else returned,
    )


def of_bound(one: Bound, end: int) -> judgement.Recorded:
    """Returns an operation of an object for a report, as it is known at the position ``end``."""
    was = one.recorded
    returned = None if was.returned is None or was.returned > end else was.returned
    return recorded(one.text, was.process, was.call, was.called, was.answer, end, returned)


def refutation_of(found: Refutation, file: str) -> judgement.Refutation:
    """Returns why a part of the history in ``file`` is not linearizable."""
    part = found.part
    last = part.bound[found.last]
    end = last.recorded.returned or 0
    rows = tuple(
        of_bound(found.steps.bound[each], end)
        for each in sorted(found.chosen, key=lambda n: part.bound[n].recorded.called)
    )
    ordered = sorted(found.chosen, key=lambda n: part.bound[n].recorded.called)
    answer = last.recorded.answer
    place = f"{file}:{answer.line}" if answer is not None else file
    process = last.recorded.process
    what = last.text if process is MISSING else f"{last.text} of process {shown(process)}"
    return judgement.Refutation(
        rows,
        ordered.index(found.last),
        f"{what} returns at {place}, and no order of the operations up to there explains it",
        _reasons(found, last),
        found.prefix,
        found.prefix - len(found.chosen),
        "" if part.key is MISSING else shown(part.key),
    )


def _reasons(found: Refutation, last: Bound) -> tuple[str, ...]:
    part = found.part
    number = found.steps.number_of[found.last]
    states = {part.executed.described(state): state for state, _ in found.tried}
    said = []
    for there, state in sorted(states.items())[:MOST_STATES]:
        results = found.steps.results(state, number)
        given = ", ".join(map(shown, last.arguments))
        call = f"{last.name}({given})"
        if not results:
            said.append(f"with {there}, {call} can't take effect")
        else:
            could = " or ".join(shown(each) for each in results)
            said.append(f"with {there}, {call} returns {could}, not {shown(last.result)}")
    if len(states) > MOST_STATES:
        said.append(f"and so in {count(len(states) - MOST_STATES, 'other state')}")
    return tuple(said)


def undecided(part: Part, file: str) -> str:
    """Returns how far the search of an undecided part came."""
    key = "" if part.key is MISSING else f"key {shown(part.key)}: "
    if part.sure is not None:
        return f"{key}{count(part.reached.work, 'configuration')} searched, with several clocks"
    events, at = part.events, part.reached.at
    number, _ = events.order[min(at, len(events.order) - 1)]
    one = part.bound[number].recorded
    lost = [part.bound[n].text for n, _ in events.order[:at] if n in events.lost]
    named = ", ".join(lost[:MOST_LOST]) + (", …" if len(lost) > MOST_LOST else "")
    without = f"; {count(len(lost), 'operation')} without a return: {named}" if lost else ""
    most = f"with at most {count(part.reached.size, 'configuration')}"
    return f"{key}decided up to {file}:{one.call.line}, {most}{without}"
