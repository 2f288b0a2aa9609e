"""Prints typed expressions in the syntax of specs, with named holes for values."""

from __future__ import annotations

from collections.abc import Iterable

from checker.instantiate.protocol.expressions import Env, lower
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.model import ir
from checker.model.ir import Expr
from checker.model.reading import Phrase
from checker.model.types import BOOL
from checker.records import replace

_BINDING = {
    "or": 2, "=>": 1, "~>": 1, "and": 3, "not": 4, "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5,
    ">=": 5, "in": 5, "not in": 5, "subset": 5, "prefix": 5, "union": 6, "intersect": 6, "minus": 6,
    "+": 7, "-": 7, "++": 7, "*": 8, "div": 8, "mod": 8, "neg": 9,
}  # fmt: skip
"""Precedence of operators; an operand of lower precedence is parenthesised."""

_FROM_THE_LEFT = frozenset(
    ("and", "or", "+", "-", "++", "*", "div", "mod", "union", "intersect", "minus")
)
"""Operators whose left operand needs no parentheses if it has the same precedence."""

_FROM_THE_RIGHT = frozenset(("and", "or", "=>"))
"""Those whose right operand needs none."""

_ATOMIC = 10


def spell(expr: typed.Expr, env: Env) -> Phrase:
    """Returns ``expr`` as text; names in ``env`` are holes, to be filled with their values."""
    return _tidy(_spell_part(expr, env)[0])


def spell_named(expr: typed.Expr, env: Env) -> str:
    """Returns ``expr`` as the spec has it: parameters and local names by their names."""
    names: dict[str, Expr] = {name: ir.Local(BOOL, name) for name in env.world.sizes.values}
    parts = spell(expr, replace(env, names=names))
    return "".join(part.name if isinstance(part, ir.Local) else str(part) for part in parts)


def pattern_spelled(pattern: typed.Pattern, env: Env) -> Phrase:
    """Returns ``pattern`` as text, in the same way."""
    return _tidy(_pattern(pattern, env))


def _tidy(parts: Iterable[str | Expr]) -> Phrase:
    """Joins adjacent texts."""
    result: list[str | Expr] = []
    for part in parts:
        if isinstance(part, str) and result and isinstance(result[-1], str):
            result[-1] += part
        elif part != "":
            result.append(part)
    return tuple(result)


def _spell_part(expr: typed.Expr, env: Env) -> tuple[Phrase, int]:
    """Returns the text and the precedence of its outermost operator."""
    match expr:
        case typed.Operation(_, op, args, _):
            return _operation(op, args, env)
        case typed.Quantified(_, kind, binders, body, _):
            head, inner = _binders(binders, env)
            return (f"{kind} ", *head, ": ", *_spell_part(body, inner)[0]), 0
        case typed.Temporal(_, "~>", (left, right), _):
            return (*_under(left, env, 2), " ~> ", *_under(right, env, 2)), 1
        case typed.Temporal(_, op, (part,), _):
            return (f"{op} ", *_under(part, env, 4)), 4
        case _:
            return _primary(expr, env), _ATOMIC


def _under(expr: typed.Expr, env: Env, least: int) -> Phrase:
    text, binding = _spell_part(expr, env)
    return text if binding >= least else ("(", *text, ")")


def _operation(op: str, args: tuple[typed.Expr, ...], env: Env) -> tuple[Phrase, int]:
    match op, args:
        case "size", (arg,):
            return ("#", *_under(arg, env, _ATOMIC)), 9
        case (("not" | "neg"), (arg,)):
            sign = "not " if op == "not" else "-"
            return (sign, *_under(arg, env, _BINDING[op])), _BINDING[op]
        case "if", (condition, then, otherwise):
            parts = [_spell_part(part, env)[0] for part in (condition, then, otherwise)]
            return ("if ", *parts[0], " then ", *parts[1], " else ", *parts[2]), 0
        case "slice", (base, first, last):
            ends = (*_spell_part(first, env)[0], "..", *_spell_part(last, env)[0])
            return (*_under(base, env, _ATOMIC), "[", *ends, "]"), _ATOMIC
        case _ if op in _BINDING and len(args) > 1:
            own, (left, *others) = _BINDING[op], args
            leftmost = _under(left, env, own + (op not in _FROM_THE_LEFT))
            others_spelled = (_under(arg, env, own + (op not in _FROM_THE_RIGHT)) for arg in others)
            return _join_phrases((leftmost, *others_spelled), f" {op} "), own
        case _:
            return (f"{op}(", *_all(args, env), ")"), _ATOMIC


def _primary(expr: typed.Expr, env: Env) -> Phrase:
    match expr:
        case typed.Literal(typed.Enum(_, labels), value, _):
            return (labels[int(value)],)
        case typed.Literal(_, value, _):
            return (str(value).lower(),)
        case typed.Local(_, name, _):
            return (env.names.get(name, name),)
        case typed.Param(_, name, _):
            return (env.names.get(name) or lower(expr, env),)
        case typed.Named(_, name, _):
            return (name,)
        case typed.Self():
            return ("self",)
        case typed.StateRef(_, name, _, owner, _):
            return (name,) if owner is None else (*_under(owner, env, _ATOMIC), f".{name}")
        case typed.Processes(_, role, _):
            return (role or "Proc",)
        case typed.All(_, item, _):
            return ("Msg" if isinstance(item, typed.Msg) else getattr(item, "name", "") or "bool",)
        case typed.Range(_, lo, hi, _):
            return ("(", *_spell_part(lo, env)[0], "..", *_spell_part(hi, env)[0], ")")
        case typed.Construct(_, message, args, _):
            return (f"{message}(", *_all(args, env), ")") if args else (message,)
        case typed.Display(type_, items, _):
            marks = {typed.Set: ("{", "}"), typed.Seq: ("[", "]"), typed.Tuple: ("(", ")")}
            opening, closing = marks.get(type(type_), ("{| ", " |}"))
            return (opening, *_all(items, env), closing)
        case typed.Part(_, base, position, _):
            labels = base.type.names if isinstance(base.type, typed.Tuple) else ()
            field = labels[position] if labels else str(position + 1)
            return (*_under(base, env, _ATOMIC), f".{field}")
        case typed.Entry(_, base, key, _):
            return (*_under(base, env, _ATOMIC), "[", *_spell_part(key, env)[0], "]")
        case typed.Comprehension(type_, item, binders, _):
            opening, closing = ("[", "]") if isinstance(type_, typed.Seq) else ("{ ", " }")
            return (opening, *_generator(item, binders, env), closing)
        case typed.Sum(_, item, binders, _):
            return ("sum(", *_generator(item, binders, env), ")")
        case _:
            return _of_the_run(expr, env)


def _history_at(expr: typed.HistoryOrder | typed.Repeated) -> typed.Expr:
    """Returns the history that ``expr`` is about, or only whose it is where no more is written."""
    if not expr.named:
        return expr.owner
    return typed.History(expr.type, expr.kind, expr.op, expr.owner, expr.span)


def _generator(item: typed.Expr, binders: tuple[typed.Binder, ...], env: Env) -> Phrase:
    head, inner = _binders(binders, env)
    return (*_spell_part(item, inner)[0], " for ", *head)


def _of_the_run(expr: typed.Expr, env: Env) -> Phrase:
    match expr:
        case typed.History(_, _, op, owner, _):
            return (f"{history_name(op)}(", *_spell_part(owner, env)[0], ")")
        case typed.HistoryOrder(_, kind, _, _, first, second, _, named):
            name = "before" if named or kind == "indication" else "broadcast_before"
            return (f"{name}(", *_all((_history_at(expr), first, second), env), ")")
        case typed.Repeated(item=item):
            return ("repeated(", *_all((_history_at(expr), item), env), ")")
        case typed.RepeatedAct(_, kind, item, _):
            return (f"repeated({kind}, ", *_spell_part(item, env)[0], ")")
        case typed.Causes(_, first, second, _):
            return ("causes(", *_all((first, second), env), ")")
        case typed.Correct(_, kind, process, _) | typed.Opinion(_, kind, process, _):
            return (f"{kind}(", *_spell_part(process, env)[0], ")")
        case typed.Acts(_, kind, _):
            return (kind,)
        case typed.Consistent(_, _, of, _, "returned"):
            return (f"an operation of {of.name} has returned",)
        case typed.Consistent(_, kind, of, _):
            return (f"{kind.replace('_', ' ')} as {of.name}",)
        case typed.Received(_, message, patterns, owner, _):
            fields = _join_phrases((_pattern(p, env) for p in patterns), ", ")
            whose = () if owner is None else (*_spell_part(owner, env)[0], ".")
            parts = ("(", *fields, ")") if fields else ()
            return (*whose, f"received({message}", *parts, ")")
        case typed.Nothing():
            return ("none",)
        case _:
            return ("…",)


def _binders(binders: tuple[typed.Binder, ...], env: Env) -> tuple[Phrase, Env]:
    parts: list[Phrase] = []
    for binder in binders:
        hidden = _bound(binder.pattern)
        inner = replace(env, names={k: v for k, v in env.names.items() if k not in hidden})
        where = () if binder.where is None else (" when ", *_spell_part(binder.where, inner)[0])
        domain = _spell_part(binder.domain, env)[0]
        parts.append((*_pattern(binder.pattern, inner), " in ", *domain, *where))
        env = inner
    return _join_phrases(parts, ", "), env


def _bound(pattern: typed.Pattern) -> frozenset[str]:
    match pattern:
        case typed.Bind(_, name):
            return frozenset({name})
        case typed.Parts(_, items) | typed.Match(_, _, items):
            return frozenset(name for item in items for name in _bound(item))
        case _:
            return frozenset()


def _pattern(pattern: typed.Pattern, env: Env) -> Phrase:
    match pattern:
        case typed.Bind(_, name):
            return (env.names.get(name, name),)
        case typed.Ignore():
            return ("_",)
        case typed.Equals(_, value):
            return _spell_part(value, env)[0]
        case typed.Match(_, message, fields):
            return (f"{message}(", *_join_phrases((_pattern(f, env) for f in fields), ", "), ")")
        case typed.Parts(_, items):
            return ("(", *_join_phrases((_pattern(i, env) for i in items), ", "), ")")


def _all(args: Iterable[typed.Expr], env: Env) -> Phrase:
    return _join_phrases((_spell_part(arg, env)[0] for arg in args), ", ")


def _join_phrases(parts: Iterable[Phrase], between: str) -> Phrase:
    result: list[str | Expr] = []
    for number, part in enumerate(parts):
        result.extend((between,) if number else ())
        result.extend(part)
    return tuple(result)
