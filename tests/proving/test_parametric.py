"""Checks about every n: what is proved, what is refuted by a trace, and what is left open.

The automaton is drawn up by hand, so that nothing here depends on how one is extracted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.parametric.automaton.automaton import And, Automaton, Condition, Question
from checker.proving import parametric
from checker.records import replace
from checker.results.answer import INTERRUPTED, Progress
from checker.results.verdict import Report, Word
from tests.parametric.echo_by_hand import CORRECTNESS, ECHO, RELAY, UNFORGEABILITY, at_least

SPEC, CHECK = "specs/byzantine/echo.bcast", "built_for_one_with_two"
QUESTIONS = (UNFORGEABILITY, CORRECTNESS, RELAY)
ENOUGH = ECHO.resilience
A_THIRD = And((at_least(n=1, T=-3), at_least(T=1, f=-1)))
ONE_LIAR_MORE = And((at_least(-1, n=1, T=-3), at_least(1, T=1, f=-1)))


@pytest.fixture
def automaton(monkeypatch: pytest.MonkeyPatch) -> list[Automaton]:
    """The automaton that is extracted, to be replaced by tests."""
    held = [ECHO]
    monkeypatch.setattr(parametric, "extraction", lambda check: (held[0], QUESTIONS))
    return held


def _words(report: Report) -> dict[str, str]:
    return {v.property: v.word.value for v in report.verdicts}


@pytest.mark.parametrize(
    ("resilience", "words"),
    [
        # Srikanth and Toueg 1987; the table of the benchmark in Konnov, Veith, Widder 2015.
        (ENOUGH, ("proved", "proved", "proved")),
        (A_THIRD, ("proved", "proved", "violated")),
        (ONE_LIAR_MORE, ("violated", "violated", "violated")),
    ],
)
def test_the_echo_broadcast(
    automaton: list[Automaton], resilience: Condition, words: tuple[str, ...]
) -> None:
    automaton[0] = replace(ECHO, resilience=resilience)
    report = parametric.prove_every(SPEC, CHECK, Options(), tight=False)
    assert tuple(_words(report).values()) == words
    for verdict in report.verdicts:
        assert (verdict.trace is not None) is (verdict.word is Word.VIOLATED)
        assert (verdict.certificate != "") is (verdict.word is Word.PROVED)
        assert verdict.queries > 0
        if verdict.trace is not None:
            assert verdict.trace.word == "violated"
            assert verdict.trace.header.settings["n"] in verdict.reason
    assert report.proof is not None and report.proof.automaton is not None
    assert report.proof.automaton.locations == 8
    assert report.exhaustive


def test_what_liveness_rests_on_is_said(automaton: list[Automaton]) -> None:
    report = parametric.prove_every(SPEC, CHECK, Options(), tight=False)
    assumed = {v.property: v.assumptions for v in report.verdicts}
    assert not assumed["unforgeability"]
    assert any("takes a step" in text for text in assumed["relay"])
    assert any("Byzantine" in text for text in assumed["relay"])


def test_a_run_that_the_protocol_has_not_refutes_nothing(automaton: list[Automaton]) -> None:
    """An automaton that may do more: any process may echo at any time."""
    freely = tuple(
        replace(rule, guard=And()) if rule.label.endswith("T + 1") else rule for rule in ECHO.rules
    )
    automaton[0] = replace(ECHO, rules=freely)
    report = parametric.prove_every(SPEC, CHECK, Options(), tight=False)
    verdict = report.verdicts[0]
    assert verdict.word is Word.UNKNOWN and verdict.trace is None
    assert "runs that the protocol lacks" in verdict.reason
    assert report.exit_code == 3


def test_interrupted_it_keeps_what_is_decided(
    automaton: list[Automaton], monkeypatch: pytest.MonkeyPatch
) -> None:
    from checker.parametric.symbolic.decide import ParametricChecker

    decide = ParametricChecker.decide

    def tired(self: ParametricChecker, question: Question) -> object:
        if question is CORRECTNESS:
            raise KeyboardInterrupt
        return decide(self, question)

    monkeypatch.setattr(ParametricChecker, "decide", tired)
    report = parametric.prove_every(SPEC, CHECK, Options(), tight=False)
    assert tuple(_words(report).values()) == ("proved", "unknown", "unknown")
    assert report.was_interrupted and report.stopped == INTERRUPTED


def test_without_time_nothing_is_known(automaton: list[Automaton]) -> None:
    limits = replace(Options().limits, timeout=0.0)
    report = parametric.prove_every(SPEC, CHECK, Options(limits=limits), tight=False)
    assert set(_words(report).values()) == {"unknown"}
    assert report.exit_code == 3


def test_progress_is_told(automaton: list[Automaton]) -> None:
    told: list[Progress] = []
    parametric.prove_every(SPEC, CHECK, Options(), told.append, tight=False)
    assert [p.phase for p in told] == [f"z3: {q.property}" for q in QUESTIONS]


def test_the_condition_is_tight(automaton: list[Automaton]) -> None:
    # Srikanth and Toueg 1987: n > 3t and f <= t; relay needs the first, unforgeability the second.
    report = parametric.prove_every(SPEC, CHECK, Options())
    proof = report.proof
    assert proof is not None and proof.sufficient and proof.tight
    found = {weaker.condition: weaker for weaker in proof.weakened}
    assert found["n >= 3 * T and f <= T"].property == "relay"
    assert dict(found["n >= 3 * T and f <= T"].numbers) == {"n": 3, "T": 1, "f": 1}
    assert found["n > 3 * T and f <= T + 1"].property == "unforgeability"


def test_where_more_is_required_than_needed_it_is_said(automaton: list[Automaton]) -> None:
    automaton[0] = replace(ECHO, resilience=And((at_least(-2, n=1, T=-4), at_least(T=1, f=-1))))
    proof = parametric.prove_every(SPEC, CHECK, Options()).proof
    assert proof is not None and proof.sufficient and not proof.tight
    assert any(not w.property and not w.reason for w in proof.weakened)


def test_what_fails_is_not_asked_whether_it_is_tight(automaton: list[Automaton]) -> None:
    automaton[0] = replace(ECHO, resilience=A_THIRD)
    proof = parametric.prove_every(SPEC, CHECK, Options()).proof
    assert proof is not None and proof.sufficient is False and not proof.weakened


def test_conditions_are_proposed(automaton: list[Automaton]) -> None:
    # n > 2T + f is what the echo broadcast needs of n where f <= T.
    proof = parametric.prove_every(SPEC, CHECK, Options(), tight=False, synthesize=True).proof
    assert proof is not None
    assert "with n > f + 2 * T and f <= T" in proof.proposals or (
        "with n > 2 * T + f and f <= T" in proof.proposals
    )


def test_a_proof_of_nothing_is_vacuous(tmp_path: Path) -> None:
    path = tmp_path / "silent.bcast"
    path.write_text(
        "protocol Silent { message ECHO state told = false"
        " upon condition not told { told := true send ECHO to all } }\n"
        "check every of Silent { for all n }\n"
    )
    report = parametric.prove_every(str(path), "every", Options())
    assert report.verdicts == () and report.exit_code == 4


COUNTED = """
protocol Sum(T: Nat) {
  message V(v: bool)
  state a = false
  state b = false
  upon condition #received(V(_)) >= T + 1 and not a { a := true }
  upon condition #received(V(true)) + #received(V(false)) >= T + 1 and not b { b := true }
  property senders : always forall p in Proc: correct(p) => not p.a
  property votes : always forall p in Proc: correct(p) => not p.b
}
check sum of Sum {
  for all n, T, f when f <= T and T >= 1
  faults byzantine <= f
  links authenticated
  prove senders, votes
  allow unused
}
"""


def test_a_liar_sends_what_nobody_else_does(tmp_path: Path) -> None:
    """T liars are T senders, and cast two votes each."""
    path = tmp_path / "sum.bcast"
    path.write_text(COUNTED, encoding="utf-8")
    report = parametric.prove_every(str(path), "sum", Options(), tight=False)
    assert _words(report) == {"senders": "proved", "votes": "violated"}


ACCEPTS_AND_ECHOES = """
protocol St(T: Nat) {
  message ECHO
  state wants = false
  init choose wants
  state echoed = false
  state accepted = false
  upon condition not echoed and (wants or #received(ECHO) >= T + 1) {
    echoed := true
    send ECHO to Proc minus {self}
  }
  upon condition #received(ECHO) + (if echoed then 1 else 0) >= n - T when not accepted {
    accepted := true
    if not echoed {
      echoed := true
      send ECHO to Proc minus {self}
    }
  }
  property relay : forall p, q in Proc: correct(p) and correct(q) and p.accepted ~> q.accepted
}
check c of St {
  for all n, T, f when n == SIZE and T == BUILT and f <= LIARS
  faults byzantine <= f
  links authenticated, stubborn
  prove relay
  allow unused
}
"""


def _relays(n: int, built: int, liars: int) -> bool:
    """Whether n processes, built for so many liars (T), all accept if one does, with so many liars
    (F): either there is at most one correct process; or, so that one accepts, N - T - F correct
    processes, or one, must have echoed, which makes all others echo, and what correct ones send is
    enough to accept."""
    echoes = max(1, n - built - liars)
    return n - liars <= 1 or (liars <= built and echoes >= min(built + 1, n - built))


@pytest.mark.parametrize(
    ("n", "built", "liars"),
    [(4, 1, 1), (4, 1, 2), (5, 1, 2), (6, 1, 2), (6, 1, 4), (6, 2, 2), (7, 1, 3), (7, 2, 3)],
)
def test_a_process_that_was_lied_to_may_rest(
    n: int, built: int, liars: int, tmp_path: Path
) -> None:
    path = tmp_path / "st.bcast"
    text = ACCEPTS_AND_ECHOES.replace("SIZE", str(n)).replace("BUILT", str(built))
    path.write_text(text.replace("LIARS", str(liars)), encoding="utf-8")
    report = parametric.prove_every(str(path), "c", Options(explain=None), tight=False)
    holds = all(_relays(n, built, fewer) for fewer in range(liars + 1))
    assert _words(report) == {"relay": "proved" if holds else "violated"}
