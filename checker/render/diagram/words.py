"""Formulates the texts of a picture: labels of marks, and titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct
from rich.cells import cell_len

from checker.diagnostics.english import listing
from checker.render.diagram.identity import Identities
from checker.render.diagram.operations import text_of_indication
from checker.render.diagram.parts import Line, MarkKind
from checker.render.terminal.columns import shorten
from checker.results import events as ev
from checker.results.causality import NOBODY, Arrow, CopyOutcome
from checker.results.trace import FAULTY, NO_HANDLER, Step, Trace
from checker.words.events import assignment, back_up, opinion, sentence, stops
from checker.words.steps import headline, is_led_by

CHARACTER = 6.8
"""The width of a character of 11 pixels in a monospaced font, rounded up."""

LINE = 15.0
"""The height of a line."""

SIGN = 17.0
"""The width of the sign in front of a line."""

TOLD = (
    ev.Sent
    | ev.Performed
    | ev.Stored
    | ev.AlternativeTaken
    | ev.Chosen
    | ev.Drawn
    | ev.TimedOut
    | ev.OracleIndicated
    | ev.Recovered
)
"""The kinds of events that the title of a step mentions."""


class Seat(Struct, frozen=True):
    """A mark of a step on a lane, with its labels.  ``cut``: a crash inside it."""

    step: int
    lane: str
    kind: MarkKind
    lines: tuple[Line, ...]
    title: str


def seats_of(
    step: Step, home: str, most: int, identities: Identities, arrivals: Sequence[str] = ()
) -> tuple[Seat, ...]:
    """Returns the marks of ``step``, that on its ``home`` first; texts have ``most`` characters at
    most; ``arrivals`` as in :func:`arrivals_of`.

    A process that crashes inside the step has two of them, the second of kind ``crash``.
    """
    lanes = dict.fromkeys([home] if home != NOBODY else [])
    for event in step.events:
        if event.process and not isinstance(event, ev.Forged | ev.Lost | ev.CopyLeft):
            lanes.setdefault(event.process)
    found: list[Seat] = []
    for lane in lanes:
        events = [event for event in step.events if event.process == lane]
        events.sort(key=lambda event: not isinstance(event, ev.Chosen))
        kind: MarkKind = step.kind if lane == home else "also"
        lines, left = list[Line](), list[Line]()
        for event in events:
            told = left if isinstance(event, ev.Left) else lines
            told.extend(_line(step, event, most, identities))
        if step.untaken == lane:
            lines.append(Line("", shorten(NO_HANDLER, most), NO_HANDLER))
        if kind == "world":
            lines = [Line("", shorten(headline(step), most), headline(step))]
        crash = next((stops(e) for e in events if isinstance(e, ev.Crashed)), "")
        down = Line("", crash, crash)
        if kind == "crash":
            crash, lines = "", [down, *left, *_cut(step, lane, most, identities)]
        found.append(Seat(step.number, lane, kind, tuple(lines), title_of(step, arrivals)))
        if crash:
            gone = _cut(step, lane, most, identities)
            said = f"Step {step.number}: {lane} {crash} inside this step"
            if gone:
                said += "; it never " + ", never ".join(line.whole for line in gone)
            found.append(Seat(step.number, lane, "crash", (down, *left, *gone), said))
    return tuple(found)


def arrivals_of(step: Step, ended: Sequence[Arrow]) -> list[str]:
    """Describes the messages that arrive in ``step`` besides the one in its headline; ``ended``:
    the arrows that end in it.
    """
    told = {
        (event.sender, event.process, event.message)
        for event in step.events
        if isinstance(event, ev.Received) and is_led_by(step, event)
    }
    return [
        f"{arrow.receiver} also has {arrow.message} from {arrow.sender}"
        for arrow in ended
        if arrow.how is CopyOutcome.RECEIVED
        and (arrow.sender, arrow.receiver, arrow.message) not in told
    ]


def title_of(step: Step, arrivals: Sequence[str] = ()) -> str:
    """Describes a step in a sentence, with all that arrives in it."""
    parts = [headline(step)]
    for event in step.events:
        told = isinstance(event, ev.Indicated | ev.Requested) and event.call.outermost
        if told or isinstance(event, TOLD):
            parts.append(sentence(event))
    parts += arrivals
    parts += [NO_HANDLER] if step.untaken else []
    said = "; ".join(part for i, part in enumerate(parts) if not i or part not in parts[0])
    if step.number:
        return f"Step {step.number}: {said}"
    said = "; ".join(parts[1:])
    return f"The start: {said}" if said else "The start"


def _line(step: Step, event: ev.Event, most: int, identities: Identities) -> list[Line]:
    sign, text, identity = "", "", -1
    match event:
        case ev.Requested(call) if call.outermost:
            sign, text = "request", str(call)
            identity = identities.of(text)
        case ev.Indicated(call) if call.outermost:
            sign, text = "delivery", text_of_indication(identities.trace, step.number, event)
            identity = identities.of(text)
        case ev.Performed(act):
            sign, text, identity = "perform", f"perform {act}", identities.of(act)
        case ev.Stored():
            sign, text = "store", assignment(event)
        case ev.AlternativeTaken(alternative):
            text = alternative
        case ev.Synced(variables):
            sign, text = "store", f"sync {variables}"
        case ev.SyncFailed(variables):
            text = f"fails to sync {variables}"
        case ev.Chosen():
            text = assignment(event)
        case ev.Left():
            text = f"left with {assignment(event)}"
        case ev.Drawn():
            sign, text = "coin", assignment(event)
        case ev.TimedOut(timer):
            sign, text = "timeout", timer or "timeout"
        case ev.OracleIndicated(call):
            sign = "suspicion" if event.about else "oracle"
            text = opinion(event) or f"{call.name}({', '.join(call.values)})"
        case ev.Recovered():
            up, *lost = back_up(event)
            told = (Line("", shorten(said, most), said) for said in lost)
            return [Line("recover", up, up), *told]
        case ev.Paused():
            text = "pauses"
        case ev.Resumed():
            text = "goes on"
        case ev.Disconnected(peer):
            text = f"disconnected from {peer}"
        case ev.Handled(handler) if step.kind == "step" and event.process == step.process:
            if not is_led_by(step, event):
                return []
            sign, text = "does", handler.removeprefix("upon condition ")
        case _:
            return []
    return [Line(sign, shorten(text, most), text, identity)]


def _cut(step: Step, lane: str, most: int, identities: Identities) -> list[Line]:
    """Returns the effects that a crash cut off, struck out."""
    found = []
    for event in step.cut:
        if event.process != lane:
            continue
        match event:
            case ev.Sent(message) | ev.CopyLeft(message):
                sign, short, identity = "message", message, identities.of(message, True)
                text = f"sends {message} to {', '.join(ev.peers_of(event))}"
            case ev.Indicated(call) if not call.outermost:
                continue
            case ev.Indicated(call):
                sign, short, identity = "delivery", str(call), identities.of(str(call))
                text = f"indicates {call}"
            case ev.Performed(act):
                sign, short, identity = "perform", act, identities.of(act)
                text = f"performs {act}"
            case ev.Stored():
                sign, short, identity = "store", assignment(event), -1
                text = f"stores {short}"
            case ev.Synced(variables):
                sign, short, identity = "store", f"sync {variables}", -1
                text = f"syncs {variables}"
            case _:
                assert_never(event)
        found.append(Line(sign, shorten(short, most), text, identity, struck=True))
    return found


def text_of_arrow(message: str, claimed: str) -> str:
    """Returns the text at an arrow; ``claimed``: in whose name the message comes, if forged."""
    return f"{message} as {claimed}" if claimed else message


def title_of_arrow(arrow: Arrow) -> str:
    """Describes the outcome of a copy of a message, in a sentence."""
    what = f"{arrow.message} from {arrow.sender} to {arrow.receiver}"
    sent = "" if arrow.sent is None else f", sent in step {arrow.sent}"
    match arrow.how:
        case CopyOutcome.RECEIVED:
            return f"{what}{sent}, received in step {arrow.ended}"
        case CopyOutcome.COUNTED:
            return f"{what}{sent}, received at once"
        case CopyOutcome.LOST:
            return f"{what}{sent}, lost in step {arrow.ended}"
        case CopyOutcome.FORGED:
            name = f" in the name of {arrow.claimed}" if arrow.claimed else ""
            return f"{what}, made up by {arrow.sender}{name}, received in step {arrow.ended}"
        case CopyOutcome.UNDER_WAY:
            return f"{what}{sent}, still in transit at the end"
        case _:
            return f"{what}{sent}, never arrives"


def sides_of(step: Step, processes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Returns the two sides into which ``step`` splits the network; none where it does not."""
    for event in step.events:
        if isinstance(event, ev.Partitioned):
            apart = tuple(process for process in processes if process in event.apart)
            return tuple(p for p in processes if p not in apart), apart
    return ()


def text_of_bar(step: Step, processes: tuple[str, ...]) -> str:
    """Describes a step of the environment: of a partition, both sides."""
    sides = sides_of(step, processes)
    if not all(sides) or not sides:
        return headline(step)
    return f"the network splits: {listing(sides[0])} | {listing(sides[1])}"


def fate_of(trace: Trace, process: str) -> str:
    """Describes the outcome of a process, in a few words."""
    for fate in trace.fates:
        if fate.process == process:
            found = [FAULTY[fate.faulty]] if fate.faulty else []
            if fate.crashed:
                found.append("crashed")
            elif fate.recovered:
                found.append("came back up")
            return ", ".join(found) or "correct"
    return ""


def title_of_run(trace: Trace) -> str:
    """Returns the title of an execution."""
    if trace.property_name:
        return f"{trace.property_name}: {trace.word}"
    header = trace.header
    return f"a run of {header.file}::{header.check}" if header.check else f"a run of {header.file}"


def sentences_of(trace: Trace) -> tuple[str, ...]:
    """Describes what is violated and why, as far as an explanation is known."""
    if trace.explanation is not None and trace.explanation.sentences:
        return trace.explanation.sentences
    said = trace.without_definition
    return (said + "." if said and not said.endswith(".") else said,)


def ends_of(trace: Trace) -> str:
    """Describes how the execution continues after its last step."""
    if trace.failure is not None:
        return f"error: {trace.failure.message}"
    if trace.closing is not None:
        return "and so on forever"
    if trace.loop is not None and (trace.still_acts or not trace.ends):
        return "it stays like this forever"
    if trace.quiescent:
        return "the system is quiescent"
    return "the run may end here" if trace.ends else "the run may go on"


def width_of(line: Line) -> float:
    """Returns the width of a line with its sign."""
    return cell_len(line.text) * CHARACTER + (SIGN if line.sign else 0.0)
