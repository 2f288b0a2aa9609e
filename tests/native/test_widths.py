"""Integers of any width compute modulo a power of two, whichever integer of the machine holds
them: compared with Python's, for random operations."""

from __future__ import annotations

import ctypes
import random

import pytest

from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.jit import Effort, compile_functions

WIDTHS = (1, 2, 3, 7, 8, 9, 16, 17, 31, 33, 63, 64, 65, 117)
WORD = 64
OPERATIONS = (
    "add", "sub", "mul", "and_", "or_", "xor", "shl", "lshr", "udiv", "urem", "lt", "le", "eq",
    "ne", "select", "not_", "count", "resize", "keep",
)  # fmt: skip


class Program:
    """Random operations on two words: as code, and in Python; ``values``: each of the code, and the
    function of the words that it is."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.fn = Fn("compute", [("out", 0), ("x", 0), ("y", 0)], None)
        self.values: list[tuple[Val, int]] = []
        edge = self.draw.choice((0, 1, (1 << WORD) - 1, self.draw.getrandbits(WORD)))
        self.words = [edge, self.draw.getrandbits(WORD)]
        for arg, word in zip(self.fn.args[1:], self.words, strict=True):
            self.values.append((self.fn.load(arg, WORD), word))
        for width in self.draw.sample(WIDTHS, 5):
            self.resized(width)
            value = self.draw.getrandbits(width)
            self.values.append((const(value, width), value))

    def resized(self, width: int) -> None:
        val, value = self.draw.choice(self.values)
        self.values.append((self.fn.resize(val, width), value & ((1 << width) - 1)))

    def step(self) -> None:
        fn, op = self.fn, self.draw.choice(OPERATIONS)
        a, x = self.draw.choice(self.values)
        same = [(val, value) for val, value in self.values if val.bits == a.bits]
        b, y = self.draw.choice(same)
        top = (1 << a.bits) - 1
        match op:
            case "add" | "sub" | "mul" | "and_" | "or_" | "xor":
                right = {
                    "add": x + y, "sub": x - y, "mul": x * y,
                    "and_": x & y, "or_": x | y, "xor": x ^ y,
                }[op]  # fmt: skip
                made = getattr(fn, op)(a, b), right & top
            case "udiv" | "urem" if y and a.bits <= WORD:
                made = getattr(fn, op)(a, b), x // y if op == "udiv" else x % y
            case "shl" | "lshr":
                by = self.draw.randrange(a.bits)
                right = (x << by if op == "shl" else x >> by) & top
                made = getattr(fn, op)(a, const(by, a.bits if by <= top else WORD)), right
            case "lt" | "le" | "eq" | "ne":
                right = {"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[op]
                made = getattr(fn, op)(a, b), int(right)
            case "select":
                bits = [(val, value) for val, value in self.values if val.bits == 1]
                bit, chosen = self.draw.choice(bits or [(const(1, 1), 1)])
                made = fn.select(bit, a, b), x if chosen else y
            case "not_":
                made = fn.not_(a), ~x & top
            case "count" if a.const is None and 3 <= a.bits <= WORD:
                made = fn.intrinsic("ctpop", a), x.bit_count() & top
            case "keep":
                slot = fn.var(a)
                slot.set(b)
                made = slot.get(), y
            case _:
                self.resized(self.draw.choice(WIDTHS))
                return
        self.values.append(made)

    def store(self) -> list[int]:
        """Writes the words of all values; returns them as they must be."""
        expected = []
        for val, value in self.values:
            for at in range(0, val.bits, WORD):
                word = self.fn.resize(self.fn.lshr(val, const(at, val.bits)), WORD)
                self.fn.store(word, self.fn.at(self.fn.args[0], len(expected)))
                expected.append((value >> at) & ((1 << WORD) - 1))
        self.fn.ret()
        return expected


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(24))
def test_they_compute_as_python_does(seed: int, effort: Effort) -> None:
    program = Program(seed)
    for _ in range(60):
        program.step()
    expected = program.store()
    code = compile_functions([program.fn], effort)
    out = (ctypes.c_uint64 * len(expected))()
    inputs = [ctypes.c_uint64(word) for word in program.words]
    code.function("compute", 3, None)(
        ctypes.addressof(out), *(ctypes.addressof(word) for word in inputs)
    )
    assert list(out) == expected
