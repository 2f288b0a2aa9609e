"""How a harness drives ZooKeeper, at level 0: messages pass, unless a link is cut.

Each server has its own list of servers, with the proxies in place of the others' ports; only the
port at which followers reach a leader has them.  What clients see of a server is its log.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_COPIES = False
LOGGED = ["request", "indicate"]
HELD = False
PORTS = 3  # for followers, for elections, for clients
START = 60.0
NAMES = ["p1", "p2", "p3"]


def nodes():
    return NAMES


def command(node, port, ports):
    return python("member.py", node, port, json.dumps(ports))


def ready(node, port):
    return python("ask.py", "ready", port + 2, *(["--lead"] if node == NAMES[0] else []))


def log(node):
    return f"{node}.ndjson"


def request(node, port, name, values):
    how = ["--sync"] if "sync" in os.environ.get("ZOOKEEPER_READS", "") else []
    return python("ask.py", name, port + 2, *values, "--log", log(node), *how)


def python(file, *words):
    return [sys.executable, str(HERE / file), *map(str, words)]
