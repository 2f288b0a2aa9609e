"""``check --only PROPERTY``."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.resources import specs

SPEC = """protocol P {
  state x : 0..3 = 0
  upon condition x < LIMIT { x := x + 1 }
  property small : always forall p in Proc: p.x <= 2
  property done : eventually forall p in Proc: p.x == 2
}
check one of P {
  n = 1
  prove small
  expect done violated
  expect states 99
  scenario wrong { p1: upon condition x < 3  then done holds }
}
check two of P { n = 1  prove done }
""".replace("LIMIT", "3")


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The spec's name in the current folder: the name of a folder may have any number in it."""
    monkeypatch.chdir(tmp_path)
    Path("a.bcast").write_text(SPEC, encoding="utf-8")
    return "a.bcast"


def test_one_property_of_the_checks_that_ask_it(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", spec, "--only", "small"]) == 1
    out = capsys.readouterr().out
    assert "small" in out and "done" not in out and "two" not in out
    assert "scenario" not in out and "99" not in out
    assert main(["check", spec, "--only", "done"]) == 1
    out = capsys.readouterr().out
    assert "small" not in out and "2 checks" not in out.splitlines()[0]
    assert "one" in out and "two" in out
    assert main(["check", f"{spec}::one", "--only", "done", "--only", "small"]) == 1


def test_an_expectation_that_is_met_stays(spec: str) -> None:
    assert main(["check", f"{spec}::one", "--only", "done", "--quiet"]) in (0, 1)
    eager = str(specs() / "broadcast/eager_reliable.bcast")
    assert main(["check", eager, "--only", "uniform_agreement", "--quiet"]) == 0


def test_settings_and_only_together(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{spec}::one", "--only", "small", "--set", "crash=1"]) == 1
    assert "done" not in capsys.readouterr().out


def test_an_unknown_property(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{spec}::two", "--only", "small"]) == 2
    assert "error[E045]: no selected check has the property `small`" in capsys.readouterr().err


@pytest.mark.parametrize("settings", [(), ("--set", "links=fifo")])
def test_a_trace_of_one_property_can_be_replayed_explained_and_stepped_through(
    settings: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = f"{specs()}/broadcast/eager_reliable.bcast::crash_one"
    trace = str(tmp_path / "run.json")
    only = ["--only", "uniform_agreement", "--trace-out", trace, "-q", *settings]
    assert main(["check", check, *only]) == 0
    assert main(["replay", trace]) == 1
    assert "the interpreter accepts all 3 steps" in capsys.readouterr().out
    assert main(["explain", trace, "--budget", "2"]) == 1
    assert main(["view", trace, "--html", str(tmp_path / "run.html")]) == 0
    assert "omits alternatives" not in capsys.readouterr().err
