"""One server of PySyncObj whose steps are recorded: SyncObj with a wrapper around what it sends and
what it does with what it receives.  It adds to a replicated counter, and runs until SIGTERM; at
SIGUSR1 it kills itself (SIGKILL) between two steps, so that its log is complete.

The lines are those of `specs/replication/raft.bcast`.  Where PySyncObj does several of its steps at
once (entries are sent and appended in batches), there is a line for each; what it receives and
does nothing with is not recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from pysyncobj import SyncObj, SyncObjConf, replicated
from pysyncobj.node import TCPNode
from pysyncobj.transport import TCPTransport

from checker.record import Recorder

PHASES = {0: "follower", 1: "candidate", 2: "leader"}
BASE = 1
"""The index of the entry of term 0 with which each log of PySyncObj begins: nothing in the spec."""

Message = dict[str, Any]


class RecordingTransport(TCPTransport):  # type: ignore[misc]
    """TCP, with each message that is sent recorded by the server that it belongs to."""

    def send(self, node: Any, message: Message) -> bool:
        """Records and sends."""
        self._syncObj.sends(node, message)
        return bool(super().send(node, message))


class RecordedCounter(SyncObj):  # type: ignore[misc]
    """A replicated counter; ``names``: of the servers, by their addresses."""

    def __init__(self, own: str, names: dict[str, str], log: Recorder) -> None:
        self.names, self.log = names, log
        self.held: list[tuple[Any, Message]] | None = None
        self.taken, self.total = 0, 0
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

    # ---- its variables --------------------------------------------------------------------

    @property
    def length(self) -> int:
        """Of its log, as far as the spec and PySyncObj both have it."""
        return len(self._SyncObj__raftLog) - 1

    def basics(self) -> dict[str, Any]:
        """Term and phase."""
        return {"term": self.raftCurrentTerm, "phase": PHASES[self._SyncObj__raftState]}

    def vote(self) -> dict[str, Any]:
        """And for whom it votes."""
        node = self._SyncObj__votedForNodeId
        return {**self.basics(), "voted": None if node is None else self.names[str(node)]}

    def all(self) -> dict[str, Any]:
        """And how much of its log is committed."""
        return {**self.vote(), "commit": self.raftCommitIndex - BASE}

    # ---- what it sends --------------------------------------------------------------------

    def sends(self, node: Any, message: Message) -> None:
        """Records a message that leaves; inside of a reception when that is over."""
        if self.held is None:
            self.write_taken()
            self.write_sent(node, message)
        else:
            self.held.append((node, message))

    def write_taken(self) -> None:
        """Records the entries that it has taken as a leader since it was asked last."""
        length = self.length
        if self.isLeader():
            for _ in range(self.taken, length):
                self.log.handler("takes")
        self.taken = length

    def isLeader(self) -> bool:
        return bool(self._isLeader())

    def write_sent(self, node: Any, message: Message) -> None:
        """Records the spec's messages that ``message`` is."""
        to = self.names[node.id]
        match message["type"]:
            case "request_vote":
                length = message["last_log_index"] - BASE
                last = message["last_log_term"]
                fields = {"term": message["term"], "last": last, "length": length}
                self.log.send("ASK", to, fields, self.vote())
            case "response_vote":
                self.log.send("VOTE", to, {"term": message["term"]}, self.vote())
            case "append_entries":
                # the spec's leader sends it to all, PySyncObj's to whom it thinks needs it
                for fields in appended(message):
                    self.log.send("APPEND", None, fields, self.basics())

    # ---- what it receives -----------------------------------------------------------------

    def _SyncObj__onMessageReceived(self, node: Any, message: Message) -> None:
        before = self.vote()
        matched = self._SyncObj__raftMatchIndex.get(node, 0)
        self.held = []
        self.write_taken()
        super()._SyncObj__onMessageReceived(node, message)
        sent, self.held = self.held, None
        sender = self.names[node.id]
        match message["type"]:
            case "request_vote" if self.vote() != before:
                length = message["last_log_index"] - BASE
                last = message["last_log_term"]
                fields = {"term": message["term"], "last": last, "length": length}
                self.log.receive("ASK", sender, fields, self.vote())
            case "response_vote" if before["phase"] == "candidate":
                if message["term"] == before["term"]:
                    self.log.receive("VOTE", sender, {"term": message["term"]}, self.vote())
            case "append_entries" if message["term"] >= before["term"]:
                *most, last = appended(message)
                for fields in most:
                    self.log.receive("APPEND", sender, fields, self.vote())
                self.log.receive("APPEND", sender, last, self.all())
                self.taken = self.length
            case "next_node_idx" if self._SyncObj__raftMatchIndex.get(node, 0) > matched:
                length = self._SyncObj__raftMatchIndex[node] - BASE
                self.log.receive("STORED", sender, {"length": length}, self.vote())
        self.write_taken()
        for each in sent:
            self.write_sent(*each)


def appended(message: Message) -> Iterator[dict[str, Any]]:
    """Yields the fields of the spec's messages APPEND that one of PySyncObj's is."""
    at, before = message["prevLogIdx"] - BASE, message["prevLogTerm"]
    same = {"term": message["term"], "commit": message["commit_index"] - BASE}
    for _, _, term in message["entries"]:
        yield {**same, "at": at, "before": before, "entry": {"term": term}}
        at, before = at + 1, term
    if not message["entries"]:
        yield {**same, "at": at, "before": before, "entry": None}


def main() -> None:
    """Runs one server until SIGTERM; ``--adds``: it asks for so many additions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("own")
    parser.add_argument("log")
    parser.add_argument("--names", type=json.loads, required=True)
    parser.add_argument("--adds", type=int, default=0)
    asked = parser.parse_args()
    over: list[int] = []
    killed: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: over.append(number))
    signal.signal(signal.SIGUSR1, lambda number, _: killed.append(number))
    with Recorder(asked.log, asked.names[asked.own]) as log:
        server = RecordedCounter(asked.own, asked.names, log)
        left = asked.adds
        while not over:
            server.doTick(0.02)
            if left and server.isReady():
                left -= 1
                server.add(1, callback=lambda result, error: None)
            if killed:
                log.record("crash")
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.005)
        server.destroy()


if __name__ == "__main__":
    main()
