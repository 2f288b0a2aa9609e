"""Commands do the same with a daemon as without one, and end as soon."""

from __future__ import annotations

import marshal
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from checker.cli import daemon_client

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="a daemon needs Linux")
ROOT = Path(__file__).resolve().parents[2]
SPEC = """protocol Counter {
  state x = 0
  upon condition x < LIMIT { x := x + 1 }
  property small : always forall p in Proc: p.x < 2
}
check two of Counter { n = 2  expect small violated }
"""
UNTIL = 60.0
"""Seconds within which something has to happen, on a machine that is not quiet."""


STARTED: list[subprocess.Popen[bytes]] = []


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """A test that fails leaves no endless check to the others."""
    yield
    for process in STARTED:
        process.kill()
    STARTED.clear()


class Home(NamedTuple):
    """A cache folder, and a folder whose modules the tool imports."""

    cache: Path
    beside: Path

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{self.beside}:{ROOT}"
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache), "PYTHONPATH": path, **more}

    def start(self, *words: str, **how: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "checker.cli", *words]
        how = {"env": self.environment(), "stdin": subprocess.PIPE, **how}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)  # type: ignore[call-overload]
        STARTED.append(process)
        return process

    def run(self, *words: str, text: bytes = b"", **how: object) -> tuple[int, str, str]:
        """The exit code of a command, and what it prints, without times."""
        process = self.start(*words, **how)
        out, err = process.communicate(text, timeout=UNTIL)
        return process.returncode, timeless(out), timeless(err)

    def daemon(self) -> int:
        """The process of the daemon; 0 if there is none."""
        found = re.match(r"process (\d+)", self.run("daemon", "status")[1])
        return int(found[1]) if found else 0

    def served(self) -> int:
        """How many commands the daemon has served."""
        found = re.search(r"(\d+) commands? so far", self.run("daemon", "status")[1])
        assert found is not None
        return int(found[1])


def timeless(text: bytes) -> str:
    lines = re.sub(r"\d+(\.\d+)? s\b|(?<=seconds\": )[-\d.e]+", "T", text.decode()).splitlines()
    return "\n".join(line for line in lines if not line.endswith(", T"))  # no progress


def is_alive(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def eventually(what: Callable[[], object]) -> bool:
    until = time.monotonic() + UNTIL
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.02)
    return False


def children(process: int) -> list[int]:
    return [int(i) for i in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("daemon")
    for name in ("cache", "beside"):
        (folder / name).mkdir(mode=0o700)
    home = Home(folder / "cache", folder / "beside")
    yield home
    home.run("daemon", "stop")
    assert home.daemon() == 0


@pytest.fixture
def running(home: Home) -> Home:
    """A home in which a daemon runs."""
    if not home.daemon():
        code, out, err = home.run("daemon", "start")
        assert code == 0 and out.startswith("started"), out + err
    return home


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "counter.bcast"
    file.write_text(SPEC.replace("LIMIT", "3"), "utf-8")
    return file


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A check of which much is known after some time, but never all."""
    file = tmp_path / "endless.bcast"
    text = SPEC.replace("LIMIT", "100000").replace("x < 2", "x >= 0").replace("n = 2", "n = 4")
    file.write_text(text, "utf-8")
    return file


@pytest.mark.every
def test_a_command_does_the_same(home: Home, running: Home, spec: Path) -> None:
    text = spec.read_bytes()
    commands: list[tuple[list[str], bytes, dict[str, object]]] = [
        (["check", spec.name], b"", {"cwd": spec.parent}),
        (["check", str(spec), "--json", "-"], b"", {}),
        (["show", f"{spec}::two"], b"", {"env": home.environment(COLUMNS="60")}),
        (["check", "nowhere.bcast"], b"", {}),
        (["fmt", "-"], text, {}),
        (["explore", f"{spec}::two"], b"1\n1\n", {}),
        (["no-such-command"], b"", {}),
        (["--version"], b"", {}),
        (["list", "-q"], b"", {"umask": 0o027}),
    ]
    warm = [home.run(*words, text=said, **how) for words, said, how in commands]
    assert home.served() == len(commands)
    home.run("daemon", "stop")
    plain = [home.run(*words, text=said, **how) for words, said, how in commands]
    assert warm == plain
    assert {code for code, _, _ in plain} == {0, 2}


def test_files_are_written_as_the_command_would(running: Home, spec: Path) -> None:
    words = ("check", str(spec), "--json", "report.json")
    running.run(*words, cwd=spec.parent, umask=0o027)
    assert (spec.parent / "report.json").stat().st_mode & 0o777 == 0o640


def test_another_interpreter_is_not_served(running: Home, spec: Path) -> None:
    before = running.served()
    code, _, _ = running.run("check", str(spec), env=running.environment(PYTHONHASHSEED="3"))
    assert (code, running.served()) == (0, before)


@pytest.mark.every
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command(running: Home, endless: Path, number: signal.Signals) -> None:
    daemon = running.daemon()
    process = running.start("check", str(endless), env=running.environment(COLUMNS="80"))
    assert eventually(lambda: children(daemon))
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=UNTIL)
    assert process.returncode == 3, out + err
    assert b"interrupted" in out + err
    assert eventually(lambda: not children(daemon))


@pytest.mark.every
def test_nothing_is_left_of_a_command_that_is_killed(running: Home, endless: Path) -> None:
    daemon = running.daemon()
    process = running.start("check", str(endless))
    assert eventually(lambda: children(daemon))
    process.kill()
    process.communicate()
    assert eventually(lambda: not children(daemon))
    assert running.daemon() == daemon


@pytest.mark.every
def test_a_daemon_that_is_killed_takes_its_commands_along(running: Home, endless: Path) -> None:
    """They are lost, which is no verdict."""
    daemon = running.daemon()
    process = running.start("check", str(endless))
    assert eventually(lambda: children(daemon))
    (worker,) = children(daemon)
    os.kill(daemon, signal.SIGKILL)
    process.communicate(timeout=UNTIL)
    assert process.returncode == 3
    assert eventually(lambda: not is_alive(worker))
    code, _, _ = running.run("check", str(endless), "--max-states", "10")
    assert code == 3, "what is left of the socket disturbs nobody"


@pytest.mark.every
def test_a_changed_tool_is_not_served(home: Home, spec: Path) -> None:
    """A module that is imported at the start stands for any file of the tool."""
    home.run("daemon", "stop")
    beside = home.beside / "sitecustomize.py"
    beside.write_text("FIRST = 1\n", "utf-8")
    home.run("daemon", "start")
    daemon = home.daemon()
    assert daemon
    beside.write_text("SECOND = 12\n", "utf-8")
    assert home.run("check", str(spec))[0] == 0
    assert eventually(lambda: not is_alive(daemon))
    assert home.daemon() == 0
    beside.unlink()


@pytest.mark.every
def test_requests_that_are_none(running: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = running.daemon()
    monkeypatch.setenv("XDG_CACHE_HOME", str(running.cache))
    for data in (b"", b"\xff", b"\5\0\0\0junk!", b"\xff\xff\xff\x7fshort", marshal.dumps({})):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(daemon_client.place())
            connection.sendall(data)
    assert eventually(lambda: running.daemon() == daemon)
    assert not children(daemon)


def test_a_command_that_is_never_begun_leaves_no_process(
    running: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client ends, or does the work itself, before it hears which process has it."""
    daemon = running.daemon()
    monkeypatch.setenv("XDG_CACHE_HOME", str(running.cache))
    request = daemon_client._request() | {
        "kind": daemon_client.kind(
            {os.fsencode(k): os.fsencode(v) for k, v in running.environment().items()}
        )
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(UNTIL)
        connection.connect(daemon_client.place())
        process, _ = daemon_client.answer(connection, request, (0, 1, 2))
        assert process
    assert eventually(lambda: not is_alive(process))
    assert running.daemon() == daemon
