"""Takes messages from a RabbitMQ until SIGTERM, and connects again where its connection breaks.

`python consume.py PORT LOG (--automatic | --manual) [--after NODE]`: ``--manual``: it acknowledges
each message once it has it.  ``--automatic``: the broker does not wait for that.  ``--after``: it
begins when that other one has begun.  The file `NODE.consumes` says that it has.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pika
from pika.adapters.utils.connection_workflow import AMQPConnectorException

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.record import Recorder

QUEUE = "work"
UNREACHABLE = (pika.exceptions.AMQPError, AMQPConnectorException, OSError)


def consume(port: int, log: Recorder, automatic: bool) -> None:
    """Takes messages until the connection breaks."""
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port))
    channel = connection.channel()
    channel.queue_declare(QUEUE, durable=True)

    def take(channel: Any, method: Any, _: object, body: bytes) -> None:
        log.indicate("deliver", body.decode())
        if not automatic:
            channel.basic_ack(method.delivery_tag)

    channel.basic_consume(QUEUE, take, auto_ack=automatic)
    Path(f"{log.process}.consumes").touch()
    while True:
        connection.process_data_events(0.05)


def main() -> None:
    """Consumes until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("log", type=Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--automatic", action="store_true")
    how.add_argument("--manual", action="store_true")
    parser.add_argument("--after", default="")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the log ends with it
    with Recorder(asked.log, asked.log.stem) as log:
        while asked.after and not Path(f"{asked.after}.consumes").exists():
            time.sleep(0.05)
        while True:
            with contextlib.suppress(*UNREACHABLE):
                consume(asked.port, log, asked.automatic)
            time.sleep(0.1)


if __name__ == "__main__":
    main()
