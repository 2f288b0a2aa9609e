"""Verdicts for every n, and the smallest systems that break what is broken, as theory has them.

The numbers are worked out by hand from the thresholds, beside each row; ``expect`` clauses of the
specs say the verdicts once more, and no row of one is copied from the other's output.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from checker.engines.options import Options
from checker.language.load import load
from checker.proving.parametric import prove_every
from checker.resources import specs
from checker.results.verdict import PropertyVerdict, Report, Word
from tests.finite_checks import checks_for_all_sizes
from tests.shared_runs import sharing

HOLDS: Mapping[str, int] = {}


@cache
def _report(path: str, name: str) -> Report:
    return prove_every(str(specs() / path), name, Options(), tight=False)


def _verdicts(path: str, name: str) -> dict[str, PropertyVerdict]:
    return {v.property: v for v in _report(path, name).verdicts}


def _about_all() -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(specs())), name)
        for path in sorted(specs().rglob("*.bcast"))
        for name in checks_for_all_sizes(path.read_text(encoding="utf-8"))
    ]


ECHO = "byzantine/echo.bcast"
BRACHA = "byzantine/bracha.bcast"
FOLKLORE = "for_every_n/folklore_broadcast.bcast"
ONE_STEP = "for_every_n/one_step_consensus.bcast"
ONE_COMMUNICATION = "for_every_n/one_communication_step.bcast"
BOSCO = "for_every_n/bosco.bcast"
BEN_OR = "for_every_n/ben_or_round.bcast"
ALL_ROUNDS = "for_every_n/ben_or_all_rounds.bcast"
VOTING_ROUNDS = "for_every_n/voting_rounds.bcast"
HYBRID = "for_every_n/hybrid_broadcast.bcast"
NAIVE = "for_every_n/naive_voting.bcast"

THEORY: list[tuple[str, str, str, Mapping[str, int]]] = [
    # Srikanth and Toueg 1987. Sufficient: n > 3T and f <= T.
    (ECHO, "for_every_n", "unforgeability", HOLDS),
    (ECHO, "for_every_n", "correctness", HOLDS),
    (ECHO, "for_every_n", "relay", HOLDS),
    # n = 3T: 2T echoes are accepted, T of them lies; the other T make nobody join (T + 1).
    (ECHO, "one_process_short", "unforgeability", HOLDS),
    (ECHO, "one_process_short", "correctness", HOLDS),
    (ECHO, "one_process_short", "relay", {"n": 3, "T": 1, "f": 1}),
    # T + 1 liars are enough to make others join. T = 0: one liar, one correct process. A relay
    # needs two correct ones, of which one is told nothing by the liar.
    (ECHO, "one_liar_more", "unforgeability", {"n": 2, "T": 0, "f": 1}),
    (ECHO, "one_liar_more", "correctness", {"n": 2, "T": 0, "f": 1}),
    (ECHO, "one_liar_more", "relay", {"n": 3, "T": 0, "f": 1}),
    # Bracha 1987.
    (BRACHA, "for_every_n", "validity", HOLDS),
    (BRACHA, "for_every_n", "no_duplication", HOLDS),
    (BRACHA, "for_every_n", "integrity", HOLDS),
    (BRACHA, "for_every_n", "consistency", HOLDS),
    (BRACHA, "for_every_n", "totality", HOLDS),
    # n = 3, f = 1: three echoes of three processes, of which one may say nothing.
    (BRACHA, "one_process_short", "validity", {"n": 3, "f": 1}),
    (BRACHA, "one_process_short", "totality", {"n": 3, "f": 1}),
    (BRACHA, "one_process_short", "consistency", HOLDS),
    # Both a and b are delivered where f + 1 correct processes each are ready for them: with one
    # liar four correct ones, two of which echo a, and two b, by three echoes of five.
    (BRACHA, "echoes_one_short", "consistency", {"n": 5, "f": 1}),
    # One lie makes three correct processes ready, and each hears of them.
    (BRACHA, "joins_one_short", "integrity", {"n": 4, "f": 1}),
    # A ready correct process and a liar make one deliver; one ready process makes nobody join.
    (BRACHA, "readies_one_short", "totality", {"n": 4, "f": 1}),
    # Chandra and Toueg 1996. Any number of crashes.
    (FOLKLORE, "for_every_n", "unforgeability", HOLDS),
    (FOLKLORE, "for_every_n", "correctness", HOLDS),
    (FOLKLORE, "for_every_n", "relay", HOLDS),
    # The sender accepts and crashes before anybody is told.
    (FOLKLORE, "for_every_n", "uniform_relay", {"n": 2, "f": 1}),
    # One tells another, which waits for a second.
    (FOLKLORE, "two_messages", "relay", {"n": 2}),
    # One-step consensus, the folklore.
    (ONE_STEP, "for_every_n", "one_step", HOLDS),
    (ONE_STEP, "for_every_n", "agreement", HOLDS),
    (ONE_STEP, "half", "agreement", HOLDS),
    # n = 2T: two halves that don't hear of each other.
    (ONE_STEP, "half_one_process_short", "agreement", {"n": 2, "T": 1, "f": 0}),
    # T = 0: all are waited for, and one of two crashes.
    (ONE_STEP, "one_crash_more", "one_step", {"n": 2, "T": 0, "f": 1}),
    (ONE_STEP, "one_crash_more", "goes_on", {"n": 2, "T": 0, "f": 1}),
    (ONE_STEP, "one_crash_more", "agreement", HOLDS),
    # Brasileiro, Greve, Mostefaoui and Raynal 2001.
    (ONE_COMMUNICATION, "for_every_n", "one_step", HOLDS),
    (ONE_COMMUNICATION, "for_every_n", "locked", HOLDS),
    # n = 3T: T votes are as good as n - 2T.
    (ONE_COMMUNICATION, "a_third", "locked", {"n": 3, "T": 1, "f": 0}),
    (ONE_COMMUNICATION, "one_crash_more", "one_step", {"n": 2, "T": 0, "f": 1}),
    (ONE_COMMUNICATION, "one_crash_more", "locked", HOLDS),
    # Song and van Renesse 2008. Strongly one-step for n > 7T, weakly for n > 5T.
    (BOSCO, "lemmas", "agreement", HOLDS),
    (BOSCO, "lemmas", "locked", HOLDS),
    # n - T votes, all alike, are more than (n + 3T) / 2 for n > 5T only.
    (BOSCO, "lemmas", "one_step", {"n": 4, "T": 1, "f": 0}),
    (BOSCO, "lemmas_for_any_n", "agreement", HOLDS),
    (BOSCO, "lemmas_for_any_n", "locked", HOLDS),
    (BOSCO, "strongly_one_step", "one_step", HOLDS),
    (BOSCO, "strongly_one_process_short", "one_step", {"n": 7, "T": 1, "f": 1}),
    (BOSCO, "weakly_one_step", "one_step", HOLDS),
    (BOSCO, "weakly_one_process_short", "one_step", {"n": 5, "T": 1}),
    # T = 0: two votes of three decide, and the liar votes with each of two.
    (BOSCO, "one_liar_more", "agreement", {"n": 3, "T": 0, "f": 1}),
    # Ben-Or 1983, a round of protocol B (Byzantine) and of protocol A (crashes).
    (BEN_OR, "for_every_n", "one_proposal", HOLDS),
    (BEN_OR, "for_every_n", "agreement", HOLDS),
    (BEN_OR, "for_every_n", "locked", HOLDS),
    (BEN_OR, "for_every_n", "unanimity", HOLDS),
    # n = 5, T = 1: of four reports one is a lie, and four make a quorum.
    (BEN_OR, "one_process_short", "unanimity", {"n": 5, "T": 1, "f": 1}),
    (BEN_OR, "one_process_short", "locked", HOLDS),
    # n = 4, T = 1: two proposals and a lie decide; who misses one of the two has one, not two.
    (BEN_OR, "two_processes_short", "locked", {"n": 4, "T": 1, "f": 1}),
    (BEN_OR, "safe_for_any_n", "one_proposal", HOLDS),
    (BEN_OR, "safe_for_any_n", "agreement", HOLDS),
    (BEN_OR, "one_liar_more", "one_proposal", {"n": 3, "T": 0, "f": 1}),
    (BEN_OR, "crashes_for_every_n", "uniform_agreement", HOLDS),
    (BEN_OR, "crashes_for_every_n", "locked", HOLDS),
    (BEN_OR, "crashes_for_every_n", "unanimity_of_all", HOLDS),
    # Two zeros of correct processes, and a one of a process that crashes: who hears it proposes
    # nothing, and then nobody has the two proposals that decide.
    (BEN_OR, "crashes_for_every_n", "unanimity", {"n": 3, "T": 1, "f": 1}),
    # n = 2, T = 1: one report is no majority of two.
    (BEN_OR, "crashes_one_process_short", "unanimity_of_all", {"n": 2, "T": 1, "f": 0}),
    # Crash and Byzantine faults counted apart.
    (HYBRID, "for_every_n", "unforgeability", HOLDS),
    (HYBRID, "for_every_n", "correctness", HOLDS),
    (HYBRID, "for_every_n", "relay", HOLDS),
    # Three echoes accept, of which one is a lie and one is lost in a crash; two are needed to join.
    (HYBRID, "one_process_short", "relay", {"n": 5, "B": 1, "C": 1}),
    # Naive voting: agreement holds at (4, 1, 1), and fails at (5, 1, 1).
    (NAIVE, "for_every_n", "agreement", {"n": 5, "T": 1, "f": 1}),
    (NAIVE, "for_every_n", "validity", HOLDS),
    (NAIVE, "for_every_n", "termination", {"n": 2, "T": 0, "f": 0}),
    (NAIVE, "without_liars", "agreement", HOLDS),
    (NAIVE, "enough_votes", "agreement", HOLDS),
    (NAIVE, "enough_votes", "unanimity", HOLDS),
    # Ben-Or 1983: safe in all rounds, for n > 5T and for n > 2T.
    (ALL_ROUNDS, "agreement_for_every_n", "agreement", HOLDS),
    (ALL_ROUNDS, "validity_for_every_n", "validity", HOLDS),
    (ALL_ROUNDS, "crashes_agree_for_every_n", "uniform_agreement", HOLDS),
    (ALL_ROUNDS, "crashes_are_valid_for_every_n", "uniform_validity", HOLDS),
    # Voting: of 3, p2 decides false, heard from p1 and p2; p1 hears true from p3 and adopts it, as
    # `adopts` is n - 2T = 1. So do p2 and p3, and the next round decides true.
    (VOTING_ROUNDS, "for_every_n", "uniform_agreement", HOLDS),
    (VOTING_ROUNDS, "one_process_short", "uniform_agreement", {"n": 3, "T": 1, "last": 2}),
]


SLOW = {
    (BRACHA, "for_every_n"),
    (BRACHA, "echoes_one_short"),
    (BRACHA, "joins_one_short"),
    (BRACHA, "readies_one_short"),
    (BRACHA, "one_process_short"),
    (BEN_OR, "one_process_short"),
    (BEN_OR, "two_processes_short"),
    (ALL_ROUNDS, "agreement_for_every_n"),
    (ALL_ROUNDS, "validity_for_every_n"),
    (ALL_ROUNDS, "crashes_agree_for_every_n"),
    (ALL_ROUNDS, "crashes_are_valid_for_every_n"),
}
"""They take longest; by default the echo broadcast, which Bracha's is made of, and other checks of
Ben-Or's rounds are asked."""


def _sharing(path: str, check: str, *more: object, name: str = "") -> ParameterSet:
    slow = (path, check) in SLOW
    return sharing(f"{path}-{check}", path, check, *more, name=name, mark="slow" if slow else "")


@pytest.mark.parametrize(
    ("path", "name", "asked", "smallest"),
    [_sharing(*row, name=f"{Path(row[0]).stem}-{row[1]}-{row[2]}") for row in THEORY],
)
def test_theory(path: str, name: str, asked: str, smallest: Mapping[str, int]) -> None:
    verdict = _verdicts(path, name)[asked]
    if smallest is HOLDS:
        assert verdict.word is Word.PROVED, verdict.reason
        assert verdict.certificate
        return
    assert verdict.word is Word.VIOLATED, verdict.reason
    assert verdict.trace is not None
    assert {k: verdict.trace.header.parameters[k] for k in smallest} == smallest


@pytest.mark.parametrize(("path", "name"), [_sharing(path, name) for path, name in _about_all()])
def test_what_the_library_expects(path: str, name: str) -> None:
    report = _report(path, name)
    assert report.expectations
    assert [e for e in report.expectations if not e.met] == []
    assert {e.what for e in report.expectations} == {v.property for v in report.verdicts}
    assert report.exit_code == 0
    assert all(v.trace is not None for v in report.verdicts if v.word is Word.VIOLATED)
    assert report.proof is not None
    assert report.proof.automaton is not None


def test_every_row_is_about_a_check_for_all() -> None:
    about_all = set(_about_all())
    rows = {(path, name) for path, name, _, _ in THEORY}
    assert rows <= about_all
    for path in sorted({path for path, _ in rows}):
        read = {(path, check.name) for check in load(str(specs() / path)).checks if check.every}
        assert read == {(file, name) for file, name in about_all if file == path}


@pytest.mark.parametrize(
    ("path", "name", "less"),
    [
        (ECHO, "for_every_n", "one_process_short"),
        (BOSCO, "strongly_one_step", "strongly_one_process_short"),
    ],
    ids=["n > 3T", "n > 7T"],
)
def test_tight(path: str, name: str, less: str) -> None:
    """One process less, or one fault more, and something fails: where theory says so above."""
    proof = prove_every(str(specs() / path), name, Options()).proof
    assert proof is not None
    assert proof.sufficient
    assert proof.tight
    found = [(weaker.property, dict(weaker.numbers)) for weaker in proof.weakened]
    theory = {(check, asked): smallest for file, check, asked, smallest in THEORY if file == path}
    assert found == [
        (asked, theory[check, asked])
        for (asked, _), check in zip(found, (less, "one_liar_more"), strict=True)
    ]
