"""Traces written down by hand: only what happens in each step, no states."""

from __future__ import annotations

from collections.abc import Sequence

from checker.model.ir import VariableKind
from checker.records import replace
from checker.results import events as ev
from checker.results.trace import Change, Explanation, Header, ProcessOutcome, Step, Trace
from checker.words.events import sentence

HEADER = Header("0", "hand.bcast", "by_hand")


def send(who: str, message: str, *to: str) -> ev.Sent:
    return ev.Sent(message, to, process=who)


def copy(who: str, message: str, to: str) -> ev.CopyLeft:
    return ev.CopyLeft(message, to, process=who)


def receive(who: str, message: str, sender: str) -> ev.Received:
    return ev.Received(message, sender, process=who)


def lose(sender: str, message: str, to: str) -> ev.Lost:
    return ev.Lost(message, to, process=sender)


def forge(who: str, message: str, to: str, claimed: str = "") -> ev.Forged:
    return ev.Forged(message, to, claimed, process=who)


def call(text: str, *names: str) -> ev.Call:
    """``rb.deliver(p1, a)``, with names for its arguments."""
    operator, _, inside = text.removesuffix(")").partition("(")
    values = tuple(inside.split(", ")) if inside else ()
    return ev.Call(operator, values, tuple(zip(names, values, strict=False)))


def request(who: str, text: str) -> ev.Requested:
    return ev.Requested(call(text, "m"), process=who)


def deliver(who: str, text: str) -> ev.Indicated:
    return ev.Indicated(call(text), process=who)


def crash(who: str) -> ev.Crashed:
    return ev.Crashed(process=who)


def recover(who: str) -> ev.Recovered:
    return ev.Recovered(process=who)


def perform(who: str, act: str) -> ev.Performed:
    return ev.Performed(act, process=who)


def store(who: str, variable: str, value: str) -> ev.Stored:
    return ev.Stored(variable, value, process=who)


def expire(who: str, timer: str) -> ev.TimedOut:
    return ev.TimedOut(timer, process=who)


def run_handler(who: str, handler: str) -> ev.Handled:
    return ev.Handled(handler, process=who)


def suspect(who: str, whom: str) -> ev.OracleIndicated:
    return ev.OracleIndicated(call(f"suspect({whom})", "p"), process=who)


def wrote(variable: str, kind: VariableKind = VariableKind.SHARED) -> Change:
    return Change(variable, variable, "", "0", "1", kind, False)


def step(
    number: int,
    *events: ev.Event,
    cut: tuple[ev.Effect, ...] = (),
    changes: Sequence[Change] = (),
) -> Step:
    """A step of the kind that its first event says, by that event's process."""
    first = events[0]
    kinds = {"send": "step", "indication": "step", "handler": "step", "copy": "effect"}
    kinds |= {"power": "crash", "wipe": "crash", "disconnect": "receive"}
    word = ev.kind_name(first)
    kind = "world" if isinstance(first, ev.World) else kinds.get(word, word)
    process = first.receiver if isinstance(first, ev.Forged) else first.process
    return Step(number, sentence(first), kind, process, events, tuple(changes), {}, cut)


def trace(
    *steps: Step,
    processes: tuple[str, ...] = ("p1", "p2", "p3"),
    crashed: tuple[str, ...] = (),
    byzantine: tuple[str, ...] = (),
    context: tuple[int, ...] = (),
    fine: bool = False,
    ends: bool = False,
    loop: int | None = None,
    closing: Step | None = None,
) -> Trace:
    """The run through ``steps``, which are numbered from 1."""
    start = Step(0, "", "start", "", (), (), {})
    lying = {p: "byzantine" for p in byzantine}
    return Trace(
        header=replace(HEADER, fine_steps=fine),
        property_name="agreement",
        definition="If one correct process delivers a message, every correct process does.",
        word="violated",
        sentence="agreement is violated",
        processes=processes,
        variables=(),
        steps=(start, *steps),
        fates=tuple(
            ProcessOutcome(p, p in crashed, (), faulty=lying.get(p, "")) for p in processes
        ),
        ends=ends,
        loop=loop,
        closing=closing,
        explanation=Explanation(context=context) if context else None,
    )
