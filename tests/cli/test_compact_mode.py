"""Compact mode as the shell sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.engines.native.codegen.fields import KEY_BITS
from checker.engines.native.search.compact import omission_probability
from checker.results.phrases import at_most
from tests.documents import only_report

SPEC = "specs/byzantine/consistent_echo.bcast"
CHECK = ["check", f"{SPEC}::three", "--no-explain", "--quiet"]
Out = pytest.CaptureFixture[str]


def test_the_report_says_how_probable_an_omission_is(capsys: Out, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    main([*CHECK, "--compact", "--json", str(out)])
    said = " ".join(capsys.readouterr().out.split())
    report = only_report(out.read_text())
    assert report["omission"] == omission_probability(report["distinct_states"], KEY_BITS)
    likely = at_most(report["omission"])
    assert f"unless a state was omitted (probability at most {likely})" in said
    scope = said[said.index("scope ") :]
    assert f"unless a state was omitted (probability at most {likely})" in scope
    assert f"with a probability of at most {likely} some state was omitted" in scope
    for verdict in report["verdicts"]:
        assert ("unless a state" in verdict["reason"]) is (verdict["verdict"] == "holds")


def test_without_it_nothing_is_omitted(capsys: Out, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    main([*CHECK, "--json", str(out)])
    assert "omitted" not in capsys.readouterr().out
    assert only_report(out.read_text())["omission"] is None


@pytest.mark.parametrize("more", [["--checkpoint", "kept"], ["--states-out", "tables"]])
def test_what_wants_states_is_refused(
    more: list[str], capsys: Out, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = str(Path(SPEC).resolve())
    monkeypatch.chdir(tmp_path)
    assert main(["check", f"{spec}::three", "--compact", *more]) == 2
    said = capsys.readouterr().err
    assert "error[E007]: compact mode stores no states" in said
    assert f"leave out `--compact` or `{more[0]}`" in said
    assert not list(tmp_path.iterdir())
