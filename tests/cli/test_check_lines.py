"""What ``check`` prints of several checks: a line for each, and more only where more is wanted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.records import replace
from checker.render.terminal.canvas import as_text
from checker.render.terminal.check_line import (
    GREEN,
    caveats,
    check_line,
    outcome_text,
    total_text,
)
from checker.resources import specs
from checker.results.events import At
from checker.results.verdict import Expected, Report, RestsOn, ScenarioVerdict, Support, Word
from tests.cli.fake import held
from tests.results.test_documents import made

EAGER = specs() / "broadcast/eager_reliable.bcast"
FIVE = ["no_fault", "crash_one", "crash_two", "two_senders", "any_layer"]
Out = pytest.CaptureFixture[str]


@pytest.fixture
def odd(tmp_path: Path) -> str:
    """Returns a copy of the spec in which one check expects what is not so."""
    text = EAGER.read_text(encoding="utf-8")
    before, _, after = text.rpartition("expect uniform_agreement violated")
    assert after
    file = tmp_path / "odd.bcast"
    file.write_text(f"{before}expect uniform_agreement holds{after}", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("width", [80, 120])
def test_checks_as_expected_have_a_line_each_and_a_total(
    width: int, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["check", str(EAGER)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert len(lines) <= (16 if width == 80 else 9)
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if re.match(r"  \w", line)] == FIVE
    assert re.search(r"^  no_fault +5 hold +7 states +\d+\.\d s$", out, re.MULTILINE)
    flat = " ".join(out.split())
    assert "5 checks, all as expected: 21 hold, 4 violated; 144 states;" in flat
    assert "--show crash_one" in flat
    if width == 120:
        assert out.count("uniform_agreement violated, as expected") == 4


def test_one_check_has_its_whole_report_the_sentence_first(capsys: Out) -> None:
    assert main(["check", f"{EAGER}::crash_one"]) == 0
    out = capsys.readouterr().out
    order = ["all as expected", "Uniform agreement fails: ", "▷ broadcast(a)", "What matters",
             "accepted by an independent replay", "searched 23 distinct states"]  # fmt: skip
    assert [out.index(part) for part in order] == sorted(out.index(part) for part in order)
    assert "assumed" not in out and "reduced  by" not in out


def test_what_was_assumed_and_reduced_is_told_on_request(capsys: Out) -> None:
    assert main(["check", str(EAGER), "-v", "--no-explain"]) == 0
    out = capsys.readouterr().out
    assert out.count("\nassumed ") >= 5 and out.count("\nreduced ") == 5
    assert "bytes/state" in out
    assert "▷ broadcast(a)" not in out


def test_an_expected_counterexample_is_shown_on_request(capsys: Out) -> None:
    assert main(["check", str(EAGER), "--show", "crash_two", "--no-explain"]) == 0
    out = capsys.readouterr().out
    assert out.count("uniform_agreement: VIOLATED") == 1
    assert "eager_reliable.bcast::crash_two n=3, f=2 " in " ".join(out.split())
    assert main(["check", str(EAGER), "--show", "crash_to"]) == 2
    told = capsys.readouterr()
    assert "--show crash_to: unknown check; known: no_fault, crash_one" in told.err
    assert told.out == ""


def test_what_is_not_as_expected_is_told_in_full(
    odd: str, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["check", odd]) == 1
    out = capsys.readouterr().out
    flat = " ".join(out.split())
    assert "uniform_agreement VIOLATED, expected holds; 4 hold" in flat
    assert out.count("uniform_agreement: VIOLATED") == 1
    assert "expected uniform_agreement: holds, but found violated" in flat
    assert "4 of 5 checks as expected (NOT as expected: any_layer)" in flat
    assert main(["check", odd, "-q"]) == 1
    quiet = capsys.readouterr().out
    assert "▷ broadcast(a)" not in quiet
    assert "uniform_agreement: holds, but found violated" in " ".join(quiet.split())


def test_an_unfinished_search_is_never_a_success(capsys: Out) -> None:
    assert main(["check", str(EAGER), "--max-states", "3", "-q"]) == 3
    flat = " ".join(capsys.readouterr().out.split())
    assert "UNKNOWN, expected holds" in flat
    assert "NOT exhaustive" in flat
    assert "0 of 5 checks as expected" in flat


@pytest.mark.parametrize("word", [word for word in Word if word not in GREEN])
def test_only_what_holds_is_green(word: Word) -> None:
    (verdict,) = held(word=word).verdicts
    verdict = replace(verdict, up_to=3 if word is Word.BOUNDED else None)
    for expected in (word.value, "holds"):
        report = replace(held(), verdicts=(replace(verdict, expected=expected),))
        said = outcome_text(report)
        assert verdict.label().lower() in said.plain.lower()
        assert not any("green" in str(span.style) for span in said.spans)
        assert (", as expected" in said.plain) is (expected == word.value)


def caveats_of(report: Report) -> str:
    return "\n".join(f"{name}: {said}" for name, said in caveats(report))


def test_what_limits_a_verdict_stands_below_its_line() -> None:
    handler = Support("P.upon init", At("a.bcast", 7, 3), "p.done")
    (verdict,) = held().verdicts
    resting = replace(verdict, rests_on=RestsOn((handler,), True))
    assert "(line 7)" in caveats_of(replace(held(), verdicts=(resting,)))
    vacuous = replace(verdict, word=Word.VACUOUS, expected="vacuous", reason="nobody asks")
    assert caveats_of(replace(held(), verdicts=(vacuous,))) == "vacuous: validity: nobody asks"
    stopped = replace(held(), exhaustive=False, stopped="the limit of 3 states was reached")
    assert "NOT exhaustive for n=3: the limit of 3 states" in caveats_of(stopped)
    assert "probability at most 1e-6" in caveats_of(replace(held(), omission=1e-6))
    assert "never: upon init never ran" in caveats_of(held(never=("upon init never ran",)))
    assert "5 handlers and messages" in caveats_of(held(never=("x never ran",) * 5))
    assert caveats_of(held()) == ""


def test_a_note_is_told_once_with_its_checks(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    flood = specs() / "consensus/flood_set.bcast"
    assert main(["check", f"{flood}::two_rounds", f"{flood}::one_round", str(EAGER), "-q"]) == 0
    out = capsys.readouterr().out
    note = "\n  note two_rounds, one_round: in lock step: clients make their requests before the"
    assert out.count("in lock step") == 1
    assert note in out and out.index(note) < out.index("\n  no_fault ")


def test_what_is_no_verdict_may_be_unexpected_too() -> None:
    scenario = ScenarioVerdict("told", False, "no such step", "a.bcast", 3, 1, 0)
    report = held(expectations=(Expected("states", "5", "7", False),), scenarios=(scenario,))
    said = outcome_text(report).plain
    assert said == "states 7, expected 5; scenario told FAILED; 1 holds"


def test_large_numbers_fit_their_column() -> None:
    report = replace(made(), distinct_states=123_456_789)
    for width in (80, 120):
        (first, *_) = as_text(check_line(report, 1234.5, ["three"]), width).splitlines()
        assert first.endswith("123 M states  1234.5 s")
        assert len(first) <= width


def test_the_total_counts_what_was_not_run() -> None:
    said = total_text([held(), made(limit=1)], 4, 1.5).plain
    assert said.startswith("1 of 4 checks as expected (NOT as expected: three; not run: 2)")
