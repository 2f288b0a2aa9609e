"""One server of PySyncObj whose messages are recorded: SyncObj with a wrapper around what it sends
and what it does with what it receives.  It adds to a replicated counter, and runs until SIGTERM."""

from __future__ import annotations

import argparse
import json
import signal
import time
from typing import Any

from pysyncobj import SyncObj, SyncObjConf, replicated
from pysyncobj.node import TCPNode
from pysyncobj.transport import TCPTransport

from checker.record import Recorder

MESSAGES = {"request_vote": "REQUEST", "response_vote": "VOTE", "append_entries": "APPEND"}
"""The messages that are recorded, and what the spec calls them."""
PHASES = {0: "follower", 1: "candidate", 2: "leader"}


class RecordingTransport(TCPTransport):  # type: ignore[misc]
    """TCP, with each message that is sent recorded by the server that it belongs to."""

    def send(self, node: Any, message: dict[str, Any]) -> bool:
        """Records and sends."""
        self._syncObj.sends(node, message)
        return bool(super().send(node, message))


class RecordedCounter(SyncObj):  # type: ignore[misc]
    """A replicated counter; ``names``: of the servers, by their addresses."""

    def __init__(self, own: str, names: dict[str, str], log: Recorder) -> None:
        self.names, self.log = names, log
        self.held: list[tuple[str, str, int]] | None = None
        self.total = 0
        others = [TCPNode(address) for address in names if address != own]
        conf = SyncObjConf(
            raftMinTimeout=0.8, raftMaxTimeout=2.0, appendEntriesPeriod=0.2, autoTick=False,
            dynamicMembershipChange=False,
        )  # fmt: skip
        super().__init__(TCPNode(own), others, conf, transportClass=RecordingTransport)

    @replicated  # type: ignore[untyped-decorator]
    def add(self, number: int) -> int:
        """Adds to the counter."""
        self.total += number
        return self.total

    def state(self) -> dict[str, Any]:
        """The variables of the spec."""
        return {"term": self.raftCurrentTerm, "phase": PHASES[self._SyncObj__raftState]}

    def sends(self, node: Any, message: dict[str, Any]) -> None:
        """Records a message that leaves; inside of a reception when that is over."""
        name = MESSAGES.get(message["type"])
        if name is None:
            return
        sent = (name, self.names[node.id], message["term"])
        if self.held is None:
            self.write([sent])
        else:
            self.held.append(sent)

    def write(self, sent: list[tuple[str, str, int]]) -> None:
        """Writes lines about messages that were sent, with the variables at present."""
        for name, to, term in sent:
            self.log.send(name, to, {"term": term}, self.state())

    def _SyncObj__onMessageReceived(self, node: Any, message: dict[str, Any]) -> None:
        name = MESSAGES.get(message["type"])
        self.held = []
        super()._SyncObj__onMessageReceived(node, message)
        sent, self.held = self.held, None
        if name is not None:
            fields = {"term": message["term"]}
            self.log.receive(name, self.names[node.id], fields, self.state())
        self.write(sent)


def main() -> None:
    """Runs one server until SIGTERM; ``--adds``: it asks for so many additions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("own")
    parser.add_argument("log")
    parser.add_argument("--names", type=json.loads, required=True)
    parser.add_argument("--adds", type=int, default=0)
    asked = parser.parse_args()
    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: over.append(number))
    with Recorder(asked.log, asked.names[asked.own]) as log:
        server = RecordedCounter(asked.own, asked.names, log)
        left = asked.adds
        while not over:
            server.doTick(0.02)
            if left and server.isReady():
                left -= 1
                server.add(1, callback=lambda result, error: None)
            time.sleep(0.005)
        server.destroy()


if __name__ == "__main__":
    main()
