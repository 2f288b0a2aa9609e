"""How the tasks of an attempt exchange their addresses: by messages in the run's folder.

Spark's own ``allGather`` would do the same, and takes a second, since each task sleeps that long
between two looks.  Each task leaves its address with a random number, and which addresses it has
seen.  When all have seen the same, among them its own with its own number, all of them are of this
attempt: a task of an earlier one cannot have seen a number that was drawn later.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from typing import Any

from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark.mesh import Address

SHORTEST, LONGEST = 0.01, 0.5
"""Seconds between two looks: at first, and at most."""


def meet(folder: RunFolder, index: int, size: int, mine: Address) -> list[Address]:
    """Returns the addresses of all ``size`` tasks, for that of task ``index``.

    Waits as long as a task is missing: a task that does not come is noticed by its heartbeat.
    """
    said: dict[str, Any] = {"address": mine, "number": secrets.token_hex(8), "seen": ""}
    folder.say(_name(folder, index), said)
    pause = SHORTEST
    while True:
        others = [said if i == index else _said(folder, i) for i in range(size)]
        seen = _digest(others)
        if seen != said["seen"]:
            said = {**said, "seen": seen}
            folder.say(_name(folder, index), said)
            pause = SHORTEST
        elif seen and all(each["seen"] == seen for each in others):
            return [(str(where), int(port)) for where, port in (o["address"] for o in others)]
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST)


def _name(folder: RunFolder, index: int) -> str:
    return f"meet-{folder.writer}-{index:05d}"


def _said(folder: RunFolder, index: int) -> dict[str, Any]:
    return folder.read_message(_name(folder, index)) or {"seen": ""}


def _digest(said: list[dict[str, Any]]) -> str:
    """Returns what stands for all addresses and numbers; nothing while one is missing."""
    if not all("number" in each for each in said):
        return ""
    text = json.dumps([[each["address"], each["number"]] for each in said])
    return hashlib.sha256(text.encode()).hexdigest()
