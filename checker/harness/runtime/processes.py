"""Processes that end with the harness, however it ends (Linux).

The harness runs in a child of the process that a user has started.  Both adopt what their children
leave behind (PR_SET_CHILD_SUBREAPER), and whichever of them survives kills all that is left; each
child is killed when its parent dies (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .failures import CannotRun, last_line

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PORTS = range(20_000, 32_000)
"""Ports for nodes: below those that the system gives to connections."""
GRACE = 5.0
"""Seconds that a process has to end after SIGTERM."""
LISTENS = "0A"
"""The state of a listening socket in /proc/net/tcp."""


def _prctl(option: int, value: int) -> None:
    try:
        failed = ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
    except AttributeError:
        failed = -1
    if failed:
        raise CannotRun("E137", "processes can't be tied to the harness: this needs Linux")


def die_with_parent(by: int = signal.SIGKILL) -> None:
    """The calling process gets the signal ``by`` when its parent dies."""
    _prctl(PR_SET_PDEATHSIG, by)


def adopt() -> None:
    """The calling process adopts the orphans of its children."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def kept(body: Callable[[], int]) -> int:
    """Runs ``body`` in a child; returns its exit code when nothing that it started is left."""
    adopt()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        adopt()
        die_with_parent(signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _end)
        code = 70
        try:
            code = body()
        finally:
            kill_descendants()
            sys.stdout.flush()
            os._exit(code)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    kill_descendants()
    return max(os.waitstatus_to_exitcode(status), 0) if os.WIFEXITED(status) else 3


def _end(number: int, _: object) -> None:
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # one is enough
    kill_descendants()
    with contextlib.suppress(RuntimeError):  # it came in the midst of a line
        sys.stdout.flush()
    os.write(2, f"ended by {signal.Signals(number).name}; nothing is left running\n".encode())
    os._exit(3)


def kill_descendants() -> None:
    """Kills all descendants of this process, and waits for those that are its children."""
    while found := descendants(os.getpid()):
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def descendants(of: int) -> list[int]:
    """Returns the processes that descend from ``of``."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                after_name = (
                    Path(f"/proc/{entry}/stat").read_text("utf-8", "replace").rpartition(")")[2]
                )
                children.setdefault(int(after_name.split()[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [of]
    while waiting:
        more = children.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def is_running(pid: int) -> bool:
    """Whether a thread of a process or of its children runs, or waits for a processor or a disk."""
    for each in (pid, *_children(pid)):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):
                stat = Path(f"/proc/{each}/task/{thread}/stat").read_text("utf-8", "replace")
                if stat.rpartition(")")[2].split()[0] in "RD":
                    return True
    return False


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _in_child() -> None:
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Program:
    """A program that is running: the leader of a session of its own."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, said: Path) -> None:
        """Starts it in ``folder``; what it prints is appended to ``said``.

        Raises :class:`CannotRun` (E137) where there is no such program.
        """
        self.name, self.said = name, said
        try:
            with said.open("ab") as output:
                self._process = subprocess.Popen(
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    preexec_fn=_in_child,
                )
        except (OSError, subprocess.SubprocessError) as problem:
            why = getattr(problem, "strerror", None) or str(problem)
            raise CannotRun("E137", f"{name}: {command[0]} can't be started: {why}") from None

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def ended(self) -> str:
        """Returns how it ended, with the last line that it printed; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        words = last_line(self.said.read_text("utf-8", "replace"))
        return f"{how}: {words}" if words else how

    def failed(self) -> str:
        """Returns how it ended; empty while it runs, and where its exit code was 0."""
        return self.ended() if self._process.poll() else ""

    def signal(self, number: int) -> None:
        """Sends a signal to it and to what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kills it and what it has started, and waits for it."""
        started = descendants(self.pid)
        self.signal(signal.SIGKILL)
        for pid in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ends it with SIGTERM, and kills it where that is not enough."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.kill()


def free_ports(count: int, wide: int = 1) -> list[int]:
    """Returns ``count`` ports of the loopback interface, in ascending order, such that nobody has
    them or the ``wide - 1`` ports after each.

    Raises :class:`CannotRun` (E138) where there are none.
    """
    found: list[int] = []
    with contextlib.ExitStack() as probes:
        for port in random.sample(PORTS, len(PORTS)):
            if len(found) == count:
                break
            if all(_is_free(each, probes) for each in range(port, port + wide)):
                found.append(port)
    if len(found) < count:
        raise CannotRun("E138", f"no free port on 127.0.0.1 from {PORTS[0]} to {PORTS[-1]}")
    return sorted(found)


def _is_free(port: int, probes: contextlib.ExitStack) -> bool:
    """Whether nobody has a port; it is taken until ``probes`` ends."""
    probe = probes.enter_context(contextlib.closing(socket.socket()))
    with contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def listening(pid: int) -> set[tuple[str, int]]:
    """Returns the addresses at which a process and its descendants accept TCP connections."""
    inodes = set()
    for each in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(f"/proc/{each}/fd"):
                with contextlib.suppress(OSError):
                    inodes.add(os.readlink(descriptor.path))
    found = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for row in Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]:
                fields = row.split()
                if fields[3] == LISTENS and f"socket:[{fields[9]}]" in inodes:
                    address, _, port = fields[1].partition(":")
                    found.add((_address(address), int(port, 16)))
    return found


def _address(hexadecimal: str) -> str:
    raw = bytes.fromhex(hexadecimal)
    words = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return socket.inet_ntop(socket.AF_INET if len(words) == 4 else socket.AF_INET6, words)
