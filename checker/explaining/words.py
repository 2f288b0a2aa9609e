"""The verdict in sentences: what is violated by whom, and how it came about."""

from __future__ import annotations

from checker.explaining.saying import Voice, title
from checker.explaining.story import story
from checker.explaining.truth import facts, word_of
from checker.system.ir import Property, TransitionSystem
from checker.witness.rerun import Run
from checker.witness.trace import Trace

LONGEST = 3
"""So many sentences are said at most."""


def sentences(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[str, ...]:
    """What ``run`` violates and who it is, then how it came about.

    Where the reading of ``prop`` does not tell, the first sentence is that of the trace.
    """
    found = facts(system, prop, run)
    if not found:
        return (trace.sentence, *story(trace, (), None))[:LONGEST]
    voice = Voice(word_of(system, prop, run), trace)
    said = voice.sentence(found)
    first = f"{title(prop.name)} fails" + (f": {said}." if said else ".")
    return (first, *story(trace, found, voice))[:LONGEST]
