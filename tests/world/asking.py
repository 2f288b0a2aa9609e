"""Random questions about specs that :mod:`tests.world.drawing` has drawn."""

from __future__ import annotations

import random

from tests.world import spec as s
from tests.world.protocol import Protocol, Question

M = s.name("m")


def questions(draw: random.Random, top: Protocol, *, crash: bool) -> tuple[Question, ...]:
    """Some about all states, some about whole runs."""
    asking = Asking(draw, top, crash)
    kinds = ("always", "always", "always", "leads", "leads", draw.choice(("stays", "recurs")))
    return tuple(asking.question(f"q{i}", kind) for i, kind in enumerate(kinds))


class Asking:
    """Draws questions."""

    def __init__(self, draw: random.Random, top: Protocol, crash: bool) -> None:
        self.draw, self.crash = draw, crash
        self.acts = any("perform " in h.text for h in top.handlers)
        self.flags = [v.name for v in top.variables if v.type == "bool" and not _shared(v.kind)]

    def question(self, name: str, kind: str) -> Question:
        draw = self.draw
        processes = draw.choice((("p",), ("p", "q")))
        payloads = draw.choice(((), ("m",), ("m",), ("m", "k")))
        atom = self.atom(processes[-1], processes[0], payloads)
        conclusion = atom if draw.random() < 0.7 else s.no(atom)
        premise = None
        if kind in ("always", "leads"):
            premise = self.atom(processes[0], processes[-1], payloads)
            if kind == "always" and draw.random() < 0.4:
                other = self.atom(processes[-1], processes[0], payloads)
                premise = s.both(premise, s.no(other) if draw.random() < 0.5 else other)
        correct = tuple(p for p in processes if draw.random() < (0.3 if kind == "always" else 0.7))
        text = f"{conclusion.text} {'' if premise is None else premise.text}"
        used = tuple(p for p in processes if _names(text, p) or p in correct)
        mentioned = tuple(m for m in payloads if _names(text, m))
        return Question(name, kind, conclusion, premise, used, mentioned, correct)

    def atom(self, p: str, q: str, payloads: tuple[str, ...]) -> s.Expr:
        draw = self.draw
        found = [s.of(p, draw.choice(self.flags)), s.of(p, draw.choice(self.flags))]
        found.append(s.within(s.name(q), s.of(p, "heard")))
        if payloads:
            entry = s.pair(s.name(q), M)
            found += [s.within(M, s.of(p, "log")), s.within(M, s.history("broadcast", p))]
            found += [s.within(entry, s.history("delivered", p))] * 2
            found.append(s.repeated(p, entry))
        if len(payloads) > 1:
            found += [s.before(p, entry, s.pair(s.name(q), s.name("k")))] * 2
        if self.crash:
            found.append(s.crashed(p))
        if self.acts:
            act = s.number(draw.choice((1, 2)))
            found += [s.done(draw.choice(("performed", "effects")), act, draw.choice((1, 2)))] * 2
        return draw.choice(found)


def _shared(kind: str) -> bool:
    return kind == "shared state"


def _names(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` as a word."""
    spaced = "".join(c if c.isalnum() else " " for c in text)
    return name in spaced.split()
