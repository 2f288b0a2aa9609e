"""Timers with keys: fairness, traces, scenarios, reasons, symmetry, diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.language.formatting.layout import format_text
from checker.language.load import load_text
from checker.properties.formula import ask
from checker.results.verdict import Word
from checker.session.pipeline import open_check, run_check
from checker.simulate.scenario import play

SPEC = """protocol Leases {
  message ASK

  role server(1) {
    state holders : set<Proc> = {}
    upon receive ASK from c {
      holders += c
      start %s after 2
    }
    upon timeout %s { holders -= c }
  }

  role client(2) {
    state asked = false
    upon condition not asked as asks {
      asked := true
      send ASK to all server
    }
  }

  property both_free : always eventually forall s in server: s.holders == {}
  property alone : always forall s in server: #s.holders < 2
}

check c of Leases {
  %s
}
"""
TIMED = "timing asynchronous prove alone"
KEYED = "lease[c]", "lease[c: client]"


def spec(tmp_path: Path, clauses: str) -> str:
    file = tmp_path / "leases.bcast"
    file.write_text(SPEC % (*KEYED, clauses))
    return str(file)


@pytest.mark.parametrize(
    "timing", ["asynchronous", "synchronous", "partial", "clocks drift 0", "clocks drift 1"]
)
def test_every_lease_ends(tmp_path: Path, timing: str) -> None:
    check = f"timing {timing} prove both_free, alone"
    report = run_check(spec(tmp_path, check), None, Options())
    assert [v.word for v in report.verdicts] == [Word.HOLDS, Word.VIOLATED]
    plainly = run_check(spec(tmp_path, check), None, Options(reduce="none"))
    assert [v.word for v in plainly.verdicts] == [Word.HOLDS, Word.VIOLATED]


AGAIN = """protocol Again(r: Proc) {
  state told : set<Proc> = {}
  upon init { for p in Proc { start t[p] } }
  upon timeout t[p] {
    told += p
    if p == r { start t[p] }
  }
  property all_told : eventually forall p, q in Proc: q in p.told
}
check c of Again { n = 2 r = p1 timing asynchronous prove all_told }
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_one_that_expires_forever_does_not_excuse_another(tmp_path: Path, engine: str) -> None:
    file = tmp_path / "again.bcast"
    file.write_text(AGAIN)
    report = run_check(str(file), None, Options(engine=engine))
    assert report.verdicts[0].word is Word.HOLDS


def test_clients_of_leases_are_symmetric(tmp_path: Path) -> None:
    check = "timing clocks drift 1 prove both_free"
    report = run_check(spec(tmp_path, check), None, Options(reduce="symmetry"))
    plainly = run_check(spec(tmp_path, check), None, Options(reduce="none"))
    assert "symmetry" in str(report.reduced.used)
    assert report.distinct_states < plainly.distinct_states


SCENARIO = """timing asynchronous
  expect alone violated
  scenario s {
    c1: asks
    s1 receives ASK from c1
    c2: asks
    s1 receives ASK from c2
    s1's timer `lease[%s]` expires
    s1's timer `lease[c2]` expires
    then alone violated
  }"""


@pytest.mark.parametrize(("key", "met"), [("c1", True), ("c2", False)])
def test_a_scenario_says_whose_timer_expires(tmp_path: Path, key: str, met: bool) -> None:
    opened = open_check(spec(tmp_path, SCENARIO % key), None, Options())
    played = play(opened, opened.check.scenarios[0])
    assert (played.problem is None) == met
    if played.problem is not None:
        assert "s1's timer `lease[c1]` expires" in played.problem.possible
        assert "the timer `lease[c2]` of s1 is not running" in played.problem.message


def test_a_check_without_timers_with_keys_has_the_system_that_it_had() -> None:
    text = SPEC.replace("holders -= c", "holders := {}") % ("lease", "lease", TIMED)
    (check,) = load_text(text, "a.bcast").checks
    made = instantiate(check, {}, ask).system
    (action,) = (a for a in made.actions if a.name == "timeout lease")
    assert len(action.params) == 1 and action.fairness is not None
    assert len(action.fairness.key) == 1


@pytest.mark.parametrize(
    ("started", "awaited", "code"),
    [
        ("lease", "lease[c: client]", "N034"),
        ("lease[c]", "lease", "N034"),
        ("lease[1]", "lease[c: client]", "N003"),
        ("lease[c]", "lease[c: Nat]", "N007"),
        ("other[c]", "lease[c: client]", "N027"),
        ("lease[c]", "lease[c] { skip }\n    upon timeout lease[k: 1..2]", "N034"),
        ("lease[c]", "lease[holders]", "N004"),
    ],
)
def test_a_wrong_key_is_told(started: str, awaited: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(SPEC % (started, awaited, "timing asynchronous prove alone"), "a.bcast")
    assert code in {found.code for found in caught.value.diagnostics}


def test_it_is_formatted_as_it_is_written() -> None:
    text = SPEC % (*KEYED, "timing asynchronous")
    assert format_text(text, "a.bcast") == text
