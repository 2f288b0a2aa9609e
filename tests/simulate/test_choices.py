"""Each way to go on has a phrase of its own, in the words of the spec."""

from __future__ import annotations

import pytest

from checker.model import interpreter
from checker.simulate.choices import Choice, choices, starts
from checker.simulate.phrase_matching import Unclear, match_choice
from tests.simulate.opening import library, spec

CHOOSES = """
protocol Chooses {
  state x : 0..3 = 0
  state y : 0..1
  init choose y
  upon condition x == 0 { choose k in (1..2)  x := k }
}
check one of Chooses { n = 1 }
"""

SPECS = (
    "broadcast/eager_reliable.bcast::crash_one",
    "total_order/sequencer_takeover.bcast::crash_one",
    "exactly_once/winch.bcast::lower_then_log",
    "commit/two_phase_commit.bcast::crash_one",
    "links/alternating_bit.bcast::lossy_fifo",
    "byzantine/bracha.bcast::three",
    "time/leases.bcast::asked_again",
    "consensus/rotating_coordinator.bcast::crash_one",
)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("name", SPECS)
def test_phrases_are_unique_and_nothing_is_left_out(name: str, fine: bool) -> None:
    system = library(name, fine).system
    todo = interpreter.initial_states(system)
    seen = set(todo)
    for state in todo[:40]:
        found = choices(system, state)
        assert len({way.text for way in found.ways}) == len(found.ways)
        possible = {t.successor for t in interpreter.successors(system, state)} - {None}
        assert {way.successor for way in found.ways} == possible
        for way in found.ways:
            assert match_choice(way.text, found.ways) == way
            if way.successor not in seen:
                seen.add(way.successor)
                todo.append(way.successor)


def test_phrases_are_in_the_words_of_the_spec() -> None:
    system = library("broadcast/eager_reliable.bcast::crash_one").system
    start = interpreter.initial_states(system)[0]
    found = choices(system, start).by_process()
    assert {process: [way.text for way in ways] for process, ways in found.items()} == {
        "p1": ["p1 broadcasts a", "p1 crashes"],
        "p2": ["p2 crashes"],
        "p3": ["p3 crashes"],
    }


def test_a_crash_inside_a_handler_says_where() -> None:
    system = library("exactly_once/winch.bcast::lower_then_log").system
    start = interpreter.initial_states(system)[0]
    assert [way.text for way in choices(system, start).ways] == [
        "p1: upon condition made < steps",
        "p1 crashes",
        "p1: upon condition made < steps, and crashes after performing 1",
        "p1: upon condition made < steps, and crashes before performing 1",
    ]


def test_what_has_one_phrase_and_several_outcomes_is_told_apart() -> None:
    system = spec(CHOOSES).system
    assert [way.text for way in starts(system)] == [
        "the run starts with y = {p1: 0}",
        "the run starts with y = {p1: 1}",
    ]
    found = choices(system, starts(system)[0].successor).ways
    assert [way.text for way in found] == [
        "p1: upon condition x == 0, so that x = {p1: 1}",
        "p1: upon condition x == 0, so that x = {p1: 2}",
    ]


def test_a_loss_is_the_worlds() -> None:
    system = library("links/alternating_bit.bcast::lossy_fifo").system
    start = interpreter.initial_states(system)[0]
    sent = choices(system, start).ways[0]
    found = choices(system, sent.successor).by_process()
    assert [way.text for way in found[""]] == ["the link loses DATA(false, 1) from s1 to r1"]
    assert list(found) == ["r1", "s1", ""]


def test_long_conditions_are_cut_and_can_be_said_in_full() -> None:
    condition = " and ".join(f"x < {number}" for number in range(10, 30))
    text = f"""
protocol Long {{
  state x : 0..3 = 0
  upon condition x == 0 and {condition} {{ x := 1 }}
}}
check one of Long {{ n = 1  faults crash <= 1 }}
"""
    system = spec(text).system
    ways = choices(system, interpreter.initial_states(system)[0]).ways
    step = next(way for way in ways if way.kind == "step")
    assert step.text.startswith("p1: upon condition x == 0 and x < 10 and ")
    assert step.text.endswith(" …")
    assert len(step.text) <= 74
    for words in (step.text, f"p1: upon condition x == 0 and {condition}", "p1: upon condition"):
        assert match_choice(words, ways) == step


# ---- what words mean ----------------------------------------------------------------------------


def test_words_are_a_phrase_or_its_beginning_or_have_a_gap() -> None:
    system = library("total_order/sequencer_takeover.bcast::crash_one").system
    start = interpreter.initial_states(system)[0]
    ways = choices(system, start).ways
    for words in (
        "p2 broadcasts a",
        "p2  broadcasts",
        "p2 broadcast a",
        "p2 is asked: broadcast(a)",
    ):
        found = match_choice(words, ways)
        assert isinstance(found, Choice)
        assert found.text == "p2 broadcasts a"
    found = match_choice("… broadcasts b", ways)
    assert isinstance(found, Choice)
    assert found.process == "p3"


def test_half_a_word_means_nothing() -> None:
    system = library("broadcast/eager_reliable.bcast::crash_one").system
    ways = choices(system, interpreter.initial_states(system)[0]).ways
    found = match_choice("p1 broad", ways)
    assert isinstance(found, Unclear)
    assert found.message == "`p1 broad` can't happen here"
    assert found.choices[0] == "p1 broadcasts a"


def test_words_that_could_be_several_steps_are_refused_with_those() -> None:
    system = library("broadcast/eager_reliable.bcast::crash_one").system
    ways = choices(system, interpreter.initial_states(system)[0]).ways
    assert match_choice("p1", ways) == Unclear(
        "`p1` can mean 2 different steps", ("p1 broadcasts a", "p1 crashes")
    )


def test_the_beginning_of_a_step_means_the_whole_handler() -> None:
    system = library("exactly_once/winch.bcast::lower_then_log").system
    ways = choices(system, interpreter.initial_states(system)[0]).ways
    texts = [
        way.text
        for words in ("p1: upon condition made", "p1: upon … steps, and crashes after")
        if isinstance(way := match_choice(words, ways), Choice)
    ]
    assert texts == [
        "p1: upon condition made < steps",
        "p1: upon condition made < steps, and crashes after performing 1",
    ]


def test_a_message_needs_no_words_that_a_layer_puts_around_it() -> None:
    system = library("broadcast/lazy_reliable.bcast::crash_one").system
    start = interpreter.initial_states(system)[0]
    asked = match_choice("p1 broadcasts a", choices(system, start).ways)
    assert isinstance(asked, Choice)
    ways = choices(system, asked.successor).ways
    for words in ("p2 receives DATA", "p2 receives DATA(p1, a) from p1", "p2 receives COPY(DATA"):
        found = match_choice(words, ways)
        assert isinstance(found, Choice)
        assert found.text == "p2 receives COPY(DATA(p1, a)) from p1"
