"""Computes the state graph of a check in a system whose guessed capacities are large enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.extensions.tables import DEFINITION
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.instantiate.instantiated import Instantiated
from checker.model.evaluate import RunFault
from checker.results.answer import Answer, Unsupported
from checker.session.attempts import enlarge_capacities, too_small_capacities, why_not_larger
from checker.session.run_engine import remaining_time
from checker.words.unjudged import diagnosed


class StateGraph(Protocol):
    """What an engine returns: ``answer`` of the search, ``missing``: why there is no graph."""

    answer: Answer
    missing: str


Found = TypeVar("Found", bound=StateGraph)


def graph_of_check(
    make: Callable[[Mapping[str, int]], Instantiated],
    engine: str,
    compute: Callable[[Instantiated, Options], Found],
    options: Options,
) -> tuple[Instantiated, Found, str | None]:
    """Returns the system with the smallest capacities that suffice, its graph, and why that is not
    known (``None`` where it is).

    ``make``: the system with given capacities; ``compute``: its graph by ``engine``, within the
    time of the options that are passed.  Raises :class:`SpecError` where the engine can't take the
    check, and ``KeyboardInterrupt`` where nothing at all is known.
    """
    started = time.monotonic()
    with budgets.raising_when_exhausted():
        made = estimate_capacities(make)
    while True:
        try:
            graph = compute(made, remaining_time(options, started))
        except Unsupported as why:
            message = f"the {engine} engine does not support this check: {why}"
            hint = f"try --engine {DEFINITION}"
            raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
        except RunFault as fault:
            if fault.grows is None:
                raise diagnosed(made.system, fault) from None
            small: tuple[str, ...] = (fault.grows,)
        else:
            small = too_small_capacities(made.system, graph.answer)
            why_not = why_not_larger(made, graph.answer, small, options) if small else None
            if not small or why_not:
                return made, graph, why_not or _stopped(graph)
        with budgets.raising_when_exhausted():
            made = make(enlarge_capacities(make, dict(made.capacities), small, 0))


def _stopped(graph: StateGraph) -> str | None:
    """Returns why nothing is known of a graph; ``None`` where it is."""
    if graph.answer.fault is not None:
        return "a run meets an error: `bivalence check` shows it"
    return graph.answer.stopped or graph.missing or None
