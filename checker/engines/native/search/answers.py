"""The answer of a search whose system has no properties."""

from __future__ import annotations

from checker.engines.native.search.explored import Explored
from checker.records import replace
from checker.results.answer import Answer


def answer_of_states(engine: str, search: Explored) -> Answer:
    """Returns the answer about a system without properties."""
    faulty = search.found.faulty
    fault = None if faulty is None else replace(search.path_to(*faulty), then_fault=True)
    return Answer(
        engine=engine,
        distinct_states=search.states,
        depth=search.depth,
        exhaustive=search.exhaustive,
        seconds=search.seconds,
        transitions=search.found.transitions,
        fault=fault,
        stopped=search.stopped,
        bytes_per_state=search.used / max(1, search.states),
    )
