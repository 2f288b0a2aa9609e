"""Narrates how a violation came about: faults and what they cut off, who was misled, who did not
help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TypeVar

from checker.diagnostics.english import listing, times
from checker.explain.realisation import Voice
from checker.records import replace
from checker.results import events as ev
from checker.results.causality import CopyOutcome, causality, lane_of
from checker.results.trace import Copies, Step, Trace
from checker.results.truth import Fact
from checker.words.events import between, doing, sentence, what_is_lost
from checker.words.wrappers import fold_wrappers

E = TypeVar("E", bound=ev.Event)
S = TypeVar("S", bound=ev.Crashed | ev.Paused)

Local = ev.Performed | ev.Stored | ev.Synced | ev.Indicated
"""The effects of a handler that send nothing."""

SHORT = 6
"""Clauses with fewer words are joined by `and`."""

MANY = 3
"""More of a kind than this are counted, not named."""


def narrative_sentences(
    trace: Trace, facts: tuple[Fact, ...], voice: Voice | None
) -> tuple[str, ...]:
    """Returns the sentences that follow the verdict, the most telling ones first."""
    trace, _ = fold_wrappers(trace)
    return tuple(
        sentence
        for found in (
            _more_than_once(trace, facts, voice),
            _crashes(trace, facts, voice),
            _foreseen(trace),
            _liars(trace),
            _losses(trace),
            _suspicions(trace),
            _failed_syncs(trace),
            _pauses(trace),
            _world(trace),
            _for_ever(trace),
        )
        for sentence in found
    )


# ---- what happened more than once -------------------------------------------------------------


def _more_than_once(trace: Trace, facts: tuple[Fact, ...], voice: Voice | None) -> Iterator[str]:
    """Yields the steps at which something happened that should happen once."""
    if voice is None:
        return
    for fact in facts:
        if fact.atom.kind != "twice" or not fact.true:
            continue
        if fact.atom.owner is None:
            what = voice.fill(fact.atom.subject[1:], fact)
            found = [
                (s.number, e.process) for s, e in _events(trace, ev.Performed) if e.act == what
            ]
            verb, objects = "performed", what
        else:
            who = voice.fill((fact.atom.owner,), fact)
            parts = set(voice.about(fact))
            found = [
                (s.number, e.process)
                for s, e in _events(trace, ev.Indicated)
                if e.process == who
                and e.call.operator == fact.atom.op
                and parts
                and {value for _, value in e.call.named} == parts
            ]
            verb, objects = fact.atom.yes, voice.fill(fact.atom.objects[:-1], fact, brief=True)
        if len(found) > 1:
            times = [f"{by} at step {number}" for number, by in found[-2:]]
            if len({by for _, by in found[-2:]}) == 1:
                times = [f"at step {number}" for number, _ in found[-2:]]
                yield f"{found[-1][1]} {verb} {objects} {times[0]} and again {times[1]}."
            elif fact.atom.owner is None:
                yield f"Act {objects} was performed by {times[0]} and by {times[1]}."


def _events(trace: Trace, kind: type[E]) -> Iterator[tuple[Step, E]]:
    closing = () if trace.closing is None else (trace.closing,)
    for step in (*trace.steps, *closing):
        for event in step.events:
            if isinstance(event, kind):
                yield step, event


# ---- crashes ----------------------------------------------------------------------------------


def _crashes(trace: Trace, facts: tuple[Fact, ...], voice: Voice | None) -> Iterator[str]:
    """Yields one sentence about all crashes, and which processes could have made up for them."""
    parts = [
        _crash(trace, step, event, who) + (f", and {listing(others)} with it" if others else "")
        for step, event, who, others in _stops(trace, ev.Crashed)
    ]
    if len(parts) > MANY:
        parts = [f"{listing(sorted({e.process for _, e in _events(trace, ev.Crashed)}))} crashed"]
    helpless = _helpless(trace, facts, voice)
    if parts:
        short = all(len(part.split()) < SHORT for part in parts)
        said = listing(parts) if short else "; ".join(parts)
        yield f"{said}{', and ' + helpless if helpless else ''}."
    elif helpless:
        yield f"{helpless}."


def _stops(trace: Trace, kind: type[S]) -> Iterator[tuple[Step, S, str, list[str]]]:
    """Yields each crash or pause: the process whose step it is, or the lead, and those that stop
    together with it."""
    for step, event in _events(trace, kind):
        if event.lead:
            continue
        found = (e for e in step.events if isinstance(e, kind))
        all_ = [event.process, *(e.process for e in found if e.lead == event.process)]
        who = step.process if step.process in all_ else event.process
        yield step, event, who, [each for each in all_ if each != who]


_STOPPED = {ev.PowerFailed: "lost its power", ev.DiskLost: "lost its disk"}


def _crash(trace: Trace, step: Step, crash: ev.Crashed, who: str) -> str:
    """Returns ``p1 crashed after reaching only p3``."""
    stopped = _STOPPED.get(type(crash), "crashed")
    returns = (e for s, e in _events(trace, ev.Recovered) if s.number > step.number)
    back = next((e for e in returns if e.process == who), None)
    gone = "" if back is None else what_is_lost(back)
    after = "" if back is None else f", and came back later{gone and f' without {gone}'}"
    window = _window(step, who) or _last_effect(trace, step, who)
    if window:
        return f"{who} {stopped} {window}{after}"
    last = _partial(trace, step, who)
    if last is not None and (_has_cut_send(step) or back is None):
        got = ("itself", *last.received) if _by_itself(trace, last) else last.received
        if not last.received:
            missed = _anybody(last.missing) + (" else" if got and len(last.missing) > 1 else "")
            return f"{who} {stopped} before its {last.message} reached {missed}{after}"
        reached = f"its {last.message} reached only {listing(got)}"
        if _later(trace, last, step):
            return f"{who} {stopped} at step {step.number}{after}; {reached}"
        return f"{who} {stopped} after {reached}{after}"
    when = f"{stopped} at step {step.number}" if step.number else "is down from the start"
    return f"{who} {when}{after}"


def _partial(trace: Trace, crash: Step, who: str) -> Copies | None:
    """Returns the outcome of the message that ``who`` sent last of those that not every process
    received; if it was sent several times, in all."""
    found: dict[str, Copies] = {}
    for copies in trace.copies:
        if copies.sender == who and copies.step <= crash.number:
            before = found.pop(copies.message, replace(copies, received=(), missing=()))
            received = dict.fromkeys((*before.received, *copies.received))
            missing = dict.fromkeys((*before.missing, *copies.missing))
            left = tuple(process for process in missing if process not in received)
            found[copies.message] = replace(copies, received=tuple(received), missing=left)
    return next((c for c in reversed(found.values()) if c.missing), None)


def _later(trace: Trace, copies: Copies, crash: Step) -> bool:
    """Returns whether some copy was received after its sender had crashed."""
    return any(
        (arrow.sender, arrow.message) == (copies.sender, copies.message)
        and arrow.how is CopyOutcome.RECEIVED
        and arrow.ended is not None
        and arrow.ended > crash.number
        for arrow in causality(trace).arrows
    )


def _by_itself(trace: Trace, copies: Copies) -> bool:
    """Returns whether the sender has received its message, too."""
    return any(
        arrow.sender == arrow.receiver == copies.sender
        and (arrow.message, arrow.how) == (copies.message, CopyOutcome.RECEIVED)
        for arrow in causality(trace).arrows
    )


def _has_cut_send(step: Step) -> bool:
    return any(isinstance(event, ev.Sent) for event in step.cut)


def _anybody(missing: tuple[str, ...]) -> str:
    return missing[0] if len(missing) == 1 else "anybody"


def _window(step: Step, who: str) -> str:
    """Returns between which two effects of a handler a crash fell; empty where it is about
    messages."""
    done = [e for e in step.events if e.process == who and isinstance(e, Local)]
    cut = [e for e in step.cut if isinstance(e, Local)]
    if not cut:
        return ""
    before = f"before {doing(cut[0])}"
    return f"after {doing(done[-1])} and {before}" if done else before


def _last_effect(trace: Trace, step: Step, who: str) -> str:
    """Returns the last effect of the handler in which a crash fell, where each effect is a step."""
    theirs = [s for s in trace.steps[: step.number] if lane_of(s) == who]
    if step.number == 0 or not theirs or theirs[-1].kind != "effect":
        return ""
    done = [e for e in theirs[-1].events if e.process == who and isinstance(e, Local)]
    return f"right after {doing(done[-1])}" if done else ""


def _helpless(trace: Trace, facts: tuple[Fact, ...], voice: Voice | None) -> str:
    """Returns ``p3 sends p2 nothing after that``, where one has what another one lacks forever."""
    if voice is None or trace.loop is None:
        return ""
    lacking = [f for f in facts if f.atom.kind == "history" and not f.true and f.mode == "never"]
    having = [f for f in facts if f.atom.kind == "history" and f.true and not f.unknown]
    for lack in lacking:
        if mentions_somebody(lack):
            continue
        who = voice.fill(lack.atom.subject, lack)
        for have in having:
            helper = voice.fill(have.atom.subject, have)
            if have.atom.op != lack.atom.op or helper == who or _down(trace, helper):
                continue
            since = _step_of(trace, have, voice, helper)
            arrows = causality(trace).arrows
            sent = [a for a in arrows if a.sender == helper and a.receiver == who]
            helped = any(
                a.how is CopyOutcome.RECEIVED or (a.sent is not None and a.sent >= since)
                for a in sent
                if since is not None
            )
            if since is not None and not helped:
                return f"{helper} sends {who} nothing after that"
    return ""


def mentions_somebody(fact: Fact) -> bool:
    """Returns whether the subject of ``fact`` is no process in particular."""
    return bool(fact.unknown) and not fact.names.keys() >= set(fact.unknown)


def _down(trace: Trace, who: str) -> bool:
    return any(f.process == who and (f.crashed or f.faulty) for f in trace.fates)


def _step_of(trace: Trace, fact: Fact, voice: Voice, who: str) -> int | None:
    """Returns the step at which ``who`` did what ``fact`` states."""
    given = voice.about(fact)
    for step, event in _events(trace, ev.Indicated):
        values = [value for _, value in event.call.named]
        if event.process == who and given and sorted(values) == sorted(given):
            return step.number
    return None


# ---- other faults -----------------------------------------------------------------------------


def _foreseen(trace: Trace) -> Iterator[str]:
    """Yields crashes that are still to come."""
    who = [fate.process for fate in trace.fates if fate.faulty == "foreseen"]
    if who:
        it = "it" if len(who) == 1 else "them"
        yield f"Oracles foresee that {listing(who)} will crash, and owe {it} nothing."


def _liars(trace: Trace) -> Iterator[str]:
    """Yields what Byzantine processes made others receive, or that they stayed silent; those that
    said the same are reported together."""
    made: dict[str, dict[str, dict[str, set[str]]]] = {}
    for _, event in _events(trace, ev.Forged):
        whom = made.setdefault(event.process, {}).setdefault(event.message, {})
        names = whom.setdefault(event.receiver, set())
        names.add(event.claimed or event.process)
    liars: dict[str, list[str]] = {}
    for liar, messages in made.items():
        told = [
            f"{message} to {listing(whom)}{_names(liar, set().union(*whom.values()))}"
            for message, whom in messages.items()
        ]
        said = listing(told) if len(told) <= MANY else f"{len(told)} messages of its own making"
        liars.setdefault(said, []).append(liar)
    parts = [
        f"{listing(sorted(who))}, which {'is' if len(who) == 1 else 'are'} Byzantine, sent {said}"
        for said, who in liars.items()
    ]
    silent = [f.process for f in trace.fates if f.faulty == "byzantine" and f.process not in made]
    if silent:
        parts.append(
            f"{listing(silent)}, which {'is' if len(silent) == 1 else 'are'} Byzantine,"
            f" {'sends' if len(silent) == 1 else 'send'} nothing"
        )
    if parts:
        yield f"{'; '.join(parts)}."


def _names(liar: str, names: set[str]) -> str:
    """Describes in whose names a message comes; empty where that is only its sender's own."""
    if names == {liar}:
        return ""
    return f" (in the name{'s' * (len(names) > 1)} of {listing(sorted(names))})"


def _losses(trace: Trace) -> Iterator[str]:
    """Yields messages that were lost before the loop of the execution; :func:`_for_ever` reports
    others."""
    lost: dict[str, list[str]] = {"The network lost": []}
    gone: dict[str, None] = {}
    for step, event in _events(trace, ev.Lost):
        if trace.closing is None or trace.loop is None or step.number <= trace.loop:
            if event.down:
                gone[sentence(event)] = None
                continue
            by = f"{event.by} omitted" if event.by else "The network lost"
            message = f"{event.message} from {event.process} to {event.receiver}"
            lost.setdefault(by, []).append(message)
    if len(gone) > MANY:
        yield f"{len(gone)} messages are lost with the processes that crashed."
    elif gone:
        yield f"{'; '.join(gone)}."
    for by, messages in lost.items():
        if len(messages) > MANY:
            yield f"{by} {len(messages)} messages, the last one {messages[-1]}."
        elif messages:
            shown = [text + times(messages.count(text)) for text in dict.fromkeys(messages)]
            yield f"{by} {listing(shown)}."


def _suspicions(trace: Trace) -> Iterator[str]:
    """Yields false suspicions: detectors that suspected processes which were up."""
    down: set[str] = set()
    wrong: dict[str, list[str]] = {}
    closing = () if trace.closing is None else (trace.closing,)
    for step in (*trace.steps, *closing):
        for event in step.events:
            match event:
                case ev.Crashed():
                    down.add(event.process)
                case ev.Recovered():
                    down.discard(event.process)
                case ev.OracleIndicated(call) if call.name == "suspect" and event.about:
                    if event.about in trace.processes and event.about not in down:
                        wrong.setdefault(event.about, []).append(event.process)
    parts = [f"{listing(dict.fromkeys(by))} suspected {whom}" for whom, by in wrong.items()]
    if len(parts) == 1:
        yield f"{parts[0]}, which had not crashed."
    elif parts:
        yield f"{'; '.join(parts)}; none of these had crashed then."


def _failed_syncs(trace: Trace) -> Iterator[str]:
    """Yields whose syncs failed, and of what."""
    for step, event in _events(trace, ev.SyncFailed):
        yield f"{event.process} failed to sync {event.variables} at step {step.number}."


def _pauses(trace: Trace) -> Iterator[str]:
    """Yields a sentence for each pause: the process, and the step at which it went on."""
    for step, _, who, others in _stops(trace, ev.Paused):
        all_ = (who, *others)
        later = (s.number for s in trace.steps if s.number > step.number and s.process in all_)
        back = next(later, None)
        has = "have" if others else "has"
        went_on = f"and {has} not gone on" if back is None else f"and went on at step {back}"
        together = " together" if others else ""
        yield f"{listing(all_)} paused{together} at step {step.number}, {went_on}."


def _world(trace: Trace) -> Iterator[str]:
    """Yields partitions, cuts and resets, and processes whose timers expired."""
    for _, split in _events(trace, ev.Partitioned):
        yield f"{(said := sentence(split))[:1].upper()}{said[1:]}."
    yield from _cuts(trace)
    for step, reset in _events(trace, ev.Reset):
        ends = f"{reset.first} and {reset.second}"
        yield f"The connection between {ends} was reset at step {step.number}."
    waited: dict[str, list[str]] = defaultdict(list)
    for step, event in _events(trace, ev.TimedOut):
        waited[event.process].append(str(step.number))
    if 0 < len(waited) <= MANY and trace.closing is None:
        times = [
            f"{who} at step{'s' if len(steps) > 1 else ''} {listing(steps)}"
            for who, steps in waited.items()
        ]
        yield f"A timer expired: {listing(times)}."


def _cuts(trace: Trace) -> Iterator[str]:
    """Yields which links are cut, and whether all of them heal."""
    cut = [between(event) for _, event in _events(trace, ev.Cut)]
    if not cut or len(cut) > MANY:
        return
    many = len(cut) > 1
    link = f"The link{'s' if many else ''} {listing(dict.fromkeys(cut))}"
    healed = len(list(_events(trace, ev.CutHealed)))
    later = " and heal later" if many else " and heals later"
    after = later if trace.closing is None and healed == len(cut) else ""
    yield f"{link} {'are' if many else 'is'} cut{after}."


# ---- infinite executions ----------------------------------------------------------------------


def _for_ever(trace: Trace) -> Iterator[str]:
    """Yields what repeats forever, and why that is fair."""
    if trace.loop is None:
        return
    last = trace.steps[-1].number
    if trace.closing is None:
        where = f"After step {last}" if last else "From the start"
        yield f"{where} {_at_rest(trace)}."
        return
    first, until = trace.loop + 1, trace.closing.number
    again = [s for s in (*trace.steps, trace.closing) if s.number >= first]
    active = [p for p in trace.processes if any(lane_of(s) == p for s in again)]
    doing = []
    if active:
        doing.append(f"{listing(active)} {'keeps' if len(active) == 1 else 'keep'} going")
    lost = dict.fromkeys(e.message for s in again for e in s.events if isinstance(e, ev.Lost))
    if lost:
        texts = listing(lost) if len(lost) <= MANY else "messages"
        doing.append(f"{texts} {'gets' if len(lost) == 1 else 'get'} lost again and again")
    elif _all_received(again):
        doing.append("every message that is sent is received")
    doing.append("nothing that must happen is put off forever")
    steps = f"Step {first} repeats" if first == until else f"Steps {first} to {until} repeat"
    yield f"{steps} forever: {', '.join(doing[:-1])}, and {doing[-1]}."


def _at_rest(trace: Trace) -> str:
    """Returns why the execution may stay in its last state forever."""
    if trace.quiescent:
        return "the system is quiescent"
    said = trace.in_transit
    if trace.still_acts or not said:
        return "nothing that happens changes anything any more"
    many = len(said) > 1
    texts = listing(said) if len(said) <= MANY else f"{len(said)} messages"
    rest = f"{texts} {'are' if many else 'is'} in transit and need not arrive"
    return f"no fairness assumption requires another step: {rest}"


def _all_received(steps: list[Step]) -> bool:
    """Returns whether the cycle receives exactly what it sends, and that is something."""
    sent: Counter[tuple[str, str, str]] = Counter()
    received: Counter[tuple[str, str, str]] = Counter()
    for step in steps:
        for event in step.events:
            if isinstance(event, ev.Sent):
                sent.update((event.process, to, event.message) for to in event.receivers)
            elif isinstance(event, ev.Received):
                received[event.sender, event.process, event.message] += 1
    return bool(sent) and sent == received
