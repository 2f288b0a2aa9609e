"""Faults that are no crashes, networks that split, and links that differ from pair to pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.language.load import load
from checker.model.ir import FALSE
from checker.properties.formula import ask
from tests.instantiate.tables import WAYS, Case, compare, run

LINK = """
protocol P(a: Proc, b: Proc) {
  message A(k: 1..2)
  state got : seq<1..2, max 2> = []
  upon init at a { send A(1) to b  send A(2) to b }
  upon receive A(k) when #got < 2 { got += k }
  property arrive: correct(a) and correct(b) ~> #b.got >= 2
  property ordered: always not (#b.got >= 2 and b.got[0] == 2 and b.got[1] == 1)
}
check c of P { n = 2  a = p1  b = p2  WORLD  prove arrive, ordered }
"""

ROLES = """
protocol P {
  role client(1) {
    state asked = false
    state got : 0..2 = 0
    upon condition not asked { asked := true  send ASK(1) to server  send ASK(2) to server }
    upon receive ANSWER when got < 2 { got += 1 }
  }
  role server(1) {
    state seen : seq<1..2, max 2> = []
    upon receive ASK(k) when #seen < 2 { seen += k  send ANSWER to client }
  }
  message ASK(k: 1..2)  message ANSWER
  property asked: forall s in server: correct(s) ~> #s.seen == 2
  property ordered: always forall s in server: #s.seen < 2 or s.seen[0] == 1
  property answered: forall c in client, s in server: #s.seen == 2 ~> c.got == 2
}
check c of P { LINKS  prove asked, ordered, answered }
"""

RETRY = """
protocol P(a: Proc, b: Proc) {
  message A  message ACK
  state tick = false
  state got = false
  state known = false
  upon condition not known at a { tick := not tick  send A to b }
  upon receive A { got := true  send ACK to a }
  upon receive ACK { known := true }
  property arrives: always not b.got => eventually b.got
}
check c of P { n = 2  a = p1  b = p2  LINKS  prove arrives }
"""


def _link(world: str, expected: str) -> Case:
    return Case(world, LINK.replace("WORLD", world), expected)


def _roles(links: str, expected: str) -> Case:
    return Case(links or "all perfect", ROLES.replace("LINKS", links), expected)


CASES = [
    _link("faults omission <= 1", "arrive holds, ordered violated"),
    _link("faults omission <= 1  links fifo", "arrive holds, ordered holds"),
    _link("faults partition <= 1", "arrive violated, ordered violated"),
    _link("faults partition <= 2  links fifo", "arrive violated, ordered holds"),
    _link("faults partition", "arrive violated, ordered violated"),
    _link("links fair_loss", "arrive violated, ordered violated"),
    _link("links fair_loss, fifo", "arrive violated, ordered holds"),
    _link("links stubborn", "arrive holds, ordered violated"),
    _link("links authenticated, fifo", "arrive holds, ordered holds"),
    _roles("", "asked holds, ordered violated, answered holds"),
    _roles("links client -> server fifo", "asked holds, ordered holds, answered holds"),
    _roles("links server -> client lossy", "asked holds, ordered violated, answered violated"),
    _roles("links client -> server lossy, fifo", "asked violated, ordered holds, answered holds"),
    _roles(
        "links fifo  links server -> client lossy", "asked holds, ordered holds, answered violated"
    ),
    _roles("links client -> server bounded 1", "asked error, ordered error, answered error"),
    _roles("links client -> server bounded 2", "asked holds, ordered violated, answered holds"),
    Case(
        "an omission is faulty, and no other process is",
        """
        protocol P {
          message A
          state sent = false
          state got : set<Proc> = {}
          upon condition not sent { sent := true  send A to all }
          upon receive A from p { got += p }
          property correct_ones: forall p, q in Proc: correct(p) and correct(q) ~> p in q.got
          property everybody: forall p, q in Proc: correct(q) ~> p in q.got
          property faulty_ones: forall p, q in Proc: correct(p) ~> p in q.got
        }
        check c of P { n = 2  faults omission <= 1  prove correct_ones, everybody, faulty_ones }
        """,
        "correct_ones holds, everybody violated, faulty_ones violated",
    ),
    Case(
        "a split network keeps messages, and may heal",
        """
        protocol P(a: Proc, b: Proc) {
          message A
          state sent = false
          state got = false
          upon condition not sent at a { sent := true  send A to all }
          upon receive A { got := true }
          property both: always not (a.got and b.got)
          property own: a.sent ~> a.got
          property other: a.sent ~> b.got
          property some: a.sent ~> exists p in Proc: p != a and p.got
        }
        check c of P { n = 3  a = p1  b = p2  faults partition <= 1  prove both, own, other, some }
        """,
        "both violated, own holds, other violated, some violated",
    ),
]

FORGE = """
protocol P {
  message VOTE(k: 0..1)
  state told = false
  state no : set<Proc> = {}
  state yes : set<Proc> = {}
  upon condition not told { told := true  send VOTE(1) to all }
  upon receive VOTE(0) from p { no += p }
  upon receive VOTE(1) from p { yes += p }
  property honest: always forall p, q in Proc: correct(p) and correct(q) => q not in p.no
  property everybody: always forall p in Proc: correct(p) => p.no == {}
  property heard: forall p, q in Proc: correct(p) and correct(q) ~> q in p.yes
  property silent: forall p, q in Proc: correct(p) ~> q in p.yes
}
check c of P {
  n = 2  faults byzantine <= BOUND  links LINKS
  prove honest, everybody, heard, silent
}
"""


def _forge(bound: int, links: str, expected: str) -> Case:
    text = FORGE.replace("BOUND", str(bound)).replace("LINKS", links)
    return Case(f"{bound} Byzantine, {links}", text, expected)


CASES += [
    _forge(
        1,
        "perfect",
        "honest violated, everybody violated, heard holds, silent violated",
    ),
    _forge(
        1,
        "authenticated",
        "honest holds, everybody violated, heard holds, silent violated",
    ),
    Case(
        "something else to everybody",
        """
        protocol P(a: Proc) {
          message VOTE(k: 1..2)
          state v : 0..2 = 0
          upon init at a { send VOTE(1) to all }
          upon receive VOTE(k) from p when p == a and v == 0 { v := k }
          property same: always forall p, q in Proc:
            correct(p) and correct(q) => not (p.v == 1 and q.v == 2)
          property sincere: always forall p in Proc: correct(p) and correct(a) => p.v != 2
          property heard: forall p in Proc: correct(p) and correct(a) ~> p.v == 1
          property heard_anyway: forall p in Proc: correct(p) ~> p.v > 0
        }
        check c of P {
          n = 3  a = p1  faults byzantine <= 1  links authenticated
          prove same, sincere, heard, heard_anyway
        }
        """,
        "same violated, sincere holds, heard holds, heard_anyway violated",
    ),
    Case(
        "a payload that no client has",
        """
        interface Link { request ask(to: Proc, m: Msg)  indication deliver(from: Proc, m: Msg) }
        protocol P implements Link {
          message DATA(m: Msg)
          upon request ask(q, m) { send DATA(m) to q }
          upon receive DATA(m) from p { deliver(p, m) }
          property no_creation: always forall p, q in Proc, m in Msg:
            correct(p) and correct(q) and (q, m) in delivered(p) => (p, m) in asked(q)
        }
        check c of P {
          n = 2  faults byzantine <= 1  links LINKS  clients { p1 asks (p2, a) }
          prove no_creation
        }
        """.replace("LINKS", "authenticated"),
        "no_creation holds",
    ),
    Case(
        "who splits the network can't be forged across",
        """
        protocol P(a: Proc, b: Proc) {
          message A
          state got = false
          upon receive A { got := true }
          upon condition got { send A to a }
          property never: always not b.got
        }
        check c of P {
          n = 2  a = p1  b = p2  faults byzantine <= 1, partition <= 1  links authenticated
          prove never  allow unused
        }
        """,
        "never violated",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_world(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(("links", "word"), [("stubborn", "holds"), ("persistent", "violated")])
def test_what_stays_under_way_for_ever(links: str, word: str, fine: bool, tmp_path: Path) -> None:
    text = RETRY.replace("LINKS", f"links {links}")
    compare(tmp_path, Case(links, text, f"arrives {word}"), "native", fine)


@pytest.mark.parametrize(
    ("links", "fine", "kind"),
    [
        ("perfect", False, "weak"),
        ("perfect", True, "weak"),
        ("fifo", False, "weak"),
        ("fair_loss", False, "strong"),
        ("fair_loss, fifo", False, "strong"),
        ("lossy", False, ""),
        ("persistent", False, ""),
    ],
)
def test_what_links_promise(links: str, fine: bool, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(LINK.replace("WORLD", f"links {links}"), encoding="utf-8")
    (check,) = load(str(path)).checks
    system = instantiate(check, {}, ask, fine=fine).system
    (receive,) = (a for a in system.actions if a.name == "receive")
    if not kind:
        assert receive.promised == FALSE
    else:
        assert receive.fairness is not None and receive.fairness.kind.value == kind
        assert len(receive.fairness.key) == (2 if links == "fifo" else 3)


UNIVERSE = """
protocol P {
  message A(FIELD)
  state v = 0..1
  upon receive A(x) { skip }
  upon init { send A(VALUE) to all }
  property x: always true
}
check c of P { n = 2  faults byzantine <= 1  prove x }
""".replace("  state v = 0..1\n", "")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("x: Nat", "1", "its field `x` has no bound"),
        ("x: set<0..31>", "{}", "any of 4,294,967,296 messages"),
        ("x: map<0..99, 0..99>", "{ k -> 0 for k in (0..99) }", "more than 2^64"),
        ("x: bag<0..1, max 3>", "{| |}", "its field `x` holds a bag"),
    ],
)
def test_too_many_messages_to_make_up(field: str, value: str, said: str, tmp_path: Path) -> None:
    text = UNIVERSE.replace("FIELD", field).replace("VALUE", value)
    with pytest.raises(SpecError) as refused:
        run(tmp_path, text)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "C202" and "`x`" in diagnostic.message
    assert said in diagnostic.message and diagnostic.span is not None
