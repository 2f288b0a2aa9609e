"""A worker that takes messages from a queue, processes them, and can die in the midst of one.

`python worker.py PORT QUEUE LOG [--early] [--remember] [--die-at MESSAGE]`: what it does with a
message is an act in a store, `store.sqlite` above the folder of the log.  ``--early``: it
acknowledges a message before it processes it.  ``--remember``: it recognises what it has processed
already, and does not act again.  ``--die-at``: it kills itself with SIGKILL between the two, in its
first life.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pika

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.record import Recorder

PREFETCH = 5
"""So many messages are handed to the worker ahead."""


class Worker:
    """A worker with its log and the outside store in which it acts."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.early, self.remember, self.die_at = asked.early, asked.remember, asked.die_at
        self.port, self.queue = asked.port, asked.queue
        self.first_life = not asked.log.exists()
        self.log = Recorder(asked.log, "worker")
        self.store = sqlite3.connect(asked.log.parents[1] / "store.sqlite")
        self.store.execute("create table if not exists acts (message text)")

    def handle(self, channel: Any, method: Any, _properties: object, body: bytes) -> None:
        """Takes one message; the broker hands it out again unless it is acknowledged."""
        message = body.decode()
        state = {"redelivered": method.redelivered}
        self.log.record("deliver", msg=message, state=state)
        if self.early:
            self.acknowledge(channel, method)
        else:
            self.process(message)
        if message == self.die_at and self.first_life:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.early:
            self.process(message)
        else:
            self.acknowledge(channel, method)

    def process(self, message: str) -> None:
        """Acts in the outside store: in one transaction it looks and writes."""
        with self.store:
            rows = self.store.execute("select 1 from acts where message = ?", (message,))
            known = self.remember and rows.fetchone() is not None
            if not known:
                self.store.execute("insert into acts values (?)", (message,))
        self.log.record("perform", msg=message, effect=not known)

    def acknowledge(self, channel: Any, method: Any) -> None:
        """Acknowledges, and asks the broker something: it answers when it has read both."""
        channel.basic_ack(method.delivery_tag)
        channel.queue_declare(self.queue, passive=True)

    def work(self) -> None:
        """Works until SIGTERM comes."""
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.port))
        channel = connection.channel()
        channel.basic_qos(prefetch_count=PREFETCH)
        channel.basic_consume(self.queue, self.handle)
        over: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: over.append(number))
        while not over:
            connection.process_data_events(0.05)
        connection.close()
        self.log.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("queue")
    parser.add_argument("log", type=Path)
    parser.add_argument("--early", action="store_true")
    parser.add_argument("--remember", action="store_true")
    parser.add_argument("--die-at")
    Worker(parser.parse_args()).work()
