"""What is known about fairness from the literature, and where checkers have been wrong."""

from __future__ import annotations

import pytest

from checker.engines.native import engine as native
from checker.engines.reference import engine as reference
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.model import ir
from checker.model.ir import TransitionSystem
from checker.properties.formula import ask
from checker.records import replace
from checker.results.answer import Answer, Limits
from checker.results.rerun import rerun

BRACHA_TOUEG = """
protocol Agreement(N: Nat, T: Nat, F: Nat) {
  shared state echoes : 0..n = 0
  shared state readies : 0..n = 0

  state pc : enum { V0, V1, EC, RD, AC } = V0
  init choose pc in {V0, V1}
  state echoes_here : 0..N = 0
  state readies_here : 0..N = 0

  upon condition echoes_here < echoes + F { echoes_here += 1 }
  upon condition readies_here < readies + F { readies_here += 1 }
  upon condition pc == V1
      or (pc == V0 and (2 * echoes_here >= N + T + 1 or readies_here >= T + 1)) {
    pc := EC
    echoes += 1
  }
  upon condition pc == EC and (2 * echoes_here >= N + T + 1 or readies_here >= T + 1) {
    pc := RD
    readies += 1
  }
  upon condition pc == RD and readies_here >= 2 * T + 1 { pc := AC }

  property agreement: (exists p in Proc: p.pc == AC) ~> (forall p in Proc: p.pc == AC)
}
check c of Agreement { n = 3  N = 4  T = 1  F = 1  prove agreement }
"""
"""Bracha and Toueg's protocol as three correct processes see it, next to one that lies."""

RECEIVING = 2
"""The first conditions receive messages, the others act on what was received."""


def system_of(text: str) -> TransitionSystem:
    """The system of the only check of ``text``."""
    return instantiate(load_text(text, "trap.bcast").checks[0], {}, ask).system


def explored(system: TransitionSystem, engine: str) -> Answer:
    if engine == "reference":
        return reference.explore(system, Limits())
    return native.explore(system, Limits(), threads=1)


def violated(system: TransitionSystem, engine: str) -> set[str]:
    """The violated properties; every counterexample is replayed."""
    answer = explored(system, engine)
    assert answer.exhaustive and answer.fair and not answer.undecided
    for prop in system.properties:
        if prop.name in answer.violations:
            rerun(system, answer.violations[prop.name], prop)
    return set(answer.violations)


def changed(
    system: TransitionSystem, names: tuple[str, ...], **changes: object
) -> ir.TransitionSystem:
    actions = tuple(
        replace(a, **changes) if a.name in names else a  # type: ignore[arg-type]
        for a in system.actions
    )
    return replace(system, actions=actions)


def conditions(system: TransitionSystem) -> tuple[str, ...]:
    found = tuple(a.name for a in system.actions if a.kind is ir.ActionKind.STEP)
    assert len(found) == 5
    return found


def test_agreement_needs_processes_that_act_and_not_only_links_that_deliver() -> None:
    system = system_of(BRACHA_TOUEG)
    assert violated(system, "native") == set()
    acting = conditions(system)[RECEIVING:]
    assert violated(changed(system, acting, promised=ir.FALSE), "native") == {"agreement"}


TOGGLE = """
protocol P {
  state on = false
  state tries : 0..2 = 0
  state done = false
  upon condition not done { on := not on }
  upon condition on and not done { done := true }
  property ends: forall p in Proc: eventually p.done
  property moves: forall p in Proc: eventually p.on
}
check c of P { n = 1  prove ends, moves }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("kind", "found"),
    [(ir.FairnessKind.WEAK, {"ends"}), (ir.FairnessKind.STRONG, set())],
)
def test_weak_fairness_forgives_what_is_possible_now_and_then(
    kind: ir.FairnessKind, found: set[str], engine: str
) -> None:
    system = system_of(TOGGLE)
    last = tuple(a.name for a in system.actions)[-1]
    own = ir.Fairness("finishing", (), kind, "it finishes")
    assert violated(changed(system, (last,), fairness=own), engine) == found


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_run_stays_only_where_nothing_is_owed(engine: str) -> None:
    system = system_of(TOGGLE)
    first, last = (a.name for a in system.actions)
    assert violated(system, engine) == {"ends"}
    nothing = changed(system, (first, last), promised=ir.FALSE)
    assert violated(nothing, engine) == {"ends", "moves"}
    answer = explored(nothing, engine)
    assert [p.loop for p in answer.violations.values()] == [0, 0]


FAULTY = """
protocol P {
  state count : 0..1 = 0
  state done = false
  upon condition true { count := 1 - count }
  upon receive GO { done := true }
  upon init { send GO to all }
  message GO
  property everybody: forall p in Proc: eventually p.done
  property correct_ones: forall p in Proc: correct(p) => eventually p.done
}
check c of P { n = 2  FAULTS  prove everybody, correct_ones }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ("", set()),
        ("faults crash <= 1", {"everybody"}),
        ("faults byzantine <= 1", {"everybody"}),
        ("faults omission <= 1", {"everybody"}),
        ("links lossy", {"everybody", "correct_ones"}),
    ],
)
def test_fairness_helps_no_faulty_process(faults: str, found: set[str], engine: str) -> None:
    assert violated(system_of(FAULTY.replace("FAULTS", faults)), engine) == found
