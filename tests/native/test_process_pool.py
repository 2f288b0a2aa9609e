"""Processes of this machine do all the work once, and end with whoever wanted it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker.engines.native.sharding.process_pool import parallel_map

# Functions that processes import by name.


def twice(number: int) -> int:
    return 2 * number


def full(number: int) -> int:
    raise OSError(28, "No space left on device", f"file {number}")


def killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def noted(folder: str) -> int:
    """Says who works here, and works for a long time."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)
    return 0


@pytest.mark.parametrize("processes", [1, 2, None])
def test_every_item_once(processes: int | None) -> None:
    assert sorted(parallel_map(twice, range(9), processes)) == [2 * i for i in range(9)]
    assert list(parallel_map(twice, [], processes)) == []
    assert list(parallel_map(twice, [4], processes)) == [8]


def test_an_error_is_the_callers() -> None:
    with pytest.raises(OSError, match="No space left on device") as found:
        list(parallel_map(full, [1, 2], 2))
    assert found.value.errno == 28
    assert found.value.filename in ("file 1", "file 2")


def test_a_process_that_is_killed_is_an_error() -> None:
    with pytest.raises(OSError, match="killed from outside"):
        list(parallel_map(killed, [1, 2], 2))


PROGRAM = """
import sys
from checker.engines.native.sharding.process_pool import parallel_map
from tests.native.test_process_pool import noted

if __name__ == "__main__":
    list(parallel_map(noted, [sys.argv[1]] * 2, 2))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_they_end_with_the_one_that_started_them(how: signal.Signals, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    folder = tmp_path / "who"
    folder.mkdir()
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    main = subprocess.Popen(
        [sys.executable, str(program), str(folder)], env=here, stderr=subprocess.PIPE
    )
    try:
        wait_until(lambda: len(list(folder.iterdir())) == 2)
        main.send_signal(how)
        _, said = main.communicate(timeout=60)
    finally:
        main.kill()
    if how is signal.SIGINT:
        assert said.count(b"Traceback (most recent call last)") == 1
    wait_until(lambda: not any(alive(int(who.name)) for who in folder.iterdir()))


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(true: object) -> None:
    assert callable(true)
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    pytest.fail("it did not come")
