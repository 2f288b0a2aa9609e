"""Computes the content of the page of an execution, for its template."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

from checker.diagnostics.english import count
from checker.render.diagram.description import ORDERS
from checker.render.diagram.picture import Picture, picture_of
from checker.render.diagram.rows import Layout
from checker.render.diagram.svg import svg_of
from checker.render.html.timeline import timeline
from checker.render.terminal.explained import smaller
from checker.render.terminal.steps import PERHAPS_MORE, open_after
from checker.results.alternatives import Alternatives
from checker.results.trace import (
    IN_EVERY_RUN,
    LEFT_OUT,
    Counterfactual,
    Explanation,
    FairnessJustification,
    LeftOut,
    Source,
    Step,
    Trace,
)
from checker.words.events import sentence
from checker.words.steps import beside_headline, cut_text, headline

SIGNS = {"holds": "essential", "violated": "replaceable", "unknown": "not known"}

FRAGMENTS = {"a": "step", "b": "other"}
"""The fragment of the page's address that names the selected step of each side."""

FIRST = 6
"""The largest number of counterfactuals that are shown unfolded."""

NAMED = 40
"""The largest number of steps that an entry of the fairness justification names one by one."""


def title(trace: Trace, other: Trace | None = None) -> str:
    """Returns the title of a page, in plain text."""
    about = trace.property_name or "a run"
    said = f"{about}: {trace.header.check} of {_short(trace.header.file)}"
    return said if other is None else f"{said}, beside {other.header.check}"


def viewer(
    trace: Trace,
    side: str,
    name: str = "",
    layout: Layout = "steps",
    alternatives: tuple[Alternatives, ...] = (),
) -> dict[str, Any]:
    """Returns the variables of an execution's template; ``side``: the prefix of element ids."""
    explained = trace.explanation or Explanation()
    steps = trace.every_step
    pictures = _pictures(trace, layout)
    sentences = explained.sentences or (trace.without_definition,)
    return {
        "side": side,
        "fragment": FRAGMENTS[side],
        "name": name or "A run",
        "property": trace.property_name,
        "word": trace.word,
        "sign": "✗ " if trace.word in ("violated", "error") else "",
        "where": _where(trace),
        "lead": with_code(as_sentence(sentences[0])),
        "more": [with_code(said) for said in sentences[1:]],
        "definition": trace.definition,
        "defined": _defined(trace),
        "hides": trace.origin.hides if trace.origin is not None else "",
        "ablations": _ablations(explained),
        "smaller": smaller(explained),
        "note": as_sentence(explained.note),
        "explained": trace.explanation is not None,
        "svgs": [
            Markup(svg_of(each, title_id=f"{side}-picture", prefix=f"{side}-{each.layout}-"))
            for each in pictures
        ],
        "layout": layout,
        "processes": trace.processes,
        "orders": [(each.layout, ORDERS[each.layout]) for each in pictures],
        "width": round(pictures[0].width),
        "caption": _caption(trace),
        "steps": [_step(step, trace, explained) for step in steps],
        "last": steps[-1].number,
        "has_context": bool(explained.context),
        "context": len(explained.context),
        "sources": [_source(s) for s in trace.header.sources],
        "timeline": timeline(trace),
        "loop": loop_words(trace),
        "ledger": [_justification_data(entry, trace) for entry in trace.ledger],
        "ending": ending(trace),
        "alternatives": any(each.ways for each in alternatives),
    }


def _pictures(trace: Trace, layout: Layout) -> list[Picture]:
    """Returns the picture in that layout, and in the other one where that differs."""
    first = picture_of(trace, layout)
    other = picture_of(trace, "causality" if layout == "steps" else "steps")
    same = [(m.step, m.y) for m in first.marks] == [(m.step, m.y) for m in other.marks]
    return [first] if same else [first, other]


def short_file_name(file: str) -> str:
    """Returns a file's name with that of its folder."""
    return "/".join(file.replace("\\", "/").split("/")[-2:])


def _short(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _where(trace: Trace) -> str:
    header = trace.header
    sizes = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    fine = "every effect a separate step" if header.fine_steps else ""
    parts = [f"{short_file_name(header.file)}::{header.check}", sizes, fine]
    return " · ".join(part for part in parts if part)


def _defined(trace: Trace) -> str:
    """Returns where the property comes from."""
    if trace.origin is not None and trace.origin.source:
        return trace.origin.text
    return "" if trace.at is None else f"{short_file_name(trace.at.file)}:{trace.at.line}"


def _ablations(explained: Explanation) -> dict[str, Any]:
    """Returns the counterfactuals, the decisive ones first.

    ``saving``: the faults without which the property would hold; ``more``: those that are folded
    away, with all whose result is not known.
    """
    rank = {"holds": 0, "unknown": 2}
    order = sorted(
        explained.ablations, key=lambda a: (rank.get(a.outcome, 1), LEFT_OUT.index(a.kind))
    )
    saving = [a for a in order if a.outcome == "holds" and a.kind != "message"]
    together = [kind for kind in LEFT_OUT if _no_single_matters(explained, kind)]
    others = [a for a in order if a not in saving and a.kind not in together]
    first = [a for a in others if a.outcome in ("holds", "violated")][:FIRST]
    return {
        "saving": [ablation(a) for a in saving],
        "first": [*(ablation(a) for a in first), *map(_none_matters, together)],
        "more": [ablation(a) for a in others if a not in first],
    }


def _no_single_matters(explained: Explanation, kind: LeftOut) -> bool:
    """Returns whether there are several faults or messages, and other executions violate the
    property without each of them."""
    outcomes = [a.outcome for a in explained.ablations if a.kind == kind]
    return len(outcomes) > 1 and set(outcomes) == {"violated"}


def _none_matters(kind: LeftOut) -> dict[str, Any]:
    """Returns the line that stands for all faults or messages, none of which matters."""
    text = (
        f"No single {kind} matters: other executions violate the property without any one of them."
    )
    return {"sign": SIGNS["violated"], "outcome": "violated", "text": text, "step": None}


def ablation(found: Counterfactual) -> dict[str, Any]:
    """Returns the line on the result without a fault or a message of the execution."""
    what = f"the message {found.what}" if found.kind == "message" else found.what
    match found.outcome:
        case "holds":
            text = f"Without {what} the property would hold."
        case "violated":
            took = "" if found.steps is None else f", in {count(found.steps, 'step')}"
            text = f"Another execution violates the property without {what}{took}."
        case _:
            why = f" ({found.why})" if found.why else ""
            always = found.why == IN_EVERY_RUN
            text = f"Without {what}: {'not applicable' if always else 'not known'}{why}."
    sign = SIGNS.get(found.outcome, SIGNS["unknown"])
    return {"sign": sign, "outcome": found.outcome, "text": text, "step": found.step}


def with_code(said: str) -> Markup:
    """Marks up ``said``, with what stands between backquotes as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(said))))


def as_sentence(said: str) -> str:
    """Returns ``said`` with a full stop and, unless it begins with a process, a capital letter."""
    if not said:
        return ""
    begins = said.split()[0]
    first = begins.capitalize() if begins.isalpha() and begins.islower() else begins
    return first + said[len(begins) :] + ("" if said.endswith((".", "!", "?")) else ".")


def _caption(trace: Trace) -> str:
    rounds = " The steps in the box repeat forever." if trace.closing is not None else ""
    return (
        "An arrow is a message, from where it is sent to where it is received."
        f"{rounds} Click a symbol to go to that moment."
    )


def _step(step: Step, trace: Trace, explained: Explanation) -> dict[str, Any]:
    return {
        "number": step.number,
        "headline": headline(step),
        "kind": step.kind,
        "also": _also(step),
        "open": (open_ := open_after(trace, step.number).strip()),
        "of_open": PERHAPS_MORE if "?" in open_ else "",
        "context": step.number in explained.context,
        "looped": trace.closing is not None and trace.loop is not None and step.number > trace.loop,
    }


def _also(step: Step) -> str:
    """Describes what happens in a step besides its headline; empty where that is all."""
    return "; ".join([*map(sentence, beside_headline(step)), *map(cut_text, step.cut)])


def _source(source: Source) -> dict[str, Any]:
    return {
        "file": short_file_name(source.file),
        "lines": source.text.splitlines(),
        "shipped": source.shipped,
    }


def ending(trace: Trace) -> str:
    """Describes how the execution ends, in a sentence; empty for one that is merely truncated."""
    if trace.failure is not None:
        return f"The run ends with an error: {trace.failure.message}"
    if trace.closing is not None or (trace.loop is not None and trace.ledger):
        return loop_words(trace)
    if trace.ends:
        return "The run is over: no fairness assumption requires another step."
    return ""


def loop_words(trace: Trace) -> str:
    """Describes the cycle in a sentence; empty where there is none."""
    if trace.closing is None:
        return "The run stays in its last state forever." if trace.ledger else ""
    first, last = (trace.loop or 0) + 1, trace.length
    what = f"step {first} repeats" if first == last else f"steps {first} to {last} repeat"
    return f"From step {first} on the run repeats forever: {what}."


def _justification_data(entry: FairnessJustification, trace: Trace) -> dict[str, Any]:
    idle = trace.closing is None
    match entry.how:
        case "taken" if not entry.steps:
            how = "it happens again and again without changing the state"
        case "taken":
            how = "it happens in"
        case "disabled" if entry.kind == "strong":
            how = "it is never possible in the loop"
        case "disabled":
            how = "it is not always possible: not after"
        case _ if idle:
            how = "so it is at the end"
        case _:
            how = "so it is after"
    plain = idle or (entry.how == "disabled" and entry.kind == "strong")
    steps = () if plain else entry.steps
    return {
        "text": entry.text,
        "how": how,
        "steps": [{"text": str(n), "step": n} for n in steps[:NAMED]],
        "more": max(len(steps) - NAMED, 0),
    }
