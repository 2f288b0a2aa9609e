"""How the harness starts and asks your system: fill in these functions.

A hook returns a command, as a list of words; the harness starts it, in the folder of the try
(`tries/1`, …), and ends it.  Each hook has ten seconds.  `frames` and `encode` may be left out:
without `frames` the harness holds and releases bytes, and without `encode` it drops, repeats and
forges no message.
"""

OWN_COPIES = False
"""Whether a node sends what it sends to itself through its own port, as it does to others."""

LOGGED = ["request", "receive", "indicate", "perform", "recover"]
"""Kinds of lines that the nodes log.  A step waits only for these."""

HELD = True
"""Whether messages are held until the run has them arrive; otherwise links are only cut."""

PORTS = 1
"""On how many ports a node listens: `port`, `port + 1`, …  Others reach it at the first one."""

START = 20.0
"""Seconds that a node has to become ready."""


def nodes() -> list[str]:
    """Returns the names of the nodes: one for each process of the trace, in that order."""
    return ["p1", "p2", "p3"]


def command(node: str, port: int, ports: dict[str, int]) -> list[str]:
    """Returns the command that starts `node`.

    It has to listen on 127.0.0.1:`port`, and reaches the node q (itself, too) at
    127.0.0.1:`ports[q]`, which is a proxy.  After a crash the same command starts it again.
    """
    raise NotImplementedError("fill in the hook `command`")


def ready(node: str, port: int) -> list[str] | None:
    """Returns a command that exits with 0 once `node` is ready, or None: when it listens."""
    return None


def log(node: str) -> str:
    """Returns the file of the log that `node` writes (docs/logs.md)."""
    return f"{node}.ndjson"


def request(node: str, port: int, name: str, values: list[str]) -> list[str]:
    """Returns a command that makes the request `name` of `node`, such as broadcast with ["a"]."""
    raise NotImplementedError("fill in the hook `request`")


# def fire(node: str, timer: str) -> list[str]:
#     """Returns a command that makes a timer of `node` expire."""


# def frames(data: bytes) -> list[tuple[int, str, dict]]:
#     """Returns the messages with which the bytes `data` begin, as (length, name, fields): such as
#     [(37, "DATA", {"origin": "p1", "m": "a"})], [] if the first one is not complete.
#
#     The name is "" for what is no message of the spec: that passes at once, if nothing is held
#     before it.
#     """


# def dialer(data: bytes) -> str | None:
#     """Returns the node that has made the connection that begins with `data`; "" if it is none of
#     the nodes, None if `data` is too short to say.  `ports[q]` is the same for all nodes then, and
#     `ports[node]` is the address by which others know `node`."""


# def encode(sender: str, name: str, fields: dict[str, str]) -> bytes:
#     """Returns the bytes of a message of `sender`.  Only where messages stand alone: no counters,
#     no compression across messages."""
