"""Types questions about chance: ``almost surely``, ``chance of``, ``expected steps``."""

from __future__ import annotations

from collections.abc import Iterable

from checker.language.syntax import ast, ast_chance, ast_items, typed
from checker.language.typecheck.expressions import check
from checker.language.typecheck.own_properties import own_properties
from checker.language.typecheck.scope import Hole, Home, Scope, suggestion
from checker.language.typecheck.types import INT

VERDICTS = ("holds", "violated", "unknown")


def chance_questions(
    asked: list[ast_chance.ChanceQuestion],
    expected: list[ast_chance.ExpectChance],
    home: Home,
    sizes: Home,
    others: Iterable[typed.PropertyDef],
    protocol: typed.Protocol,
) -> tuple[typed.ChanceQuestion, ...]:
    """Returns the questions of a check, those that it expects a verdict of behind the others.

    ``home``: what formulas may mention; ``sizes``: what numbers may; ``others``: the properties
    that may be named.  Errors go to the report of ``home``.
    """
    words = {item.question.text: _word(item, home) for item in expected}
    every = {q.text: q for q in (*asked, *(item.question for item in expected))}
    known = tuple(others)
    handlers = {h.label for role in protocol.roles for h in role.handlers}
    made = (
        _question(q, words.get(q.text, ""), home, sizes, known, handlers) for q in every.values()
    )
    return tuple(question for question in made if question is not None)


def _word(item: ast_chance.ExpectChance, home: Home) -> str:
    word = item.word.text
    if word not in VERDICTS:
        hint = suggestion(word, VERDICTS)
        home.report.add(
            "C008", f"no verdict `{word}` for a probabilistic query", item.word.span, hint=hint
        )
    return word


def _question(
    question: ast_chance.ChanceQuestion,
    word: str,
    home: Home,
    sizes: Home,
    others: tuple[typed.PropertyDef, ...],
    handlers: set[str],
) -> typed.ChanceQuestion | None:
    path, bound = question.path, question.bound
    goal = path.goal
    if question.counts or path.keeps is not None:
        goal = ast.Operator("eventually", (goal,), goal.span)
    written = [_decl(question, goal)]
    if path.keeps is not None:
        keeps = ast.Operator("always", (path.keeps,), path.keeps.span)
        written.append(_decl(question, keeps, "until "))
    formulas = own_properties(written, home, others)
    if len(formulas) < len(written) or not _is_handler(question, handlers, home):
        return None
    constant = Scope(sizes, "constant")
    try:
        steps = None if path.steps is None else check(path.steps, constant, INT)
        numbers = () if bound is None else (bound.numerator, bound.denominator)
        checked = [None if number is None else check(number, constant, INT) for number in numbers]
    except Hole:
        return None
    return typed.ChanceQuestion(
        name=question.text,
        goal=formulas[0],
        keeps=formulas[1] if len(formulas) > 1 else None,
        steps=steps,
        numerator=checked[0] if checked else None,
        denominator=checked[1] if checked else None,
        at_least=bound is None or bound.at_least,
        counts=question.counts,
        handler="" if path.handler is None else path.handler.text,
        some=question.some,
        expected=word,
        span=question.span,
    )


def _decl(
    question: ast_chance.ChanceQuestion, formula: ast.Expr, prefix: str = ""
) -> ast_items.PropertyDecl:
    name = ast.Name(prefix + question.text, formula.span)
    return ast_items.PropertyDecl(name, "", formula, question.text, question.span)


def _is_handler(question: ast_chance.ChanceQuestion, handlers: set[str], home: Home) -> bool:
    """Reports a handler that does not exist."""
    name = question.path.handler
    if name is None or name.text in handlers:
        return True
    hint = suggestion(name.text, [h for h in handlers if not h.startswith("upon ")])
    hint = hint or f"give it a name: `upon condition … as {name.text}`"
    home.report.add("C034", f"no handler is called `{name.text}`", name.span, hint=hint)
    return False
