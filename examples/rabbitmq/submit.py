"""Submits a message to a RabbitMQ, and waits until it is confirmed.

python submit.py PORT                     exits with 0 if the broker answers
python submit.py PORT MESSAGE --log LOG
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pika
from pika.adapters.utils.connection_workflow import AMQPConnectorException

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.record import Recorder

QUEUE = "work"


def main() -> int:
    """Returns 0 if the broker has answered."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("message", nargs="?")
    parser.add_argument("--log", type=Path)
    asked = parser.parse_args()
    try:
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", asked.port))
    except (pika.exceptions.AMQPError, AMQPConnectorException):
        return 1
    channel = connection.channel()
    channel.queue_declare(QUEUE, durable=True)
    if asked.message is not None:
        with Recorder(asked.log, asked.log.stem) as log:
            log.record("request", name="submit", arguments=[asked.message])
            channel.confirm_delivery()
            channel.basic_publish("", QUEUE, asked.message.encode(), mandatory=True)
    connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
