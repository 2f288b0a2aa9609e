"""Renders a trace as terminal text: the events, their outcome, and the reason for it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.render.diagram.rows import Layout
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.explained import ablations_view, smaller_view
from checker.render.terminal.lasso import fairness_view, repeating, still_acts
from checker.render.terminal.selection import Shown
from checker.render.terminal.spacetime import spacetime
from checker.render.terminal.steps import LABEL, step_list
from checker.results.trace import FAULTY, Copies, ProcessOutcome, Trace

SAME = "(never received: the same as if the crash had kept it from being sent)"


def trace_view(
    trace: Trace,
    steps: bool = False,
    replayed: bool = True,
    others: tuple[Trace, ...] = (),
    layout: Layout = "steps",
    shown: Shown | None = None,
) -> RenderableType:
    """Renders the whole trace: the violated property, the execution as a diagram, the outcome of
    processes and messages, the counterfactuals, and last the verdict in sentences.

    ``steps``: with all steps and what they change, one by one.  ``replayed``: the execution has
    been replayed just now; otherwise the document was not checked, and the text says so.
    ``others``: traces with the same execution, which violates their properties as well.
    ``layout``: the order of rows in the diagram; ``shown``: what of it is drawn, otherwise all.
    """
    parts: list[RenderableType] = [_header(trace, replayed)]
    parts += [_also_violated(other) for other in others]
    parts.append(spacetime(trace, layout, shown))
    if steps:
        parts.append(step_list(trace))
    if trace.failure is not None:
        parts.append(_failure(trace))
    ends = (
        fairness_view(trace),
        _fates(trace),
        _copies(trace),
        _in_flight(trace) if steps else None,
        ablations_view(trace),
        smaller_view(trace),
    )
    parts += [part for part in ends if part is not None]
    parts.append(_closing(trace, others))
    return stack(parts)


def same_run(one: Trace, other: Trace) -> bool:
    """Returns whether two traces of one check have the same states, and the same cycle."""
    states = [step.state for step in one.steps], one.loop if one.closing else None
    others = [step.state for step in other.steps], other.loop if other.closing else None
    whole = one.failure is None and other.failure is None
    return whole and states == others and one.header == other.header


def source_view(trace: Trace) -> RenderableType:
    """Renders the spec files that ``trace`` was made from, as they were, with numbered lines."""
    parts: list[RenderableType] = []
    for source in trace.header.sources:
        tool = " (comes with the tool)" if source.shipped else ""
        lines = source.text.splitlines()
        margin = len(str(len(lines)))
        rows = [
            (Text(f"{number:>{margin}}", style="dim"), Text(line.expandtabs(2)))
            for number, line in enumerate(lines, start=1)
        ]
        parts.append(Group(Text(source.file + tool, style="bold"), pairs(rows, 0, margin)))
    return stack(parts) if parts else Text("The document has no text of its spec.")


def _header(trace: Trace, replayed: bool) -> RenderableType:
    header = trace.header
    where = f"{header.file}::{header.check}" if header.check else header.file
    sizes = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    rows = [
        *_claim_rows(trace),
        (Text("where", style="dim"), Text(f"{where} ({sizes})" if sizes else where)),
        (Text("how", style="dim"), Text(_how(trace, replayed))),
    ]
    return Group(_title(trace), pairs(rows, 2, 5))


def _also_violated(trace: Trace) -> RenderableType:
    """Renders that the same execution violates another property."""
    return Group(_title(trace, "by the same run"), pairs(_claim_rows(trace), 2, 5))


def _title(trace: Trace, more: str = "") -> Text:
    if not trace.property_name:
        return Text("A run", style="bold")
    title = Text(trace.property_name, style="bold")
    title.append(": ")
    title.append(trace.word.upper(), style="bold red")
    if more:
        title.append(f", {more}", style="not bold")
    return title


def _claim_rows(trace: Trace) -> list[tuple[Text, Text]]:
    rows = [(Text("what", style="dim"), Text(_what(trace)))]
    if trace.definition:
        rows.append((Text("means", style="dim"), Text(" ".join(trace.definition.split()))))
    return rows


def _what(trace: Trace) -> str:
    """Returns the sentence without the definition, which has a line of its own."""
    definition = " ".join(trace.definition.split())
    if definition and trace.sentence.endswith(f": {definition}"):
        return trace.sentence[: -len(definition) - 2]
    return trace.sentence


def _how(trace: Trace, replayed: bool) -> str:
    steps = "in the initial state" if trace.length == 0 else f"in {count(trace.length, 'step')}"
    if trace.closing is not None:
        steps += f" ({repeating(trace)} forever)"
    fine = ", fine steps" if trace.header.fine_steps else ""
    if replayed and not trace.property_name:
        return f"{steps}{fine}"
    trust = "accepted by an independent replay" if replayed else "as the document says"
    return f"{steps}{fine}, {trust}"


def _failure(trace: Trace) -> RenderableType:
    failure = trace.failure
    assert failure is not None
    title = Text("then an error of the run", style="bold red")
    rows = [(Text("what", style="dim"), Text(f"{failure.message} ({failure.code})"))]
    if failure.during:
        rows.append((Text("during", style="dim"), Text(failure.during)))
    if failure.file:
        at = f"{failure.file}:{failure.line}:{failure.column}"
        rows.append((Text("at", style="dim"), Text(at)))
    return Group(title, pairs(rows, 2, LABEL))


def _fates(trace: Trace) -> RenderableType:
    rows = []
    for fate in trace.fates:
        text = Text(_deliveries_text(fate))
        faults = _faults(fate)
        text.append(f"  ({faults or 'correct'})", style="red" if faults else "dim")
        rows.append((Text(fate.process, style="bold"), text))
    width = max((len(p) for p in trace.processes), default=1)
    performs = any(d.startswith("perform ") for f in trace.fates for d in f.deliveries)
    did = "indicated and performed" if performs else "indicated"
    return Group(Text(f"What each process {did}, in order", style="bold"), pairs(rows, 2, width))


def _deliveries_text(fate: ProcessOutcome) -> str:
    if not fate.again:
        return listing(fate.deliveries) or "nothing"
    before = fate.deliveries[: len(fate.deliveries) - len(fate.again)]
    return f"{listing(before)}{', then ' if before else ''}forever again {listing(fate.again)}"


def _faults(fate: ProcessOutcome) -> str:
    """Describes the faults of a process; empty where it is correct."""
    found = [FAULTY[fate.faulty]] if fate.faulty else []
    if fate.crashed:
        found.append("crashed")
    elif fate.recovered:
        found.append("crashed and came back up")
    return ", ".join(found)


def _copies(trace: Trace) -> RenderableType | None:
    rows = []
    crashed = {fate.process for fate in trace.fates if fate.crashed}
    for copies in trace.copies:
        name = Text(f"{copies.sender}: {copies.message}", style="bold")
        rows.append((name, Text(f"{_copies_text(copies, crashed)} (step {copies.step})")))
    if not rows:
        return None
    width = min(max(len(name) for name, _ in rows), 28)
    title = Text("Messages of crashed processes", style="bold")
    parts: list[RenderableType] = [title, pairs(rows, 2, width)]
    if any(copies.missing for copies in trace.copies) and not trace.header.fine_steps:
        parts.append(Text(f"  {SAME}", style="dim"))
    return Group(*parts)


def _copies_text(copies: Copies, crashed: set[str]) -> str:
    received = listing(copies.received)
    missing = listing([f"{p} (crashed)" if p in crashed else p for p in copies.missing])
    if not missing:
        return f"got out to {received}"
    if not received:
        return "never reached " + (missing if len(copies.missing) == 1 else f"any of {missing}")
    some = "the copy" if len(copies.missing) == 1 else "the copies"
    return f"got out to {received}; {some} to {missing} did not"


def _in_flight(trace: Trace) -> RenderableType | None:
    if not trace.in_flight:
        return None
    lines = [Text(f"  {message.text}") for message in trace.in_flight]
    title = "Still on the way at the end"
    if trace.closing is not None:
        title = "On the way all the time from then on"
    if trace.ends:
        title += " (no fairness assumption makes them arrive)"
    return Group(Text(title, style="bold"), *lines)


def _closing(trace: Trace, others: tuple[Trace, ...]) -> RenderableType:
    closing, said = Text(), set[str]()
    for each in (trace, *others):
        sentences = each.explanation.sentences if each.explanation is not None else ()
        first, *more = sentences or (_what(each) + ".",)
        closing.append(f"{first}\n", style="bold")
        for sentence in more:
            if sentence not in said:
                closing.append(f"{sentence}\n")
        said.update(more)
    if trace.explanation is not None and trace.explanation.sentences:
        pass  # they describe how the execution ends
    elif still_acts(trace):
        closing.append("The run stays like this forever, as the world allows.", "dim")
    elif trace.ends:
        closing.append("The run is over: no fairness assumption requires another step.", "dim")
    elif trace.closing is not None:
        closing.append("The run repeats like this forever, as the world allows.", "dim")
    elif trace.failure is None:
        whatever = "; whatever happens, this has happened" if trace.property_name else ""
        closing.append(f"The run may go on{whatever}.", "dim")
    closing.rstrip()
    return closing
