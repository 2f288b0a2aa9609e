"""Distributions from outside: a folder on ``sys.path`` with a module and entry points."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

ENGINE = """
from checker.engines.capabilities import YES, Feature
from checker.engines.engine import Engine
from checker.model import interpreter
from checker.results.answer import Answer, Path


class Toy(Engine):
    name = "toy"
    capabilities = {Feature.SAFETY: YES, Feature.FINE_STEPS: YES}

    def explore(self, problem, listener):
        system, parent, violations, fault = problem.system, {}, {}, None
        waiting = [(state, None) for state, _ in interpreter.initial_events(system)]
        for state, before in waiting:
            if state in parent:
                continue
            parent[state] = before
            for prop in system.properties:
                if prop.kind == "invariant" and interpreter.holds(system, prop.bad, state):
                    violations.setdefault(prop.name, self.path(parent, state))
            for step in interpreter.successors(system, state):
                if step.successor is None:
                    fault = fault or Path(self.path(parent, state).states, then_fault=True)
                else:
                    waiting.append((step.successor, state))
        marks = frozenset(range(len(system.marks)))
        return Answer(
            "toy", len(parent), 0, fault is None, 0.0, violations=violations, fault=fault,
            reached_marks=marks, premises=frozenset(prop.name for prop in system.properties),
        )

    def path(self, parent, state):
        states = []
        while state is not None:
            states.insert(0, state)
            state = parent[state]
        return Path(tuple(states))


ENGINE = Toy()
"""
"""A breadth-first search that knows nothing of liveness, limits and coverage."""

EXPORT = """
def export(trace):
    return f"{trace.property_name}: {trace.length} steps\\n"
"""


def install(
    folder: Path,
    patch: pytest.MonkeyPatch,
    module: str,
    points: str,
    *,
    name: str = "toy",
) -> None:
    """Makes a distribution ``name`` of version 1.0 in ``folder``, and puts it on ``sys.path``.

    ``module``: the source of the module ``name``; ``points``: its entry points.
    """
    folder = folder / f"site-{name}"
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(textwrap.dedent(points))
    (folder / f"{name}.py").write_text(module)
    patch.delitem(__import__("sys").modules, name, raising=False)
    patch.syspath_prepend(folder)
