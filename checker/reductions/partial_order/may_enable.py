"""May-enable: what may still happen, over-approximated by conditions over the present state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import TRUE, Apply, Const, Expr, Op, TransitionSystem
from checker.model.memo import Keeping, in_its_object
from checker.model.names import reads_in
from checker.model.node import Hashed, value_class
from checker.model.run_errors import can_fault
from checker.model.types import BOOL, BagT, IntT, MapT, SetT, cardinality, cardinality_up_to
from checker.records import replace
from checker.reductions.partial_order.access_sets import Access, AccessKind, accesses_of
from checker.reductions.partial_order.effects import Effects
from checker.reductions.partial_order.logic import (
    MANY,
    Binder,
    Case,
    is_known,
    key_of,
    may_be_same,
    some,
    substitute,
)

DEPTH = 2
"""The depth of the search for helping steps; beyond it everything may happen."""
MOST = 64
"""The maximum number of cases that are distinguished."""
EFFORT = 500
"""The maximum number of cases for one action; beyond it everything may happen."""

ANYTHING = Case((), ())

_Pair = tuple[tuple[Expr, ...], tuple[Binder, ...], tuple[Expr, ...]]


def may_change(look: Access, write: Access) -> bool:
    """Whether ``write`` may change what ``look`` reads, in the direction that matters."""
    if look.variable != write.variable:
        return False
    return look.up is None or write.grows is None or write.grows != look.up


def clash(a: Access, b: Access, system: TransitionSystem) -> tuple[Expr, ...] | None:
    """The conditions under which two accesses of different steps do not commute; ``None``:
    never.
    """
    if a.variable != b.variable or not (a.writes or b.writes):
        return None
    items = True
    if a.writes and b.writes:
        if not _writes_clash(a, b):
            return None
        type_ = system.variable(a.variable).type
        if {a.how, b.how} == {AccessKind.ADD, AccessKind.TAKE}:
            bounded = a.how is AccessKind.TAKE and _is_bounded(type_)
            takes = a if a.how is AccessKind.TAKE else b
            if not bounded and _in_bags(type_) and there(takes):
                return None
            items = not bounded
    else:
        look, write = (b, a) if a.writes else (a, b)
        if look.how is AccessKind.TEST and not may_change(look, write):
            return None
    return overlap(a, b, items)


def _writes_clash(a: Access, b: Access) -> bool:
    match a.how, b.how:
        case (AccessKind.ADD, AccessKind.ADD) | (AccessKind.TAKE, AccessKind.TAKE):
            return False
        case (AccessKind.SET, AccessKind.SET):
            return a.item != b.item or len(a.keys) != len(b.keys)
        case (AccessKind.SHIFT, AccessKind.SHIFT):
            return a.grows is not b.grows or len(a.keys) != len(b.keys)
        case _:
            return True


def there(access: Access) -> bool:
    """Whether what is taken is known to be present: a copy more or less does not matter then."""
    if not access.sure or access.item is None:
        return False
    for part in access.path:
        match part:
            case Apply(op=Op.IN, args=(item, _)) if item == access.item:
                found = accesses_of(part, True)
                places = [(look.variable, look.keys) for look in found]
                if places == [(access.variable, access.keys)]:
                    return True
    return False


def _in_bags(type_: object) -> bool:
    """Whether the collection that is taken from or added to is always a bag."""
    return isinstance(type_, BagT) or (isinstance(type_, MapT) and _in_bags(type_.value))


def _is_bounded(type_: object) -> bool:
    """Whether some bag in it has a bound that the spec sets."""
    if isinstance(type_, BagT):
        return type_.grows is None
    return isinstance(type_, MapT) and _is_bounded(type_.value)


_ELEMENTS = (AccessKind.ADD, AccessKind.TAKE)


def overlap(a: Access, b: Access, items: bool = True) -> tuple[Expr, ...]:
    """The conditions under which two accesses are to the same entry, and the same element of it."""
    parts = [may_be_same(k, m) for k, m in zip(a.keys, b.keys, strict=False)]
    if items and a.item is not None and b.item is not None and len(a.keys) == len(b.keys):
        looks_at = [x for x in (a, b) if not x.writes]
        changes = [x for x in (a, b) if x.writes]
        if all(x.how in _ELEMENTS for x in changes) and len(looks_at) <= 1:
            parts.append(may_be_same(a.item, b.item))
    return tuple(part for part in parts if part != TRUE)


def rename_bound(theirs: Effects, tag: str) -> Effects:
    """``theirs`` with all bound names renamed."""
    renaming = _Renaming(tag)
    binders, renamed = renaming.of(theirs.binders)
    accesses = tuple(renaming.access(access) for access in theirs.accesses)
    return replace(theirs, binders=binders, enabling=renamed(theirs.enabling), accesses=accesses)


class _Renamed(Keeping):
    """The renaming of what mentions ``binders``, which get another ``tag``."""

    def __init__(self, binders: tuple[Binder, ...], tag: str) -> None:
        super().__init__()
        self.meaning: dict[str, Expr] = {
            name: ir.Local(type_, name + tag) for name, type_ in binders
        }

    @in_its_object
    def of(self, node: Any) -> Any:
        if type(node) is tuple:
            return tuple([self.of(part) for part in node])
        return substitute(node, self.meaning)


class _Renaming(Keeping):
    """Appends ``tag`` to bound names; expressions that accesses share are renamed once."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag

    @in_its_object
    def of(self, binders: tuple[Binder, ...]) -> tuple[tuple[Binder, ...], Callable[[Any], Any]]:
        """Gives for some binders the renamed ones, and the renaming of what mentions them."""
        made = tuple((name + self.tag, type_) for name, type_ in binders)
        return made, _Renamed(binders, self.tag).of

    def access(self, access: Access) -> Access:
        _, renamed = self.of(access.binders)
        return self.entry(access).reached(renamed(access.path), access.how)

    def entry(self, access: Access) -> Access:
        """``access`` without its path."""
        binders, renamed = self.of(access.binders)
        item = None if access.item is None else renamed(access.item)
        keys = renamed(access.keys)
        return Access(access.variable, access.how, keys, item, access.up, (), binders, access.sure)


@value_class
class Write(Hashed):
    """A write of the action ``one``; ``apart``: with bound names that no other action has."""

    one: Effects
    access: Access
    apart: Access


class Writes(Keeping):
    """All writes of all actions, by their variables; ``renamed``: the actions with bound names of
    their own.
    """

    def __init__(self, everyone: list[Effects], renamed: list[Effects]) -> None:
        super().__init__()
        self.actions = len(everyone)
        self._to: dict[str, list[Write]] = {}
        for one, other in zip(everyone, renamed, strict=True):
            for access, apart in zip(one.accesses, other.accesses, strict=True):
                if access.writes:
                    self._to.setdefault(access.variable, []).append(Write(one, access, apart))

    def to(self, variable: str) -> list[Write]:
        return self._to.get(variable, [])

    def helping(self, literal: Expr) -> Iterator[tuple[Access, Write]]:
        """The writes that may make ``literal`` true, each with the access that it changes."""
        for look in accesses_of(literal, True):
            for write in self.to(look.variable):
                grows = write.access.grows
                same_way = look.up is None or grows is None or grows == look.up
                if same_way and not _sets_otherwise(literal, write.access):
                    yield look, write

    @in_its_object
    def is_open(self, literal: Expr) -> bool:
        """Whether a literal may become true, as far as is known; how bound names are called makes
        no difference.
        """
        if not is_known(literal) or can_fault(literal):
            return True
        return next(self.helping(literal), None) is not None


class Future:
    """The steps that may happen before any that does not commute with an instance of ``mine``.

    ``accesses``: of ``mine``, those of its fairness constraint included.  In a sequence of steps
    that do not all commute with the instance the first that does not is considered: those before
    it, which help to enable it, all commute.
    """

    def __init__(
        self,
        system: TransitionSystem,
        writes: Writes,
        mine: Effects,
        accesses: list[Access],
    ) -> None:
        self.system, self.mine, self.writes = system, mine, writes
        own = {name for name, _ in mine.binders}
        enabling = frozenset(key_of(part) for part in mine.enabling)
        self._fixed = [
            a
            for a in accesses
            if not a.writes
            and a.item is None
            and all(name in own for name, _ in a.binders)
            and all(key_of(part) in enabling for part in a.path)
        ]
        self._pairs: dict[int, list[_Pair]] = {}
        self._numbers = count(writes.actions + 1)  # those before are of all actions, renamed
        self.left = EFFORT

    def tag(self) -> str:
        """A suffix for fresh names."""
        return f"~{next(self._numbers)}"

    def all(self, path: tuple[Expr, ...], depth: int = DEPTH) -> list[Case]:
        """The cases in which all of ``path`` may hold at once, now or later."""
        cases = [ANYTHING]
        for literal in path:
            if self.left <= 0:
                break
            cases = self._product(cases, self.may(literal, depth))
        return cases

    def may(self, literal: Expr, depth: int) -> list[Case]:
        """The cases in which ``literal`` may hold, now or later."""
        if self.left <= 0 or not is_known(literal) or can_fault(literal):
            return [ANYTHING]
        match literal:
            case Apply(op=Op.OR, args=args):
                found = [case for arg in args for case in self.all((arg,), depth)]
                return [ANYTHING] if ANYTHING in found else found
        if not self.writes.is_open(literal):
            return [Case((), (literal,))]
        if depth == 0:
            return [ANYTHING]
        counted = self._count_joiners(literal, depth)
        if counted is not None:
            return [Case((), (counted,))]
        found = [Case((), (literal,))]
        for look, write in self.writes.helping(literal):
            found += self._comes(look, write, depth)
            if len(found) > MOST:
                return [ANYTHING]
        return [ANYTHING] if ANYTHING in found else found

    def _comes(self, look: Access, write: Write, depth: int) -> list[Case]:
        """The cases in which ``write`` may happen to the entry that ``look`` reads."""
        tag = self.tag()
        look, renaming = _Renaming(tag + "l").access(look), _Renaming(tag)
        now, others = renaming.entry(write.access), self._apart(write, tag)
        parts = (*overlap(look, now), *others)
        return [
            Case((*look.binders, *now.binders, *case.binders), (*parts, *case.parts))
            for case in self._enabling(write, renaming, depth - 1)
        ]

    def _enabling(self, write: Write, renaming: _Renaming, depth: int) -> list[Case]:
        """The cases in which all of the path of ``write``, renamed, may hold at once; at the end of
        the search only those of its literals are renamed that are closed.
        """
        _, renamed = renaming.of(write.access.binders)
        if depth:
            return self.all(renamed(write.access.path), depth)
        cases = [ANYTHING]
        for literal, alike in zip(write.access.path, write.apart.path, strict=True):
            if self.left <= 0:
                break
            if isinstance(alike, Apply) and alike.op is Op.OR:
                more = self.may(renamed(literal), depth)
            elif self.writes.is_open(alike):
                more = [ANYTHING]
            else:
                more = [Case((), (renamed(literal),))]
            cases = self._product(cases, more)
        return cases

    def _product(self, cases: list[Case], more: list[Case]) -> list[Case]:
        """The cases of both, which takes effort; ``cases`` alone where these are too many."""
        if len(cases) * len(more) > MOST:
            return cases
        if more != [ANYTHING]:
            cases = [
                Case((*a.binders, *b.binders), (*a.parts, *b.parts))
                for a, b in product(cases, more)
            ]
        self.left -= len(cases)
        return cases

    def _apart(self, write: Write, tag: str) -> list[Expr]:
        """The conditions on a step that commutes with the instance, and does ``write``."""
        at = id(write)
        if at not in self._pairs:
            self._pairs[at] = list(self._clashing(write.one, write.access))
        found = []
        for mine, binders, theirs in self._pairs[at]:
            keys = _Renaming(tag).of(binders)[1](theirs)
            equal = (Apply(BOOL, Op.EQ, pair) for pair in zip(mine, keys, strict=True))
            found.append(negation(conj(*equal)))
        return found

    def _clashing(self, one: Effects, write: Access) -> Iterator[_Pair]:
        """The entries that the instance reads, paired with those that any step with ``write``
        changes.
        """
        held = frozenset(key_of(part) for part in write.path)
        for other in one.accesses:
            if not (other.writes and other.sure) or other.how in _ELEMENTS:
                continue
            if other.binders != write.binders[: len(other.binders)]:
                continue
            for fixed in self._fixed:
                if fixed.variable != other.variable or len(fixed.keys) != len(other.keys):
                    continue
                if fixed.how is AccessKind.TEST and not may_change(fixed, other):
                    continue
                pairs = zip(fixed.keys, other.keys, strict=True)
                if other.keys and all(a.type == b.type for a, b in pairs):
                    if all(key_of(part) in held for part in other.path):
                        yield fixed.keys, other.binders, other.keys

    def _count_joiners(self, literal: Expr, depth: int) -> Expr | None:
        """The condition that a set may reach a threshold, counting the members that may still
        join.
        """
        match literal:
            case Apply(op=Op.LE | Op.LT as op, args=(least, Apply(op=Op.CARD, args=(of,)))):
                pass
            case Apply(op=Op.EQ, args=(Apply(op=Op.CARD, args=(of,)), least)):
                op = Op.LE
            case Apply(op=Op.EQ, args=(least, Apply(op=Op.CARD, args=(of,)))):
                op = Op.LE
            case _:
                return None
        if reads_in(least) or not isinstance(of.type, SetT):
            return None
        type_ = of.type.item
        if cardinality_up_to(type_, MANY + 1) > MANY:
            return None
        name = "_x" + self.tag()
        x = ir.Local(type_, name)
        match of:
            case ir.Comprehension(_, inner, ir.Members(of=source, item=kind), where, item):
                if reads_in((where, item)):
                    return None
                there = conj(where, Apply(BOOL, Op.EQ, (item, x)))
                now: Expr = ir.Quant(
                    ir.Quantifier.EXISTS, inner, ir.Members(source, kind), there, BOOL
                )
            case ir.Read() | ir.Index():
                source, inner, where, item = of, "", TRUE, TRUE
                now = Apply(BOOL, Op.IN, (x, of))
            case _:
                return None
        found = accesses_of(source, True)
        if not isinstance(source, ir.Read | ir.Index) or len(found) != 1:
            return None
        for one in self.writes.to(found[0].variable):
            write = one.access
            if write.grows is not False and (write.how is not AccessKind.ADD or write.item is None):
                return None
        joins = self._joining(found[0], inner, where, item, x, depth)
        total = ir.Quant(
            ir.Quantifier.COUNT,
            name,
            ir.Universe(type_),
            disj(now, joins),
            IntT(0, cardinality(type_)),
        )
        return Apply(BOOL, op, (least, total))

    def _joining(
        self, look: Access, inner: str, where: Expr, item: Expr, x: Expr, depth: int
    ) -> Expr:
        """The condition that ``x`` may join."""
        cases: list[Case] = []
        for write in self.writes.to(look.variable):
            if write.access.how is not AccessKind.ADD:
                continue
            tag = self.tag()
            renaming = _Renaming(tag)
            now, others = renaming.entry(write.access), self._apart(write, tag)
            assert now.item is not None
            joined = now.item if not inner else substitute(item, {inner: now.item})
            fits = TRUE if not inner else substitute(where, {inner: now.item})
            parts = (*overlap(look, now), may_be_same(joined, x), fits, *others)
            for case in self._enabling(write, renaming, depth - 1):
                cases.append(Case((*now.binders, *case.binders), (*parts, *case.parts)))
        self.left -= 10 * len(cases)
        return TRUE if self.left <= 0 else some(cases)


def _sets_otherwise(literal: Expr, write: Access) -> bool:
    """Whether ``write`` sets a constant under which ``literal``, an equality, does not hold."""
    if write.how is not AccessKind.SET or not isinstance(write.item, Const):
        return False
    wanted, one = True, literal
    if isinstance(one, Apply) and one.op is Op.NOT:
        wanted, one = False, one.args[0]
    if not (isinstance(one, Apply) and one.op is Op.EQ):
        return False
    for entry, value in (one.args, one.args[::-1]):
        if isinstance(value, Const) and isinstance(entry, ir.Read | ir.Index):
            keys = 0
            whole: Expr = entry
            while isinstance(whole, ir.Index):
                keys, whole = keys + 1, whole.base
            if isinstance(whole, ir.Read) and whole.variable == write.variable:
                if keys == len(write.keys) and entry.type == write.item.type:
                    return (value.value == write.item.value) is not wanted
    return False
