"""Random questions about specs that :mod:`tests.world.drawing` has drawn."""

from __future__ import annotations

import random

from checker.records import replace
from tests.world import spec as s
from tests.world.carrying import CARRIED
from tests.world.judge import Graph, Look, Verdict, bindings, judge
from tests.world.protocol import Protocol, Question

M = s.name("m")


def questions(draw: random.Random, top: Protocol, *, crash: bool) -> tuple[Question, ...]:
    """Some about all states, some about whole runs."""
    asking = Asking(draw, top, crash)
    kinds = ("always",) * 6 + ("leads",) * 8 + ("stays", "recurs", "starts", "starts")
    return tuple(asking.question(f"q{i}", kind) for i, kind in enumerate(kinds))


def limit(draw: random.Random, top: Protocol) -> Question:
    """A bound: what is not so at first, so that something happens within it."""
    asking = Asking(draw, top, False)
    asked = asking.question("limit", "always")
    conclusion = s.no(asking.atom("p", "p", ("m",)))
    if asked.premise is None or draw.random() < 0.7:
        return asking.about(Question("limit", "always", conclusion, None, ("p",), ("m",)))
    return replace(asked, correct=(), way=0)


class Asking:
    """Draws questions."""

    def __init__(self, draw: random.Random, top: Protocol, crash: bool) -> None:
        self.draw, self.crash, self.top = draw, crash, top
        self.acts = any("perform " in h.text for h in top.handlers)
        own = [v for v in top.variables if not v.kind.endswith("shared state")]
        self.flags = list(dict.fromkeys(v.name for v in own if v.type == "bool"))
        self.own = {v.name for v in own}

    def progress(self, name: str) -> Question:
        """Whether a correct process comes to set one of its flags."""
        draw, flag = self.draw, s.of("p", self.draw.choice(self.flags))
        premise = draw.choice((None, s.within(M, s.history("broadcast", "p")), s.of("p", "flag")))
        payloads = ("m",) if premise is not None and "broadcast" in premise.text else ()
        return self.about(Question(name, "leads", flag, premise, ("p",), payloads, ("p",)))

    def about(self, question: Question) -> Question:
        """``question``, about a role where it reads what processes of a role have."""
        among, text = [], question.text
        for p in question.processes:
            if self.top.roles and (f"{p}." in text or self.draw.random() < 0.3):
                among.append((p, self.draw.choice(self.top.roles)[0]))
        return replace(question, among=tuple(among))

    def question(self, name: str, kind: str) -> Question:
        draw = self.draw
        if kind == "leads" and draw.random() < 0.5:
            return self.progress(name)
        processes = draw.choice((("p",), ("p",), ("p", "q")))
        payloads = draw.choice(((), ("m",), ("m",), ("m", "k")))
        atom = self.atom(processes[-1], processes[0], payloads)
        conclusion = atom if draw.random() < (0.9 if kind == "leads" else 0.6) else s.no(atom)
        premise = None
        if kind in ("always", "leads"):
            if kind == "always" or draw.random() < 0.7:
                premise = self.atom(processes[0], processes[-1], payloads)
            if kind == "always" and premise is not None and draw.random() < 0.4:
                other = self.atom(processes[-1], processes[0], payloads)
                premise = s.both(premise, s.no(other) if draw.random() < 0.5 else other)
        if kind == "starts":
            premise = self.atom(processes[0], processes[-1], payloads)
            premise = s.no(premise) if draw.random() < 0.7 else premise
        correct = tuple(p for p in processes if draw.random() < (0.3 if kind == "always" else 0.8))
        text = f"{conclusion.text} {'' if premise is None else premise.text}"
        used = tuple(p for p in processes if _names(text, p) or p in correct)
        mentioned = tuple(m for m in payloads if _names(text, m))
        way = len(text) % 3
        return self.about(
            Question(name, kind, conclusion, premise, used, mentioned, correct, way=way)
        )

    def atom(self, p: str, q: str, payloads: tuple[str, ...]) -> s.Expr:
        draw = self.draw
        found = [s.of(p, draw.choice(self.flags)), s.of(p, draw.choice(self.flags))]
        found.append(s.within(s.name(q), s.of(p, "heard")))
        for carried in CARRIED.values():
            if carried.variable.name in self.own:
                asked = carried.seen(p)
                found += [e for e in asked if "[q]" not in e.text or q == "q"]
        if "decision" in self.own:
            mine, theirs = s.of(p, "decision"), s.of(q, "decision")
            found += [s.is_some(mine), s.equal(mine, s.some(s.number(1))), s.equal(mine, theirs)]
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


def _names(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` as a word."""
    spaced = "".join(c if c.isalnum() else " " for c in text)
    return name in spaced.split()


# ---- which questions are worth asking ---------------------------------------------------------


def telling(graph: Graph, most: int = 4) -> tuple[Graph, dict[str, Verdict]]:
    """``graph`` with those of its questions that tell most, and their verdicts: some that hold
    although there is something to them, some that take long to fail, some about whole runs."""
    verdicts, questions = judge(graph), graph.model.spec.questions
    holding = [q for q in questions if not verdicts[q.name].violated and at_stake(graph, q)]
    failing = [q for q in questions if verdicts[q.name].violated and verdicts[q.name].length != 0]
    failing.sort(key=lambda q: -(verdicts[q.name].length or 4))
    holding.sort(key=lambda q: q.kind != "leads")
    chosen = [*holding[: 2 * most], *failing[:most]] or list(questions[:1])
    graph.model.spec = replace(graph.model.spec, questions=tuple(chosen))
    return graph, {q.name: verdicts[q.name] for q in chosen}


def at_stake(graph: Graph, question: Question) -> bool:
    """Whether the premise is true somewhere, and of whole runs the conclusion is not, there."""
    for names in bindings(graph.model, question):
        for state in graph.states:
            look = Look(graph.model, state, names)
            if question.premise is None or question.premise.value(look):
                if question.kind == "always" or not question.conclusion.value(look):
                    return True
    return False
