"""What no check of a file asks: the list knows every fault of the language, and names each where it
applies, and only there."""

from __future__ import annotations

import pytest

from checker import resources
from checker.assist.condense import settings_of
from checker.language.link_kinds import LINK_KINDS, PERFECT, LinkKind
from checker.language.load import Spec, load_text, open_spec
from checker.language.typecheck.unasked import FAULTS, Fault
from checker.language.typecheck.world import FAULTS as FAULT_KINDS
from checker.language.typecheck.world import TIMINGS
from checker.records import fields
from tests.selection import first_by_default

NO_FAULTS = {
    "has_capacity": "a message beyond the bound is an error of the run, or counts as a loss",
}
"""The traits of links by which nothing goes wrong unnoticed."""


def traits() -> set[str]:
    described = {"name", "meaning", "exactly_once"}
    return {field.name for field in fields(LinkKind)} - described


def test_every_fault_of_the_language_is_known() -> None:
    """A new kind of fault, timing or trait of links needs an entry."""
    known = [kind for fault in FAULTS for kind in fault.covers]
    language = {*FAULT_KINDS, *TIMINGS, *traits(), "detector", "crash points", "n"}
    assert sorted(known) == sorted(language - NO_FAULTS.keys())
    assert not {trait for kind in LINK_KINDS.values() for trait in kind.traits} - traits()
    assert len({fault.word for fault in FAULTS}) == len(FAULTS)


RELAY = """protocol Relay implements ReliableBroadcast {
  message DATA(m: Msg)
  stable state kept : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from s when m not in kept { kept += m  sync kept  deliver(s, m) }
}
check c of Relay { n = 3  clients { p1 broadcasts a }  prove no_creation  WORLD }
"""
TIMED = """protocol Timed {
  message M
  state late = false
  upon init { start t after 2 }
  upon timeout t { late := true  send M to all }
  property few : always forall p in Proc: p.late or not p.late
}
check c of Timed { n = 2  prove few  WORLD }
"""
DETECTED = """protocol Detected { uses fd : FailureDetector
  state seen : set<Proc> = {}
  upon fd.suspect(p) { seen += p }
  property few : always forall p in Proc: #p.seen <= 2
}
check c of Detected { n = 2  prove few  WORLD }
"""
MILD = {
    "processes": (RELAY.replace("n = 3", "n = 1"), ""),
    "crash": (RELAY, ""),
    "pauses": (TIMED, "timing clocks drift 1"),
    "crash points": (RELAY, "faults crash <= 1  crash points between_handlers"),
    "recovery": (RELAY, "faults crash <= 1"),
    "power": (RELAY, "faults crash <= 1, recover"),
    "syncs": (RELAY, "faults power <= 1, recover"),
    "mistakes": (DETECTED, "faults crash <= 1  detector P"),
    "timing": (TIMED, "timing synchronous"),
    "drift": (TIMED, "timing clocks drift 0"),
    "loss": (RELAY, ""),
    "omission": (RELAY, "links stubborn"),
    "resets": (RELAY, "links connected"),
    "order": (RELAY, "links fifo, lossy"),
    "partition": (RELAY, ""),
    "cuts": (RELAY, "faults partition"),
    "repetition": (RELAY, ""),
    "lies": (RELAY, ""),
    "names": (RELAY, "faults byzantine <= 1  links fifo, authenticated"),
    "disks": (RELAY, "faults power <= 1, recover"),
}
"""By word: a check in a world without this fault, in which it could happen."""
NOTHING = """protocol Alone {
  upon init { skip }
  property sure : always forall p in Proc: p in Proc
}
check c of Alone { n = 2  prove sure  WORLD }
"""


def words(text: str, world: str = "", clauses: dict[str, str] | None = None) -> list[str]:
    """The faults that the first check of a file does not ask about."""
    whole = text.replace("WORLD", world)
    (check, *_) = load_text(whole, "a.bcast").checks
    if clauses is not None:
        check = Spec(whole, "a.bcast").check_in_world(check.name, clauses)
    named = {fault.what: fault.word for fault in FAULTS}
    return [named[each.what] for each in check.unasked]


@pytest.mark.every
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.word)
def test_a_fault_is_named_until_its_clause_asks_it(fault: Fault) -> None:
    text, world = MILD[fault.word]
    assert fault.word in words(text, world)
    if fault.word == "processes":
        assert fault.word not in words(text.replace("n = 1", fault.clause), world)
        return
    assert fault.word not in words(text, world, settings_of(fault.clause))


def test_a_fault_that_nothing_could_notice_is_not_named() -> None:
    assert words(NOTHING) == ["crash"]
    assert words(NOTHING, "faults crash <= 1") == []
    assert "pauses" not in words(TIMED, "timing synchronous")
    assert not {"power", "syncs", "disks", "resets"} & {*words(TIMED, "timing asynchronous")}
    assert "lies" not in words(DETECTED, "detector P")


@pytest.mark.parametrize(
    ("world", "asked"),
    [
        ("faults partition <= 0", {"processes"}),
        ("faults cut", {"partition", "cuts", "processes"}),
        ("faults cut <= 1 of Proc -> Proc", {"cuts", "processes", "loss"}),
        ("links fifo, authenticated", {"processes"}),
    ],
)
def test_bounds_and_ways_count(world: str, asked: set[str]) -> None:
    """A bound of 0 asks nothing; any number of cuts splits the network."""
    left = set(words(RELAY, world))
    assert not asked & left
    assert ("partition" in left) == ("partition" not in asked)
    assert ("order" in left) == ("fifo" in world)


def test_the_kinds_of_one_link_are_all_its_own() -> None:
    """A link that is `fifo` and loses keeps the order."""
    assert "order" in words(RELAY, "links lossy, fifo")
    assert "order" not in words(RELAY, "links lossy")
    assert PERFECT.name in FAULTS[[f.word for f in FAULTS].index("order")].clause


VARIANT = """variant Twice of Relay { without sync kept }
check d of Twice { n = 3  clients { p1 broadcasts a }  prove no_creation  }
"""


def test_a_variant_is_asked_for_itself() -> None:
    """The checks of the protocol that it changes say nothing about it; a mutant has no list."""
    text = RELAY.replace("WORLD", "faults crash <= 1  links lossy, duplicating") + VARIANT
    module = load_text(text, "a.bcast")
    own, of_variant = module.checks
    named = {fault.what: fault.word for fault in FAULTS}
    left = [named[each.what] for each in of_variant.unasked]
    assert {"crash", "loss", "repetition"} <= {*left}
    assert not {"crash", "loss", "repetition"} & {named[each.what] for each in own.unasked}


LIBRARY = [name for name in resources.spec_names() if not name.startswith("interfaces/")]


@pytest.mark.parametrize("name", first_by_default(LIBRARY, 12))
def test_each_clause_makes_a_check_that_asks(name: str) -> None:
    """Of every check of the library: each clause that is named is legal there, and asks."""
    spec = open_spec(name)
    for check in spec.module.checks:
        for left in check.unasked:
            if left.clause.startswith("n = "):
                continue
            worse = spec.check_in_world(check.name, settings_of(left.clause))
            assert left.what not in {each.what for each in worse.unasked}, (check.name, left)
