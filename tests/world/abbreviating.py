"""The same specs, written with definitions: `const`, `define`, `procedure`, `let`, `var`, variants.

What a spec means is told by its handlers as before; a name that stands for something is looked up
when the handler runs, and nothing is written out first, as the tool does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from checker.records import replace
from tests.world import spec as s
from tests.world.protocol import CONDITION, RECEIVE, Handler, Protocol, Spec, Uses, Variation

FLAG, SKIP = s.var("flag"), s.Skip()
TYPES = {"m": "Msg", "p": "Proc"}
"""Of names that patterns bind: what a definition declares of them."""
ALONE = (s.If, s.For, s.While, s.Assign, s.Send, s.Either, s.Flip, s.Perform, s.Timer, s.Atomic)
"""Statements that bind nothing for those behind them."""


def abbreviated(spec: Spec, seed: int) -> Spec:
    """``spec`` with some of it behind names: another spec, as what is computed may move."""
    writer = Writer(random.Random(seed), "yield" in spec.text().split())
    top = writer.protocol(spec.protocol)
    return replace(spec, protocol=writer.varied(top), constants=tuple(writer.constants))


@dataclass
class Writer:
    """Gives names; ``yields``: calls of layers stay where they are, as who is called may yield."""

    random: random.Random
    yields: bool
    constants: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    flags: tuple[str, ...] = ()
    count: int = 0

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # -- protocols ------------------------------------------------------------------------------

    def protocol(self, original: Protocol) -> Protocol:
        """``original`` and the layers below it."""
        done: dict[int, Protocol] = {}
        uses = tuple(self.used(u, done) for u in original.uses)
        self.definitions = []
        self.flags = tuple(v.name for v in original.variables if v.name in ("flag", "busy"))
        handlers = tuple(self.handler(h) for h in original.handlers)
        return replace(original, uses=uses, handlers=handlers, definitions=tuple(self.definitions))

    def used(self, uses: Uses, done: dict[int, Protocol]) -> Uses:
        if uses.protocol is None:
            return uses
        if id(uses.protocol) not in done:
            done[id(uses.protocol)] = self.protocol(uses.protocol)
        return replace(uses, protocol=done[id(uses.protocol)])

    def handler(self, original: Handler) -> Handler:
        scope = [p.text for p in original.patterns if isinstance(p, s.Bind)]
        for pattern in original.patterns:
            if isinstance(pattern, s.Shape):
                scope += [part.text for part in pattern.parts if isinstance(part, s.Bind)]
        scope += [original.sender.text] if isinstance(original.sender, s.Bind) else []
        scope += [name for name, _ in original.binds]
        body = self.block(original.body, [x for x in scope if x != "_"])
        guard = original.guard
        if guard is not None and not original.binds and self.chance(60):
            guard = self.defined(guard, scope)
        if original.event == CONDITION and guard is not None and self.chance(20):
            guard = s.both(self.defined(s.TRUE, []), guard)
        return replace(original, guard=guard, body=body)

    def defined(self, formula: s.Expr, scope: Sequence[str]) -> s.Expr:
        """A call of a definition that is ``formula``."""
        free = _free(formula.text, scope)
        if not all(name in TYPES for name in free):
            return formula
        name, parameters = self.new("holds"), [f"x{i}_" for i in range(len(free))]
        text = _renamed(formula.text, dict(zip(free, parameters, strict=True)))
        told = [f"{x}: {TYPES[f]}" for x, f in zip(parameters, free, strict=True)]
        call = f"{name}({', '.join(free)})"
        if self.chance(40):
            text = self.hidden(text, parameters, told)
            told, call = ["k_: 0..1", *told], f"{name}({', '.join(['0', *free])})"
        self.definitions.append(f"define {name}({', '.join(told)}): bool = {text}")
        return s.Expr(call, lambda at: formula.value(_only(at, free)))

    def hidden(self, text: str, parameters: Sequence[str], told: Sequence[str]) -> str:
        """A call of a definition that is the formula ``text`` and binds ``k_``, where that is
        already the name of something else, which is 0."""
        name = self.new("inner")
        body = f"exists k_ in (0..1): k_ == 1 and ({text})"
        self.definitions.append(f"define {name}({', '.join(told)}): bool = {body}")
        return f"k_ == 0 and {name}({', '.join(parameters)})"

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: s.Block, scope: Sequence[str]) -> s.Block:
        """``body``, in which the names of ``scope`` are bound."""
        found, known = list[s.Statement](), list(scope)
        for statement in body:
            found += self.statement(statement, known)
            if isinstance(statement, s.Choose | s.Weigh):
                known.append(statement.name)
        return tuple(found)

    def statement(self, statement: s.Statement, scope: Sequence[str]) -> s.Block:
        match statement:
            case s.If(condition, then, other):
                inner = s.If(condition, self.block(then, scope), self.block(other, scope))
                return self.decided(inner, scope)
            case s.For(name, domain, body):
                # in rounds, which are synchronous, a loop assigns nothing that is outside of it
                return self.named(s.For(name, domain, body), scope)
            case s.Either(alternatives):
                inside = tuple((guard, self.block(b, scope)) for guard, b in alternatives)
                return self.named(s.Either(inside, statement.names), scope)
            case s.Flip(then, other):
                return (s.Flip(self.block(then, scope), self.block(other, scope)),)
            case s.Perform(act, idempotent) if self.chance(50):
                return (s.Perform(self.constant(act), idempotent),)
            case s.Assign(variable, value, sign, place) if value.text in ("true", "false", *scope):
                name = self.new("let")
                later = s.Assign(variable, s.name(name), sign, place)
                if self.chance(25):
                    return (s.Let(name, value), *self.named(later, [*scope, name]))
        return self.named(statement, scope)

    def constant(self, value: s.Expr) -> s.Expr:
        """A name at the top of the file for a literal."""
        name = f"ACT{value.text}"
        if (line := f"const {name} = {value.text}") not in self.constants:
            self.constants.append(line)
        return replace(value, text=name)

    def decided(self, inner: s.If, scope: Sequence[str]) -> s.Block:
        """A condition, by way of a variable of the handler, a definition, or a parameter."""
        condition, name = inner.condition, self.new("local")
        by_variable = s.If(s.name(name), inner.then, inner.other)
        match self.random.randrange(6):
            case 0:
                found = s.If(condition, (s.SetVar(name, s.TRUE),))
                return (s.Var(name, s.FALSE), found, by_variable)
            case 1:
                return (s.Var(name, condition), by_variable)
            case 2:
                return (s.If(self.defined(condition, scope), inner.then, inner.other),)
            case 3 if self.may_move(inner):
                return (self.by_parameter(inner, scope),)
            case _:
                return self.named(inner, scope)

    def by_parameter(self, inner: s.If, scope: Sequence[str]) -> s.Statement:
        """A procedure is given what the condition was, before it changes what that was made of."""
        given, condition = self.new("given"), inner.condition
        body: s.Block = (s.If(s.name(given), inner.then, inner.other),)
        read = [flag for flag in self.flags if re.search(rf"\b{flag}\b", condition.text)]
        if read and not inner.other:
            body = (s.Assign(read[0], s.no(s.var(read[0]))), *body)
        free = _free(s.block(body), scope)
        return self.procedure((given, *free), body, (condition, *map(s.name, free)))

    def named(self, statement: s.Statement, scope: Sequence[str]) -> s.Block:
        """Maybe a call of a procedure that is ``statement``."""
        if isinstance(statement, ALONE) and self.may_move(statement) and self.chance(35):
            free = _free(statement.text, scope)
            return (self.procedure(free, (statement,), tuple(map(s.name, free))),)
        return (statement,)

    def may_move(self, statement: s.Statement) -> bool:
        """Whether it may stand in a procedure."""
        return not self.yields or "(" not in statement.text

    def procedure(
        self, parameters: Sequence[str], body: s.Block, arguments: tuple[s.Expr, ...]
    ) -> s.Statement:
        name = self.new("does")
        self.definitions.append(f"procedure {name}({', '.join(parameters)}) {s.block(body)}")
        return s.Run(name, tuple(parameters), body, arguments)

    # -- variants -------------------------------------------------------------------------------

    def varied(self, top: Protocol) -> Protocol:
        """``top`` as a variant of a protocol that has something else in one place."""
        if self.chance(40):
            return top
        named = Handler(CONDITION, guard=FLAG, body=(SKIP,), name="lazy")
        options = [Variation(added=named)]
        flags = [v for v in top.variables if v.type == "bool" and v.chosen is None and not v.role]
        if flags:
            changed = self.random.choice(flags)
            other = s.TRUE if changed.initial is s.FALSE else s.FALSE
            options.append(Variation(variable=changed, initial=other))
        events = [(h.event, h.name) for h in top.handlers]
        single = [
            h for h in top.handlers
            if events.count((h.event, h.name)) == 1 and not h.role and h.event == RECEIVE
            and "start " not in h.text  # a timer that the original never starts is an error of it
        ]  # fmt: skip
        if single:
            handler = self.random.choice(single)
            options += [Variation(handler=handler), Variation(handler=handler, lacks=True)]
        return replace(top, variation=self.random.choice(options))


def _only(at: object, names: Sequence[str]) -> object:
    """``at``, where only ``names`` are bound."""
    return replace(at, names={n: at.names[n] for n in names})  # type: ignore[type-var,attr-defined]


def _free(text: str, scope: Sequence[str]) -> tuple[str, ...]:
    """The names of ``scope`` that are in ``text``."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    return tuple(name for name in dict.fromkeys(scope) if name in words)


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), text)
