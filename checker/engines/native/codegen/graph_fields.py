"""The record of a graph query, shared by native code and Python: 64-bit words.

A graph has states, numbered from 0, and edges in compressed rows: the edges of state ``s`` are
those from ``START[s]`` up to ``START[s + 1]``.  Each leads to a state (or out of the graph: to
``NONE``) and takes a constraint (0: none).

An automaton reads the letters of states.  Number ``copy * STATES + state`` is a *node*: the
automaton is in state ``copy`` when it has read ``state``.  The trivial automaton has one copy.
"""

from __future__ import annotations

from enum import IntEnum

NONE = 0xFFFFFFFF

WEAK, STRONG = 1, 2
"""The kinds of constraints."""


class QueryField(IntEnum):
    """Words of the record: numbers, or addresses (*)."""

    STATES = 0
    START = 1  # * 64 bits for each state, and one more
    TARGETS = 2  # * 32 bits for each edge
    LABELS = 3  # * 32 bits for each edge
    COPIES = 4
    LETTERS = 5  # * 16 bits for each state
    ALPHABET = 6  # how many letters there are
    WAYS = 7  # * 32 bits for copy * ALPHABET + letter, and one more: begin in NEXT
    NEXT = 8  # * 32 bits: copies that the automaton goes to
    MEMBER = 9  # * a byte for each node: see Member
    INDEX = 10  # * 32 bits for each node: order of visits; of a FAIR node: its component
    STACK = 11  # * 32 bits for each node
    FRAME_NODE = 12  # * 32 bits for each node
    FRAME_LOW = 13  # * 32 bits for each node
    FRAME_EDGE = 14  # * 64 bits for each node
    FRAME_WAY = 15  # * 32 bits for each node
    KINDS = 16  # * a byte for each constraint: 1 weak, 2 strong
    TAKEN = 17  # * 32 bits for each constraint: the component in which an edge takes it
    COUNTED = 18  # * 32 bits for each constraint: the component that COUNT is about
    COUNT = 19  # * 32 bits for each constraint: nodes in which it is enabled
    LAST = 20  # * 64 bits for each constraint: the last visit that saw it enabled
    TOUCHED = 21  # * 32 bits for each constraint: those that the component knows
    STATE_BITS = 22  # * 64 bits for each state: justice conditions that hold there
    COPY_BITS = 23  # * 64 bits for each copy: accepting sets it is in
    REQUIRED_BITS = 24  # the bits of both that a fair component has to have
    LEFT = 25  # * 32 bits for each node: those to judge again
    LEFT_COUNT = 26
    COMPONENT = 27  # number of the last component
    VISIT = 28  # number of the last visit
    FAIR = 29  # fair components found
    QUEUE = 30  # * 32 bits for each node
    QUEUED = 31
    SEEN = 32  # * 32 bits for each node: the last search that reached it
    SPREADING = 33
    INSIDE = 34  # only nodes of this component are reached (0: all)
    OUT = 35  # * 32 bits for each node: results
    ENDS = 36  # * a byte for each state: 1 where an execution may stay forever
    STAYS = 37  # * a byte for copy * ALPHABET + letter: 1 where the automaton accepts staying
    WANTED = 38  # * a byte for each constraint: 1 to take it, 2 to take it or find it disabled
    WANTED_COUNT = 39  # how many of WANTED are 2
    WANTED_BITS = 40  # bits, any of which is wanted
    WORDS = 41


class Member(IntEnum):
    """The role of a node in the search for fair components."""

    OUTSIDE = 0
    CANDIDATE = 1
    FAIR = 2
    AGAIN = 3
    HERE = 4  # in the component that is being judged
