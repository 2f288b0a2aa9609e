"""Runs the commands behind an assistant's calls, each in its own process group."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from msgspec import Struct

from checker import resources
from checker.assist.refusals import BUSY, HANDLE, INTERNAL, Refused
from checker.engines.python_children import SAFE_PATH, command

WORKER = "checker.cli.assistant_worker"
WAITING = 8
"""The number of calls that may wait for a process."""
LATE = 1.0
"""Seconds after its time limit at which a command is asked to end and report what it knows."""
LAST = 2.0
"""Seconds after that until it is killed."""
LARGEST = 64_000_000
"""The largest output of a command, in bytes."""
KEPT = 2 << 30
"""Bytes that a session keeps for handles and searches; the oldest go first."""


class Output(Struct, frozen=True):
    """The output of a command; ``late``: it was told to end at its limit, and ``killed``: it did
    not end then."""

    out: bytes
    err: str
    killed: bool
    late: bool


class Commands:
    """The processes and the folder of one server."""

    def __init__(self) -> None:
        base = resources.cache_folder("assist")
        if base is None:
            raise Refused(INTERNAL, "there is no cache folder that only this user can write to")
        _remove_ended(base)
        self._base = base
        self.folder = base / f"session-{os.getpid()}-{secrets.token_hex(8)}"
        self.folder.mkdir(mode=0o700)
        self.log = base / "errors.log"
        self._cores = os.cpu_count() or 1
        self._free = anyio.CapacityLimiter(self._cores)
        self._daemon: tuple[subprocess.Popen[bytes], int] | None = None

    def start(self) -> None:
        """Starts the daemon from which later commands are forked."""
        watched, held = os.pipe()
        words = [*command(str(watched), "0", module=WORKER)]
        self._daemon = (
            subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=self.folder,
                stderr=subprocess.DEVNULL, env=self._environment(self.folder), pass_fds=(watched,),
                start_new_session=True,
            ),
            held,
        )  # fmt: skip
        os.close(watched)

    def close(self) -> None:
        """Kills the daemon and removes the folder of the session."""
        if self._daemon is not None:
            process, held = self._daemon
            os.close(held)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._daemon = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self) -> Path:
        """Returns a new, empty folder for the files of a call; makes room for it."""
        self._make_room()
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def known(self, word: str) -> Path:
        """Returns the folder named by the handle ``word``; raises :class:`Refused` (A004)."""
        folder = self.folder / word
        if not folder.is_dir():
            raise Refused(HANDLE, "this handle is unknown, or it was dropped", "check again")
        os.utime(folder)
        return folder

    async def run(
        self, words: list[str], folder: Path, seconds: int, lines: str | None = None
    ) -> Output:
        """Runs ``bivalence WORDS`` in a folder; ``lines``: its standard input.

        Raises :class:`Refused` (A005).  Cancelling the call kills the command.
        """
        if self._free.statistics().tasks_waiting >= WAITING:
            raise Refused(BUSY, f"{WAITING} calls are waiting already", "try again later")
        async with self._free:
            given = folder / f".input-{secrets.token_hex(4)}"
            given.write_text(lines or "", encoding="utf-8")
            with open(given, "rb") as stdin:
                async with self._started(words, folder, seconds, stdin) as process:
                    return await _output(process, seconds)

    @asynccontextmanager
    async def _started(
        self, words: list[str], folder: Path, seconds: int, stdin: Any
    ) -> AsyncIterator[Process]:
        """Yields the process; when the block is left, its whole group is killed."""
        watched, held = os.pipe()
        process = None
        try:
            process = await anyio.open_process(
                [*command(str(watched), str(seconds), *words, module=WORKER)],
                stdin=stdin, cwd=folder, env=self._environment(folder), pass_fds=(watched,),
                start_new_session=True,
            )  # fmt: skip
            os.close(watched)
            watched = -1
            yield process
        finally:
            for descriptor in (watched, held):
                if descriptor >= 0:
                    os.close(descriptor)
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await process.wait()
                    await process.aclose()

    def _environment(self, folder: Path) -> dict[str, str]:
        """Returns the whole environment of a command, which reads no spec outside of ``folder``."""
        home = str(self._base)
        return {
            "PATH": os.defpath, "LANG": "C.UTF-8", "HOME": home, "XDG_CACHE_HOME": home,
            "TMPDIR": str(self.folder), resources.CONFINED: str(folder),
            **SAFE_PATH,
        }  # fmt: skip

    def _make_room(self) -> None:
        """Removes the folders that were used longest ago, if all have more than ``KEPT`` bytes."""
        folders = sorted(self.folder.iterdir(), key=lambda each: each.stat().st_mtime)
        sizes = {each: _size(each) for each in folders if each.is_dir()}
        total = sum(sizes.values())
        for each, size in sizes.items():
            if total <= KEPT:
                return
            shutil.rmtree(each, ignore_errors=True)
            total -= size


async def _output(process: Process, seconds: int) -> Output:
    """Returns the output of a command, which is asked to stop at its time limit, and killed if it
    goes on."""
    out, err = bytearray(), bytearray()
    assert process.stdout is not None and process.stderr is not None
    ended, late = False, anyio.Event()
    with anyio.move_on_after(seconds + LATE + LAST):
        async with anyio.create_task_group() as asking:
            asking.start_soon(_ask_to_end, process, seconds + LATE, late)
            async with anyio.create_task_group() as reading:
                reading.start_soon(_receive, process.stdout, out)
                reading.start_soon(_receive, process.stderr, err)
            await process.wait()
            ended = True
            asking.cancel_scope.cancel()
    return Output(bytes(out), err.decode("utf-8", "replace"), not ended, late.is_set())


async def _receive(stream: Any, into: bytearray) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while len(into) <= LARGEST:
            into += await stream.receive()


async def _ask_to_end(process: Process, seconds: float, late: anyio.Event) -> None:
    await anyio.sleep(seconds)
    late.set()
    with suppress(ProcessLookupError):
        process.terminate()


def _size(folder: Path) -> int:
    """Returns the bytes of the files below a folder, from which commands may remove some."""
    found = 0
    for each in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found += each.lstat().st_size
    return found


def _remove_ended(base: Path) -> None:
    """Removes the folders of servers that were killed."""
    for folder in base.glob("session-*"):
        number = folder.name.split("-")[1]
        if number.isdigit() and not Path("/proc", number).exists():
            shutil.rmtree(folder, ignore_errors=True)
