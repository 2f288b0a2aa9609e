"""A kind of link is its traits: one that the package does not have works without further code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.instantiate.instantiated import Instantiated
from checker.language.link_kinds import (
    Delivery,
    LinkKind,
    additional_kind,
)
from checker.language.load import load_text
from checker.model.dump import dump
from checker.parametric.extract.extract import extract
from checker.properties.formula import ask
from checker.session.caveats import not_promised
from tests.instantiate.tables import WAYS, Case, compare

LATE = LinkKind("toy_late", "may stay under way forever", delivery=Delivery.NO_PROMISE)
DATAGRAM = LinkKind(
    "toy_datagram", "may be lost", ordered=True, loses=True, delivery=Delivery.FAIR_LOSS
)
ECHO = LinkKind(
    "toy_echo", "may arrive twice, in its own name", duplicates=True, authenticates=True
)


class JammingKind(LinkKind, frozen=True):
    """A kind with a trait that no module interprets."""

    jams: bool = False


JAMMING = JammingKind("toy_jamming", "does what nobody knows", jams=True)


@pytest.fixture(autouse=True)
def _kinds() -> Iterator[None]:
    with (
        additional_kind(LATE), additional_kind(DATAGRAM), additional_kind(ECHO),
        additional_kind(JAMMING),
    ):  # fmt: skip
        yield


TWO = """
protocol P(a: Proc, b: Proc) {
  message A(k: 1..2)
  state got : seq<1..2, max 3> = []
  upon init at a { send A(1) to b  send A(2) to b }
  upon receive A(k) when #got < 3 { got += k }
  property arrive: #b.got == 0 ~> #b.got >= 2
  property once: always #b.got <= 2
  property ordered: always not (#b.got >= 2 and b.got[0] == 2 and b.got[1] == 1)
}
check c of P { n = 2  a = p1  b = p2  links LINKS  prove arrive, once, ordered }
"""

# What was received: nothing, 1, 2, 12 or 21, the rest is under way; in order: nothing, 1 or 12.
CASES = [
    ("toy_late", "arrive violated, once holds, ordered violated", 5),
    ("toy_late, fifo", "arrive violated, once holds, ordered holds", 3),
    ("toy_late, bounded 2", "arrive violated, once holds, ordered violated", 5),
    ("toy_datagram", "arrive violated, once holds, ordered holds", 7),
    ("toy_echo", "arrive holds, once violated, ordered violated", None),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(("links", "expected", "states"), CASES)
def test_what_arrives_follows_from_the_traits(
    links: str, expected: str, states: int | None, engine: str, fine: bool, tmp_path: Path
) -> None:
    compare(tmp_path, Case(links, TWO.replace("LINKS", links), expected, states), engine, fine)


def made(text: str) -> Instantiated:
    return instantiate(load_text(text, "a.bcast").checks[0], {}, ask)


@pytest.mark.parametrize(
    ("toy", "known"),
    [
        ("toy_datagram", "fair_loss, fifo"),
        ("toy_datagram, bounded 1", "bounded 1, fifo, fair_loss"),
        ("toy_echo", "duplicating, authenticated"),
        ("toy_late, lossy", "lossy"),
        ("toy_late, persistent", "persistent"),
    ],
)
@pytest.mark.parametrize("world", ["", "faults byzantine <= 1", "faults crash <= 1, recover"])
def test_a_kind_with_the_traits_of_others_makes_the_same_system(
    toy: str, known: str, world: str
) -> None:
    systems = [
        dump(made(TWO.replace("LINKS", f"{links} {world}")).system) for links in (toy, known)
    ]
    assert systems[0] == systems[1]


ROUNDS = """
protocol P(a: Proc, b: Proc) {
  message A
  state rounds : 0..2 = 0
  state got = false
  state old = false
  upon init at a { send A to b }
  upon receive A { got := true  old := rounds > 0 }
  upon timeout when rounds < 2 { rounds += 1 }
  property arrive: eventually b.got
  property fresh: always not b.old
}
check c of P { n = 2  a = p1  b = p2  timing synchronous  links LINKS  prove arrive, fresh }
"""


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize(
    ("links", "arrive"), [("perfect", "holds"), ("lossy", "violated"), ("toy_late", "violated")]
)
def test_what_is_not_received_in_its_round_is_gone(
    links: str, arrive: str, engine: str, fine: bool, tmp_path: Path
) -> None:
    text = ROUNDS.replace("LINKS", links)
    compare(tmp_path, Case(links, text, f"arrive {arrive}, fresh holds"), engine, fine)


def refusal(text: str) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as error:
        made(text)
    return [(d.code, d.message) for d in error.value.diagnostics]


def test_what_contradicts_the_traits_is_refused() -> None:
    for links in ("toy_late, perfect", "toy_late, stubborn", "toy_datagram, persistent"):
        ((code, _),) = refusal(TWO.replace("LINKS", links))
        assert code == "C003"
    ((code, message),) = refusal(ROUNDS.replace("LINKS", "toy_echo"))
    assert code == "C003" and "`toy_echo`" in message


COUNTED = """
protocol P {
  message GO
  state sent = false
  state done = false
  upon condition not sent { sent := true  send GO to all }
  upon condition #received(GO) > f { done := true }
  property sound: always forall p in Proc: p.done => p.done
}
check one of P { n = 3  f = 1  links LINKS  prove sound }
check every of P { for all n, f  faults crash <= f  links LINKS  prove sound }
"""


@pytest.mark.parametrize(
    ("links", "early"), [("perfect", True), ("toy_late", False), ("toy_jamming", False)]
)
def test_only_what_surely_arrives_is_received_at_once(links: str, early: bool) -> None:
    assert bool(made(COUNTED.replace("LINKS", links)).at_once) == early


@pytest.mark.parametrize("links", ["toy_late", "toy_jamming", "toy_datagram"])
def test_only_what_surely_arrives_can_be_counted_for_every_n(links: str) -> None:
    every = load_text(COUNTED.replace("LINKS", links), "a.bcast").checks[1]
    with pytest.raises(SpecError) as error:
        extract(every)
    assert [d.code for d in error.value.diagnostics] == ["T002"]


def test_reports_say_that_nothing_is_promised() -> None:
    check = load_text(TWO.replace("LINKS", "toy_late"), "a.bcast").checks[0]
    found = not_promised(check, instantiate(check, {}, ask))
    assert found == ("toy_late links may keep any message forever: they promise nothing",)
