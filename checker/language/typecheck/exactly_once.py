"""Builds the properties at most once, at least once, exactly once: of deliveries, acts, effects.

"Exactly once" is ambiguous.  A message may be *delivered* once and its work be done twice (after a
crash, say); the work may be *done* twice and have its *effect* once (if the environment recognises
it the second time).  So a check names what it counts, and each property says so in words.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.language.syntax.typed import Expr, Operator, Seq, Set, Tuple, Type
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.histories import entry_type
from checker.language.typecheck.types import BOOL, PROC, PROCS, fits, show

TIMES = ("at_most_once", "at_least_once", "exactly_once")
OVER = ("deliveries", "processings", "effects")
_MOST = {
    "deliveries": "no process gets the same indication twice",
    "processings": "no action is performed twice, by any process",
    "effects": "no action takes effect twice; repeating an idempotent action has no effect",
}
_LEAST = {
    "deliveries": "every request of a correct process is eventually indicated to some process",
    "processings": "every request of a correct process is eventually performed",
    "effects": "every request of a correct process is eventually performed",
}
_RECOVERING = (
    " (if all processes are eventually up forever; and where others do the work, if the one that"
    " requests it never crashes)"
)
_WORDS = {
    "deliveries": "Asked of deliveries, that is, of indications; not of what is done with them",
    "processings": "Asked of processings, that is, of every time that something is performed",
    "effects": "Asked of effects, that is, of what performing changes in the world",
}


class NotHere(Exception):
    """The property does not apply to this protocol; the text says why."""


def is_once(name: str) -> bool:
    """Tells whether ``name`` is one of the three, with ``over`` behind it or without."""
    return name.split(" ")[0] in TIMES


def once(
    name: str, protocol: typed.Protocol, span: Span, recover: bool = False
) -> typed.PropertyDef:
    """Returns the property ``exactly_once over effects`` (or another such) of ``protocol``.

    ``recover``: crashed processes may recover.  Recovery is no fairness assumption, so that "at
    least once" is restricted to executions in which all processes are eventually up; and, for a
    request whose work is done elsewhere, to those in which the requesting process never crashes,
    since a process that recovers knows of its requests only what it has stored.

    Raises :class:`NotHere` where the property does not apply to the protocol.
    """
    times, over = name.split(" over ")
    parts: list[Expr] = []
    if times != "at_least_once":
        parts.append(_at_most(over, protocol, span))
    if times != "at_most_once":
        parts.append(_at_least(over, protocol, span, recover))
    formula = parts[0] if len(parts) == 1 else typed.Operation(BOOL, "and", tuple(parts), span)
    return typed.PropertyDef(name, definition(times, over, recover), name, formula, span)


def definition(times: str, over: str, recover: bool = False) -> str:
    """Returns what ``exactly_once over effects`` (or another such) means, in a sentence;
    ``recover``: where crashed processes may recover."""
    said: list[str] = []
    if times != "at_least_once":
        said.append(_MOST[over])
    if times != "at_most_once":
        said.append(_LEAST[over] + (_RECOVERING if recover else ""))
    return f"{_WORDS[over]}: {'; and '.join(said)}."


def _always(body: Expr, span: Span) -> Expr:
    return typed.Temporal(BOOL, "always", (body,), span)


def _forall(binders: tuple[typed.Binder, ...], body: Expr, span: Span) -> Expr:
    return typed.Quantified(BOOL, "forall", binders, body, span)


def _everybody(name: str, span: Span) -> typed.Binder:
    return typed.Binder(typed.Bind(PROC, name), typed.Processes(PROCS, None, span), None)


def _not(body: Expr, span: Span) -> Expr:
    return typed.Operation(BOOL, "not", (body,), span)


# ---- at most once -----------------------------------------------------------------------------


def _at_most(over: str, protocol: typed.Protocol, span: Span) -> Expr:
    """Builds ``always forall x in …: not repeated(…, x)``."""
    if over == "deliveries":
        indications = _interface(protocol).indications
        if not indications:
            raise NotHere("its interface has no indication")
        several = len(indications) > 1
        made = tuple(_never_twice(operator, span, several) for operator in indications)
        return made[0] if len(made) == 1 else typed.Operation(BOOL, "and", made, span)
    item = _acts(protocol)
    kind = "performed" if over == "processings" else "effects"
    acts = typed.Acts(Seq(item), kind, span)
    twice = typed.RepeatedAct(BOOL, kind, typed.Local(item, "x", span), span)
    binder = typed.Binder(typed.Bind(item, "x"), acts, None)
    return _always(_forall((binder,), _not(twice, span), span), span)


def _never_twice(operator: Operator, span: Span, named: bool) -> Expr:
    entry = entry_type(operator)
    owner = typed.Local(PROC, "p", span)
    history = typed.History(Seq(entry), "indication", operator.name, owner, span)
    item = typed.Local(entry, "x", span)
    twice = typed.Repeated(BOOL, "indication", operator.name, owner, item, span, named)
    binders = (_everybody("p", span), typed.Binder(typed.Bind(entry, "x"), history, None))
    return _always(_forall(binders, _not(twice, span), span), span)


# ---- at least once ----------------------------------------------------------------------------


def _at_least(over: str, protocol: typed.Protocol, span: Span, recover: bool) -> Expr:
    """Builds ``forall p in Proc, m in T: correct(p) and m in broadcast(p) ~> …``."""
    request = _request(protocol)
    payload = request.fields[0][1]
    owner, item = typed.Local(PROC, "p", span), typed.Local(payload, "m", span)
    asked = typed.History(Seq(payload), "request", request.name, owner, span)
    premises: list[Expr] = [typed.Correct(BOOL, "correct", owner, span)]
    if recover:
        other = typed.Correct(BOOL, "correct", typed.Local(PROC, "r", span), span)
        premises.append(_forall((_everybody("r", span),), other, span))
    premises.append(typed.Operation(BOOL, "in", (item, asked), span))
    premise = typed.Operation(BOOL, "and", tuple(premises), span)
    if over == "deliveries":
        goal = _indication_claim(_carrying(protocol, payload), payload, owner, item, span)
    else:
        kind = "performed" if over == "processings" else "effects"
        act = _acts(protocol)
        acts = typed.Acts(Seq(act), kind, span)
        goal = _among(acts, act, payload, item, span, f"an action is `{show(act)}`")
    leads: Expr = typed.Temporal(BOOL, "~>", (premise, goal), span)
    if recover and _elsewhere(over, protocol, request):
        crashed = typed.Correct(BOOL, "crashed", owner, span)
        never = _always(_not(crashed, span), span)
        leads = typed.Operation(BOOL, "=>", (never, leads), span)
    whole: Expr = typed.All(Set(payload), payload, span)
    if payload == PROC:
        whole = typed.Processes(PROCS, None, span)
    binders = (_everybody("p", span), typed.Binder(typed.Bind(payload, "m"), whole, None))
    return _forall(binders, leads, span)


def _elsewhere(over: str, protocol: typed.Protocol, request: Operator) -> bool:
    """Tells whether no role that takes the request performs its work."""
    takes, does = set(), set()
    for role in protocol.roles:
        for handler in role.handlers:
            event = handler.event
            if isinstance(event, typed.OnRequest) and event.op == request.name:
                takes.add(role.name)
            if any(_does(over, stmt) for stmt in statements_of(handler.body)):
                does.add(role.name)
    return bool(does) and not takes & does


def statements_of(block: typed.Block) -> Iterator[typed.Stmt]:
    """Yields the statements of ``block``, also those inside others."""
    return (node for node in nodes_of(block) if isinstance(node, typed.Stmt))


def _does(over: str, stmt: typed.Stmt) -> bool:
    if over == "deliveries":
        return isinstance(stmt, typed.Call) and stmt.layer is None
    return isinstance(stmt, typed.Perform)


def _indication_claim(
    operator: Operator, payload: Type, owner: Expr, item: Expr, span: Span
) -> Expr:
    """Builds ``exists q in Proc: (p, m) in delivered(q)``, as far as the indication has these."""
    entry = entry_type(operator)
    receiver = typed.Local(PROC, "q", span)
    history = typed.History(Seq(entry), "indication", operator.name, receiver, span)
    if isinstance(entry, Tuple) and len(entry.items) == 2 and fits(PROC, entry.items[0]):
        pair = typed.Display(entry, (owner, item), span)
        body: Expr = typed.Operation(BOOL, "in", (pair, history), span)
    else:
        reason = f"an indication is `{show(entry)}`"
        body = _among(history, entry, payload, item, span, reason)
    return typed.Quantified(BOOL, "exists", (_everybody("q", span),), body, span)


def _among(of: Expr, entry: Type, payload: Type, item: Expr, span: Span, reason: str) -> Expr:
    """Builds ``m in of``, or that some entry of ``of`` has ``m`` as its only part of that type."""
    if fits(payload, entry):
        return typed.Operation(BOOL, "in", (item, of), span)
    places = _places(entry, payload)
    if not isinstance(entry, Tuple) or len(places) != 1:
        raise NotHere(f"{reason}, and a request is `{show(payload)}`")
    patterns: list[typed.Pattern] = [typed.Ignore(t) for t in entry.items]
    patterns[places[0]] = typed.Equals(payload, item)
    binder = typed.Binder(typed.Parts(entry, tuple(patterns)), of, None)
    true = typed.Literal(BOOL, True, span)
    return typed.Quantified(BOOL, "exists", (binder,), true, span)


def _places(entry: Type, payload: Type) -> list[int]:
    items = entry.items if isinstance(entry, Tuple) else ()
    return [i for i, part in enumerate(items) if fits(payload, part)]


# ---- contents of a protocol ----------------------------------------------------------------


def _interface(protocol: typed.Protocol) -> typed.Interface:
    if protocol.implements is None:
        raise NotHere("it has no interface")
    return protocol.implements


def _request(protocol: typed.Protocol) -> Operator:
    single = [r for r in _interface(protocol).requests if len(r.fields) == 1]
    if len(single) != 1:
        raise NotHere("its interface doesn't have exactly one request, with one payload")
    return single[0]


def _carrying(protocol: typed.Protocol, payload: Type) -> Operator:
    for operator in _interface(protocol).indications:
        entry = entry_type(operator)
        if fits(payload, entry) or len(_places(entry, payload)) == 1:
            return operator
    raise NotHere("no indication of its interface carries the requested payload")


def _acts(protocol: typed.Protocol) -> Type:
    if protocol.acts is None:
        raise NotHere("it performs nothing (`perform e`)")
    return protocol.acts
