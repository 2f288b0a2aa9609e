"""Runs made by hand, with everything in them that a picture can show."""

from __future__ import annotations

import random
from collections.abc import Iterable

from checker.witness.trace import Change, Event, Fate, Header, Step, Trace

HEADER = Header("1", "made.bcast", "by_hand")


def step(number: int, kind: str, process: str, *events: Event, cut: tuple[Event, ...] = ()) -> Step:
    """A step whose headline is the first event's sentence."""
    headline = events[0].sentence if events else "nothing to be seen"
    action = f"{kind}({process})"
    return Step(number, action, kind, process, headline, events, (), {}, cut)


def request(process: str, call: str) -> Event:
    arguments = (("m", call.partition("(")[2].removesuffix(")")),)
    return Event("request", f"{process} is asked: {call}", process, call, arguments=arguments)


def send(process: str, message: str, *to: str) -> Event:
    said = f"{process} sends {message} to {', '.join(to)}"
    return Event("send", said, process, message=message, peers=to)


def receive(process: str, message: str, sender: str) -> Event:
    said = f"{process} receives {message} from {sender}"
    return Event("receive", said, process, message=message, peers=(sender,))


def lose(sender: str, message: str, to: str) -> Event:
    said = f"the link loses {message} from {sender} to {to}"
    return Event("lose", said, sender, message=message, peers=(to,))


def indication(process: str, call: str) -> Event:
    return Event("indication", f"{process} indicates {call}", process, call)


def simple(kind: str, process: str, name: str = "") -> Event:
    return Event(kind, f"{process} {kind} {name}", process, name)


def trace(
    steps: Iterable[Step],
    processes: tuple[str, ...] = ("p1", "p2", "p3"),
    crashed: tuple[str, ...] = (),
    byzantine: tuple[str, ...] = (),
    ends: bool = False,
    loop: int | None = None,
    closing: Step | None = None,
    sentence: str = "agreement is violated",
) -> Trace:
    start = Step(0, "", "start", "", "the start", (), (), {})
    fates = tuple(
        Fate(p, p in crashed, (), faulty="byzantine" if p in byzantine else "") for p in processes
    )
    return Trace(
        header=HEADER,
        property_name="agreement",
        definition="If one correct process delivers a message, every correct process does.",
        word="violated",
        sentence=sentence,
        processes=processes,
        variables=(),
        steps=(start, *steps),
        fates=fates,
        ends=ends,
        loop=loop,
        closing=closing,
    )


def half_heard() -> Trace:
    """p1 crashes inside its multicast of ``a``, which only p2 receives; the run is complete."""
    whole = send("p1", "DATA(a)", "p3")
    return trace(
        (
            step(
                1,
                "request",
                "p1",
                request("p1", "broadcast(a)"),
                send("p1", "DATA(a)", "p2"),
                simple("crash", "p1"),
                cut=(whole, indication("p1", "deliver(p1, a)")),
            ),
            step(2, "receive", "p2", receive("p2", "DATA(a)", "p1"),
                 indication("p2", "deliver(p1, a)")),
        ),
        crashed=("p1",),
        ends=True,
        loop=2,
    )  # fmt: skip


def everything() -> Trace:
    """Each kind of step, event and end of a message once at least; p3 is Byzantine."""
    split = Event("world", "the network splits: {p2} cut off", arguments=(("side", "{p2}"),))
    shared = Change("cut off", "cut off", "", "{}", "{p2}", "world", False)
    steps = [
        step(1, "request", "p1", request("p1", 'broadcast(<&">)'),
             send("p1", 'DATA(<&">)', "p1", "p2", "p3")),
        step(2, "receive", "p1", receive("p1", 'DATA(<&">)', "p1"),
             indication("p1", 'deliver(p1, <&">)'), simple("perform", "p1", "print"),
             simple("store", "p1", "log = 1")),
        step(3, "lose", "p1", lose("p1", 'DATA(<&">)', "p2")),
        step(4, "timeout", "p2", simple("timeout", "p2", "resend")),
        step(5, "forge", "p2",
             Event("forge", "p3 makes p2 receive X", "p3", message="ACK(b)", peers=("p2",))),
        Step(6, "partition", "world", "", split.sentence, (split,), (shared,), {}),
        step(7, "step", "p2", Event("handler", "p2: upon condition x > 1", "p2",
             "upon condition x > 1"), send("p2", "ACK(b)", "p1")),
        step(8, "crash", "p1", simple("crash", "p1")),
        step(9, "detect", "p2", Event("detect", "p2 suspects p1", "p2", "fd.suspect(p1)",
             arguments=(("p", "p1"),))),
        step(10, "recover", "p1", simple("recover", "p1")),
        Step(11, "tick(p1)", "world", "", "the clock of p1 ticks",
             (Event("world", "the clock of p1 ticks", arguments=(("process", "p1"),)),), (), {}),
        step(12, "receive", "p1", receive("p1", "ACK(b)", "p2"),
             indication("p2", "deliver(p2, b)")),
    ]  # fmt: skip
    return trace(steps, byzantine=("p3",))


def round_and_round() -> Trace:
    """After one step, p1 and p2 play ping-pong for ever."""
    return trace(
        (
            step(1, "request", "p1", request("p1", "start(a)"), send("p1", "PING", "p2")),
            step(2, "receive", "p2", receive("p2", "PING", "p1"), send("p2", "PONG", "p1")),
        ),
        processes=("p1", "p2"),
        loop=1,
        closing=step(3, "receive", "p1", receive("p1", "PONG", "p2"), send("p1", "PING", "p2")),
    )


def busy(length: int, processes: int = 5, seed: int = 1) -> Trace:
    """``length`` steps of multicasts, receptions, relays and losses, as a seed says."""
    chance = random.Random(seed)
    names = tuple(f"p{i + 1}" for i in range(processes))
    steps: list[Step] = []
    post: list[tuple[str, str, str]] = []
    for number in range(1, length + 1):
        if not post or chance.random() < 0.1:
            process, value = chance.choice(names), chance.choice("abc")
            message = f"DATA({value})"
            post += [(process, message, to) for to in names]
            asked = request(process, f"broadcast({value})")
            steps.append(step(number, "request", process, asked, send(process, message, *names)))
            continue
        sender, message, to = post.pop(chance.randrange(min(len(post), 12)))
        if chance.random() < 0.1:
            steps.append(step(number, "lose", sender, lose(sender, message, to)))
            continue
        events = [receive(to, message, sender)]
        if chance.random() < 0.3:
            events.append(indication(to, f"deliver({sender}, {message[5]})"))
        if chance.random() < 0.1:
            relayed = chance.sample(names, 2)
            events.append(send(to, message, *relayed))
            post += [(to, message, other) for other in relayed]
        steps.append(step(number, "receive", to, *events))
    return trace(steps, names)
