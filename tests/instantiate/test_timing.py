"""Timers in each model of timing, rounds, and clocks that drift."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from tests.instantiate.tables import WAYS, Case, compare, run

LATE = """
protocol P(sender: Proc) {
  message M
  state got = false
  state early = false
  state done = false
  upon init { start t after 2 }
  upon init at sender { send M to all }
  upon receive M { got := true }
  upon timeout t { done := true  early := not got }
  property on_time : always forall p in Proc: not p.early
  property over : forall p in Proc: not p.done ~> p.done
}
"""

FLOOD = """
protocol FloodSet(rounds: Nat) implements UniformConsensus {
  message VALUES(s: set<0..1>)
  state known : set<0..1> = {}
  state round : 0..9 = 0
  upon request propose(v) { known += v  send VALUES({v}) to all }
  upon receive VALUES(s) { known := known union s }
  upon timeout when round < rounds {
    round += 1
    if round < rounds { send VALUES(known) to all } else { decide(min(known)) }
  }
}
"""

CLIENTS = "clients { p1 proposes 0  p2 proposes 1  p3 proposes 1 }"
AGREE = "prove termination, consensus_agreement, uniform_consensus_agreement"

LEASE = """
protocol Lease(term: Nat, wait: Nat) {
  role server(1) {
    state free = true
    upon receive ASK(q) when free { free := false  send GRANT to q  start expiry after wait }
    upon timeout expiry { free := true }
  }
  role client(2) {
    state holds = false
    state asked = false
    state over = false
    upon condition not asked { asked := true  send ASK(self) to server  start lease after term }
    upon receive GRANT when not over { holds := true }
    upon timeout lease { holds := false  over := true }
  }
  message ASK(q: Proc)
  message GRANT
  property exclusive : always forall p, q in client: p.holds and q.holds => p == q
}
"""


def _late(timing: str, expected: str, states: int) -> Case:
    text = f"{LATE} check c of P {{ n = 2  sender = p1  timing {timing}  prove on_time, over }}"
    return Case(timing, text, expected, states)


CASES = [
    # Each process: running or over, the message under way or here, early or not: 5 each.
    _late("asynchronous", "on_time violated, over holds", 25),
    # Both messages received in either order, two rounds, then both timers in either order.
    _late("synchronous", "on_time holds, over holds", 9),
    # As asynchronous, until it has become synchronous.
    _late("partial", "on_time violated, over holds", 60),
    _late("partial noise 0", "on_time holds, over holds", 13),
    _late("clocks drift 1", "on_time violated, over holds", 91),
    _late("clocks drift 0", "on_time violated, over holds", 33),
    Case(
        "a timer starts anew, is cancelled, and is gone where nothing takes it",
        """
        protocol P implements Out {
          state step : 0..9 = 0
          upon init { start a  start b after 2  start c after 3 }
          upon timeout a { step := 1  start a after 2  cancel b }
          upon timeout b { note(1) }
          upon timeout c when step == 7 { note(2) }
          property no_b : always forall p in Proc: 1 not in noted(p)
          property no_c : always forall p in Proc: 2 not in noted(p)
        }
        check c of P { n = 1  timing synchronous  prove no_b, no_c  allow unused }
        """,
        "no_b holds, no_c holds",
        None,
    ),
    Case(
        "the timer without a name counts only while its guard holds",
        """
        protocol P implements Out {
          state on = false
          state ticks : 0..2 = 0
          upon condition not on and ticks == 0 { on := true }
          upon timeout when on { ticks += 1  if ticks == 2 { on := false  note(1) } }
          property ends : forall p in Proc: correct(p) ~> 1 in noted(p)
        }
        check c of P { n = 1  timing synchronous  prove ends }
        """,
        "ends holds",
        # off; on; over; counted; over; off again with two
        6,
    ),
    Case(
        "a step that changes nothing does not stop time",
        """
        protocol P implements Out {
          state seen = false
          state late = false
          upon condition not late { seen := true }
          upon timeout when seen { late := true }
          property ends : forall p in Proc: not p.late ~> p.late
        }
        check c of P { n = 1  timing synchronous  prove ends }
        """,
        "ends holds",
        # nothing seen; seen; a round later it expires; late
        None,
    ),
    Case(
        "a timer runs for as long as a variable says",
        """
        protocol P {
          state delay : Nat = 5
          state rounds : 0..9 = 0
          upon init { start t after delay }
          upon timeout when rounds < 9 { rounds += 1 }
          upon timeout t { delay := 0 }
          property five : always forall p in Proc: p.delay == 0 => p.rounds >= 4
          property six : always forall p in Proc: p.delay == 0 => p.rounds >= 6
        }
        check c of P { n = 1  timing synchronous  prove five, six }
        """,
        "five holds, six violated",
    ),
    Case(
        "a crash cancels the timers of a process, also when it comes back",
        """
        protocol P implements Out {
          state back = false
          upon init { start t }
          upon timeout t { if back { note(1) } else { note(2) } }
          upon recover { back := true }
          property gone : always forall p in Proc: 1 not in noted(p)
        }
        check c of P { n = 1  faults crash <= 1, recover  timing asynchronous  prove gone }
        """,
        "gone holds",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:60])
def test_timers(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("drift", "wait", "verdict"), [(0, 2, "violated"), (0, 3, "holds"), (1, 4, "violated")]
)
def test_leases(
    drift: int, wait: int, verdict: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """Two clocks may drift from `drift` apart one way to as much the other way."""
    if engine == "reference" and drift:
        pytest.skip("too slow")
    world = f"term = 2  wait = {wait}  timing clocks drift {drift}  links lossy"
    text = f"{LEASE} check c of Lease {{ {world}  prove exclusive }}"
    compare(tmp_path, Case("lease", text, f"exclusive {verdict}"), engine, fine)


@pytest.mark.parametrize("fine", [False, True])
def test_leases_that_are_long_enough(fine: bool, tmp_path: Path) -> None:
    world = "term = 2  wait = 5  timing clocks drift 1  links lossy"
    text = f"{LEASE} check c of Lease {{ {world}  prove exclusive }}"
    compare(tmp_path, Case("lease", text, "exclusive holds"), "native", fine)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    ("crashes", "rounds", "verdict"),
    [(0, 1, "holds"), (1, 1, "violated"), (1, 2, "holds")],
)
def test_flood_set(crashes: int, rounds: int, verdict: str, fine: bool, tmp_path: Path) -> None:
    """Lynch 1996, 6.2: f + 1 rounds are enough; 6.7: f are not."""
    world = f"n = 3  rounds = {rounds}  faults crash <= {crashes}  timing synchronous"
    text = f"{FLOOD} check c of FloodSet {{ {world} {CLIENTS} {AGREE} }}"
    expected = (
        f"termination holds, consensus_agreement {verdict}, uniform_consensus_agreement {verdict}"
    )
    compare(tmp_path, Case("flood", text, expected), "native", fine)


def test_flood_set_with_two_crashes(tmp_path: Path) -> None:
    world = "n = 4  rounds = 2  faults crash <= 2  timing synchronous"
    clients = CLIENTS.replace("}", "p4 proposes 1 }")
    text = f"{FLOOD} check c of FloodSet {{ {world} {clients} prove consensus_agreement }}"
    compare(tmp_path, Case("flood", text, "consensus_agreement violated"), "native", False)


HEARTBEAT = """
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


@pytest.mark.parametrize(
    ("world", "accuracy"),
    [("timing synchronous", "holds"), ("timing partial noise 1", "violated")],
)
def test_heartbeats(world: str, accuracy: str, tmp_path: Path) -> None:
    """CGR 2011, 2.6.2: who has not been heard of in a round has crashed, in synchrony."""
    prove = "prove strong_accuracy, strong_completeness"
    text = f"{HEARTBEAT} check c of Heartbeats {{ n = 2  faults crash <= 1  {world}  {prove} }}"
    expected = f"strong_accuracy {accuracy}, strong_completeness holds"
    compare(tmp_path, Case("heartbeats", text, expected), "native", False)


@pytest.mark.parametrize("links", ["duplicating", "persistent", "stubborn"])
def test_rounds_need_links_that_come_to_an_end(links: str, tmp_path: Path) -> None:
    text = f"{LATE} check c of P {{ n = 2  timing synchronous  links {links}  prove on_time }}"
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    assert [d.code for d in refused.value.diagnostics] == ["C003"]


COUNT = """
protocol Count {
  message M
  state round : 0..2 = 0
  state heard : set<Proc> = {}
  upon timeout when round < 2 { round += 1  send M to all }
  upon receive M from p { heard += p }
  property goes_on : forall p in Proc: correct(p) ~> p.round == 2
  property all_hear : forall p, q in Proc: correct(p) and correct(q) ~> q in p.heard
  property in_step : always forall p, q in Proc: correct(p) and correct(q) =>
    p.round <= q.round + 1
}
"""


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    ("world", "all_hear"),
    [
        ("faults crash <= 1", "holds"),
        ("faults omission <= 1", "holds"),
        ("faults partition <= 1", "violated"),
        ("faults byzantine <= 1", "holds"),
        ("links lossy", "violated"),
        ("links fair_loss", "violated"),
        ("links fifo", "holds"),
        ("links fifo  faults crash <= 1", "holds"),
        ("links fifo  faults partition <= 1", "violated"),
    ],
)
def test_time_goes_on_in_every_world(world: str, all_hear: str, fine: bool, tmp_path: Path) -> None:
    """Rounds wait for nothing that nobody promises; what is left of a faulty one is gone."""
    check = f"check c of Count {{ n = 2  timing synchronous  {world}"
    text = f"{COUNT} {check}  prove goes_on, all_hear, in_step }}"
    expected = f"goes_on holds, all_hear {all_hear}, in_step holds"
    compare(tmp_path, Case(world, text, expected), "native", fine)


WORK = """
interface Echo {{ request ask(x: Nat max 1)  indication answer(x: Nat max 1) }}
protocol AtOnce implements Echo {{ upon request ask(x) {{ answer(x) }} }}
protocol P {{
  uses echo : Echo
  state s : set<Proc> = {{}}
  state late = false
  state rounds : 0..2 = 0
  upon condition {guard} {{ {body} }}
  upon echo.answer(x) when x == 1 {{ s += self }}
  upon timeout when rounds < 2 {{ rounds += 1  late := late or self not in s }}
  property in_time : always forall p in Proc: not p.late
  property time_goes_on : forall p in Proc: eventually p.rounds == 2
}}
check c of P {{
  n = 2
  timing synchronous
  prove in_time, time_goes_on
  allow unused
}}
"""

TO_DO = {
    "for p in Proc { s := s union {p} }": "changes",
    "while some p in Proc when p not in s { s += p }": "changes",
    "for x in (0..1) { echo.ask(x) }": "changes",
    "echo.ask(0)  echo.ask(1)": "changes",
    "for p in Proc { choose x in (0..1)  if x == 1 { s += self } }": "may change",
    "either { skip } or { s += self }": "may change",
    "echo.ask(0)": "idle",
    "while some p in Proc when p in s { s -= p }": "idle",
    "for p in Proc { choose x in (0..1)  if x == 1 { s -= p } }": "idle",
}
"""Bodies of a handler, and whether running one at first changes the state."""


@pytest.mark.parametrize("body", TO_DO)
@pytest.mark.parametrize("guard", ["self not in s", "true"])
@pytest.mark.parametrize("fine", [False, True], ids=["coarse", "fine"])
def test_a_round_waits_for_what_changes_something(
    body: str, guard: str, fine: bool, tmp_path: Path
) -> None:
    """Whoever may leave everything as it is forever, but need not, stops the clock, too."""
    in_time = "violated" if TO_DO[body] == "idle" else "holds"
    goes_on = "violated" if TO_DO[body] == "may change" else "holds"
    expected = f"in_time {in_time}, time_goes_on {goes_on}"
    compare(tmp_path, Case(body, WORK.format(guard=guard, body=body), expected), "native", fine)


def test_who_never_comes_to_rest_stops_the_clock(tmp_path: Path) -> None:
    text = WORK.format(guard="true", body="s := if self in s then {} else {self}")
    expected = "in_time holds, time_goes_on violated"
    compare(tmp_path, Case("toggle", text, expected), "native", False)


ALARM = """
protocol Alarm {
  message M
  state rung = false
  upon init { start t after 3 }
  upon receive M { skip }
  upon timeout t { rung := true }
  property silent : always forall p in Proc: not p.rung
  property rings : forall p in Proc: correct(p) ~> p.rung
}
check c of Alarm {
  n = 2
  FAULTS
  links authenticated
  timing clocks drift DRIFT
  expect silent violated
  expect rings holds
  allow unused
}
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("drift", [0, 1, 2])
@pytest.mark.parametrize("faults", ["byzantine <= 1", "byzantine <= 1, crash <= 1, recover"])
def test_a_byzantine_clock_delays_nobody(
    tmp_path: Path, faults: str, drift: int, engine: str, fine: bool
) -> None:
    """Though it does not tick; who comes back from a crash has lost its timer."""
    rings = "holds" if "crash" not in faults else "violated"
    text = ALARM.replace("FAULTS", f"faults {faults}").replace("DRIFT", str(drift))
    compare(tmp_path, Case("", text, f"silent violated, rings {rings}"), engine, fine)
