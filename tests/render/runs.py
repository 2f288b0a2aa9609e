"""Runs made by hand, with everything in them that a picture can show."""

from __future__ import annotations

import random

from checker.model.ir import VariableKind
from checker.records import replace
from checker.results import events as ev
from checker.results.trace import Change, Lack, Step, Trace
from tests.results.by_hand import (
    call,
    crash,
    deliver,
    expire,
    forge,
    lose,
    perform,
    receive,
    recover,
    request,
    run_handler,
    send,
    step,
    store,
    trace,
)


def half_heard() -> Trace:
    """p1 crashes inside its multicast of ``a``, which only p2 receives; the run is complete."""
    whole = send("p1", "DATA(a)", "p3")
    heard = trace(
        step(
            1,
            request("p1", "broadcast(a)"),
            send("p1", "DATA(a)", "p2"),
            crash("p1"),
            cut=(whole, deliver("p1", "deliver(p1, a)")),
        ),
        step(2, receive("p2", "DATA(a)", "p1"), deliver("p2", "deliver(p1, a)")),
        crashed=("p1",),
        ends=True,
        loop=2,
    )
    return replace(heard, lacking=(Lack("p3", "deliver", "deliver(p1, a)"),))


def unheard() -> Trace:
    """p1 sends ``a`` to p2 and p3 and crashes then; p3's copy never arrives."""
    return trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p2", "p3")),
        step(2, crash("p1")),
        step(3, receive("p2", "DATA(a)", "p1")),
        crashed=("p1",),
        ends=True,
    )


def everything() -> Trace:
    """Each kind of step, event and end of a message once at least; p3 is Byzantine."""
    split = ev.Partitioned(("p2",))
    shared = Change("cut off", "cut off", "", "{}", "{p2}", VariableKind.WORLD, False)
    steps = [
        step(1, request("p1", 'broadcast(<&">)'),
             send("p1", 'DATA(<&">)', "p1", "p2", "p3")),
        step(2, receive("p1", 'DATA(<&">)', "p1"),
             deliver("p1", 'deliver(p1, <&">)'), perform("p1", "print"),
             ev.AlternativeTaken("keeps", process="p1"), store("p1", "log", "1")),
        step(3, lose("p1", 'DATA(<&">)', "p2")),
        step(4, expire("p2", "resend")),
        step(5, forge("p3", "ACK(b)", "p2")),
        step(6, split, changes=(shared,)),
        step(7, run_handler("p2", "upon condition x > 1"), send("p2", "ACK(b)", "p1")),
        step(8, crash("p1")),
        step(9, ev.OracleIndicated(call("fd.suspect(p1)", "p"), process="p2")),
        step(10, recover("p1"), ev.Paused(process="p1")),
        step(11, ev.ClockTicked("p1"), ev.Paused(process="p1")),
        step(12, receive("p1", "ACK(b)", "p2"), ev.Resumed(process="p1"),
             deliver("p2", "deliver(p2, b)")),
    ]  # fmt: skip
    return trace(*steps, byzantine=("p3",))


def disks() -> Trace:
    """A sync fails and another one does not; the power of p1 fails, and p2 loses its disk."""
    return trace(
        step(1, request("p1", "broadcast(a)"), store("p1", "log", "1"),
             ev.SyncFailed("log", process="p1")),
        step(2, run_handler("p1", "upon condition again"), ev.Synced("log", process="p1")),
        step(3, ev.PowerFailed(process="p1"), ev.Left("log", "0", process="p1")),
        step(4, ev.DiskLost(process="p2")),
        step(5, recover("p1")),
    )  # fmt: skip


def cut_off() -> Trace:
    """A link is cut and heals, and one way of it is cut; a round loses what p1 has said."""
    return trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p2", "p3")),
        step(2, ev.Cut("p1", "p2")),
        step(3, receive("p3", "DATA(a)", "p1"), deliver("p3", "deliver(p1, a)")),
        step(4, ev.RoundEnded(), ev.Lost("DATA(a)", "p2", process="p1")),
        step(5, ev.CutHealed("p1", "p2")),
        step(6, ev.Cut("p2", "p1", one_way=True)),
    )


def disconnected() -> Trace:
    """A connection breaks: p2 is told, sends, and p1 has not been told yet."""
    return trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p2", "p3")),
        step(2, ev.Reset("p1", "p2"), ev.Lost("DATA(a)", "p2", process="p1")),
        step(3, ev.Disconnected("p1", process="p2"), run_handler("p2", "upon disconnected p"),
             send("p2", "ASK", "p1")),
        step(4, receive("p3", "DATA(a)", "p1"), deliver("p3", "deliver(p1, a)")),
        step(5, ev.Disconnected("p2", process="p1")),
        step(6, receive("p1", "ASK", "p2")),
    )  # fmt: skip


def together() -> Trace:
    """p2 dies with p1: they pause, crash inside a handler of p2, come back, and lose their
    power."""
    return trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p2", "p3"),
             ev.Paused(process="p1"), ev.Paused("p1", process="p2")),
        step(2, expire("p1", "resend"), ev.Resumed(process="p1"), ev.Resumed("p1", process="p2")),
        step(3, receive("p2", "DATA(a)", "p1"), store("p2", "log", "1"),
             crash("p1"), ev.Crashed("p1", process="p2"), cut=(send("p2", "ACK(a)", "p1"),)),
        step(4, recover("p1"),
             ev.Recovered("p1", (ev.Forgotten("seen", "{a}", "{}"),), process="p2")),
        step(5, ev.PowerFailed(process="p1"), ev.PowerFailed("p1", process="p2"),
             ev.Left("log", "0", process="p2")),
        crashed=("p1", "p2"),
    )  # fmt: skip


def round_and_round() -> Trace:
    """After one step, p1 and p2 play ping-pong forever."""
    return trace(
        step(1, request("p1", "start(a)"), send("p1", "PING", "p2")),
        step(2, receive("p2", "PING", "p1"), send("p2", "PONG", "p1")),
        processes=("p1", "p2"),
        loop=1,
        closing=step(3, receive("p1", "PONG", "p2"), send("p1", "PING", "p2")),
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
            steps.append(step(number, asked, send(process, message, *names)))
            continue
        sender, message, to = post.pop(chance.randrange(min(len(post), 12)))
        if chance.random() < 0.1:
            steps.append(step(number, lose(sender, message, to)))
            continue
        events = [receive(to, message, sender)]
        if chance.random() < 0.3:
            events.append(deliver(to, f"deliver({sender}, {message[5]})"))
        if chance.random() < 0.1:
            relayed = chance.sample(names, 2)
            events.append(send(to, message, *relayed))
            post += [(to, message, other) for other in relayed]
        steps.append(step(number, *events))
    return trace(*steps, processes=names)
