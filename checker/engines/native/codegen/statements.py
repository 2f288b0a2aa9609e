"""Lowers bodies to code: every way that the choices can go ends in a commit.

A choice at the top level of a body becomes a loop around the rest of the body.  Choices inside
``If``, ``For`` and ``While`` use a tape: the rest of the body is run repeatedly, each time with the
next combination of choices, as an odometer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import assert_never

from msgspec import Struct

from checker.engines.native.codegen import state_access
from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.domains import each, member_type
from checker.engines.native.codegen.emit import FALSE, Label, Val, Var, const
from checker.engines.native.codegen.expressions import (
    key_index,
    locate,
    lower,
    lower_as,
    lower_source,
)
from checker.engines.native.codegen.frame import Frame, Slot
from checker.engines.native.codegen.packing import has_set, width
from checker.model import ir
from checker.model import types as t
from checker.model.ir import Block, Stmt
from checker.model.tree import loop_carried, statements
from checker.results.answer import Unsupported

TAPE = 1024
"""The maximum number of nested choices of one way."""


class Tape(Struct, frozen=True):
    """The odometer: position and number of possibilities of each choice made so far."""

    index: Val
    arity: Val
    length: Var
    position: Var


class Before(Struct, frozen=True):
    """The data that one way must not leave to the next: the state, slots and marks at a fork."""

    state: Val | None
    slots: tuple[tuple[Slot, Val], ...]
    marks: tuple[Val, ...]


class Memory(Struct, frozen=True):
    """The state and slots at the beginning of an earlier iteration of a loop."""

    state: Val | None
    slots: tuple[tuple[Slot, Var], ...]


class Ways:
    """Emits all ways of a body.

    ``work`` is where the successor is built, ``commit`` emits what is done with it (its argument:
    whether anything was assigned), ``on_fault`` what is done about an error, ``marks`` are the bit
    sets of the marks passed on the way (number 0: of marks 0 to 63, and so on), ``overflow`` emits
    what is done if the tape is full.
    """

    def __init__(
        self,
        frame: Frame,
        work: Val,
        marks: Mapping[int, Var],
        commit: Callable[[bool], None],
        on_fault: Callable[[], None],
        on_overflow: Callable[[], None],
    ) -> None:
        self.frame, self.fn = frame, frame.fn
        self.source, self.work = frame.state, work
        self.marks = marks
        self.commit, self.on_fault, self.on_overflow = commit, on_fault, on_overflow
        self.dirty = False
        self.tape: Tape | None = None
        self.following: Label | None = None

    def run(self, block: Block) -> None:
        """Emits ``block`` from the state that the frame reads; all ways continue behind it."""
        end = self.fn.label()
        for mark in self.marks.values():
            mark.set(const(0))
        names = dict(self.frame.names)
        with self._way(end):
            self._rest(block)
        self.frame.names = names
        self.fn.place(end)

    @contextmanager
    def _way(self, following: Label) -> Iterator[None]:
        """Emits one way (or several): errors in the block are noted and continue with
        ``following``.
        """
        fault, before = self.fn.label(), (self.following, self.dirty, self.frame.state)
        self.following = following
        with self.frame.faulting(fault):
            yield
        self.fn.jump(following)
        self.fn.place_fresh(fault)
        self.on_fault()
        self.fn.jump(following)
        self.following, self.dirty, self.frame.state = before

    def _rest(self, block: Block) -> None:
        for i, stmt in enumerate(block):
            if self.tape is None and isinstance(stmt, ir.Choose):
                self._fork(stmt, block[i + 1 :])
                return
            if self.tape is None and chooses(stmt):
                self._on_tape(block[i:])
                return
            self._statement(stmt)
        self.commit(self.dirty)

    # -- forks ----------------------------------------------------------------------------------

    def _before(self) -> Before:
        state = None
        if self.dirty:
            state = self.fn.alloca(64, self.frame.layout.words)
            self._copy(self.work, state)
        slots = tuple(
            (slot, slot.var.get()) for slot in self.frame.names.values() if isinstance(slot, Slot)
        )
        return Before(state, slots, tuple(mark.get() for mark in self.marks.values()))

    def _restore(self, before: Before) -> None:
        if before.state is not None:
            self._copy(before.state, self.work)
        for slot, value in before.slots:
            slot.var.set(value)
        for mark, value in zip(self.marks.values(), before.marks, strict=True):
            mark.set(value)

    def _copy(self, have: Val, want: Val) -> None:
        fn = self.fn
        for i in range(self.frame.layout.words):
            fn.store(fn.load(fn.at(have, i), 64), fn.at(want, i))

    def _fork(self, stmt: ir.Choose, rest: Block) -> None:
        source = lower_source(self.frame, stmt.domain)
        self._try_all(stmt, source)
        before, names = self._before(), dict(self.frame.names)
        with each(self.fn, stmt.domain, source) as (value, following):
            with self._way(following):
                self._restore(before)
                self._filter(stmt, value, following)
                self.frame.assign(stmt.name, member_type(stmt.domain), value)
                self._rest(rest)
            self.frame.names = dict(names)

    def _filter(self, stmt: ir.Choose, value: Val, otherwise: Label) -> None:
        with self.frame.bound(stmt.name, member_type(stmt.domain), value):
            self.fn.leave_if(self.fn.not_(lower(self.frame, stmt.where)), otherwise)

    def _try_all(self, stmt: ir.Choose, source: Val | None) -> None:
        """Handles an error in ``where``: for any member it removes all members."""

        def attempt() -> Val:
            with each(self.fn, stmt.domain, source) as (value, following):
                self._filter(stmt, value, following)
            return FALSE

        captured = self.fn.capture(attempt)
        if captured.mentions(self.frame.fault):
            self.fn.append(captured)

    # -- the tape -------------------------------------------------------------------------------

    def _on_tape(self, block: Block) -> None:
        fn = self.fn
        tape = Tape(fn.alloca(64, TAPE), fn.alloca(64, TAPE), fn.var(const(0)), fn.var(const(0)))
        before = self._before()
        head, following, done = fn.label(), fn.label(), fn.label()
        fn.place(head)
        tape.position.set(const(0))
        with self._way(following):
            self._restore(before)
            self.tape = tape
            self._rest(block)
            self.tape = None
        fn.place_fresh(following)
        fn.stop_if_told()
        with fn.forever():
            count = tape.length.get()
            fn.leave_if(fn.eq(count, const(0)), done)
            last = fn.sub(count, const(1))
            later = fn.add(fn.load(fn.at(tape.index, last), 64), const(1))
            fn.store(later, fn.at(tape.index, last))
            fn.leave_if(fn.lt(later, fn.load(fn.at(tape.arity, last), 64)), head)
            tape.length.set(last)
        fn.place(done)

    def _take(self, stmt: ir.Choose, tape: Tape) -> None:
        """Takes the choice at this way's position of the tape."""
        fn, total = self.fn, self.fn.var(const(0))
        assert self.following is not None
        source = lower_source(self.frame, stmt.domain)
        with each(fn, stmt.domain, source) as (value, following):
            self._filter(stmt, value, following)
            total.set(fn.add(total.get(), const(1)))
        count, turn = total.get(), fn.var(const(0))
        fn.leave_if(fn.eq(count, const(0)), self.following)
        with fn.if_(fn.ne(count, const(1))):
            position = tape.position.get()
            with fn.if_(fn.eq(position, tape.length.get())):
                with fn.if_(fn.eq(position, const(TAPE))):
                    self.on_overflow()
                    fn.jump(self.following)
                fn.store(const(0), fn.at(tape.index, position))
                fn.store(count, fn.at(tape.arity, position))
                tape.length.set(fn.add(position, const(1)))
            turn.set(fn.load(fn.at(tape.index, position), 64))
            tape.position.set(fn.add(position, const(1)))
        found = fn.label()
        with each(fn, stmt.domain, source) as (value, following):
            self._filter(stmt, value, following)
            left = turn.get()
            turn.set(fn.sub(left, const(1)))
            fn.leave_if(fn.ne(left, const(0)), following)
            self.frame.assign(stmt.name, member_type(stmt.domain), value)
            fn.jump(found)
        fn.place(found)

    # -- single statements ----------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for stmt in block:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        fn, frame = self.fn, self.frame
        if not self.dirty and writes(stmt):
            self._copy(self.source, self.work)
            self.dirty, frame.state = True, self.work
        match stmt:
            case ir.Assign(target, value):
                self._assign(target, value)
            case ir.Declare(name, type_, value):
                frame.assign(name, type_, lower_as(frame, value, type_))
            case ir.If(condition, then, otherwise):
                bit = lower(frame, condition)
                fn.if_else(bit, lambda: self._block(then), lambda: self._block(otherwise))
            case ir.For():
                self._for(stmt)
            case ir.While():
                self._while(stmt)
            case ir.Choose():
                assert self.tape is not None
                self._take(stmt, self.tape)
            case ir.Assume(condition):
                assert self.following is not None
                fn.leave_if(fn.not_(lower(frame, condition)), self.following)
            case ir.Fault():
                fn.jump(frame.fault)
            case ir.Mark(mark, args):
                for arg in args:
                    lower(frame, arg)
                var = self.marks[mark // 64]
                var.set(fn.or_(var.get(), const(1 << mark % 64)))
            case ir.Emit():
                raise Unsupported("effects have to be lowered before they are compiled")
            case _:
                assert_never(stmt)

    def _for(self, stmt: ir.For) -> None:
        source_expr = ir.domain_source(stmt.domain)
        if source_expr is not None and isinstance(source_expr.type, t.BagT):
            if has_set(source_expr.type.item) and not stmt.any_order:
                raise Unsupported("a loop over a bag of items with sets")
        source = lower_source(self.frame, stmt.domain)
        with each(self.fn, stmt.domain, source) as (value, _):
            self.frame.assign(stmt.name, member_type(stmt.domain), value)
            self._block(stmt.body)

    def _while(self, stmt: ir.While) -> None:
        fn, rounds = self.fn, self.fn.var(const(0))
        every: tuple[Memory, ...] = ()
        memory: Memory | None = None
        if stmt.grows is not None:
            handed = loop_carried(stmt)
            every = tuple(self._memory(handed) for _ in range(stmt.limit))
        elif any(chooses(s) for s in stmt.body):
            memory = self._memory(self.frame.names)
        with fn.forever() as done:
            fn.leave_if(fn.not_(lower(self.frame, stmt.condition)), done)
            now = rounds.get()
            self._leave_at_repetition(every, now)
            self.frame.fault_if(fn.le(const(stmt.limit), now))
            if memory is not None:
                self._refuse_repetition(memory, now)
            rounds.set(fn.add(now, const(1)))
            with fn.rounds(stmt.limit):
                self._block(stmt.body)

    def _memory(self, names: Container[str]) -> Memory:
        """Room for the beginning of an earlier iteration of a loop: the state and the declared
        slots, of these ``names``.
        """
        state = self.fn.alloca(64, self.frame.layout.words) if self.dirty else None
        mine = [slot for name, slot in self.frame.names.items() if name in names]
        slots = [slot for slot in mine if isinstance(slot, Slot)]
        return Memory(state, tuple((slot, self.fn.var(slot.var.get())) for slot in slots))

    def _leave_at_repetition(self, memories: tuple[Memory, ...], now: Val) -> None:
        """Discards a way whose iteration begins as one of the ``memories``: it adds nothing."""
        fn = self.fn
        assert self.following is not None
        for number, memory in enumerate(memories):
            earlier = fn.lt(const(number), now)
            fn.leave_if(fn.and_(earlier, self._as_in(memory)), self.following)
            with fn.if_(fn.eq(const(number), now)):
                self._keep(memory)

    def _as_in(self, memory: Memory) -> Val:
        """Whether the state and slots are those kept in ``memory``."""
        fn, same = self.fn, const(1, 1)
        if memory.state is not None:
            for i in range(self.frame.layout.words):
                ours = fn.load(fn.at(self.work, i), 64)
                same = fn.and_(same, fn.eq(ours, fn.load(fn.at(memory.state, i), 64)))
        for slot, kept in memory.slots:
            same = fn.and_(same, fn.eq(slot.var.get(), kept.get()))
        return same

    def _keep(self, memory: Memory) -> None:
        if memory.state is not None:
            self._copy(self.work, memory.state)
        for slot, kept in memory.slots:
            kept.set(slot.var.get())

    def _refuse_repetition(self, memory: Memory, now: Val) -> None:
        """Reports an iteration that begins as an earlier one, which could continue forever, as an
        error.

        It is compared with the last one whose number is a power of two (Brent 1980).
        """
        fn = self.fn
        with fn.if_(fn.ne(now, const(0))):
            self.frame.fault_if(self._as_in(memory))
        with fn.if_(fn.eq(fn.and_(now, fn.sub(now, const(1))), const(0))):
            self._keep(memory)

    def _assign(self, target: ir.Target, expr: ir.Expr) -> None:
        fn, frame = self.fn, self.frame
        if self._set_bit(target, expr):
            return
        value = lower_as(frame, expr, target.type)
        if not target.is_state:
            slot = frame.names[target.name]
            assert isinstance(slot, Slot)
            code = c.to_code(fn, slot.type, slot.var.get())
            code = self._update(slot.type, code, target.path, target.type, value)
            slot.var.set(c.from_code(fn, slot.type, code))
            return
        place = state_access.spot(fn, frame.layout.node(target.name), const(0))
        path = target.path
        while path:
            match path[0], place.type:
                case (ir.Pos(position), _):
                    inner = state_access.item(fn, place, position)
                case (ir.Key(key), t.MapT() as type_) if not isinstance(place, state_access.Words):
                    inner = state_access.entry(fn, place, key_index(frame, key, type_.key))
                case _:
                    inner = None
            if inner is None:
                break
            place, path = inner, path[1:]
        old = state_access.load(fn, frame.state, place) if path else const(0, width(place.type))
        code = self._update(place.type, old, path, target.type, value)
        state_access.store(fn, frame.state, place, code)

    def _update(
        self, type_: t.Type, code: Val, path: tuple[ir.Key | ir.Pos, ...], have: t.Type, value: Val
    ) -> Val:
        """``code`` of ``type_`` with the part that ``path`` leads to replaced by ``value``."""
        fn = self.fn
        if not path:
            return c.to_code(fn, type_, self.frame.adapt(value, have, type_))
        match path[0], type_:
            case (ir.Pos(position), t.TupleT(items)):
                inner = items[position]
                shift = const(sum(width(i) for i in items[position + 1 :]))
            case (ir.Key(key), t.MapT() as map_type):
                inner = map_type.value
                shift = c.entry_shift(fn, map_type, key_index(self.frame, key, map_type.key))
            case (ir.Key(key), t.SeqT() as seq_type):
                inner = seq_type.item
                index = lower(self.frame, key)
                outside = fn.not_(fn.lt(index, c.length(fn, seq_type, code)))
                self.frame.fault_if(outside)
                shift = c.slot_shift(fn, seq_type, index)
            case step, _:
                raise AssertionError(f"no step {step} into {type_}")
        old = fn.resize(fn.lshr(code, shift), width(inner))
        return c.replace_bits(fn, code, shift, self._update(inner, old, path[1:], have, value))

    def _set_bit(self, target: ir.Target, expr: ir.Expr) -> bool:
        """Lowers ``x := x + {item}`` for a set of several words to a write of one of them."""
        fn, frame = self.fn, self.frame
        if not target.is_state or target.path or not isinstance(expr, ir.Apply):
            return False
        if expr.op is not ir.Op.INSERT or not isinstance(expr.args[0], ir.Read):
            return False
        place = locate(frame, expr.args[0])
        same = expr.args[0].variable == target.name
        if (
            not same
            or not isinstance(place, state_access.Words)
            or not isinstance(place.type, t.SetT)
        ):
            return False
        index = c.rank(fn, place.type.item, lower_as(frame, expr.args[1], place.type.item))
        word, shift = state_access.bit(fn, place, index)
        ptr = fn.at(frame.state, word)
        fn.store(fn.or_(fn.load(ptr, 64), fn.shl(const(1), shift)), ptr)
        return True


def chooses(stmt: Stmt) -> bool:
    """Whether there is a choice in ``stmt``."""
    return any(isinstance(s, ir.Choose) for s in statements((stmt,)))


def writes(stmt: Stmt) -> bool:
    """Whether ``stmt`` assigns to the state."""
    return any(isinstance(s, ir.Assign) and s.target.is_state for s in statements((stmt,)))
