"""The verdict in sentences: what is violated, by which processes, and how it came about."""

from __future__ import annotations

from checker.explain.narrative import narrative_sentences
from checker.explain.operations import operation_sentences
from checker.explain.realisation import Voice, title
from checker.model.ir import Property, TransitionSystem
from checker.resources import display_name
from checker.results.rerun import Run
from checker.results.trace import Trace
from checker.results.truth import facts, word_of

LONGEST = 3
"""Sentences at most."""


def sentences(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[str, ...]:
    """Returns what ``run`` violates and for which processes, then how it came about.

    Where the reading of ``prop`` does not give these, the first sentence is that of the trace.
    """
    of_operations = operation_sentences(system, prop, run, _property_title(prop))
    if of_operations:
        return of_operations[:LONGEST]
    found = facts(system, prop, run)
    if not found:
        return (trace.sentence, *narrative_sentences(trace, (), None))[:LONGEST]
    voice = Voice(word_of(system, prop, run), trace)
    said = voice.sentence(found)
    first = f"{_property_title(prop)} fails" + (f": {said}." if said else ".")
    return (first, *narrative_sentences(trace, found, voice))[:LONGEST]


def _property_title(prop: Property) -> str:
    """Returns the name of ``prop`` in words, where it comes with the tool and is a noun; as it is
    written where it may be anything."""
    at = prop.place
    shipped = at is None or display_name(at.file) != at.file or " over " in prop.asked
    noun = shipped and " as " not in prop.asked
    return title(prop.asked) if noun else f"`{prop.asked}`"
