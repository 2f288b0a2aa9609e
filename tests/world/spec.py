"""Specs as plain data that print themselves: what both judges are given.

Nothing here is shared with the tool.  An expression is its text and what it is worth at a place
(:class:`tests.world.definition.Place`); a statement, a handler, a protocol and a check are what
docs/language/ says they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.records import replace

# ---- expressions and patterns -----------------------------------------------------------------


@dataclass(frozen=True)
class Expr:
    """``text`` in the language; ``value`` gives what it is worth at a place."""

    text: str
    value: Callable[[Any], Any] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Bind:
    """The pattern that is a new name; ``_`` matches anything and binds nothing."""

    text: str


@dataclass(frozen=True)
class Shape:
    """The pattern ``KIND(x, y)``: a message of a layer above, taken apart."""

    kind: str
    parts: tuple[Pattern, ...]

    @property
    def text(self) -> str:
        return _called(self.kind, self.parts)


@dataclass(frozen=True)
class Parts:
    """The pattern ``(x, y)``: a pair, taken apart."""

    parts: tuple[Pattern, ...]

    @property
    def text(self) -> str:
        return f"({', '.join(p.text for p in self.parts)})"


Pattern = Bind | Expr | Shape | Parts


def _called(name: str, arguments: Sequence[Pattern]) -> str:
    return f"{name}({', '.join(a.text for a in arguments)})" if arguments else name


def name(text: str) -> Expr:
    """A name that a pattern, a ``let`` or a binder has bound."""
    return Expr(text, lambda at: at.names[text])


def var(text: str) -> Expr:
    """A variable of the process (or of all)."""
    return Expr(text, lambda at: at.read(text))


def const(text: str, value: Any) -> Expr:
    """A literal."""
    return Expr(text, lambda at: value)


def op(form: str, of: Callable[..., Any], *arguments: Expr) -> Expr:
    """An operator: ``form`` says how it is written."""
    text = form.format(*(a.text for a in arguments))
    return Expr(text, lambda at: of(*(a.value(at) for a in arguments)))


ME = Expr("self", lambda at: at.me)
RANK = Expr("rank(self)", lambda at: at.model.processes.index(at.me) + 1)
NOW = Expr("now", lambda at: at.way.pauses.begun.get(("clock", at.me), 0))
"""What the clock showed when the handler began: 0 before the first state."""
ALL = Expr("Proc", lambda at: frozenset(at.model.processes))


def members(role: str) -> Expr:
    """The processes of a role."""
    return Expr(role, lambda at: frozenset(at.model.roles[role]))


TRUE, FALSE = const("true", True), const("false", False)
NONE = const("none", ())
EMPTY = const("{}", frozenset())


def number(value: int) -> Expr:
    return const(str(value), value)


def both(a: Expr, b: Expr) -> Expr:
    return Expr(f"({a.text} and {b.text})", lambda at: a.value(at) and b.value(at))


def either_of(a: Expr, b: Expr) -> Expr:
    return Expr(f"({a.text} or {b.text})", lambda at: a.value(at) or b.value(at))


def no(a: Expr) -> Expr:
    return op("(not {})", lambda x: not x, a)


def equal(a: Expr, b: Expr) -> Expr:
    return op("({} == {})", lambda x, y: x == y, a, b)


def at_least(a: Expr, b: Expr) -> Expr:
    return op("({} >= {})", lambda x, y: x >= y, a, b)


def within(a: Expr, b: Expr) -> Expr:
    return op("({} in {})", lambda x, y: x in y, a, b)


def outside(a: Expr, b: Expr) -> Expr:
    return op("({} not in {})", lambda x, y: x not in y, a, b)


def size(a: Expr) -> Expr:
    return op("#{}", len, a)


def minus(a: Expr, b: Expr) -> Expr:
    return op("({} minus {})", lambda x, y: x - y, a, b)


def only(a: Expr) -> Expr:
    return op("{{{}}}", lambda x: frozenset([x]), a)


def pair(a: Expr, b: Expr) -> Expr:
    return op("({}, {})", lambda x, y: (x, y), a, b)


def remainder(a: Expr, by: int) -> Expr:
    return op(f"({{}} mod {by})", lambda x: x % by, a)


def union(a: Expr, b: Expr) -> Expr:
    return op("({} union {})", lambda x, y: x | y, a, b)


def part(a: Expr, field_name: str) -> Expr:
    """The field of a record."""
    return op(f"{{}}.{field_name}", lambda r: dict(r)[field_name], a)


def record(**fields: Expr) -> Expr:
    inside = ", ".join(f"{n} = {e.text}" for n, e in fields.items())
    return Expr(f"record({inside})", lambda at: tuple((n, e.value(at)) for n, e in fields.items()))


def at_key(a: Expr, key: Expr) -> Expr:
    """What a map has for a key."""
    return op("{}[{}]", lambda m, k: dict(m)[k], a, key)


def for_each_process(bound: str, value: Expr) -> Expr:
    """``{ bound -> value for bound in Proc }``"""

    def all_of_it(at: Any) -> tuple[Any, ...]:
        places = ((p, replace(at, names={**at.names, bound: p})) for p in at.model.processes)
        return tuple((p, value.value(there)) for p, there in places)

    return Expr(f"{{ {bound} -> {value.text} for {bound} in Proc }}", all_of_it)


def some(a: Expr) -> Expr:
    return op("some({})", lambda x: (x,), a)


def is_some(a: Expr) -> Expr:
    return op("is_some({})", bool, a)


def get(a: Expr) -> Expr:
    return op("get({})", lambda x: x[0], a)


def then_one(a: Expr, b: Expr) -> Expr:
    """A sequence and one more."""
    return op("({} + {})", lambda x, y: (*x, y), a, b)


def head(a: Expr) -> Expr:
    return op("head({})", lambda x: x[0], a)


def tail(a: Expr) -> Expr:
    return op("tail({})", lambda x: x[1:], a)


def take(a: Expr, k: int) -> Expr:
    """The first ``k`` items of a sequence that has so many."""
    return op(f"take({{}}, {k})", lambda x: x[:k], a)


def drop(a: Expr, k: int) -> Expr:
    return op(f"drop({{}}, {k})", lambda x: x[k:], a)


def slice_to_the_end(a: Expr, first: int) -> Expr:
    return op(f"{{}}[{first}..#{{}} - 1]", lambda x, _: x[first:], a, a)


def begins(a: Expr, b: Expr) -> Expr:
    """Whether a sequence is the beginning of another."""
    return op("({} prefix {})", lambda x, y: y[: len(x)] == x, a, b)


def position(a: Expr, b: Expr) -> Expr:
    """Where an item first is in a sequence that has it."""
    return op("index({}, {})", lambda x, y: x.index(y), a, b)


def all_but(a: Expr, b: Expr) -> Expr:
    """A sequence without one of the values in it."""
    text = f"[y for y in {a.text} when y != {b.text}]"
    return Expr(text, lambda at: tuple(y for y in a.value(at) if y != b.value(at)))


def doubled(a: Expr) -> Expr:
    """A number: two for each item."""
    return op("sum(2 for y in {})", lambda x: 2 * len(x), a)


def count(a: Expr, b: Expr) -> Expr:
    """How often ``b`` is in a bag."""
    return op("count({}, {})", lambda x, y: x.count(y), a, b)


def message(kind: str, *arguments: Expr) -> Expr:
    """A message as a value: its kind and what it carries."""
    return Expr(_called(kind, arguments), lambda at: (kind, *(a.value(at) for a in arguments)))


def received(kind: str, *patterns: Expr | None) -> Expr:
    """The processes that a matching message came from; ``None`` is ``_``."""
    inside = ", ".join("_" if p is None else p.text for p in patterns)

    def value(at: Any) -> frozenset[str]:
        wanted = [None if p is None else p.value(at) for p in patterns]
        return frozenset(
            sender
            for sender, (got, *parts) in at.received()
            if got == kind
            and all(w is None or w == part for w, part in zip(wanted, parts, strict=True))
        )

    return Expr(f"received({kind}({inside}))" if patterns else f"received({kind})", value)


# In properties: of the process that a parameter stands for.


def of(process: str, variable: str) -> Expr:
    return Expr(f"{process}.{variable}", lambda at: at.of(at.names[process], variable))


def clock(process: str) -> Expr:
    return Expr(f"{process}.now", lambda at: at.state["clock", at.names[process]])


def history(word: str, process: str) -> Expr:
    """``broadcast(p)``, ``delivered(p)``: what happened, in order."""
    return Expr(f"{word}({process})", lambda at: at.history(word, at.names[process]))


def repeated(process: str, entry: Expr) -> Expr:
    def value(at: Any) -> bool:
        return at.history("delivered", at.names[process]).count(entry.value(at)) > 1

    return Expr(f"repeated({process}, {entry.text})", value)


def before(process: str, first: Expr, second: Expr) -> Expr:
    def value(at: Any) -> bool:
        happened = at.history("delivered", at.names[process])
        x, y = first.value(at), second.value(at)
        return x in happened and y in happened and happened.index(x) < happened.index(y)

    return Expr(f"before({process}, {first.text}, {second.text})", value)


def crashed(process: str) -> Expr:
    return Expr(f"crashed({process})", lambda at: at.crashed(at.names[process]))


def told(word: str, process: str) -> Expr:
    """``suspected(p)``, ``trusted(p)``."""
    return Expr(f"{word}({process})", lambda at: at.told(at.names[process]))


def done(word: str, act: Expr, times: int) -> Expr:
    """Whether ``act`` is in ``performed`` or ``effects`` (once, or more than once)."""

    def value(at: Any) -> bool:
        return at.acts(word).count(act.value(at)) >= times

    text = f"({act.text} in {word})" if times == 1 else f"repeated({word}, {act.text})"
    return Expr(text, value)


# ---- statements -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """``variable := value``, or ``+=`` and ``-=`` of a member; ``place`` leads to a part of the
    variable: a field by its name, what is at a key by an expression."""

    variable: str
    value: Expr
    sign: str = ":="
    place: tuple[Expr | str, ...] = ()

    @property
    def text(self) -> str:
        parts = [f".{p}" if isinstance(p, str) else f"[{p.text}]" for p in self.place]
        return f"{self.variable}{''.join(parts)} {self.sign} {self.value.text}"


@dataclass(frozen=True)
class Send:
    """``send content to receivers``, a set of processes."""

    content: Expr
    receivers: Expr

    @property
    def text(self) -> str:
        return f"send {self.content.text} to {self.receivers.text}"


@dataclass(frozen=True)
class Ask:
    """A request to the layer ``layer`` below."""

    layer: str
    request: str
    arguments: tuple[Expr, ...]
    index: Expr | None = None

    @property
    def text(self) -> str:
        at = "" if self.index is None else f"[{self.index.text}]"
        return f"{self.layer}{at}.{_call(self.request, self.arguments)}"


@dataclass(frozen=True)
class Tell:
    """An indication to the layer above, or to the application."""

    indication: str
    arguments: tuple[Expr, ...]

    @property
    def text(self) -> str:
        return _call(self.indication, self.arguments)


def _call(called: str, arguments: Sequence[Expr]) -> str:
    return f"{called}({', '.join(a.text for a in arguments)})"


@dataclass(frozen=True)
class If:
    condition: Expr
    then: Block
    other: Block = ()

    @property
    def text(self) -> str:
        other = f" else {block(self.other)}" if self.other else ""
        return f"if {self.condition.text} {block(self.then)}{other}"


@dataclass(frozen=True)
class For:
    name: str
    domain: Expr
    body: Block

    @property
    def text(self) -> str:
        return f"for {self.name} in {self.domain.text} {block(self.body)}"


@dataclass(frozen=True)
class While:
    """``while some name in domain``."""

    name: str
    domain: Expr
    body: Block

    @property
    def text(self) -> str:
        return f"while some {self.name} in {self.domain.text} {block(self.body)}"


@dataclass(frozen=True)
class Choose:
    """``apart``: it is the first part of a pair that is chosen; ``drawn``: by chance."""

    name: str
    domain: Expr
    apart: bool = False
    drawn: bool = False

    @property
    def text(self) -> str:
        return self.chosen + " by chance" * self.drawn

    @property
    def chosen(self) -> str:
        if self.apart:
            pairs = f"{{ (x', self) for x' in {self.domain.text} }}"
            return f"choose ({self.name}, _) in {pairs}"
        return f"choose {self.name} in {self.domain.text}"


@dataclass(frozen=True)
class Either:
    """Alternatives with their guards; ``names``: of each, if any is named."""

    alternatives: tuple[tuple[Expr | None, Block], ...]
    names: tuple[str, ...] = ()

    @property
    def named(self) -> list[tuple[str, Expr | None, Block]]:
        names = self.names or ("",) * len(self.alternatives)
        return [(n, *rest) for n, rest in zip(names, self.alternatives, strict=True)]

    @property
    def text(self) -> str:
        told = [
            f"{f'as {name} ' if name else ''}{'' if guard is None else f'when {guard.text} '}"
            f"{block(body)}"
            for name, guard, body in self.named
        ]
        return f"either {' or '.join(told)}"


@dataclass(frozen=True)
class Require:
    condition: Expr

    @property
    def text(self) -> str:
        return f"require {self.condition.text}"


@dataclass(frozen=True)
class Flip:
    """``if flip() { … }``."""

    then: Block
    other: Block = ()

    @property
    def text(self) -> str:
        other = f" else {block(self.other)}" if self.other else ""
        return f"if flip() {block(self.then)}{other}"


@dataclass(frozen=True)
class Weigh:
    """A choice by chance among values with weights, such as ``1/3``; what weighs 0 never comes."""

    name: str
    values: tuple[tuple[Expr, str], ...]

    @property
    def text(self) -> str:
        told = ", ".join(f"{value.text}: {weight}" for value, weight in self.values)
        return f"choose {self.name} by chance {{ {told} }}"


@dataclass(frozen=True)
class Perform:
    act: Expr
    idempotent: bool = False

    @property
    def text(self) -> str:
        return f"perform {'idempotent ' if self.idempotent else ''}{self.act.text}"


@dataclass(frozen=True)
class Timer:
    """``start name[key] after units`` where ``starts``, ``cancel name[key]`` otherwise."""

    name: str
    starts: bool = True
    units: int = 1
    key: Expr | None = None

    @property
    def text(self) -> str:
        name = self.name if self.key is None else f"{self.name}[{self.key.text}]"
        if not self.starts:
            return f"cancel {name}"
        return f"start {name}" + ("" if self.units == 1 else f" after {self.units}")


@dataclass(frozen=True)
class Atomic:
    body: Block

    @property
    def text(self) -> str:
        return f"atomic {block(self.body)}"


@dataclass(frozen=True)
class Sync:
    """``sync v, w else { … }``; without names of all that is stable; ``other``: what is done where
    it fails."""

    names: tuple[str, ...] = ()
    other: Block | None = None

    @property
    def text(self) -> str:
        told = f"sync {', '.join(self.names)}".rstrip()
        return told if self.other is None else f"{told} else {block(self.other)}"


@dataclass(frozen=True)
class Yield:
    @property
    def text(self) -> str:
        return "yield"


@dataclass(frozen=True)
class Await:
    """``await``, which ends its line, or ``await condition``."""

    condition: Expr | None = None

    @property
    def text(self) -> str:
        return "await\n" if self.condition is None else f"await {self.condition.text}"


@dataclass(frozen=True)
class Ghost:
    """Statements that write ghosts only."""

    body: Block

    @property
    def text(self) -> str:
        return "  ".join(statement.text for statement in self.body)


@dataclass(frozen=True)
class Skip:
    @property
    def text(self) -> str:
        return "skip"


@dataclass(frozen=True)
class Let:
    name: str
    value: Expr

    @property
    def text(self) -> str:
        return f"let {self.name} = {self.value.text}"


@dataclass(frozen=True)
class Var:
    """A variable of the handler, to the end of its block."""

    name: str
    value: Expr

    @property
    def text(self) -> str:
        return f"var {self.name} = {self.value.text}"


@dataclass(frozen=True)
class SetVar:
    """Assigns a variable of the handler."""

    name: str
    value: Expr

    @property
    def text(self) -> str:
        return f"{self.name} := {self.value.text}"


@dataclass(frozen=True)
class Run:
    """A call of the procedure ``name``, whose ``parameters`` are values."""

    name: str
    parameters: tuple[str, ...]
    body: Block
    arguments: tuple[Expr, ...]

    @property
    def text(self) -> str:
        return _call(self.name, self.arguments)


Statement = (
    Assign | Send | Ask | Tell | If | For | While | Choose | Weigh | Either | Require | Flip
    | Perform
    | Timer | Atomic | Sync | Yield | Await | Skip | Ghost | Let | Var | SetVar | Run
)  # fmt: skip
Block = tuple[Statement, ...]


def block(body: Block) -> str:
    """In braces, on one line."""
    return f"{{ {'  '.join(s.text for s in body)} }}" if body else "{ }"
