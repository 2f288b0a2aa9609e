"""Random specs with recovery, with links that keep messages and with queues: what is reset stands
for what it was, and verdicts are the same with reductions and without.

For a long run: ``BIVALENCE_LONG=500 pytest tests/agreement/test_recovery_reductions.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.model.ir import VariableKind
from checker.model.tree import nodes
from checker.properties.formula import ask
from checker.reductions.dead_variables import analysis
from checker.session.pipeline import load_check
from tests.agreement.term_specs import random_term_spec
from tests.agreement.test_reduced_specs import compared
from tests.reductions.resting import disagreement
from tests.selection import first_by_default

LONG = int(os.environ.get("BIVALENCE_LONG", "0"))
SPECS = LONG or 24
SHARDS = 4
CASES = [*((shard, False) for shard in range(SHARDS)), (0, True), (1, True)]
STATES = 400 if LONG else 150


@pytest.mark.parametrize(("shard", "in_order"), CASES)
def test_rest_stands_for_states_with_recovery(shard: int, in_order: bool, tmp_path: Path) -> None:
    """Of each spec the first states, and what they are reset to; some lose messages."""
    used = 0
    for seed in range(shard, SPECS, 2 if LONG and in_order else SHARDS):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_term_spec(seed, in_order), encoding="utf-8")
        try:
            check = load_check(str(path), "c", {})
        except SpecError:
            continue
        capacities = {"@network": 32, "channel": 5}
        system = instantiate(check, {}, ask, capacities=capacities).system
        block, _ = analysis.find_dead(system)
        assert disagreement(system, block, STATES) is None, seed
        links = {v.name for v in system.variables if v.kind is VariableKind.LINK}
        used += any(getattr(node, "name", "") in links for s in block for node in nodes(s))
    assert used


@pytest.mark.parametrize(("shard", "in_order"), CASES)
def test_specs_with_recovery(shard: int, in_order: bool, tmp_path: Path) -> None:
    """The same verdicts."""
    used = 0
    for seed in range(shard, SPECS, 2 if LONG and in_order else SHARDS):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_term_spec(seed, in_order), encoding="utf-8")
        used += compared(path, ("all",), fine=seed % 6 == 1)
    assert used


@pytest.mark.parametrize("shard", first_by_default([2, 3, 0, 1], 1))
def test_errors_of_runs_are_found_with_reductions(shard: int, tmp_path: Path) -> None:
    """The same verdicts where handlers may fail, messages of no effect in front of what fails."""
    used = 0
    for seed in range(shard, SPECS, SHARDS):
        path = tmp_path / f"risky{seed}.bcast"
        path.write_text(random_term_spec(seed, in_order=True, risky=True), encoding="utf-8")
        used += compared(path, ("all",), fine=seed % 6 == 1)
    assert used
