"""Describes events in English."""

from __future__ import annotations

from typing import assert_never

from checker.diagnostics.english import listing
from checker.model.ir import FLIP
from checker.records import replace
from checker.results import events as ev

OPINIONS = {"suspect": "suspects", "restore": "no longer suspects", "trust": "trusts"}
"""The verbs for the indications of failure detectors."""

LONG = 60
"""More characters of lost values than this are not told in a sentence."""


def sentence(event: ev.Event) -> str:
    """Returns ``p1 sends DATA(a) to p2, p3``: an event as a sentence, without a full stop."""
    who = event.process
    match event:
        case ev.Handled(handler):
            return f"{who}: {handler}"
        case ev.Sent(message, receivers):
            return f"{who} sends {message} to {', '.join(receivers) or 'nobody'}"
        case ev.CopyLeft(message, receiver):
            return f"{message} leaves {who} for {receiver}"
        case ev.Received(message, sender):
            return f"{who} receives {message} from {sender}"
        case ev.Requested(call):
            return f"{who} is asked: {call}"
        case ev.Indicated(call):
            return f"{who} indicates {call}"
        case ev.Performed(act):
            return f"{who} performs {act}"
        case ev.Stored():
            return f"{who} stores {assignment(event)}"
        case ev.Synced(variables):
            return f"{who} syncs {variables}"
        case ev.SyncFailed(variables):
            return f"{who} fails to sync {variables}"
        case ev.TimerChanged(does, timer):
            return f"{who} {does}s {timer_text(timer)}"
        case ev.TimedOut(timer):
            return f"{who}'s {timer_text(timer).removeprefix('the ')} expires"
        case ev.AlternativeTaken(alternative):
            return f"{who} takes the alternative `{alternative}`"
        case ev.Chosen():
            return f"{f'{who} starts' if who else 'the run starts'} with {assignment(event)}"
        case ev.Drawn():
            return _draw(event)
        case ev.Crashed():
            return f"{who} {stops(event)}"
        case ev.Left():
            return f"{who} is left with {assignment(event)}"
        case ev.Recovered():
            return _recovery(event)
        case ev.Paused(lead):
            return f"{who} pauses{_with(lead)}"
        case ev.Resumed(lead):
            return f"{who} goes on after its pause{_with(lead)}"
        case ev.Lost():
            return _loss(event)
        case ev.Forged(message, receiver, claimed):
            makes = f"{who}, which is Byzantine, makes {receiver} receive {message}"
            return f"{makes} from {claimed or who}"
        case ev.OracleIndicated():
            return _oracle(event)
        case ev.TurnedFaulty(culprit):
            return f"{culprit} omits a message and is faulty from now on"
        case ev.CrashForeseen(victim):
            return f"oracles foresee that {victim} will crash"
        case ev.Partitioned(apart):
            return f"the network splits: {{{', '.join(apart)}}} cut off"
        case ev.Healed():
            return "the network heals"
        case ev.Cut():
            return f"the link {between(event)} is cut"
        case ev.CutHealed():
            return f"the link {between(event)} heals"
        case ev.Reset(first, second):
            return f"the connection between {first} and {second} is reset"
        case ev.Disconnected(peer):
            return f"{who} learns that its connection to {peer} is gone"
        case ev.OracleAsked():
            return f"{event.asker} {asking(event)}"
        case ev.DetectorSettled(""):
            return "the detector settles"
        case ev.DetectorSettled(spared):
            settles = "the detector settles"
            return f"{settles}: {spared} does not crash any more, and that is eventually known"
        case ev.ClockTicked(clock):
            return f"the clock of {clock} ticks"
        case ev.ClocksTicked():
            return "all clocks tick"
        case ev.RoundEnded():
            return "a round ends, the next one begins"
        case ev.BecameSynchronous():
            return "the system becomes synchronous"
        case _:
            assert_never(event)


def _with(lead: str) -> str:
    return f" with {lead}" if lead else ""


def on_its_own(event: ev.Event) -> str:
    """Returns the sentence about a process that crashes, recovers, pauses or goes on with its lead,
    without the lead; empty for all other events."""
    match event:
        case ev.Crashed(lead) | ev.Recovered(lead) | ev.Paused(lead) | ev.Resumed(lead) if lead:
            return sentence(replace(event, lead=""))
        case _:
            return ""


def stops(event: ev.Crashed) -> str:
    """Returns how a process stops, as a verb: ``crashes``."""
    together = _with(event.lead)
    match event:
        case ev.PowerFailed():
            return f"loses its power{together}"
        case ev.DiskLost():
            return f"crashes{together} and loses its disk"
        case _:
            return f"crashes{together}"


def between(event: ev.Cut | ev.CutHealed) -> str:
    """Returns ``between p1 and p2``, or ``from p1 to p2`` if only one direction is cut."""
    if event.one_way:
        return f"from {event.first} to {event.second}"
    return f"between {event.first} and {event.second}"


def assignment(event: ev.Stored | ev.Chosen | ev.Drawn | ev.Left) -> str:
    """Returns ``x = 1``: a variable with its value; only the value if the variable has no name."""
    return f"{event.variable} = {event.value}" if event.variable else event.value


def _recovery(event: ev.Recovered) -> str:
    gone = what_is_lost(event)
    return f"{event.process} comes back up{_with(event.lead)}{gone and f', and has lost {gone}'}"


def _loss(event: ev.Lost) -> str:
    what = f"{event.message} from {event.process} to {event.receiver}"
    if event.down:
        return f"{what} {lost_with(event)}"
    return f"{event.by} omits {what}" if event.by else f"the link loses {what}"


def what_is_lost(event: ev.Recovered) -> str:
    """Returns ``x = 1 and y = {2}``: the values that a process has lost, only the names of their
    variables where that is long; empty if it has lost nothing."""
    said = listing([f"{each.variable} = {each.had}" for each in event.lost])
    if len(said) <= LONG:
        return said
    return f"its {listing([each.variable for each in event.lost])}"


def back_up(event: ev.Recovered) -> list[str]:
    """Returns ``back up``, and ``x = 0`` for what has another value than when the process
    stopped."""
    return ["back up", *(f"{each.variable} = {each.has}" for each in event.lost)]


def lost_with(event: ev.Lost) -> str:
    """Returns why a message is lost, as a predicate: for its sender, or its receiver, is down."""
    if event.down == event.process:
        return f"was in transit when {event.down} crashed, and is lost with it"
    return f"is lost while {event.down} is down"


def timer_text(timer: str) -> str:
    """Returns ``the timer `t```; ``timer`` is empty for the timer without a name."""
    return f"the timer `{timer}`" if timer else "the timer"


def opinion(event: ev.OracleIndicated) -> str:
    """Returns ``suspects p1``: a failure detector's opinion of a process; empty for any other
    indication."""
    return f"{OPINIONS[event.call.name]} {event.about}" if event.about else ""


def asking(event: ev.OracleAsked) -> str:
    """Returns ``asks the oracle `fd`: query(a)``."""
    return f"asks the oracle `{event.oracle}`: {event.request}"


def doing(event: ev.Event) -> str:
    """Returns ``sending DATA(a) to p2``: an effect in progress; empty for any other event, and
    for a message without receivers."""
    match event:
        case ev.Sent(message, receivers):
            return f"sending {message} to {', '.join(receivers)}" if receivers else ""
        case ev.CopyLeft(message, receiver):
            return f"sending {message} to {receiver}"
        case ev.Indicated(call):
            return f"indicating {call}"
        case ev.Performed(act):
            return f"performing {act}"
        case ev.Stored():
            return f"storing {assignment(event)}"
        case ev.Synced(variables):
            return f"syncing {variables}"
        case _:
            return ""


def _draw(event: ev.Drawn) -> str:
    if not event.process:
        return f"chance shows {assignment(event)}"
    does = f"flips {event.value}" if event.variable == FLIP else f"draws {assignment(event)}"
    return f"{event.process} {does}"


def _oracle(event: ev.OracleIndicated) -> str:
    thinks = opinion(event)
    if thinks:
        return f"the detector tells {event.process} that it {thinks}"
    call = event.call
    oracle = f"the oracle `{call.layer}`" if call.layer else "the oracle"
    return f"{oracle} indicates {call.name}({', '.join(call.values)}) to {event.process}"
