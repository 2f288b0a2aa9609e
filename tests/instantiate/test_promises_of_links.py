"""What links promise, together with everything that may keep them from it.

Fair loss is CGR's (module 2.1): what a correct process sends to another infinitely often arrives
infinitely often, whatever else happens on the link, and however little it holds at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

NATIVE = [way for way in WAYS if way[0] == "native"]

AGAIN = """
protocol P(a: Proc, b: Proc) {
  message A  message B  message C
  state got : set<1..3> = {}
  upon timeout { if self == a { send A to b  send B to b  send C to b } }
  upon receive A { got += 1 }
  upon receive B { got += 2 }
  upon receive C { got += 3 }
  property arrive: correct(a) and correct(b) => eventually #b.got == 3
}
check c of P { n = 2  a = p1  b = p2  links LINKS  WORLD  allow unused  prove arrive }
"""

FAIR = ["fair_loss, bounded 1", "fair_loss, fifo, bounded 1", "fair_loss, fifo, bounded 2"]
WORLDS = [
    "timing asynchronous",
    "timing asynchronous  faults crash <= 1",
    "timing asynchronous  faults crash <= 1, recover",
    "timing asynchronous  faults omission <= 1",
    "timing asynchronous  faults byzantine <= 1",
    "timing partial noise 1",
    "timing synchronous",
    "timing clocks drift 1",
]


def _again(links: str, world: str, expected: str) -> Case:
    text = AGAIN.replace("LINKS", links).replace("WORLD", world)
    return Case(f"{links}, {world}", text, f"arrive {expected}")


REPEATED = [
    *(_again(links, world, "holds") for links in FAIR for world in WORLDS),
    _again("fair_loss, fifo, bounded 3, authenticated", WORLDS[0], "holds"),
    _again("fair_loss, duplicating, bounded 1", WORLDS[0], "holds"),
    _again("fair_loss, bounded 1", "timing asynchronous  faults partition <= 1", "violated"),
    _again("fair_loss, fifo, bounded 1", "timing asynchronous  faults partition <= 1", "violated"),
    _again("lossy, fifo, bounded 1", WORLDS[0], "violated"),
    _again("lossy, bounded 1", WORLDS[0], "violated"),
]
"""A link that loses fairly keeps its promise whatever its bound and its order, in every world
whose faults are not those of the two processes; a lossy link, or a split network, has none."""


@pytest.mark.parametrize(("engine", "fine"), NATIVE)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.every] * ("lossy" in case.name))
        for case in REPEATED
    ],
)
def test_what_is_sent_again_and_again(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


PAUSES = """
protocol P(a: Proc, b: Proc) {
  message A
  state on = false
  state got = false
  upon timeout { if self == a { send A to b } }
  upon condition true at b { on := true  yield  on := false }
  upon receive A { got := true }
  property arrive: eventually b.got
}
check c of P { n = 2  a = p1  b = p2  timing asynchronous  links LINKS  allow unused  prove arrive }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("links", FAIR)
def test_nothing_is_lost_on_purpose_while_the_receiver_is_in_a_handler(
    links: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    case = Case(links, PAUSES.replace("LINKS", links), "arrive holds")
    compare(tmp_path, case, engine, fine)


SPLITS = """
protocol P(a: Proc, b: Proc) {
  message A  message B
  state ga = false
  state gb = false
  upon timeout { if self == a { send A to b  send B to b } }
  upon receive A { ga := not ga }
  upon receive B { gb := true }
  property arrive: (always eventually b.ga) and (always eventually not b.ga) => eventually b.gb
}
check c of P {
  n = 2  a = p1  b = p2
  timing TIMING  links LINKS  faults partition  allow unused  prove arrive
}
"""


@pytest.mark.parametrize(("engine", "fine"), NATIVE)
@pytest.mark.parametrize("timing", ["asynchronous", "synchronous"])
@pytest.mark.parametrize("links", FAIR)
def test_a_network_that_is_whole_again_and_again_lets_everything_through(
    links: str, timing: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    text = SPLITS.replace("LINKS", links).replace("TIMING", timing)
    compare(tmp_path, Case(links, text, "arrive holds"), engine, fine)


ONCE = """
protocol P(a: Proc, b: Proc) {
  message A  message B
  state ga = false
  state gb = false
  upon init at a { send A to b  send B to b }
  upon receive A { ga := true }
  upon receive B { gb := true }
  property arrive: correct(a) and correct(b) => eventually (b.ga and b.gb)
}
check c of P { n = 2  a = p1  b = p2  links LINKS  WORLD  allow unused  prove arrive }
"""

KEPT = ["perfect", "fifo", "duplicating", "stubborn", "bounded 2", "fifo, bounded 2"]
AROUND = ["", "faults crash <= 1", "faults omission <= 1", "faults byzantine <= 1"]


@pytest.mark.parametrize(("engine", "fine"), NATIVE)
@pytest.mark.parametrize("world", AROUND)
@pytest.mark.parametrize("links", KEPT)
def test_what_is_sent_once_arrives(
    links: str, world: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    text = ONCE.replace("LINKS", links).replace("WORLD", world)
    compare(tmp_path, Case(links, text, "arrive holds"), engine, fine)


RECEPTIONS = """
protocol P(a: Proc, b: Proc) {
  message M(k: 1..3)
  state sent : 0..3 = 0
  state got : seq<1..3, max 3> = []
  upon condition sent < 3 at a { sent += 1  send M(sent) to b }
  upon receive M(k) { got := got + k }
  property ordered: always forall i, j in (0..2):
    i < j and j < #b.got => b.got[i] < b.got[j]
  property not_one_three: always not (b.got == [1, 3])
  property not_all: always not (b.got == [1, 2, 3])
}
check c of P {
  n = 2  a = p1  b = p2
  links LINKS
  prove ordered, not_one_three, not_all
}
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("bound", ["", ", bounded 1", ", bounded 2"])
def test_what_arrives_late_is_in_order_all_the_same(
    bound: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    text = RECEPTIONS.replace("LINKS", f"fair_loss, fifo{bound}")
    expected = "ordered holds, not_one_three violated, not_all violated"
    compare(tmp_path, Case(bound, text, expected), engine, fine)


BURST = """
protocol P(a: Proc, b: Proc) {
  message M(k: 1..3)
  state got : seq<1..3, max 3> = []
  upon init at a { send M(1) to b  send M(2) to b  send M(3) to b }
  upon receive M(k) { got := got + k }
  property none_of_1: always not (b.got == [1])
  property none_of_2: always not (b.got == [2])
  property none_of_3: always not (b.got == [3])
  property one: always #b.got <= 1
  property two: always #b.got <= 2
  property ordered: always forall i, j in (0..2): i < j and j < #b.got => b.got[i] < b.got[j]
}
check c of P {
  n = 2  a = p1  b = p2
  links LINKS
  prove none_of_1, none_of_2, none_of_3, one, two, ordered
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("links", "one", "two", "ordered"),
    [
        ("fair_loss, fifo, bounded 1", "holds", "holds", "vacuous"),
        ("fair_loss, fifo, bounded 2", "violated", "holds", "holds"),
        ("fair_loss, fifo", "violated", "violated", "holds"),
    ],
)
def test_a_burst_leaves_as_many_as_the_link_holds_and_any_of_them(
    links: str, one: str, two: str, ordered: str, engine: str, tmp_path: Path
) -> None:
    any_ = ", ".join(f"none_of_{k} violated" for k in (1, 2, 3))
    expected = f"{any_}, one {one}, two {two}, ordered {ordered}"
    compare(tmp_path, Case(links, BURST.replace("LINKS", links), expected), engine, False)
