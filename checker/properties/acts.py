"""Declares the histories of acts on the environment and of the effects that the acts had.

A repeated idempotent act is recognised and has no effect.  Only acts that are performed as
idempotent are recognised: the same act performed plainly, before or after, has its effect as well.
"""

from __future__ import annotations

from msgspec import Struct, field

from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.walk import histories_in, nodes
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import member, negation
from checker.model.ir import Block, EffectDef, EffectKind, Expr, VariableKind
from checker.model.types import SeqT, Type, default

RECOGNISED = "@recognised"
"""The acts that were performed as idempotent; a separate set only where plain acts occur as
well."""


class Acts(Struct):
    """Collects which histories of acts a check's properties read: ``performed`` or ``effects``."""

    world: World
    sets: set[str] = field(default_factory=set)
    sequences: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)

    def need(self, formula: typed.Expr) -> None:
        """Records the histories of acts that ``formula`` reads."""
        for node in nodes(formula):
            if isinstance(node, typed.RepeatedAct):
                self.repeated.add(node.kind)
                self.sets.add(node.kind)
        for log, ordered in histories_in(formula):
            if isinstance(log, typed.Acts):
                (self.sequences if ordered else self.sets).add(log.kind)

    def declare(self) -> None:
        """Declares the history variables, and the effects ``perform`` and ``perform
        idempotent``."""
        found = [
            (instance, node)
            for instance in self.world.instances
            for node in nodes(instance.protocol)
            if isinstance(node, typed.Perform)
        ]
        if not found:
            return
        item = self._type()
        for kind in sorted(self.sets | self.sequences):
            self._variable(f"@{kind}", item, kind in self.sequences, kind)
        for kind in sorted(self.repeated):
            self._variable(f"@repeated.{kind}", item, False, f"{kind} twice")
        mixed = {node.idempotent for _, node in found} == {True, False}
        wanted = "effects" in self.sets | self.sequences
        if mixed and wanted:
            self._variable(RECOGNISED, item, False, "performed as idempotent")
        for idempotent in (False, True):
            name = "perform idempotent" if idempotent else "perform"
            act = ir.Local(item, "_act")
            body = self._body(act, idempotent, mixed)
            params = (("_self", self.world.proc), (act.name, item))
            self.world.effects[name] = EffectDef(name, EffectKind.VISIBLE, params, body)

    def _type(self) -> Type:
        """Returns the common type of all acts; every layer that performs must agree on it."""
        acting = [
            i
            for i in self.world.instances
            if any(isinstance(n, typed.Perform) for n in nodes(i.protocol))
        ]
        found = []
        for instance in acting:
            acts = instance.protocol.acts or self.world.instances[0].protocol.acts
            assert acts is not None
            found.append(self.world.type_of(acts, instance, "@performed.item"))
        if any(type_ != found[0] for type_ in found):
            span = acting[-1].protocol.span
            raise refuse("C202", "layers that perform acts of different types", span)
        return found[0]

    def _variable(self, name: str, item: Type, ordered: bool, title: str) -> None:
        if ordered:
            type_: Type = SeqT(item, self.world.capacity(name, 4), name)
        else:
            type_ = self.world.set_of(item, f"{name}.size")
        self.world.add(name, type_, default(type_), VariableKind.HISTORY, title)

    def _body(self, act: ir.Local, idempotent: bool, mixed: bool) -> Block:
        result = self._note("performed", act)
        effects = self._note("effects", act)
        if not effects or not idempotent:
            return (*result, *effects)
        known = RECOGNISED if mixed else "@effects"
        if mixed:
            effects = (*effects, self._add(RECOGNISED, act))
        new = negation(member(act, self.world.read(known)))
        return (*result, ir.If(new, effects))

    def _note(self, kind: str, act: ir.Local) -> Block:
        if kind not in self.sets | self.sequences:
            return ()
        result: Block = ()
        if kind in self.repeated:
            again = member(act, self.world.read(f"@{kind}"))
            result = (ir.If(again, (self._add(f"@repeated.{kind}", act),)),)
        return (*result, self._add(f"@{kind}", act))

    def _add(self, name: str, act: ir.Local) -> ir.Stmt:
        whole: Expr = self.world.read(name)
        if isinstance(whole.type, SeqT):
            new: Expr = ir.Apply(whole.type, ir.Op.APPEND, (whole, act))
        else:
            new = build.with_item(whole, act)
        return build.assign(whole, new)
