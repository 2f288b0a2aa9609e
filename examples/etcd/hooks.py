"""How a harness drives etcd, at level 0: messages pass, unless a link is cut.

All members reach another one at the address that it advertises, so who dials is read from the
header `X-Server-From`: the number that etcd computes from that address.  A member listens for
others at its first port, and for clients at the next one.  What clients see of a member is its log.
"""

import hashlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_COPIES = False
LOGGED = ["request", "indicate"]
HELD = False
PORTS = 2
TOKEN = "etcd-cluster"
NAMES = ["p1", "p2", "p3"]
numbers = {}
"""The members' names, by the numbers that they have among themselves."""


def nodes():
    return NAMES


def command(node, port, ports):
    urls = {name: f"http://127.0.0.1:{at}" for name, at in ports.items()}
    numbers.update({number_of(url): name for name, url in urls.items()})
    clients = f"http://127.0.0.1:{port + 1}"
    member = ["nice", "etcd", "--name", node, "--data-dir", f"{node}.etcd"]
    member += ["--listen-peer-urls", f"http://127.0.0.1:{port}"]
    member += ["--initial-advertise-peer-urls", urls[node]]
    member += ["--listen-client-urls", clients, "--advertise-client-urls", clients]
    member += ["--initial-cluster", ",".join(f"{name}={url}" for name, url in urls.items())]
    member += ["--initial-cluster-token", TOKEN]
    # the first member leads in the spec: its patience ends long before that of the others
    patience = "500" if node == NAMES[0] else "5000"
    member += ["--election-timeout", patience, "--initial-election-tick-advance=false"]
    return [*member, "--heartbeat-interval", "100"]


def number_of(url):
    digest = hashlib.sha1((url + TOKEN).encode(), usedforsecurity=False).digest()
    return f"{int.from_bytes(digest[:8], 'big'):x}"


def ready(node, port):
    return ask("ready", port + 1, "--lead" if node == NAMES[0] else "")


def log(node):
    return f"{node}.ndjson"


def request(node, port, name, values):
    how = "--serializable" if "serializable" in os.environ.get("ETCD_READS", "") else ""
    return ask(name, port + 1, *values, "--log", log(node), how)


def ask(*words):
    asked = [str(word) for word in words if word != ""]
    return ["env", f"PYTHONPATH={HERE.parents[1]}", sys.executable, str(HERE / "ask.py"), *asked]


def dialer(data):
    if b"\r\n\r\n" not in data:
        return None
    for line in data.split(b"\r\n"):
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "x-server-from":
            return numbers.get(value.strip(), "")
    return ""
