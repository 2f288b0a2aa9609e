"""Makes the kernel of a transition system: text for LLVM, and the layout of its states."""

from __future__ import annotations

import hashlib
import re

from checker.engines.native.codegen import ample, normal_form, normalize_successor
from checker.engines.native.codegen.actions import ActionCode, StartCode, question
from checker.engines.native.codegen.admissible_ends import AdmissibleEnds
from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.constraints import Interning
from checker.engines.native.codegen.emit import STOP, Fn
from checker.engines.native.codegen.fields import RecordLayout
from checker.engines.native.codegen.folded_set import LEAST_WORDS, MOST_WORDS, FoldedSet
from checker.engines.native.codegen.image import MAX_LEVEL_BITS, MIN_LEVEL_BITS, KernelImage
from checker.engines.native.codegen.layout import Layout, lay_out
from checker.engines.native.codegen.narrow_set import NarrowSet
from checker.engines.native.codegen.search_loop import SearchLoop
from checker.engines.native.codegen.state_predicates import (
    emit_enabled_fairness,
    emit_letters,
    emit_some,
)
from checker.engines.native.codegen.statements import chooses
from checker.engines.native.codegen.steps_loop import StepsLoop
from checker.engines.native.codegen.visited_set import VisitedSet
from checker.engines.native.codegen.walk_loop import WalkLoop
from checker.model.ir import Apply, Expr, Op, PropertyKind, TransitionSystem
from checker.model.types import BOOL
from checker.model.views import compared
from checker.properties.persistence import persistence_for_some
from checker.reductions.reduction_plan import ReductionPlan as Reductions
from checker.results.answer import Unsupported

_DECLARED = (
    f"{STOP.text} = global i64 0, align 8",
    "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
)


def make_image(
    system: TransitionSystem,
    reductions: Reductions,
    compact: int,
    walks: bool,
    steps: bool,
    narrow: bool,
) -> KernelImage:
    """Makes the image that :func:`checker.engines.native.codegen.image.build` returns; raises
    :class:`TooWide` and :class:`Unsupported`."""
    layout = lay_out(system, MIN_LEVEL_BITS if reductions.acyclic else 0)
    shape = RecordLayout(layout.words, len(system.marks), len(system.properties))
    live = tuple(i for i, p in enumerate(system.properties) if p.kind is PropertyKind.LIVENESS)
    plan = ConstraintLayout(system) if live else None
    spare = 63 - layout.bits if layout.words == 1 and live else 0
    levels = min(spare, MAX_LEVEL_BITS) if spare >= MIN_LEVEL_BITS else 0
    functions: list[Fn] = []
    for number, action in enumerate(system.actions):
        eager = ample.eager_instances(reductions, number)
        functions.append(ActionCode(system, layout, action, plan, reductions, eager=eager).emit())
    begins = _starting(system, layout, plan, reductions)
    functions += begins
    functions += ample.functions(reductions)
    functions += normal_form.functions(layout, reductions)
    functions += normalize_successor.functions(layout, reductions)
    questions, lasting = _questions(system, layout)
    functions += questions
    if plan is not None:
        functions += [emit_letters(layout, i, system.properties[i]) for i in live]
        functions += [*Interning(plan).functions(), *AdmissibleEnds(system, plan).functions()]
    has_justice = bool(live and system.justice)
    if has_justice:
        functions.append(question(layout, "just", _all(system)))
        functions.append(emit_enabled_fairness(layout, system))
    mask = _mask(system, layout)
    folds = LEAST_WORDS <= layout.words <= MOST_WORDS and not (compact or mask or walks or steps)
    narrows = layout.words == 1 and not (live or mask or walks or steps)
    assert narrows or not narrow, "a slot of 32 bits has no level, and no part of a state"
    kind = FoldedSet if folds else VisitedSet
    whole = kind(layout.words, layout.bits, levels, bool(live), compact, mask)
    seen = NarrowSet(layout.bits) if narrow else whole
    loop = WalkLoop if walks else StepsLoop if steps else SearchLoop
    runtime = loop(system, shape, seen, reductions.ample_actions)
    functions += [*runtime.functions(), *([runtime.begin()] if begins else [])]
    limit = (1 << levels) - 1 if levels else 0
    keys = (layout.bits + 1, limit)
    parts = (layout, shape, *keys, live, lasting, plan, has_justice, reductions, seen.compact)
    text = module_text(functions)
    return KernelImage(
        text, digest_of(text), *parts, bool(begins), walks, steps, folds, narrows, narrow
    )


def _questions(system: TransitionSystem, layout: Layout) -> tuple[list[Fn], tuple[int, ...]]:
    """The code of premises and of what violates properties, and the numbers of the liveness
    properties that single states decide.
    """
    functions, lasting = list[Fn](), list[int]()
    for i, prop in enumerate(system.properties):
        functions.append(question(layout, f"premise_{i}", prop.premise))
        live = prop.kind is PropertyKind.LIVENESS
        bad = persistence_for_some(prop) if live else prop.bad
        if bad is None:
            continue
        functions.append(question(layout, f"bad_{i}", bad))
        if live:
            functions.append(emit_some(layout, i, bad))
            lasting.append(i)
    return functions, tuple(lasting)


def _starting(
    system: TransitionSystem, layout: Layout, plan: ConstraintLayout | None, reductions: Reductions
) -> list[Fn]:
    """The code that makes the initial states, where there may be many; otherwise the interpreter
    does.
    """
    if not any(chooses(stmt) for stmt in system.init + system.monitor):
        return []
    try:
        return [StartCode(system, layout, plan, reductions).emit()]
    except Unsupported:
        return []


def _mask(system: TransitionSystem, layout: Layout) -> tuple[int, ...]:
    """By word, the bits that tell states apart; empty: all."""
    if system.view is None:
        return ()
    return layout.mask({system.variables[i].name for i in compared(system)})


def _all(system: TransitionSystem) -> Expr:
    return Apply(BOOL, Op.AND, tuple(justice.holds for justice in system.justice))


def digest_of(text: str) -> str:
    """The digest that identifies a module."""
    return hashlib.sha256(text.encode()).hexdigest()


EXPORTED = {
    "run",
    "take",
    "reinsert",
    "number",
    "add",
    "begin",
    "lookup",
    "justice_bits",
    "rekey",
    "locate",
    "normal",
    "normals",
    "weigh",
    "walk",
    "steps",
    "fold_rows",
    "unfold_rows",
    "index_nodes",
    "move_lines",
}
EXPORTED_PREFIXES = ("letters_", "some_")


def module_text(functions: list[Fn], public: bool = False) -> str:
    """A module in LLVM's textual IR; ``public``: all its functions can be called from outside."""
    body = []
    for fn in functions:
        text = fn.text()
        exported = public or fn.name in EXPORTED or fn.name.startswith(EXPORTED_PREFIXES)
        if not exported:
            text = text.replace("define ", "define internal ", 1)
        body.append(text)
    tables = [text for name, text in sorted(_tables(functions).items())]
    counting = {name for text in body for name in _COUNTING.findall(text)}
    intrinsics = sorted(_declaration(*name) for name in counting)
    return "\n\n".join(["\n".join([*_DECLARED, *tables, *intrinsics]), *body]) + "\n"


def _tables(functions: list[Fn]) -> dict[str, str]:
    return {name: text for fn in functions for name, text in fn.tables.items()}


_COUNTING = re.compile(r"@llvm\.(ctpop|cttz|ctlz)\.(i\d+)\(")
"""Calls of bit-counting intrinsics: the name, and the type that it takes and returns."""


def _declaration(name: str, kind: str) -> str:
    flag = "" if name == "ctpop" else ", i1"
    return f"declare {kind} @llvm.{name}.{kind}({kind}{flag})"
