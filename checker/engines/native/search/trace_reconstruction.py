"""Reconstructs executions that lead to a state, backwards: no parents are stored.

Levels are kept, so a predecessor of a state of level ``d`` is found by expanding level ``d - 1``
once more; among several it takes the one with the smallest fingerprint.
"""

from __future__ import annotations

import ctypes

from checker.engines.native.codegen.fields import Mode, Worker
from checker.engines.native.search.findings import Best
from checker.engines.native.search.search import Search
from checker.results.answer import Path


def path_to(search: Search, depth: int, target: Best) -> Path:
    """A shortest execution to the state ``target`` of level ``depth``."""
    store, layout = search.store, search.kernel.image.layout
    words = target[1]
    states = [layout.unpack(words)]
    for level in reversed(range(depth)):
        row = (ctypes.c_uint64 * len(words))(*words)
        for crew in store.workers:
            crew.put(Worker.TARGET, ctypes.addressof(row))
        search.sweep(level, Mode.PARENTS)
        found = store.best(store.shape.parent)
        assert found is not None, "a state of a level has a predecessor in the level before"
        words = found[1]
        states.append(layout.unpack(words))
    return Path(tuple(reversed(states)))
