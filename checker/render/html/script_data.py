"""Converts an execution into JSON for the script of its page."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from checker.diagnostics.visible import json_text
from checker.render.diagram.words import arrivals_of
from checker.render.html.alternatives import alternatives_data, kind_in_script
from checker.render.html.state import states_of
from checker.render.html.timeline import truths_of
from checker.results.alternatives import Alternatives
from checker.results.causality import Arrow, Causality, CopyOutcome, causality
from checker.results.events import At, Event, Received
from checker.results.trace import Failure, Step, Trace
from checker.words.events import sentence
from checker.words.steps import headline

FAULTY = {"byzantine": "Byzantine", "omitting": "omits", "foreseen": "will crash"}
"""The label beside the name of a faulty process."""


def data_of(trace: Trace, alternatives: tuple[Alternatives, ...] = ()) -> dict[str, Any]:
    """Returns ``trace`` for the script: texts are ready to be shown, states are given by the
    changes of each step.  ``alternatives``: those to each step.

    Keys are short where there is one for each step: ``h`` headline, ``k`` kind, ``p`` process,
    ``e`` events and ``c`` those that a crash cut off (sentence, kind, place), ``d`` changes of
    cells (its place, the texts before and after, and 1 where a crash forgets it).
    """
    states = states_of(trace, (way.step for each in alternatives for way in each.ways))
    found = causality(trace)
    ended: dict[int | None, list[Arrow]] = defaultdict(list)
    for arrow in found.arrows:
        ended[arrow.ended].append(arrow)
    files = [source.file for source in trace.header.sources]
    explained = trace.explanation
    return {
        "processes": list(trace.processes),
        "faulty": {f.process: FAULTY.get(f.faulty, f.faulty) for f in trace.fates if f.faulty},
        "steps": [
            {
                "h": headline(step),
                "k": step.kind,
                "p": step.process,
                "e": [
                    *(_event(e, files) for e in step.events),
                    *([said, "receive", "", None] for said in _counted(step, ended[step.number])),
                ],
                "c": [_event(e, files) for e in step.cut],
                "d": [[d.cell, d.before, d.after, *[1] * d.forgotten] for d in deltas],
            }
            for step, deltas in zip(found.steps, states.deltas, strict=True)
        ],
        "cells": [[c.title, c.kind, c.process, c.text, c.row] for c in states.cells],
        "sent": [_copy(arrow) for arrow in found.arrows if _leaves(arrow, found)],
        "failure": None if trace.failure is None else _failure_event(trace.failure, files),
        "failing": trace.failing is not None,
        "loop": trace.loop,
        "closing": trace.closing is not None,
        "context": [] if explained is None else list(explained.context),
        **alternatives_data(alternatives, states),
        "claims": [] if explained is None else [_bits(t) for t in truths_of(explained.claims)],
    }


def as_script(document: object) -> str:
    """Returns ``document`` as JSON that can stand inside a ``<script>`` element."""
    text = json_text(document, None)
    return text.replace("<", "\\u003c")


def _event(event: Event, files: list[str]) -> list[Any]:
    return [sentence(event), kind_in_script(event), event.process, _place(event.at, files)]


def _counted(step: Step, ended: list[Arrow]) -> list[str]:
    """Describes the messages that were counted as they were sent, and matter from ``step`` on."""
    received = {(e.process, e.message) for e in step.events if isinstance(e, Received)}
    return arrivals_of(step, [a for a in ended if (a.receiver, a.message) not in received])


def _failure_event(failure: Failure, files: list[str]) -> list[Any]:
    """Returns the error that ends the execution, as an event of its last step."""
    at = At(failure.file, failure.line, failure.column)
    during = f" (in {failure.during})" if failure.during else ""
    return [f"{failure.message}{during}", "failure", "", _place(at, files)]


def _place(at: At | None, files: list[str]) -> list[int] | None:
    """Returns the source, by its number, and the line."""
    return None if at is None or at.file not in files else [files.index(at.file), at.line]


def _leaves(arrow: Arrow, found: Causality) -> bool:
    """Returns whether the copy is ever in transit: not where a crash cut it off, it has no sender,
    or it was received at once.
    """
    if arrow.sent is None or arrow.how in (CopyOutcome.FORGED, CopyOutcome.COUNTED):
        return False
    return not found.was_cut_off(arrow)


def _copy(arrow: Arrow) -> list[Any]:
    return [
        arrow.message, arrow.sender, arrow.receiver, arrow.how.value, arrow.sent, arrow.ended,
    ]  # fmt: skip


def _bits(truths: tuple[bool, ...]) -> str:
    return "".join("1" if truth else "0" for truth in truths)
