"""Random specs with recovery and with links that keep messages: what is reset stands for what it
was, and verdicts are the same with reductions and without.

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
from checker.properties import ask
from checker.reductions.dead_variables import analysis
from checker.session.pipeline import load_check
from tests.agreement.term_specs import random_term_spec
from tests.agreement.test_reduced_specs import compared
from tests.reductions.resting import disagreement

SPECS = int(os.environ.get("BIVALENCE_LONG", "0")) or 24
SHARDS = 4
STATES = 400 if "BIVALENCE_LONG" in os.environ else 150


@pytest.mark.parametrize("shard", range(SHARDS))
def test_rest_stands_for_states_with_recovery(shard: int, tmp_path: Path) -> None:
    """Of each spec the first states, and what they are reset to; some lose messages."""
    used = 0
    for seed in range(shard, SPECS, SHARDS):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_term_spec(seed), encoding="utf-8")
        try:
            check = load_check(str(path), "c", {})
        except SpecError:
            continue
        system = instantiate(check, {}, ask, capacities={"@network": 32}).system
        block, _ = analysis.find_dead(system)
        assert disagreement(system, block, STATES) is None, seed
        links = {v.name for v in system.variables if v.kind is VariableKind.LINK}
        used += any(getattr(node, "name", "") in links for s in block for node in nodes(s))
    assert used


@pytest.mark.parametrize("shard", range(SHARDS))
def test_specs_with_recovery(shard: int, tmp_path: Path) -> None:
    """The same verdicts."""
    used = 0
    for seed in range(shard, SPECS, SHARDS):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_term_spec(seed), encoding="utf-8")
        used += compared(path, ("all",), fine=seed % 6 == 1)
    assert used
