"""Random specs in which handlers with several effects run beside processes that pass through
values, and properties of all shapes that watch them."""

from __future__ import annotations

import random

ACTS = ("perform 1", "perform 2", "perform 3", "perform idempotent 1")
LOCAL = ("told := true", "told := not told", "y := true", "y := true", "if x < 2 { x := x + 1 }")
SENDS = ("send A to all", "send B to all", "send A to a", "send B to b")
PASSING = (
    "upon condition x < 2 {at} { x := x + 1 }",
    "upon condition x < 2 {at} { x := x + 1  perform 3 }",
    "upon condition told {at} { told := false }",
    "upon condition x == 1 {at} { x := 0 }",
    "upon condition true {at} { if x == 0 { x := 1 } else { x := 0 } }",
    "may upon condition x < 2 {at} { x := x + 1 }",
    "upon condition not y {at} { y := true  if x < 2 { x := x + 1 } }",
)
ATOMS = (
    "p.told", "not p.told", "p.y", "q.told", "p.x == {k}", "q.x == {k}", "p.x != {k}", "crashed(p)",
    "{act} in performed", "{act} in effects", "#performed == {k}", "repeated(performed, {act})",
    "(#performed == 2 and performed[0] == {act})", "(exists w in Proc: w.x == {k})",
    "(forall w in Proc: w.told)", "(exists w in Proc: w.told and not w.y)",
    "(p.x == {k} and q.x == {j})", "(p.told and q.x == {k})",
)  # fmt: skip
FAULTS = ("", "", "faults crash <= 1", "faults crash <= 1, recover")
LINKS = ("perfect",) * 3 + ("fifo", "lossy", "lossy, bounded 1", "fair_loss, bounded 1")


def watched(seed: int) -> str:
    """A spec with three properties."""
    return _Draw(seed).spec()


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.faults = self.random.choice(FAULTS)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def spec(self) -> str:
        draw = self.random
        once = range(draw.choice((1, 1, 2)))
        handlers = [self.once(i) for i in once]
        passing = draw.choice((*PASSING[:2] * 3, *PASSING))
        handlers.append(passing.replace("{at}", draw.choice(("at a", "at b"))))
        handlers += [f"upon receive {m} {{ {self.body()} }}" for m in "AB" if self.chance(40)]
        if self.chance(15):
            handlers.append(f"upon init {{ {self.body()} }}")
        if "recover" in self.faults and self.chance(30):
            handlers.append(f"upon recover {{ {self.body()} }}")
        states = ["x : 0..2 = 0", "told = false", "y = false", *(f"once{i} = false" for i in once)]
        lines = ["message A", "message B", *(f"{self.kind()} {s}" for s in states), *handlers]
        lines += [f"property q{i} : {self.property()}" for i in range(3)]
        world = f"n = 2  a = p1  b = p2  {self.faults}  links {draw.choice(LINKS)}"
        asked = "prove q0, q1, q2  allow unused"
        return "\n".join(
            ["protocol P(a: Proc, b: Proc) {", *lines, "}", "check c of P {", world, asked, "}", ""]
        )

    def kind(self) -> str:
        return "stable state" if "recover" in self.faults and self.chance(50) else "state"

    def once(self, index: int) -> str:
        """A condition that is taken once; it alone sends."""
        where = self.random.choice(("", " at a", " at b"))
        guard = self.random.choice(("", " and told", " and x > 0", " and y")) if index else ""
        body = self.body((*SENDS, *SENDS), f"once{index} := true")
        return f"upon condition not once{index}{guard}{where} {{ {body} }}"

    def body(self, more: tuple[str, ...] = (), first: str = "") -> str:
        draw = self.random
        found = [draw.choice((*ACTS, *ACTS, *LOCAL, *more)) for _ in range(draw.choice((1, 2, 3)))]
        if first:
            found.insert(draw.randrange(len(found) + 1), first)
        if self.chance(10) and more:
            return f"atomic {{ {'  '.join(found)} }}"
        return "  ".join((*found, draw.choice(ACTS)) if self.chance(40) else found)

    # -- properties -----------------------------------------------------------------------------

    def property(self) -> str:
        draw = self.random
        if self.chance(25):
            return f"always forall p, q in Proc: {self.state(2)}"
        if self.chance(50):
            return f"not exists p, q in Proc: {self.passed()}"
        quantifier = draw.choice(("forall", "not exists", "not exists", "exists"))
        condition = draw.choice(("", " when p != q"))
        return f"{quantifier} p, q in Proc{condition}: {self.timed(draw.choice((1, 1, 2)))}"

    def state(self, depth: int) -> str:
        draw = self.random
        if not depth or self.chance(50):
            values = {"k": draw.randrange(3), "j": draw.randrange(3), "act": draw.randrange(1, 4)}
            return draw.choice(ATOMS).format(**values)
        joint = draw.choice(("and", "or"))
        return f"({self.state(depth - 1)} {joint} {self.state(depth - 1)})"

    def passed(self) -> str:
        """A value has not been passed through, in some respect, and yet the next one is there."""
        middle, end = "p.x == 1", "p.x == 2"
        if self.chance(60):
            middle = f"{middle} and {self.state(0)}"
        if self.chance(30):
            end = f"{end} and {self.state(0)}"
        return f"(always not ({middle})) and eventually ({end})"

    def timed(self, depth: int) -> str:
        """A formula about whole runs; often one that asks whether something was passed through."""
        draw, state = self.random, self.state(1)
        shapes = [f"(always {state})", f"(eventually {state})"]
        if depth:
            one, other = self.timed(depth - 1), self.timed(depth - 1)
            passed = f"((always {state}) and eventually {self.state(1)})"
            shapes += [passed, passed, f"(not {one})", f"({one} and {other})"]
            shapes += [f"({one} or {other})", f"({state} ~> {self.state(1)})"]
            shapes += [f"(always eventually {state})", f"(eventually always {state})"]
        return draw.choice(shapes)
