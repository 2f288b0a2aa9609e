"""One server of PySyncObj whose elections are recorded as `elections.bcast` has them.

It runs until SIGTERM.  Its election timer never expires by itself; SIGUSR1 makes it expire, once it
is connected to all others.  `--fault` leaves out one rule of PySyncObj's, without a change in its
files.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from typing import Any

from pysyncobj import SyncObj, SyncObjConf
from pysyncobj.node import TCPNode
from pysyncobj.transport import TCPTransport

from checker.record import Recorder

PHASES = ("follower", "candidate", "leader")
NEVER = 100_000.0
"""Seconds."""


class RecordingTransport(TCPTransport):  # type: ignore[misc]
    """TCP, with each message that is sent recorded by the server that it belongs to."""

    def send(self, node: Any, message: dict[str, Any]) -> bool:
        """Records and sends."""
        self._syncObj.sends(node, message)
        return bool(super().send(node, message))


class Elector(SyncObj):  # type: ignore[misc]
    """A server known as ``own``, which listens at ``port``; ``names``: of all, by addresses."""

    def __init__(
        self, own: str, port: int, names: dict[str, str], log: Recorder, fault: str
    ) -> None:
        self.names, self.log, self.fault = names, log, fault
        self.to_expire = False
        self.held: list[tuple[Any, dict[str, Any]]] | None = None
        others = [TCPNode(address) for address in names if address != own]
        conf = SyncObjConf(
            bindAddress=f"127.0.0.1:{port}", journalFile=f"{names[own]}.journal", autoTick=False,
            raftMinTimeout=NEVER, raftMaxTimeout=2 * NEVER, connectionTimeout=2 * NEVER,
            leaderFallbackTimeout=NEVER, connectionRetryTime=0.1, dynamicMembershipChange=False,
        )  # fmt: skip
        super().__init__(TCPNode(own), others, conf, transportClass=RecordingTransport)
        if fault == "forgets_vote":
            self._SyncObj__votedForNodeId = None

    def state(self) -> dict[str, Any]:
        """The variables of the spec, but for the votes."""
        voted = self._SyncObj__votedForNodeId
        phase = PHASES[self._SyncObj__raftState]
        name = None if voted is None else self.names[voted]
        last = self._SyncObj__raftLog[-1][2]
        return {"term": self.raftCurrentTerm, "voted": name, "phase": phase, "last": last}

    def tick(self) -> None:
        """Takes what has come, and the election timer if it is to expire."""
        if self.to_expire and all(self.isNodeConnected(node) for node in self.otherNodes):
            self.to_expire = False
            self.log.record("timeout", name="election")
            self._SyncObj__raftElectionDeadline = 0.0
        self.doTick(0.01)

    def sends(self, node: Any, message: dict[str, Any]) -> None:
        """Records what leaves; while a message is handled, when that is over."""
        if self.held is not None:
            self.held.append((node, message))
        elif message["type"] in ("request_vote", "response_vote"):
            name, fields = spoken(message)
            self.log.send(name, self.names[node.id], fields, self.state())

    def _SyncObj__onMessageReceived(self, node: Any, message: dict[str, Any]) -> None:
        before = self.state()
        if self.fault == "votes_twice" and message["type"] == "request_vote":
            self._SyncObj__votedForNodeId = None
        self.held = []
        super()._SyncObj__onMessageReceived(node, message)
        if self.fault == "half_elects" and 2 * self._SyncObj__votesCount >= len(self.names):
            if self.state()["phase"] == "candidate":
                self._SyncObj__onBecomeLeader()
        sent, self.held = self.held, None
        counts = message["type"] == "response_vote" and before["phase"] == "candidate"
        if message.get("term") == before["term"] if counts else message["type"] == "request_vote":
            name, fields = spoken(message)
            self.log.receive(name, self.names[node.id], fields, self.state())
        if before["phase"] != "leader" and self._isLeader():
            self.log.indicate("elect", self.raftCurrentTerm)
        for each in sent:
            self.sends(*each)


def spoken(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the name and the fields that a message about a vote has in the spec."""
    if message["type"] == "response_vote":
        return "VOTE", {"term": message["term"]}
    return "ASK", {"term": message["term"], "last": message["last_log_term"]}


def main() -> None:
    """Runs one server until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("own", help="the address by which others know it")
    parser.add_argument("port", type=int)
    parser.add_argument("--names", type=json.loads, required=True)
    parser.add_argument("--fault", default="", choices=["", "votes_twice", "half_elects",
                                                        "forgets_vote"])  # fmt: skip
    asked = parser.parse_args()
    name = asked.names[asked.own]
    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: over.append(number))
    with Recorder(f"{name}.ndjson", name) as log:
        server = Elector(asked.own, asked.port, asked.names, log, asked.fault)

        def expire(*_: object) -> None:
            server.to_expire = True

        signal.signal(signal.SIGUSR1, expire)
        with open(f"{name}.pid", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        while not over:
            server.tick()
        server.destroy()


if __name__ == "__main__":
    main()
