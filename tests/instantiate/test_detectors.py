"""What each class of failure detectors may say, and must eventually say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from tests.instantiate.tables import WAYS, Case, compare, run

WATCH = """
protocol Watch implements Out {
  uses fd : FailureDetector
  state now : set<Proc> = {}
  state ever : set<Proc> = {}
  upon fd.suspect(p) { now += p  ever += p }
  upon fd.restore(p) { now -= p }
  property accurate : always forall p, q in Proc: q in p.ever => crashed(q)
  property one_spared : always exists q in Proc: forall p in Proc: not (q in p.ever)
  property complete :
    forall p, q in Proc: correct(p) and not correct(q) => eventually always q in p.now
  property accurate_later :
    forall p, q in Proc: correct(p) and correct(q) => eventually always not (q in p.now)
  property one_spared_later :
    (exists p in Proc: correct(p)) => exists q in Proc: correct(q) and
      forall p in Proc: correct(p) => eventually always not (q in p.now)
  property one_correct : always exists q in Proc: not crashed(q)
}
"""

FOLLOW = """
protocol Follow implements Out {
  uses leader : LeaderDetector
  state now : option<Proc> = none
  upon leader.trust(p) { now := some(p) }
  property led :
    (exists p in Proc: correct(p)) => exists q in Proc: correct(q) and
      forall p in Proc: correct(p) => eventually always p.now == some(q)
  property at_once : always forall p, q in Proc: p.now == none or q.now == none or p.now == q.now
}
"""

ASKED = ("accurate", "one_spared", "complete", "accurate_later", "one_spared_later")


def _watch(detector: str, verdicts: str) -> Case:
    """Two processes, one crash; ``verdicts``: one letter for each of ``ASKED``."""
    names = {"h": "holds", "v": "violated"}
    expected = ", ".join(f"{n} {names[v]}" for n, v in zip(ASKED, verdicts, strict=True))
    world = f"n = 2  faults crash <= 1  detector {detector}"
    text = f"{WATCH} check c of Watch {{ {world}  prove {', '.join(ASKED)}  allow unused }}"
    return Case(detector, text, expected)


CASES = [
    # accurate, one spared; in the end: complete, accurate, one spared
    _watch("P", "hhhhh"),
    _watch("eventually P", "vvhhh"),
    _watch("eventually P noise 1", "vvhhh"),
    _watch("S", "vhhvh"),
    _watch("eventually S", "vvhvh"),
    _watch("eventually S noise 0", "hhhhh"),
    _watch("eventually S noise 1", "vvhvh"),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_suspicions(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("detector", "at_once"),
    [("Omega", "violated"), ("Omega noise 0", "holds"), ("Omega noise 1", "violated")],
)
def test_leaders(detector: str, at_once: str, engine: str, fine: bool, tmp_path: Path) -> None:
    world = f"n = 2  faults crash <= 1  detector {detector}"
    text = f"{FOLLOW} check c of Follow {{ {world}  prove led, at_once }}"
    compare(tmp_path, Case(detector, text, f"led holds, at_once {at_once}"), engine, fine)


@pytest.mark.parametrize(
    ("detector", "verdict"), [("S", "holds"), ("eventually S", "holds"), ("P", "violated")]
)
def test_one_never_crashes_where_that_is_promised(
    detector: str, verdict: str, tmp_path: Path
) -> None:
    """S promises that one process is correct, also before it has settled on one."""
    world = f"n = 2  faults crash <= 2  detector {detector}"
    text = f"{WATCH} check c of Watch {{ {world}  prove one_correct  allow unused }}"
    compare(tmp_path, Case(detector, text, f"one_correct {verdict}"), "native", False)


def test_noise_bounds_the_wrong_words(tmp_path: Path) -> None:
    """Twice wrong is too often with one false suspicion."""
    text = """
    protocol P implements Out {
      uses fd : FailureDetector
      state wrong : 0..9 = 0
      upon fd.suspect(p) { wrong += 1 }
      property once : always forall p, q in Proc: p == q or p.wrong + q.wrong <= LIMIT
    }
    check c of P { n = 2  detector eventually P noise 2  prove once  allow unused }
    """
    for limit, verdict in (("1", "violated"), ("2", "holds")):
        compare(
            tmp_path,
            Case("noise", text.replace("LIMIT", limit), f"once {verdict}"),
            "native",
            False,
        )


def test_a_protocol_stands_for_the_detector(tmp_path: Path) -> None:
    """`given fd as Heartbeats`: in synchrony it is as good as P."""
    heartbeats = """
    protocol Heartbeats implements FailureDetector {
      message BEAT
      state heard : set<Proc> = Proc
      state down : set<Proc> = {}
      upon timeout {
        for p in Proc when p not in heard and p not in down { down += p  suspect(p) }
        heard := {}
        send BEAT to all
      }
      upon receive BEAT from p { heard += p }
    }
    """
    world = "n = 2  faults crash <= 1  timing synchronous  given fd as Heartbeats"
    prove = "prove accurate, complete  allow unused"
    text = f"{heartbeats} {WATCH} check c of Watch {{ {world}  {prove} }}"
    case = Case("heartbeats", text, "accurate holds, complete holds")
    compare(tmp_path, case, "native", False)


@pytest.mark.parametrize(
    ("world", "code"),
    [
        ("", "C014"),
        ("detector Omega", "C014"),
        ("given fd as oracle", "C016"),
    ],
)
def test_worlds_without_the_detector(world: str, code: str, tmp_path: Path) -> None:
    text = f"{WATCH} check c of Watch {{ n = 2  {world}  prove accurate }}"
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    assert [d.code for d in refused.value.diagnostics] == [code]
