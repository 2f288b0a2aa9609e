"""A small structured layer over LLVM's textual IR: functions that are written like programs.

Every value is an integer of some number of bits or a pointer (``bits == 0``).  Up to 64 bits it is
held by the next larger integer of the machine, whose other bits are always zero: LLVM's quick
instruction selection knows no other widths.  Constants are folded on the way, so that what is known
costs nothing.  Mutable variables are stack slots that LLVM turns into registers.  Code after a jump
is dropped until a label is placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from checker.engines.native.codegen.fields import STOP as STOP_WORD


class Val(NamedTuple):
    """An operand: its text, its bits (0 for a pointer), and its value where it is a constant."""

    text: str
    bits: int
    const: int | None = None


class Label(NamedTuple):
    name: str


def const(value: int, bits: int = 64) -> Val:
    """The constant ``value`` (taken modulo ``2**bits``)."""
    value &= (1 << bits) - 1
    return Val(str(value), bits, value)


class Captured(NamedTuple):
    """Code that is not in its place yet: its lines, its value, and whether its end is reachable."""

    lines: list[str]
    value: Val
    open: bool

    def harmless(self) -> bool:
        """Whether it may run speculatively: no jump, no address, no division."""
        return self.open and not any(
            line.endswith(":") or " br " in line or "getelementptr" in line or "div " in line
            for line in self.lines
        )

    def mentions(self, label: Label) -> bool:
        """Whether it can jump to ``label``."""
        target = f"label %{label.name}"
        return any(line.endswith(target) or f"{target}," in line for line in self.lines)


TRUE, FALSE = const(1, 1), const(0, 1)

STOP = Val(f"@{STOP_WORD}", 0)
"""The address of a word of each module: not 0 where the work under way is to be stopped."""

LINE_BITS = 512
"""The bits in a line of the cache."""

LONG = 1 << 22
"""Instructions, some milliseconds of them: loops that run so many check the stop word."""


def _to_signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


_FOLD: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "shl": lambda a, b, n: a << b if b < n else 0,
    "lshr": lambda a, b, _: a >> b,
}

_CARRY = ("add", "sub", "mul", "shl")
"""Operations whose results may have more bits than the operands."""

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


_HELD = [next(held for held in (0, 1, 8, 16, 32, 64) if bits <= held) for bits in range(65)]


def machine_bits(bits: int) -> int:
    """The width of the machine integer that holds a value of ``bits`` bits.  LLVM itself splits
    values of more than 64."""
    return _HELD[bits] if bits <= 64 else bits


@cache
def ty(bits: int) -> str:
    """The LLVM type of a value."""
    return f"i{machine_bits(bits)}" if bits else "ptr"


class Var:
    """A mutable variable."""

    def __init__(self, fn: Fn, bits: int) -> None:
        self.fn, self.bits, self.slot = fn, bits, fn.alloca(bits)

    def get(self) -> Val:
        """Its value now."""
        return self.fn.load(self.slot, self.bits)

    def set(self, value: Val) -> None:
        """Gives it a new value."""
        assert value.bits == self.bits, (value, self.bits)
        self.fn.store(value, self.slot)


class Fn:
    """A function under construction.  ``params`` are names with bits; ``args`` their values.

    ``stopping``: where to go when the work is stopped (see :data:`STOP`); ``None``: it can't be.
    """

    def __init__(
        self,
        name: str,
        params: Sequence[tuple[str, int]],
        result: int | None,
        attrs: str = "",
        readonly: Sequence[str] = (),
    ) -> None:
        self.name, self.result, self.attrs, self.readonly = name, result, attrs, readonly
        self.params = tuple(params)
        self.args = tuple(Val(f"%{n}", bits) for n, bits in params)
        self.allocas: list[str] = []
        self.tables: dict[str, str] = {}
        self.lines: list[str] = []
        self.open = True
        self.stopping: Label | None = None
        self.serial = self._repeated = 0

    def capture(self, body: Callable[[], Val]) -> Captured:
        """Captures what ``body`` emits; nothing is appended yet (see :meth:`append`)."""
        before, was_open, self.lines, self.open = self.lines, self.open, [], True
        value = body()
        lines, ends_open, self.lines, self.open = self.lines, self.open, before, was_open
        return Captured(lines, value, ends_open)

    def append(self, captured: Captured) -> Val:
        """Appends captured lines; returns their value."""
        if self.open:
            self.lines.extend(captured.lines)
            self.open = captured.open
        return captured.value

    # -- instructions ---------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        """Appends one line, unless it is unreachable."""
        if self.open:
            self.lines.append(text)

    def _new(self, bits: int, text: str) -> Val:
        self.serial += 1
        name = f"%v{self.serial}"
        self.emit(f"  {name} = {text}")
        return Val(name, bits)

    def _binary(self, op: str, a: Val, b: Val) -> Val:
        assert a.bits == b.bits, (op, a, b)
        if a.const is not None and b.const is not None and op in _FOLD:
            return const(_FOLD[op](a.const, b.const, a.bits), a.bits)
        if b.const == 0 and op in ("add", "sub", "or", "xor", "shl", "lshr"):
            return a
        if a.const == 0 and op in ("add", "or", "xor"):
            return b
        if 0 in (a.const, b.const) and op in ("and", "mul"):
            return const(0, a.bits)
        if op == "and" and b.const == (1 << b.bits) - 1:
            return a
        if op == "and" and a.const == (1 << a.bits) - 1:
            return b
        if op == "mul" and b.const == 1:
            return a
        made = self._new(a.bits, f"{op} {ty(a.bits)} {a.text}, {b.text}")
        return self._masked(made) if op in _CARRY else made

    def _masked(self, a: Val) -> Val:
        """``a`` with the unused high bits of its machine integer cleared."""
        if machine_bits(a.bits) == a.bits:
            return a
        return self._new(a.bits, f"and {ty(a.bits)} {a.text}, {(1 << a.bits) - 1}")

    def add(self, a: Val, b: Val) -> Val:
        return self._binary("add", a, b)

    def sub(self, a: Val, b: Val) -> Val:
        return self._binary("sub", a, b)

    def mul(self, a: Val, b: Val) -> Val:
        return self._binary("mul", a, b)

    def udiv(self, a: Val, b: Val) -> Val:
        return a if b.const == 1 else self._binary("udiv", a, b)

    def urem(self, a: Val, b: Val) -> Val:
        return const(0, a.bits) if b.const == 1 else self._binary("urem", a, b)

    def sdiv(self, a: Val, b: Val) -> Val:
        """The quotient of signed integers; their width is that of a machine integer."""
        assert a.bits == machine_bits(a.bits)
        return self._binary("sdiv", a, b)

    def srem(self, a: Val, b: Val) -> Val:
        """The remainder of signed integers; their width is that of a machine integer."""
        assert a.bits == machine_bits(a.bits)
        return self._binary("srem", a, b)

    def and_(self, a: Val, b: Val) -> Val:
        return self._binary("and", a, b)

    def or_(self, a: Val, b: Val) -> Val:
        return self._binary("or", a, b)

    def xor(self, a: Val, b: Val) -> Val:
        return self._binary("xor", a, b)

    def not_(self, a: Val) -> Val:
        return self.xor(a, const(-1, a.bits))

    def shl(self, a: Val, amount: Val) -> Val:
        """``a << amount``; an amount of any width, less than the bits of ``a``."""
        return self._binary("shl", a, self.resize(amount, a.bits))

    def lshr(self, a: Val, amount: Val) -> Val:
        """``a >> amount``, zeros shifted in; an amount of any width, less than the bits."""
        return self._binary("lshr", a, self.resize(amount, a.bits))

    def compare(self, relation: str, a: Val, b: Val, signed: bool = False) -> Val:
        """``eq``, ``ne``, ``lt`` or ``le`` as one bit.  ``signed`` operands have the width of a
        machine integer."""
        assert a.bits == b.bits, (relation, a, b)
        assert not signed or a.bits == machine_bits(a.bits)
        if a.const is not None and b.const is not None:
            x, y = a.const, b.const
            if signed:
                x, y = _to_signed(x, a.bits), _to_signed(y, b.bits)
            return const(int(_COMPARE[relation](x, y)), 1)
        prefix = "" if relation in ("eq", "ne") else "s" if signed else "u"
        return self._new(1, f"icmp {prefix}{relation} {ty(a.bits)} {a.text}, {b.text}")

    def eq(self, a: Val, b: Val) -> Val:
        return self.compare("eq", a, b)

    def ne(self, a: Val, b: Val) -> Val:
        return self.compare("ne", a, b)

    def lt(self, a: Val, b: Val) -> Val:
        return self.compare("lt", a, b)

    def le(self, a: Val, b: Val) -> Val:
        return self.compare("le", a, b)

    def slt(self, a: Val, b: Val) -> Val:
        return self.compare("lt", a, b, signed=True)

    def sle(self, a: Val, b: Val) -> Val:
        return self.compare("le", a, b, signed=True)

    def select(self, condition: Val, a: Val, b: Val) -> Val:
        assert a.bits == b.bits, (a, b)
        if condition.const is not None:
            return a if condition.const else b
        if a == b:
            return a
        kind = ty(a.bits)
        return self._new(a.bits, f"select i1 {condition.text}, {kind} {a.text}, {kind} {b.text}")

    def resize(self, a: Val, bits: int) -> Val:
        """``a`` with zeros added or high bits dropped."""
        if a.bits == bits:
            return a
        if a.const is not None:
            return const(a.const, bits)
        held, wanted = machine_bits(a.bits), machine_bits(bits)
        text = a.text
        if held != wanted:
            op = "zext" if held < wanted else "trunc"
            text = self._new(bits, f"{op} {ty(a.bits)} {a.text} to {ty(bits)}").text
        return self._masked(Val(text, bits)) if bits < a.bits else Val(text, bits)

    def intrinsic(self, name: str, a: Val, *rest: str) -> Val:
        """``ctpop``, ``cttz``, ``ctlz`` of ``a``, with the same bits.  The operand of ``ctlz`` has
        the width of a machine integer."""
        assert name != "ctlz" or a.bits == machine_bits(a.bits)
        more = "".join(f", {r}" for r in rest)
        kind = ty(a.bits)
        return self._new(a.bits, f"call {kind} @llvm.{name}.{kind}({kind} {a.text}{more})")

    # -- memory ---------------------------------------------------------------------------------

    def alloca(self, bits: int, count: int = 1) -> Val:
        """A stack slot for ``count`` values, alive during the whole call."""
        self.serial += 1
        name = f"%s{self.serial}"
        kind = f"[{count} x {ty(bits)}]" if count > 1 else ty(bits)
        self.allocas.append(f"  {name} = alloca {kind}, align 8")
        return Val(name, 0)

    def var(self, value: Val) -> Var:
        """A mutable variable that starts with ``value``."""
        var = Var(self, value.bits)
        var.set(value)
        return var

    def load(self, ptr: Val, bits: int, order: str = "") -> Val:
        if order:
            align = max(1, bits // 8)
            return self._new(bits, f"load atomic {ty(bits)}, ptr {ptr.text} {order}, align {align}")
        return self._new(bits, f"load {ty(bits)}, ptr {ptr.text}")

    def store(self, value: Val, ptr: Val) -> None:
        self.emit(f"  store {ty(value.bits)} {value.text}, ptr {ptr.text}")

    def at(self, ptr: Val, index: Val | int, bits: int = 64) -> Val:
        """The address of element ``index`` of an array of integers of ``bits`` bits."""
        where = const(index) if isinstance(index, int) else index
        if where.const == 0:
            return ptr
        kind = ty(bits)
        return self._new(0, f"getelementptr inbounds {kind}, ptr {ptr.text}, i64 {where.text}")

    def line(self, ptr: Val, bits: int = 64) -> Val:
        """The words of ``bits`` bits in the line of the cache at ``ptr``, read once, for
        :meth:`among`."""
        kind = f"<{LINE_BITS // bits} x i{bits}>"
        return self._new(0, f"load volatile {kind}, ptr {ptr.text}, align 64")

    def among(self, line: Val, wanted: Val, shift: int = 0, mask: int | Val = -1) -> Val:
        """A bit for each word in a line: whether it is ``wanted``, shifted right and masked."""
        lanes = LINE_BITS // wanted.bits
        kind, words = f"<{lanes} x i{wanted.bits}>", line.text
        for op, value in (("lshr", shift), ("and", mask)):
            if (op, value) not in (("lshr", 0), ("and", -1)):
                many = value if isinstance(value, Val) else const(value, wanted.bits)
                words = self._new(0, f"{op} {kind} {words}, {self._every(many, lanes)}").text
        same = self._new(0, f"icmp eq {kind} {words}, {self._every(wanted, lanes)}").text
        return self._new(lanes, f"bitcast <{lanes} x i1> {same} to i{lanes}")

    def _every(self, value: Val, lanes: int) -> str:
        """A vector of ``lanes`` times ``value``."""
        kind = f"i{value.bits}"
        if value.const is not None:
            return "<" + ", ".join([f"{kind} {value.text}"] * lanes) + ">"
        many = f"<{lanes} x {kind}>"
        one = self._new(0, f"insertelement {many} poison, {kind} {value.text}, i64 0").text
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self._new(0, f"shufflevector {many} {one}, {many} poison, {zeros}").text

    def cmpxchg(self, ptr: Val, expected: Val, new: Val) -> tuple[Val, Val]:
        """The former value at ``ptr``, and whether it was ``expected`` and is replaced."""
        kind = ty(new.bits)
        given = f"{kind} {expected.text}, {kind} {new.text}"
        pair = self._new(0, f"cmpxchg ptr {ptr.text}, {given} acq_rel acquire")
        old = self._new(new.bits, f"extractvalue {{ {kind}, i1 }} {pair.text}, 0")
        return old, self._new(1, f"extractvalue {{ {kind}, i1 }} {pair.text}, 1")

    def prefetch(self, ptr: Val) -> None:
        self.emit(f"  call void @llvm.prefetch.p0(ptr {ptr.text}, i32 0, i32 3, i32 1)")

    # -- control --------------------------------------------------------------------------------

    def label(self) -> Label:
        self.serial += 1
        return Label(f"b{self.serial}")

    def place(self, label: Label) -> None:
        """Places ``label``: what follows is reached by jumps to it, or by falling through."""
        self.jump(label)
        self.lines.append(f"{label.name}:")
        self.open = True

    def jump(self, label: Label) -> None:
        self.emit(f"  br label %{label.name}")
        self.open = False

    def branch(self, condition: Val, then: Label, otherwise: Label) -> None:
        if condition.const is not None:
            self.jump(then if condition.const else otherwise)
            return
        self.emit(f"  br i1 {condition.text}, label %{then.name}, label %{otherwise.name}")
        self.open = False

    def leave_if(self, condition: Val, target: Label) -> None:
        """Jumps to ``target`` if ``condition`` holds, and goes on otherwise."""
        if condition.const != 0:
            self.branch(condition, target, on := self.label())
            self.place_fresh(on)

    def place_fresh(self, label: Label) -> None:
        """Like :meth:`place` for a label that is reached by jumps only."""
        self.lines.append(f"{label.name}:")
        self.open = True

    @contextmanager
    def if_(self, condition: Val) -> Iterator[None]:
        """Runs the block if ``condition`` holds."""
        then, end = self.label(), self.label()
        self.branch(condition, then, end)
        self.place_fresh(then)
        yield
        self.place(end)

    def if_else(
        self, condition: Val, then: Callable[[], object], otherwise: Callable[[], object]
    ) -> None:
        """Runs one of the two blocks."""
        yes, no, end = self.label(), self.label(), self.label()
        self.branch(condition, yes, no)
        self.place_fresh(yes)
        then()
        self.jump(end)
        self.place_fresh(no)
        otherwise()
        self.place(end)

    @contextmanager
    def count(self, end: Val, begin: Val | None = None) -> Iterator[Val]:
        """Runs the block for each number from ``begin`` (0) up to, not including, ``end``."""
        index = self.var(begin or const(0))
        head, body, after = self.label(), self.label(), self.label()
        self.place(head)
        now = index.get()
        self.branch(self.lt(now, end), body, after)
        self.place_fresh(body)
        yield now
        index.set(self.add(now, const(1)))
        self.jump(head)
        self.place_fresh(after)

    @contextmanager
    def forever(self) -> Iterator[Label]:
        """Runs the block repeatedly; a jump to the label given leaves it."""
        head, after = self.label(), self.label()
        self.place(head)
        yield after
        self.jump(head)
        self.place_fresh(after)

    def is_stopped(self) -> Val:
        """One bit: whether the work under way is to be stopped."""
        return self.ne(self.load(STOP, 64, "monotonic"), const(0))

    def stop_if_told(self) -> None:
        """Stops here where that is requested and the function can."""
        if self.stopping is not None:
            self.leave_if(self.is_stopped(), self.stopping)

    @contextmanager
    def rounds(self, most: int) -> Iterator[None]:
        """Around code emitted once, run up to ``most`` times: if long, stoppable after each
        round.
        """
        serial, repeated = self.serial, self._repeated
        yield
        work = most * (self.serial - serial + self._repeated - repeated)
        if work > LONG:
            self.stop_if_told()
        self._repeated = repeated + min(work, LONG)

    def call(self, name: str, args: Sequence[Val], bits: int | None) -> Val:
        given = ", ".join(f"{ty(a.bits)} {a.text}" for a in args)
        if bits is None:
            self.emit(f"  call void @{name}({given})")
            return FALSE
        return self._new(bits, f"call {ty(bits)} @{name}({given})")

    def ret(self, value: Val | None = None) -> None:
        self.emit("  ret void" if value is None else f"  ret {ty(value.bits)} {value.text}")
        self.open = False

    def text(self) -> str:
        """The finished definition."""
        params = ", ".join(
            f"{ty(bits)} {'noalias readonly ' if n in self.readonly else ''}%{n}"
            for n, bits in self.params
        )
        kind = "void" if self.result is None else ty(self.result)
        head = f"define {kind} @{self.name}({params}) {self.attrs} {{\nentry:"
        tail = [] if not self.open else ["  unreachable"]
        return "\n".join([head, *self.allocas, *self.lines, *tail, "}"])
