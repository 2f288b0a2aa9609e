"""Automata extracted from protocols: their sizes, and that they do just what finite systems do."""

from __future__ import annotations

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load, load_text
from checker.language.syntax import typed
from checker.parametric.automaton.automaton import And, AtLeast, Automaton, Linear, Mode
from checker.parametric.extract.extract import extract
from checker.resources import specs
from tests.parametric.projecting import Abstract, Finite
from tests.parametric.random_specs import spec

HISTORIES = {
    "delivered": "@history.deliver",
    "broadcast": "@history.broadcast",
    "decided": "@history.decide",
    "proposed": "@history.propose",
}


def check_in(file: str, name: str = "for_every_n") -> typed.Check:
    return next(c for c in load(str(specs() / file)).checks if c.name == name)


def of_text(text: str) -> typed.Check:
    return load_text(text, "example.bcast").checks[0]


def at_least(constant: int, **terms: int) -> AtLeast:
    return AtLeast(Linear(tuple(sorted(terms.items())), constant))


# ---- sizes ------------------------------------------------------------------------------------


def test_the_echo_broadcast_has_a_location_for_each_state() -> None:
    """Three bits.  Whoever wishes echoes at any time, so no rule for that waits for T + 1; who has
    accepted has received more than T."""
    found = extract(check_in("byzantine/echo.bcast"))
    assert len(found.locations) == 8
    assert sum(location.initial for location in found.locations) == 2
    assert [kind.name for kind in found.kinds] == ["ECHO"]
    assert found.kinds[0].forged == Linear((("byzantine", 1),))
    assert [group.mode for group in found.groups] == [Mode.CORRECT]
    assert found.groups[0].size == Linear((("byzantine", -1), ("n", 1)))
    wishing = [r for r in found.rules if dict(found.locations[r.source].values)["wants"]]
    assert And() in {rule.guard for rule in wishing}
    assert at_least(-1, **{"#ECHO": 1, "T": -1}) not in {rule.guard for rule in wishing}


def test_who_does_not_echo_to_itself_counts_itself() -> None:
    found = extract(check_in("byzantine/echo.bcast"))
    for location in found.locations:
        values = dict(location.values)
        if values["echoed"] and not values["accepted"]:
            (rule,) = [r for r in found.rules if found.locations[r.source] is location]
            assert rule.guard == at_least(1, **{"#ECHO": 1, "n": -1, "T": 1})
            assert location.own == {0}


def test_brachas_broadcast_has_two_groups() -> None:
    """Without a name: echoed or not, ready or not, nothing or one of two messages delivered.  The
    sender has these places once it has made its request, and before that those without an echo."""
    found = extract(check_in("byzantine/bracha.bcast"))
    assert [group.process for group in found.groups] == [None, "p1"]
    sizes = [sum(place.group == number for place in found.locations) for number in (0, 1)]
    assert sizes == [2 * 2 * 3, 2 * 3 + 2 * 2 * 3]
    assert [(q.numerator, q.divisor) for q in found.quotients] == [
        (Linear((("f", 1), ("n", 1))), 2)
    ]
    sends = [kind for kind in found.kinds if kind.message == "SEND"]
    assert {kind.sender for kind in sends} == {"p1"}
    assert {kind.forged for kind in sends} == {Linear((("byzantine_p1", 1),))}


def test_rules_make_no_cycle_and_lead_elsewhere() -> None:
    for file in sorted((specs() / "for_every_n").glob("*.bcast")):
        check = next(c for c in load(str(file)).checks if c.every)
        _acyclic(extract(check))


def _acyclic(found: Automaton) -> None:
    after = {number: set[int]() for number in range(len(found.locations))}
    for rule in found.rules:
        assert rule.source != rule.target
        assert rule.guard != AtLeast(Linear())
        after[rule.source].add(rule.target)
    left = set(after)
    while left:
        ends = {number for number in left if not after[number] & left}
        assert ends
        left -= ends


# ---- the finite system ------------------------------------------------------------------------


def agree(
    check: typed.Check, numbers: dict[str, int], names: set[str], *, exact: bool = True
) -> None:
    """The same is reached, and the same can be so forever (more in the automaton unless
    ``exact``)."""
    abstract = Abstract(check, numbers)
    finite = Finite(check, {k: str(v) for k, v in numbers.items()}, abstract.named)
    seen = frozenset(names)
    reached, ends = abstract.both(seen)
    found = finite.crowds(seen, HISTORIES)
    assert found <= reached
    assert reached == found or not exact
    in_the_end = finite.ends(seen, HISTORIES)
    assert in_the_end <= ends
    assert ends == in_the_end or not exact


@pytest.mark.parametrize("numbers", [(2, 0, 0), (2, 1, 0), (2, 0, 1), (2, 1, 1)])
def test_echo_broadcast_at_small_numbers(numbers: tuple[int, int, int]) -> None:
    check = check_in("byzantine/echo.bcast")
    agree(check, dict(zip(("n", "T", "f"), numbers, strict=True)), {"wants", "echoed", "accepted"})


@pytest.mark.parametrize("numbers", [(2, 0), (2, 1)])
def test_brachas_broadcast_at_small_numbers(numbers: tuple[int, int]) -> None:
    check = check_in("byzantine/bracha.bcast")
    names = {"echoed", "ready", "done", "delivered", "broadcast"}
    agree(check, dict(zip(("n", "f"), numbers, strict=True)), names)


@pytest.mark.parametrize("numbers", [(2, 0), (2, 1)])
def test_folklore_broadcast_at_small_numbers(numbers: tuple[int, int]) -> None:
    check = check_in("for_every_n/folklore_broadcast.bcast")
    agree(check, dict(zip(("n", "f"), numbers, strict=True)), {"wants", "accepted"})


@pytest.mark.parametrize("numbers", [(2, 0, 0), (2, 1, 0), (2, 0, 1), (2, 1, 1)])
def test_crashes_and_lies_together_at_small_numbers(numbers: tuple[int, int, int]) -> None:
    check = check_in("for_every_n/hybrid_broadcast.bcast")
    agree(check, dict(zip(("n", "B", "C"), numbers, strict=True)), {"wants", "accepted"})


def test_a_crash_may_fall_between_two_effects() -> None:
    check = of_text("""
protocol Example(sender: Proc) implements ReliableBroadcast {
  message GO(m: Msg)
  state seen = false
  upon request broadcast(m) { send GO(m) to all }
  upon condition #received(GO(m)) >= 1 when not seen {
    seen := true
    deliver(sender, m)
    send GO(m) to all
    deliver(sender, m)
  }
  property quiet: always forall p in Proc, x in delivered(p): not p.seen
  property once: always forall p in Proc, x in delivered(p): repeated(p, x) and p.seen
  property asked: always forall p in Proc, m in broadcast(p): p.seen
}
check every of Example {
  for all n, f
  faults crash <= f
  clients { p1 broadcasts a }
  prove quiet, once, asked
}
""")
    agree(check, {"n": 2, "f": 1}, {"seen", "delivered", "broadcast"})


def test_what_comes_too_early_is_lost() -> None:
    """A GO that comes before the READY has no handler, and does not come again."""
    text = """
protocol Example {
  message READY
  message GO
  state begun = false
  state ready = false
  state gone = false
  upon condition not begun { begun := true  send READY to all  send GO to all }
  upon condition #received(READY) >= n when not ready { ready := true }
  upon receive GO from p when ready and not gone { gone := true }
  property goes: forall p in Proc: correct(p) ~> p.gone and p.ready and p.begun
}
check every of Example { for all n, f  faults crash <= f  prove goes }
"""
    names = {"begun", "ready", "gone"}
    agree(of_text(text), {"n": 2, "f": 0}, names)
    calm = text.replace("faults crash <= f", "links stubborn")
    agree(of_text(calm), {"n": 2, "f": 0}, names)


def test_what_is_sent_at_the_start_has_its_effect_at_once() -> None:
    check = of_text("""
protocol Example {
  message GO
  state begun = false
  state gone = false
  upon init { begun := true  send GO to Proc minus {self} }
  upon receive GO when not gone { gone := true }
  property goes: forall p in Proc: correct(p) ~> p.gone and p.begun
}
check every of Example { for all n, f  faults crash <= f  prove goes }
""")
    agree(check, {"n": 2, "f": 0}, {"begun", "gone"})
    agree(check, {"n": 2, "f": 1}, {"begun", "gone"})


def test_counts_are_looked_at_when_a_message_comes() -> None:
    """What comes before there is enough of it is taken for missed, where the process moves on."""
    text = """
protocol Example {
  message VOTE(v: 0..1)
  state voted = false
  state chosen : option<0..1> = none
  upon condition not voted {
    voted := true
    either { send VOTE(0) to all } or { send VOTE(1) to all }
  }
  upon receive VOTE(v) when chosen == none {
    if #received(VOTE(v)) > f { chosen := some(v) }
    // else
  }
  property chooses: forall p in Proc: correct(p) ~> p.chosen != none and p.voted
}
check every of Example { for all n, f  faults crash <= f  prove chooses }
"""
    agree(of_text(text), {"n": 2, "f": 0}, {"voted", "chosen"}, exact=False)
    agree(of_text(text), {"n": 2, "f": 1}, {"voted", "chosen"}, exact=False)
    both = text.replace("// else", "else if #received(VOTE(_)) == n { chosen := some(0) }")
    agree(of_text(both), {"n": 2, "f": 0}, {"voted", "chosen"}, exact=False)


def test_a_condition_that_changes_nothing_is_an_excuse() -> None:
    """Whoever tosses a coin again and again need not go on."""
    check = of_text("""
protocol Example {
  message GO
  state on = false
  upon condition not on { either { skip } or { on := true } }
  property goes: forall p in Proc: correct(p) ~> p.on
}
check every of Example { for all n, f  faults crash <= f  prove goes }
""")
    found = extract(check)
    start = next(n for n, place in enumerate(found.locations) if place.initial)
    ends = {r.source for r in found.rules}
    rest = [r.target for r in found.rules if r.source == start and r.target not in ends]
    assert any(found.locations[n].values == found.locations[start].values for n in rest)


def test_what_a_liar_has_sent_need_not_come_again() -> None:
    """Who has received GO and SET from one liar has seen GO before it could take it; on stubborn
    links a correct process would send it again."""
    check = of_text("""
protocol Example {
  message GO
  message SET
  state ready = false
  state gone = false
  upon condition #received(GO) + #received(SET) >= f + 1 when not ready { ready := true }
  upon receive GO when ready and not gone { gone := true }
  property goes: forall p in Proc: correct(p) and p.ready ~> p.gone
}
check every of Example {
  for all n, f
  faults byzantine <= f
  links authenticated, stubborn
  prove goes
}
""")
    agree(check, {"n": 2, "f": 1}, {"ready", "gone"}, exact=False)


@pytest.mark.parametrize("seed", [1, 4, 7, 9, 12, 20, 22, 23, 27])
def test_random_protocols_at_two_processes(seed: int) -> None:
    names = {"stage", "flag", "decided"}
    agree(of_text(spec(seed)), {"n": 2, "f": 1}, names, exact=False)


# ---- sizes of checks --------------------------------------------------------------------------


def test_f_is_how_many_may_be_faulty_where_nothing_else_is_said() -> None:
    text = """
protocol Example(T: Nat) {
  message GO
  state done = false
  upon condition #received(GO) > f when not done { done := true }
  upon condition not done { done := true  send GO to all }
  property sound: always forall p in Proc: not p.done
}
check every of Example { for all n, T  faults crash <= 2 * T + 1  prove sound }
"""
    guards = {rule.guard for rule in extract(of_text(text)).rules}
    assert at_least(-2, **{"#GO": 1, "T": -2}) in guards


def test_a_quotient_may_be_negative() -> None:
    text = """
protocol Example {
  message GO
  state done = false
  upon condition #received(GO) >= (n - 3 * f) div 2 when not done { done := true  send GO to all }
  property sound: always forall p in Proc: not p.done
}
check every of Example { for all n, f  faults crash <= f  prove sound }
"""
    found = extract(of_text(text))
    (quotient,) = found.quotients
    assert quotient.numerator == Linear((("f", -3), ("n", 1)))
    assert {rule.guard for rule in found.rules} == {at_least(0, **{"#GO": 1, quotient.name: -1})}


def test_a_check_with_sizes_is_asked_without_them() -> None:
    text = """
protocol Example(T: Nat) requires n > 3 * T {
  message GO
  state done = false
  upon condition #received(GO) > T when not done { done := true }
  upon condition not done { done := true  send GO to all }
  property sound: always forall p in Proc: not p.done
}
check four of Example { n = 4  T = 1  faults crash <= 2  prove sound }
"""
    found = extract(of_text(text))
    assert found.parameters == ("n", "f", "T")
    assert found.resilience == at_least(-1, n=1, T=-3)
    assert at_least(0, f=1, crashing=-1) in found.constraints[0].parts  # type: ignore[union-attr]


def test_every_construct_outside_is_told() -> None:
    check = of_text("""
protocol Example {
  message GO
  shared state board : 0..1 = 0
  state done = false
  upon timeout { done := true }
  property sound: always forall p in Proc: not p.done
}
check every of Example {
  for all n, f
  timing synchronous
  faults omission <= f
  prove sound
}
""")
    with pytest.raises(SpecError) as raised:
        extract(check)
    codes = [d.code for d in raised.value.diagnostics]
    assert sorted(codes) == ["T001", "T003", "T004", "T004"]
    assert all(d.span is not None and d.hint for d in raised.value.diagnostics)


@pytest.mark.parametrize(
    ("faults", "told"),
    [
        ("power <= f, recover", "power failures"),
        ("power <= 1, recover, sync <= 1", "power failures"),
        ("wipe <= f, recover", "lost disks"),
        ("pause", "processes that pause"),
        ("cut <= 1", "links that may be cut"),
    ],
)
def test_faults_outside_are_told(faults: str, told: str) -> None:
    check = of_text(f"""
protocol Example {{
  stable state done = false
  upon condition not done {{ done := true  sync done }}
  property sound: always forall p in Proc: not p.done
}}
check every of Example {{ for all n, f  faults {faults}  prove sound }}
""")
    with pytest.raises(SpecError) as raised:
        extract(check)
    assert [(d.code, d.message) for d in raised.value.diagnostics] == [("T003", told)]


def test_tuple_patterns_and_truth_values_are_followed() -> None:
    """The echo broadcast with its assignment in pieces; who is eager echoes unasked."""
    text = (specs() / "byzantine/echo.bcast").read_text(encoding="utf-8")
    pieces = """let (now, (_, later)) = (true, (0, echoed))
      choose (a, b) in {(now, later), (later, later)} when a
      echoed := a and not b"""
    text = text.replace("echoed := true", pieces).replace("(T: Nat", "(T: Nat, eager: bool")
    text = text.replace("wants and not echoed", "(wants or eager) and not echoed")
    patient, eager = (
        extract(of_text(text.replace("for all", f"eager = {value}  for all")))
        for value in ("false", "true")
    )
    written = extract(check_in("byzantine/echo.bcast"))
    assert {rule.guard for rule in patient.rules} == {rule.guard for rule in written.rules}
    assert len(patient.rules) == len(written.rules)
    unguarded = (sum(rule.guard == And() for rule in found.rules) for found in (patient, eager))
    assert next(unguarded) < next(unguarded)
