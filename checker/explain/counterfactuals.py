"""Counterfactuals: whether the property is still violated with one fault, one timeout or one
message of the execution taken out.

A fault is taken out of a system in which no other faults happen than the execution's, each no more
often than there: otherwise another process would crash in its place.  When and where they happen is
left open.

A timeout is taken out by the timer expiring once less than in the execution, or never if it expires
again and again there; others may expire as they like.

A message is taken out by one receiver never receiving it, whatever else is received: because it is
not sent, or because it is lost on arrival, whatever the links promise.  Only where the property
holds in both cases does it depend on this message.  Where an execution is violated only with the
loss, it counts if the links do lose messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import assert_never

from msgspec import Struct

from checker.explain.costs import loop_of
from checker.explain.counterfactual_queries import ExplainingBudget, InquiryOfParts, Reply
from checker.instantiate.faults import budgeted
from checker.instantiate.faults.budgeted import Copy
from checker.instantiate.faults.fault_marks import (
    Fault,
    FaultKind,
    fault_kind,
    faults_at_start,
    faults_of,
)
from checker.instantiate.variable_names import BYZANTINE
from checker.model.interpreter import State
from checker.model.ir import STOPS, MarkKind, Property, TransitionSystem, VariableKind
from checker.model.types import SetT, Type, Value
from checker.results.rerun import Moment, Run
from checker.results.show_values import show
from checker.results.trace import IN_EVERY_RUN, Counterfactual, LeftOut

IF_LOST = "the property holds where it is not received, and is violated where the link loses it"
IF_DROPPED = (
    "the property holds where it is not sent, and is violated where it is sent and dropped on"
    " arrival, as these links never do"
)

COUNTED = "messages that are counted as soon as they are sent are not left out one by one"


class _Taken(Struct, frozen=True):
    """What is taken out: where it first occurs in the execution, and the limits that take it
    out; ``copy``: of a message, the name of its budget."""

    kind: LeftOut
    what: str
    step: int
    limits: dict[str, int]
    copy: str = ""


def counterfactuals_of(
    system: TransitionSystem,
    prop: Property,
    run: Run,
    clock: ExplainingBudget,
    bare: Callable[[str], str] = str,
) -> tuple[Counterfactual, ...]:
    """Returns the counterfactual of each fault, each timeout and each message of ``run``, in that
    order; ``bare``: what a message is called.

    Raises :class:`checker.results.replay.ReplayMismatch` where an execution that the engine finds
    is none of ``system``.
    """
    known = _faults(system, run)
    expired = _timeouts(system, run)
    copies = _copies(system, run)
    allowed = {f: count for f, (_, count) in known.items() if count is not None}
    names = {fault: f"@fault {i}" for i, fault in enumerate(known)}
    budgets = [budgeted.no_other_fault(system, tuple(known), "@others")]
    for fault, name in names.items():
        most = allowed.get(fault, 0)
        budgets.append(budgeted.one_fault(system, fault, most, name))
    budgets += [budgeted.one_copy(copy, f"@copy {i}") for i, copy in enumerate(copies)]
    for i, ((timer, who, _), (_, count)) in enumerate(expired.items()):
        cost = budgeted.this_timeout(timer, who)
        budgets.append(budgeted.Budget(f"@timeout {i}", count or 0, cost))
    as_is = {"@others": 0} | {names[fault]: count for fault, count in allowed.items()}
    taken: list[_Taken] = []
    for fault, (step, count) in known.items():
        what = _fault_said(system, fault, count, bare)
        fewer = as_is | {names[fault]: 0 if count is None else count - 1}
        taken.append(_Taken("fault", what, step, fewer))
    for i, ((timer, _, whose), (step, count)) in enumerate(expired.items()):
        what = _timeout_said(timer, whose, count)
        fewer = as_is | {f"@timeout {i}": 0 if count is None else count - 1}
        taken.append(_Taken("timeout", what, step, fewer))
    for i, (copy, step) in enumerate(copies.items()):
        name = f"@copy {i}"
        taken.append(
            _Taken("message", _copy_said(system, copy, bare), step, as_is | {name: 0}, name)
        )
    if not taken:
        return ()
    inquiry = InquiryOfParts.about(system, prop, tuple(budgets), clock)
    return tuple(_judge(one, inquiry) for one in taken)


def _judge(taken: _Taken, inquiry: InquiryOfParts) -> Counterfactual:
    reply = inquiry.ask(taken.limits)
    if taken.copy and reply.path is None and reply.settled:
        lost = inquiry.ask_with_loss({**taken.limits, taken.copy: budgeted.LOST})
        if lost.path is not None and lost.run is None:
            original = inquiry.inquiries[0].twin.original
            loses = any(fault_kind(info) is FaultKind.LOSS for info in original.marks)
            if_lost = IF_LOST if loses else IF_DROPPED
            why = IN_EVERY_RUN if reply.fair is False else if_lost
            return Counterfactual(taken.kind, taken.what, taken.step, "unknown", why)
        reply = lost
    return _judge_reply(taken, reply)


def _judge_reply(taken: _Taken, reply: Reply) -> Counterfactual:
    kind, what, step = taken.kind, taken.what, taken.step
    if reply.path is not None:
        closing = reply.path.loop not in (None, len(reply.path.states) - 1)
        steps = len(reply.path.states) - 1 + closing
        return Counterfactual(kind, what, step, "violated", steps=steps)
    if not reply.settled:
        return Counterfactual(kind, what, step, "unknown", reply.why)
    if reply.fair is False:
        return Counterfactual(kind, what, step, "unknown", IN_EVERY_RUN)
    return Counterfactual(kind, what, step, "holds")


# ---- what can be taken out --------------------------------------------------------------------


def _numbered_moments(run: Run) -> Iterator[tuple[int, Moment]]:
    yield from enumerate(run.moments)
    if run.closing is not None:
        yield len(run.moments), run.closing


def _faults(system: TransitionSystem, run: Run) -> dict[Fault, tuple[int, int | None]]:
    """Returns the faults of the execution, each with its first step and how often it happens.

    ``None``: infinitely often.
    """
    first: dict[Fault, int] = {}
    counts: Counter[Fault] = Counter()
    for fault in faults_at_start(system, run.moments[0].state):
        first[fault] = 0
        counts[fault] += 1
    steps = faults_of(system, (moment.events for _, moment in _numbered_moments(run)))
    for number, faults in enumerate(steps):
        for fault in faults:
            first.setdefault(fault, number)
            counts[fault] += 1
    looping = len(loop_of(run))
    again = {fault for faults in steps[len(steps) - looping :] for fault in faults}
    return {f: (step, None if f in again else counts[f]) for f, step in first.items()}


def _timeouts(
    system: TransitionSystem, run: Run
) -> dict[tuple[str, Value, str], tuple[int, int | None]]:
    """Returns the timers that expire in the execution, by name, process and its name, each with the
    first step that does and how often; ``None``: infinitely often."""
    first: dict[tuple[str, Value, str], int] = {}
    counts: Counter[tuple[str, Value, str]] = Counter()
    again: set[tuple[str, Value, str]] = set()
    loop = len(run.moments) - len(loop_of(run)) + (run.closing is not None)
    for number, moment in _numbered_moments(run):
        for event in moment.events:
            info = system.marks[event.mark]
            if info.kind is MarkKind.TIMEOUT:
                key = info.text, event.args[0], show(info.types[0], event.args[0])
                first.setdefault(key, number)
                counts[key] += 1
                if number >= loop:
                    again.add(key)
    return {k: (step, None if k in again else counts[k]) for k, step in first.items()}


def _copies(system: TransitionSystem, run: Run) -> dict[Copy, int]:
    """Returns the messages that are received in the execution, each with the first step that
    does."""
    found: dict[Copy, int] = {}
    for number, moment in _numbered_moments(run):
        for event in moment.events:
            copy = budgeted.copy_of_event(system, event)
            if copy is not None:
                found.setdefault(copy, number)
    return found


def counts_messages(system: TransitionSystem, run: Run) -> bool:
    """Returns whether something that ``run`` sends is received as soon as it is sent, without a
    mark."""
    if any(info.kind in {*STOPS, MarkKind.COPY} for info in system.marks):
        return False
    for _, moment in _numbered_moments(run):
        sent = [e for e in moment.events if system.marks[e.mark].kind is MarkKind.SEND]
        for event in sent:
            _, receivers, message = event.args
            assert isinstance(receivers, frozenset)
            if receivers and not _on_links(system, moment.state, message):
                return True
    return False


def _on_links(system: TransitionSystem, state: State, message: Value) -> bool:
    links = (
        value
        for variable, value in zip(system.variables, state, strict=True)
        if variable.kind is VariableKind.LINK
    )
    return any(_inside(value, message) for value in links)


def _inside(value: Value, message: Value) -> bool:
    if value == message:
        return True
    return isinstance(value, tuple | frozenset) and any(_inside(v, message) for v in value)


# ---- in words ---------------------------------------------------------------------------------


def _fault_said(
    system: TransitionSystem, fault: Fault, count: int | None, bare: Callable[[str], str]
) -> str:
    types = _types(system, fault)
    texts = [show(t, v) for t, v in zip(types, fault.args, strict=True)]
    match fault.kind:
        case FaultKind.CRASH:
            one, many, which = "crash", "crashes", f"of {texts[0]}"
        case FaultKind.POWER:
            one, many, which = "power failure", "power failures", f"of {texts[0]}"
        case FaultKind.WIPE:
            one, many, which = "loss", "losses", f"of the disk of {texts[0]}"
        case FaultKind.SYNC:
            one, many, which = "failed sync", "failed syncs", f"of {texts[0]}"
        case FaultKind.LOSS if len(texts) > 3:
            one, many = "omission", "omissions"
            which = f"of {bare(texts[2])} from {texts[0]} to {texts[1]} by {texts[3]}"
        case FaultKind.LOSS:
            one, many = "loss", "losses"
            which = f"of {bare(texts[2])} from {texts[0]} to {texts[1]}"
        case FaultKind.PAUSE:
            one, many, which = "pause", "pauses", f"of {texts[0]}"
        case FaultKind.SPLIT:
            one, many, which = "split", "splits", f"of the network that cuts off {texts[0]}"
        case FaultKind.CUT:
            one, many, which = "cut", "cuts", f"{_link_said(texts)}"
        case FaultKind.RESET:
            one, many, which = "reset", "resets", f"of the connection {_ends_said(texts[0])}"
        case FaultKind.BYZANTINE:
            return f"{texts[0]} being Byzantine"
        case _:
            assert_never(fault.kind)
    if count is None:
        return f"the repeated {one} {which}"
    return f"the {one} {which}" if count == 1 else f"one of the {count} {many} {which}"


def _link_said(texts: list[str]) -> str:
    if len(texts) == 2:
        return f"of the link from {texts[0]} to {texts[1]}"
    return f"of the link {_ends_said(texts[0])}"


def _ends_said(ends: str) -> str:
    return f"between {' and '.join(ends.strip('{}').split(', '))}"


def _timeout_said(timer: str, whose: str, count: int | None) -> str:
    name = f"{whose}'s timer `{timer}`" if timer else f"{whose}'s timer"
    if count is None:
        return f"the repeated expiry of {name}"
    return f"the expiry of {name}" if count == 1 else f"one of the {count} expiries of {name}"


def _types(system: TransitionSystem, fault: Fault) -> tuple[Type, ...]:
    """Returns the types of the arguments of faults such as this one."""
    if fault.kind is FaultKind.BYZANTINE:
        faulty = system.variable(BYZANTINE).type
        assert isinstance(faulty, SetT)
        return (faulty.item,)
    found = (info.types for info in system.marks if fault_kind(info) is fault.kind)
    return next(types for types in found if len(types) == len(fault.args))


def _copy_said(system: TransitionSystem, copy: Copy, bare: Callable[[str], str]) -> str:
    ends = (budgeted.reception_of(info, info.types) for info in system.marks)
    to, sender, message = next(types for types in ends if types is not None)
    said = bare(show(message, copy.message))
    return f"{said} from {show(sender, copy.sender)} to {show(to, copy.receiver)}"
