"""What single states decide is decided as if the run had been followed."""

from __future__ import annotations

import random

import pytest

from checker.engines.reference import engine as reference
from checker.instantiate import assemble
from checker.model.evaluate import RunFault
from checker.model.ir import Formula, Holds, PropertyKind, TransitionSystem
from checker.model.transforms.simplify_liveness import simplify_liveness
from checker.model.verify import verify
from checker.properties.buchi_automaton import always, either, eventually, inverse
from checker.properties.formula import ask
from checker.properties.persistence import persistence
from checker.results.answer import Limits
from checker.results.rerun import rerun
from checker.session.pipeline import load_check
from tests.agreement.alike import Alike

ONE, TWO = Holds(0), Holds(1)
FORMULAS: tuple[Formula, ...] = (
    always(either((inverse(ONE), eventually(TWO)))),
    always(either((inverse(eventually(ONE)), eventually(inverse(TWO))))),
    always(either((always(ONE), eventually(TWO)))),
    either((inverse(always(ONE)), always(eventually(TWO)))),
)
SEEDS = 250
PARTS = 10


def violated(system: TransitionSystem) -> set[str] | None:
    """The properties of liveness that some run violates, each run replayed."""
    try:
        answer = reference.explore(system, Limits(max_states=400))
    except RunFault:
        return None
    if not answer.exhaustive or answer.fault is not None:
        return None
    live = [p for p in system.properties if p.kind is PropertyKind.LIVENESS]
    found = {p.name for p in live if p.name in answer.violations}
    for prop in live:
        if prop.name in found:
            rerun(system, answer.violations[prop.name], prop)
    return found


def changed(before: TransitionSystem, after: TransitionSystem) -> bool:
    return any(
        one.formula != other.formula
        for one, other in zip(before.properties, after.properties, strict=True)
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_random_systems_agree(part: int) -> None:
    compared = settled_now = 0
    for seed in range(part, SEEDS, PARTS):
        draw = random.Random(seed)
        system = Alike(draw.randrange).system(draw.choice(FORMULAS))
        other = verify(simplify_liveness(system))
        if not changed(system, other):
            continue
        settled_now += 1
        before = violated(system)
        if before is not None:
            compared += 1
            assert violated(other) == before, f"seed {seed}"
    assert compared, settled_now


@pytest.mark.parametrize(
    ("file", "check", "settings"),
    [
        ("byzantine/echo", "built_for_one_with_one", {"n": "3", "T": "1"}),
        ("byzantine/echo", "built_for_one_with_two", {"n": "3", "T": "1"}),
        ("links/alternating_bit", "lossy_fifo", {}),
    ],
)
def test_the_library_agrees(
    file: str, check: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_check(f"specs/{file}.bcast", check, settings)
    after = assemble.instantiate(loaded, settings, ask).system
    monkeypatch.setattr(assemble, "simplify_liveness", lambda system: system)
    before = assemble.instantiate(loaded, settings, ask).system
    assert violated(after) == violated(before)


def test_who_is_byzantine_is_no_matter_of_time() -> None:
    loaded = load_check("specs/byzantine/echo.bcast", "built_for_one_with_one", {})
    system = assemble.instantiate(loaded, {}, ask).system
    live = [p for p in system.properties if p.kind is PropertyKind.LIVENESS]
    assert live and all(persistence(p) is not None for p in live)
