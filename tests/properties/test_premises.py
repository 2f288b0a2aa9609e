"""Premises over whole runs that no fair run satisfies, and goals that come true in one way only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare, run, words

DEATH = """
protocol P {
  state dead = false
  state done = false
  MAY upon condition not dead { dead := true }
  upon condition not dead and not done { done := true }
  property asked: FORMULA
}
check c of P { n = SIZE  FAULTS  prove asked }
"""


def death(formula: str, verdict: str, *, may: str = "", size: int = 2, faults: str = "") -> Case:
    text = DEATH.replace("FORMULA", formula).replace("MAY", may).replace("SIZE", str(size))
    return Case(f"{formula} {may}{faults}", text.replace("FAULTS", faults), f"asked {verdict}")


ALIVE = "(always forall p in Proc: not p.dead)"
MINE = "(always not p.dead)"
DONE = "(eventually forall p in Proc: p.done)"

# Every fair run takes each death, unless it `may` be left; a process that crashes need not die.
CASES = [
    death(f"{ALIVE} => {DONE}", "vacuous"),
    death(f"{ALIVE} => {DONE}", "holds", may="may "),
    death(f"{ALIVE} => {DONE}", "violated", faults="faults crash <= 2"),
    death(f"forall p in Proc: {MINE} => eventually p.done", "vacuous"),
    death(f"forall p in Proc: {MINE} => eventually p.done", "holds", may="may "),
    death(f"forall p in Proc: correct(p) and {MINE} => eventually p.done", "vacuous"),
    death(
        f"forall p in Proc: correct(p) and {MINE} => eventually p.done",
        "vacuous",
        faults="faults crash <= 1",
    ),
    death(f"forall p in Proc: correct(p) and {MINE} => eventually p.done", "holds", may="may "),
    # In the middle of an implication, below another operator, and on one side of `~>`.
    death(f"forall p in Proc: correct(p) => ({MINE} => eventually p.done)", "vacuous"),
    death(f"forall p in Proc: {MINE} => (correct(p) => eventually p.done)", "holds", may="may "),
    death(f"always forall p in Proc: {MINE} => eventually p.done", "vacuous"),
    death(f"forall p in Proc: {MINE} ~> p.done", "vacuous"),
    death(f"forall p in Proc: {MINE} ~> p.done", "holds", may="may "),
    # One part of a conjunction whose premise comes true is enough, as with premises on states.
    death(
        f"(forall p in Proc: {MINE} => eventually p.done) and "
        "(forall p in Proc: (eventually p.dead) => (eventually p.dead))",
        "holds",
    ),
    # What is violated is not vacuous.
    death(f"(eventually exists p in Proc: p.dead) => {DONE}", "violated"),
    death(f"not ({ALIVE}) => {DONE}", "violated"),
]

ALONE = """
protocol P {
  state dead = false
  state done = false
  state other = false
  state member = true
  upon condition not dead { dead := true BODY }
  property asked: FORMULA
}
check c of P { n = 2 ALLOW prove asked }
"""


def alone(formula: str, verdict: str, *, body: str = "", allow: str = "") -> Case:
    text = ALONE.replace("FORMULA", formula).replace("BODY", body).replace("ALLOW", allow)
    return Case(f"{formula} {body}{allow}", text, f"asked {verdict}")


EITHER = "eventually forall p in Proc: p.done or p.dead"
GOALS = [
    alone(EITHER, "vacuous"),
    alone(EITHER, "holds", allow="allow unused"),
    alone(EITHER, "holds", body="done := true"),
    alone("forall p in Proc: eventually always (p.done or p.dead)", "vacuous"),
    alone("forall p in Proc: not p.dead ~> (p.dead or p.done or p.other)", "vacuous"),
    alone("forall p in Proc: eventually (p.dead and (p.done or p.dead))", "vacuous"),
    alone("eventually forall p in Proc: p.dead", "holds"),
    alone("eventually forall p in Proc: p.other => p.dead", "holds"),
    alone("eventually forall p in Proc: not p.other or p.dead", "holds"),
    alone("eventually forall p in Proc: not p.dead => p.done", "vacuous"),
    # That something is always so is no way that is missing.
    alone("eventually forall p in Proc: p.member => p.dead", "holds"),
    alone("eventually forall p in Proc: not p.member or p.dead", "holds"),
    # Cases of one variable are no ways that exclude each other.
    alone("eventually forall p in Proc: p.dead == false or p.dead == true", "holds"),
    # A promise that somebody may be excused from by a fault is the world's.
    alone("eventually forall p in Proc: crashed(p) or p.dead", "holds"),
    alone("eventually forall p in Proc: p.done", "violated"),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", [*CASES, *GOALS], ids=lambda case: case.name)
def test_what_is_vacuous(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


def test_the_reason_names_the_premise_or_the_alternative(tmp_path: Path) -> None:
    (verdict,) = run(tmp_path, CASES[0].text).verdicts
    said = "no fair execution satisfies its premise: always (forall p in Proc: not p.dead)"
    assert verdict.reason == said
    (verdict,) = run(tmp_path, GOALS[0].text).verdicts
    assert "`p.done` is never true: the property holds because of `p.dead` alone" in verdict.reason


@pytest.mark.parametrize("reduce", ["none", "all"])
def test_reductions_change_nothing(tmp_path: Path, reduce: str) -> None:
    for case in CASES[:6]:
        assert words(run(tmp_path, case.text, reduce=reduce)) == case.verdicts()


def test_no_time_for_the_premise_is_no_green_verdict(tmp_path: Path) -> None:
    """Whether a premise comes true is a question like the property itself: where the graph has no
    room for it, the verdict is open."""
    from checker.engines.native.liveness import liveness_decision
    from checker.engines.native.search.explored import Undecided

    def full(*_: object) -> None:
        raise Undecided("there is no room")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(liveness_decision._Decision, "_run_with", full)
        (verdict,) = run(tmp_path, CASES[1].text).verdicts
    assert (verdict.word.value, verdict.reason) == ("unknown", "there is no room")
