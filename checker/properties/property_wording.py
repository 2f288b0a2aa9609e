"""Words a property: turns its typed formula into a :class:`~checker.model.reading.Reading`."""

from __future__ import annotations

from msgspec import Struct

from checker.instantiate.protocol.expressions import Env, as_domain, lower
from checker.instantiate.protocol.patterns import match_pattern
from checker.instantiate.protocol.spelling import pattern_spelled, spell
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.model import build, ir
from checker.model.build import conj, fresh, fresh_names, member
from checker.model.ir import TRUE, Expr
from checker.model.reading import Atom, AtomKind, Join, Node, Phrase, Range, Reading, Timed
from checker.model.types import AtomT, TupleT, Type
from checker.properties.consistency.observation import variable_of
from checker.properties.polarity import may_be_correct
from checker.properties.reader import Reader
from checker.records import replace

PAST = {"write": "wrote", "begin": "began", "choose": "chose", "take": "took", "give": "gave"}
"""Irregular past tenses, where the past tense is not the name of the history."""

COMPARED = {
    "==": ("is", "is not", "is {}", ""),
    "!=": ("is not", "is", "is always", ""),
    "<": ("is", "is not", "is {}", "below "),
    "<=": ("is", "is not", "is {}", "at most "),
    ">": ("is", "is not", "is {}", "above "),
    ">=": ("is", "is not", "is {}", "at least "),
    "subset": ("is", "is not", "is {}", "within "),
    "prefix": ("is", "is not", "is {}", "a prefix of "),
}
"""For each comparison its verbs, as in :class:`Atom`, and what follows them."""

FLIPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

OPINIONS = {
    "suspected": ("suspects", "does not suspect", "{} suspects"),
    "trusted": ("trusts", "does not trust", "{} trusts"),
}


def reading(world: World, formula: typed.Expr, *, whole_runs: bool) -> Reading:
    """Returns the reading of ``formula``; ``whole_runs``: it is about executions, not single
    states.

    Names that are generated here do not change those that are generated later.
    """
    with fresh_names():
        correct = world.correct if whole_runs else may_be_correct(world)
        env = Env(world, world.instances[0], None, {}, Reader(world, correct).read)
        return Reading(_Words(world).node(formula, env))


def verbs(op: str) -> tuple[str, str, str]:
    """Returns the verbs of :class:`Atom` for ``op``.

    ``deliver`` gives ``delivered``, ``has not delivered``, ``{} delivers``.
    """
    participle = history_name(op)
    past = PAST.get(op, participle)
    if op.endswith(("s", "x", "ch", "sh")):
        present = op + "es"
    elif op.endswith("y") and op[-2:-1] not in "aeiou":
        present = op[:-1] + "ies"
    else:
        present = op + "s"
    return tuple(w.replace("_", " ") for w in (past, f"has not {participle}", f"{{}} {present}"))  # type: ignore[return-value]


def _said_of_the_start(node: Node) -> Node:
    """Returns ``node`` with `initially` before the verbs of its statements."""
    match node:
        case Atom():
            yes, no, later = (f"initially {verb}" for verb in (node.yes, node.no, node.later))
            otherwise = tuple((when, ("initially ", *said)) for when, said in node.otherwise)
            return replace(node, yes=yes, no=no, later=later, otherwise=otherwise)
        case Join(op, parts):
            return Join(op, tuple(_said_of_the_start(part) for part in parts))
        case Range():
            return replace(node, body=_said_of_the_start(node.body))
        case Timed():
            return node


class _Words(Struct, frozen=True):
    world: World

    # ---- the tree -----------------------------------------------------------------------------

    def node(self, expr: typed.Expr, env: Env) -> Node:
        """Decomposes ``expr`` down to statements that fit in one clause."""
        match expr:
            case typed.Temporal(_, "initially", (part,), _):
                return _said_of_the_start(self.node(part, env))
            case typed.Temporal(_, op, args, _):
                return Timed(op, tuple(self.node(arg, env) for arg in args))
            case typed.Operation(_, "not" | "and" | "or" | "=>" as op, args, _):
                return Join(op, tuple(self.node(arg, env) for arg in args))
            case typed.Operation(_, "==" | "!=" as op, (left, right), _) if _is_said(left, right):
                same = Join("==", (self.node(left, env), self.node(right, env)))
                return same if op == "==" else Join("not", (same,))
            case typed.Operation(_, "not in", (item, of), span):
                inside = typed.Operation(expr.type, "in", (item, of), span)
                return Join("not", (self.node(inside, env),))
            case typed.Quantified(_, kind, binders, body, _):
                return self.ranges(kind, binders, body, env)
            case _:
                return self.atom(expr, env)

    def ranges(
        self, kind: str, binders: tuple[typed.Binder, ...], body: typed.Expr, env: Env
    ) -> Node:
        """Nests quantifiers, one for each of ``binders``."""
        if not binders:
            return self.node(body, env)
        binder, rest = binders[0], binders[1:]
        domain = as_domain(binder.domain, env)
        item = ir.domain_item(domain)
        author = binder.pattern.name if isinstance(binder.pattern, typed.Bind) else ""
        local = ir.Local(item, fresh(author or "_x"))
        condition, names = match_pattern(binder.pattern, local, env)
        inner = env.bind_all(names)
        shown = pattern_spelled(binder.pattern, inner)
        return Range(
            kind="exists" if kind == "exists" else "forall",
            name=local.name,
            domain=domain,
            condition=condition,
            where=None if binder.where is None else self.node(binder.where, inner),
            among=self.among(local, shown, binder.domain, env),
            body=self.ranges(kind, rest, body, inner),
            noun=self.noun(item),
            author=author,
            formula=self.quantifier(kind, binders, body, env),
        )

    def quantifier(
        self, kind: str, binders: tuple[typed.Binder, ...], body: typed.Expr, env: Env
    ) -> Phrase:
        return spell(typed.Quantified(body.type, kind, binders, body, body.span), env)

    def among(self, item: ir.Local, shown: Phrase, domain: typed.Expr, env: Env) -> Atom | None:
        """Words that ``item`` is in ``domain``, where membership depends on the state."""
        if not any(typed.changes(n) for n in nodes(domain)):
            return None
        if isinstance(domain, typed.Operation):
            return None
        return self.membership(item, shown, domain, env)

    def noun(self, type_: Type) -> str:
        """Returns the noun for an unknown value of ``type_``."""
        match type_:
            case AtomT(labels=labels) if set(labels) <= set(self.world.sizes.processes):
                return "process"
            case AtomT(name="Msg"):
                return "message"
            case _:
                return "value"

    # ---- atoms --------------------------------------------------------------------------------

    def atom(self, expr: typed.Expr, env: Env) -> Atom:
        """Words ``expr``, which has no connectives."""
        match expr:
            case typed.Correct(_, kind, process, _):
                return self.standing(expr, kind, process, env)
            case typed.Operation(_, "in", (item, of), _):
                whole = as_domain(of, env)
                lowered = lower(item, env, ir.domain_item(whole)) if _events(of) else None
                return self.membership(lowered, spell(item, env), of, env, expr)
            case typed.HistoryOrder():
                return self.order(expr, env)
            case typed.Repeated(_, _, op, owner, item, _):
                return self.repetition(expr, op, owner, item, env)
            case typed.RepeatedAct(_, kind, item, _):
                return self.act(expr, kind, spell(item, env), env, ("twice",))
            case typed.Causes(_, first, second, _):
                return self.cause(expr, first, second, env)
            case typed.Consistent():
                text, now = spell(expr, env), lower(expr, env)
                against = self.world.observed[variable_of(expr)].of
                ways = ("is so", "is not so", "is {} so")
                return Atom(now, "operations", (), *ways, text, text, of=against)
            case typed.Operation(
                _, "==", (typed.Opinion(_, kind, owner, _), typed.Display(_, (one,), _)), _
            ):
                who, text = lower(owner, env), spell(expr, env)
                whom: Phrase = (*spell(one, env), " alone")
                now = lower(expr, env)
                return Atom(now, "opinion", (who,), *OPINIONS[kind], whom, text, kind, who)
            case typed.Operation(_, op, (left, right), _) if op in COMPARED:
                return self.comparison(expr, op, left, right, env)
            case typed.StateRef() | typed.Entry() | typed.Part():
                whole_text = spell(expr, env)
                now = lower(expr, env)
                return Atom(
                    now, "state", whole_text, "is", "is not", "is {}", ("true",), whole_text,
                    otherwise=((TRUE, ("is ", now)),),
                )  # fmt: skip
            case _:
                text = spell(expr, env)
                about: AtomKind = "state" if _varies(expr) else "values"
                ways = ("holds", "does not hold", "{} holds")
                return Atom(lower(expr, env), about, ("`", *text, "`"), *ways, (), text)

    def standing(self, expr: typed.Expr, kind: str, process: typed.Expr, env: Env) -> Atom:
        who = lower(process, env)
        rest: Phrase = (kind,)
        ways = ("is", "is not", "is {}")
        if kind == "crashed":
            ways, rest = ("has crashed", "has not crashed", "{} crashes"), ()
        text = spell(expr, env)
        return Atom(lower(expr, env), "standing", (who,), *ways, rest, text, kind, who)

    def membership(
        self,
        item: Expr | None,
        shown: Phrase,
        of: typed.Expr,
        env: Env,
        whole: typed.Expr | None = None,
    ) -> Atom:
        """Words that ``item`` is in ``of``; ``whole``: the same as one expression, where there is
        one."""
        text: Phrase = (*shown, " in ", *spell(of, env))
        if whole is not None:
            now = lower(whole, env)
        else:
            assert item is not None
            now = member(item, lower(of, env))
        match of:
            case typed.History(_, _, op, owner, _) if item is not None:
                who, objects = lower(owner, env), self.entry(op, item)
                ways = verbs(op)
                return Atom(now, "history", (who,), *ways, objects, text, op, who, (item,))
            case typed.Acts(_, kind, _):
                return self.act_atom(now, kind, shown, text, (), () if item is None else (item,))
            case typed.Opinion(_, kind, owner, _) if item is not None:
                who = lower(owner, env)
                return Atom(now, "opinion", (who,), *OPINIONS[kind], (item,), text, kind, who)
            case _:
                ways = ("is in", "is not in", "is {} in")
                return Atom(now, "state", shown, *ways, spell(of, env), text)

    def entry(self, op: str, item: Expr) -> Phrase:
        """Words an entry of the history of ``op`` as the objects of its verb."""
        interface = self.world.instances[0].protocol.implements
        assert interface is not None
        operators = (*interface.requests, *interface.indications)
        fields = next(o.fields for o in operators if o.name == op)
        asked = any(o.name == op for o in interface.requests)
        if not isinstance(item.type, TupleT) or len(fields) == 1:
            return (item,)
        things: list[str | Expr] = []
        people: list[str | Expr] = []
        for position, (name, type_) in enumerate(fields):
            part = build.item(item, position)
            if isinstance(type_, typed.Proc):
                word = name if name in ("to", "from", "for") else "to" if asked else "from"
                people += [f" {word} ", part]
            else:
                things += [", ", part] if things else [part]
        return (*things, *people) if things else (people[1], *people[2:])

    def order(self, expr: typed.HistoryOrder, env: Env) -> Atom:
        history = typed.History(expr.type, expr.kind, expr.op, expr.owner, expr.span)
        who = lower(expr.owner, env)
        of = lower(history, env)
        item = build.element(of.type)
        first, second = lower(expr.first, env, item), lower(expr.second, env, item)
        a, b = self.entry(expr.op, first), self.entry(expr.op, second)
        ways = verbs(expr.op)
        only = member(second, of)
        both = conj(only, member(first, of))
        past, perfect, _ = ways
        participle = perfect.removeprefix("has not ")
        swapped: Phrase = (f"{past} ", *b, ", then ", *a)
        alone: Phrase = (f"{past} ", *b, f" without having {participle} ", *a)
        otherwise = ((both, swapped), (only, alone), (TRUE, (f"{perfect} ", *b)))
        text = spell(expr, env)
        now, objects = lower(expr, env), (*a, ", then ", *b)
        about = (first, second)
        return Atom(now, "order", (who,), *ways, objects, text, expr.op, who, about, otherwise)

    def repetition(
        self, expr: typed.Expr, op: str, owner: typed.Expr, item: typed.Expr, env: Env
    ) -> Atom:
        whole = self.world.read(f"@repeated.{op}")
        who = lower(owner, env)
        one = lower(item, env, build.element(build.entry(whole, who).type))
        objects = (*self.entry(op, one), " twice")
        text = spell(expr, env)
        return Atom(lower(expr, env), "twice", (who,), *verbs(op), objects, text, op, who, (one,))

    def act(self, expr: typed.Expr, kind: str, shown: Phrase, env: Env, after: Phrase) -> Atom:
        return self.act_atom(lower(expr, env), kind, shown, spell(expr, env), after, ())

    def act_atom(
        self,
        now: Expr,
        kind: str,
        shown: Phrase,
        text: Phrase,
        after: Phrase,
        about: tuple[Expr, ...],
    ) -> Atom:
        ways = ("was performed", "was not performed", "is {} performed")
        if kind == "effects":
            ways = ("had its effect", "did not have its effect", "{} has its effect")
        return Atom(
            now,
            "twice" if after else "act",
            ("act ", *shown),
            *ways,
            after,
            text,
            kind,
            None,
            about,
        )

    def cause(self, expr: typed.Expr, first: typed.Expr, second: typed.Expr, env: Env) -> Atom:
        pairs = self.world.read("@causes")
        pair = build.element(pairs.type)
        assert isinstance(pair, TupleT)
        interface = self.world.instances[0].protocol.implements
        assert interface is not None
        verb = interface.requests[0].name
        pairs_of = tuple(
            lower(side, env, type_) for side, type_ in zip((first, second), pair.items, strict=True)
        )
        sides: list[Phrase] = [
            (build.item(one, 0), f"'s {verb} of ", build.item(one, 1)) for one in pairs_of
        ]
        ways = ("may have caused", "can't have caused", "{} causes")
        return Atom(
            lower(expr, env),
            "cause",
            sides[0],
            *ways,
            sides[1],
            spell(expr, env),
            verb,
            None,
            pairs_of,
        )

    def comparison(
        self, expr: typed.Expr, op: str, left: typed.Expr, right: typed.Expr, env: Env
    ) -> Atom:
        """Words a comparison; the side that depends on the state comes first."""
        now, text = lower(expr, env), spell(expr, env)
        sized = any(isinstance(s, typed.Operation) and s.op == "size" for s in (left, right))
        if not _varies(left) and _varies(right) and op in FLIPPED:
            left, right, op = right, left, FLIPPED[op]
        yes, no, later, after = COMPARED[op]
        a, b = spell_measure(left, env), spell_measure(right, env)
        left_now, right_now = lower(left, env), lower(right, env)
        kind: AtomKind = "values" if not _varies(left) and not _varies(right) else "state"
        if sized and kind == "state" and after in ("above ", "below "):
            kind = "guard"
        limit: Phrase = (after, *b, ", which is ", right_now) if _varies(right) else (right_now,)
        if _varies(right):
            later = {"==": "{} equals", "!=": "always equals"}.get(op, later)
        if after and not _varies(right):
            limit = (after, right_now)
        otherwise: tuple[tuple[Expr, Phrase], ...] = ()
        if _varies(left):
            wrong: Phrase = ("is ", *limit) if op == "!=" else ("is ", left_now, ", not ", *limit)
            otherwise = ((TRUE, wrong),)
        return Atom(now, kind, a, yes, no, later, limit, text, otherwise=otherwise)


def spell_measure(expr: typed.Expr, env: Env) -> Phrase:
    """Returns ``expr`` as text; cardinalities are worded."""
    match expr:
        case typed.Operation(_, "size", (of,), _):
            return ("the size of ", *spell(of, env))
        case _:
            return spell(expr, env)


def _varies(expr: typed.Expr) -> bool:
    """Tells whether the value of ``expr`` depends on the state."""
    return any(typed.changes(n) for n in nodes(expr))


def _is_said(left: typed.Expr, right: typed.Expr) -> bool:
    """Tells whether an equation is between Boolean statements rather than values."""
    return isinstance(left.type, typed.Bool) and any(
        isinstance(side, typed.Operation | typed.Quantified | typed.Temporal | typed.Correct)
        for side in (left, right)
    )


def _events(of: typed.Expr) -> bool:
    return isinstance(of, typed.History | typed.Acts | typed.Opinion)
