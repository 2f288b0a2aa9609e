"""Random protocols in rounds: what is proved of any number of rounds holds in one, two and three,
explored by the native engine; what is violated in one round is violated."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from checker.engines.options import Options
from checker.language.load import load_text
from checker.parametric.automaton.automaton import And, Outcome
from checker.parametric.automaton.questions import questions
from checker.parametric.extract.extract import extract
from checker.parametric.symbolic.decide import ParametricChecker
from checker.proving.size_conditions import equal_to
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import run_check

FEW, MANY = range(1), range(1, int(os.environ.get("BIVALENCE_ROUNDS", "60")))
SIZES = (({"n": 2, "T": 1, "f": 0}, (1, 2, 3)), ({"n": 2, "T": 1, "f": 1}, (1, 2)),
         ({"n": 3, "T": 1, "f": 0}, (1, 2)))  # fmt: skip
"""Sizes, and numbers of rounds."""

STATES = 20_000


def random_protocol(random: Random) -> str:
    """A protocol that votes and adopts by random thresholds; a second kind of message, a coin, and
    who is over are drawn as well."""
    bound = lambda: random.choice(["1", "2", "n - T", "n - f", "T + 1", "n", "n - 2 * T"])  # noqa: E731
    first, second = random.choice(["true", "false"]), random.choice(["true", "false"])
    other = "false" if first == "true" else "true"
    otherwise = random.choice(["", "", "else { value := flip() }", "else { value := not value }"])
    decided = random.choice(["decision == none and ", ""])
    echo = random.random() < 0.4
    waits = "#received(VOTE(round, _))"
    relay = (
        "  upon condition phase == voted and not echoed and "
        f"#received(VOTE(round, {first})) >= {bound()} "
        "{ echoed := true  send ECHO(round) to all }\n"
    )
    lost = random.choice(["echoed := false", "echoed := false", ""]) if echo else ""
    guard = f"{waits} >= {bound()}" + (f" and #received(ECHO(round)) >= {bound()}" if echo else "")
    return f"""\
protocol Random(T: Nat, last: Nat) {{
  message VOTE(round: 1..last, v: bool)
  message ECHO(round: 1..last)
  state round : 1..last = 1
  state value = false
  init choose value
  state phase : enum {{ begin, voted, over }} = begin
  state echoed = false
  state decision : option<bool> = none
  upon condition phase == begin {{
    phase := voted
    send VOTE(round, value) to all
  }}
{relay if echo else ""}\
  upon condition phase == voted and {guard} {{
    if {decided}#received(VOTE(round, {first})) >= {bound()} {{ decision := some({first}) }}
    else if #received(VOTE(round, {other})) >= {bound()} {{ decision := some({other}) }}
    if #received(VOTE(round, {second})) >= {bound()} {{ value := {second} }} {otherwise}
    {lost}
    if round < last {{ round += 1  phase := begin }} else {{ phase := over }}
  }}
  property agreement: always forall p, q in Proc:
    not (p.decision == some(true) and q.decision == some(false))
  property known: always forall p in Proc, v in bool:
    (forall q in Proc: q.value == v) and p.phase == over => p.decision != some(not v)
  property echoes: always forall p in Proc: p.echoed => exists q in Proc: q.value == {first}
}}
check every of Random {{
  for all n, T, f, last when f <= T
  faults crash <= f
  prove agreement, known, echoes
}}
"""


def disagreements(seed: int, folder: Path, most: int) -> tuple[list[str], int, int]:
    """What is wrong, and how many answers were proved, and violated in a round; ``most``: sizes."""
    text = random_protocol(Random(seed))
    path = folder / f"random{seed}.bcast"
    path.write_text(text, "utf-8")
    (check, *_) = load_text(text, str(path)).checks
    automaton = extract(check)
    asked = questions(check, automaton)
    wrong, proved, violated = list[str](), 0, 0
    for sizes, rounds in SIZES[:most]:
        checker = ParametricChecker(automaton, resilience=And()).assuming(equal_to(sizes))
        outcomes = {q.property: checker.decide(q).outcome for q in asked}
        explored: dict[str, set[Word]] = {q.property: set() for q in asked}
        for last in rounds:
            settings = {name: str(value) for name, value in (*sizes.items(), ("last", last))}
            limits = Limits(max_states=STATES, timeout=30.0)
            options = Options(settings=settings, engine="native", limits=limits, explain=None)
            for verdict in run_check(str(path), "every", options).verdicts:
                explored[verdict.property].add(verdict.word)
        for name, outcome in outcomes.items():
            proved += outcome is Outcome.PROVED
            violated += outcome is Outcome.VIOLATED
            if outcome in (Outcome.PROVED, Outcome.VACUOUS) and Word.VIOLATED in explored[name]:
                wrong.append(f"{seed} at {sizes}: {name} is {outcome}, and violated")
            if outcome is Outcome.VIOLATED and explored[name] == {Word.HOLDS}:
                wrong.append(f"{seed} at {sizes}: {name} is violated, and holds")
    return wrong, proved, violated


def test_what_is_proved_of_all_rounds_holds_in_few(tmp_path: Path) -> None:
    found = [disagreements(seed, tmp_path, 1) for seed in FEW]
    assert [each for wrong, _, _ in found for each in wrong] == []
    assert sum(proved for _, proved, _ in found) > 0
    assert sum(violated for _, _, violated in found) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_what_is_proved_of_all_rounds_holds_in_few_of_many(seed: int, tmp_path: Path) -> None:
    wrong, _, _ = disagreements(seed, tmp_path, len(SIZES))
    assert wrong == []
