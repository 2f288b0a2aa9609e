"""Random formulas, and the same ones written in other ways."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import count

from checker.records import replace

SHAPES = {
    "not": "not ({0})",
    "and": "({0}) and ({1})",
    "or": "({0}) or ({1})",
    "=>": "({0}) => ({1})",
    "~>": "({0}) ~> ({1})",
    "always": "always ({0})",
    "eventually": "eventually ({0})",
    "initially": "initially ({0})",
    "forall": "forall {v} in Proc: ({0})",
    "exists": "exists {v} in Proc: ({0})",
    "when": "forall {v} in Proc when {0}: ({1})",
}
ATOMS = ("{v}.x <= 2",) * 4 + ("{v}.x <= 1", "{v}.x > 2", "{v}.a", "{v}.b", "{v}.x > {w}.x")


@dataclass(frozen=True)
class F:
    """A formula: a predicate of states, or an operator and its parts; ``v``: the name it binds."""

    op: str
    parts: tuple[F, ...] = ()
    v: str = ""
    text: str = ""

    def __str__(self) -> str:
        if self.op == "atom":
            return self.text
        return SHAPES[self.op].format(*self.parts, v=self.v)

    @property
    def timed(self) -> bool:
        return self.op in ("always", "eventually", "initially", "~>") or any(
            part.timed for part in self.parts
        )

    def called(self, old: str, new: str) -> F:
        """The same about ``new`` in the place of ``old``."""
        text = " ".join(
            new + word.removeprefix(old) if word == old or word.startswith(f"{old}.") else word
            for word in self.text.split()
        ).replace(f"({old})", f"({new})")
        return replace(self, text=text, parts=tuple(p.called(old, new) for p in self.parts))


def no(part: F) -> F:
    return F("not", (part,))


def _of(op: str, *parts: F, v: str = "") -> F:
    return F(op, parts, v)


class Drawing:
    """Draws formulas and other ways to write them.  ``faults``: processes may crash."""

    def __init__(self, draw: random.Random, faults: bool) -> None:
        self.draw, self.faults, self.names = draw, faults, count()

    def name(self) -> str:
        return f"p{next(self.names)}_"

    # ---- formulas -----------------------------------------------------------------------------

    def formula(self, depth: int = 3) -> F:
        """One for all processes, or about all of them at once."""
        name = self.name()
        if self.draw.random() < 0.5:
            premise = self.faults and self.draw.random() < 0.4
            body = self.temporal(depth, (name,), first=True)
            correct = F("atom", text=f"correct({name})")
            return _of("forall", _of("=>", correct, body) if premise else body, v=name)
        return self.temporal(depth, (), first=True)

    def temporal(self, depth: int, names: tuple[str, ...], *, first: bool) -> F:
        """One in which every atom stands behind a temporal operator; ``first``: it is meant at the
        beginning of a run."""
        draw = self.draw
        ops = ["always"] * 5 + ["eventually"] * 2 + ["~>"] + ["initially"] * (2 * first)
        if depth > 1:
            ops += ["and", "and", "or", "or", "=>", "=>", "not"]
        match draw.choice(ops):
            case "~>":
                return _of("~>", self.state(names), self.state(names))
            case "initially":
                return _of("initially", self.state(names))
            case "always" | "eventually" as op:
                if depth > 1 and draw.random() < 0.4:
                    inner = self.temporal(depth - 1, names, first=False)
                    joined = draw.choice(("and", "or", "=>"))
                    return _of(op, _of(joined, self.state(names), inner))
                return _of(op, self.state(names))
            case "not":
                return no(self.temporal(depth - 1, names, first=first))
            case op:
                parts = (self.temporal(depth - 1, names, first=first) for _ in range(2))
                return _of(op, *parts)

    def state(self, names: tuple[str, ...]) -> F:
        draw = self.draw
        if not names or draw.random() < 0.2:
            name = self.name()
            return _of(draw.choice(("forall", "exists")), self.state((*names, name)), v=name)
        if draw.random() < 0.3:
            op = draw.choice(("and", "or", "=>"))
            return _of(op, self.state(names), self.state(names))
        atoms = (*ATOMS, "crashed({v})") if self.faults else ATOMS
        text = draw.choice(atoms).format(v=names[-1], w=names[0])
        found = F("atom", text=text)
        return no(found) if draw.random() < 0.1 else found

    # ---- other ways to write them -------------------------------------------------------------

    def rewritten(self, formula: F, inside: bool = False) -> F:
        """An equivalent of ``formula``; ``inside``: it stands behind a temporal operator."""
        deeper = inside or formula.op in ("always", "eventually", "initially", "~>")
        parts = tuple(self.rewritten(part, deeper) for part in formula.parts)
        formula = replace(formula, parts=parts)
        if formula.v and self.draw.random() < 0.3:
            name = self.name()
            parts = tuple(part.called(formula.v, name) for part in parts)
            formula = replace(formula, v=name, parts=parts)
        ways = self.ways(formula, inside)
        return self.draw.choice(ways) if ways and self.draw.random() < 0.5 else formula

    def ways(self, f: F, inside: bool) -> list[F]:
        always, a = lambda x: _of("always", x), f.parts[0] if f.parts else f
        b = f.parts[-1] if f.parts else f
        found = [no(no(f))]
        match f.op:
            case "always":
                found += [no(_of("eventually", no(a))), always(f)]
                if not inside:
                    found.append(_of("and", _of("initially", a), f) if not a.timed else f)
                if a.op == "and":
                    found += [_of("and", always(a.parts[0]), always(a.parts[1]))] * 3
                if a.op == "forall":
                    found += [_of("forall", always(a.parts[0]), v=a.v)] * 3
            case "eventually":
                found += [no(always(no(a))), _of("eventually", f)]
                if a.op == "or":
                    found.append(_of("or", *(_of("eventually", part) for part in a.parts)))
            case "initially":
                found.append(no(_of("initially", no(a))))
            case "and":
                found += [_of("and", b, a), no(_of("or", no(a), no(b)))]
                if a.op == b.op == "always":
                    found += [always(_of("and", a.parts[0], b.parts[0]))] * 3
            case "or":
                found += [_of("or", b, a), no(_of("and", no(a), no(b))), _of("=>", no(a), b)]
            case "=>":
                found += [_of("or", no(a), b), _of("=>", no(b), no(a))]
            case "~>":
                found += [always(_of("=>", a, _of("eventually", b)))] * 2
            case "forall":
                found.append(no(_of("exists", no(a), v=f.v)))
                if a.op == "=>" and inside and not a.timed:
                    found += [_of("when", *a.parts, v=f.v)] * 3
                if a.op == "and":
                    found.append(_of("and", *(_of("forall", part, v=f.v) for part in a.parts)))
                if a.op == "always":
                    found += [always(_of("forall", a.parts[0], v=f.v))] * 3
            case "exists":
                found.append(no(_of("forall", no(a), v=f.v)))
        return found
