"""Random handlers in the words of the language, and what they do, written from its pages alone.

A handler is drawn together with its meaning: an expression is a text and a function of the names in
scope, a statement a text and a function that changes them.  Nothing of the tool is asked.  A value
is a number, a truth value, a word (of an enumeration), a tuple (also of a record), a frozenset,
``Seq``, ``Bag``, ``Option`` or ``Map``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple


class Wrong(Exception):
    """A run-time error."""


class Seq(tuple[Any, ...]):
    """The items of a sequence."""


class Bag(tuple[Any, ...]):
    """The items of a bag, in ascending order."""


class Option(tuple[Any, ...]):
    """No item, or one."""


class Map(tuple[Any, ...]):
    """The values of all keys, in the order of the keys."""


Names = dict[str, Any]
Meaning = Callable[[Names], Any]
Does = Callable[[Names, Any], None]


class Expr(NamedTuple):
    """A text, and its value where names have theirs."""

    text: str
    value: Meaning


@dataclass(frozen=True)
class Type:
    """``kind``: ``bool``, ``int``, ``enum``, ``tuple``, ``record``, ``option``, ``set``, ``seq``,
    ``bag`` or ``map``; ``parts``: the types in it; ``lo``, ``hi``: of a number, or the largest
    length of a sequence or a bag."""

    kind: str
    parts: tuple[Type, ...] = ()
    lo: int = 0
    hi: int = 0

    @property
    def text(self) -> str:
        inner = [part.text for part in self.parts]
        match self.kind:
            case "bool":
                return "bool"
            case "int":
                return f"{self.lo}..{self.hi}"
            case "enum":
                return "Color"
            case "tuple":
                return f"({', '.join(inner)})"
            case "record":
                return f"record {{ a: {inner[0]}, b: {inner[1]} }}"
            case "seq" | "bag":
                return f"{self.kind}<{inner[0]}, max {self.hi}>"
            case _:
                return f"{self.kind}<{', '.join(inner)}>"

    def values(self) -> list[Any]:
        """All values, in order, of a type that is a key."""
        match self.kind:
            case "bool":
                return [False, True]
            case "int":
                return list(range(self.lo, self.hi + 1))
            case "enum":
                return list(COLORS)
            case _:
                return list(product(*(part.values() for part in self.parts)))

    def admits(self, value: Any) -> bool:
        """Whether ``value``, which is of this kind, is in all ranges."""
        match self.kind:
            case "int":
                return bool(self.lo <= value <= self.hi)
            case "tuple" | "record":
                return all(t.admits(v) for t, v in zip(self.parts, value, strict=True))
            case "seq" | "bag":
                return len(value) <= self.hi and all(map(self.parts[0].admits, value))
            case "option" | "set":
                return all(map(self.parts[0].admits, value))
            case "map":
                return all(map(self.parts[1].admits, value))
            case _:
                return True

    def said(self, value: Any) -> str:
        """``value`` as the language writes it."""
        inside = self.parts[-1].said if self.parts else str
        match self.kind:
            case "bool":
                return str(value).lower()
            case "tuple":
                parts = zip(self.parts, value, strict=True)
                return f"({', '.join(t.said(v) for t, v in parts)})"
            case "record":
                a, b = (t.said(v) for t, v in zip(self.parts, value, strict=True))
                return f"record(a = {a}, b = {b})"
            case "option":
                return f"some({inside(value[0])})" if value else "none"
            case "set":
                return f"{{{', '.join(sorted(map(inside, value)))}}}"
            case "seq":
                return f"[{', '.join(map(inside, value))}]"
            case "bag":
                return f"{{|{', '.join(map(inside, value))}|}}"
            case "map":
                found = inside(value[-1])
                keys = [self.parts[0].said(key) for key in self.parts[0].values()]
                for key, each in list(zip(keys, value, strict=True))[:-1]:
                    found = f"if k == {key} then {inside(each)} else {found}"
                domain = {"int": f"({self.parts[0].text})"}.get(self.parts[0].kind, "")
                return f"{{ k -> ({found}) for k in {domain or self.parts[0].text} }}"
            case _:
                return str(value)


COLORS = ("red", "green", "blue")
BOOL, COLOR = Type("bool"), Type("enum")
SMALL, SIGNED, WIDE = Type("int", (), 0, 3), Type("int", (), -4, 4), Type("int", (), -90, 400)
BASIC = (BOOL, COLOR, SMALL, SIGNED)
MEMBERS = (*BASIC, Type("tuple", (SMALL, BOOL)), Type("option", (SMALL,)), Type("set", (BOOL,)))


def set_of(item: Type) -> Type:
    return Type("set", (item,))


def seq_of(item: Type, most: int = 4) -> Type:
    return Type("seq", (item,), 0, most)


def bag_of(item: Type, most: int = 3) -> Type:
    return Type("bag", (item,), 0, most)


def option_of(item: Type) -> Type:
    return Type("option", (item,))


STATES = {
    "u": BOOL, "c": COLOR, "x": SMALL, "y": SIGNED, "w": WIDE,
    "s": set_of(SMALL), "z": set_of(SIGNED), "v": set_of(Type("tuple", (SMALL, BOOL))),
    "q": seq_of(SMALL), "g": seq_of(SIGNED, 3), "l": seq_of(Type("record", (SMALL, COLOR)), 2),
    "o": option_of(SMALL), "i": option_of(option_of(BOOL)), "j": option_of(set_of(SMALL)),
    "m": Type("map", (SMALL, SIGNED)), "h": Type("map", (COLOR, option_of(SMALL))),
    "d": Type("map", (BOOL, set_of(SMALL))), "t": Type("tuple", (SIGNED, set_of(SMALL))),
    "r": Type("record", (SMALL, option_of(BOOL))), "e": set_of(set_of(BOOL)),
    "b1": bag_of(SMALL), "b2": bag_of(SIGNED, 2), "b3": option_of(bag_of(SMALL, 2)),
}  # fmt: skip
"""The variables."""


def default(type_: Type) -> Any:
    """The first value of a type."""
    match type_.kind:
        case "bool" | "enum" | "int":
            return 0 if type_.kind == "int" else type_.values()[0]
        case "tuple" | "record":
            return tuple(map(default, type_.parts))
        case "set":
            return frozenset()
        case "map":
            return Map(default(type_.parts[1]) for _ in type_.parts[0].values())
        case kind:
            return {"seq": Seq, "bag": Bag}.get(kind, Option)()


def divided(a: int, b: int) -> tuple[int, int]:
    if b == 0:
        raise Wrong("division by zero")
    return divmod(a, b)


def first(items: Any) -> Any:
    if not items:
        raise Wrong("nothing is there")
    return items[0]


def item_at(items: Seq, position: int) -> Any:
    if not 0 <= position < len(items):
        raise Wrong("no such item")
    return items[position]


def part_of(items: Seq, start: int, end: int) -> Seq:
    """The items from ``start`` to before ``end``."""
    if not 0 <= start <= end <= len(items):
        raise Wrong("no such items")
    return Seq(items[start:end])


def most_of(numbers: Any, word: str) -> int:
    if not numbers:
        raise Wrong("nothing is there")
    return int(max(numbers) if word == "max" else min(numbers))


def position_of(items: Seq, item: Any) -> int:
    if item not in items:
        raise Wrong("no such item")
    return items.index(item)


@dataclass
class Expressions:
    """Draws expressions; ``names``: those in scope, with their types."""

    rng: random.Random
    names: dict[str, Type]
    serial: int = 0

    def fresh(self) -> str:
        self.serial += 1
        return f"k{self.serial}"

    def pick(self, options: Any) -> Any:
        return self.rng.choice(list(options))

    def literal(self, type_: Type) -> Any:
        match type_.kind:
            case "tuple" | "record":
                return tuple(map(self.literal, type_.parts))
            case "set":
                return frozenset(self.literal(type_.parts[0]) for _ in range(self.rng.randrange(3)))
            case "seq" | "bag":
                number = self.rng.randrange(min(type_.hi, 2) + 1)
                items = [self.literal(type_.parts[0]) for _ in range(number)]
                return Seq(items) if type_.kind == "seq" else Bag(sorted(items))
            case "option":
                return Option([self.literal(type_.parts[0])] if self.rng.random() < 0.6 else [])
            case "map":
                return Map(self.literal(type_.parts[1]) for _ in type_.parts[0].values())
            case "int":
                return self.rng.randint(type_.lo, type_.hi) if type_ != WIDE else 7
            case _:
                return self.pick(type_.values())

    def leaf(self, type_: Type) -> Expr:
        fitting = [n for n, t in self.names.items() if like(t, type_)]
        if fitting and self.rng.random() < 0.75:
            name = self.pick(fitting)
            return Expr(name, lambda names: names[name])
        value = self.literal(type_)
        while not fitting and is_untyped(type_.said(value)):
            value = self.literal(type_)
        text = type_.said(value)
        if is_untyped(text):
            text = f"(if false then {fitting[0]} else {text})"
        return Expr(f"({text})" if text.startswith("-") else text, lambda names: value)

    def bound(self, depth: int, inside: Type) -> tuple[str, Meaning, Type, Expr]:
        """A binder over a set, a sequence or a range, the names for each value, the type of these,
        and an expression."""
        domain_type = self.pick((set_of(SMALL), set_of(SIGNED), seq_of(SMALL), set_of(COLOR)))
        item = domain_type.parts[0]
        domain = self.expr(domain_type, depth - 1)
        if item.kind == "int" and self.rng.random() < 0.3:
            lo, hi = self.expr(SMALL, 0), self.expr(SIGNED, 0)
            domain = Expr(
                f"({lo.text}..{hi.text})",
                lambda names: tuple(range(lo.value(names), hi.value(names) + 1)),
            )
        name = self.fresh()
        self.names[name] = item
        asked, body = self.expr(BOOL, depth - 2), self.expr(inside, depth - 1)
        del self.names[name]
        if self.rng.random() < 0.5:
            asked = Expr("", lambda names: True)

        def values(names: Names) -> Iterator[Names]:
            members = domain.value(names)
            for member in members if isinstance(members, tuple) else in_order(members):
                inner = {**names, name: member}
                if asked.value(inner):
                    yield inner

        when = f" when {asked.text}" if asked.text else ""
        return f"{name} in {domain.text}{when}", values, item, body

    def expr(self, type_: Type, depth: int) -> Expr:
        """An expression of the kind of ``type_``; its numbers may be outside of the range."""
        if depth <= 0:
            return self.leaf(type_)
        options = [self.leaf, self.conditional, *self.parts(type_)]
        match type_.kind:
            case "int":
                options += [self.arithmetic] * 3 + [self.counted] * 3 + [self.summed] * 2
            case "bool":
                options += [self.compared] * 3 + [self.connected] * 3 + [self.quantified] * 3
            case "set":
                options += [self.sets] * 3 + [self.collected] * 3
            case "seq":
                options += [self.seqs] * 4 + [self.collected] * 2
            case "bag":
                options += [self.bags] * 4
            case "option":
                options += [self.some] * 2
            case "tuple" | "record":
                options += [self.made] * 3
            case "map":
                options += [self.mapped] * 2
        chosen = self.pick(options)
        return chosen(type_) if chosen == self.leaf else chosen(type_, depth)  # type: ignore[no-any-return]

    def conditional(self, type_: Type, depth: int) -> Expr:
        c = self.expr(BOOL, depth - 1)
        a, b = self.expr(type_, depth - 1), self.expr(type_, depth - 1)
        text = f"(if {c.text} then {a.text} else {b.text})"
        return Expr(text, lambda n: a.value(n) if c.value(n) else b.value(n))

    def parts(self, type_: Type) -> list[Any]:
        """What is taken out of something larger."""
        found: list[Any] = []
        for name, other in self.names.items():
            for position, part in enumerate(other.parts):
                if like(part, type_):
                    found += self.taken(name, other, position)
        return found

    def taken(self, name: str, other: Type, position: int) -> list[Any]:
        match other.kind:
            case "record":
                text = f"{name}.{'ab'[position]}"
                return [lambda t, d: Expr(text, lambda n: n[name][position])]
            case "option":
                return [lambda t, d: Expr(f"get({name})", lambda n: first(n[name]))]
            case "seq":
                return [
                    lambda t, d: Expr(f"head({name})", lambda n: first(n[name])),
                    lambda t, d: Expr(f"last({name})", lambda n: first(n[name][::-1])),
                    lambda t, d: self.item(name, d),
                ]
            case "map" if position == 1:
                return [lambda t, d: self.entry(name, other, d)]
            case _:
                return []

    def item(self, name: str, depth: int) -> Expr:
        at = self.expr(SMALL, depth - 1)
        return Expr(f"{name}[{at.text}]", lambda n: item_at(n[name], at.value(n)))

    def entry(self, name: str, type_: Type, depth: int) -> Expr:
        key = self.expr(type_.parts[0], depth - 1)
        keys = type_.parts[0].values()

        def value(n: Names) -> Any:
            if (k := key.value(n)) not in keys:
                raise Wrong("no such key")
            return n[name][keys.index(k)]

        return Expr(f"{name}[{key.text}]", value)

    def arithmetic(self, type_: Type, depth: int) -> Expr:
        a, b = self.expr(SIGNED, depth - 1), self.expr(SMALL, depth - 1)
        sign = self.pick(("+", "-", "*", "div", "mod", "neg", "double"))
        if sign == "neg":
            return Expr(f"(-{a.text})", lambda n: -a.value(n))
        if sign == "double":
            return Expr(f"twice({a.text})", lambda n: 2 * a.value(n))

        def value(n: Names) -> int:
            x, y = a.value(n), b.value(n)
            match sign:
                case "+":
                    return int(x + y)
                case "-":
                    return int(x - y)
                case "*":
                    return int(x * y)
                case "div":
                    return divided(x, y)[0]
                case _:
                    return divided(x, y)[1]

        return Expr(f"({a.text} {sign} {b.text})", value)

    def counted(self, type_: Type, depth: int) -> Expr:
        kind = self.pick(("size", "length", "count", "index", "most", "pair", "bag", "copies"))
        if kind in ("bag", "copies"):
            bag, item = self.expr(bag_of(SMALL), depth - 1), self.expr(SMALL, depth - 1)
            if kind == "bag":
                return Expr(f"#({bag.text})", lambda n: len(bag.value(n)))
            text = f"count({bag.text}, {item.text})"
            return Expr(text, lambda n: bag.value(n).count(item.value(n)))
        if kind == "size":
            s = self.expr(set_of(self.pick(BASIC)), depth - 1)
            return Expr(f"#({s.text})", lambda n: len(s.value(n)))
        if kind == "most":
            word, s = self.pick(("min", "max")), self.expr(set_of(SIGNED), depth - 1)
            return Expr(f"{word}({s.text})", lambda n: most_of(s.value(n), word))
        if kind == "pair":
            a, b = self.expr(SIGNED, depth - 1), self.expr(SMALL, depth - 1)
            word = self.pick(("min", "max"))
            text = f"{word}({{{a.text}, {b.text}}})"
            return Expr(text, lambda n: most_of((a.value(n), b.value(n)), word))
        q = self.expr(seq_of(SMALL), depth - 1)
        if kind == "length":
            return Expr(f"#({q.text})", lambda n: len(q.value(n)))
        e = self.expr(SMALL, depth - 1)
        if kind == "count":
            return Expr(f"count({q.text}, {e.text})", lambda n: q.value(n).count(e.value(n)))
        return Expr(f"index({q.text}, {e.text})", lambda n: position_of(q.value(n), e.value(n)))

    def summed(self, type_: Type, depth: int) -> Expr:
        binder, values, _, body = self.bound(depth, SIGNED)
        word = self.pick(("sum", "sum", "max", "min"))

        def value(n: Names) -> int:
            found = [body.value(inner) for inner in values(n)]
            return sum(found) if word == "sum" else most_of(found, word)

        return Expr(f"{word}({body.text} for {binder})", value)

    def compared(self, type_: Type, depth: int) -> Expr:
        words = "== != < <= > >= in not_in subset prefix some".split()
        word = self.pick(words).replace("_", " ")
        if word == "some":
            o = self.expr(option_of(self.pick(BASIC)), depth - 1)
            return Expr(f"is_some({o.text})", lambda n: bool(o.value(n)))
        kinds: dict[str, tuple[Type, ...]] = dict.fromkeys(("in", "not in"), MEMBERS)
        kinds |= {"subset": (set_of(SMALL),), "prefix": (seq_of(SMALL),)}
        kinds |= dict.fromkeys(("==", "!="), tuple(STATES.values()))
        one = self.pick(kinds.get(word, (SIGNED,)))
        other = one
        if word in ("in", "not in"):
            other = self.pick((set_of(one), seq_of(one), bag_of(one if one in BASIC else SMALL)))
            one = other.parts[0]
            other = set_of(one) if one == COLOR else other  # words alone do not tell a sequence
        a, b = self.expr(one, depth - 1), self.expr(other, depth - 1)
        does: dict[str, Callable[[Any, Any], bool]] = {
            "==": lambda x, y: x == y, "!=": lambda x, y: x != y, "<": lambda x, y: x < y,
            "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
            "in": lambda x, y: x in y, "not in": lambda x, y: x not in y,
            "subset": lambda x, y: x <= y, "prefix": lambda x, y: y[: len(x)] == x,
        }  # fmt: skip
        return Expr(f"({a.text} {word} {b.text})", lambda n: does[word](a.value(n), b.value(n)))

    def connected(self, type_: Type, depth: int) -> Expr:
        a, b = self.expr(BOOL, depth - 1), self.expr(BOOL, depth - 1)
        word = self.pick(("and", "or", "=>", "not", "same"))
        if word == "not":
            return Expr(f"(not {a.text})", lambda n: not a.value(n))
        if word == "same":
            return Expr(f"({a.text} == {b.text})", lambda n: a.value(n) == b.value(n))
        does: dict[str, Meaning] = {
            "and": lambda n: a.value(n) and b.value(n),
            "or": lambda n: a.value(n) or b.value(n),
            "=>": lambda n: not a.value(n) or b.value(n),
        }
        return Expr(f"({a.text} {word} {b.text})", does[word])

    def quantified(self, type_: Type, depth: int) -> Expr:
        binder, values, _, body = self.bound(depth, BOOL)
        word = self.pick(("forall", "exists"))
        decides = all if word == "forall" else any
        text = f"({word} {binder}: {body.text})"
        return Expr(text, lambda n: decides(body.value(inner) for inner in values(n)))

    def sets(self, type_: Type, depth: int) -> Expr:
        word = self.pick(("union", "intersect", "minus", "display", "+", "-"))
        if word in ("+", "-"):
            one, item = self.expr(type_, depth - 1), self.expr(type_.parts[0], depth - 1)

            def changed(n: Names) -> Any:
                old, new = one.value(n), item.value(n)
                return old | {new} if word == "+" else old - {new}

            return Expr(f"({one.text} {word} {item.text})", changed)
        if word == "display":
            items = [self.expr(type_.parts[0], depth - 1) for _ in range(self.rng.randint(1, 2))]
            text = f"{{{', '.join(i.text for i in items)}}}"
            return Expr(text, lambda n: frozenset(i.value(n) for i in items))
        a, b = self.expr(type_, depth - 1), self.expr(type_, depth - 1)
        does: dict[str, Callable[[Any, Any], Any]] = {
            "union": lambda x, y: x | y, "intersect": lambda x, y: x & y,
            "minus": lambda x, y: x - y,
        }  # fmt: skip
        return Expr(f"({a.text} {word} {b.text})", lambda n: does[word](a.value(n), b.value(n)))

    def collected(self, type_: Type, depth: int) -> Expr:
        binder, values, item, body = self.bound(depth, type_.parts[0])
        if type_.kind == "seq" and item.kind == "enum":
            return self.leaf(type_)  # a set of words has no order
        left, right = "[]" if type_.kind == "seq" else "{}"
        put = Seq if type_.kind == "seq" else frozenset
        text = f"{left}{body.text} for {binder}{right}"
        return Expr(text, lambda n: put(body.value(inner) for inner in values(n)))

    def seqs(self, type_: Type, depth: int) -> Expr:
        a = self.expr(type_, depth - 1)
        word = self.pick(("+", "++", "tail", "take", "drop", "slice", "display"))
        if word == "tail":
            return Expr(f"tail({a.text})", lambda n: first([a.value(n)[1:]] * len(a.value(n))))
        if word == "++":
            b = self.expr(type_, depth - 1)
            return Expr(f"({a.text} ++ {b.text})", lambda n: Seq((*a.value(n), *b.value(n))))
        item = self.expr(type_.parts[0], depth - 1)
        if word == "display":
            return Expr(f"[{item.text}]", lambda n: Seq([item.value(n)]))
        if word == "+":
            return Expr(f"({a.text} + {item.text})", lambda n: Seq((*a.value(n), item.value(n))))
        i, j = self.expr(SMALL, depth - 2), self.expr(SMALL, depth - 2)
        if word == "take":
            return Expr(f"take({a.text}, {i.text})", lambda n: part_of(a.value(n), 0, i.value(n)))
        if word == "drop":
            text = f"drop({a.text}, {i.text})"
            return Expr(text, lambda n: part_of(a.value(n), i.value(n), len(a.value(n))))
        text = f"({a.text})[{i.text}..{j.text}]"
        return Expr(text, lambda n: part_of(a.value(n), i.value(n), j.value(n) + 1))

    def bags(self, type_: Type, depth: int) -> Expr:
        word, item = self.pick(("display", "+", "-")), self.expr(type_.parts[0], depth - 1)
        if word == "display":
            more = self.expr(type_.parts[0], depth - 1)
            text = f"{{|{item.text}, {more.text}|}}"
            return Expr(text, lambda n: Bag(sorted((item.value(n), more.value(n)))))
        bag = self.expr(type_, depth - 1)

        def value(n: Names) -> Bag:
            return with_or_without(word, bag.value(n), item.value(n))

        return Expr(f"({bag.text} {word} {item.text})", value)

    def some(self, type_: Type, depth: int) -> Expr:
        item = self.expr(type_.parts[0], depth - 1)
        return Expr(f"some({item.text})", lambda n: Option([item.value(n)]))

    def made(self, type_: Type, depth: int) -> Expr:
        parts = [self.expr(part, depth - 1) for part in type_.parts]
        a, b = (part.text for part in parts)
        text = f"({a}, {b})" if type_.kind == "tuple" else f"record(a = {a}, b = {b})"
        return Expr(text, lambda n: tuple(part.value(n) for part in parts))

    def mapped(self, type_: Type, depth: int) -> Expr:
        name, key = self.fresh(), type_.parts[0]
        self.names[name] = key
        body = self.expr(type_.parts[1], depth - 1)
        del self.names[name]
        domain = f"({key.text})" if key.kind == "int" else key.text
        text = f"{{ {name} -> {body.text} for {name} in {domain} }}"
        return Expr(text, lambda n: Map(body.value({**n, name: k}) for k in key.values()))


def with_or_without(sign: str, bag: Any, item: Any) -> Bag:
    """``bag`` with one more copy of ``item``, or with one less."""
    if sign == "+":
        return Bag(sorted((*bag, item)))
    at = bag.index(item) if item in bag else len(bag)
    return Bag((*bag[:at], *bag[at + 1 :]))


def is_untyped(text: str) -> bool:
    """Whether the type of a value that is written so is not known everywhere."""
    return any(empty in text for empty in ("none", "{}", "[]", "{||}"))


def like(one: Type, other: Type) -> bool:
    """Whether values of one type are of the kind of the other, but for ranges."""
    alike = one.kind == other.kind and len(one.parts) == len(other.parts)
    if one.kind == "map" and alike:
        return one.parts[0] == other.parts[0] and like(one.parts[1], other.parts[1])
    return alike and all(map(like, one.parts, other.parts))


def in_order(members: Any) -> list[Any]:
    return sorted(members, key=lambda each: (str(type(each)), each))


@dataclass
class Program(Expressions):
    """Draws statements on top: each is a text and what it does to names, where choices are made by
    a function."""

    varying: dict[str, Type] = field(default_factory=lambda: dict(STATES))

    def block(self, depth: int, number: int) -> tuple[str, Does]:
        known, varying = dict(self.names), dict(self.varying)
        made = [self.statement(depth) for _ in range(number)]
        self.names, self.varying = known, varying

        def does(names: Names, choose: Any) -> None:
            for _, each in made:
                each(names, choose)

        return "\n    ".join(text for text, _ in made), does

    def statement(self, depth: int) -> tuple[str, Does]:
        options = [self.assign] * 4 + [self.changed, self.part, self.let, self.var, self.pair]
        if depth > 0:
            options += [self.condition] * 2 + [self.loop] * 2
            options += [self.choice, self.either, self.atomic]
        return self.pick(options)(depth)  # type: ignore[no-any-return]

    def assign(self, depth: int) -> tuple[str, Does]:
        name, type_ = self.pick(self.varying.items())
        value = self.expr(type_, 3)
        return f"{name} := {value.text}", lambda n, _: store(n, name, type_, value.value(n))

    def changed(self, depth: int) -> tuple[str, Does]:
        kinds = ("set", "seq", "bag", "int")
        name, type_ = self.pick([(n, t) for n, t in self.varying.items() if t.kind in kinds])
        sign = "+=" if type_.kind == "seq" else self.pick(("+=", "-="))
        value = self.expr(type_.parts[0] if type_.parts else SMALL, 2)

        def does(n: Names, _: Any) -> None:
            old, new = n[name], value.value(n)
            match type_.kind, sign:
                case "seq", _:
                    old = Seq((*old, new))
                case "bag", _:
                    old = with_or_without(sign[0], old, new)
                case "set", "+=":
                    old = old | {new}
                case "set", _:
                    old = old - {new}
                case _:
                    old = old + new if sign == "+=" else old - new
            store(n, name, type_, old)

        return f"{name} {sign} {value.text}", does

    def part(self, depth: int) -> tuple[str, Does]:
        """An assignment to a field, or to an entry of a map or of a sequence."""
        kinds = ("record", "map", "seq")
        name, type_ = self.pick([(n, t) for n, t in self.varying.items() if t.kind in kinds])
        if type_.kind == "record":
            at = self.rng.randrange(2)
            value = self.expr(type_.parts[at], 2)

            def fills(n: Names, _: Any) -> None:
                new = (*n[name][:at], value.value(n), *n[name][at + 1 :])
                store(n, name, type_, new)

            return f"{name}.{'ab'[at]} := {value.text}", fills
        key = self.expr(type_.parts[0] if type_.kind == "map" else SMALL, 1)
        put = self.expr(type_.parts[-1], 2)
        kind = Map if type_.kind == "map" else Seq

        def changes(n: Names, _: Any) -> None:
            new, k = put.value(n), key.value(n)
            keys = type_.parts[0].values() if kind is Map else list(range(len(n[name])))
            if k not in keys:
                raise Wrong("no such key")
            place = keys.index(k)
            store(n, name, type_, kind((*n[name][:place], new, *n[name][place + 1 :])))

        return f"{name}[{key.text}] := {put.text}", changes

    def let(self, depth: int) -> tuple[str, Does]:
        type_, name = self.pick(STATES.values()), self.fresh()
        value = self.expr(type_, 3)
        self.names[name] = type_
        return f"let {name} = {value.text}", lambda n, _: n.update({name: value.value(n)})

    def pair(self, depth: int) -> tuple[str, Does]:
        one, other = self.fresh(), self.fresh()
        a, b = self.expr(SIGNED, 2), self.expr(seq_of(SMALL), 2)
        self.names |= {one: SIGNED, other: seq_of(SMALL)}
        text = f"let ({one}, {other}) = ({a.text}, {b.text})"
        return text, lambda n, _: n.update({one: a.value(n), other: b.value(n)})

    def var(self, depth: int) -> tuple[str, Does]:
        type_, name = self.pick(STATES.values()), self.fresh()
        value = self.expr(type_, 2)
        self.names[name] = self.varying[name] = type_
        text = f"var {name} : {type_.text} = {value.text}"
        return text, lambda n, _: store(n, name, type_, value.value(n))

    def condition(self, depth: int) -> tuple[str, Does]:
        c = self.expr(BOOL, 3)
        (yes, then), (no, otherwise) = self.block(depth - 1, 2), self.block(depth - 1, 1)
        text = f"if {c.text} {{\n    {yes}\n    }} else {{ {no} }}"
        return text, lambda n, pick: then(n, pick) if c.value(n) else otherwise(n, pick)

    def loop(self, depth: int) -> tuple[str, Does]:
        domain_type = self.pick((set_of(SMALL), seq_of(SMALL), set_of(SIGNED)))
        domain, name = self.expr(domain_type, 2), self.fresh()
        self.names[name] = domain_type.parts[0]
        asked = self.expr(BOOL, 2)
        text, body = self.block(depth - 1, 2)
        del self.names[name]

        def does(n: Names, pick: Any) -> None:
            members = domain.value(n)
            for member in members if isinstance(members, tuple) else in_order(members):
                n[name] = member
                if asked.value(n):
                    body(n, pick)

        return f"for {name} in {domain.text} when {asked.text} {{\n    {text}\n    }}", does

    def choice(self, depth: int) -> tuple[str, Does]:
        domain_type = self.pick((set_of(SMALL), set_of(COLOR), seq_of(SMALL)))
        domain, name = self.expr(domain_type, 2), self.fresh()
        self.names[name] = domain_type.parts[0]
        asked = self.expr(BOOL, 1)

        def does(n: Names, pick: Any) -> None:
            members = in_order(set(domain.value(n)))
            n[name] = pick([m for m in members if asked.value({**n, name: m})])

        return f"choose {name} in {domain.text} when {asked.text}", does

    def either(self, depth: int) -> tuple[str, Does]:
        c = self.expr(BOOL, 2)
        (one, first_), (other, second) = self.block(depth - 1, 1), self.block(depth - 1, 1)

        def does(n: Names, pick: Any) -> None:
            pick([first_, second] if c.value(n) else [second])(n, pick)

        return f"either when {c.text} {{ {one} }} or {{ {other} }}", does

    def atomic(self, depth: int) -> tuple[str, Does]:
        text, does = self.block(depth - 1, 2)
        return f"atomic {{ {text} }}", does


def store(names: Names, name: str, type_: Type, value: Any) -> None:
    if not type_.admits(value):
        raise Wrong("outside of its range")
    names[name] = value


class NoWay(Exception):
    """A choice without a value."""


def ends(does: Does, start: Names, most: int) -> list[Names] | None:
    """The variables at the end of all runs; ``None``: there are more than ``most``.  Raises
    :class:`Wrong` where some run has an error."""
    waiting: list[list[int]] = [[]]
    found: list[Names] = []
    while waiting:
        given = waiting.pop()
        taken = iter(given)
        made: list[int] = []

        def pick(options: list[Any]) -> Any:
            if not options:
                raise NoWay
            at = next(taken, 0)  # noqa: B023
            if len(made) >= len(given):  # noqa: B023
                waiting.extend([*made, other] for other in range(1, len(options)))  # noqa: B023
            made.append(at)  # noqa: B023
            return options[at]

        names = dict(start)
        try:
            does(names, pick)
        except NoWay:
            continue
        found.append({name: names[name] for name in STATES})
        if len(found) + len(waiting) > most:
            return None
    return [end for at, end in enumerate(found) if end not in found[:at]]


SPEC = """type Color = enum {{ red, green, blue }}
define twice(a: Nat): Nat = a + a
protocol P {{
{}
  state over = false
  upon condition not over {{
    over := true
    {}
  }}
{}
}}
check c of P {{ n = 1  prove {}  allow unused }}
"""


def spec_of(number: int, statements: int = 4) -> tuple[str, list[Names] | None]:
    """The text of the spec ``number``, and the ends of its handler (``None``: it has an error)."""
    program = Program(random.Random(number), dict(STATES))
    start = {name: default(type_) for name, type_ in STATES.items()}
    made: list[tuple[str, Does]] = []
    reached: list[Names] | None = [start]
    while len(made) < statements:
        before = dict(program.names), dict(program.varying)
        statement = program.statement(2)

        def does(n: Names, pick: Any, body: Any = (*made, statement)) -> None:
            for _, each in body:
                each(n, pick)

        try:
            found = ends(does, start, 24)
        except Wrong:
            found, is_kept = None, program.rng.random() < 0.02
        else:
            is_kept = bool(found)
        if is_kept:
            made.append(statement)
            reached = found
        else:
            program.names, program.varying = before
        if reached is None:
            break
    text = "\n    ".join(each for each, _ in made)
    empty = {n: t.said(start[n]) for n, t in STATES.items()}
    states = "\n".join(f"  state {n} : {t.text} = {empty[n]}" for n, t in STATES.items())
    asked = []
    for end in reached or []:
        said = " and ".join(f"p1.{n} == {t.said(end[n])}" for n, t in STATES.items())
        asked.append(f"({said})")
    known = " or ".join(asked) or "true"
    properties = [f"  property known : always p1.over => {known}"]
    properties += [
        f"  property end{at} : always not (p1.over and {e})" for at, e in enumerate(asked)
    ]
    names = ", ".join(["known", *(f"end{at}" for at in range(len(asked)))])
    return SPEC.format(states, text, "\n".join(properties), names), reached
