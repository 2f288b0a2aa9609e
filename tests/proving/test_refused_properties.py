"""A property that is outside the fragment is unknown; the others of its check are proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main

SPEC = """protocol Flood {
  message GO
  state done = false
  ghost state marked = false
  upon condition not done {
    marked := true
    done := true
    send GO to all
  }
  upon receive GO { skip }
  property fine : always forall p in Proc: p.done or not p.done
  property read : always forall p in Proc: p.done => p.marked
  property turned : forall p in Proc: eventually always p.done
}
check one of Flood { for all n  prove CLAUSE }
"""


@pytest.mark.parametrize(
    ("asked", "code"), [("fine, read", "T001"), ("turned, fine", "T013")], ids=["ghost", "shape"]
)
def test_one_is_unknown_with_its_code(
    asked: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "flood.bcast"
    spec.write_text(SPEC.replace("CLAUSE", asked), "utf-8")
    assert main(["prove", str(spec), "--no-tight", "-q"]) == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 proved, 1 unknown" in shown and code in shown and "PROVED for every n" not in shown


def test_alone_it_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "flood.bcast"
    spec.write_text(SPEC.replace("CLAUSE", "turned"), "utf-8")
    assert main(["prove", str(spec)]) == 2
    assert "error[T013]" in capsys.readouterr().err
