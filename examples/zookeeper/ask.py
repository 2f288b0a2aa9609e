"""Asks a server of ZooKeeper once: to write, to read, or whether it is ready.

    python ask.py write PORT VALUE --log LOG
    python ask.py read PORT --log LOG [--sync]
    python ask.py ready PORT [--lead]

Call and return are lines of LOG.  `ready` exits with 0 if the server serves; with `--lead`, if it
leads.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.zookeeper.server import mode_of  # noqa: E402

REGISTER = "/register"
TIMEOUT = 5.0
"""Seconds that a server may take for an answer."""


def asked_of(port: int, what: str, value: str, sync: bool) -> list[str | None]:
    """Asks a server; returns the arguments of its answer."""
    from kazoo.client import KazooClient
    from kazoo.exceptions import NoNodeError

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    client = KazooClient(f"127.0.0.1:{port}", timeout=TIMEOUT)
    client.start(timeout=TIMEOUT)
    try:
        if what == "write":
            client.create_async(REGISTER, value.encode()).get(timeout=TIMEOUT)
            return []
        if sync:
            client.sync_async(REGISTER).get(timeout=TIMEOUT)
        try:
            found, _ = client.get_async(REGISTER).get(timeout=TIMEOUT)
        except NoNodeError:
            return [None]
        return [found.decode()]
    finally:
        client.stop()
        client.close()


def main() -> int:
    """Asks; returns 0 if there is an answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["write", "read", "ready"])
    parser.add_argument("port", type=int)
    parser.add_argument("value", nargs="?", default="")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--sync", action="store_true")
    parser.add_argument("--lead", action="store_true")
    asked = parser.parse_args()
    if asked.what == "ready":
        mode = mode_of(asked.port)
        return 0 if mode == "leader" or (mode and not asked.lead) else 1
    with Recorder(asked.log, asked.log.stem) as log:
        log.record("request", name=asked.what, arguments=[asked.value] if asked.value else [])
        try:
            answer = asked_of(asked.port, asked.what, asked.value, asked.sync)
        except Exception as problem:
            print(f"no answer: {problem!r}")
            return 1
        log.record("indicate", name=f"{asked.what}_return", arguments=answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
