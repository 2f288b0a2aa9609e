"""A run is the same with its ghosts and without them: erasing ghosts gives the same states.

For a long run: ``BIVALENCE_LONG=500 pytest tests/agreement/test_erased_ghosts.py``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.model.ir import Variable, VariableKind
from checker.session.pipeline import load_check, run_check
from tests.agreement.ghostly import (
    TooMany,
    asked_too,
    states,
    system_of,
    with_ghosts,
    without_ghosts,
)
from tests.world.drawing import spec_of
from tests.world.features import covering_sets

SPECS = int(os.environ.get("BIVALENCE_LONG", "0")) or 8
SHARDS = 4
MOST = 700


def texts(seed: int) -> tuple[str, str]:
    """A random spec, and the same with ghosts."""
    sets = covering_sets(3, 4)
    spec = spec_of(sets[seed % len(sets)], seed)
    return spec.text(), with_ghosts(spec, seed)


@pytest.mark.parametrize("fine", [False, True], ids=["coarse", "fine"])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_without_ghosts_there_are_the_same_states(shard: int, fine: bool, tmp_path: Path) -> None:
    path, compared, observed = tmp_path / "ghosts.bcast", 0, 0
    most = MOST // 2 if fine else MOST
    for seed in range(shard, 20 * SPECS, SHARDS):  # most have too many states
        if compared * SHARDS >= SPECS / 2 and observed:
            break
        plain_text, text = texts(seed)
        path.write_text(plain_text, encoding="utf-8")
        plain = load_check(str(path), "c", {})
        path.write_text(asked_too(text), encoding="utf-8")
        check = load_check(str(path), "c", {})
        unbounded = check.capacity is None and all(r.capacity is None for r in check.link_rules)
        heard_only = check.crash is not None and not check.recover and unbounded and not fine
        try:
            without, system = system_of(plain, fine), system_of(check, fine)
            expected, found = states(without, most), states(system, 6 * most)
        except (TooMany, SpecError):
            continue
        erased = {without_ghosts(system, heard_only=heard_only)(state) for state in found}
        kept = {without_ghosts(without, heard_only=heard_only)(state) for state in expected}
        assert erased == kept, (seed, text)
        compared += 1
        observed += len(found) > len(expected)
    assert compared and observed


def without_lines(variables: tuple[Variable, ...]) -> str:
    """What ``variables`` are, wherever the handlers stand to whose `yield` they belong."""
    return re.sub(r"line \d+:\d+", "line", repr(variables))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_ghosts_that_nothing_reads_are_not_there(shard: int, tmp_path: Path) -> None:
    """Not in the variables, and not in any state."""
    path, compared = tmp_path / "ghosts.bcast", 0
    for seed in range(shard, 20 * SPECS, SHARDS):
        if compared * SHARDS >= SPECS / 4:
            break
        both = []
        for text in texts(seed):
            path.write_text(text, encoding="utf-8")
            try:
                both.append(system_of(load_check(str(path), "c", {}), fine=bool(seed % 2)))
            except SpecError:
                both.append(None)
        plain, ghosts = both
        if plain is None or ghosts is None:
            assert plain is ghosts
            continue
        assert without_lines(plain.variables) == without_lines(ghosts.variables)
        assert not any(v.kind is VariableKind.GHOST for v in ghosts.variables)
        try:
            assert states(plain, MOST) == states(ghosts, MOST)
        except TooMany:
            continue
        compared += 1
    assert compared


@pytest.mark.parametrize("shard", range(SHARDS))
def test_verdicts_and_numbers_of_all_engines(shard: int, tmp_path: Path) -> None:
    """What a property says that reads no ghost is the same with ghosts and without; and machine
    code finds as many states as the interpreter."""
    path, compared = tmp_path / "ghosts.bcast", 0
    for seed in range(shard, 20 * SPECS, SHARDS):
        if compared * SHARDS >= SPECS / 4:
            break
        plain_text, text = texts(seed)
        told = []
        for each, engine, reduce in (
            (plain_text, "native", "auto"),
            (asked_too(text), "native", "auto"),
            (asked_too(text), "native", "none"),
            (asked_too(text), "reference", "none"),
        ):
            path.write_text(each, encoding="utf-8")
            options = Options(engine=engine, reduce=reduce, threads=1, fine_steps=seed % 3 == 2)
            try:
                system = system_of(load_check(str(path), "c", {}), fine=seed % 3 == 2)
                states(system, MOST)
                told.append(run_check(str(path), "c", options))
            except (SpecError, TooMany):
                break
        if len(told) < 4:
            continue
        words = [{v.property: v.word for v in report.verdicts} for report in told]
        watched = [each.pop("watching") for each in words[1:]]
        assert words == [words[0]] * 4 and len(set(watched)) == 1, text
        assert told[2].distinct_states == told[3].distinct_states, text
        compared += 1
    assert compared
