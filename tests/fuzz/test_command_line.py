"""Whatever it is given, the command line answers: with an exit code that says something, in bounded
time and memory, and without a stack trace.

At length: ``BIVALENCE_LONG=100000 pytest tests/fuzz -s``, or ``python -m tests.fuzz``; the number
is how many inputs are made.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

INPUTS = int(os.environ.get("BIVALENCE_LONG", "0")) or 48
SHARDS = 16


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_inputs_that_nobody_would_write(shard: int) -> None:
    """In a process of its own, which is small, has no threads, and so can be forked."""
    each = INPUTS // SHARDS
    command = [sys.executable, "-m", "tests.fuzz", "--inputs", str(each), "--first"]
    ended = subprocess.run(
        [*command, str(shard * each)], capture_output=True, text=True, check=True
    )
    print(ended.stdout)
    assert f"{each} inputs, 0 wrong" in ended.stdout, ended.stdout
