"""Takes formulas apart that have no plan: which can be evaluated over recorded events, and how."""

from __future__ import annotations

from msgspec import Struct

from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.properties.growth import grows
from checker.properties.premises import Binders, is_temporal
from checker.properties.safety_parts import PremiseGoal, invariants

CRASHES = "@crashes"
"""Stands for crashes and recoveries where requests and indications are named."""


class Goal(Struct, frozen=True):
    """``forall binders: premise ~> goal``, at the end of a log.

    ``premise`` ``None``: always true; ``lasts``: the goal has to be true at the end, not
    only once (``eventually always``, ``always eventually``).
    """

    binders: Binders
    premise: typed.Expr | None
    goal: typed.Expr
    lasts: bool = False


class Parts(Struct, frozen=True):
    """The conjuncts of a formula: about every state, about the first state, about the whole run."""

    always: tuple[PremiseGoal, ...] = ()
    initially: tuple[PremiseGoal, ...] = ()
    leads: tuple[Goal, ...] = ()

    def and_also(self, other: Parts) -> Parts:
        """Returns the conjuncts of both."""
        return Parts(
            self.always + other.always,
            self.initially + other.initially,
            self.leads + other.leads,
        )


def parts_of(formula: typed.Expr, binders: Binders = ()) -> Parts | None:
    """Returns the conjuncts of ``formula``; ``None`` where it is no conjunction of forms that the
    events of a log decide."""
    match formula:
        case typed.Operation(_, "and", args, _) if is_temporal(formula):
            found = Parts()
            for each in args:
                part = parts_of(each, binders)
                if part is None:
                    return None
                found = found.and_also(part)
            return found
        case typed.Quantified(_, "forall", inner, body, _) if not is_temporal(inner):
            return parts_of(body, binders + inner) if is_temporal(body) else None
        case typed.Temporal(_, "always", (body,), _) if not is_temporal(body):
            states = invariants(formula, binders)
            return None if states is None else Parts(always=states)
        case typed.Temporal(_, "initially", (body,), _) if not is_temporal(body):
            return Parts(initially=(PremiseGoal(binders, None, body),))
        case typed.Temporal():
            goal = _goal(formula, binders)
            return None if goal is None else Parts(leads=(goal,))
        case _:
            return None


def _goal(formula: typed.Temporal, binders: Binders) -> Goal | None:
    """Returns what ``formula`` asks of the whole run; ``None`` for other nested forms."""
    match formula:
        case typed.Temporal(_, "~>", (premise, goal), _) if not is_temporal((premise, goal)):
            return Goal(binders, premise, goal)
        case typed.Temporal(_, "eventually", (goal,), _) if not is_temporal(goal):
            return Goal(binders, None, goal)
        case typed.Temporal(
            _, "eventually", (typed.Temporal(_, "always", (goal,), _),), _
        ) | typed.Temporal(_, "always", (typed.Temporal(_, "eventually", (goal,), _),), _) if (
            not is_temporal(goal)
        ):
            return Goal(binders, None, goal, lasts=True)
        case _:
            return None


def why_not(formula: typed.Expr) -> tuple[str, str]:
    """Returns why ``formula`` can't be evaluated over the events of a log, and a way out; two empty
    texts if it can."""
    for node in nodes_of(formula):
        match node:
            case typed.Causes():
                return "it reads causes of broadcasts", "ask the library's `causal_order`"
            case typed.Param(_, name, _) if name != "n":
                return f"it reads `{name}`, and a log does not say how large that is", ""
            case typed.Processes(_, str() as role, _):
                return f"it is about the role `{role}`, and a log has no roles", "use `Proc`"
            case typed.Again():
                return "it calls a definition that calls itself", ""
    if parts_of(formula) is None:
        return (
            "it nests temporal operators",
            "write a conjunction of `always e`, `a ~> b`, `eventually e` and `initially e`",
        )
    return "", ""


# ---- the direction in which events change a formula ------------------------------------------


class Effects(Struct, frozen=True):
    """Which requests and indications can make the states of a formula true (``helping``), false
    (``harming``), or either (``both``), as more of them happen.

    ``single``: each of its instances has at most one event that can make it false.
    """

    helping: frozenset[str]
    harming: frozenset[str]
    both: frozenset[str]
    single: bool

    @property
    def only_harm(self) -> bool:
        """Whether the formula stays false once it is false."""
        return not self.helping and not self.both


def effects_of(parts: tuple[PremiseGoal, ...]) -> Effects:
    """Returns the effects of more events on ``always`` of all ``parts``."""
    helping: set[str] = set()
    harming: set[str] = set()
    both: set[str] = set()
    single = True
    for part in parts:
        found = changes_of(part)
        single = single and sum(each.sign is not True for each in found) < 2
        for each in found:
            (both if each.sign is None else helping if each.sign else harming).add(each.op)
    mixed = both | (helping & harming)
    return Effects(frozenset(helping - mixed), frozenset(harming - mixed), frozenset(mixed), single)


class Change(Struct, frozen=True):
    """A place of a formula whose value changes with an event ``op`` of the process ``owner``, and
    only with that of ``item`` (``None``: with any).

    ``sign``: whether it makes the formula true; ``None``: unknown.
    """

    op: str
    sign: bool | None
    owner: typed.Expr
    item: typed.Expr | typed.Pattern | None = None


def changes_of(part: PremiseGoal) -> list[Change]:
    """Returns the effects of events on ``part``, one for each place that they can change."""
    found = [c for binder in part.binders for c in _of_binder(binder, "forall", True)]
    found += [] if part.premise is None else _changes(part.premise, False)
    return found + _changes(part.goal, True)


def _changes(expr: typed.Expr, positive: bool) -> list[Change]:
    """Returns the effects of more events on ``expr``; ``positive``: it is not negated."""
    match expr:
        case typed.Operation(_, "not", (part,), _):
            return _changes(part, not positive)
        case typed.Operation(_, "=>", (left, right), _):
            return _changes(left, not positive) + _changes(right, positive)
        case typed.Operation(_, "and" | "or", args, _):
            return [change for each in args for change in _changes(each, positive)]
        case typed.Operation(_, "not in", (item, of), _):
            return _member(item, of, not positive)
        case typed.Operation(_, "in", (item, of), _):
            return _member(item, of, positive)
        case typed.Operation(_, "<" | "<=" | ">" | ">=" as op, (left, right), _):
            return _compared(left, right, positive == (op[0] == ">"))
        case typed.Quantified(_, kind, binders, body, _):
            found = [c for each in binders for c in _of_binder(each, kind, positive)]
            return found + _changes(body, positive)
        case typed.HistoryOrder() if grows(expr):
            return [Change(expr.op, positive, expr.owner, expr.second)]
        case typed.Repeated() if grows(expr):
            return [Change(expr.op, positive, expr.owner, expr.item)]
        case _:
            return _unknown(expr)


def _member(item: typed.Expr, of: typed.Expr, positive: bool) -> list[Change]:
    if isinstance(of, typed.History) and not _read(item) and not _read(of.owner):
        return [Change(of.op, positive, of.owner, item)]
    return _unknown((item, of))


def _compared(left: typed.Expr, right: typed.Expr, positive: bool) -> list[Change]:
    """Returns the effects of more events on ``left > right``; several of one history may matter."""
    match left, right:
        case typed.Operation(_, "size", (typed.History() as of,), _), _ if not _read(right):
            return _counted(of, positive)
        case _, typed.Operation(_, "size", (typed.History() as of,), _) if not _read(left):
            return _counted(of, not positive)
        case _:
            return _unknown((left, right))


def _counted(of: typed.History, positive: bool) -> list[Change]:
    return _unknown(of) if _read(of.owner) else [Change(of.op, positive, of.owner)] * 2


def _of_binder(binder: typed.Binder, kind: str, positive: bool) -> list[Change]:
    """Returns the effects of more members of a domain on a quantified formula: more values have to
    satisfy it (``forall``), or more may (``exists``)."""
    helps = positive == (kind == "exists")
    found = [] if binder.where is None else _changes(binder.where, helps)
    domain = binder.domain
    plain = not _read(binder.pattern)
    if plain and isinstance(domain, typed.History) and not _read(domain.owner):
        return [Change(domain.op, helps, domain.owner, binder.pattern), *found]
    return _unknown((domain, binder.pattern)) + found


def _unknown(expr: object) -> list[Change]:
    return [Change(op, None, owner) for op, owner in _reads(expr)]


def operators_read(expr: object) -> frozenset[str]:
    """Returns the requests and indications whose events ``expr`` reads."""
    return frozenset(_read(expr))


def _read(expr: object) -> set[str]:
    return {op for op, _ in _reads(expr)}


def _reads(expr: object) -> list[tuple[str, typed.Expr]]:
    """Returns the histories that ``expr`` reads, each with the process whose it is."""
    found: list[tuple[str, typed.Expr]] = []
    for node in nodes_of(expr):
        match node:
            case typed.History() | typed.HistoryOrder() | typed.Repeated():
                found.append((node.op, node.owner))
            case typed.Correct(_, "crashed" | "faulty", process, _):
                found.append((CRASHES, process))
    return found
