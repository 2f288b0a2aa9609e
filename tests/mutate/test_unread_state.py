"""A change of state that nothing reads is equivalent, and the report says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.language.mutation.mutants import mutants
from checker.mutate import mutant_tasks
from checker.session.small_systems import TooLarge
from tests.mutate.test_mutate_command import judged, spec_in

SPEC = """\
protocol Account {
  shared state applied : 0..3 = 0
  shared state balance : 0..9 = 0
  state calls : map<0..1, 0..3> = 0
  upon condition applied < 2 as applies {
    atomic { applied += 1 balance += 2 } calls[1] := 3 skip
  }
  property small "Few are applied." : always applied <= 2
}
check one of Account { n = 1 prove small }
"""


def unread(folder: Path, text: str = SPEC) -> dict[str, str]:
    return {m.change: m.unread for m in mutants(spec_in(folder, text)) if m.unread}


def test_state_that_nothing_reads(tmp_path: Path) -> None:
    assert unread(tmp_path) == {
        "without `balance += 2`": "balance",
        "1 for 2, column 38": "balance",
        "3 for 2, column 38": "balance",
        "without `calls[1] := 3`": "calls",
        "0 for 1, column 48": "calls",
        "2 for 1, column 48": "calls",
        "2 for 3, column 54": "calls",
        "4 for 3, column 54": "calls",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("always applied <= 2", "always applied <= 2 and balance <= 9"),
        ("applied < 2 as", "applied < 2 and balance <= 9 as"),
        ("skip", "calls[1] := balance"),
        ("skip", "if balance == 2 { skip }"),
        ("skip", "let k = balance"),
        ("check one", "variant Two of Account { invariant i : balance <= 9 }\ncheck one"),
    ],
)
def test_state_that_something_reads(tmp_path: Path, old: str, new: str) -> None:
    assert "balance" not in unread(tmp_path, SPEC.replace(old, new)).values()


def test_a_change_of_more_than_that_state(tmp_path: Path) -> None:
    text = SPEC.replace("skip", "send PING to all  balance := 1")
    text = text.replace("  shared state applied", "  message PING\n  shared state applied")
    found = unread(tmp_path, text)
    assert found["without `balance := 1`"] == "balance"
    assert "`balance := 1` before `send PING to all`" not in found
    assert "`balance := 1` before `send PING to all`" in {
        each.change for each in mutants(spec_in(tmp_path, text))
    }


def test_its_own_next_value_and_another_protocol_do_not_count(tmp_path: Path) -> None:
    own = SPEC.replace("balance += 2", "balance := balance + 2")
    other = SPEC.replace("Account", "Other").replace("one", "two").replace("<= 2", "<= balance")
    assert "balance" in unread(tmp_path, own + other).values()


def test_the_report_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec_in(tmp_path, SPEC)
    assert main(["mutate", str(path), "--jobs", "1", "-q", "--fresh"]) == 0
    said = capsys.readouterr().out
    (number,) = (n for n, m in enumerate(mutants(path), 1) if m.change == "without `balance += 2`")
    line = f"  {number}  equivalent here  line 6: without `balance += 2`\n"
    assert f"{line}      no property reads `balance`\n" in said
    assert "not atomic" not in said, "the others need --verbose"


def test_a_survivor_that_is_not_compared_has_the_reason_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def large(*given: object) -> None:
        raise TooLarge

    monkeypatch.setattr(mutant_tasks, "graph_of", large)
    report = judged(spec_in(tmp_path, SPEC), "--fresh")
    found = {each["what"]: each for each in report["mutants"]}["without `balance += 2`"]
    assert found["fate"] == "survived"
    assert found["reason"].startswith("no property reads `balance`; equivalence not decided: one: ")
