"""Normal forms of rows: dead parts are reset, and the representative of the orbit is taken.

``rest(row, source)`` does the first, ``canonical(worker, row)`` the second, both in place;
``normal(worker, row)`` does both, and is what Python calls; where there is symmetry,
``normals(worker, rows, count)`` does it for many rows.
"""

from __future__ import annotations

from checker.engines.native.codegen.canonical import emit_canonical
from checker.engines.native.codegen.domains import each
from checker.engines.native.codegen.emit import Fn, Label, Val, const
from checker.engines.native.codegen.expressions import lower
from checker.engines.native.codegen.frame import Bound, Frame
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.statements import Ways
from checker.engines.native.codegen.value_codes import to_code
from checker.model import ir
from checker.model.ir import Block, Stmt
from checker.model.tree import nodes
from checker.records import fields, is_record
from checker.reductions.reduction_plan import ReductionPlan

NULL = Val("null", 0)


def functions(layout: Layout, plan: ReductionPlan) -> list[Fn]:
    """The functions that a plan needs, and ``normal``."""
    found = []
    if plan.resets:
        found.append(emit_reset(layout, plan.resets))
    if plan.symmetry is not None:
        found += emit_canonical(layout, plan.symmetry)
    fn = Fn("normal", [("worker", 0), ("row", 0)], None)
    worker, row = fn.args
    if plan.resets:
        fn.call("rest", [row, NULL], None)
    if plan.symmetry is not None:
        fn.call("canonical", [worker, row], None)
    fn.ret()
    found.append(fn)
    return found if plan.symmetry is None else [*found, _emit_normals(layout)]


def _emit_normals(layout: Layout) -> Fn:
    fn = Fn("normals", [("worker", 0), ("rows", 0), ("count", 64)], None)
    worker, rows, count = fn.args
    with fn.count(count) as i:
        fn.call("normal", [worker, fn.at(rows, fn.mul(i, const(layout.words)))], None)
    fn.ret()
    return fn


def emit_reset(layout: Layout, block: Block) -> Fn:
    """``rest(row, source)``: resets dead parts.

    ``source`` is a row that is reset already, or null.  A statement, or an iteration of a loop over
    keys, for which all that it mentions is as in the source has nothing to do: it has left that
    unchanged there.
    """
    fn = Fn("rest", [("row", 0), ("source", 0)], None)
    row, source = fn.args
    code = _Rest(fn, layout, row, source)
    for stmt in block:
        following = fn.label()
        code.skip_unless(code.differ(mentioned_variables(stmt)), following)
        code.statement(stmt)
        fn.place(following)
    fn.ret()
    return fn


class _Rest:
    """Emits the statements of ``rest``; ``source`` may be null."""

    def __init__(self, fn: Fn, layout: Layout, row: Val, source: Val) -> None:
        self.fn, self.layout, self.row, self.source = fn, layout, row, source
        self.work = fn.alloca(64, layout.words)
        self.whole = fn.eq(source, NULL)

    def skip_unless(self, differs: Val, following: Label) -> None:
        """Jumps to ``following`` where there is a source from which nothing differs."""
        needed = self.fn.or_(self.whole, differs)
        self.fn.leave_if(self.fn.not_(needed), following)

    def statement(self, stmt: Stmt) -> None:
        """Emits one statement; a loop over all keys checks each key separately."""
        match stmt:
            case ir.For(name, ir.Universe() as domain, body) if _entries(body, name):
                self._rounds(name, domain, body)
            case _:
                self._run((stmt,), {})

    def _rounds(self, name: str, domain: ir.Universe, body: Block) -> None:
        fn, entries = self.fn, _entries(body, name)
        alone = {entry.base.variable for entry in entries if isinstance(entry.base, ir.Read)}
        others = self.differ(mentioned_variables(body) - alone)
        with each(fn, domain, None) as (value, following):
            names, doubt = {name: Bound(domain.item, value)}, fn.label()
            differs = others
            for entry in entries:
                here, there = (
                    to_code(fn, entry.type, lower(self._frame(at, doubt, names), entry))
                    for at in self._rows()
                )
                differs = fn.or_(differs, fn.ne(here, there))
            self.skip_unless(differs, following)
            fn.place(doubt)
            self._run(body, names)

    def _rows(self) -> tuple[Val, Val]:
        """The row, and the source (or the row again where there is none)."""
        return self.row, self.fn.select(self.whole, self.row, self.source)

    def _frame(self, row: Val, fault: Label, names: dict[str, Bound]) -> Frame:
        frame = Frame(self.fn, self.layout, row, fault)
        frame.names.update(names)
        return frame

    def _run(self, block: Block, names: dict[str, Bound]) -> None:
        fn, fault, after = self.fn, self.fn.label(), self.fn.label()
        frame = self._frame(self.row, fault, names)
        Ways(frame, self.work, {}, self._commit, lambda: None, lambda: None).run(block)
        fn.jump(after)
        fn.place_fresh(fault)
        fn.jump(after)
        fn.place_fresh(after)

    def _commit(self, dirty: bool) -> None:
        if dirty:
            fn = self.fn
            for i in range(self.layout.words):
                fn.store(fn.load(fn.at(self.work, i), 64), fn.at(self.row, i))

    def differ(self, names: set[str]) -> Val:
        """Whether row and source differ in one of these variables; where there is no source: no."""
        masks = dict.fromkeys(range(self.layout.words), 0)
        for name in names:
            for word, mask in self.layout.bits_of(name).items():
                masks[word] |= mask
        fn, other, rows = self.fn, const(0), self._rows()
        for word, mask in masks.items():
            if mask:
                here, there = (fn.load(fn.at(at, word), 64) for at in rows)
                other = fn.or_(other, fn.and_(fn.xor(here, there), const(mask)))
        return fn.ne(other, const(0))


def _entries(body: Block, key: str) -> list[ir.Index]:
    """The entries at ``key`` of variables of which ``body`` mentions no other entry."""
    found: dict[str, ir.Index] = {}
    other: set[str] = set()

    def look(node: object) -> None:
        match node:
            case ir.Index(type_, ir.Read(_, name) as base, ir.Local(_, local)) if local == key:
                found[name] = ir.Index(type_, base, node.key)
            case ir.Target(_, name, True, (ir.Key(ir.Local(_, local)), *rest_)) if local == key:
                look(tuple(rest_))
            case ir.Read(variable=name):
                other.add(name)
            case ir.Target(name=name, is_state=True, path=path):
                other.add(name)
                look(path)
            case tuple():
                for part in node:
                    look(part)
            case _ if is_record(node):
                for f in fields(node):
                    look(getattr(node, f.name))
            case _:
                pass

    look(body)
    return [entry for name, entry in found.items() if name not in other]


def mentioned_variables(node: object) -> set[str]:
    """The state variables that some code reads or writes."""
    return {
        part.variable if isinstance(part, ir.Read) else part.name
        for part in nodes(node)
        if isinstance(part, ir.Read) or (isinstance(part, ir.Target) and part.is_state)
    }
