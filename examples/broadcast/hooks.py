"""How a harness starts and asks the nodes of `examples/broadcast`: level 2, as each message is a
line of JSON that stands alone.

BROADCAST_OPTIONS, an environment variable, has more options of `node.py`, such as
`--relay --fault no_relay`; NODE in it stands for the name of the node.
"""

import json
import os
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

OWN_COPIES = True  # a node's copies to itself go through its own port

LOGGED = ["request", "receive", "indicate", "recover"]


def nodes():
    return ["p1", "p2", "p3"]


def command(node, port, ports):
    options = shlex.split(os.environ.get("BROADCAST_OPTIONS", "--relay").replace("NODE", node))
    where = ["--port", str(port), "--ports", json.dumps(ports)]
    python = ["env", f"PYTHONPATH={ROOT}", sys.executable]
    return [*python, str(HERE / "node.py"), node, log(node), *where, *options]


def ready(node, port):
    return None  # when it listens


def log(node):
    return f"{node}.ndjson"


def request(node, port, name, values):
    assert name == "broadcast", name
    return [sys.executable, str(HERE / "ask.py"), str(port), *values]


def frames(data):
    found = []
    while b"\n" in data:
        line, _, data = data.partition(b"\n")
        message = json.loads(line)
        fields = {name: message[name] for name in ("origin", "m")} if "m" in message else {}
        found.append((len(line) + 1, "DATA" if fields else "", fields))
    return found


def encode(sender, name, fields):
    return json.dumps({"from": sender, **fields}).encode() + b"\n"
