"""Two messages from one process to another over every kind of link."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

SPEC = """
protocol P(a: Proc, b: Proc) {
  message A(k: 1..2)
  state got : seq<1..2, max 3> = []
  upon init at a { send A(1) to b  send A(2) to b }
  upon receive A(k) when #got < 3 { got += k }
  property arrive: #b.got == 0 ~> #b.got >= 2
  property once: always #b.got <= 2
  property ordered: always not (#b.got >= 2 and b.got[0] == 2 and b.got[1] == 1)
}
check c of P { n = 2  a = p1  b = p2  links LINKS  CRASH prove arrive, once, ordered }
"""

# What is under way and what was received, in that order of thought: with perfect links one of
# nothing, 1, 2, 12, 21; a lossy link may also have lost what is not received.
CASES = [
    ("perfect", "", "holds", "holds", "violated", 5),
    ("fifo", "", "holds", "holds", "holds", 3),
    ("lossy", "", "violated", "holds", "violated", 10),
    ("fifo, lossy", "", "violated", "holds", "holds", 7),
    ("duplicating", "", "holds", "violated", "violated", None),
    ("persistent", "", "violated", "violated", "violated", 15),
    ("bounded 2", "", "holds", "holds", "violated", 5),
    ("fifo, bounded 2", "", "holds", "holds", "holds", 3),
    ("perfect", "faults crash <= 1", "violated", "holds", "violated", None),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(("links", "crash", "arrive", "once", "ordered", "states"), CASES)
def test_links(
    links: str,
    crash: str,
    arrive: str,
    once: str,
    ordered: str,
    states: int | None,
    engine: str,
    fine: bool,
    tmp_path: Path,
) -> None:
    text = SPEC.replace("LINKS", links).replace("CRASH", crash)
    expected = f"arrive {arrive}, once {once}, ordered {ordered}"
    compare(tmp_path, Case(links, text, expected, states), engine, fine)


BOUND = """
protocol P(a: Proc, b: Proc) {
  message A
  state sent : 0..2 = 0
  upon condition sent < 2 at a { sent += 1  send A to b }
  property fits: always forall p in Proc: p.sent <= 2
}
check c of P { n = 2  a = p1  b = p2  links LINKS  prove fits }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("links", ["bounded 1", "fifo, bounded 1", "duplicating, bounded 1"])
def test_a_full_link_is_an_error_of_the_run(
    links: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    text = BOUND.replace("LINKS", links)
    compare(tmp_path, Case(links, text, "fits error"), engine, fine)
    text = BOUND.replace("LINKS", links.replace("1", "2"))
    compare(tmp_path, Case(links, text, "fits holds"), engine, fine)


AGAIN = """
protocol Again implements PerfectLink {
  message DATA(m: Msg)
  state todo : set<(Proc, Msg)> = {}
  upon request send(q, m) { todo += (q, m) }
  upon timeout { for (q, m) in todo { send DATA(m) to q } }
  upon receive DATA(m) from p { deliver(p, m) }
}
check c of Again {
  n = 2
  timing asynchronous
  links LINKS
  clients { p1 sends (p2, a), (p2, b) }
  prove reliable_delivery, no_duplication, no_creation
}
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("links", "arrives"),
    [("fair_loss, bounded 1", "holds"), ("lossy, bounded 1", "violated")],
)
def test_a_full_link_that_loses_loses_more(
    tmp_path: Path, engine: str, fine: bool, links: str, arrives: str
) -> None:
    expected = f"reliable_delivery {arrives}, no_duplication violated, no_creation holds"
    compare(tmp_path, Case(links, AGAIN.replace("LINKS", links), expected), engine, fine)
