"""The records that native code and Python share: arrays of 64-bit words.

``Context`` is read by all workers, written only while none of them runs.  Each worker has its own
``Worker`` record.  ``RecordLayout`` places the parts whose size depends on the system.

A *best* record is a count (0 or 1), a fingerprint and the words of a state: the state with the
smallest fingerprint, then the smallest words, among those that were noted.
"""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

MAX_WORKERS = 64
LOCAL_BITS = 34
BATCH = 256

STOP = "stop"
"""The name of a word of each module: not 0 where the work under way is to be stopped."""
LINE = 8
"""Slots of the visited set in a cache line: they are compared all at once."""
KEY_BITS = 63
"""Bits of the second fingerprint that a slot of the visited set has room for."""


class Context(IntEnum):
    """Words of the shared record; from ``ROWS`` on one word for each worker."""

    TABLE = 0  # address of the visited set
    SLOTS = 1  # how many it has
    LEVEL = 2  # level of the successors, shifted to its place in a key (0 where there is none)
    VALS = 3  # address of the numbers of the states by slot (W = 1, for the graph of steps)
    START = 4  # address of 64 bits for each state: its first edge
    TARGETS = 5  # address of 32 bits for each edge: the number of the state it leads to
    LABELS = 6  # address of 32 bits for each edge: the constraint it takes, or 0
    WHOLE = 7  # not 0: every step of every state is taken, even where one is enough
    NO_ENDS = 8  # not 0: nobody asks in which states executions may end
    FOLD = 9  # address of the record of folded rows (see folded_set.py); 0: rows are whole
    NARROW = 10  # address of the record of a table of 32-bit slots (see narrow_set.py)
    ROWS = 16  # address of each worker's rows
    NEXT_START = 16 + MAX_WORKERS  # where the next level starts among each worker's rows
    PREFIX = 16 + 2 * MAX_WORKERS  # number of each worker's first row
    FLAGS = 16 + 3 * MAX_WORKERS  # for each property: premise known; then: violation known


class Worker(IntEnum):
    """Words of a worker's record."""

    ID = 0
    COUNT = 1  # rows in use
    CAP = 2  # rows that may be used
    BATCH = 3  # address of BATCH rows; in a shard of as many more, which others own
    HASHES = 4  # address of a word for each of these rows
    PENDING = 5  # rows in the batch
    MODE = 6
    TRANSITIONS = 7
    ENDS = 8
    PROGRESS = 9  # of the state under expansion: it is known to be no admissible end
    FAULTED = 10  # of the state under expansion: some way has a runtime error
    CURRENT = 11  # position of the state under expansion
    STARTED = 12  # TRANSITIONS before the state under expansion
    SAFE = 13  # all successors of the states before this one are in the visited set
    SAFE_TRANSITIONS = 14
    SAFE_ENDS = 15
    OVERFLOW = 16  # there was no room for a new state
    BACK = 17  # some successor is not in the next level
    FOUND = 18  # NEWCOMERS: some successor is not in the visited set
    TARGET = 19  # PARENTS: address of the row looked for; WALK, STEPS: of a record
    SOURCE = 20  # address of the state under expansion
    TAPE = 21  # more nested choices than there is room for
    LOST = 22  # a property could not be evaluated
    BATCH_LABELS = 23  # address of BATCH times 32 bits: constraints of the successors
    EDGES = 24  # position of the next edge
    KEYS = 25  # address of the constraints' rows
    KEY_COUNT = 26
    KEY_TABLE = 27  # address of 32 bits for each slot
    KEY_MASK = 28  # slots - 1
    SHARD = 29  # the part of all states that this worker owns
    SHARDS = 30  # how many parts there are
    OUT = 31  # address of OUT_CAP rows for each shard: successors on their way there
    OUT_CAP = 32
    OUT_COUNTS = 33  # address of a word for each shard: its rows in OUT
    SENT = 34  # address of SENT_MASK + 1 entries: a stamp, then the words of a state
    SENT_MASK = 35
    STAMP = 36  # entries of SENT with another stamp are void
    KEEP = 37  # ROUTE: own new states go into the visited set, and not out
    OUT_SOURCES = 38  # ASK: address of 32 bits for each row in OUT: the row that it comes from
    TURNED = 39  # some step leads to another state of the same orbit
    LONE = 40  # 63 for each state in which one step was enough, less 1 for each other one
    SAFE_LONE = 41
    LEFT = 42  # of the state under expansion: groups with an instance that leads elsewhere only
    STAYED = 43  # the same: groups with an instance that leads to the state itself
    CONSTRAINT_KEY = 44  # ENDS: address of the row of a constraint
    CONSTRAINT_SKIP = 45  # ENDS: the number passed over until one is searched for; NOTHING: none is
    CONSTRAINT_FOUND = 46  # ENDS: it was found
    STOPPED = 47  # the state under expansion was abandoned before it was done
    OUT_LABELS = 48  # LINK: address of 32 bits for each row in OUT: the constraint of the step
    BEYOND = 49  # states beyond a bound of the check
    SAFE_BEYOND = 50
    LAST = 51  # folded rows: address of the last row, then of the numbers of its nodes, 32 bits
    KNOWN = 52  # LAST is complete
    ROOT = 53  # the root of the row that was folded last
    NODE = 54  # the number of the next node
    NODE_END = 55  # the end of the nodes that may be made
    CROWDED = 56  # a new state finds no free slot near enough (see narrow_set.py)
    MARKS = 57  # bit set; what follows is placed by Shape


class Mode(IntEnum):
    """What is done with successors."""

    SEARCH = 0  # into the visited set
    PARENTS = 1  # note the states that have TARGET as a successor
    NEWCOMERS = 2  # is there a state that is not in the visited set
    EDGES = 3  # write the edges with their constraints
    ROUTE = 4  # to the shard that owns them
    ASK = 5  # all of them to the shard that owns them, with their sources
    ENDS = 6  # nothing: only fairness constraints are checked (see admissible_ends.py)
    WALK = 7  # one of them is drawn (see walk_loop.py)
    STEPS = 8  # all of one state are kept (see steps_loop.py)
    LINK = 9  # like ASK, with the constraint that each takes, and steps that leave it as it is


class RecordLayout(Struct, frozen=True):
    """Offsets for ``words`` words per state, ``marks`` marks and ``properties`` properties."""

    words: int
    marks: int
    properties: int

    @property
    def context_words(self) -> int:
        return Context.FLAGS + 2 * self.properties

    @property
    def premise(self) -> int:
        """First of the flags: premise held."""
        return Worker.MARKS + -(-self.marks // 64)

    def best(self, which: int) -> int:
        """Best record of property ``which``; after them ``fault``, ``parent`` and ``lost``."""
        return self.premise + self.properties + which * (2 + self.words)

    @property
    def fault(self) -> int:
        """Best record of the states with a runtime error."""
        return self.best(self.properties)

    @property
    def parent(self) -> int:
        """Best record of the states that have TARGET as a successor."""
        return self.best(self.properties + 1)

    @property
    def unevaluable(self) -> int:
        """Best record of the states in which a property can't be evaluated."""
        return self.best(self.properties + 2)

    @property
    def worker_words(self) -> int:
        return self.best(self.properties + 3)
