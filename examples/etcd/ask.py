"""Asks a member of etcd once: to write, to read, or whether it is ready.

    python ask.py write PORT VALUE --log LOG
    python ask.py read PORT --log LOG [--serializable]
    python ask.py ready PORT [--lead]

Call and return are lines of LOG.  `ready` exits with 0 if the member knows of a leader; with
`--lead`, if it is the leader itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.etcd import client  # noqa: E402

REGISTER = "register"


def ready(port: int, lead: bool) -> bool:
    """Whether a member knows of a leader, or leads."""
    try:
        own, leader = client.member_and_leader(port)
    except client.UNREACHABLE:
        return False
    return own == leader if lead else bool(leader)


def main() -> int:
    """Asks; returns 0 if there is an answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["write", "read", "ready"])
    parser.add_argument("port", type=int)
    parser.add_argument("value", nargs="?", default="")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--serializable", action="store_true")
    parser.add_argument("--lead", action="store_true")
    asked = parser.parse_args()
    if asked.what == "ready":
        return 0 if ready(asked.port, asked.lead) else 1
    with Recorder(asked.log, asked.log.stem) as log:
        log.record("request", name=asked.what, arguments=[asked.value] if asked.value else [])
        try:
            if asked.what == "write":
                client.put(asked.port, REGISTER, asked.value)
                log.record("indicate", name="write_return", arguments=[])
            else:
                found = client.get(asked.port, REGISTER, asked.serializable)
                log.record("indicate", name="read_return", arguments=[found])
        except client.UNREACHABLE as problem:
            print(f"no answer: {problem}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
