"""Processes of this machine, as far as the system lists them (``/proc``)."""

from __future__ import annotations

import os


def descendants(process: int) -> list[int]:
    """Returns the living descendants of a process."""
    children: dict[int, list[int]] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in names:
        fields = _stat(name)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    found = list(children.get(process, ()))
    for each in found:
        found += children.get(each, ())
    return found


def is_alive(process: int) -> bool:
    """Returns whether a process has not ended."""
    fields = _stat(str(process))
    return bool(fields) and fields[0] != "Z"


def delay(process: int) -> float:
    """Returns the seconds that a process has waited for a processor; 0 where that is unknown."""
    try:
        with open(f"/proc/{process}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _stat(name: str) -> list[str]:
    """Returns what the system says of a process: its state, its parent, and so on."""
    try:
        with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
