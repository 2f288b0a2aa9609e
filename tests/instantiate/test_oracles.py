"""Layers given as oracles, or as another protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.faults.byzantine_requests import committed_requests
from checker.language.load import load
from checker.resources import specs
from tests.instantiate.tables import WAYS, Case, compare, run, words

ONE = """
protocol Decide implements Out {
  uses cons : MessageConsensus
  message VALUE(m: Msg)
  state mine : option<Msg> = none
  upon request go(m) { cons.propose(VALUE(m)) }
  upon cons.decide(VALUE(m)) { mine := some(m)  deliver(self, m) }
  property same : always forall p, q in Proc:
    is_some(p.mine) and is_some(q.mine) => p.mine == q.mine
  property own : always forall p in Proc: is_some(p.mine) => get(p.mine) in goed(p)
  property end : forall p, q in Proc, m in Msg:
    m in goed(p) and correct(p) and correct(q) ~> #delivered(q) == 1
}
"""

TOTAL = """
protocol TotalOrder implements TotalOrderBroadcast {
  uses rb : ReliableBroadcast
  uses cons[Nat] : MessageConsensus
  message DATA(p: Proc, m: Msg)
  message BATCH(s: set<(Proc, Msg)>)
  state waiting : set<(Proc, Msg)> = {}
  state done : set<(Proc, Msg)> = {}
  state batches : set<(Nat, set<(Proc, Msg)>)> = {}
  state round : Nat = 0
  state busy = false

  upon request broadcast(m) { rb.broadcast(DATA(self, m)) }
  upon rb.deliver(_, DATA(p, m)) when (p, m) not in done { waiting += (p, m) }
  upon condition #waiting > 0 when not busy { busy := true  cons[round].propose(BATCH(waiting)) }
  upon cons[k].decide(BATCH(s)) { batches += (k, s) }
  upon condition exists (k, s) in batches: k == round {
    for (k, s) in batches when k == round {
      for i in (1..n) {                        // an order that is the same everywhere
        for (p, m) in s when rank(p) == i and (p, m) not in done {
          done += (p, m)  waiting -= (p, m)  deliver(p, m)
        }
      }
    }
    round += 1
    busy := false
  }
}
"""

ASK = """
interface Ask {
  request ask(k: 0..1)
  indication reply(k: 0..1)
  property asked_for : always forall p in Proc, k in replied(p): exists q in Proc: k in asked(q)
  property replied_to :
    forall p, q in Proc, k in (0..1): correct(q) and k in asked(p) ~> k in replied(q)
}
protocol P(asker: Proc) implements Out {
  uses low : Ask
  state go = true
  upon condition go at asker { go := false  low.ask(0)  low.ask(1) }
  upon low.reply(k) { note(k) }
  property both : forall p in Proc: correct(p) and 0 in noted(p) ~> 1 in noted(p)
}
check c of P { n = 2  asker = p1  FAULTS  given low as oracle  prove both }
"""

CASES = [
    Case(
        "consensus as an oracle: everybody decides the same, whoever proposed it",
        f"""{ONE}
        check c of Decide {{ n = 2  given cons as oracle  clients {{ p1 go a  p2 go b }}
          prove same, own, end }}
        """,
        "same holds, own violated, end holds",
    ),
    Case(
        "what is owed is owed to correct processes",
        f"""{ONE}
        check c of Decide {{ n = 2  faults crash <= 1  given cons as oracle
          clients {{ p1 go a  p2 go b }}  prove same, end }}
        """,
        "same holds, end holds",
    ),
    Case(
        "an oracle loses and doubles where its interface allows it",
        """
        interface Weak {
          request put(m: Msg)
          indication hand(p: Proc, m: Msg)
          property no_creation : always forall p in Proc, (s, m) in handed(p): m in put(s)
        }
        protocol P implements Out {
          uses low : Weak
          message A(m: Msg)
          state seen : bag<Msg, max 2> = {| |}
          upon request go(m) { low.put(A(m)) }
          upon low.hand(p, A(m)) when #seen < 2 { seen += m }
          property arrives : forall p in Proc, m in Msg: m in goed(p) ~> m in p.seen
          property once : always forall p in Proc, m in Msg: count(p.seen, m) < 2
        }
        check c of P { n = 1  given low as oracle  clients { p1 go a }  prove arrives, once }
        """,
        "arrives violated, once violated",
    ),
    Case("a handler makes all of its requests", ASK.replace("FAULTS", ""), "both holds"),
    Case(
        "a request to an oracle is an effect: a crash may come before it",
        ASK.replace("FAULTS", "faults crash <= 1"),
        "both violated",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:60])
def test_oracles(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("fine", [False, True])
def test_total_order_from_consensus(fine: bool, tmp_path: Path) -> None:
    """CT96; CGR 2011, algorithm 6.1: with any reliable broadcast and any consensus."""
    world = "n = 2  faults crash <= 1  given cons as oracle  given rb as oracle"
    clients = "clients { p1 broadcasts a  p2 broadcasts b }"
    prove = "prove validity, agreement, no_duplication, no_creation, uniform_total_order"
    text = f"{TOTAL} check c of TotalOrder {{ {world}  {clients}  {prove} }}"
    expected = ", ".join(f"{p} holds" for p in prove.removeprefix("prove ").split(", "))
    compare(tmp_path, Case("total order", text, expected), "native", fine)


FROM_TOTAL = """
protocol FromTotalOrder implements MessageConsensus {
  uses tob : TotalOrderBroadcast
  message PROPOSAL(v: Msg)
  state done = false
  upon request propose(v) { tob.broadcast(PROPOSAL(v)) }
  upon tob.deliver(_, PROPOSAL(v)) when not done { done := true  decide(v) }
}
"""


@pytest.mark.parametrize("fine", [False, True])
def test_consensus_from_total_order(fine: bool, tmp_path: Path) -> None:
    """The first message decides (CT96).  No oracle starts two orders that can't become one."""
    world = "n = 3  faults crash <= 1  given tob as oracle"
    clients = "clients { p1 proposes a  p2 proposes b }"
    prove = "prove termination, consensus_validity, consensus_agreement"
    text = f"{FROM_TOTAL} check c of FromTotalOrder {{ {world}  {clients}  {prove} }}"
    expected = ", ".join(f"{p} holds" for p in prove.removeprefix("prove ").split(", "))
    compare(tmp_path, Case("consensus", text, expected), "native", fine)


def test_an_order_of_requests_is_no_promise_about_the_future(tmp_path: Path) -> None:
    text = """
    protocol Through implements FifoReliableBroadcast {
      uses fb : FifoReliableBroadcast
      message DATA(m: Msg)
      upon request broadcast(m) { fb.broadcast(DATA(m)) }
      upon fb.deliver(p, DATA(m)) { deliver(p, m) }
    }
    check c of Through { n = 2  given fb as oracle  clients { p1 broadcasts a, b }
      prove fifo_order, validity, agreement, no_duplication }
    """
    expected = "fifo_order holds, validity holds, agreement holds, no_duplication holds"
    compare(tmp_path, Case("fifo", text, expected), "native", False)


def test_a_layer_as_another_protocol(tmp_path: Path) -> None:
    """By the name of the layer or of its interface, at any depth."""
    text = """
    interface Low { request put(m: Msg)  indication got(k: 0..9) }
    protocol One implements Low { message X  upon request put(m) { got(1) } }
    protocol Two implements Low { message X  upon request put(m) { got(2) } }
    interface Mid { request pass(m: Msg)  indication back(k: 0..9) }
    protocol Between implements Mid {
      uses low : Low
      message M(m: Msg)
      upon request pass(m) { low.put(M(m)) }
      upon low.got(k) { back(k) }
    }
    protocol Top implements Out {
      uses mid : Mid
      message T(m: Msg)
      upon request go(m) { mid.pass(T(m)) }
      upon mid.back(k) { note(k) }
      property one : always forall p in Proc: 2 not in noted(p)
      property two : always forall p in Proc: 1 not in noted(p)
    }
    check c of Top { n = 1  given GIVEN  clients { p1 go a }  prove one, two  allow unused }
    """
    for given, one, two in (
        ("low as One", "holds", "violated"),
        ("low as Two", "violated", "holds"),
        ("Low as Two", "violated", "holds"),
    ):
        case = Case("given", text.replace("GIVEN", given), f"one {one}, two {two}")
        compare(tmp_path, case, "native", False)


WITHIN = """
interface Ask {
  request ask(k: 0..0)
  indication reply(t: 1..3)
  property asked_for : always forall p in Proc, t in replied(p): exists k in asked(p): true
  ONCE
}
protocol Once implements Ask { upon request ask(_) { reply(1) } }
protocol Twice implements Ask { upon request ask(_) { reply(1)  reply(2) } }
protocol Thrice implements Ask { upon request ask(_) { reply(1)  reply(2)  reply(3) } }
protocol P implements Out {
  uses low : Ask
  state asked = false
  state done = false
  state heard : set<1..3> = {}
  state early : set<1..3> = {}
  upon condition not asked { asked := true  low.ask(0)  done := true }
  upon low.reply(t) { heard += t  if not done { early := heard } }
  property one : always forall p in Proc: p.early == {}
  property two : always forall p in Proc: not ({1, 2} subset p.early)
  property three : always forall p in Proc: not ({1, 2, 3} subset p.early)
}
check c of P { n = 1  given low as GIVEN  prove one, two, three  allow unused }
"""
ONCE = "property once : always forall p in Proc, t in replied(p): not repeated(p, t)"
SAID = {
    "Once": "one violated, two holds, three holds",
    "Twice": "one violated, two violated, three holds",
    "Thrice": "one violated, two violated, three violated",
}


@pytest.mark.parametrize(("engine", "fine"), WAYS)
def test_an_oracle_says_as_much_within_a_request_as_any_layer(
    engine: str, fine: bool, tmp_path: Path
) -> None:
    """Also where its interface does not say how often, and what it repeats leads nowhere."""
    for layer, expected in SAID.items():
        text = WITHIN.replace("ONCE", ONCE).replace("GIVEN", layer)
        compare(tmp_path, Case(layer, text, expected), engine, fine)
    for once in (ONCE, ""):
        text = WITHIN.replace("ONCE", once).replace("GIVEN", "oracle")
        compare(tmp_path, Case("oracle", text, SAID["Thrice"]), engine, fine)


def test_what_is_said_within_a_request_is_seen_by_formulas(tmp_path: Path) -> None:
    text = WITHIN.replace("ONCE", ONCE).replace("GIVEN", "oracle")
    assert set(words(run(tmp_path, text, "symbolic")).values()) == {"violated"}


ON_AND_ON = """
interface Ask {
  request ask(k: 0..0)
  indication reply(k: 0..1)
}
protocol P implements Out {
  uses low : Ask
  state asked = false
  state done = false
  STATE
  upon condition not asked { asked := true  low.ask(0)  done := true }
  upon low.reply(k) WHEN
  property never : always forall p in Proc: not p.done or p.asked
}
check c of P { n = 1  given low as oracle  prove never  allow unused }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("state", "does", "verdict"),
    [
        ("state on = false", "{ on := not on }", "holds"),
        ("state on : set<0..1> = {}", "{ if k in on { on -= k } else { on += k } }", "holds"),
        ("state on : 0..30 = 0", "when on < 30 { on += 1 }", "unknown"),
    ],
)
def test_words_without_end(
    state: str, does: str, verdict: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """Words that lead back say nothing new; where too many lead on, the report says so."""
    text = ON_AND_ON.replace("STATE", state).replace("WHEN", does)
    report = run(tmp_path, text, engine, fine)
    assert words(report) == {"never": verdict}
    assert report.stopped is None or "`words within a request` outgrew 7" in report.stopped


PAUSED = """
interface Ask {
  request ask(k: 0..0)
  indication reply(t: 1..2)
  property asked_for : always forall p in Proc, t in replied(p):
    (exists k in asked(p): true) and not repeated(p, t)
}
interface Hand { request hand(k: 0..0)  indication back(t: 1..2) }
protocol Twice implements Ask { upon request ask(_) { reply(1)  reply(2) } }
protocol On implements Hand {
  uses low : Ask
  upon request hand(k) { low.ask(k) }
  upon low.reply(t) { back(t) }
}
protocol P implements Out {
  uses ASKED
  state asked = false
  state went_on = false
  state done = false
  state early = false
  upon condition not asked { asked := true  REQUEST  done := true }
  upon TOLD {
    if t == 2 and went_on and not done { early := true }
    yield
    if t == 1 { went_on := true }
  }
  property later : always forall p in Proc: not p.early
  property whole : always forall p in Proc: p.done => p.asked
}
check c of P { n = 1  given low as GIVEN  prove later, whole  allow unused }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("asked", "request_", "told"),
    [
        ("low : Ask", "low.ask(0)", "low.reply(t)"),
        ("mid : Hand", "mid.hand(0)", "mid.back(t)"),
    ],
)
def test_an_oracle_goes_on_when_what_yielded_has(
    asked: str, request_: str, told: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """A layer speaks again when who heard its first word has gone on, before its caller does."""
    text = PAUSED.replace("ASKED", asked).replace("TOLD", told)
    for given in ("Twice", "oracle"):
        spec = text.replace("REQUEST", request_).replace("GIVEN", given)
        compare(tmp_path, Case(given, spec, "later violated, whole holds"), engine, fine)


REFUSED = [
    ("a number without a bound", "k: Nat", "true", "C202"),
    ("too many values", "k: 0..99999", "true", "C202"),
    (
        "a promise about the future",
        "k: 0..1",
        "always forall p in Proc: 1 in handed(p) => not (exists m in put(p): true)",
        "C016",
    ),
    (
        "more than one temporal operator",
        "k: 0..1",
        "forall p in Proc: eventually always 1 in handed(p)",
        "C016",
    ),
]


@pytest.mark.parametrize(("name", "field", "formula", "code"), REFUSED)
def test_what_no_oracle_can_be(
    name: str, field: str, formula: str, code: str, tmp_path: Path
) -> None:
    promised = "" if formula == "true" else f"property q : {formula}"
    text = f"""
    interface Low {{ request put(m: Msg)  indication hand({field})  {promised} }}
    protocol P implements Out {{
      uses low : Low
      message A(m: Msg)
      upon request go(m) {{ low.put(A(m)) }}
      upon low.hand(k) {{ skip }}
      property fine : always forall p in Proc: #noted(p) == 0
    }}
    check c of P {{ n = 1  given low as oracle  clients {{ p1 go a }}  prove fine }}
    """
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    assert [d.code for d in refused.value.diagnostics] == [code], name


REGULAR = """
protocol P implements Consensus {
  uses cons : Consensus
  message SAW(v: 0..1)
  message ODD(v: 0..1)
  state mine : option<0..1> = none
  state saw : set<0..1> = {}
  state odd = false
  upon request propose(v) { cons.propose(v) }
  upon cons.decide(v) {
    mine := some(v)
    decide(v)
    if exists w in saw: w != v { send ODD(v) to all }
    send SAW(v) to all
  }
  upon receive SAW(v) when mine == none { saw += v }
  upon receive ODD(v) when mine != some(v) { odd := true }
  property never_odd : always forall p in Proc: not p.odd
}
check c of P {
  n = 2
  CRASH
  given cons as oracle
  clients { p1 proposes 0  p2 proposes 1 }
  prove consensus_agreement, termination, never_odd
  allow unused
}
"""


@pytest.mark.parametrize(
    ("crash", "never_odd", "engine", "fine"),
    [
        ("", "holds", "reference", False),
        ("", "holds", "native", False),
        ("", "holds", "native", True),
        ("faults crash <= 1", "violated", "native", False),
        ("faults crash <= 1", "violated", "native", True),
        pytest.param("faults crash <= 1", "violated", "reference", False, marks=pytest.mark.slow),
    ],
)
def test_whoever_crashes_later_is_owed_nothing_before(
    crash: str, never_odd: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """Regular consensus lets a faulty process decide otherwise, and tell it before it crashes.

    By fine steps it is too large for the interpreter.
    """
    expected = f"consensus_agreement holds, termination holds, never_odd {never_odd}"
    compare(tmp_path, Case(crash, REGULAR.replace("CRASH", crash), expected), engine, fine)


def test_which_interfaces_are_made_for_liars() -> None:
    """CGR 2011: modules 3.11 and 3.12, and 5.11, which is not for oracles (C016).  Nor are objects
    whose operations return: what is linearizable is asked of runs."""
    found = set()
    for path in (specs() / "interfaces").glob("*.bcast"):
        for interface in load(str(path)).interfaces:
            free = all(committed_requests(p.formula) is None for p in interface.properties)
            returning = any(request.returns for request in interface.requests)
            found |= {interface.name} if interface.requests and free and not returning else set()
    broadcasts = {"ByzantineConsistentBroadcast", "ByzantineReliableBroadcast"}
    assert found == {*broadcasts, "StrongConsensus"}


AMONG_LIARS = """
interface Low {
  request put(m: Msg)
  indication hand(p: Proc, m: Msg)
  property q : FORMULA
}
protocol P(first: Proc) {
  uses low : Low
  message A
  state got : set<Proc> = {}
  state asked = false
  upon condition not asked at first { asked := true  low.put(A) }
  upon low.hand(p, A) { got += p }
  property sincere : always forall p in Proc: correct(p) => p.got subset {first}
}
check c of P { n = 2  faults byzantine <= LIARS  given GIVEN as oracle  prove sincere
  allow unused }
"""

LIES = [
    ("always forall p in Proc, (s, m) in handed(p): m in put(s)", False),
    ("always forall p in Proc, (s, m) in handed(p): correct(p) => m in put(s)", False),
    ("always forall p in Proc, (s, m) in handed(p): exists q in Proc: m in put(q)", False),
    ("forall p, s in Proc, m in Msg: correct(p) and m in put(s) ~> (s, m) in handed(p)", False),
    ("always forall p in Proc, (s, m) in handed(p): crashed(s) or m in put(s)", False),
    ("always forall p in Proc, (s, m) in handed(p): correct(s) => m in put(s)", True),
    ("always forall p in Proc, (s, m) in handed(p) when correct(s): m in put(s)", True),
    ("always forall p in Proc, (s, m) in handed(p): faulty(s) or m in put(s)", True),
    ("always forall p in Proc, (s, m) in handed(p): not correct(s) or m in put(s)", True),
    ("always forall p in Proc, x in handed(p): not repeated(p, x)", True),
]


@pytest.mark.parametrize("given", ["low", "Low"])
@pytest.mark.parametrize(("formula", "made_for_liars"), LIES)
def test_no_oracle_keeps_liars_from_lying(
    formula: str, made_for_liars: bool, given: str, tmp_path: Path
) -> None:
    text = AMONG_LIARS.replace("FORMULA", formula).replace("GIVEN", given)
    if made_for_liars:
        case = Case(formula, text.replace("LIARS", "1"), "sincere violated")
        compare(tmp_path, case, "native", False)
        return
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text.replace("LIARS", "1"))
    (found,) = refused.value.diagnostics
    assert found.code == "C022"
    assert "`ByzantineReliableBroadcast`" in found.hint
    run(tmp_path, text.replace("LIARS", "0"))


RELAYED = """
protocol Relay implements ByzantineReliableBroadcast {
  uses low : INTERFACE
  message DATA(m: Msg)
  upon request broadcast(m) { low.broadcast(DATA(m)) }
  upon low.deliver(p, DATA(m)) { deliver(p, m) }
  property sincere : always forall p, s in Proc, m in Msg:
    correct(p) and (s, m) in delivered(p) => m in broadcast(s)
}
check c of Relay {
  n = 3  faults byzantine <= 1  given low as oracle  clients { p1 broadcasts a }
  prove validity, no_duplication, integrity, consistency, totality, sincere
}
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("interface", "totality"),
    [("ByzantineReliableBroadcast", "holds"), ("ByzantineConsistentBroadcast", "violated")],
)
def test_a_liar_uses_an_oracle(
    interface: str, totality: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    """What the interface promises is kept, and what it does not promise is not."""
    expected = (
        "validity holds, no_duplication holds, integrity holds, consistency holds, "
        f"totality {totality}, sincere violated"
    )
    text = RELAYED.replace("INTERFACE", interface)
    compare(tmp_path, Case(interface, text, expected), engine, fine)


@pytest.mark.parametrize("kind", ["P", "eventually P", "S", "eventually S"])
def test_no_detector_tells_liars(kind: str, tmp_path: Path) -> None:
    text = f"""
    protocol P {{
      uses fd : FailureDetector
      state gone = false
      upon fd.suspect(p) {{ gone := true }}
      property calm : always forall p in Proc: not p.gone
    }}
    check c of P {{ n = 2  faults byzantine <= LIARS  detector {kind}  prove calm  allow unused }}
    """
    run(tmp_path, text.replace("LIARS", "0"))
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text.replace("LIARS", "1"))
    (found,) = refused.value.diagnostics
    assert found.code == "C022" and "`given fd as …`" in found.hint


KINDS = [
    ("Consensus", "propose(0)", "decide(_)", "`StrongConsensus`"),
    ("MessageConsensus", "propose(A)", "decide(_)", "`StrongConsensus`"),
    ("ReliableBroadcast", "broadcast(A)", "deliver(_, _)", "`ByzantineReliableBroadcast`"),
    ("Queue", "submit(A)", "deliver(_)", "the library has none for this layer"),
    ("AtomicCommit", "propose(0)", "decide(_)", "the library has none for this layer"),
]


@pytest.mark.parametrize(("interface", "request_", "told", "hint"), KINDS)
def test_what_there_is_for_liars(
    interface: str, request_: str, told: str, hint: str, tmp_path: Path
) -> None:
    text = f"""
    protocol P(first: Proc) {{
      uses low : {interface}
      message A
      state asked = false
      upon condition not asked at first {{ asked := true  low.{request_} }}
      upon low.{told} {{ skip }}
      property fine : always forall p in Proc: p.asked or not p.asked
    }}
    check c of P {{ n = 2  faults byzantine <= 1  given low as oracle  prove fine }}
    """
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    (found,) = refused.value.diagnostics
    assert found.code == "C022"
    assert hint in found.hint


PARAMETERS = """
import "{file}"
protocol Between implements TotalOrderBroadcast {{
  uses low : TotalOrderBroadcast
  message B(m: Msg)
  upon request broadcast(m) {{ low.broadcast(B(m)) }}
  upon low.deliver(p, B(m)) {{ deliver(p, m) }}
}}
protocol Top{parameters} implements TotalOrderBroadcast {{
  uses tob : TotalOrderBroadcast
  message T(m: Msg)
  upon request broadcast(m) {{ tob.broadcast(T(m)) }}
  upon tob.deliver(p, T(m)) {{ deliver(p, m) }}
}}
check c of Top {{ n = 2  {given}  clients {{ p1 broadcasts a  p2 broadcasts b }}
  prove validity, total_order }}
"""


@pytest.mark.parametrize("parameters", ["", "(sequencer: Proc)"])
@pytest.mark.parametrize(
    "given", ["given tob as FixedSequencer", "given tob as Between  given low as FixedSequencer"]
)
def test_a_process_that_a_layer_names_is_the_first(
    given: str, parameters: str, tmp_path: Path
) -> None:
    file = specs() / "total_order" / "fixed_sequencer.bcast"
    text = PARAMETERS.format(file=file, given=given, parameters=parameters)
    compare(tmp_path, Case("", text, "validity holds, total_order holds"), "native", False)


BOUNDS = """
interface Low { request put(k: 0..9)  indication got(k: 0..9) }
protocol Cut(most: Nat = 1) implements Low {
  upon request put(k) when k <= most { got(k) }
}
protocol P(PARAMETER) {
  uses low : Low
  state kept : set<0..9> = {}
  state asked = false
  upon condition not asked { asked := true  low.put(1)  low.put(2) }
  upon low.got(k) { kept += k }
  property one : always forall p in Proc: p.asked => p.kept == {1}
}
check c of P { n = 1  SET  given low as Cut  prove one }
"""


def test_a_number_that_a_layer_names_has_its_default(tmp_path: Path) -> None:
    """Where the protocol on top has one of that name, both have the same."""
    text = BOUNDS
    alone = text.replace("(PARAMETER)", "").replace("SET", "")
    shared = text.replace("PARAMETER", "most: Nat").replace("SET", "most = 2")
    mixed = text.replace("PARAMETER", "most: Proc").replace("SET", "")
    compare(tmp_path, Case("alone", alone, "one holds"), "native", False)
    compare(tmp_path, Case("shared", shared, "one violated"), "native", False)
    with pytest.raises(SpecError) as refused:
        run(tmp_path, mixed)
    assert [d.code for d in refused.value.diagnostics] == ["C200"]
