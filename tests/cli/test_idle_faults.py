"""A fault that a check allows, and that no run of it has, is said to be tested by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.language.load import open_spec
from checker.properties.formula import ask
from checker.session.idle_faults import HIDDEN, NEVER, STEPS
from checker.session.pipeline import run_check

TEXT = """protocol P(zero: Nat = 0) {
  message PING
  role asker(1) {
    state x : 0..2 = 0
    stable state kept : 0..3 = 0
    upon condition x < 2 { x += 1  SENDS }
    upon condition x > 2 as stores { kept := 1  sync kept else { skip } }
  }
  role other(1) {
    state heard = 0
    upon receive PING from s { heard := 1 }
  }
  property asked : always forall p in asker: p.x <= 1 or p.kept == 0
}
check c of P { WORLD  prove asked  allow unused }
"""
SEND = "send PING to all other"
IDLE = [
    ("faults crash <= zero", ["a crash"]),
    ("faults crash <= zero, recover", ["a crash", "a recovery"]),
    ("faults power <= zero, recover", ["a recovery", "a power failure"]),
    ("faults wipe <= zero, recover", ["a recovery", "a lost disk"]),
    ("faults sync <= 1, power <= 1, recover", ["a `sync` that fails"]),
    ("faults omission <= 1", ["an omission"]),
    ("faults byzantine <= zero", ["a lie"]),
    ("faults partition <= zero", ["a split network"]),
    ("faults cut <= zero", ["a cut"]),
    ("faults pause <= zero", ["a pause"]),
    ("links connected faults reset <= zero", ["a reset"]),
    ("links lossy", ["a loss"]),
    ("links asker -> other lossy", ["a loss"]),
]


def idle(folder: Path, world: str, sends: str = "", reduce: str = "none") -> list[str]:
    spec = folder / "p.bcast"
    spec.write_text(TEXT.replace("WORLD", world).replace("SENDS", sends), "utf-8")
    found = run_check(str(spec), None, Options(reduce=reduce))
    return [each.what for each in found.not_asked if not each.clause]


@pytest.mark.every
@pytest.mark.parametrize(("world", "said"), IDLE, ids=[world for world, _ in IDLE])
def test_a_fault_that_never_happens_is_told(world: str, said: list[str], tmp_path: Path) -> None:
    assert idle(tmp_path, world) == [f"{what} {NEVER}" for what in said]


def test_every_step_of_a_fault_is_tested() -> None:
    assert {what for _, said in IDLE for what in said} == {step.what for step in STEPS}


@pytest.mark.every
@pytest.mark.parametrize(
    "world",
    [
        "faults crash <= 1, recover",
        "faults omission <= 1",
        "faults byzantine <= 1",
        "faults partition <= 1, cut <= 1",
        "links connected faults reset <= 1",
        "links asker -> other lossy",
    ],
)
def test_a_fault_that_happens_is_not(world: str, tmp_path: Path) -> None:
    assert idle(tmp_path, world, SEND) == []


def test_what_reductions_may_hide_is_said_to_be_unseen_only() -> None:
    """Where reductions hide steps, only a fault without any step is said never to happen."""
    from types import SimpleNamespace
    from typing import Any, cast

    from checker.session.idle_faults import idle_faults

    spec = open_spec("broadcast/eager_reliable")
    check = spec.check_in_world(spec.module.checks[0].name, {"crash": "1", "links": "lossy"})
    system = instantiate(check, {}, ask).system
    for shows_all, said in ((True, NEVER), (False, HIDDEN)):
        reduced = SimpleNamespace(shows_all=shows_all)
        answer = SimpleNamespace(exhaustive=True, reached_marks=frozenset(), reduced=reduced)
        found = [each.what for each in idle_faults(check, system, cast(Any, answer))]
        assert found == [f"a crash {said}", f"a loss {said}"]
    stopped = SimpleNamespace(exhaustive=False, reached_marks=frozenset(), reduced=None)
    assert not [*idle_faults(check, system, cast(Any, stopped))]
