"""How fast `conform` follows logs of Raft: `python -m benchmarks.conforming`.

The log is that of a random run of `specs/replication/raft.bcast::two_terms` (three servers, elections,
entries, crashes and recoveries), with everything logged: sends, receptions, handlers, and all
variables after each step.  It has to be explained to its last line, and with one value changed in the
last line it must not, or the run ends.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table  # noqa: E402
from checker.conform.conform_log import Asked, conform  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.model import interpreter  # noqa: E402
from checker.model.interpreter import State, Transition  # noqa: E402
from checker.model.ir import TransitionSystem  # noqa: E402
from checker.results.verdict import Word  # noqa: E402
from checker.session.load import load_check  # noqa: E402
from tests.conform.projection import Row, rows_of  # noqa: E402

SPEC, CHECK = str(ROOT / "specs" / "replication" / "raft.bcast"), "two_terms"
KINDS = ("send", "receive", "handler", "crash", "recover")
HEADINGS = ("lines", "steps", "nodes", "s", "lines/s", "CPU s", "MiB of memory")


def random_rows(system: TransitionSystem, lines: int, seed: int) -> tuple[dict[str, list[Row]], int]:
    """Returns the logs of a random run that has at least ``lines`` lines, and its steps."""
    draw = random.Random(seed)
    known: dict[State, list[tuple[Transition, list[Row]]]] = {}
    state = draw.choice(interpreter.initial_states(system))
    logs: dict[str, list[Row]] = {name: [] for name in system.processes}
    written = steps = 0
    while written < lines:
        if state not in known:
            found = [t for t in interpreter.successors(system, state) if t.successor is not None]
            known[state] = [(each, rows_of(system, each, KINDS)) for each in found]
        transition, rows = draw.choice(known[state])
        for row in rows:
            logs[row["process"]].append(row)
        written, steps = written + len(rows), steps + 1
        assert transition.successor is not None
        state = transition.successor
    return logs, steps
