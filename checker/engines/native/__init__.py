"""The native engine: machine code made for the system, threads on one machine, exact.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from typing import NoReturn

from checker.engines.native.liveness import decide
from checker.engines.native.search import Search
from checker.engines.native.states import Lost
from checker.engines.native.traces import path_to
from checker.engines.native.upgrade import Upgrade, first_kernel
from checker.kernels.fields import MAX_WORKERS, Worker
from checker.kernels.image import build
from checker.system import interpreter
from checker.system.ir import TransitionSystem
from checker.witness.answer import Answer, Limits, Listener

NAME = "native"


def explore(
    system: TransitionSystem,
    limits: Limits,
    *,
    threads: int | None = None,
    listener: Listener | None = None,
) -> Answer:
    """Explores ``system`` and answers.

    ``threads``: how many may be used, all processors where it is ``None``.  Raises
    :class:`Unsupported` where the engine can't take the system, and ``RunFault`` where no initial
    state, or a property, can be computed.
    """
    image = build(system)
    kernel, improvable = first_kernel(image)
    layout = image.layout
    starts = interpreter.initial_events(system)
    initial = [layout.pack(state) for state, _ in starts]
    workers = max(1, min(threads or os.cpu_count() or 1, MAX_WORKERS))
    upgrade = Upgrade(image) if improvable else None
    search = Search(system, kernel, upgrade, limits, workers, listener)
    try:
        search.run(initial)
        marks = {event.mark for _, events in starts for event in events}
        return _answer(search, marks)
    finally:
        search.close()


def _answer(search: Search, marks: set[int]) -> Answer:
    store = search.store
    used = store.used
    transitions, ends = store.total(Worker.TRANSITIONS), store.total(Worker.ENDS)
    marks |= _reached(search)
    if search.lost is not None:
        _raise_lost(search, search.lost[1])
    stopped = search.stopped
    search.stopped = None
    exhaustive = stopped is None and search.faulty is None
    try:
        live = decide(search, exhaustive)
    except Lost as lost:
        _raise_lost(search, lost.words)
    fault = search.faulty
    return Answer(
        engine=NAME,
        distinct_states=store.states,
        depth=search.depth,
        exhaustive=exhaustive,
        seconds=search.seconds,
        transitions=transitions,
        violations={
            name: live.violations.get(name) or path_to(search, depth, best)
            for name, (depth, best) in search.violating.items()
        }
        | live.violations,
        fault=path_to(search, *fault, then_fault=True) if fault else None,
        reached_marks=frozenset(marks),
        premises=frozenset(search.premises),
        ends=ends,
        stopped=stopped,
        bytes_per_state=used / max(1, store.states),
        fair=live.fair,
        undecided=live.undecided,
        edges=live.edges,
        bytes_per_edge=live.bytes_per_edge,
        liveness_seconds=live.seconds,
    )


def _reached(search: Search) -> set[int]:
    found = set()
    for crew in search.store.crew:
        for mark in range(search.store.shape.marks):
            if crew.get(Worker.MARKS + mark // 64) >> mark % 64 & 1:
                found.add(mark)
    return found


def _raise_lost(search: Search, words: tuple[int, ...]) -> NoReturn:
    """Lets the interpreter say what is wrong with a property in a state."""
    system, state = search.system, search.kernel.image.layout.unpack(words)
    for justice in system.justice:
        interpreter.holds(system, justice.holds, state)
    for prop in system.properties:
        interpreter.holds(system, prop.premise, state)
        interpreter.holds(system, prop.bad, state)
        for values in interpreter.assignments(prop.params):
            names = dict(zip((p.name for p in prop.params), values, strict=True))
            for proposition in prop.propositions:
                interpreter.holds(system, proposition, state, names)
    raise AssertionError("a property had an error of the run in native code only")
