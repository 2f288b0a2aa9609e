"""A spec with constants, definitions, procedures and `var` means what it means written out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.proving.dispatch_check import answer_check
from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check
from tests.instantiate.tables import WAYS, run, words


@dataclass(frozen=True)
class Pair:
    """A protocol, and the same one without what is tested; ``check``: the check of both."""

    name: str
    text: str
    plain: str
    check: str


LOGS = """
const TOP = 2
define last_term(log: seq<0..2>): Nat = if #log == 0 then 0 else last(log)
protocol P {
  message LOG(log: seq<0..2, max 2>)
  const most = TOP + n - n
  state log : seq<0..2, max 2> = []
  state seen : 0..TOP = 0
  define ahead_of(other: seq<0..2>): bool = last_term(log) > last_term(other)
  define known(): Nat = max({seen, last_term(log)})
  upon condition #log < most {
    log := log + (#log + 1)
    send LOG(log) to all
  }
  upon receive LOG(other) when not ahead_of(other) { seen := last_term(other) }
  property together : always forall p, q in Proc: p.seen <= last_term(q.log)
  property known_is_most : always forall p in Proc: p.known() <= most
}
"""
LOGS_PLAIN = """
protocol P {
  message LOG(log: seq<0..2, max 2>)
  state log : seq<0..2, max 2> = []
  state seen : 0..2 = 0
  upon condition #log < 2 {
    log := log + (#log + 1)
    send LOG(log) to all
  }
  upon receive LOG(other)
    when not ((if #log == 0 then 0 else last(log)) > (if #other == 0 then 0 else last(other))) {
    seen := if #other == 0 then 0 else last(other)
  }
  property together : always forall p, q in Proc:
    p.seen <= (if #q.log == 0 then 0 else last(q.log))
  property known_is_most : always forall p in Proc:
    max({p.seen, if #p.log == 0 then 0 else last(p.log)}) <= 2
}
"""

TERMS = """
protocol P {
  message GO(k: 0..2)
  state term : 0..2 = 0
  state leads = false
  state votes : set<Proc> = {}
  procedure step_down(t) {
    if t > term {
      term := t
      forget()
    }
    leads := false
  }
  procedure forget() { votes := {} }
  upon condition term < 2 and not leads {
    let t = term + 1
    step_down(t)
    leads := true
    votes += self
    send GO(t) to all
  }
  upon receive GO(k) from p { step_down(k) }
  property alone : always forall p in Proc: p.leads => p.votes == {p}
  property never_two : always forall p, q in Proc: p.leads and q.leads => p == q
}
"""
TERMS_PLAIN = """
protocol P {
  message GO(k: 0..2)
  state term : 0..2 = 0
  state leads = false
  state votes : set<Proc> = {}
  upon condition term < 2 and not leads {
    let t = term + 1
    if t > term {
      term := t
      votes := {}
    }
    leads := false
    leads := true
    votes += self
    send GO(t) to all
  }
  upon receive GO(k) from p {
    if k > term {
      term := k
      votes := {}
    }
    leads := false
  }
  property alone : always forall p in Proc: p.leads => p.votes == {p}
  property never_two : always forall p, q in Proc: p.leads and q.leads => p == q
}
"""

COUNTS = """
protocol P {
  message GO(k: 0..3)
  state total : 0..9 = 0
  state best : map<0..1, 0..3> = 0
  upon init { send GO(rank(self)) to all }
  upon receive GO(k) from p {
    var sum = 0
    for x in (0..k) { sum += x }
    var new : map<0..1, 0..3> = best
    if k < 2 { new[k] := k + 1 }
    var extra : 0..3 = 0
    while some i in (0..1) when extra < 2 { extra += 1 }
    best := new
    total := sum + extra
  }
  property counted : always forall p in Proc: p.total in {0, 3, 5} and p.best[1] in {0, 2}
  property quiet : always forall p in Proc: p.total < 5
}
"""
COUNTS_PLAIN = """
protocol P {
  message GO(k: 0..3)
  state total : 0..9 = 0
  state best : map<0..1, 0..3> = 0
  upon init { send GO(rank(self)) to all }
  upon receive GO(k) from p {
    if k < 2 { best[k] := k + 1 }
    total := (k * (k + 1)) div 2 + 2
  }
  property counted : always forall p in Proc: p.total in {0, 3, 5} and p.best[1] in {0, 2}
  property quiet : always forall p in Proc: p.total < 5
}
"""

SUMS = """
define power(b: Nat, e: Nat): Nat = if e == 0 then 1 else b * power(b, e - 1)
define even(k: Nat): bool = k == 0 or odd(k - 1)
define odd(k: Nat): bool = k > 0 and even(k - 1)
protocol P(k: Nat) {
  const top = power(2, k)
  state x : 0..top = 0
  state log : map<0..3, 0..3> = 0
  define total(upto: 0..3): Nat = log[upto] + (if upto == 0 then 0 else total(upto - 1))
  upon condition x < top and total(k) < 5 {
    log[x mod 4] := x mod 4
    x += 1
  }
  property bounded : always forall p in Proc: forall j in (0..3): p.total(j) <= j * (j + 1) div 2
  property even_k : always forall p in Proc: p.x == 3 => even(k)
}
"""
SUMS_PLAIN = """
protocol P(k: Nat) {
  state x : 0..8 = 0
  state log : map<0..3, 0..3> = 0
  upon condition x < 8 and log[0] + log[1] + log[2] + log[3] < 5 {
    log[x mod 4] := x mod 4
    x += 1
  }
  property bounded : always forall p in Proc:
    p.log[0] <= 0 and p.log[0] + p.log[1] <= 1 and p.log[0] + p.log[1] + p.log[2] <= 3
      and p.log[0] + p.log[1] + p.log[2] + p.log[3] <= 6
  property even_k : always forall p in Proc: p.x != 3
}
"""

ROUNDS = """
protocol P {
  message GO(k: 0..2)
  state round : 0..4 = 0
  state heard : 0..2 = 0
  state kept : 0..2 = 0
  state most : 0..2 = 0
  upon init { start t }
  upon timeout t {
    send GO(heard) to all
    round += 1
    if round < 4 { start t }
  }
  upon receive GO(k) { if k >= heard { heard := min({k + 1, 2}) } }
  upon condition heard > kept {      // stays true, and then leaves all as it is: rounds go on
    var new = heard
    if new == 2 { new := 1 }
    kept := new
    new := 0
    if new == 1 { most := 2 }
  }
  property small : always forall p in Proc: p.most == 0
  property short : always forall p in Proc: p.round < 4
}
"""
ROUNDS_PLAIN = """
protocol P {
  message GO(k: 0..2)
  state round : 0..4 = 0
  state heard : 0..2 = 0
  state kept : 0..2 = 0
  state most : 0..2 = 0
  upon init { start t }
  upon timeout t {
    send GO(heard) to all
    round += 1
    if round < 4 { start t }
  }
  upon receive GO(k) { if k >= heard { heard := min({k + 1, 2}) } }
  upon condition heard > kept { kept := if heard == 2 then 1 else heard }
  property small : always forall p in Proc: p.most == 0
  property short : always forall p in Proc: p.round < 4
}
"""

YIELDS = """
protocol P {
  state x : 0..3 = 0
  shared state seen : 0..9 = 0
  upon condition x == 0 {
    var mine = seen
    yield
    mine += 1
    yield
    x := min({mine, 3})
    seen := mine
  }
  property all_counted : always (forall p in Proc: p.x > 0) => seen == n
  property some : always seen <= n
}
"""
YIELDS_PLAIN = """
protocol P {
  state x : 0..3 = 0
  shared state seen : 0..9 = 0
  upon condition x == 0 {
    let mine = seen
    yield
    let next = mine + 1
    yield
    x := min({next, 3})
    seen := next
  }
  property all_counted : always (forall p in Proc: p.x > 0) => seen == n
  property some : always seen <= n
}
"""

CAPTURES = """
const ODD = { r for r in (1..3) when r mod 2 == 1 }
protocol P {
  message GO(s: 0..1, r: 1..3)
  state log : seq<(0..1, 1..3)> = [(0, 2)]
  state seen : set<0..9> = {}
  define largest(s: 0..1): 0..3 = max({ r for r in (1..3) when (s, r) in log } union {0})
  define entries(s: 0..1): Nat = #[r for r in log when r in { (s, q) for q in (1..3) }]
  define some_above(s: 0..1, k: 0..3): bool = exists r in (1..3): r > k and (s, r) in log
  define total(s: 0..1): Nat = sum(if (s, r) in log then r else 0 for r in (1..3))
  define table(s: 0..1): map<1..3, bool> = { r -> (s, r) in log for r in (1..3) }
  define appends(s: 0..1, r: 1..3): bool = r > largest(s)
  define later(r: 1..3): bool = appends(0, r) and not some_above(0, r)
  define odd(r: 1..3): bool = r in ODD
  define weight(s: 0..1, r: 1..3): 0..9 = total(s) + entries(s) + (if table(s)[r] then r else 0)
  upon init { send GO(0, 1) to all  send GO(0, 3) to all }
  upon receive GO(s, r) {
    if later(r) { seen += weight(s, r) }
    if odd(r) { seen += 9 }
    for k in (1..3) { if r == k and not appends(s, r) { seen += 8 } }
  }
  property little : always forall p in Proc: 3 not in p.seen
  property odd_ones : always forall p in Proc: 9 not in p.seen
  property old_ones : always forall r in Proc, s in (0..1): 8 in r.seen => not r.appends(s, 1)
  property others : always forall r in Proc: r.largest(0) == 2 and r.total(0) == 2
}
"""
CAPTURES_PLAIN = """
protocol P {
  message GO(s: 0..1, r: 1..3)
  state log : seq<(0..1, 1..3)> = [(0, 2)]
  state seen : set<0..9> = {}
  upon init { send GO(0, 1) to all  send GO(0, 3) to all }
  upon receive GO(s, r) {
    if r > 2 { seen += 3 }
    if r == 1 or r == 3 { seen += 9 }
    if s == 0 and r <= 2 { seen += 8 }
  }
  property little : always forall p in Proc: 3 not in p.seen
  property odd_ones : always forall p in Proc: 9 not in p.seen
  property old_ones : always forall p in Proc: 8 not in p.seen
  property others : always forall p in Proc: p.log == [(0, 2)]
}
"""

PAIRS = [
    Pair("logs", LOGS, LOGS_PLAIN, "n = 2  prove together, known_is_most"),
    Pair("logs_crash", LOGS, LOGS_PLAIN, "n = 2  faults crash <= 1  prove together, known_is_most"),
    Pair("terms", TERMS, TERMS_PLAIN, "n = 2  prove alone, never_two"),
    Pair("terms_crash", TERMS, TERMS_PLAIN, "n = 2  faults crash <= 1  prove alone, never_two"),
    Pair("counts", COUNTS, COUNTS_PLAIN, "n = 2  prove counted, quiet"),
    Pair("sums", SUMS, SUMS_PLAIN, "n = 1  k = 3  prove bounded, even_k"),
    Pair("rounds", ROUNDS, ROUNDS_PLAIN, "n = 2  timing synchronous  prove small, short"),
    Pair("captures", CAPTURES, CAPTURES_PLAIN, "n = 1  prove little, odd_ones, old_ones, others"),
    Pair("yields", YIELDS, YIELDS_PLAIN, "n = 2  prove all_counted, some"),
]


def report_of(folder: Path, text: str, check: str, engine: str, fine: bool) -> Report:
    return run(folder, f"{text}\ncheck one of P {{ {check} }}\n", engine, fine, "none")


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_it_means_what_it_means_written_out(
    pair: Pair, engine: str, fine: bool, tmp_path: Path
) -> None:
    short = report_of(tmp_path, pair.text, pair.check, engine, fine)
    plain = report_of(tmp_path, pair.plain, pair.check, engine, fine)
    assert words(short) == words(plain)
    assert set(words(plain).values()) <= {"holds", "violated"}
    if pair.name != "yields":  # a `var` that is kept is one value, and so are two names
        assert short.distinct_states == plain.distinct_states


def test_both_verdicts_come_up(tmp_path: Path) -> None:
    found = [words(report_of(tmp_path, p.text, p.check, "native", False)) for p in PAIRS]
    assert {word for each in found for word in each.values()} == {"holds", "violated"}


def test_a_definition_of_an_imported_file(tmp_path: Path) -> None:
    (tmp_path / "logs.bcast").write_text(LOGS.partition("protocol")[0], encoding="utf-8")
    own = tmp_path / "own.bcast"
    protocol = "protocol" + LOGS.partition("protocol")[2]
    check = "check one of P { n = TOP  prove together, known_is_most }"
    own.write_text(f'import "logs.bcast"\n{protocol}\n{check}', encoding="utf-8")
    report = run_check(str(own), None, Options())
    assert words(report) == words(report_of(tmp_path, LOGS, PAIRS[0].check, "native", False))


# ---- run-time errors --------------------------------------------------------------------------

EMPTY = """
define newest(log: seq<Nat>): Nat =
  last(log) + 1
protocol P {
  state log : seq<Nat, max 3> = []
  state term : 0..2 = 0
  procedure drain() {
    term := newest(log)
  }
  upon condition term < 2 {
    drain()
  }
  property low : always forall p in Proc: p.term < 2
}
check one of P { n = 1  prove low }
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_error_of_the_run_has_its_place_in_the_definition(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(EMPTY, encoding="utf-8")
    report = run_check(str(path), None, Options(engine=engine))
    (verdict,) = [v for v in report.verdicts if v.trace is not None][:1]
    assert verdict.trace is not None and verdict.trace.failure is not None
    failure = verdict.trace.failure
    assert (failure.code, failure.line, failure.column) == ("R004", 3, 3)
    assert failure.message.endswith("(reached by the call at line 8:13, 11:5)")


def test_the_range_of_a_var_is_checked(tmp_path: Path) -> None:
    text = "protocol P { state x : 0..9 = 0\n upon condition x < 2 { var y : 0..1 = x\n y += 2 } }"
    report = report_of(tmp_path, text, "n = 1", "native", False)
    traces = [v.trace for v in report.verdicts if v.trace is not None]
    assert traces and traces[0].failure is not None
    assert (traces[0].failure.code, traces[0].failure.line) == ("R001", 8)


def test_what_is_outside_of_a_range_that_recursion_goes_over(tmp_path: Path) -> None:
    text = """protocol P { state x : 0..9 = 0
    define up(k: 0..2): Nat = if k == 0 then 0 else 1 + up(k - 1)
    define go(k: 0..2): Nat = up(k)
    upon condition x < 5 { x += 1 + up(x + 3) } }"""
    report = report_of(tmp_path, text, "n = 1", "native", False)
    traces = [v.trace for v in report.verdicts if v.trace is not None]
    assert traces and traces[0].failure is not None and traces[0].failure.code == "R003"


# ---- what is seen when sizes are known ----------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "if k == 100 then 0 else d(k + 1)",
        "if x == 0 then 0 else d(k)",
        "if d(k) > 1 then 1 else 2",
        "d(k) + d(k)",
        "g(k)",
    ],
)
def test_a_definition_that_never_ends(body: str, tmp_path: Path) -> None:
    text = f"""protocol P {{ state x : 0..9 = 0
    define d(k: Nat): Nat = {body}
    define g(k: Nat): Nat = d(k + 1)
    upon condition x < 2 {{ x := d(n) }} }}"""
    with pytest.raises(SpecError) as caught:
        report_of(tmp_path, text, "n = 1", "native", False)
    (found,) = caught.value.diagnostics
    assert found.code == "C206" and found.span is not None


def test_a_loop_with_a_var_in_synchronous_rounds(tmp_path: Path) -> None:
    text = """protocol P { message GO
    state x : 0..9 = 0
    upon init { start t }
    upon timeout t { send GO to all }
    upon condition x == 0 { var y = 0  for i in (0..2) { y += i }  x := y } }"""
    with pytest.raises(SpecError) as caught:
        report_of(tmp_path, text, "n = 2  timing synchronous", "native", False)
    (found,) = caught.value.diagnostics
    assert found.code == "C202" and "`var`" in found.message


# ---- all sizes ----------------------------------------------------------------------------------

ECHO = """
{top}
protocol Echo(T: Nat) requires n > 3 * T {{
  message ECHO
  const enough = n - T
  state wants = false
  init choose wants
  state echoed = false
  state accepted = false
  define heard(k: Nat): bool = #received(ECHO) >= k
  procedure shout() {{
    {shout}
    send ECHO to all
  }}
  upon condition (wants or heard({few})) and not echoed {{ shout() }}
  upon condition heard(enough) and not accepted {{ accepted := true }}
  property unforgeability : always forall q in Proc:
    correct(q) and q.accepted => exists p in Proc: correct(p) and p.wants
}}
check all_sizes of Echo {{
  for all n, T, f when n > 3 * T and f <= T
  faults byzantine <= f
  links authenticated
  expect unforgeability {verdict}
}}
"""
SHOUT = "echoed := true"
REC = "define rec(k: Nat): Nat = if k == 0 then 0 else 1 + rec(k - 1)"


@pytest.mark.parametrize(("few", "verdict"), [("T + 1", "holds"), ("T", "violated")])
def test_proofs_for_all_sizes_see_what_is_written_out(
    few: str, verdict: str, tmp_path: Path
) -> None:
    path = tmp_path / "echo.bcast"
    text = ECHO.format(top="", few=few, shout=SHOUT, verdict=verdict)
    path.write_text(text, encoding="utf-8")
    assert answer_check(str(path), "all_sizes", Options()).exit_code == 0


@pytest.mark.parametrize(
    ("top", "few", "shout", "code"),
    [(REC, "rec(T)", SHOUT, "T007"), ("", "T + 1", f"var y = 1  {SHOUT}", "T006")],
)
def test_what_proofs_for_all_sizes_do_not_know(
    top: str, few: str, shout: str, code: str, tmp_path: Path
) -> None:
    path = tmp_path / "echo.bcast"
    text = ECHO.format(top=top, few=few, shout=shout, verdict="holds")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        answer_check(str(path), "all_sizes", Options())
    assert [each.code for each in caught.value.diagnostics] == [code]
