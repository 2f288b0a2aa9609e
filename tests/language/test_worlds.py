"""The world of a check: faults, links, timing, detectors, and what stands for the layers."""

from __future__ import annotations

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load_text
from checker.language.syntax import typed
from tests.simulate.opening import spec as opened

ROLES = """protocol P {
  role client(1) { state up = true }
  role server(2) { state up = true }
  message M
}
check c of P { f = 1 %s }
"""
TIMERS = """protocol T {
  message M
  state on = true
  upon init { start late after 2 * n }
  upon timeout late { cancel late  start late }
  upon timeout when on { on := false }
}
check c of T { %s }
"""
DETECTED = """protocol D { uses %s
  state seen : set<Proc> = {}
  upon %s(p) { seen += p }
}
protocol Silent implements FailureDetector { }
protocol Boss(b: Proc) implements LeaderDetector { upon init { trust(b) } }
check c of D { %s }
"""
STABLE = """protocol S {
  stable state kept : set<Proc> = {}
  state lost = 0
  upon recover { lost := 1 }
}
check c of S { %s }
"""
TWO = """interface Up { request go(m: Msg) indication gone(m: Msg) }
interface Down { request go(m: Msg) indication gone(m: Msg) }
protocol Top implements Up { uses mid : Up2  message A(m: Msg)
  upon request go(m) { mid.go(A(m)) }  upon mid.gone(A(m)) { gone(m) } }
interface Up2 { request go(m: Msg) indication gone(m: Msg) }
protocol Middle implements Up2 { uses low : Down  message B(m: Msg)
  upon request go(m) { low.go(B(m)) }  upon low.gone(B(m)) { gone(m) } }
protocol One implements Down { upon request go(m) { gone(m) } }
protocol Other implements Down { upon request go(m) { gone(m)  gone(m) } }
check c of Top { %s }
"""


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    try:
        load_text(text, "a.bcast")
    except SpecError as error:
        return error.diagnostics
    return ()


def codes(text: str) -> list[str]:
    return [d.code for d in diagnostics(text)]


def check(text: str) -> typed.Check:
    return load_text(text, "a.bcast").checks[0]


def test_faults() -> None:
    made = check(
        ROLES % "faults crash <= 2, recover faults omission <= f, byzantine <= 1, partition <= 3"
    )
    assert made.recover and isinstance(made.crash, typed.Literal)
    assert isinstance(made.omission, typed.Param)
    assert (
        isinstance(made.byzantine, typed.Literal)
        and isinstance(made.partitions, typed.Literal)
        and made.splits
    )
    plain = check(ROLES % "")
    assert not plain.recover
    assert (plain.omission, plain.byzantine, plain.splits) == (None, None, False)


def test_links_for_pairs_of_roles() -> None:
    made = check(
        ROLES % "links fair_loss, authenticated links client -> server lossy, duplicating "
        "links server -> client fifo, bounded 2"
    )
    assert [k.name for k in made.links] == ["fair_loss", "authenticated"]
    rules = [
        (r.sender, r.receiver, tuple(k.name for k in r.kinds), r.capacity) for r in made.link_rules
    ]
    assert rules == [
        ("client", "server", ("lossy", "duplicating"), None),
        ("server", "client", ("fifo", "bounded"), 2),
    ]
    assert codes(ROLES % "links client -> serve lossy") == ["C005"]
    assert codes(ROLES % "links client -> server lossy, perfect") == ["C003"]
    assert codes(ROLES % "links client -> server lossy links client -> server fifo") == ["C009"]


def test_what_contradicts_itself_is_told_why() -> None:
    (found,) = diagnostics(ROLES % "links fair_loss, lossy")
    assert found.code == "C003" and "fairness" in found.hint


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("asynchronous", "asynchronous"),
        ("synchronous", "synchronous"),
        ("partial", "partial"),
        ("partial noise f + 1", "partial"),
        ("clocks drift 1", "clocks"),
        ("clocks drift 1 until n + 1", "clocks"),
    ],
)
def test_timing(written: str, kind: str) -> None:
    timing = check(TIMERS % f"f = 1 timing {written}").timing
    assert timing is not None and timing.kind == kind
    assert (timing.noise is not None) == ("noise" in written)
    assert (timing.drift is not None) == ("drift" in written)
    assert (timing.until is not None) == ("until" in written)


def test_words_of_a_timing_can_be_parameters() -> None:
    text = (TIMERS % "timing partial noise = 2 drift = 1").replace(
        "protocol T {", "protocol T(noise: Nat, drift: Nat) {"
    )
    made = check(text)
    assert made.timing is not None and made.timing.noise is None
    assert [s.name for s in made.settings] == ["noise", "drift"]


CLOCK = """protocol T {
  state late = %s
  %s
  property p : always forall p in Proc: %s
}
check c of T { prove p  %s }
"""


@pytest.mark.parametrize(
    ("code", "asked", "world", "found"),
    [
        ("upon condition now > 1 { late := 2 }", "p.late < 3", "timing clocks drift 1 until 3", []),
        ("upon condition self.now > 1 { late := now }", "p.now < 3",
         "timing clocks drift 0 until n", []),
        ("upon condition now > 1 { late := 2 }", "p.late < 3", "timing clocks drift 1", ["C013"]),
        ("upon condition now > 1 { late := 2 }", "p.late < 3", "", ["C013"]),
        ("upon init { late := 2 }", "p.now < 3", "timing clocks drift 1", ["C013"]),
        ("upon init { late := 2 }", "now < 3", "timing clocks drift 1 until 3", ["N010"]),
        ("upon init { now := 2 }", "p.late < 3", "timing clocks drift 1 until 3", ["N002"]),
        ("state now : Nat = 0  upon init { now := 2 }", "p.now < 3", "", []),
        ("upon init { late := 2 }", "p.late < 3", "timing synchronous until 3", ["C010"]),
        ("upon init { late := 2 }", "p.late < 3", "timing partial noise 1 until 3", ["C010"]),
        ("upon init { late := 2 }", "p.late < 3", "timing clocks until 3", ["C010"]),
    ],
)  # fmt: skip
def test_clocks_that_are_read(code: str, asked: str, world: str, found: list[str]) -> None:
    told = []
    try:
        assert opened(CLOCK % ("0", code, asked, world)).system
    except SpecError as error:
        told = [d.code for d in error.diagnostics]
    assert told == found


def test_timers_need_a_timing() -> None:
    (found,) = diagnostics(TIMERS % "")
    assert found.code == "C013" and "timing asynchronous" in found.hint


@pytest.mark.parametrize(
    ("layer", "word", "items", "found"),
    [
        ("d : FailureDetector", "d.suspect", "detector P", []),
        ("d : FailureDetector", "d.restore", "detector eventually S noise 2", []),
        ("d : LeaderDetector", "d.trust", "detector Omega noise 3", []),
        ("d : LeaderDetector", "d.trust", "detector eventually Omega", []),
        ("d : FailureDetector", "d.suspect", "given d as Silent", []),
        ("d : FailureDetector", "d.suspect", "given FailureDetector as Silent", []),
        ("d : FailureDetector", "d.suspect", "given d as oracle", []),
        ("d : Silent", "d.suspect", "", []),
        ("d : FailureDetector", "d.suspect", "", ["C014"]),
        ("d : FailureDetector", "d.suspect", "detector Omega", ["C014"]),
        ("d : LeaderDetector", "d.trust", "detector P", ["C014"]),
        ("d : FailureDetector", "d.suspect", "detector P noise 2", ["C010"]),
        ("d : FailureDetector", "d.suspect", "detector P detector P", ["C009"]),
        ("d : FailureDetector", "d.suspect", "detector P given d as Silent", ["C015"]),
        ("d : Silent", "d.suspect", "detector P", ["C015"]),
        ("d : FailureDetector", "d.suspect", "given d as Boss", ["C016"]),
    ],
)
def test_detectors(layer: str, word: str, items: str, found: list[str]) -> None:
    assert codes(DETECTED % (layer, word, items)) == found


def test_a_detector_is_no_protocol_unless_named() -> None:
    made = load_text(DETECTED % ("d : FailureDetector", "d.suspect", "detector P"), "a.bcast")
    (layer,) = made.protocols[0].layers
    assert layer.protocol is None and layer.interface is not None
    assert layer.interface.name == "FailureDetector"
    detector = made.checks[0].detector
    assert detector is not None and (detector.kind, detector.eventually) == ("P", False)


def test_layers_at_any_depth_can_be_given() -> None:
    assert codes(TWO % "") == ["N014"]
    (one,) = check(TWO % "given low as One").given
    assert one.protocol is not None and one.protocol.name == "One"
    assert codes(TWO % "given Down as Other") == []
    assert codes(TWO % "given mid as oracle") == []
    assert check(TWO % "given mid as oracle").given[0].protocol is None
    assert codes(TWO % "given mid as oracle given low as One") == ["C016"]
    assert codes(TWO % "given low as Middle") == ["C016"]


def test_warnings_of_what_nobody_recovers_for() -> None:
    found = check(STABLE % "faults crash <= 1").warnings
    assert [(w.code, w.severity) for w in found] == [("C017", "warning")] * 2
    assert check(STABLE % "faults crash <= 1, recover").warnings == ()
    assert check(STABLE % "").warnings == ()
    kept, lost = load_text(STABLE % "", "a.bcast").protocols[0].roles[0].states
    assert kept.stable and not lost.stable
