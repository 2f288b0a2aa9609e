"""How a harness drives `elector.py`: servers of PySyncObj, at level 1.

A server is known by its address, so all others reach it at the same one; who dials is in the
greeting of a connection.  Messages are pickles.  They are read as what pickletools lists, and never
unpickled: that would run whatever they say.
"""

import json
import os
import pickletools
import struct
import sys
import zlib
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_COPIES = False
LOGGED = ["indicate", "receive", "timeout", "recover"]
MOST = 1 << 20
"""Bytes of a message that are read."""
NAMES = {"request_vote": "ASK", "response_vote": "VOTE"}
FIELDS = {"ASK": {"term": "term", "last": "last_log_term"}, "VOTE": {"term": "term"}}
addresses = {}
"""Of the servers, as others know them."""


def nodes():
    return os.environ.get("PYSYNCOBJ_SERVERS", "p1 p2 p3").split()


def command(node, port, ports):
    addresses.update({name: f"127.0.0.1:{at}" for name, at in ports.items()})
    names = {address: name for name, address in addresses.items()}
    server = [sys.executable, str(HERE / "elector.py"), addresses[node], str(port)]
    fault = os.environ.get("PYSYNCOBJ_FAULT", "")
    path = f"PYTHONPATH={HERE.parents[1]}"
    return ["env", path, *server, "--names", json.dumps(names), "--fault", fault]


def ready(node, port):
    return None  # when it listens


def log(node):
    return f"{node}.ndjson"


def request(node, port, name, values):
    raise ValueError(f"nobody asks a server for anything: {name}")


def fire(node, timer):
    assert timer == "election", timer
    return ["sh", "-c", f"kill -USR1 $(cat {node}.pid)"]


def dialer(data):
    for _, leaves in messages(data):
        names = {address: name for name, address in addresses.items()}
        return names.get(leaves[0], "") if leaves else ""
    return None


def frames(data):
    found = []
    for size, leaves in messages(data):
        pairs = dict(pairwise(leaves))
        kind = pairs.get("type", "")
        name = NAMES.get(kind, kind)
        fields = {ours: pairs[theirs] for ours, theirs in FIELDS.get(name, {}).items()}
        found.append((size, name, fields))
    return found


def messages(data):
    """Yields the complete messages at the beginning of `data`: lengths, and texts and numbers."""
    while len(data) >= 4:
        size = 4 + struct.unpack("i", data[:4])[0]
        if not 4 < size <= len(data):
            return
        yield size, leaves_of(zlib.decompressobj().decompress(data[4:size], MOST))
        data = data[size:]


def leaves_of(pickled):
    """Returns the texts and numbers of a pickle, in order; [] for what is none."""
    found, kept = [], {}
    try:
        for code, value, _ in pickletools.genops(pickled):
            if code.name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
                kept[len(kept) if value is None else value] = found[-1] if found else None
            elif code.name in ("BINGET", "LONG_BINGET"):
                found.append(kept.get(value))
            elif code.name == "NONE" or (isinstance(value, str | int) and code.name != "PROTO"):
                found.append(value)
    except (ValueError, IndexError):
        return []
    return found
