"""What a check becomes is a function of its text: not of where objects are in memory, nor of the
hashes of strings, which are others in each process.  So runs are resumed elsewhere, shards agree,
and whoever repeats a search finds the same trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker.resources import specs
from tests.finite_checks import finite_checks
from tests.selection import first_by_default

FEW = (
    "registers/abd.bcast::two_reads",  # a linearizable object
    "total_order/state_machine.bcast::no_fault",
    "detectors/increasing_timeout.bcast::partly_synchronous",
    "consensus/ben_or.bcast::unlucky_coins",
    "links/crash_and_recovery.bcast::recovery",
)
FILES = sorted(path for path in specs().rglob("*.bcast") if path.parent.name != "interfaces")
SHARDS = 16


def digests(names: list[str], seed: str) -> list[str]:
    command = [sys.executable, "-m", "tests.instantiate.digests", *names]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def names_of(files: list[Path]) -> list[str]:
    return [f"{path}::{name}" for path in files for name in finite_checks(path.read_text("utf-8"))]


@pytest.mark.parametrize("shard", first_by_default(range(-1, SHARDS), 1))
def test_two_processes_make_the_same_of_a_check(shard: int) -> None:
    few = [str(specs() / name) for name in FEW]
    names = names_of(FILES[shard::SHARDS]) if shard >= 0 else few
    one, other = digests(names, "1"), digests(names, "2")
    assert len(one) == len(names)
    assert one == other
