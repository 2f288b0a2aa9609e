"""A subscriber that records what it is handed, and can die between processing and acknowledging.

`python subscriber.py PORT QOS LOG [MESSAGE]`: where MESSAGE is handed to it for the first time, it
records that and kills itself with SIGKILL before it acknowledges.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import paho.mqtt.client as mqtt

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.record import Recorder

TOPIC = "work"


def main(port: int, qos: int, path: Path, fatal: str) -> None:
    """Records until SIGTERM comes."""
    first_life = not path.exists()
    log = Recorder(path, "subscriber")
    client = mqtt.Client(
        mqtt.CallbackAPIVersion.VERSION2, "subscriber", clean_session=False, manual_ack=True
    )
    over = threading.Event()

    def connected(*_: object) -> None:
        client.subscribe(TOPIC, qos)

    def subscribed(*_: object) -> None:
        path.with_suffix(".ready").touch()

    def received(_client: object, _data: object, message: mqtt.MQTTMessage) -> None:
        text = message.payload.decode()
        log.indicate("deliver", text)
        if text == fatal and first_life:
            os.kill(os.getpid(), signal.SIGKILL)
        client.ack(message.mid, message.qos)

    client.on_connect, client.on_subscribe, client.on_message = connected, subscribed, received
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    client.connect("127.0.0.1", port)
    client.loop_start()
    over.wait()
    client.disconnect()
    client.loop_stop()
    log.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
