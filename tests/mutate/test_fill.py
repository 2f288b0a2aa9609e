"""``bivalence fill``: what can stand in the holes of a spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.cli.main import main
from checker.engines.options import Options
from checker.language.analysis import Analyst
from checker.language.load import Spec
from checker.mutate import fill_tasks
from checker.mutate.worst_run import longest
from checker.proving.dispatch_check import answer_check
from tests.documents import validator

MAJORITY = """\
protocol Ack implements UniformReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  state pending : set<(Proc, Msg)> = {}
  state done : set<(Proc, Msg)> = {}
  state acks : map<(Proc, Msg), set<Proc>> = {}
  upon request broadcast(m) { pending += (self, m)  beb.broadcast(DATA(self, m)) }
  upon beb.deliver(p, DATA(s, m)) {
    acks[(s, m)] += p
    if (s, m) not in pending { pending += (s, m)  beb.broadcast(DATA(s, m)) }
    if #acks[(s, m)] >= ?? and (s, m) not in done { done += (s, m)  deliver(s, m) }
  }
}
check c of Ack {
  n = 3
  f = 1
  faults crash <= f
  clients { p1 broadcasts a }
  prove validity, uniform_agreement
}
"""

COUNTER = """\
protocol Counter(most: Nat = 3) {
  state x : 0..3 = 0
  state up : bool = true
  upon condition x < most when up { x := x + 1 }
  property small "It stays small." : always forall p in Proc: p.x <= 2
  property grows "It grows." : forall p in Proc: eventually p.x == 2
}
check one of Counter { n = 1  most = 2  prove small, grows }
"""


def filled(path: Path, text: str, *words: str) -> tuple[dict[str, Any], int]:
    """The report on a spec with holes, and the exit code."""
    path.write_text(text, "utf-8")
    out = path.with_suffix(".json")
    code = main(["fill", str(path), "--jobs", "1", "-q", "--json", str(out), *words])
    document = json.loads(out.read_text("utf-8"))
    validator("filling").validate(document)
    assert document["exit_code"] == code
    return (document["reports"] or [{}])[0], code


def found(report: dict[str, Any], fate: str = "holds") -> set[tuple[str, ...]]:
    """The fillings with a fate; of a single hole with those that are equal to it."""
    values = {tuple(each["values"]) for each in report["fillings"] if each["fate"] == fate}
    if len(report["holes"]) > 1:
        return values
    return {
        (text,)
        for each in report["holes"][0]["candidates"]
        if (each["text"],) in values
        for text in (each["text"], *each["same"])
    }


def numbers(found: set[tuple[str, ...]]) -> set[int]:
    return {int(text) for (text,) in found if text.isdecimal()}


@pytest.mark.parametrize(("n", "f"), [(2, 1), (3, 1), (3, 0)])
def test_thresholds_of_a_majority_are_those_of_theory(n: int, f: int, tmp_path: Path) -> None:
    """One of more than `f` processes that have the message is correct and relays it, and `n - f`
    may be all that answer: what lies between holds, and nothing does where `n <= 2 f`."""
    words = ("--set", f"n={n}", "--set", f"f={f}")
    report, code = filled(tmp_path / "p.bcast", MAJORITY, *words)
    good = {t for t in range(n + 2) if t <= n - f and (t > f or f == 0)}
    assert numbers(found(report)) == good and code == (0 if good else 1)
    assert numbers(found(report, "refuted")) == {*range(5)} - good
    for each in report["fillings"]:
        if each["fate"] == "refuted":
            names = {kill["property"] for kill in each["kills"]}
            assert each["trace"]["property"] in names and each["kills"][0]["steps"] > 0
    named = {text for (text,) in found(report)}
    assert {"f + 1", "n - f"} <= named or not good


@pytest.mark.slow
def test_the_thresholds_of_bracha_are_the_published_ones(tmp_path: Path) -> None:
    """Of all numbers from 0 to 5 in the three thresholds, for `n = 4` and `f = 1`, only more than
    (n + f) / 2 echoes, f + 1 readies to join and 2 f + 1 to deliver hold (Bracha 1987)."""
    text = (resources.specs().parent / "examples/holes/bracha.bcast").read_text("utf-8")
    report, code = filled(tmp_path / "p.bcast", text)
    equal = [
        {text: {each["text"], *each["same"]} for each in hole["candidates"]
         for text in (each["text"], *each["same"])}
        for hole in report["holes"]
    ]  # fmt: skip
    (good,) = found(report)
    wanted = ("(n + f) div 2 + 1", "f + 1", "2 * f + 1")
    assert code == 0 and len(report["fillings"]) == 216
    assert all(text in names[value] for text, names, value in zip(wanted, equal, good, strict=True))
    assert report["replays"] > 100


def test_sizes_tell_thresholds_apart(tmp_path: Path) -> None:
    """With `n = 3` and `f = 1`, `n - 1` and `f + 1` are one number; a second check tells them
    apart."""
    text = COUNTER.replace("x < most", "x < ??(n - 1, f + 1)").replace("n = 1 ", "n = 3  f = 1 ")
    report, _ = filled(tmp_path / "p.bcast", text)
    assert report["holes"][0]["candidates"] == [{"text": "n - 1", "same": ["f + 1"]}]
    text += "check two of Counter { n = 4  f = 1  most = 2  prove small }\n"
    report, _ = filled(tmp_path / "q.bcast", text)
    assert found(report) == {("f + 1",)} and found(report, "refuted") == {("n - 1",)}


def test_every_filling_is_judged_as_check_judges_the_text(tmp_path: Path) -> None:
    """The second definition: each expression is written into the text by hand, and the check is run
    by the reference engine."""
    text = COUNTER.replace("x < most", "x ?? most").replace("when up", "when ??")
    report, code = filled(tmp_path / "p.bcast", text)
    assert code == 0 and len(report["fillings"]) > 20
    assert ("<", "up") in found(report) and ("!=", "true") in found(report)
    for each in report["fillings"]:
        op, guard = each["values"]
        plain = text.replace("x ?? most", f"x {op} most").replace("when ??", f"when {guard}")
        spec = Spec(plain, str(tmp_path / "q.bcast"))
        answer = answer_check(spec, "one", Options(engine="reference"))
        assert (each["fate"] == "holds") == (answer.exit_code == 0), each["values"]


def test_fillings_that_hold_come_in_the_order_of_their_messages(tmp_path: Path) -> None:
    """Each of two processes sends to both once, or once more; who never sends asks nothing."""
    text = """\
protocol Relay {
  message A
  state times : 0..3 = 0
  state had : bool = false
  upon condition times < ??(2, 0, 1, 3) { times += 1  send A to all }
  upon receive A { had := true }
  property quiet "No one is up without having heard." : always forall p in Proc: p.times <= 2
}
check c of Relay { n = 2  prove quiet }
"""
    report, _ = filled(tmp_path / "p.bcast", text)
    order = [(each["values"][0], each["fate"], each["messages"]) for each in report["fillings"]]
    assert order == [
        ("1", "holds", 4), ("2", "holds", 8), ("0", "vacuous", None), ("3", "refuted", None),
    ]  # fmt: skip


def test_the_longest_path_is_found_and_a_cycle_with_messages_has_no_bound() -> None:
    steps = {(0,): {(1,): 2, (2,): 1}, (1,): {(3,): 0}, (2,): {(3,): 5, (2,): 0}, (3,): {(2,): 0}}
    assert longest({(0,): 1}, {**steps, (3,): {}}) == 7
    assert longest({(0,): 1}, steps) is None
    assert longest({(0,): 1}, {**steps, (2,): {(3,): 0}}) == 3


def test_what_the_author_lists_is_tried_and_nothing_else(tmp_path: Path) -> None:
    report, code = filled(tmp_path / "p.bcast", COUNTER.replace("< most", "< ??(1, most, 4 - 1)"))
    assert found(report) == {("most",)} and code == 0
    assert [each["text"] for each in report["holes"][0]["candidates"]] == ["1", "most", "4 - 1"]
    assert report["determined"] == {"1": "most"} and report["free"] == []


def test_an_expression_stays_one_operand(tmp_path: Path) -> None:
    """`2 * ??` with `1 + 0` is 2, not 2 + 0 by chance: with `0 + 1`, `2 * 0 + 1` would be 1."""
    report, _ = filled(tmp_path / "p.bcast", COUNTER.replace("< most", "< 2 * ??(0 + 1, 1 + 1)"))
    assert found(report) == {("0 + 1",)}


def test_what_nothing_depends_on_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In dead code all fillings are equal; one that matters is not called free."""
    text = COUNTER.replace("x := x + 1", "if x > 3 { x := ?? }  x := x + 1")
    report, code = filled(tmp_path / "p.bcast", text)
    assert code == 0 and report["free"] == [1] and not found(report, "refuted")
    out = capsys.readouterr().out
    assert "nothing that is asked depends on the hole in line 4, column 53" in out
    report, _ = filled(tmp_path / "q.bcast", COUNTER.replace("x < most", "x < ??"))
    assert report["free"] == []


def test_vacuous_and_unknown_fillings_are_not_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = COUNTER.replace("upon condition x < most when up", "upon condition ??(x < 2, false)")
    text = text.replace("prove small, grows", "prove rises").replace(
        "  property grows",
        '  property rises "Who has begun goes on." : forall p in Proc: (p.x == 1) ~> (p.x == 2)\n'
        "  property grows",
    )
    report, code = filled(tmp_path / "p.bcast", text)
    assert found(report) == {("x < 2",)} and found(report, "vacuous") == {("false",)} and code == 0
    report, code = filled(tmp_path / "q.bcast", text, "--max-states", "1", "--fresh")
    assert found(report) == set() and code == 3
    assert found(report, "unknown") == {("x < 2",), ("false",)}
    assert "limit of 1 state was reached" in capsys.readouterr().out


def test_a_known_run_refutes_others_and_changes_no_fate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, _ = filled(tmp_path / "p.bcast", MAJORITY)
    assert report["replays"] > 0
    replayed = [each for each in report["fillings"] if each["replayed"]]
    assert len(replayed) == report["replays"]
    assert all(each["fate"] == "refuted" and each["trace"] for each in replayed)
    monkeypatch.setattr(fill_tasks, "_remember", lambda task, trace: None)
    plain, _ = filled(tmp_path / "q.bcast", MAJORITY)
    assert plain["replays"] == 0 and plain["runs"] > report["runs"]
    assert [e["fate"] for e in plain["fillings"]] == [e["fate"] for e in report["fillings"]]


def test_a_check_for_all_sizes_judges_too(tmp_path: Path) -> None:
    """Of two expressions that are equal in a finite check only one is right for all sizes."""
    text = """\
protocol Echo(need: Nat) requires n > f {
  message ACK
  state heard : bool = false
  upon init { send ACK to all }
  upon condition #received(ACK) >= ?? (n - f, 2) when not heard { heard := true }
  property all_hear "Each correct process hears of enough." :
    forall p in Proc: correct(p) => eventually p.heard
}
check three of Echo { n = 3  f = 1  need = 1  faults crash <= f  prove all_hear }
check every of Echo { for all n, f  need = 1  faults crash <= f  prove all_hear }
"""
    report, code = filled(tmp_path / "p.bcast", text)
    assert code == 0 and found(report) == {("n - f",)}, report["fillings"]
    assert len(report["fillings"]) == 2


def test_a_check_refuses_a_hole_and_names_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command gives a verdict on a spec with a hole; an editor shows it as an error."""
    path = tmp_path / "p.bcast"
    text = COUNTER.replace("x < most", "x < ??")
    path.write_text(text, "utf-8")
    for words in (["check"], ["mutate"], ["prove"], ["simulate"]):
        assert main([*words, str(path)]) == 2
        captured = capsys.readouterr()
        assert "E152" in captured.err and f"bivalence fill {path}" in captured.err
        assert "holds" not in captured.out
    (shown,) = Analyst().analyse(text, path).diagnostics
    assert shown.code == "E152" and shown.expected == "a number"


@pytest.mark.every
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("p.x <= 2", "p.x <= ??", "E154"),
        ("most = 2", "most = ??", "E154"),
        ("x < most when up", "x < high(1) when up", "E154"),
        ("Counter(most: Nat = 3) {", "Counter(most: Nat = 3) requires n > ?? {", "E154"),
        ("x < most", "x < ??(1, ??)", "E154"),
        ("state up", "state pair : (bool, bool) = ??  state up", "E153"),
        ("up : bool", "up : bool", "E155"),
        ("x < most when up { x := x + 1 }", "x < ?? when ?? { x := x + ?? }", "E156"),
        ("x < most", "x < ?? + nothing", "N002"),
    ],
)
def test_bad_holes(
    old: str, new: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = COUNTER.replace(old, new)
    if "high" in new:  # which a property stands on, by another definition
        text = f"const more = ??\ndefine high(k: Nat) : Nat = k + more\n{text}"
        text = text.replace("p.x <= 2", "p.x <= high(1)")
    assert (text != COUNTER) == (code != "E155")
    path = tmp_path / "p.bcast"
    path.write_text(text, "utf-8")
    assert main(["fill", str(path), "-q", "--points", "40"]) == 2
    assert f"[{code}]" in capsys.readouterr().err


def test_a_hole_in_an_imported_file_is_filled_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.bcast").write_text(COUNTER.replace("x < most", "x < ??"), "utf-8")
    path = tmp_path / "p.bcast"
    path.write_text('import "q.bcast"\ncheck c of Counter { n = 1  prove small }\n', "utf-8")
    assert main(["fill", str(path), "-q"]) == 2
    error = capsys.readouterr().err
    assert "E154" in error and "imported file" in error
