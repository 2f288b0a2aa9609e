"""The fairness constraints as native code: numbers for the constraints of instances.

A constraint is a group and the values of a key.  As a row of words it is the number of the group,
then the code of the key.  Rows are interned, compared as a whole; a constraint's number is its
position counted from 1, and 0 means that there is no constraint.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.convert import unify
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.expressions import lower
from checker.engines.native.codegen.fields import Worker
from checker.engines.native.codegen.frame import Frame
from checker.engines.native.codegen.packing import decode, width
from checker.engines.native.codegen.record_access import address, get, put
from checker.engines.native.codegen.visited_set import OUTSIDE, Rows
from checker.model.interpreter import Constraint
from checker.model.ir import FALSE, Action, Fairness, FairnessKind, TransitionSystem, fairness_of
from checker.model.types import Type
from checker.reductions.dead_variables.messages import says_all

WORD = 64


class ConstraintGroup(Struct, frozen=True):
    """Constraints of one name whose keys have as many values, of these types."""

    name: str
    types: tuple[Type, ...]
    kind: FairnessKind


class ConstraintLayout:
    """The groups of a system, and the words of a row."""

    def __init__(self, system: TransitionSystem) -> None:
        found: dict[tuple[str, int], ConstraintGroup] = {}
        members: Counter[tuple[str, int]] = Counter()
        for action in system.actions:
            if action.promised == FALSE:
                continue
            fairness = fairness_of(action)
            types = tuple(key.type for key in fairness.key)
            members[fairness.group, len(types)] += 1
            old = found.get((fairness.group, len(types)))
            if old is not None:
                types = tuple(unify(a, b) for a, b in zip(old.types, types, strict=True))
            found[fairness.group, len(types)] = ConstraintGroup(
                fairness.group, types, fairness.kind
            )
        self.groups = tuple(found.values())
        self._numbers = {which: i for i, which in enumerate(found)}
        self._members = [members[which] for which in found]
        bits = max((sum(map(width, group.types)) for group in self.groups), default=0)
        self.words = 1 + -(-bits // WORD)

    def alone(self, action: Action) -> bool:
        """Whether each instance of ``action`` with a fairness constraint has one of its own."""
        fairness = fairness_of(action)
        if self._members[self.number(fairness)] > 1:
            return False
        return all(says_all(fairness.key, param) for param in action.params)

    def number(self, fairness: Fairness) -> int:
        """The number of a constraint's group."""
        return self._numbers[fairness.group, len(fairness.key)]

    def store(self, frame: Frame, action: Action, row: Val) -> None:
        """Emits the row of the constraint of an instance of ``action`` whose parameters are
        bound.
        """
        fn, fairness = frame.fn, fairness_of(action)
        which = self.number(fairness)
        types = self.groups[which].types
        parts = []
        for key, type_ in zip(fairness.key, types, strict=True):
            value = frame.adapt(lower(frame, key), key.type, type_)
            parts.append(c.to_code(fn, type_, value))
        whole = c.concatenate(fn, parts, max(1, sum(map(width, types))))
        fn.store(const(which), row)
        for i in range(self.words - 1):
            shift = i * WORD
            word = const(0)
            if parts and shift < whole.bits:
                word = fn.resize(fn.lshr(whole, const(shift, whole.bits)), WORD)
            fn.store(word, fn.at(row, i + 1))

    def decode(self, row: tuple[int, ...]) -> Constraint:
        """The constraint that has this row."""
        group = self.groups[row[0]]
        code = sum(word << i * WORD for i, word in enumerate(row[1:]))
        values = []
        for type_ in reversed(group.types):
            bits = width(type_)
            values.append(decode(type_, code & (1 << bits) - 1))
            code >>= bits
        return Constraint(group.name, tuple(reversed(values)))


class Interning:
    """Native code that numbers rows: a table of each worker's own."""

    def __init__(self, plan: ConstraintLayout) -> None:
        self.rows = Rows(plan.words, "key_")

    def functions(self) -> list[Fn]:
        return [self.rows.fingerprint(), self.intern(), self.rekey()]

    def intern(self) -> Fn:
        """``intern(worker, row)``: the number of a constraint; where there is no room, OVERFLOW."""
        fn = Fn("intern", [("worker", 0), ("row", 0)], 32, OUTSIDE)
        worker, row = fn.args
        place = self._place(fn, worker, row)
        count = get(fn, worker, Worker.KEY_COUNT)
        with fn.if_(fn.lt(get(fn, worker, Worker.KEY_MASK), fn.shl(count, const(1)))):
            put(fn, worker, Worker.OVERFLOW, const(1))
            fn.ret(const(0, 32))
        self.rows.copy(fn, row, self.rows.row(fn, address(fn, worker, Worker.KEYS), count))
        more = fn.add(count, const(1))
        put(fn, worker, Worker.KEY_COUNT, more)
        fn.store(fn.resize(more, 32), place)
        fn.ret(fn.resize(more, 32))
        return fn

    def _place(self, fn: Fn, worker: Val, row: Val) -> Val:
        """A free slot for a row; the function returns its number where it is known."""
        table = address(fn, worker, Worker.KEY_TABLE)
        mask, keys = get(fn, worker, Worker.KEY_MASK), address(fn, worker, Worker.KEYS)
        mark = fn.call(self.rows.name("fingerprint"), [row], 64)
        index = fn.var(fn.and_(mark, mask))
        with fn.forever() as free:
            place = fn.at(table, index.get(), 32)
            number = fn.load(place, 32)
            fn.leave_if(fn.eq(number, const(0, 32)), free)
            known = fn.sub(fn.resize(number, 64), const(1))
            with fn.if_(self.rows.same(fn, self.rows.row(fn, keys, known), row)):
                fn.ret(number)
            index.set(fn.and_(fn.add(index.get(), const(1)), mask))
        return fn.at(table, index.get(), 32)

    def rekey(self) -> Fn:
        """``rekey(worker)``: fills a larger table from the rows."""
        fn = Fn("rekey", [("worker", 0)], None)
        (worker,) = fn.args
        table, mask = address(fn, worker, Worker.KEY_TABLE), get(fn, worker, Worker.KEY_MASK)
        keys = address(fn, worker, Worker.KEYS)
        with fn.count(get(fn, worker, Worker.KEY_COUNT)) as i:
            mark = fn.call(self.rows.name("fingerprint"), [self.rows.row(fn, keys, i)], 64)
            index = fn.var(fn.and_(mark, mask))
            with fn.forever() as free:
                place = fn.at(table, index.get(), 32)
                fn.leave_if(fn.eq(fn.load(place, 32), const(0, 32)), free)
                index.set(fn.and_(fn.add(index.get(), const(1)), mask))
            number = fn.resize(fn.add(i, const(1)), 32)
            fn.store(number, fn.at(table, index.get(), 32))
        fn.ret()
        return fn
