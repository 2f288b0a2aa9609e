"""The kinds of lines of a log, and the fields that each of them has (docs/logs.md)."""

from __future__ import annotations

from typing import Final

GAP: Final = "gap"
"""Something happened here, and it is not known what."""

KINDS: Final = {
    "start": "the process starts, without earlier state",
    "recover": "the process recovers, with the state on its disk",
    "end": "the process ends its log normally",
    "crash": "the process stops, as recorded by itself or by a monitor",
    GAP: "unknown events happened here",
    "request": "a client's request: `name`, `arguments`, and perhaps the number of its `call`",
    "indicate": "an indication to the client: `name`, `arguments`, and perhaps `call`, `status`",
    "broadcast": "a client requests the broadcast of `msg`",
    "deliver": "`msg` of `sender` is delivered to the client",
    "perform": "an external action: `name`",
    "send": "`message` with `fields` is sent to the processes `receivers`",
    "receive": "`message` with `fields` is received from `from`",
    "handler": "the handler `name` is taken, with `arguments`",
    "timeout": "the timer `name` expires",
}
"""The kinds of lines, and what a line of each says."""
