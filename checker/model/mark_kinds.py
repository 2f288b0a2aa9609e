"""The kinds of marks: what the interpreter records of a step while it executes it."""

from __future__ import annotations

from enum import StrEnum


class MarkKind(StrEnum):
    HANDLER = "handler"  # args: process, then bound names
    BRANCH = "branch"
    SEND = "send"  # args: process, set of receivers, message
    RECEIVE = "receive"  # args: receiver, sender, message
    LOSE = "lose"  # args: sender, receiver, message, and the omitting process, if there is one
    REQUEST = "request"  # args: process, arguments of the request
    INDICATION = "indication"  # args: process, arguments of the indication
    CRASH = "crash"  # args: process, and the one that it dies with, if there is one
    COPY = "copy"  # args: sender, receiver, message: one copy of a multicast leaves
    PERFORM = "perform"  # args: process, its act on the environment
    POWER = "power"  # args: those of CRASH: the power fails
    WIPE = "wipe"  # args: those of CRASH: the disk is lost
    LEFT = "left"  # args: process, value; text: the variable of which the power leaves that value
    RECOVER = "recover"  # args: those of CRASH
    PAUSE = "pause"  # args: the process that is paused from now on, then as of CRASH
    RESUME = "resume"  # args: the process that goes on after a pause, then as of CRASH
    STORE = "store"  # args: process, value: a stable write that is an effect of its own
    SYNC = "sync"  # args: process; text: the variables that are on disk from now on
    FAIL_SYNC = "fail"  # args: process; text: the variables of a sync that fails
    TIMER = "timer"  # args: process, its key, if any; text: the timer, start or cancel before it
    TIMEOUT = "timeout"  # args: process, the key of the timer, if any; text: its name
    DETECT = "detect"  # args: process, then those of the indication that an oracle makes
    ALTERNATIVE = "alternative"  # args: process; text: the name of the alternative that it takes
    CHOICE = "choice"  # args: process (but for shared state), value; text: what starts with it
    COIN = "coin"  # args: process (where one draws), value; text: what is drawn by chance
    FORGE = "forge"  # args: Byzantine process, receiver, message
    PARTITION = "partition"  # args: the side of the network that is cut off
    HEAL = "heal"
    CUT = "cut"  # args: the two ends of a link as a set, or who sends and who receives
    MEND = "mend"  # args: those of CUT
    RESET = "reset"  # args: the two ends of a connection as a set
    DISCONNECT = "disconnect"  # args: process, the peer to which its connection is gone
    OMIT = "omit"  # args: the process that omits its first message
    FORESEE = "foresee"  # args: the process that will crash
    ASK = "ask"  # args: process, those of its request to an oracle; text: oracle.request
    SETTLE = "settle"  # args: the process that does not crash any more, if one is chosen
    TICK = "tick"  # args: the process whose clock ticks
    TICKS = "ticks"  # all clocks tick
    ROUND = "round"  # a round ends
    SYNCHRONY = "gst"  # the system is synchronous from now on
    MESSAGE = "message"  # a message of this type is sent; text: its name
    POINT = "point"  # a crash point: text names what it is between


WORLD = frozenset(
    map(
        MarkKind,
        "partition heal cut mend reset omit foresee ask settle tick ticks round gst".split(),
    )
)
"""Kinds of marks of the environment: no process acts."""

STOPS = frozenset((MarkKind.CRASH, MarkKind.POWER, MarkKind.WIPE))
"""Kinds of marks of what stops a process."""

FLIP = "flip()"
"""The text of the mark of a coin without a name."""
