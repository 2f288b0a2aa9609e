"""Instruments a system with budgets, which limit faults, messages, or one particular crash.

An instrumented system has one more variable for each :class:`Budget`: how often the budget's event
may still happen.  So the engines check the system in which the event happens no more often.

A step that exceeds a budget is removed if no fairness constraint applies to it: this is so for
faults, and for every step if the property is an invariant.  For a liveness property, a step that is
subject to fairness can't simply be removed: an execution that waits for it forever would become
admissible.  Instead, the step leads to a last state in which the variable ``FORBIDDEN`` is true and
no action is enabled, and an :class:`ir.Justice` excludes executions that stay there.  So the
fairness constraint is kept, and two kinds of executions are excluded: those that exceed a budget,
and those that wait forever instead.

A message can also be lost on arrival (:data:`LOST`): its reception takes it from its link and has
no other effect.  So it satisfies the fairness constraint, and neither a queue nor a round waits for
it.

The new variables come last: :func:`project` removes them again.  :meth:`Budgeted.asking` sets their
initial values, on which native code does not depend: all checks of one instrumented system share
the same native code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from checker.instantiate.faults.fault_marks import Fault, FaultKind, byzantine, fault_kind, new
from checker.model import build, interpreter, ir
from checker.model.build import conj, disj, equal, negation
from checker.model.evaluate import misfit
from checker.model.interpreter import Event, State
from checker.model.ir import FALSE, TRUE, Block, Expr, MarkInfo, MarkKind, TransitionSystem
from checker.model.types import BOOL, IntT, Value
from checker.model.verify import verify
from checker.records import replace

FORBIDDEN = "@forbidden"
"""The variable that is true once a step subject to fairness has exceeded a budget."""

BEFORE = "@before."
"""Prefix of the locals that hold the values of variables before a step."""

UNLIMITED = -1

LOST = 1
"""The limit of a budget of :func:`one_copy` at which the message is lost on arrival; with the limit
0 it is never received."""

_Arg = TypeVar("_Arg")


class Copy(Struct, frozen=True):
    """A message that ``receiver`` receives with the apparent sender ``sender``, who may not have
    sent it."""

    receiver: Value
    sender: Value
    message: Value


Cost = Callable[[MarkInfo, tuple[Expr, ...]], Expr]
"""Returns whether passing a mark, with these arguments, consumes one unit of a budget."""


class Budget(Struct, frozen=True):
    """A bound on how often some event may happen; ``name``: the name of its variable.

    ``most``: the largest limit that can be set.  ``start``: conditions on the initial state, each
    of which consumes one unit if it is true.  ``loses``: the budget is about a message, which is
    lost on arrival if the limit is :data:`LOST`.
    """

    name: str
    most: int
    cost: Cost
    start: tuple[Expr, ...] = ()
    loses: bool = False

    @property
    def type(self) -> IntT:
        """Returns the type of the variable: ``UNLIMITED``, or how often the event may still
        happen."""
        return IntT(UNLIMITED, self.most)

    @property
    def remaining(self) -> Expr:
        """Returns the expression for how often the event may still happen."""
        return ir.Read(self.type, self.name)


class Budgeted(Struct, frozen=True):
    """``system`` is ``original`` with the variables of ``budgets``, all unlimited."""

    original: TransitionSystem
    system: TransitionSystem
    budgets: tuple[Budget, ...]

    def asking(self, limits: Mapping[str, int]) -> TransitionSystem:
        """Returns the instrumented system with these limits, by name of the budget; others are
        unlimited.

        Raises ``ValueError`` for more than a budget's ``most``, ``KeyError`` for an unknown name.
        """
        known = {budget.name: budget for budget in self.budgets}
        for name, limit in limits.items():
            if not 0 <= limit <= known[name].most:
                raise ValueError(f"invalid {name}: {limit}")
        variables = tuple(
            replace(v, initial=limits.get(v.name, UNLIMITED)) if v.name in known else v
            for v in self.system.variables
        )
        return replace(self.system, variables=variables)

    def project(self, states: tuple[State, ...]) -> tuple[State, ...]:
        """Returns the states projected to the original system."""
        return tuple(state[: len(self.original.variables)] for state in states)


def add_budgets(
    system: TransitionSystem, prop: ir.Property, budgets: tuple[Budget, ...]
) -> Budgeted:
    """Instruments ``system`` with these ``budgets``; its only property is ``prop``.

    An invariant is checked in the states of the instrumented system; a liveness property on those
    fair executions of ``system`` that stay within the budgets.
    """
    whole_runs = prop.kind is ir.PropertyKind.LIVENESS
    metered = [_meter_step(system, a.body, budgets, flags=False) for a in system.actions]
    flagged = [
        whole_runs and action.promised != FALSE and body != action.body
        for action, body in zip(system.actions, metered, strict=True)
    ]
    variables = system.variables + tuple(
        ir.Variable(b.name, b.type, UNLIMITED, ir.VariableKind.WORLD) for b in budgets
    )
    init = (*_meter(system, system.init, budgets, flags=False), *_charge_start(budgets))
    if not any(flagged):
        actions = [replace(a, body=b) for a, b in zip(system.actions, metered, strict=True)]
        monitor, justice = system.monitor, system.justice
    else:
        goes_on = negation(_forbidden())
        last = _last_state(system)
        actions = []
        for action, body, flags in zip(system.actions, metered, flagged, strict=True):
            whole = (*body, *system.monitor)
            if flags:
                whole = _metered_promise(system, action.body, budgets, last)
            actions.append(replace(action, guard=conj(goes_on, action.guard), body=whole))
        init, monitor = (*init, *system.monitor), ()
        flag = ir.Variable(FORBIDDEN, BOOL, False, ir.VariableKind.WORLD)
        variables = (*variables, flag)
        justice = (*system.justice, ir.Justice(goes_on, "nothing happens that is forbidden"))
    restricted = replace(
        system,
        variables=variables,
        init=init,
        actions=tuple(actions),
        monitor=monitor,
        properties=(replace(prop, given=None),),
        justice=justice,
    )
    return Budgeted(system, verify(restricted), budgets)


def _metered_promise(
    system: TransitionSystem, body: Block, budgets: tuple[Budget, ...], last: Block
) -> Block:
    """Returns the body of an action subject to fairness, with the monitor; beyond a budget it leads
    to ``last``.

    A step that leaves the state unchanged is neither counted nor forbidden: it may satisfy its
    fairness constraint any number of times.
    """
    whole = (*body, *system.monitor)
    touched = _assigned_variables(whole)
    kept = [v for v in system.variables if v.name in touched]
    ours = [ir.Variable(b.name, b.type, UNLIMITED, ir.VariableKind.WORLD) for b in budgets]
    before = [
        ir.Declare(f"{BEFORE}{v.name}", v.type, ir.Read(v.type, v.name)) for v in (*kept, *ours)
    ]
    same = conj(*(equal(ir.Read(v.type, v.name), _before(v)) for v in kept))
    back = [ir.Assign(ir.Target(v.type, v.name, True), _before(v)) for v in ours]
    back.append(ir.Assign(ir.Target(BOOL, FORBIDDEN, True), FALSE))
    judged = ir.If(same, tuple(back), (ir.If(_forbidden(), last),))
    metered = (
        *_meter_step(system, body, budgets, flags=True),
        *_meter(system, system.monitor, budgets, flags=True),
    )
    return (*before, *metered, judged)


def _before(variable: ir.Variable) -> Expr:
    return ir.Local(variable.type, f"{BEFORE}{variable.name}")


def _assigned_variables(block: Block) -> frozenset[str]:
    """Returns the state variables that ``block`` may change."""
    found: set[str] = set()
    for stmt in block:
        match stmt:
            case ir.Assign(target) if target.is_state:
                found.add(target.name)
            case ir.If(_, then, otherwise):
                found |= _assigned_variables(then) | _assigned_variables(otherwise)
            case ir.For(body=body) | ir.While(body=body):
                found |= _assigned_variables(body)
            case _:
                pass
    return frozenset(found)


def _forbidden() -> Expr:
    return ir.Read(BOOL, FORBIDDEN)


def _last_state(system: TransitionSystem) -> Block:
    """Maps all states after a forbidden step to a single one: an initial state, so that every
    expression has a value there."""
    start, _ = next(interpreter.starts(system))
    return tuple(
        ir.Assign(ir.Target(v.type, v.name, True), ir.Const(v.type, value))
        for v, value in zip(system.variables, start, strict=True)
    )


def _charge_start(budgets: tuple[Budget, ...]) -> Block:
    paid: list[ir.Stmt] = []
    for budget in budgets:
        for condition in budget.start:
            paid.extend(_charge(budget, condition, flags=False))
    return tuple(paid)


def _meter_step(
    system: TransitionSystem, body: Block, budgets: tuple[Budget, ...], *, flags: bool
) -> Block:
    """Returns the ``body`` of an action in which every mark consumes its cost.  If a message is
    lost on arrival, the statements from its reception on are omitted."""
    for at, stmt in enumerate(body):
        if isinstance(stmt, ir.Mark):
            arrives = [(b, b.cost(system.marks[stmt.mark], stmt.args)) for b in budgets if b.loses]
            lost = disj(*(conj(c, equal(b.remaining, build.integer(LOST))) for b, c in arrives))
            if lost != FALSE:
                before = _meter(system, body[:at], budgets, flags=flags)
                behind = _meter_step(system, body[at + 1 :], budgets, flags=flags)
                received = (*_meter(system, (stmt,), budgets, flags=flags), *behind)
                return (*before, ir.If(lost, (), received))
    return _meter(system, body, budgets, flags=flags)


def _meter(
    system: TransitionSystem, block: Block, budgets: tuple[Budget, ...], *, flags: bool
) -> Block:
    """Returns ``block`` in which every mark consumes its cost."""
    result: list[ir.Stmt] = []
    for stmt in block:
        match stmt:
            case ir.Mark(mark, args):
                result.append(stmt)
                for budget in budgets:
                    condition = budget.cost(system.marks[mark], args)
                    result.extend(_charge(budget, condition, flags=flags))
            case ir.If(_, then, otherwise):
                yes = _meter(system, then, budgets, flags=flags)
                no = _meter(system, otherwise, budgets, flags=flags)
                result.append(replace(stmt, then=yes, otherwise=no))
            case ir.For(body=body) | ir.While(body=body):
                result.append(replace(stmt, body=_meter(system, body, budgets, flags=flags)))
            case _:
                result.append(stmt)
    return tuple(result)


def _charge(budget: Budget, condition: Expr, *, flags: bool) -> Block:
    """Consumes one unit of ``budget`` if ``condition`` is true.  If none is left, the step is
    removed, or, with ``flags``, sets ``FORBIDDEN``."""
    if condition == FALSE:
        return ()
    left = budget.remaining
    nothing = equal(left, build.integer(0))
    if budget.loses:
        nothing = build.at_most(build.integer(0), left)
    over: ir.Stmt = ir.Assume(negation(nothing))
    if flags:
        over = ir.If(nothing, (ir.Assign(ir.Target(BOOL, FORBIDDEN, True), TRUE),))
    statements: list[ir.Stmt] = [over]
    if budget.most and not budget.loses:
        less = ir.Apply(IntT(UNLIMITED - 1, budget.most - 1), ir.Op.ADD, (left, build.integer(-1)))
        spent = ir.Assign(ir.Target(budget.type, budget.name, True), less)
        statements.append(ir.If(build.below(build.integer(0), left), (spent,)))
    if condition == TRUE:
        return tuple(statements)
    return (ir.If(condition, tuple(statements)),)


Passed = tuple[MarkInfo, Event]
"""A mark that a step passes, with the values that it has there."""


def forbid(system: TransitionSystem, action: str, passed: tuple[Passed, ...]) -> TransitionSystem:
    """Returns ``system`` without the steps of ``action`` that pass the marks ``passed`` (one, or
    two in this order).  Use it for invariants only, since fairness may require these steps."""
    *first, last = passed
    flag = ir.Local(BOOL, build.fresh("_passed"))

    def without(block: Block) -> Block:
        result: list[ir.Stmt] = []
        for stmt in block:
            match stmt:
                case ir.Mark(number, args):
                    result.append(stmt)
                    info = system.marks[number]
                    if first and (here := _passes(info, args, *first)) != FALSE:
                        note = ir.Assign(ir.Target(BOOL, flag.name, False), TRUE)
                        result.append(ir.If(here, (note,)))
                    if (here := _passes(info, args, last)) != FALSE:
                        both = conj(flag, here) if first else here
                        result.append(ir.Assume(negation(both)))
                case ir.If(_, then, otherwise):
                    branches = without(then), without(otherwise)
                    result.append(replace(stmt, then=branches[0], otherwise=branches[1]))
                case ir.For(body=body) | ir.While(body=body):
                    result.append(replace(stmt, body=without(body)))
                case _:
                    result.append(stmt)
        return tuple(result)

    before = (ir.Declare(flag.name, BOOL, FALSE),) if first else ()
    actions = (
        replace(a, body=(*before, *without(a.body))) if a.name == action else a
        for a in system.actions
    )
    return replace(system, actions=tuple(actions))


def _passes(info: MarkInfo, args: tuple[Expr, ...], passed: Passed) -> Expr:
    mark, event = passed
    if (info.kind, info.text) != (mark.kind, mark.text):
        return FALSE
    return same(args, event.args)


# ---- costs of marks ---------------------------------------------------------------------------


def any_fault(system: TransitionSystem) -> Cost:
    """Costs one for each fault."""

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        return FALSE if fault_kind(info) is None else new(system, info, args)

    return cost


def any_message(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
    """Costs one for each message that is sent, to any number of receivers, or fabricated."""
    if info.kind is MarkKind.FORGE:
        return TRUE
    if info.kind is not MarkKind.SEND:
        return FALSE
    return negation(equal(args[1], ir.Const(args[1].type, frozenset())))


def this_fault(system: TransitionSystem, fault: Fault) -> Cost:
    """Costs one for each occurrence of ``fault``."""

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        if fault_kind(info) is not fault.kind:
            return FALSE
        return conj(same(args, fault.args), new(system, info, args))

    return cost


def other_faults(system: TransitionSystem, known: tuple[Fault, ...]) -> Cost:
    """Costs one for each fault that is not ``known``."""

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        kind = fault_kind(info)
        if kind is None:
            return FALSE
        others = (negation(same(args, f.args)) for f in known if f.kind is kind)
        return conj(*others, new(system, info, args))

    return cost


def this_copy(copy: Copy) -> Cost:
    """Costs one for each time that this message is received, sent or fabricated."""

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        ends = reception_of(info, args)
        if ends is None:
            return FALSE
        return same(ends, (copy.receiver, copy.sender, copy.message))

    return cost


def this_timeout(timer: str, process: Value) -> Cost:
    """Costs one for each time that this timer of this process expires."""

    def cost(info: MarkInfo, args: tuple[Expr, ...]) -> Expr:
        if info.kind is not MarkKind.TIMEOUT or info.text != timer:
            return FALSE
        return same(args[:1], (process,))

    return cost


def reception_of(info: MarkInfo, args: tuple[_Arg, ...]) -> tuple[_Arg, _Arg, _Arg] | None:
    """Returns the receiver, the apparent sender and the message if the mark is a reception."""
    if info.kind is MarkKind.RECEIVE:
        return args[0], args[1], args[2]
    if info.kind is MarkKind.FORGE:
        return args[1], args[3] if len(args) > 3 else args[0], args[2]
    return None


def same(args: tuple[Expr, ...], values: tuple[Value, ...]) -> Expr:
    """Returns whether ``args`` have these values; false for values outside their types."""
    if len(args) != len(values):
        return FALSE
    pairs = list(zip(args, values, strict=True))
    if any(misfit(arg.type, value, None) is not None for arg, value in pairs):
        return FALSE
    return conj(*(equal(arg, ir.Const(arg.type, value)) for arg, value in pairs))


# ---- budgets ----------------------------------------------------------------------------------


def faults_at_most(system: TransitionSystem, most: int, name: str = "@faults") -> Budget:
    """Returns a budget for faults of all kinds; ``most``: the largest limit that can be set."""
    return Budget(name, most, any_fault(system), tuple(is_ for _, is_ in byzantine(system)))


def messages_at_most(most: int, name: str = "@messages") -> Budget:
    """Returns a budget for messages: a multicast is one."""
    return Budget(name, most, any_message)


def one_fault(system: TransitionSystem, fault: Fault, most: int, name: str) -> Budget:
    """Returns a budget for one fault, which may happen several times."""
    start: tuple[Expr, ...] = ()
    if fault.kind is FaultKind.BYZANTINE:
        start = tuple(is_ for who, is_ in byzantine(system) if (who,) == fault.args)
    return Budget(name, most, this_fault(system, fault), start)


def no_other_fault(
    system: TransitionSystem, known: tuple[Fault, ...], name: str = "@other faults"
) -> Budget:
    """Returns a budget for the faults that are not ``known``."""
    start = tuple(
        is_ for who, is_ in byzantine(system) if Fault(FaultKind.BYZANTINE, (who,)) not in known
    )
    return Budget(name, 0, other_faults(system, known), start)


def one_copy(copy: Copy, name: str) -> Budget:
    """Returns a budget for the reception of one message by one process; its limit is 0 or
    :data:`LOST`."""
    return Budget(name, LOST, this_copy(copy), loses=True)


# ---- costs of an execution --------------------------------------------------------------------


def copy_of_event(system: TransitionSystem, event: Event) -> Copy | None:
    """Returns the received message if ``event`` is a reception."""
    ends = reception_of(system.marks[event.mark], event.args)
    return None if ends is None else Copy(*ends)
