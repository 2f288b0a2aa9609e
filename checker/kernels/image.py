"""A transition system as a kernel: text for LLVM, and how its states are laid out.

An image has no handles into this process: it can be pickled and compiled elsewhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from checker.kernels.actions import ActionCode, question
from checker.kernels.emit import Fn
from checker.kernels.fields import Shape
from checker.kernels.layout import Layout, lay_out
from checker.kernels.runtime import Runtime
from checker.kernels.seen import SeenSet
from checker.system.ir import PropertyKind, TransitionSystem

MIN_LEVEL_BITS = 8
MAX_LEVEL_BITS = 24

_DECLARED = ("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",)


@dataclass(frozen=True, slots=True)
class KernelImage:
    """``text``: LLVM's textual IR; ``digest`` of it; ``layout`` and ``shape`` of rows and records.

    ``level_shift`` and ``level_limit``: a key of the seen set holds the level, below the limit,
    from this bit upwards; the limit is 0 where there is no room or no use for it.
    """

    text: str
    digest: str
    layout: Layout
    shape: Shape
    level_shift: int
    level_limit: int
    questions: tuple[int, ...]


def build(system: TransitionSystem) -> KernelImage:
    """The kernel of ``system``; raises ``Unsupported`` where the native engine can't take it."""
    layout = lay_out(system)
    shape = Shape(layout.words, len(system.marks), len(system.properties))
    at_end = tuple(i for i, p in enumerate(system.properties) if p.kind is PropertyKind.AT_END)
    spare = 63 - layout.bits if layout.words == 1 and at_end else 0
    levels = min(spare, MAX_LEVEL_BITS) if spare >= MIN_LEVEL_BITS else 0
    functions: list[Fn] = []
    for action in system.actions:
        functions.append(ActionCode(system, layout, action, bool(at_end)).emit())
    for i, prop in enumerate(system.properties):
        functions.append(question(layout, f"premise_{i}", prop.premise))
        functions.append(question(layout, f"bad_{i}", prop.bad))
    seen = SeenSet(layout.words, layout.bits, levels, bool(at_end))
    functions += Runtime(system, shape, seen).functions()
    text = _module(functions)
    digest = hashlib.sha256(text.encode()).hexdigest()
    limit = (1 << levels) - 1 if levels else 0
    return KernelImage(text, digest, layout, shape, layout.bits + 1, limit, at_end)


EXPORTED = {"run", "reinsert", "number", "add", "lookup"}


def _module(functions: list[Fn]) -> str:
    body = []
    for fn in functions:
        text = fn.text()
        if fn.name not in EXPORTED and not fn.name.startswith("classify_"):
            text = text.replace("define ", "define internal ", 1)
        body.append(text)
    intrinsics = sorted({line for fn in functions for line in _intrinsics(fn)})
    return "\n\n".join(["\n".join([*_DECLARED, *intrinsics]), *body]) + "\n"


def _intrinsics(fn: Fn) -> list[str]:
    found = []
    for line in fn.lines:
        for name in ("ctpop", "cttz", "ctlz"):
            if f"@llvm.{name}." in line:
                kind = line.split(f"@llvm.{name}.")[1].split("(")[0]
                flag = "" if name == "ctpop" else ", i1"
                found.append(f"declare {kind} @llvm.{name}.{kind}({kind}{flag})")
    return found
