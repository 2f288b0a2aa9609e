"""Right code and wrong code, held to the right spec and to a wrong one.

For each fault of `node.py` the harness makes the counterexample happen, and drives the right code
through the same steps. Then the logs of both are scored (`conform --windows`), against the right
spec and against the one with the fault.
`python examples/broadcast/matrix.py` prints four lines for each fault; with names of faults, for
those alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.conform.conform_log import Asked, conform  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from examples.broadcast.faults import FAULTS  # noqa: E402
from examples.made_to_happen import HAPPENED, end_by_signals, played  # noqa: E402
from examples.telling import conforms  # noqa: E402


@dataclass(frozen=True)
class Cell:
    """Code and a spec, and what the score of its logs says.

    ``happened``: in which try the counterexample did, 0: in none; ``red``: the handlers with
    windows that no step explains, each with the process and the reason of the first one;
    ``whole``: the verdict on the whole log, in words.
    """

    code: str
    spec: str
    happened: int
    windows: int
    red: dict[str, str]
    whole: str


def cells(fault: str, folder: Path) -> Iterator[Cell]:
    """Yields the four cells of a fault; ``folder`` has the harness and its logs."""
    scene = FAULTS.scenes[fault]
    tries = folder / scene.check / "tries"
    for code in ("wrong", "right"):
        one = () if code == "wrong" else ("--tries", "1")
        found = played(FAULTS, fault, folder, code == "wrong", *one)
        happened = len(list(tries.iterdir())) if found.code == HAPPENED else 0
        for spec, check in (("right", scene.right), ("wrong", scene.check)):
            yield scored(code, spec, check, happened, tries)


def scored(code: str, spec: str, check: str, happened: int, tries: Path) -> Cell:
    """Returns the score of the logs of the last of the ``tries`` against a check."""
    last = max(tries.iterdir(), key=lambda each: int(each.name))
    logs = sorted(str(log) for log in last.glob("*.ndjson"))
    held = conform(Asked(str(FAULTS.spec), check, Options(), windows=True), logs)
    assert held.windows is not None
    red = {
        each.name: f"{each.first.line.process}: {each.first.reasons[0]}"
        for each in held.windows.handlers
        if each.first is not None
    }
    windows = sum(each.windows for each in held.windows.handlers)
    return Cell(code, spec, happened, windows, red, conforms(held))


def tell(arguments: Sequence[str] | None = None) -> int:
    """Prints the matrix; returns 0 if each fault happened with wrong code only, and no window is
    red of code and spec that are alike."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", nargs="*", choices=[[], *FAULTS.scenes])
    faults = parser.parse_args(arguments).fault or list(FAULTS.scenes)
    end_by_signals()
    form = "{:<19} {:<6} {:<6} {:<9} {:<8} {:<13} {:<17} {}"
    print(form.format("fault", "code", "spec", "happened", "windows", "red", "whole log", "why"))
    right = True
    for fault in faults:
        with tempfile.TemporaryDirectory() as folder:
            for cell in cells(fault, Path(folder)):
                happened = f"in try {cell.happened}" if cell.happened else "no"
                row = (fault, cell.code, cell.spec, happened, cell.windows)
                red, why = ", ".join(cell.red) or "none", "; ".join(cell.red.values())
                print(form.format(*row, red, cell.whole, why).rstrip(), flush=True)
                right &= bool(cell.happened) == (cell.code == "wrong")
                right &= cell.code != cell.spec or not cell.red
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(tell())
