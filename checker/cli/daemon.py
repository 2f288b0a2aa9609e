"""``bivalence daemon``: a process that makes later commands start faster, by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import click

from checker.cli import console, daemon_client
from checker.cli.supervisor import MARK

STARTING = 60.0
"""Seconds in which a daemon has to be there."""


@click.group()
def daemon() -> None:
    """Keep the tool in memory, for later commands.

    A daemon serves the commands of one user, installation and cache folder. It forks a process for
    each one, which saves the time for imports; nothing else changes. It ends with `daemon stop`,
    after eight hours without a command, and when a file of the tool changes.
    """


@daemon.command()
def start() -> int:
    """Start a daemon, if none is running."""
    found = _running()
    if found is not None:
        console.print_line(f"a daemon is running: process {found[0]}")
        return 0
    if not hasattr(os, "memfd_create"):
        raise click.UsageError("a daemon needs Linux")
    from checker import resources
    from checker.engines.python_children import command

    path = daemon_client.place()
    if len(os.fsencode(path)) > daemon_client.LONGEST:
        raise click.UsageError(f"{path} is too long for a socket: set XDG_CACHE_HOME")
    if resources.cache_folder() is None:
        raise click.UsageError("a daemon needs a cache folder that only you can write to")
    nowhere = subprocess.DEVNULL
    environment = {k: v for k, v in os.environ.items() if k != MARK}
    process = subprocess.Popen(
        command(module="checker.cli.daemon_server"),
        stdin=nowhere, stdout=nowhere, stderr=nowhere, cwd="/", env=environment,
        start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + STARTING
    while time.monotonic() < until and process.poll() is None:
        if _running() is not None:
            console.print_line(f"started: process {process.pid}, {_memory(process.pid)}")
            return 0
        time.sleep(0.05)
    process.kill()
    console.print_note("the daemon did not start")
    return 2


@daemon.command()
def stop() -> int:
    """Stop the daemon. Running commands continue."""
    found = _running()
    if found is None:
        console.print_line("no daemon is running")
        return 0
    os.kill(found[0], signal.SIGTERM)
    while _running() is not None:
        time.sleep(0.02)
    console.print_line(f"stopped: process {found[0]}")
    return 0


@daemon.command()
def status() -> int:
    """Show the daemon; exit code 1 if none is running."""
    found = _running()
    if found is None:
        console.print_line("no daemon is running")
        return 1
    process, served = found
    commands = f"{served} command{'' if served == 1 else 's'}"
    console.print_line(f"process {process}, {_memory(process)}, {commands} so far")
    return 0


def _running() -> tuple[int, int] | None:
    """Returns the process of the daemon, and the number of commands so far; ``None`` if none
    runs."""
    connection = daemon_client.connect()
    if connection is None:
        return None
    with connection:
        try:
            _, served = daemon_client.answer(connection, None, ())
        except OSError:
            return None
        return daemon_client.peer(connection)[0], served


def _memory(process: int) -> str:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as said:
            pages = int(said.read().split()[1])
    except (OSError, ValueError, IndexError):
        return "unknown memory"
    return f"{pages * os.sysconf('SC_PAGESIZE') >> 20} MB"
