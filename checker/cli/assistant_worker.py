"""The process of one command of an assistant.

    python -P -m checker.cli.assistant_worker DESCRIPTOR SECONDS WORD...

It ends with all that it has begun as soon as the other end of the pipe DESCRIPTOR is closed: when
the call is over, and when the server has died, however that was.  Without words it is the daemon
that has imported the tool (:mod:`checker.cli.daemon_server`).  ``look FILE`` is no command of the
tool: it prints what a file declares.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

MEMORY = 16 << 30
"""The largest address space of a process, in bytes; most of it is only reserved."""
WRITTEN = 2 << 30
"""The largest size of a file that is written, in bytes."""


def main() -> int:
    """Runs the command; returns its exit code."""
    watched, seconds, *words = sys.argv[1:]
    _watch(int(watched))
    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_FSIZE: WRITTEN}
    limits[resource.RLIMIT_CORE] = 0
    if words:
        limits[resource.RLIMIT_CPU] = (int(seconds) + 10) * (os.cpu_count() or 1)
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    if not words:
        from checker.cli import daemon_server

        return daemon_server.main()
    if words[0] == "look":
        from checker.assist.look import print_checks

        return print_checks(words[1])
    from checker.cli.main import main as command

    sys.argv = ["bivalence", *words]
    return command()


def _watch(watched: int) -> None:
    """Starts a process that kills this group when the pipe is closed."""
    if os.fork():
        os.close(watched)
        return
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.read(watched, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
