"""The cycle proviso: no cycle consists of certain actions alone.

A step of one of them *makes progress* where it sets what none of them ever sets back; where it does
not it takes a message, and sends none.  A cycle has no step that makes progress, so each of its
steps would leave fewer messages than there were.
"""

from __future__ import annotations

from checker.model import ir
from checker.model.ir import Apply, Const, Expr, Op
from checker.reductions.partial_order.access_sets import Access, AccessKind, accesses_of
from checker.reductions.partial_order.effects import Effects


def progressing(known: list[Effects]) -> list[bool]:
    """For each of the actions whether it belongs to a set that satisfies the proviso."""
    kept = list(range(len(known)))
    while True:
        several = [known[i] for i in kept]
        writes = [a for one in several for a in one.accesses if a.writes]
        taken = {a.variable for one in several for a in one.accesses if _takes(one, a)}
        staying = [i for i in kept if _goes(known[i], writes, taken)]
        if staying == kept:
            return [i in kept for i in range(len(known))]
        kept = staying


def may_progress(one: Effects) -> bool:
    """Whether the action satisfies the proviso alone; together with others it may not."""
    return progressing([one]) == [True]


def _goes(one: Effects, writes: list[Access], taken: set[str]) -> bool:
    """Whether each step of ``one`` makes progress, or takes more than it sends."""
    moves = [set(a.path) for a in one.accesses if a.sure and _moves_on(a, writes)]
    always = set(one.enabling)
    if any(path <= always for path in moves):
        return True
    if not any(_takes(one, a) for a in one.accesses):
        return False
    sends = [a for a in one.accesses if a.writes and a.variable in taken and a.grows is not False]
    return all(any(path <= set(a.path) for path in moves) for a in sends)


def _takes(one: Effects, access: Access) -> bool:
    """Whether it takes a present element, in every step."""
    if not (access.how is AccessKind.TAKE and access.sure and access.item is not None):
        return False
    if not set(access.path) <= set(one.enabling):
        return False
    for part in one.enabling:
        match part:
            case Apply(op=Op.IN, args=(item, _)) if item == access.item:
                if _is_of(part, access):
                    return True
    return False


def _is_of(literal: Expr, access: Access) -> bool:
    """Whether ``literal`` reads nothing but the entry of ``access``."""
    found = accesses_of(literal, True)
    return len(found) == 1 and (found[0].variable, found[0].keys) == (access.variable, access.keys)


def _moves_on(access: Access, writes: list[Access]) -> bool:
    """Whether it changes its entry, where its path holds, to what is never set back."""
    others = [w for w in writes if w.variable == access.variable]
    one_way = access.grows is not None and all(w.grows is access.grows for w in others)
    match access.how:
        case AccessKind.SHIFT:
            assert isinstance(access.item, Const)
            return one_way and access.item.value != 0
        case AccessKind.ADD:
            return one_way and any(_absent(part, access) for part in access.path)
        case AccessKind.SET:
            assert isinstance(access.item, Const)
            return any(_is_left_for_good(part, access, access.item, others) for part in access.path)
        case _:
            return False


def _absent(part: Expr, access: Access) -> bool:
    match part:
        case Apply(op=Op.NOT, args=(Apply(op=Op.IN, args=(item, _)) as inside,)):
            return item == access.item and _is_of(inside, access)
        case _:
            return False


def _is_left_for_good(part: Expr, access: Access, value: Const, others: list[Access]) -> bool:
    """Whether ``part`` implies that the entry holds another constant, one that is never set
    again.
    """
    before: object
    match part:
        case ir.Read() | ir.Index():
            entry, before = part, True
        case Apply(op=Op.NOT, args=(ir.Read() | ir.Index() as entry,)):
            before = False
        case Apply(op=Op.EQ, args=(entry, Const(_, before))):
            pass
        case _:
            return False
    if not isinstance(entry, ir.Read | ir.Index) or not _is_of(entry, access):
        return False
    if before == value.value:
        return False
    return all(
        w.how is AccessKind.SET
        and len(w.keys) == len(access.keys)
        and isinstance(w.item, Const)
        and w.item.value != before
        for w in others
    )
