"""Threshold automata as finite systems: the same states and verdicts as a plain search has, and
verdicts for every size are compared with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.exploration import explore
from checker.engines.options import Options
from checker.engines.search_engine import SearchProblem
from checker.parametric.automaton.automaton import (
    AllOf,
    AnyOf,
    AtLeast,
    Burst,
    Counts,
    Decision,
    Linear,
    Not,
    Outcome,
    Question,
    Somebody,
)
from checker.parametric.automaton.counters import CounterSystem
from checker.parametric.symbolic.cycles import comes_back
from checker.parametric.symbolic.decide import ParametricChecker
from checker.parametric.threshold.convert import convert
from checker.parametric.threshold.reader import read_text
from checker.parametric.threshold.specifications import Asked, questions_of, without
from checker.proving.small_sizes import compared, replay_at_its_sizes, search_small_sizes
from checker.proving.threshold import prove_file
from checker.records import replace
from checker.results.answer import Limits
from checker.results.mismatch import ReplayMismatch
from checker.results.verdict import Word
from tests.parametric.random_threshold_files import SIZES, File, Graph
from tests.parametric.threshold_texts import BROADCAST, CRASHES, changed
from tests.selection import some

BOUND = 6
"""The largest value of a variable."""
SOME = Options(limits=Limits(max_states=5000))


def asked(text: str) -> dict[str, list[Asked]]:
    """The questions of each specification that has some."""
    written = read_text(text, "f.ta")
    automaton, variables = convert(written)
    found: dict[str, list[Asked]] = {}
    for one in written.specifications:
        try:
            questions = list(questions_of(one, written, variables, automaton))
        except SpecError:
            continue
        if all(each.any_tail for each in questions) or not comes_back(automaton):
            found[one.name] = questions
    return found


def differences(engine: str, seed: int, *, resets: bool) -> list[str]:
    """What differs between an engine and a plain search of a random file, in words."""
    file = File(seed, resets)
    automaton, _ = convert(read_text(file.text, "f.ta"))
    counters = CounterSystem(automaton, Question("", AnyOf(), False), 3, BOUND)
    answer = explore(engine, SearchProblem(counters.system, Options()), None)
    graphs = [Graph(file, sizes, BOUND + 3) for sizes in SIZES]
    states = sum(
        len(graph.reached(graph.starts, lambda v: max(v["x"], v["y"]) <= BOUND)) for graph in graphs
    )
    found = [] if answer.distinct_states == states else [f"{answer.distinct_states}, not {states}"]
    for name, questions in asked(file.text).items():
        searched = [
            search_small_sizes(without(automaton, one.never), one.question, SOME, engine)
            for one in questions
        ]
        violated = any(one.run is not None for one in searched)
        decided = violated or all(one.all for one in searched)
        if decided and violated != file.violated(name):
            found.append(f"{name}: violated is {violated}")
    return [f"seed {seed}: {each}" for each in found]


def test_finite_systems_have_the_states_of_a_plain_search() -> None:
    assert [
        d for seed in range(some(8)) for d in differences("reference", seed, resets=False)
    ] == []
    assert [d for seed in range(some(4)) for d in differences("reference", seed, resets=True)] == []


@pytest.mark.slow
@pytest.mark.parametrize("resets", [False, True])
def test_machine_code_has_the_states_of_a_plain_search(resets: bool) -> None:
    assert [d for seed in range(60) for d in differences("native", seed, resets=resets)] == []


def first(text: str, name: str) -> tuple[ParametricChecker, Question]:
    automaton, _ = convert(read_text(text, "f.ta"))
    return ParametricChecker(automaton), asked(text)[name][0].question


def test_a_wrong_proof_is_not_reported() -> None:
    checker, question = first(CRASHES, "fewer")
    wrong = Decision(question, Outcome.PROVED, certificate="a wrong one")
    found = compared(wrong, checker.automaton, question, SOME)
    assert found.outcome is Outcome.UNKNOWN
    assert found.reason == "proved, but a run of small sizes violates it"


def test_a_right_proof_says_what_was_searched() -> None:
    checker, question = first(CRASHES, "bounded")
    found = compared(checker.decide(question), checker.automaton, question, SOME)
    assert found.outcome is Outcome.PROVED
    assert "; searched all " in found.certificate
    few = replace(SOME, limits=Limits(max_states=1))
    found = compared(checker.decide(question), checker.automaton, question, few)
    assert "; searched the first " in found.certificate


def test_a_run_is_replayed_with_bursts_of_several_processes() -> None:
    checker, question = first(BROADCAST, "nobody")
    run = checker.decide(question).run
    assert run is not None
    replay_at_its_sizes(checker.automaton, question, run)
    found = compared(checker.decide(question), checker.automaton, question, SOME)
    assert (found.outcome, found.certificate) == (Outcome.VIOLATED, "replayed by the interpreter")


def test_a_run_that_violates_nothing_is_refused() -> None:
    checker, question = first(BROADCAST, "nobody")
    run = checker.decide(question).run
    assert run is not None
    shorter = replace(run, segments=())
    with pytest.raises(ReplayMismatch):
        replay_at_its_sizes(checker.automaton, question, shorter)
    wrong = Decision(question, Outcome.VIOLATED, run=shorter)
    found = compared(wrong, checker.automaton, question, SOME)
    assert found.outcome is Outcome.UNKNOWN and "refuses a run" in found.reason
    impossible = replace(run, segments=((Burst(2, 1),), *run.segments))
    wrong = Decision(question, Outcome.VIOLATED, run=impossible)
    assert compared(wrong, checker.automaton, question, SOME).outcome is Outcome.UNKNOWN


def test_earlier_conditions_are_passed_in_their_order() -> None:
    """`order`: after somebody crashed, nobody is in `b`; violated by two processes only."""
    checker, question = first(CRASHES, "order")
    assert question.before
    found = search_small_sizes(checker.automaton, question, SOME, "reference")
    assert found.run is not None
    moved = [burst.rule for segment in found.run.segments for burst in segment]
    assert moved in ([1, 0], [0, 1])
    assert dict(found.run.values)["N"] == 2


def test_conditions_of_questions_mean_what_they_say() -> None:
    """In `Crashes` two processes may be in `c`, and one at most in `b`."""
    checker, _ = first(CRASHES, "bounded")
    for where, violated in ((1, False), (2, True)):
        two = Question("two", Somebody(frozenset({where}), 2), False)
        found = search_small_sizes(checker.automaton, two, SOME, "reference")
        assert (found.run is not None) == violated
    never = Question("never", Counts(Not(AtLeast(Linear((("N", 1),), -1)))), False)
    assert search_small_sizes(checker.automaton, never, SOME, "reference").run is None


def test_sizes_are_as_large_as_the_condition_needs() -> None:
    """Quotients are rounded down, here and in what is assumed."""
    at_first = Question("at first", AllOf(), False)
    many = replace(at_first, begins=Counts(AtLeast(Linear((("N", 1),), -5))))
    for condition, asked_of, largest, least in (
        ("N / 2 >= 2;", at_first, 5, 4), ("N > F;", at_first, 4, 2), ("N > F;", many, 6, 5),
    ):  # fmt: skip
        automaton, _ = convert(read_text(changed(CRASHES, "N > F;", condition), "f.ta"))
        found = search_small_sizes(automaton, asked_of, SOME, "reference")
        assert found.run is not None and found.largest == largest
        assert least <= dict(found.run.values)["N"] <= largest


def test_all_verdicts_on_a_file_are_compared_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "f.ta"
    path.write_text(BROADCAST, "utf-8")
    for options, searched, replayed in ((SOME, "searched all", "replayed"), (Options(), "", "")):
        verdicts = {v.property: v for v in prove_file(str(path), options).report.verdicts}
        proved, violated = verdicts["unforgeable"], verdicts["nobody"]
        assert (proved.word, violated.word) == (Word.PROVED, Word.VIOLATED)
        assert searched in proved.certificate and replayed in violated.certificate
        assert bool(violated.certificate) == bool(replayed)
