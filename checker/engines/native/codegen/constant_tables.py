"""Constant tables of a module: what is too wide for a register is read from memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from checker.engines.native.codegen.emit import Fn, Val


def entry_of_table(fn: Fn, codes: Sequence[int], index: Val) -> Val:
    """An entry of a constant table, 64 bits; ``index`` is within it."""
    bits = next(bits for bits in (8, 16, 32, 64) if max(codes) < 1 << bits)
    text = f"[{len(codes)} x i{bits}] [{', '.join(f'i{bits} {code}' for code in codes)}]"
    name = f"@table_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    fn.tables[name] = f"{name} = internal unnamed_addr constant {text}"
    return fn.resize(fn.load(fn.at(Val(name, 0), index, bits), bits), 64)
