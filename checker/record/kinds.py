"""The kinds of lines of a log, and the fields that each of them has (docs/logs.md)."""

from __future__ import annotations

from typing import Final

GAP: Final = "gap"
"""Something happened here, and it is not known what."""

KINDS: Final = {
    "start": "the process begins, with nothing of an earlier life",
    "recover": "the process comes back up, with what is on its disk",
    "end": "the process stops recording in an orderly way",
    "crash": "the process stops, as it says itself or as who watches it says",
    GAP: "something happened here, and it is not known what",
    "request": "a client asks: `name`, `arguments`",
    "indicate": "the client is told: `name`, `arguments`",
    "broadcast": "a client asks for the broadcast of `msg`",
    "deliver": "`msg` of `sender` is delivered to the client",
    "perform": "an act on the environment: `name`",
    "send": "`message` with `fields` is sent to the processes `receivers`",
    "receive": "`message` with `fields` is received from `from`",
    "handler": "the handler `name` is taken, with `arguments`",
    "timeout": "the timer `name` expires",
}
"""The kinds of lines, and what a line of each says."""
