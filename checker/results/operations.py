"""The operations of an execution: what was called, and when and with what it returned."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.model.interpreter import Event
from checker.model.ir import STOPS, MarkKind, TransitionSystem
from checker.model.types import Value
from checker.results.rerun import Moment, Run
from checker.results.show_values import show
from checker.results.trace import Interval


class Performed(Struct, frozen=True):
    """An operation that ``process`` called in step ``called`` with ``args``, in the words
    ``call``; ``returned``: the step in which it returned ``result`` (``shown``: in words) by the
    indication ``answer``, ``None`` while it is outstanding.  ``begin`` and ``end`` order all calls
    and returns of the execution."""

    process: int
    op: str
    args: tuple[Value, ...]
    call: str
    called: int
    begin: int
    returned: int | None = None
    end: int | None = None
    result: tuple[Value, ...] = ()
    shown: str = ""
    answer: str = ""


def performed(system: TransitionSystem, run: Run) -> tuple[Performed, ...]:
    """Returns the operations of ``run``, in the order of their calls."""
    found: list[Performed] = []
    outstanding: dict[int, tuple[int, str]] = {}
    moments = run.moments if run.closing is None else (*run.moments, run.closing)
    for number, step, event in _events(moments):
        info = system.marks[event.mark]
        if info.kind not in {*STOPS, MarkKind.REQUEST, MarkKind.INDICATION}:
            continue
        process, *args = event.args
        assert isinstance(process, int)
        texts = [show(t, v) for t, v in zip(info.types[1:], args, strict=True)]
        if info.kind in STOPS:
            outstanding.pop(process, None)
        elif info.kind is MarkKind.REQUEST and info.returns:
            outstanding[process] = len(found), info.returns
            call = f"{info.text}({', '.join(texts)})"
            found.append(Performed(process, info.text, tuple(args), call, step, number))
        elif info.kind is MarkKind.INDICATION and outstanding.get(process, (0, ""))[1] == info.text:
            which, _ = outstanding.pop(process)
            one = found[which]
            found[which] = Performed(
                process, one.op, one.args, one.call, one.called, one.begin, step, number,
                tuple(args), ", ".join(texts), info.text,
            )  # fmt: skip
    return tuple(found)


def _events(moments: tuple[Moment, ...]) -> Iterator[tuple[int, int, Event]]:
    number = 0
    for step, moment in enumerate(moments):
        for event in moment.events:
            yield number, step, event
            number += 1


def intervals(system: TransitionSystem, run: Run) -> tuple[Interval, ...]:
    """Returns the operations of ``run`` as a trace has them."""
    return tuple(
        Interval(
            system.processes[one.process],
            one.call,
            one.called,
            "" if one.returned is None else f"{one.answer}({one.shown})",
            one.shown,
            one.returned,
        )
        for one in performed(system, run)
    )
