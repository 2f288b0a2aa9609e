"""``bivalence mutate --since``: mutants of the lines that have changed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.mutate.changed_lines import changed_lines

SPEC = """\
protocol Counter {
  state x : 0..3 = 0
  state seen : bool = false
  upon condition x < 2 as counts { x := x + 1 }
  upon condition x == 2 and not seen as ends {
    seen := true
  }
  property small "It stays small." : always forall p in Proc: p.x <= 2
}
check one of Counter { n = 1 prove small }
"""


def git(folder: Path, *words: str) -> None:
    who = {"NAME": "someone", "EMAIL": "someone@example.org"}
    names = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
    calm = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True,
        env={**os.environ, **names, **calm},
    )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A spec of which one revision is kept, called `first`."""
    path = tmp_path / "counter.bcast"
    path.write_text(SPEC, "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "tag", "first")
    return path


def lines_of_mutants(path: Path, *words: str, code: int = 0) -> list[int]:
    out = path.with_suffix(".json")
    command = ["mutate", str(path), "--jobs", "1", "-q", "--json", str(out)]
    assert main([*command, *words]) == code
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    assert report["known"] == len(report["mutants"])
    return [each["line"] for each in report["mutants"]]


def test_only_changed_lines(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(SPEC.replace("x < 2", "x <= 1"), "utf-8")
    assert changed_lines(path, "first") == {4}
    every = lines_of_mutants(path)
    assert {*every} == {4, 5, 6}
    assert lines_of_mutants(path, "--since", "first") == [line for line in every if line == 4]
    assert "since first" in capsys.readouterr().out
    git(path.parent, "commit", "-q", "-a", "-m", "two")
    assert lines_of_mutants(path, "--since", "HEAD", code=4) == []
    assert "since HEAD" in capsys.readouterr().err
    assert lines_of_mutants(path, "--since", "HEAD~1") != []


def test_a_handler_with_a_changed_line_may_be_left_out(path: Path) -> None:
    path.write_text(SPEC.replace("seen := true", "seen := true  x := 2"), "utf-8")
    assert changed_lines(path, "first") == {6}
    assert 5 in lines_of_mutants(path, "--since", "first")


def test_numbers_stay_the_same(path: Path) -> None:
    out = path.with_suffix(".json")
    path.write_text(SPEC.replace("seen := true", "seen := not false"), "utf-8")
    main(["mutate", str(path), "-q", "--jobs", "1", "--since", "first", "--json", str(out)])
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    assert min(each["number"] for each in report["mutants"]) > 1


def test_what_git_does_not_track_has_changed(path: Path) -> None:
    other = path.with_name("other.bcast")
    other.write_text(SPEC, "utf-8")
    assert changed_lines(other, "first") == {*range(1, 11)}
    git(path.parent, "add", ".")
    assert changed_lines(other, "first") == {*range(1, 11)}
    git(path.parent, "rm", "-q", "--cached", "counter.bcast")
    assert changed_lines(path, "first") == {*range(1, 11)}


def test_attributes_hide_nothing(path: Path) -> None:
    path.with_name(".gitattributes").write_text("*.bcast binary\n", "utf-8")
    path.write_text(SPEC.replace("x < 2", "x <= 1"), "utf-8")
    assert changed_lines(path, "first") == {4}


def test_lines_that_are_gone(path: Path) -> None:
    path.write_text(SPEC.replace("  state seen : bool = false\n", ""), "utf-8")
    assert changed_lines(path, "first") == frozenset()


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", ""])
def test_an_unknown_revision(path: Path, revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", str(path), "-q", f"--since={revision}"]) == 2
    assert "E158" in capsys.readouterr().err
    assert [each.name for each in path.parent.glob("x")] == []


def test_no_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counter.bcast"
    path.write_text(SPEC, "utf-8")
    assert main(["mutate", str(path), "-q", "--since", "HEAD"]) == 2
    assert "E157" in capsys.readouterr().err


def test_no_git(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(path.parent))
    assert main(["mutate", str(path), "-q", "--since", "first"]) == 2
    said = capsys.readouterr().err
    assert "E157" in said and "not installed" in said


def test_worlds_have_no_lines(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", str(path), "-q", "--world", "--since", "first"]) == 2
    assert "--since is not about worlds" in capsys.readouterr().err
