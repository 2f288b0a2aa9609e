"""The acts of a harness, from the steps of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import listing
from checker.harness.runtime import acts
from checker.language.parser.cache import parse
from checker.language.syntax.ast_items import Message
from checker.language.syntax.walk import nodes_of
from checker.results import events as ev
from checker.results.terms import arguments, head, is_message
from checker.results.trace import Json, Source, Step, Trace
from checker.words.events import sentence
from checker.words.steps import headline

BEYOND: Mapping[type[ev.Event], str] = {
    ev.AlternativeTaken: "which alternative it takes",
    ev.Chosen: "which value it chooses",
    ev.Drawn: "what is drawn",
    ev.PowerFailed: "SIGKILL loses nothing that was written",
    ev.DiskLost: "the disk is kept",
    ev.SyncFailed: "that `sync` fails",
    ev.OracleIndicated: "what a failure detector says",
    ev.ClockTicked: "a clock",
    ev.ClocksTicked: "clocks",
    ev.RoundEnded: "the end of a round",
    ev.BecameSynchronous: "when the system becomes synchronous",
    ev.DetectorSettled: "when failure detectors are right",
    ev.OracleAsked: "an oracle",
}
"""What no harness brings about."""


def schedule(trace: Trace) -> tuple[acts.Act, ...]:
    """Returns the acts of ``trace``.

    Raises :class:`SpecError` (E113) where there is nothing to be driven: the trace is that of a
    log, or no process of it is asked for anything or receives anything.
    """
    if trace.is_recorded:
        hint = "export the trace of a check: `bivalence check FILE::CHECK --trace-out FILE`"
        raise _refused("this trace is what a log says that happened", hint)
    reader = _Reader(trace)
    found = [act for step in trace.every_step if step.number for act in reader.acts_of(step)]
    if not any(isinstance(act, acts.Request | acts.Receive | acts.Forge) for act in found):
        raise _refused("in this trace no process gets a request or a message")
    return (*_together(found), *(reader.stays() if trace.ends else ()))


def _refused(why: str, hint: str = "") -> SpecError:
    message = f"a harness has nothing to do: {why}"
    return SpecError((Diagnostic("E113", message, hint=hint),))


class _Reader:
    """Reads the steps of a trace, in order; ``fields``: the names of the fields of messages."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.fields: dict[str, tuple[str, ...]] = {}
        for source in trace.header.sources:
            self.fields.update(_declared(source))
        for step in trace.steps:
            for value in step.state.values():
                self.fields.update(_tagged(value))
        self.sent: Counter[tuple[str, str, str]] = Counter()
        self.received: Counter[tuple[str, str, str]] = Counter()

    def message(self, text: str) -> acts.Message:
        """Returns the message that ``text`` prints, without the messages of layers around it."""
        while (inner := arguments(text)) and len(inner) == 1 and is_message(inner[0]):
            text = inner[0]
        values = arguments(text)
        names = self.fields.get(head(text), ())
        if len(names) != len(values):
            names = tuple(str(number) for number in range(1, len(values) + 1))
        return acts.Message(head(text), dict(zip(names, values, strict=True)))

    def acts_of(self, step: Step) -> Iterator[acts.Act]:
        """Yields the acts of a step: what makes it happen, then the crashes in it."""
        crashes = [event for event in step.events if isinstance(event, ev.Crashed)]
        first = self.first_act(step)
        if first is not None:
            lines = tuple(_lines(step, first.process))
            sends = tuple(self.sends(step, first.process))
            beyond = _beyond(step, of_crash=False) if crashes else _beyond(step)
            if isinstance(first, acts.Await) and not (lines or sends or beyond):
                beyond = f"nothing shows it: {headline(step)}"
            yield replace(first, lines=lines, sends=sends, beyond=beyond)
        cut = listing(sentence(effect) for effect in step.cut)
        for crash in crashes:
            yield acts.Crash(
                step.number, crash.process, cut=cut, beyond=_beyond(step, of_crash=True)
            )

    def first_act(self, step: Step) -> acts.Act | None:
        """Returns what makes a step happen; ``None`` where that is a crash alone."""
        for event in step.events:
            found = self.act_of(step, event)
            if found is not None:
                return found
        if any(isinstance(event, ev.Crashed) for event in step.events) and not step.inner:
            return None
        return acts.Await(step.number, step.process)

    def act_of(self, step: Step, event: ev.Event) -> acts.Act | None:
        """Returns the act that an event is; ``None`` for one that follows from another."""
        number = step.number
        match event:
            case ev.Requested() if event.call.outermost:
                return acts.Request(
                    number, event.process, name=event.call.name, values=event.call.values
                )
            case ev.Received():
                key = (event.sender, event.process, event.message)
                self.received[key] += 1
                return acts.Receive(
                    number, event.process, message=self.message(event.message),
                    sender=event.sender, again=self.received[key] > self.sent[key] > 0,
                    taken=not step.untaken,
                )  # fmt: skip
            case ev.Forged():
                return acts.Forge(
                    number, event.receiver, message=self.message(event.message),
                    sender=event.process, claimed=event.claimed,
                )  # fmt: skip
            case ev.Lost():
                return acts.Lose(
                    number, "", message=self.message(event.message), sender=event.process,
                    receiver=event.receiver,
                )  # fmt: skip
            case ev.Recovered():
                return acts.Recover(number, event.process)
            case ev.Paused():
                return acts.Pause(number, event.process)
            case ev.Resumed():
                return acts.Resume(number, event.process)
            case ev.TimedOut():
                return acts.Fire(number, event.process, timer=event.timer)
            case ev.Disconnected():
                return acts.Learn(number, event.process, peer=event.peer)
        return self.of_network(number, event)

    def of_network(self, number: int, event: ev.Event) -> acts.Act | None:
        """Returns the act of an event of the network."""
        everybody = self.trace.processes
        match event:
            case ev.Partitioned():
                others = tuple(each for each in everybody if each not in event.apart)
                return acts.Cut(number, "", apart=event.apart, others=others)
            case ev.Healed():
                return acts.Mend(number, "", apart=everybody, others=everybody)
            case ev.Cut():
                ends = ((event.first,), (event.second,))
                return acts.Cut(number, "", apart=ends[0], others=ends[1], one_way=event.one_way)
            case ev.CutHealed():
                ends = ((event.first,), (event.second,))
                return acts.Mend(number, "", apart=ends[0], others=ends[1], one_way=event.one_way)
            case ev.Reset():
                return acts.Break(number, "", first=event.first, second=event.second)
        return None

    def stays(self) -> Iterator[acts.Act]:
        """Yields the messages that are never received, though nothing else happens any more."""
        last = self.trace.every_step[-1].number
        for message in self.trace.in_flight:
            text, _, ends = message.text.rpartition(" from ")
            sender, _, receiver = ends.partition(" to ")
            yield acts.Stay(last, "", message=self.message(text), sender=sender, receiver=receiver)

    def sends(self, step: Step, process: str) -> Iterator[acts.Sends]:
        """Yields what ``process`` sends in a step."""
        for event in step.events:
            if isinstance(event, ev.Sent) and event.process == process:
                self.sent.update((process, each, event.message) for each in event.receivers)
                yield acts.Sends(self.message(event.message), event.receivers)


def _lines(step: Step, process: str) -> Iterator[acts.Line]:
    """Yields what the log of ``process`` has after a step, but for receptions."""
    for event in step.events:
        if event.process != process:
            continue
        match event:
            case ev.Requested() if event.call.outermost:
                yield acts.Line("request", event.call.name, event.call.values)
            case ev.Indicated() if event.call.outermost:
                yield acts.Line("indicate", event.call.name, event.call.values)
            case ev.Performed():
                yield acts.Line("perform", event.act)
            case ev.TimedOut():
                yield acts.Line("timeout", event.timer)
            case ev.Recovered():
                yield acts.Line("recover")
            case ev.Handled() if event.handler.isidentifier():
                yield acts.Line("handler", event.handler)


def _beyond(step: Step, of_crash: bool | None = None) -> str:
    """Returns what of a step no harness brings about, in words; ``of_crash``: only what a crash in
    it does, or only the rest."""
    kinds = dict.fromkeys(type(event) for event in step.events if type(event) in BEYOND)
    return listing(BEYOND[kind] for kind in kinds if of_crash in (None, kind is ev.PowerFailed))


def _declared(source: Source) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the messages that a spec declares, each with the names of its fields; none if it is
    in an older syntax."""
    with suppress(SpecError):
        for node in nodes_of(parse(source.text, source.file)):
            if isinstance(node, Message):
                yield node.name.text, tuple(field.name.text for field in node.fields)


def _tagged(value: Json) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the messages in the encoding of a value, each with the names of its fields."""
    if isinstance(value, dict):
        tag, inside = value.get("tag"), value.get("value")
        if isinstance(tag, str) and isinstance(inside, dict) and "#tup" not in inside:
            yield tag, tuple(inside)
        for each in value.values():
            yield from _tagged(each)
    elif isinstance(value, list):
        for each in value:
            yield from _tagged(each)


def _together(found: Iterable[acts.Act]) -> Iterator[acts.Act]:
    """Yields the acts; a reception is released with a later one of the same process, where that
    comes before the rest of its handler: both are handled at the same time."""
    every = list(found)
    for at, act in enumerate(every):
        shows = act.lines or act.sends
        if isinstance(act, acts.Receive) and act.taken and not shows:
            last = 0
            for later in every[at + 1 :]:
                if later.process != act.process:
                    continue
                if not isinstance(later, acts.Receive):
                    if isinstance(later, acts.Await) and last:
                        act = replace(act, with_step=last)
                    break
                last = later.number
        yield act
