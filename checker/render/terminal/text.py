"""Renders a trace as terminal text: the events, their outcome, and the reason for it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from checker.diagnostics.english import count, listing
from checker.records import replace
from checker.render.diagram.rows import Layout
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.explained import ablations_view, size_text
from checker.render.terminal.lasso import fairness_view, repeating
from checker.render.terminal.selection import Shown
from checker.render.terminal.source import coloured_lines
from checker.render.terminal.spacetime import spacetime
from checker.render.terminal.steps import LABEL, headline_list, step_list
from checker.results.causality import causality
from checker.results.events import Performed
from checker.results.trace import FAULTY, Copies, ProcessOutcome, Trace
from checker.words.wrappers import fold_wrappers

SAME = "(never received: the same as if the crash had kept it from being sent)"


def trace_view(
    trace: Trace,
    steps: bool = False,
    replayed: bool = True,
    others: tuple[Trace, ...] = (),
    layout: Layout = "steps",
    shown: Shown | None = None,
) -> RenderableType:
    """Renders the whole trace: what is violated and how it came about in sentences, the execution
    as a diagram, then the outcome of processes and messages, and the counterfactuals.

    ``steps``: with all steps and what they change, one by one.  ``replayed``: the execution has
    been replayed just now; otherwise the document was not checked, and the text says so.
    ``others``: traces with the same execution, which violates their properties as well.
    ``layout``: the order of rows in the diagram; ``shown``: what of it is drawn, otherwise all.
    """
    parts: list[RenderableType] = [_claims(trace, others), spacetime(trace, layout, shown)]
    if steps:
        parts.append(step_list(trace))
    ends = (
        _failure(trace),
        fairness_view(trace),
        _fates(trace),
        _copies(trace),
        _in_flight(trace) if steps else None,
        ablations_view(trace),
        _about(trace, replayed),
    )
    parts += [part for part in ends if part is not None]
    return stack(parts)


def explain_view(trace: Trace, steps: bool = False, layout: Layout = "steps") -> RenderableType:
    """Renders why an execution violates its property: what :func:`trace_view` does, but what is
    essential to it, and its size, stand before the diagram."""
    heading = Text(f"Why {trace.property_name} fails", style="bold underline")
    size = size_text(trace)
    parts = (
        Group(heading, _claims(trace, ())),
        ablations_view(trace),
        Text(size) if size else None,
        spacetime(trace, layout),
        step_list(trace) if steps else None,
        _failure(trace),
        fairness_view(trace),
        _fates(trace),
        _about(replace(trace, explanation=None), replayed=True),
    )
    return stack([part for part in parts if part is not None])


def replay_view(trace: Trace, steps: bool = False) -> RenderableType:
    """Renders an execution that has been replayed: that it was accepted, and its steps as a list,
    with ``steps`` everything that they change."""
    accepted = f"Replayed: the interpreter accepts {_all_steps(trace)}"
    if trace.property_name:
        accepted += f", and {trace.property_name} is {trace.word}"
    parts = (
        Group(Text(accepted, style="bold green"), _claims(trace, ())),
        step_list(trace) if steps else headline_list(trace),
        _failure(trace),
        fairness_view(trace),
        _fates(trace),
        _about(trace, replayed=True),
    )
    return stack([part for part in parts if part is not None])


def _all_steps(trace: Trace) -> str:
    match trace.length:
        case 0:
            return "the initial state"
        case 1:
            return "its step"
        case number:
            return f"all {number:,} steps"


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
        lines = coloured_lines(source.text)
        margin = len(str(len(lines)))
        rows = [
            (Text(f"{number:>{margin}}", style="dim"), line)
            for number, line in enumerate(lines, start=1)
        ]
        parts.append(Group(Text(source.file + tool, style="bold"), pairs(rows, 0, margin)))
    return stack(parts) if parts else Text("The document does not contain its spec.")


def _claims(trace: Trace, others: tuple[Trace, ...]) -> RenderableType:
    """Renders each violated property with what is violated in sentences, and its definition."""
    parts: list[RenderableType] = [_title(trace), _sentences(trace), *_definition(trace)]
    for other in others:
        parts += [_title(other, "by the same run"), _sentences(other, trace), *_definition(other)]
    return Group(*parts)


def _definition(trace: Trace) -> Iterator[RenderableType]:
    if trace.definition:
        means = Text(" ".join(trace.definition.split()))
        yield pairs([(Text("means", style="dim"), means)], 2, 5)


def _about(trace: Trace, replayed: bool) -> RenderableType:
    """Renders the values for which the property is violated, and where the execution is from."""
    header = trace.header
    where = f"{header.file}::{header.check}" if header.check else header.file
    sizes = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    rows = []
    if trace.explanation is not None and trace.explanation.sentences:
        rows.append(("what", trace.without_definition))
    rows.append(("where", f"{where} ({sizes})" if sizes else where))
    rows.append(("how", _how(trace, replayed)))
    if size := size_text(trace):
        rows.append(("size", size))
    return pairs([(Text(name, style="dim"), Text(said)) for name, said in rows], 0, 5)


def _title(trace: Trace, more: str = "") -> Text:
    if not trace.property_name:
        return Text("A run", style="bold")
    title = Text(trace.property_name, style="bold")
    title.append(": ")
    title.append(trace.word.upper(), style="bold red")
    if more:
        title.append(f", {more}", style="not bold")
    return title


def _how(trace: Trace, replayed: bool) -> str:
    steps = "in the initial state" if trace.length == 0 else f"in {count(trace.length, 'step')}"
    if trace.closing is not None:
        steps += f" ({repeating(trace)} forever)"
    fine = ", fine steps" if trace.header.fine_steps else ""
    if trace.is_recorded:
        return f"{count(trace.length, 'event')}, as they stand in the log; others are left out"
    if replayed and not trace.property_name:
        return f"{steps}{fine}"
    trust = "accepted by an independent replay" if replayed else "as recorded in the trace file"
    return f"{steps}{fine}, {trust}"


def _failure(trace: Trace) -> RenderableType | None:
    failure = trace.failure
    if failure is None:
        return None
    title = Text("then a run-time error", style="bold red")
    rows = [(Text("what", style="dim"), Text(f"{failure.message} ({failure.code})"))]
    if failure.during:
        rows.append((Text("during", style="dim"), Text(failure.during)))
    if failure.file:
        at = f"{failure.file}:{failure.line}:{failure.column}"
        rows.append((Text("at", style="dim"), Text(at)))
    return Group(title, pairs(rows, 2, LABEL))


def _fates(trace: Trace) -> RenderableType | None:
    """Returns what each process indicated and performed; ``None`` where nobody did in an execution
    that may go on: what never happened matters in a whole one only."""
    may_go_on = not trace.ends and trace.loop is None
    told = any(fate.deliveries for fate in trace.fates)
    if not told and (may_go_on or not trace.lacking):
        return None
    rows = []
    for fate in trace.fates:
        text = Text(_deliveries_text(fate))
        faults = _faults(fate)
        text.append(f"  ({faults or 'correct'})", style="red" if faults else "dim")
        rows.append((Text(fate.process, style="bold"), text))
    width = max((len(p) for p in trace.processes), default=1)
    performs = any(isinstance(e, Performed) for step in trace.every_step for e in step.events)
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
    trace, _ = fold_wrappers(trace)
    crashed = {fate.process for fate in trace.fates if fate.crashed}
    arrived = {(a.sent, a.message, a.receiver): a.ended for a in causality(trace).arrows}
    for copies in trace.copies:
        name = Text(f"{copies.sender}: {copies.message}", style="bold")
        rows.append((name, Text(_copies_text(copies, crashed, arrived))))
    if not rows:
        return None
    width = min(max(len(name) for name, _ in rows), 28)
    title = Text("Messages of crashed processes", style="bold")
    parts: list[RenderableType] = [title, pairs(rows, 2, width)]
    if any(copies.missing for copies in trace.copies) and not trace.header.fine_steps:
        parts.append(Text(f"  {SAME}", style="dim"))
    return Group(*parts)


def _copies_text(
    copies: Copies, crashed: set[str], arrived: dict[tuple[int | None, str, str], int | None]
) -> str:
    """Returns who received a message, and ``arrived`` in which step, and who never did."""
    steps = {to: arrived.get((copies.step, copies.message, to)) for to in copies.received}
    received = listing([to + (f" in step {at}" if at else "") for to, at in steps.items()])
    sent = f" (sent in step {copies.step})"
    missing = listing([f"{p} (crashed)" if p in crashed else p for p in copies.missing])
    if not missing:
        return f"reached {received}{sent}"
    if not received:
        whom = missing if len(copies.missing) == 1 else f"any of {missing}"
        return f"never reached {whom}{sent}"
    some = "the copy" if len(copies.missing) == 1 else "the copies"
    return f"reached {received}; {some} to {missing} did not arrive{sent}"


def _in_flight(trace: Trace) -> RenderableType | None:
    if not trace.in_flight:
        return None
    lines = [Text(f"  {message.text}") for message in trace.in_flight]
    title = "Still in transit at the end"
    if trace.closing is not None:
        title = "In transit forever from then on"
    if trace.ends:
        title += " (no fairness assumption makes them arrive)"
    return Group(Text(title, style="bold"), *lines)


def _sentences(trace: Trace, before: Trace | None = None) -> Text:
    """Returns what is violated, how it came about and how the execution ends; of a trace with the
    same execution as ``before`` only what was not said of that."""
    explained = trace.explanation.sentences if trace.explanation is not None else ()
    first, *more = explained or (f"{trace.without_definition}.",)
    known = before.explanation.sentences if before is not None and before.explanation else ()
    said = Text(first, style="bold")
    for sentence in more:
        if sentence not in known:
            said.append(f"\n{sentence}", style="not bold")
    if not explained and before is None and (ending := _ending(trace)):
        said.append(f"\n{ending}", style="not bold dim")
    return said


def _ending(trace: Trace) -> str:
    """Returns how the execution ends, of which there is no explanation that says so."""
    if trace.still_acts:
        return "The run stays like this forever, as the world allows."
    if trace.ends:
        return "The run is over: no fairness assumption requires another step."
    if trace.closing is not None:
        return "The run repeats like this forever, as the world allows."
    if trace.failure is None:
        whatever = "; whatever follows, the violation has occurred" if trace.property_name else ""
        return f"The run may go on{whatever}."
    return ""
