"""Counterexamples happen with wrong code and not with right code, and the score of the logs names
the handler: of the code, if the spec is right, and of the spec, if the code is."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.broadcast import matrix
from examples.broadcast.faults import FAULTS

LOOSER = {"no_lock"}
"""Faults with which a spec still allows all that right code does."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.scenes)
def test_the_score_names_the_handler(fault: str, tmp_path: Path) -> None:
    found = {(cell.code, cell.spec): cell for cell in matrix.cells(fault, tmp_path)}
    assert len(found) == 4
    for (code, spec), cell in found.items():
        assert bool(cell.happened) == (code == "wrong")
        assert cell.windows
        differ = code != spec and not (spec == "wrong" and fault in LOOSER)
        assert list(cell.red) == (["receive DATA"] if differ else []), cell
        assert cell.whole == ("does not conform" if differ else "conforms"), cell


def test_the_matrix_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = matrix.Cell("wrong", "right", 2, 3, {"receive DATA": "p2: this"}, "does not conform")
    right = matrix.Cell("right", "right", 0, 7, {}, "conforms")
    monkeypatch.setattr(matrix, "cells", lambda *_: iter([wrong, right]))
    assert matrix.tell(["no_relay"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    cells = "wrong right in try 2 3 receive DATA does not conform p2: this"
    assert rows[1] == ["no_relay", *cells.split()]
    assert rows[2] == ["no_relay", *"right right no 7 none conforms".split()]
    unhappened = matrix.Cell("wrong", "right", 0, 3, {}, "")
    happened = matrix.Cell("right", "right", 1, 3, {}, "")
    red = matrix.Cell("right", "right", 0, 3, wrong.red, "")
    for bad in (unhappened, happened, red):
        monkeypatch.setattr(matrix, "cells", lambda *_, bad=bad: iter([bad]))
        assert matrix.tell(["no_relay"]) == 1
