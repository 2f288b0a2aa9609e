"""Traces written down by hand: only what happens in each step, no states."""

from __future__ import annotations

from collections.abc import Sequence

from checker.records import replace
from checker.results.trace import Change, Event, Explanation, Header, ProcessOutcome, Step, Trace

HEADER = Header("0", "hand.bcast", "by_hand")


def send(who: str, message: str, *to: str) -> Event:
    said = f"{who} sends {message} to {', '.join(to)}"
    return Event("send", said, who, message=message, peers=to)


def copy(who: str, message: str, to: str) -> Event:
    return Event("copy", f"{message} leaves {who}", who, message=message, peers=(to,))


def receive(who: str, message: str, sender: str) -> Event:
    said = f"{who} receives {message} from {sender}"
    return Event("receive", said, who, message=message, peers=(sender,))


def lose(sender: str, message: str, to: str) -> Event:
    said = f"the link loses {message} from {sender} to {to}"
    return Event("lose", said, sender, message=message, peers=(to,))


def forge(who: str, message: str, to: str) -> Event:
    return Event("forge", f"{who} makes up {message}", who, message=message, peers=(to,))


def request(who: str, call: str) -> Event:
    arguments = (("m", call.partition("(")[2].removesuffix(")")),)
    return Event("request", f"{who} is asked: {call}", who, call, arguments=arguments)


def deliver(who: str, call: str) -> Event:
    return Event("indication", f"{who} indicates {call}", who, call)


def crash(who: str) -> Event:
    return Event("crash", f"{who} crashes", who)


def suspect(who: str, whom: str) -> Event:
    said = f"the detector tells {who} that it suspects {whom}"
    return Event("detect", said, who, f"suspect({whom})", arguments=(("p", whom),))


def world(said: str) -> Event:
    return Event("world", said, name=said)


def happens(kind: str, who: str, name: str = "") -> Event:
    """An event of another kind, which is about no message."""
    return Event(kind, f"{who} {kind} {name}", who, name)


def wrote(variable: str, kind: str = "shared") -> Change:
    return Change(variable, variable, "", "0", "1", kind, False)


def step(
    number: int, *events: Event, cut: tuple[Event, ...] = (), changes: Sequence[Change] = ()
) -> Step:
    """A step of the kind that its first event says, by that event's process."""
    first = events[0]
    kinds = {"send": "step", "indication": "step", "handler": "step", "copy": "effect"}
    kind = kinds.get(first.kind, first.kind)
    process = first.peers[0] if kind == "forge" else first.process
    return Step(
        number, first.sentence, kind, process, first.sentence, events, tuple(changes), {}, cut
    )


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
    start = Step(0, "", "start", "", "the start", (), (), {})
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
