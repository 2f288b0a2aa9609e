"""The words of the language by what they are, for colours; tests hold them to the grammar."""

from __future__ import annotations

DECLARATIONS = frozenset(
    "protocol interface object variant check role message uses property properties invariant state"
    " request indication operation procedure define const type import scenario implements requires"
    " returns of without init dies with mutant replace".split()
)
"""Words that begin or join declarations."""

MODIFIERS = frozenset("stable synced shared ghost may idempotent".split())

CONTROL = frozenset(
    "upon receive from condition timeout recover disconnected when at as if else then for while"
    " some choose either require let var skip perform atomic sync yield await return start after"
    " cancel send to all".split()
)
"""Words of handlers and statements."""

CLAUSES = frozenset(
    "faults links timing detector given clients prove expect allow points bound view over noise"
    " drift ever any most per process within holds crash by chance almost"
    " surely expected steps until least adversary fair strongly".split()
)
"""Words of checks, in addition to those of declarations."""

OPERATORS = frozenset(
    "and or not in subset prefix union intersect minus div mod forall exists always eventually"
    " initially linearizable sequentially_consistent regular safe".split()
)

TYPES = frozenset("bool Nat enum record map set seq bag option max Proc Msg".split())

CONSTANTS = frozenset("true false none self".split())

WORLD = frozenset(
    "crash recover omission byzantine partition cut reset perfect fifo lossy fair_loss connected"
    " stubborn duplicating persistent authenticated bounded asynchronous synchronous partial clocks"
    " between_handlers inside oracle unused holds violated vacuous states trace depth".split()
)
"""Names that mean something in a check only."""

GROUPS = {
    "declarations": DECLARATIONS,
    "modifiers": MODIFIERS,
    "control": CONTROL,
    "clauses": CLAUSES - WORLD,
    "operators": OPERATORS,
    "types": TYPES,
    "constants": CONSTANTS,
}
"""All groups of words that are coloured wherever they stand, none in two of them."""
