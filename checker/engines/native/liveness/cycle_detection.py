"""Cycle detection: whether some step between explored states lies on a cycle.

Where states were left out, the graph of all steps between the remaining ones is searched: it has no
cycle only if the explored graph has none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from msgspec import Struct

from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.liveness.graph import Numbers, build_graph
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
    numbers = Numbers(GraphStates(store, _steps(kernel, store, check_time)))
    with MemoryBudget(limits.memory, lambda: store.used_bytes).enforced():
        graph = build_graph(_Look(kernel, limits, check_time), numbers)
        graph.labels.clear()
        question = GraphQuery(replace(graph, kinds=b"\0"))
        question.every()
        return question.fair() > 0


def _steps(kernel: Kernel, store: Store, check_time: Callable[[], None]) -> int:
    """An upper bound on the number of steps from the states of ``store``."""
    crew = store.workers[0]
    row = (ctypes.c_uint64 * store.shape.words)()
    crew.put(Worker.TARGET, ctypes.addressof(row))
    crew.put(Worker.MODE, Mode.PARENTS)
    crew.put(Worker.OVERFLOW, 0)
    before = crew.get(Worker.TRANSITIONS)
    context = store.context_address
    for one in store.workers:
        at = 0
        while at < one.count:
            check_time()
            stop = min(one.count, at + store.together(one.count))
            rows = store.expandable(crew, one, at, stop)
            at = kernel.run(context, crew.address, rows, at, stop, 0)
            kernel.stop.clear()
    store.best(store.shape.parent)
    return crew.get(Worker.TRANSITIONS) - before
