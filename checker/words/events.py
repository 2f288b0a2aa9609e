"""Says in English what an event is."""

from __future__ import annotations

from typing import assert_never

from checker.model.ir import FLIP
from checker.results.events import (
    BecameSynchronous,
    Chosen,
    ClocksTicked,
    ClockTicked,
    CopyLeft,
    Crashed,
    CrashForeseen,
    DetectorSettled,
    Drawn,
    Event,
    Forged,
    Handled,
    Healed,
    Indicated,
    Lost,
    OracleAsked,
    OracleIndicated,
    Partitioned,
    Performed,
    Received,
    Recovered,
    Requested,
    RoundEnded,
    Sent,
    Stored,
    TimedOut,
    TimerChanged,
    TurnedFaulty,
)

OPINIONS = {"suspect": "suspects", "restore": "no longer suspects", "trust": "trusts"}
"""The verbs for the indications of failure detectors."""


def sentence(event: Event) -> str:
    """Returns ``p1 sends DATA(a) to p2, p3``: an event as a sentence, without a full stop."""
    who = event.process
    match event:
        case Handled(handler):
            return f"{who}: {handler}"
        case Sent(message, receivers):
            return f"{who} sends {message} to {', '.join(receivers) or 'nobody'}"
        case CopyLeft(message, receiver):
            return f"{message} leaves {who} for {receiver}"
        case Received(message, sender):
            return f"{who} receives {message} from {sender}"
        case Requested(call):
            return f"{who} is asked: {call}"
        case Indicated(call):
            return f"{who} indicates {call}"
        case Performed(act):
            return f"{who} performs {act}"
        case Stored():
            return f"{who} stores {assignment(event)}"
        case TimerChanged(does, timer):
            return f"{who} {does}s {timer_text(timer)}"
        case TimedOut(timer):
            return f"{who}'s {timer_text(timer).removeprefix('the ')} expires"
        case Chosen():
            return f"{f'{who} starts' if who else 'the run starts'} with {assignment(event)}"
        case Drawn():
            return _draw(event)
        case Crashed():
            return f"{who} crashes"
        case Recovered():
            return f"{who} comes back up"
        case Lost(message, receiver, by):
            does = f"{by} omits" if by else "the link loses"
            return f"{does} {message} from {who} to {receiver}"
        case Forged(message, receiver, claimed):
            makes = f"{who}, which is Byzantine, makes {receiver} receive {message}"
            return f"{makes} from {claimed or who}"
        case OracleIndicated():
            return _oracle(event)
        case TurnedFaulty(culprit):
            return f"{culprit} omits a message and is faulty from now on"
        case CrashForeseen(victim):
            return f"oracles foresee that {victim} will crash"
        case Partitioned(apart):
            return f"the network splits: {{{', '.join(apart)}}} cut off"
        case Healed():
            return "the network heals"
        case OracleAsked():
            return f"{event.asker} {asking(event)}"
        case DetectorSettled(""):
            return "the detector settles"
        case DetectorSettled(spared):
            settles = "the detector settles"
            return f"{settles}: {spared} does not crash any more, and that is eventually known"
        case ClockTicked(clock):
            return f"the clock of {clock} ticks"
        case ClocksTicked():
            return "all clocks tick"
        case RoundEnded():
            return "a round ends, the next one begins"
        case BecameSynchronous():
            return "the system becomes synchronous"
        case _:
            assert_never(event)


def assignment(event: Stored | Chosen | Drawn) -> str:
    """Returns ``x = 1``: a variable with its value; the value alone where it has no name."""
    return f"{event.variable} = {event.value}" if event.variable else event.value


def timer_text(timer: str) -> str:
    """Returns ``the timer `t```; a timer without a name has an empty one."""
    return f"the timer `{timer}`" if timer else "the timer"


def opinion(event: OracleIndicated) -> str:
    """Returns ``suspects p1``: a failure detector's opinion of a process; empty for any other
    indication."""
    return f"{OPINIONS[event.call.name]} {event.about}" if event.about else ""


def asking(event: OracleAsked) -> str:
    """Returns ``asks the oracle `fd`: query(a)``."""
    return f"asks the oracle `{event.oracle}`: {event.request}"


def doing(event: Event) -> str:
    """Returns ``sending DATA(a) to p2``: an effect in progress; empty for what is no effect, and
    for a message to nobody."""
    match event:
        case Sent(message, receivers):
            return f"sending {message} to {', '.join(receivers)}" if receivers else ""
        case CopyLeft(message, receiver):
            return f"sending {message} to {receiver}"
        case Indicated(call):
            return f"indicating {call}"
        case Performed(act):
            return f"performing {act}"
        case Stored():
            return f"storing {assignment(event)}"
        case _:
            return ""


def _draw(event: Drawn) -> str:
    if not event.process:
        return f"chance shows {assignment(event)}"
    does = f"flips {event.value}" if event.variable == FLIP else f"draws {assignment(event)}"
    return f"{event.process} {does}"


def _oracle(event: OracleIndicated) -> str:
    thinks = opinion(event)
    if thinks:
        return f"the detector tells {event.process} that it {thinks}"
    call = event.call
    oracle = f"the oracle `{call.layer}`" if call.layer else "the oracle"
    return f"{oracle} indicates {call.name}({', '.join(call.values)}) to {event.process}"
