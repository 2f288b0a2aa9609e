"""Converts a trace into a Mermaid sequence diagram, for pages that draw such diagrams themselves.

A message is drawn where it is received or lost, since Mermaid's arrows are horizontal: the number
of the step that sent it stands in front of it where another step was in between.  An operation
is an activation of its process, from its call to its return.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from checker.diagnostics.visible import visible
from checker.render.diagram.operations import text_of_indication
from checker.render.diagram.words import ends_of, sentences_of
from checker.results import events as ev
from checker.results.causality import Arrow, CopyOutcome, causality
from checker.results.trace import NO_HANDLER, Step, Trace
from checker.words.events import assignment, back_up, sentence, stops
from checker.words.wrappers import fold_wrappers

SPECIAL = {
    "#": "#35;",
    ";": "#59;",
    ":": "#58;",
    "<": "#lt;",
    ">": "#gt;",
    "&": "#amp;",
    '"': "#quot;",
    "%": "#37;",
    "{": "#123;",
    "}": "#125;",
    "\\": "#92;",
}
"""Mermaid's special characters; it shows the entity as the character."""

RESERVED = "end"
"""A word that ends a block wherever it stands alone."""


def mermaid_of(trace: Trace) -> str:
    """Returns ``trace`` as the text of a ``sequenceDiagram``, with a newline at its end."""
    return "\n".join(_Diagram(trace).lines()) + "\n"


def escape(text: str) -> str:
    """Escapes ``text`` so that Mermaid shows it literally."""
    shown = "".join(SPECIAL.get(c, c) for c in " ".join(visible(text).split()))
    words = ("e#110;d" if word.lower() == RESERVED else word for word in shown.split(" "))
    return " ".join(words)


class _Diagram:
    def __init__(self, trace: Trace) -> None:
        trace, self._wrappers = fold_wrappers(trace)
        self._trace = trace
        self._found = causality(trace)
        self._names = {p: f"P{i}" for i, p in enumerate(trace.processes)}
        self._ending: dict[int, list[Arrow]] = defaultdict(list)
        self._missing: dict[int, list[Arrow]] = defaultdict(list)
        for arrow in self._found.arrows:
            if arrow.ended is not None:
                self._ending[arrow.ended].append(arrow)
            elif arrow.how is CopyOutcome.MISSED and arrow.sent is not None:
                self._missing[arrow.sent].append(arrow)

    def lines(self) -> Iterator[str]:
        """Yields the lines of the diagram."""
        trace = self._trace
        yield "sequenceDiagram"
        for process, name in self._names.items():
            yield f"    participant {name} as {escape(process)}"
        yield from (self._over_all(said, "    ") for said in self._wrappers)
        loop = trace.length if trace.loop is None else trace.loop
        for step in self._found.steps[: loop + 1]:
            yield from self._step(step, "    ")
        again = self._found.steps[loop + 1 :]
        if again:
            yield "    loop repeats forever"
            body = [line for step in again for line in self._step(step, "        ")]
            yield from body or [self._over_all("nothing visible happens", "        ")]
            yield "    end"
        for arrow in self._found.arrows:
            if arrow.how is CopyOutcome.COUNTED and arrow.sender != arrow.receiver:
                yield self._arrow(arrow, "-)", arrow.message, "    ")
            elif arrow.how is CopyOutcome.UNDER_WAY:
                said = f"{arrow.message} (still in transit)"
                yield self._arrow(arrow, "--)", said, "    ")
        yield self._over_all(f"{' '.join(sentences_of(trace)[:1])} ({ends_of(trace)})", "    ")

    def _step(self, step: Step, indent: str) -> Iterator[str]:
        for arrow in self._ending[step.number]:
            yield self._arrow_end(arrow, step, indent)
        for operation in self._trace.operations:
            if operation.called == step.number:
                yield f"{indent}activate {self._names[operation.process]}"
        for event in step.events:
            said = self._text(step, event)
            if said and event.process in self._names:
                yield self._note(event.process, said, indent)
            elif said and not event.process:
                yield self._over_all(said, indent)
        for operation in self._trace.operations:
            if operation.returned == step.number:
                yield f"{indent}deactivate {self._names[operation.process]}"
        if step.untaken in self._names:
            yield self._note(step.untaken, NO_HANDLER, indent)
        gone = [_cut(event) for event in step.cut]
        if gone and step.process in self._names:
            yield self._note(step.process, f"cut off: {', '.join(gone)}", indent)
        groups: dict[tuple[int, str, str], list[str]] = defaultdict(list)
        for arrow in self._missing[step.number]:
            if arrow.receiver != arrow.sender:
                groups[arrow.multicast, arrow.sender, arrow.message].append(arrow.receiver)
        for (_, sender, message), receivers in groups.items():
            said = f"{message} never reaches {', '.join(receivers)}"
            yield self._note(sender, said, indent)

    def _arrow_end(self, arrow: Arrow, step: Step, indent: str) -> str:
        late = arrow.sent not in (None, step.number, step.number - 1)
        said = f"{arrow.message} (sent in step {arrow.sent})" if late else arrow.message
        match arrow.how:
            case CopyOutcome.LOST:
                return self._arrow(arrow, "-x", f"{said}, lost", indent)
            case CopyOutcome.FORGED:
                return self._arrow(arrow, "--)", f"{said}, forged", indent)
            case _:
                return self._arrow(arrow, "-)", said, indent)

    def _arrow(self, arrow: Arrow, line: str, said: str, indent: str) -> str:
        ends = self._names[arrow.sender], self._names[arrow.receiver]
        return f"{indent}{ends[0]}{line}{ends[1]}: {escape(said)}"

    def _text(self, step: Step, event: ev.Event) -> str:
        """Returns a note on an event; empty where an arrow shows it, or it is not shown at all."""
        match event:
            case ev.Requested(call) if call.outermost:
                return str(call)
            case ev.Indicated(call) if call.outermost:
                return text_of_indication(self._trace, step.number, event)
            case ev.Crashed():
                return stops(event)
            case ev.Recovered():
                return f"comes {', '.join(back_up(event))}"
            case ev.Paused():
                return "pauses"
            case ev.Resumed():
                return "goes on"
            case ev.Disconnected(peer):
                return f"disconnected from {peer}"
            case ev.Performed(act):
                return f"performs {act}"
            case ev.Stored():
                return f"stores {assignment(event)}"
            case ev.AlternativeTaken(alternative):
                return alternative
            case ev.Synced() | ev.SyncFailed():
                return sentence(event).removeprefix(f"{event.process} ")
            case ev.Left():
                return f"is left with {assignment(event)}"
            case ev.TimedOut(timer):
                return f"timeout {timer}".strip()
            case ev.Chosen() | ev.Drawn() if event.process:
                return assignment(event)
            case ev.Chosen() | ev.Drawn() | ev.OracleIndicated() | ev.World():
                return sentence(event)
            case _:
                return ""

    def _note(self, process: str, said: str, indent: str) -> str:
        return f"{indent}Note over {self._names[process]}: {escape(said)}"

    def _over_all(self, said: str, indent: str) -> str:
        names = list(self._names.values())
        ends = names[0] if len(names) == 1 else f"{names[0]},{names[-1]}"
        return f"{indent}Note over {ends}: {escape(said)}"


def _cut(event: ev.Effect) -> str:
    """Returns the effect that a crash cut off."""
    match event:
        case ev.Sent(message) | ev.CopyLeft(message):
            return f"{message} to {', '.join(ev.peers_of(event))}"
        case ev.Indicated(call):
            return str(call)
        case ev.Performed(act):
            return act
        case ev.Stored():
            return assignment(event)
        case ev.Synced(variables):
            return f"sync {variables}"
