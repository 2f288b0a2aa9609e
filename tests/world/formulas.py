"""Reads properties as questions that :mod:`tests.world.judge` answers, one for each value of their
outer parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from checker.language.syntax import typed
from tests.world.judge import Graph, Look, Verdict, about
from tests.world.protocol import Question
from tests.world.values import Expressions, Unsupported, walked


@dataclass
class Parts:
    """A formula, taken apart: ``premises`` and who is asked to be ``correct``."""

    correct: list[typed.Expr]
    premises: list[typed.Expr]
    conclusion: typed.Expr


def verdict(graph: Graph, reader: Expressions, asked: typed.PropertyDef) -> Verdict:
    """The verdict of a property, that of a shortest run where it is violated."""
    found = Verdict(False)
    for question, names in Formulas(graph, reader).questions(asked.formula, {}):
        told = about(graph, question, names)
        shorter = not found.violated or (told.length or 0) < (found.length or 0)
        if told.violated and shorter:
            found = told
    return found


class Formulas:
    """Reads properties of the systems of ``graph``."""

    def __init__(self, graph: Graph, reader: Expressions) -> None:
        self.graph, self.reader = graph, reader

    def look(self, names: dict[str, Any]) -> Look:
        return Look(self.graph.model, self.graph.states[0], names)

    def questions(
        self, e: typed.Expr, names: dict[str, Any], around: Parts | None = None
    ) -> Iterator[tuple[Question, dict[str, Any]]]:
        """The questions that together are ``e``; ``around``: what they are asked under."""
        around = around or Parts([], [], e)
        match e:
            case typed.Quantified(_, "forall", binders, body) if is_temporal(e):
                if any(changing(binder) for binder in binders):
                    raise Unsupported("a formula about whole runs of what changes")
                for each in self.reader.bound(binders, self.look(names)):
                    yield from self.questions(body, each.names, around)
            case typed.Operation(_, "and", arguments) if is_temporal(e):
                for each in arguments:
                    yield from self.questions(each, names, around)
            case typed.Operation(_, "=>", (premise, body)) if is_temporal(body):
                if is_temporal(premise) and not _is_initial(premise):
                    raise Unsupported("a run in the premise of a run")
                more = conjuncts(premise)
                correct = around.correct + [c.process for c in more if is_correct(c)]
                begun = around.premises + [m for m in more if not is_correct(m)]
                yield from self.questions(body, names, Parts(correct, begun, e))
            case typed.Operation(_, "not", (typed.Temporal(kind, "eventually", (inner,)),)):
                no = typed.Operation(typed.Bool(), "not", (inner,), e.span)
                yield from self.questions(
                    typed.Temporal(kind, "always", (no,), e.span), names, around
                )
            case typed.Temporal():
                yield from self.about_runs(e, names, around)
            case _:
                raise Unsupported("a formula of another form")

    def about_runs(
        self, e: typed.Temporal, names: dict[str, Any], around: Parts
    ) -> Iterator[tuple[Question, dict[str, Any]]]:
        match e.op, e.args:
            case "~>", (begun, ends) if not is_temporal(begun) and not is_temporal(ends):
                more = conjuncts(begun)
                correct = around.correct + [c.process for c in more if is_correct(c)]
                left = [m for m in more if not is_correct(m)]
                self.only_now(around)
                yield self.question("leads", correct, left, ends, names)
            case "always", (typed.Quantified(_, "forall", binders, body) as inner,) if is_temporal(
                inner
            ) or mentions_correct(inner):
                first, others = _rigid(binders)
                if not first:
                    yield self.always(inner, names, around)
                    return
                rest = typed.Quantified(inner.type, "forall", others, body, e.span)
                again = typed.Temporal(e.type, "always", (rest if others else body,), e.span)
                for each in self.reader.bound(first, self.look(names)):
                    yield from self.about_runs(again, each.names, around)
            case "always", (typed.Temporal(_, "eventually", (inner,)),) if not is_temporal(inner):
                self.only_now(around)
                yield self.question("recurs", around.correct, [], inner, names)
            case "always", (
                typed.Operation(_, "=>", (begun, typed.Temporal(_, "eventually", (x,)))),
            ):
                leads = typed.Temporal(e.type, "~>", (begun, x), e.span)
                yield from self.about_runs(leads, names, around)
            case "always", (typed.Operation(_, "and", parts),) if is_temporal(e.args[0]):
                for part in parts:
                    again = typed.Temporal(e.type, "always", (part,), e.span)
                    yield from self.about_runs(again, names, around)
            case "always", (inner,) if not is_temporal(inner):
                yield self.always(inner, names, around)
            case "eventually", (typed.Temporal(_, "always", (inner,)),) if not is_temporal(inner):
                kind = "starts" if around.premises else "stays"
                yield self.question(kind, around.correct, around.premises, inner, names)
            case "eventually", (inner,) if not is_temporal(inner):
                yield self.question("comes", around.correct, around.premises, inner, names)
            case _:
                raise Unsupported("a formula of another form")

    def only_now(self, around: Parts) -> None:
        if around.premises:
            raise Unsupported("a premise about the first state")

    def always(self, inner: typed.Expr, names: dict[str, Any], around: Parts) -> Any:
        self.only_now(around)
        parts = hoisted(inner)
        correct = around.correct + parts.correct
        return self.question("always", correct, parts.premises, parts.conclusion, names)

    def question(
        self,
        kind: str,
        correct: list[typed.Expr],
        premises: list[typed.Expr],
        conclusion: typed.Expr,
        names: dict[str, Any],
    ) -> tuple[Question, dict[str, Any]]:
        read, look = self.reader, self.look(names)
        who = [read.value(process)(look) for process in correct]
        called = {f"_{i}": p for i, p in enumerate(who)}
        premises = [p.args[0] if _is_initial(p) else p for p in premises]
        span = conclusion.span
        premise = read.expr(typed.Operation(typed.Bool(), "and", tuple(premises), span))
        asked = Question(
            "", kind, read.expr(conclusion), premise if premises else None, (), (), tuple(called)
        )
        return asked, {**names, **called}


def is_temporal(e: object) -> bool:
    return any(isinstance(node, typed.Temporal) for node in walked(e))


def _is_initial(e: typed.Expr) -> bool:
    return isinstance(e, typed.Temporal) and e.op == "initially"


def is_correct(e: typed.Expr) -> bool:
    return isinstance(e, typed.Correct) and e.kind == "correct"


def mentions_correct(e: object) -> bool:
    return any(is_correct(node) for node in walked(e) if isinstance(node, typed.Correct))


def changing(e: object) -> bool:
    return mentions_correct(e) or any(typed.changes(node) for node in walked(e))


def conjuncts(e: typed.Expr) -> list[typed.Expr]:
    """``e``, taken apart at each ``and``."""
    if isinstance(e, typed.Operation) and e.op == "and":
        return [part for each in e.args for part in conjuncts(each)]
    return [e]


def _rigid(
    binders: tuple[typed.Binder, ...],
) -> tuple[tuple[typed.Binder, ...], tuple[typed.Binder, ...]]:
    """Those of ``binders`` that range over the same values in every state, and the others."""
    first = list[typed.Binder]()
    others = list[typed.Binder]()
    for binder in binders:
        (others if changing(binder) or _uses(binder, others) else first).append(binder)
    return tuple(first), tuple(others)


def _uses(node: object, binders: list[typed.Binder]) -> bool:
    bound = {n.name for b in binders for n in walked(b.pattern) if isinstance(n, typed.Bind)}
    return any(isinstance(n, typed.Local) and n.name in bound for n in walked(node))


def hoisted(e: typed.Expr) -> Parts:
    """Who is asked to be correct in ``e``, wherever that is a premise of all of it."""
    match e:
        case typed.Quantified(_, "forall", binders, body):
            inner = hoisted(body)
            if _uses(tuple(inner.correct), list(binders)):
                raise Unsupported("correct(p) of a process that changes")
            for binder in binders:
                if mentions_correct(binder):
                    raise Unsupported("correct(p) in a domain")
            body = inner.conclusion
            if inner.premises:
                span, left = e.span, tuple(inner.premises)
                premise = typed.Operation(typed.Bool(), "and", left, span)
                body = typed.Operation(typed.Bool(), "=>", (premise, body), span)
            whole = typed.Quantified(e.type, "forall", binders, body, e.span)
            return Parts(inner.correct, [], whole)
        case typed.Operation(_, "=>", (premise, body)):
            inner, more = hoisted(body), conjuncts(premise)
            correct = [c.process for c in more if is_correct(c)] + inner.correct
            left = [m for m in more if not is_correct(m)] + inner.premises
            return Parts(correct, left, inner.conclusion)
        case _:
            return Parts([], [], e)
