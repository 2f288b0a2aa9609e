"""Counterexamples happen with wrong code and not with right code, and the score of the logs names
the handler: of the code, if the spec is right, and of the spec, if the code is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from examples.broadcast import matrix
from examples.broadcast.faults import FAULTS
from tests.harness.leftovers import MARK, running

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


@pytest.mark.parametrize("command", ["faults", "matrix"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_and_its_harness(command: str, number: signal.Signals) -> None:
    mark = uuid.uuid4().hex
    program = str(Path(matrix.__file__).with_name(f"{command}.py"))
    with subprocess.Popen(
        [sys.executable, program, "no_relay"], env={**os.environ, MARK: mark},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        until = time.monotonic() + 60
        while len(running(mark)) < 5 and time.monotonic() < until:  # it, keeper, driver, hooks, …
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert said == "ended\n"
    until = time.monotonic() + 30
    while running(mark) and time.monotonic() < until:
        time.sleep(0.02)
    assert running(mark) == []


def test_the_matrix_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = matrix.Cell("wrong", "right", 2, 3, {"receive DATA": "p2: this"}, "does not conform")
    right = matrix.Cell("right", "right", 0, 7, {}, "conforms")
    monkeypatch.setattr(matrix, "cells", lambda *_: iter([wrong, right]))
    monkeypatch.setattr(matrix, "end_by_signals", lambda: None)
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
