"""Cycle detection: whether some step between explored states lies on a cycle.

Where states were left out, the graph of all steps between the remaining ones is searched: it has no
cycle only if the explored graph has none.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.liveness.graph import Numbers, build_graph, count_steps
from checker.engines.native.liveness.graph_query import GraphQuery
from checker.engines.native.search.explored import GraphStates
from checker.engines.native.search.memory import MemoryBudget
from checker.engines.native.search.store import Store
from checker.records import replace
from checker.results.answer import Limits


def _never_check() -> None:
    pass


class _Look(Struct, frozen=True):
    kernel: Kernel
    limits: Limits
    check_time: Callable[[], None]


def has_cycle(
    kernel: Kernel, store: Store, limits: Limits, check_time: Callable[[], None] = _never_check
) -> bool:
    """Whether steps between different states of ``store`` form a cycle.

    ``check_time`` raises where there is no more time.  Raises
    :class:`checker.engines.native.search.explored.Undecided` and ``MemoryError`` where there is no
    room for the steps.
    """
    numbers = Numbers(GraphStates(store, 0))
    numbers.steps = count_steps(kernel, numbers, check_time)
    with MemoryBudget(limits.memory, lambda: store.used_bytes).enforced():
        graph = build_graph(_Look(kernel, limits, check_time), numbers)
        graph.labels.clear()
        question = GraphQuery(replace(graph, kinds=b"\0"))
        question.every()
        return question.fair() > 0
