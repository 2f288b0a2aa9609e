"""Parts of sequences, assignments to their entries, comprehensions, sums: small specs with their
verdicts, by every engine and step size."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.proving import parametric
from checker.session.pipeline import run_check
from tests.instantiate.tables import WAYS, Case, compare, run, words

ENTRY = "type Entry = record { term: 0..3, cmd: enum { x, y } }"

LOG = """
protocol P {
  ENTRY
  state old : seq<Entry, max 4> = [
    record(term = 0, cmd = x), record(term = 1, cmd = y), record(term = 1, cmd = x)]
  state log : seq<Entry, max 4> = []
  state step : 0..3 = 0
  upon condition step < 3 { step := step + 1  BODY }
  PROPERTIES
}
check c of P { n = 2  prove PROVE }
""".replace("ENTRY", ENTRY)


def log(name: str, body: str, **holds: str) -> Case:
    """A case in which each formula of ``holds`` holds of the log whenever a step has been taken."""
    properties = "\n  ".join(
        f'property {key} "" : always forall p in Proc: p.step > 0 => {formula}'
        for key, formula in holds.items()
    )
    text = LOG.replace("BODY", body).replace("PROPERTIES", properties)
    expected = ", ".join(f"{key} holds" for key in holds)
    return Case(name, text.replace("PROVE", ", ".join(holds)), expected)


CASES = [
    log("a slice has both ends", "log := old[1..2]", ends="p.log == drop(p.old, 1)"),
    log("an empty slice in the midst", "log := old[1..0]", empty="p.log == []"),
    log("an empty slice behind the end", "log := old[3..2]", empty="p.log == []"),
    log("all of it", "log := old[0..#old - 1]", all="p.log == p.old", same="p.log prefix p.old"),
    log(
        "take and drop are two parts",
        "log := take(old, step - 1) ++ drop(old, step - 1)",
        whole="p.log == p.old",
    ),
    log("nothing is taken", "log := take(old, 0)", empty="#p.log == 0", fits="p.log prefix p.old"),
    log(
        "an entry is assigned",
        "log := old  log[1] := old[2]",
        second="p.log[1] == p.old[2] and p.log[0] == p.old[0]",
        others="#p.log == 3 and not (p.log prefix p.old)",
        both="take(p.log, 1) prefix p.old",
    ),
    log(
        "a field of an entry",
        "log := old  log[step - 1].term := 3",
        one="p.log[p.step - 1].term == 3 and p.log[p.step - 1].cmd == p.old[p.step - 1].cmd",
        count="sum(1 for e in p.log when e.term == 3) == 1",
    ),
    log(
        "a comprehension keeps the order",
        "log := [e for e in old when e.term > 0]",
        two="p.log == [p.old[1], p.old[2]]",
        terms="[e.term for e in p.old] == [0, 1, 1]",
        evens="[2 * k for k in (0..4) when k mod 2 == 0] == [0, 4, 8]",
        empty="[e.term for e in p.old when e.term > 1] == []",
    ),
    log(
        "where an item is first",
        "log := [old[2]] ++ take(old, 2)",
        first="index(p.old, p.old[1]) == 1 and index(p.log, p.old[2]) == 0",
    ),
    log(
        "sums and maxima",
        "log := old",
        sums="sum(e.term for e in p.log) == 2 and sum([1, 1, 2]) == 4 and sum({1, 2, 1 + 1}) == 3",
        bags="sum({| 1, 1, 2 |}) == 4 and max({| 1, 3 |}) == 3",
        most="max(e.term for e in p.log) == 1 and min(e.term for e in p.log when e.cmd == y) == 1",
        of_seqs="max([1, 3, 2]) == 3 and min([2, 1]) == 1",
        nothing="sum(e.term for e in p.log when e.term > 2) == 0",
        pairs="sum(k * j for k in (1..2), j in (1..3) when j > k) == 1 * 5 + 2 * 3",
        below="sum(0 - e.term for e in p.log) == 0 - 2",
        everybody="sum(q.step for q in Proc) >= p.step",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdicts(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_by_formulas(tmp_path: Path, case: Case) -> None:
    report = run(tmp_path, case.text, "symbolic")
    assert set(words(report).values()) == {"bounded"}


MAPS = """
protocol P {
  state votes : map<Proc, bool> = true
  state sent : map<Proc, map<0..1, seq<bool, max 2>>> = []
  state row : map<0..1, seq<bool, max 2>> = [true]
  state step : 0..3 = 0
  upon condition step == 0 { step := 1  votes := false  sent := row }
  upon condition step == 1 {
    step := 2
    votes[self] := true
    sent[self] := [false]
    sent[self][0] += true
  }
  upon condition step == 2 { step := 3  votes := votes[self]  sent := [] }
  property filled : always forall p, q in Proc:
    p.step == 1 => not p.votes[q] and p.sent[q][0] == [true]
  property alone : always forall p, q in Proc: p.step == 2 => p.votes[q] == (p == q)
  property rows : always forall p, q in Proc: p.step == 2 =>
    p.sent[q][1] == [p != q] and #p.sent[q][0] == (if p == q then 2 else 1)
  property again : always forall p, q in Proc: p.step == 3 => p.votes[q] and p.sent[q][1] == []
}
check c of P { n = 2  prove filled, alone, rows, again }
"""
LARGE = """
protocol P {
  state known : set<(0..9, 0..9, 0..56)> = {}
  state other : set<(0..9, 0..9, 0..56)> = {(1, 2, 3)}
  state firsts : set<0..9> = {}
  state step : 0..3 = 0
  upon condition step == 0 {
    step := 1
    known += (1, 1, 1)
    known += (2, 1, 5)
    firsts := { a for (a, b, c) in known }
    other := { (b, a, c) for (a, b, c) in known }
  }
  upon condition step == 1 {
    step := 2
    known := { (a, b, c) for (a, b, c) in known when c > 1 }
    other := other minus { (1, 1, 1) }
  }
  upon condition step == 2 {
    step := 3
    known := { (a, a, 4) for a in firsts }
    other := {}
  }
  property first : always forall p in Proc:
    p.step == 1 => p.firsts == {1, 2} and p.other == {(1, 1, 1), (1, 2, 5)} and p.known != p.other
  property part : always forall p in Proc:
    { (a, b, c) for (a, b, c) in p.known when c == 1 } subset p.known
  property second : always forall p in Proc:
    p.step == 2 => p.known == {(2, 1, 5)} and p.other == { (b, a, c) for (a, b, c) in p.known }
  property third : always forall p in Proc:
    p.step == 3 => p.known == { (a, a, 4) for a in (1..2) } and #p.known == 2
  property apart : always forall p in Proc:
    p.step == 1 => p.known intersect p.other == {(1, 1, 1)} and not (p.known subset p.other)
}
check c of P { n = 2  prove first, part, second, third, apart }
"""
ALL_OF_IT = "first holds, part holds, second holds, third holds, apart holds"
CASES.append(Case("large sets have few members", LARGE, ALL_OF_IT, 16))

FILLED = "filled holds, alone holds, rows holds, again holds"
CASES.append(Case("maps are filled", MAPS, FILLED, 16))


def test_large_sets_over_several_names(tmp_path: Path) -> None:
    text = LARGE.replace("(a, a, 4) for a in firsts", "(a, a, c) for a in firsts, c in (4..5)")
    text = text.replace("(a, a, 4) for a in (1..2)", "(a, a, c) for a in (1..2), c in (4..5)")
    report = run(tmp_path, text.replace("#p.known == 2", "#p.known == 4"))
    assert set(words(report).values()) == {"holds"}


FAULTS = {
    "a slice beyond the end": ("log := old[1..3]", "R003"),
    "a slice before the beginning": ("log := old[step - 2..1]", "R003"),
    "a slice whose ends are crossed": ("log := old[2..0]", "R003"),
    "more is taken than there is": ("log := take(old, 4)", "R003"),
    "more is dropped than there is": ("log := drop(old, #old + 1)", "R003"),
    "an entry behind the end": ("log[#log] := old[0]", "R003"),
    "an item that is not there": (
        "log := take(old, index(old, record(term = 3, cmd = x)))",
        "R004",
    ),
    "the largest of nothing": ("log := take(old, max(e.term for e in log))", "R004"),
    "more items than there is room for": (
        "log := [record(term = 0, cmd = x) for k in (0..4)]",
        "R002",
    ),
    "a sum that leaves its range": ("step := sum(e.term + 1 for e in old)", "R001"),
}


@pytest.mark.parametrize("engine", ["native", "reference", "symbolic"])
@pytest.mark.parametrize("name", FAULTS)
def test_errors_of_the_run(tmp_path: Path, name: str, engine: str) -> None:
    body, code = FAULTS[name]
    case = log(name, body, fine="p.log == p.log")
    report = run(tmp_path, case.text, engine)
    assert words(report)["fine"] == "error"
    assert f"({code}" in report.verdicts[0].reason
    assert report.verdicts[0].reason.count("spec.bcast:") == 1


SUMMED = """
protocol Votes {
  state mine : 0..2 = 0
  upon condition mine == 0 { choose k in (1..2)  mine := k }
  property some "" : always sum(p.mine for p in Proc) <= 2 * n
  property not_so_many "" : always sum(p.mine for p in Proc) < 2 * n
}
check c of Votes { n = 3  prove some  expect not_so_many violated }
"""


def test_sums_over_processes_keep_the_symmetry(tmp_path: Path) -> None:
    path = tmp_path / "votes.bcast"
    path.write_text(SUMMED)
    found = [
        run_check(str(path), "c", Options(engine=engine, reduce=reduce))
        for engine, reduce in (("reference", "none"), ("native", "none"), ("native", "auto"))
    ]
    for report in found:
        assert words(report) == {"some": "holds", "not_so_many": "violated"}
    assert [report.distinct_states for report in found] == [27, 27, 10]


# ---- every n ----------------------------------------------------------------------------------

EVERY = """
protocol Q requires n > 0 {
  message ECHO
  state k : 0..4 = 0
  upon condition k == 0 { k := VALUE  send ECHO to all }
  property kept : always forall p in Proc: p.k == 0 or p.k == 2
}
check every of Q { for all n  prove kept }
check three of Q { n = 3  prove kept }
"""

CONSTANT = [
    "#take([true, true, false], 2)",
    "#drop([true, true, false], 1)",
    "last([1, 2, 3][1..1])",
    "#[x mod 1 for x in (0..3) when x < 2]",
    "index([false, false, true], true)",
    "if [1] prefix [1, 2] then 2 else 1",
    "sum(x for x in (0..1), y in (1..2))",
    "sum([1, 0, 1])",
    "max([1, 2, 0])",
    "max(x for x in (0..2))",
]


@pytest.mark.parametrize("value", CONSTANT)
def test_for_every_n_as_for_one(tmp_path: Path, value: str) -> None:
    path = tmp_path / "every.bcast"
    path.write_text(EVERY.replace("VALUE", value))
    report = parametric.prove_every(str(path), "every", Options(), tight=False)
    assert words(report) == {"kept": "proved"}
    assert words(run_check(str(path), "three", Options())) == {"kept": "holds"}


@pytest.mark.parametrize(
    ("value", "code"),
    [("sum(1 for p in Proc)", "T007"), ("#take([true], 2)", "T016"), ("last([1][0..1])", "T016")],
)
def test_what_is_not_the_same_for_every_n(tmp_path: Path, value: str, code: str) -> None:
    path = tmp_path / "every.bcast"
    path.write_text(EVERY.replace("VALUE", value))
    with pytest.raises(SpecError) as caught:
        parametric.prove_every(str(path), "every", Options(), tight=False)
    assert caught.value.diagnostics[0].code == code
