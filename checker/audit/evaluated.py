"""The plan of a formula that no plan of the library fits: it is evaluated over the events.

The events are those of one run, of which only the order in each log is known.  So a property is
violated if it is in every order of all events that agrees with the logs, and holds if there is one
in which it does (:doc:`docs/decisions/104 <index>`).  States of such orders are the consistent cuts
of K. M. Chandy and L. Lamport: Distributed Snapshots, ACM TOCS 1985; the search among them is that
of R. Cooper and K. Marzullo: Consistent Detection of Global Predicates, 1991 (*definitely* not
``always`` is *controllable* ``always``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from msgspec import Struct

from checker.audit.compiled import compiled
from checker.audit.formulas import (
    CRASHES,
    Effects,
    Goal,
    Parts,
    effects_of,
    operators_read,
    parts_of,
)
from checker.audit.recorded_runs import Event, Meaning, Misfit, RecordedRun, recorded_runs
from checker.audit.relations import col
from checker.audit.rules import Rule, everything
from checker.audit.tables import PENDING, UNKNOWN, VIOLATED, Findings, Tables
from checker.audit.watch import Watch, instances
from checker.diagnostics import SpecError
from checker.diagnostics.english import count
from checker.instantiate.protocol.expressions import exists, lower
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.model import ir
from checker.model.dump import value_text
from checker.model.evaluate import RunFault, Scope, evaluate, members
from checker.polling import poll
from checker.properties.growth import grows
from checker.properties.polarity import mentions_correct
from checker.properties.premises import Binders
from checker.properties.safety_parts import PremiseGoal
from checker.records import replace

MOST_EVENTS = 200_000
"""The largest number of events of a run on which a formula is evaluated."""
MOST_STATES = 20_000
"""The largest number of states, beside one for each event, in which an order of the events is
looked for."""

Cut = tuple[int, ...]
"""How many events of each process have happened."""


class Said(Struct, frozen=True):
    """A finding about a run: the verdict, in words, and the rows that it names."""

    verdict: int
    text: str
    rows: tuple[Any, ...] = ()


def rule_of(definition: typed.PropertyDef, interface: typed.Interface, roles: Roles) -> Rule | None:
    """Returns how ``definition`` is asked of a log by evaluation; ``None`` where it can't be."""
    parts = parts_of(definition.formula)
    if parts is None:
        return None

    def plan(tables: Tables) -> Findings:
        found = list(_findings(tables, interface, definition.formula, parts))
        for kind, verdict in _KINDS.items():
            some = [said for said in found if said.verdict == verdict]
            if some:
                yield kind, _table(some)

    asked = _asked_about(parts, roles)

    def premise(tables: Tables) -> Any:
        if not asked:
            return everything(tables)
        rows = [tables.rows_of(at).select("process") for at in asked]
        return _union(rows)

    about_correct = mentions_correct(definition.formula)
    return Rule(plan, premise, bool(parts.leads), about_correct, by_role=True, whole=True)


Roles = tuple[str, ...]
"""The requests and indications of a formula, in the order in which it mentions them."""

_EARLIER = "whether its goal was reached depends on the order of the events"
_KINDS = {"false": VIOLATED, "false so far": PENDING, "undecided": UNKNOWN}
"""The kinds of findings."""


def _union(rows: list[Any]) -> Any:
    first, *others = rows
    for each in others:
        first = first.union(each)
    return first


def _asked_about(parts: Parts, roles: Roles) -> tuple[int, ...]:
    """Returns which of ``roles`` have the events without which nothing is asked."""
    states = effects_of(parts.always)
    wanted = states.harming | states.both
    for goal in parts.leads:
        wanted |= operators_read(goal.goal if goal.premise is None else goal.premise)
    return tuple(at for at, name in enumerate(roles) if name in wanted)


def _table(found: list[Said]) -> pa.Table:
    """Returns findings as rows; ``circle`` is the number of the finding."""
    rows = []
    for number, said in enumerate(found):
        for row in said.rows or ({},):
            shown = {name: row.get(name) for name in ("process", "pos", "entry")}
            rows.append({**shown, "verdict": said.verdict, "circle": number, "said": said.text})
    return pa.Table.from_pylist(rows)


def _findings(
    tables: Tables, interface: typed.Interface, formula: typed.Expr, parts: Parts
) -> Iterator[Said]:
    """Yields the violations of each run, and its undecided conjuncts."""
    try:
        if _is_large(tables):
            yield Said(UNKNOWN, f"a run has more than {MOST_EVENTS:,} events of it")
            return
        for run in recorded_runs(tables, interface):
            for said in _Run(run, Meaning(run, interface, formula), parts).findings():
                yield said if said.rows else replace(said, rows=({"process": run.values[0]},))
    except Misfit as problem:
        yield Said(UNKNOWN, str(problem))
    except RunFault as fault:
        yield Said(UNKNOWN, f"the formula has no value: {fault.message}")
    except SpecError as problem:
        yield Said(UNKNOWN, problem.diagnostics[0].message)


def _is_large(tables: Tables) -> bool:
    events = [tables.rows_of(at).select("process", one=1) for at in range(len(tables.roles))]
    if not events:
        return False
    counted = _union(events).group("one", rows=("count", ""))
    return tables.engine.has_rows(counted.where(col("rows") > MOST_EVENTS))


class _Run:
    """A run, and the conjuncts of a formula in it."""

    def __init__(self, run: RecordedRun, meaning: Meaning, parts: Parts) -> None:
        self.run, self.meaning, self.parts = run, meaning, parts
        self.ends: Cut = tuple(len(line) for line in run.events)

    def findings(self) -> Iterator[Said]:
        """Yields the findings of all conjuncts."""
        end = self._after_all(lambda event: True)
        for part in self.parts.initially:
            for binding in self._false(part.binders, None, part.goal, self.meaning.first()):
                yield Said(VIOLATED, f"it is false before the first event{binding}")
        if self.parts.always:
            yield from self._always(end)
        for goal in self.parts.leads:
            yield from self._leads(goal, end)

    def _after_all(self, which: Callable[[Event], bool]) -> Scope:
        """Returns the state after all events for which ``which`` is true."""
        return self.meaning.after_all([[*filter(which, line)] for line in self.run.events])

    # ---- every state --------------------------------------------------------------------------

    def _always(self, end: Scope) -> Iterator[Said]:
        effects = effects_of(self.parts.always)
        bad = [self._bad(p.binders, p.premise, p.goal) for p in self.parts.always]
        if not self.run.is_whole and effects.only_harm:
            end = self._after_all(lambda event: event.sure)
        for part, expr in zip(self.parts.always, bad, strict=True):
            binding = _binding(expr, end)
            if binding is None:
                continue
            said, rows = self._when_false(part.binders, binding, expr, effects)
            stays = effects.only_harm and not self._reads_order()
            why = "" if stays else self._why_unknown()
            why = why or self._why_unsure()
            yield Said(UNKNOWN if why else VIOLATED, f"{said}{why and '; '}{why}", rows)
            return
        if effects.only_harm:
            return
        order = Order(self.run, self.meaning, effects, Watch(self.meaning, self.parts.always))
        if order.exists():
            return
        rows, said = self._stuck(order)
        if order.stopped:
            yield Said(UNKNOWN, f"no order of the events was found in {MOST_STATES:,} states", rows)
            return
        why = self._why_unknown() or self._why_unsure()
        yield Said(UNKNOWN if why else VIOLATED, f"{said}{why and '; '}{why}", rows)

    def _when_false(
        self, binders: Binders, binding: Binding, bad: ir.Expr, effects: Effects
    ) -> tuple[str, tuple[Any, ...]]:
        """Returns from when on ``bad`` is true, which it is at the end, and the rows about it."""
        shown, rows = self._shown(binders, binding), self._rows_of(binding)
        if not effects.only_harm or rows:
            return f"after all events it is false{shown}", rows
        at, event = self._first_false(bad)
        return f"from {self.run.processes[at]}'s {_called(event)} on it is false{shown}", (
            event.row,
        )

    def _first_false(self, bad: ir.Expr) -> tuple[int, Event]:
        """Returns the event that makes ``bad`` true, and its process, in the order in which all
        events of one process come before the next process.  ``bad`` stays true once it is."""
        events = [(at, e) for at, line in enumerate(self.run.events) for e in line if e.sure]
        is_bad = compiled(bad)

        def is_false(length: int) -> bool:
            lines: list[list[Event]] = [[] for _ in self.run.events]
            for at, event in events[:length]:
                lines[at].append(event)
            return bool(is_bad(self.meaning.after_all(lines)))

        first = bisect_left(range(len(events) + 1), True, key=is_false)
        return events[max(first - 1, 0)]

    def _stuck(self, order: Order) -> tuple[tuple[Any, ...], str]:
        """Returns the rows of the next events, which all make the formula false, and a text."""
        events = [
            (self.run.processes[at], self.run.events[at][done])
            for at, done in enumerate(order.furthest)
            if done < self.ends[at] and order.is_relevant(self.run.events[at][done])
        ]
        said = " or ".join(f"{name}'s {_called(event)}" for name, event in events)
        before = sum(order.furthest)
        text = f"in every order of the events it becomes false: after {count(before, 'event')}"
        return tuple(event.row for _, event in events), f"{text}, {said} makes it false"

    # ---- whole runs ---------------------------------------------------------------------------

    def _leads(self, goal: Goal, end: Scope) -> Iterator[Said]:
        decides_order = self._reads_order() or not self.run.is_whole
        why = (self._why_unknown() if decides_order else "") or self._why_unsure()
        bad = self._bad(goal.binders, goal.premise, goal.goal)
        binding = _binding(bad, end)
        if binding is not None:
            shown = self._shown(goal.binders, binding)
            rows = self._rows_of(binding)
            if goal.premise is None and not goal.lasts and not grows(goal.goal):
                yield Said(UNKNOWN, f"{_EARLIER}{shown}", rows)
                return
            said = f"its goal is still missing at the end of the log{shown}"
            if why:
                yield Said(UNKNOWN, f"{said}; {why}", rows)
            elif goal.premise is None or self._was_due(goal, end):
                yield Said(VIOLATED, said, rows)
            else:
                yield Said(PENDING, said, rows)
            return
        if goal.premise is None or grows(goal.premise):
            return
        never = self._bad(goal.binders, None, goal.goal)
        binding = _binding(never, end)
        if binding is not None:
            shown = self._shown(goal.binders, binding)
            yield Said(UNKNOWN, f"{_EARLIER}{shown}", self._rows_of(binding))

    def _was_due(self, goal: Goal, end: Scope) -> bool:
        """Returns whether an instance that is not reached began before the grace window."""
        if not any(event.is_late for line in self.run.events for event in line):
            return True
        early = self._after_all(lambda event: not event.is_late)

        premise = goal.premise
        assert premise is not None
        due = exists(goal.binders, self.meaning.env, lambda env: lower(premise, env))
        begun = [binding[: len(goal.binders)] for binding in _bindings(due, early)]
        bad = self._bad(goal.binders, goal.premise, goal.goal)
        return any(b[: len(goal.binders)] in begun for b in _bindings(bad, end))

    # ---- formulas -----------------------------------------------------------------------------

    def _bad(self, binders: Binders, premise: typed.Expr | None, goal: typed.Expr) -> ir.Expr:
        return instances(binders, premise, goal, self.meaning.env)

    def _false(
        self, binders: Binders, premise: typed.Expr | None, goal: typed.Expr, scope: Scope
    ) -> Iterator[str]:
        binding = _binding(self._bad(binders, premise, goal), scope)
        if binding is not None:
            yield self._shown(binders, binding)

    def _shown(self, binders: Binders, binding: Binding) -> str:
        """Returns the values of the names that ``binders`` bind."""
        pairs = [
            f"{_name(binder.pattern)} = {value_text(type_, value)}"
            for binder, (type_, value) in zip(binders, binding, strict=False)
        ]
        return f" for {', '.join(pairs)}" if pairs else ""

    def _rows_of(self, binding: Binding) -> tuple[Any, ...]:
        """Returns the rows of the events whose arguments are values of ``binding``."""
        entries = {value for type_, value in binding if type_ != self.meaning.world.proc}
        found = [
            event.row
            for line in self.run.events
            for event in line
            if event.op != CRASHES and (event.arguments in entries or {*event.arguments} & entries)
        ]
        return tuple(found[:4])

    def _why_unsure(self) -> str:
        """Returns why the correct processes are not known, or "" if the formula asks nothing about
        them."""
        formulas = (each for part in _formulas(self.parts) for each in part)
        return self.run.unsure if any(mentions_correct(each) for each in formulas) else ""

    def _why_unknown(self) -> str:
        """Returns why other events may have happened, or these at other times; empty if not."""
        if self.run.gaps:
            return self.run.gaps[0]
        if not self.run.is_whole:
            return "an event may or may not have happened"
        if not self.run.is_placed:
            return "a request with an offset may have been made earlier"
        return ""

    def _reads_order(self) -> bool:
        formulas = (each for part in _formulas(self.parts) for each in part)
        return any(isinstance(n, typed.HistoryOrder) for each in formulas for n in nodes_of(each))


Binding = list[tuple[Any, Any]]
"""Types and values, in the order of the binders."""


def _formulas(parts: Parts) -> Iterator[tuple[typed.Expr, ...]]:
    every: tuple[PremiseGoal | Goal, ...] = (*parts.always, *parts.initially, *parts.leads)
    for part in every:
        where = tuple(b.where for b in part.binders if b.where is not None)
        yield (part.goal, *where, *(() if part.premise is None else (part.premise,)))


def _bindings(expr: ir.Expr, scope: Scope) -> Iterator[Binding]:
    """Yields the values that make nested existential quantifiers true."""
    match expr:
        case ir.Quant(ir.Quantifier.EXISTS, name, domain, body):
            type_, is_true = ir.domain_item(domain), compiled(body)
            for value in members(domain, scope):
                inner = scope.bind(name, value)
                for rest in _bindings(body, inner) if is_true(inner) else ():
                    yield [(type_, value), *rest]
        case ir.Apply(_, ir.Op.AND, (first, *others)) if others:
            and_also = ir.Apply(expr.type, ir.Op.AND, tuple(others))
            for one in _bindings(first, scope):
                for more in _bindings(and_also, scope):
                    yield one + more
        case _:
            if evaluate(expr, scope):
                yield []


def _binding(expr: ir.Expr, scope: Scope) -> Binding | None:
    """Returns the first of :func:`_bindings`, or ``None``."""
    return next(_bindings(expr, scope), None) if compiled(expr)(scope) else None


def _name(pattern: typed.Pattern) -> str:
    match pattern:
        case typed.Bind():
            return pattern.name
        case typed.Parts(_, items):
            return f"({', '.join(_name(item) for item in items)})"
        case _:
            return "_"


def _called(event: Event) -> str:
    at = event.row.get("pos")
    what = "crash" if event.op == CRASHES else f"`{event.op}`"
    return what if at is None else f"{what} at position {at:,}"


class Order:
    """The search for an order of the events of a run in all of whose states a formula is true.

    It goes from cut to cut.  Events that can only help are taken first: what follows is then true
    in more states.  Where each instance has one event that can harm, one that does no harm now
    never does, so no other order has to be tried.
    """

    def __init__(
        self,
        run: RecordedRun,
        meaning: Meaning,
        effects: Effects,
        watch: Watch,
    ) -> None:
        self._run, self._meaning, self._effects, self._watch = run, meaning, effects, watch
        self._ends: Cut = tuple(len(line) for line in run.events)
        self._seen: set[Cut] = set()
        self.furthest: Cut = (0,) * len(self._ends)
        self.stopped = False

    def is_relevant(self, event: Event) -> bool:
        """Returns whether ``event`` can make it false."""
        return event.op in self._effects.harming | self._effects.both

    def exists(self) -> bool:
        """Returns whether there is such an order; if not, ``furthest`` is a longest beginning of
        one, and ``stopped`` tells whether there may be one all the same."""
        first = (0,) * len(self._ends)
        scope = self._meaning.first()
        if not self._watch.holds(scope):
            return False
        stack = [self._moves(first, scope)]
        while stack:
            poll()
            move = next(stack[-1], None)
            if move is None:
                stack.pop()
                continue
            cut, scope = move
            if cut == self._ends:
                return True
            if len(self._seen) > MOST_STATES + sum(self._ends):
                self.stopped = True
                return False
            stack.append(self._moves(cut, scope))
        return False

    def _moves(self, cut: Cut, scope: Scope) -> Iterator[tuple[Cut, Scope]]:
        """Yields the cuts that may follow, each with its state, the most promising first."""
        cut, scope = self._with_help(cut, scope)
        if cut in self._seen:
            return
        self._seen.add(cut)
        if sum(cut) >= sum(self.furthest):
            self.furthest = cut
        if cut == self._ends:
            yield cut, scope
            return
        only_one = self._effects.single and not self._effects.both
        for process, done in enumerate(cut):
            if done == self._ends[process]:
                continue
            event = self._run.events[process][done]
            after = self._meaning.after(scope, process, event)
            if self._watch.still_holds(after, process, event):
                yield _with(cut, process), after
                if only_one:
                    return

    def _with_help(self, cut: Cut, scope: Scope) -> tuple[Cut, Scope]:
        """Returns the cut after all events that can do no harm and come next."""
        went = True
        while went:
            went = False
            for process, line in enumerate(self._run.events):
                while cut[process] < len(line) and not self.is_relevant(line[cut[process]]):
                    poll()
                    scope = self._meaning.after(scope, process, line[cut[process]])
                    cut, went = _with(cut, process), True
        return cut, scope


def _with(cut: Cut, process: int) -> Cut:
    return (*cut[:process], cut[process] + 1, *cut[process + 1 :])
