"""Protocols in rounds: what is proved for any number of rounds, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.options import Options
from checker.language.load import load_text
from checker.parametric.automaton.automaton import Automaton, Outcome
from checker.parametric.automaton.questions import questions
from checker.parametric.drawing.text_drawing import draw_text
from checker.parametric.extract.extract import extract
from checker.parametric.symbolic.decide import ParametricChecker
from checker.proving.parametric import prove_every
from checker.results.verdict import Word
from tests.parametric.protocols_in_rounds import ROUNDS
from tests.parametric.threshold_texts import changed


def refusals(text: str) -> tuple[Diagnostic, ...]:
    try:
        (check, *_) = load_text(text, "rounds.bcast").checks
        questions(check, extract(check))
    except SpecError as error:
        return error.diagnostics
    return ()


def outcome(text: str) -> Outcome:
    (check, *_) = load_text(text, "rounds.bcast").checks
    automaton = extract(check)
    (question,) = questions(check, automaton)
    return ParametricChecker(automaton, seconds=30.0).decide(question).outcome


def test_agreement_of_any_number_of_rounds_is_proved() -> None:
    assert outcome(ROUNDS) is Outcome.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n > 3 * T", "n >= 3 * T"),
        ("n - 2 * T)", "T)"),
        ("{ value := true }\n    else if", "{ value := false }\n    else if"),
        ("send VOTE(round, value)", "send VOTE(round, not value)"),
    ],
)
def test_agreement_that_a_later_round_breaks_is_not_proved(old: str, new: str) -> None:
    """Each leaves one round as good as before, and loses what is decided in it."""
    assert outcome(changed(ROUNDS, old, new)) is Outcome.UNKNOWN


def test_a_violation_in_the_second_round_is_found_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "rounds.bcast"
    path.write_text(changed(ROUNDS, "n > 3 * T", "n >= 3 * T"), "utf-8")
    (verdict,) = prove_every(str(path), "every", Options(explain=None), tight=False).verdicts
    assert verdict.word is Word.VIOLATED and verdict.trace is not None
    assert "n=3" in verdict.reason and "last=2" in verdict.reason


def test_a_decision_of_an_earlier_round_counts_against_later_ones() -> None:
    """Where votes are forgotten, a process may decide in the first round and take no further step,
    and others decide the other value in the second one."""
    assert outcome(changed(ROUNDS, "adopts: Nat = n - 2 * T", "adopts: Nat = n")) is Outcome.UNKNOWN


def left_behind(automaton: Automaton) -> list[int]:
    return [at for at, after in enumerate(automaton.next_round) if at == after]


def test_who_is_ahead_begins_the_next_round_and_others_are_left_behind() -> None:
    (check, *_) = load_text(ROUNDS, "rounds.bcast").checks
    automaton = extract(check)
    ahead = [
        at for at, after in enumerate(automaton.next_round) if after not in left_behind(automaton)
    ]
    assert ahead and left_behind(automaton)
    leaving = {rule.source for rule in automaton.rules}
    assert not leaving & {*ahead, *left_behind(automaton)}
    for at in ahead:
        after = automaton.locations[automaton.next_round[at]]
        assert after.values == automaton.locations[at].values
        assert automaton.next_round[at] in leaving and not after.known and not after.own
    assert automaton.rounds == "last"


COUNTS = "#received(VOTE(round, _)) >= n - T"
MORE = "if #received(VOTE(round, true)) >= 1 { value := true }"


@pytest.mark.parametrize(
    ("old", "new", "code", "underlined"),
    [
        ("send VOTE(round, value)", "send VOTE(1, value)", "E161", "1, value"),
        (COUNTS, "#received(VOTE(1, _)) >= n - T", "E161", "received"),
        (COUNTS, "#received(VOTE(_, true)) >= 1", "E161", "received"),
        (COUNTS, "#received(VOTE(r, true)) >= 1", "E161", "upon"),
        ("round += 1", "round += 2", "E161", "round"),
        ("round += 1", "round := 1", "E161", "round"),
        ("      round += 1\n", "      round += 1\n      round += 1\n", "E161", "round += 1"),
        ("if round < last {", "if round < 3 {", "E161", "round < 3"),
        ("if round < last {", "if last > 3 {", "E161", "last > 3"),
        ("begin {", "begin and round == 2 {", "E161", "round == 2"),
        ("    phase := voted\n", "    phase := voted\n    value := round == 1\n", "E161", "round"),
        (": 1..last = 1", ": 1..last = last", "E161", "round"),
        ("init choose value", "init choose value\n  init choose round", "E161", "init"),
        ("init choose value", "message GO\n  init choose value", "", ""),
        ("begin {", "begin and #received(VOTE(round, _)) == 0 {", "", ""),
        (
            "  upon condition phase == begin {",
            "  upon receive VOTE(r, v) from p when r < round { value := v }\n"
            "  upon condition phase == begin {",
            "E161",
            "upon receive",
        ),
        ("      phase := begin\n", f"      phase := begin\n      {MORE}\n", "E161", "if #received"),
        ("if round < last {", "if true {", "T016", "round"),
        ("not (p.decision", "not (p.round == q.round and p.decision", "E163", "p.round"),
        (
            "property agreement: always forall p, q in Proc:\n    "
            "not (p.decision == some(true) and q.decision == some(false))",
            "property agreement: forall p in Proc: correct(p) ~> p.decision != none",
            "E162",
            "forall",
        ),
    ],
)  # fmt: skip
def test_what_is_not_communication_closed_is_refused(
    old: str, new: str, code: str, underlined: str
) -> None:
    text = changed(ROUNDS, old, new)
    found = refusals(text)
    if not code:
        assert found == ()
        return
    assert code in [each.code for each in found]
    spans = [each.span for each in found if each.code == code]
    lines = text.splitlines()
    assert any(s and lines[s.line - 1][s.column - 1 :].startswith(underlined) for s in spans)
    assert all(each.hint for each in found)


def test_a_message_without_a_round_is_refused() -> None:
    text = changed(ROUNDS, "  state round", "  message GO\n  state round")
    text = changed(text, "begin {", "begin and #received(GO) >= 0 {")
    assert [each.code for each in refusals(text)] == ["E161"]


def test_a_round_that_is_entered_in_a_procedure_is_the_same() -> None:
    text = changed(ROUNDS, "  upon condition phase == begin {", "  procedure go() { round += 1 }\n"
                   "  upon condition phase == begin {")  # fmt: skip
    assert outcome(changed(text, "      round += 1\n", "      go()\n")) is Outcome.PROVED


def test_what_is_known_of_a_round_ends_with_it() -> None:
    """Behind `round += 1` the next round may be the last one, and a process can be over in it."""
    old = "      phase := begin\n    } else {\n      phase := over\n    }\n"
    new = "    }\n    if round == last { phase := over } else { phase := begin }\n"
    text = changed(ROUNDS, old, new)
    (check, *_) = load_text(text, "rounds.bcast").checks
    automaton = extract(check)
    ahead = [
        dict(automaton.locations[at].values)["phase"]
        for at, after in enumerate(automaton.next_round)
        if "next round" in automaton.locations[at].name
    ]
    assert {*ahead} == {"begin", "over"}


def test_the_drawing_shows_where_a_round_begins() -> None:
    (check, *_) = load_text(ROUNDS, "rounds.bcast").checks
    automaton = extract(check)
    drawn = draw_text(automaton)
    behind = left_behind(automaton)
    ahead = [at for at in range(len(automaton.locations)) if automaton.next_round[at] not in behind]
    for at in ahead:
        assert f"[begins the next round in {automaton.next_round[at]}]" in drawn
    assert drawn.count("[begins the next round in ") == len(ahead)
    assert drawn.count("[left behind in an earlier round]") == len(behind)


SEEN = """\
protocol Seen(last: Nat) {
  message VOTE(round: 1..last)
  state round : 1..last = 1
  state phase : enum { begin, voted } = begin
  state late = false
  upon condition phase == begin { phase := voted  send VOTE(round) to all }
  upon condition phase == voted and #received(VOTE(round)) >= n and round < last {
    round += 1
    phase := begin
    late := true
  }
  property seen: always forall p, q in Proc: p.late => q.late or q.phase == voted
}
check every of Seen { for all n, last  prove seen }
"""


def test_a_premise_of_later_rounds_is_not_vacuous() -> None:
    """Nobody votes late in the first round; whoever does has the votes of all."""
    later = changed(SEEN, "p.late =>", "p.late and p.phase == voted =>")
    assert outcome(later) is Outcome.PROVED
    assert outcome(changed(later, "late := true", "late := false")) is Outcome.VACUOUS


def test_a_round_is_entered_though_a_process_is_as_it_was() -> None:
    """The message that it sends is another one, of the next round."""
    text = changed(SEEN, "    phase := begin\n    late := true\n", "    send VOTE(round) to all\n")
    (check, *_) = load_text(text, "rounds.bcast").checks
    automaton = extract(check)
    (ahead,) = (
        at for at, after in enumerate(automaton.next_round) if after not in left_behind(automaton)
    )
    assert [rule.sends for rule in automaton.rules if rule.target == ahead] == [()]
    begun = automaton.next_round[ahead]
    assert [rule.sends for rule in automaton.rules if rule.source == begun] == [(0,)]


def test_what_is_sent_behind_the_end_of_a_round_belongs_to_the_next_one() -> None:
    text = changed(SEEN, "  state round", "  message READY(round: 1..last)\n  state round")
    text = changed(text, "late := true", "late := true\n    send READY(round) to all")
    text = changed(text, "phase == begin {", "phase == begin and #received(READY(round)) >= 0 {")
    text = changed(text, ">= n and", ">= n and #received(READY(round)) < n and")
    (check, *_) = load_text(text, "rounds.bcast").checks
    automaton = extract(check)
    ready = [kind.name for kind in automaton.kinds].index("READY")
    behind = left_behind(automaton)
    begins = {after for after in automaton.next_round if after not in behind}
    sending = [rule for rule in automaton.rules if ready in rule.sends]
    assert sending and {rule.source for rule in sending} == begins


def test_every_round_has_its_messages() -> None:
    """A process passes a second round, for all vote again, once all have passed the first one."""
    counted = changed(SEEN, "late = false", "late : 0..2 = 0")
    counted = changed(counted, "round < last {", "round < last and late < 2 {")
    counted = changed(counted, "late := true", "late += 1")
    counted = changed(counted, "p.late => q.late or q.phase == voted", "p.late < 2 or q.late > 5")
    assert outcome(counted) is Outcome.UNKNOWN
    assert outcome(changed(counted, "p.late < 2 or q.late > 5", "p.late < 2 or q.late > 0")) is (
        Outcome.PROVED
    )
