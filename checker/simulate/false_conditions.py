"""Words why an instance of an action is not enabled: the conditions that are false, with values.

What the spec demands is said in its own words (:class:`checker.model.ir.Condition`); what the world
demands, from the variables that its conditions read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard, cast

from msgspec import Struct

from checker.diagnostics import Span
from checker.diagnostics.english import listing
from checker.instantiate.faults.pauses import LATE, PAUSES
from checker.instantiate.network.connections import GONE
from checker.instantiate.oracles.detectors import SETTLED, WRONG
from checker.instantiate.protocol.handler_budgets import BUDGET
from checker.instantiate.time.timing import CLOCK, NOISE, STABLE, TICKS
from checker.instantiate.variable_names import BYZANTINE, DOOMED, IMMUNE, TIMER
from checker.instantiate.world import (
    CLIENT,
    CRASHED,
    CRASHES,
    CUTS,
    NETWORK,
    OMITTING,
    PENDING,
    POWER_FAILURES,
    RESETS,
    SPLIT,
    SPLITS,
    UNDER_WAY,
    WAITING,
    WIPES,
    is_cut,
)
from checker.language.syntax.typed import CLOCKS
from checker.model import dump, ir
from checker.model.build import negation
from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.interpreter import State, Transition
from checker.model.ir import (
    FALSE,
    Action,
    ActionKind,
    Apply,
    Const,
    Expr,
    IsCase,
    Op,
    Quant,
    Read,
    TransitionSystem,
)
from checker.model.tree import nodes
from checker.model.types import AtomT, IntT
from checker.results.show_values import show

SAID = "@said"
"""Parts of the names of variables: what a failure detector has indicated, and a timer."""


class FalseCondition(Struct, frozen=True):
    """A condition that is false, in words; of one of the spec, ``spelled`` is its text there, and
    ``span`` its source range."""

    text: str
    spelled: str = ""
    span: Span | None = None


def false_conditions(
    system: TransitionSystem, state: State, action: Action, transition: Transition
) -> tuple[FalseCondition, ...]:
    """Returns why the instance of ``action`` that ``transition`` is of is not enabled in ``state``.

    ``transition`` is one of the action without its conditions.  Empty where it is enabled.
    """
    names = dict(zip((p.name for p in action.params), transition.params, strict=True))
    variables = (variable.name for variable in system.variables)
    scope = Scope(dict(zip(variables, state, strict=True)), names)
    demanded = (*(param.where for param in action.params), action.guard)
    false = [c for whole in demanded for c in _conjuncts(whole) if _is_false(c, scope)]
    told = [_Telling(system, action, scope).world(c) for c in false]
    spec = false_in_spec(action, scope)
    world = [FalseCondition(text) for text in told if text]
    if not world and not spec:
        world = [FalseCondition(f"`{dump.text(c)}` is false") for c in false]
    return tuple(dict.fromkeys([*world, *spec]))


def false_in_spec(action: Action, scope: Scope) -> tuple[FalseCondition, ...]:
    """Returns which conditions of the spec are false for an instance of ``action``."""
    return tuple(_condition(c, scope) for c in action.conditions if _is_false(c.holds, scope))


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    match expr:
        case Apply(op=Op.AND, args=args):
            for arg in args:
                yield from _conjuncts(arg)
        case _:
            yield expr


def _is_false(expr: Expr, scope: Scope) -> bool:
    """Returns whether ``expr`` is false; what can't be evaluated behind a false one is not."""
    try:
        return not evaluate(expr, scope)
    except RunFault:
        return False


def _condition(condition: ir.Condition, scope: Scope) -> FalseCondition:
    """Returns ``#received(ECHO) >= T + 1` is false: #received(ECHO) = 1, T = 1``."""
    values = []
    for text, term in condition.terms:
        if text == condition.text:
            continue
        try:
            values.append(f"{text} = {show(term.type, evaluate(term, scope))}")
        except RunFault:
            continue
    more = f": {', '.join(values)}" if values else ""
    return FalseCondition(f"`{condition.text}` is false{more}", condition.text, condition.span)


class _Telling(Struct, frozen=True):
    """Words for false conditions of the world, for one instance of an action."""

    system: TransitionSystem
    action: Action
    scope: Scope

    def world(self, expr: Expr) -> str:
        """Returns why ``expr`` is false; empty where it is no condition of the world."""
        if isinstance(expr, Apply) and expr.op is Op.OR:
            if IMMUNE in _reads(expr) and self.scope.state[IMMUNE] is None:
                return "nobody else is correct, and the failure detector needs someone who is"
            parts = [self.world(part) for part in expr.args if _reads(part)]
            return " and ".join(dict.fromkeys(parts)) if all(parts) else ""
        if isinstance(expr, Apply) and expr.op is Op.AND:
            return next((self.world(p) for p in expr.args if _is_false(p, self.scope)), "")
        if self._negated(expr) and isinstance(inner := expr.args[0], Apply) and inner.op is Op.OR:
            true = (part for part in inner.args if evaluate(part, self.scope))
            return self.world(negation(next(true)))
        read = _reads(expr)
        if read and all(map(is_cut, read)):
            return self.cut(expr)
        if self.action.name.startswith(GONE) and any(n.startswith(NETWORK) for n in read):
            return self.gone(expr)
        if not read and isinstance(expr, Apply) and expr.op is Op.IN:
            return f"no process of the role of {self.who(expr)} does that in this check"
        if self.action.name == TICKS and {CLOCK, CLOCKS} & set(read):
            return self.clock(expr)
        if isinstance(expr, Quant) or (self._negated(expr) and _is_quantified(expr)):
            return self.waiting(read)
        if expr == FALSE or (self._negated(expr) and not read):
            return "that never happens in this check"
        for name in read:
            tell = _TABLE.get(name[name.rfind("@") :].partition(" ")[0])
            if tell is None and TIMER in name:
                tell = _Telling.timer
            if tell is not None:
                return tell(self, expr)
        return ""

    def value(self, name: str) -> str:
        """Returns the value of a variable in words."""
        return show(self.system.variable(name).type, self.scope.state[name])

    def who(self, expr: Expr) -> str:
        """Returns the first process that ``expr`` is about."""
        for node in nodes(expr, beyond=(Quant, ir.Comprehension)):
            if isinstance(node, ir.Local | Const | ir.Item | ir.Index):
                type_ = node.type
                if isinstance(type_, AtomT) and set(type_.labels) <= set(self.system.processes):
                    return show(type_, evaluate(node, self.scope))
        return "the process"

    def bound(self, expr: Expr) -> str:
        """Returns the bound of ``expr``, a comparison with one."""
        if isinstance(expr, Apply) and len(expr.args) == 2:
            for side in expr.args:
                if isinstance(side, Const) and isinstance(side.type, IntT):
                    return show(side.type, side.value)
        return ""

    def crashed(self, expr: Expr) -> str:
        who = self.who(expr)
        if self.bound(expr):
            return self._used_up(expr, self._processes(self.scope.state[CRASHED]), "crashed")
        return f"{who} has crashed" if self._negated(expr) else f"{who} has not crashed"

    def _used_up(self, expr: Expr, by: list[str], what: str) -> str:
        number = self.bound(expr)
        most = f"{number} process{'' if number == '1' else 'es'}"
        used = f": {listing(by)}" if by else ""
        return f"the fault budget is used up (at most {most} {what}{used})"

    def _processes(self, members: object) -> list[str]:
        assert isinstance(members, frozenset)
        return [self.system.processes[int(member)] for member in sorted(members)]

    def crashes(self, expr: Expr) -> str:
        return (
            f"the fault budget is used up (at most {_times(self.bound(expr), 'crash', 'crashes')})"
        )

    def power_failures(self, expr: Expr) -> str:
        most = _times(self.bound(expr), "power failure", "power failures")
        return f"the fault budget is used up (at most {most})"

    def wipes(self, expr: Expr) -> str:
        return (
            "the fault budget is used up"
            f" (at most {_times(self.bound(expr), 'lost disk', 'lost disks')})"
        )

    def omitting(self, expr: Expr) -> str:
        if not self.bound(expr):
            return ""
        return self._used_up(expr, self._processes(self.scope.state[OMITTING]), "omitting messages")

    def splits(self, expr: Expr) -> str:
        most = _times(self.bound(expr), "partition", "partitions")
        return f"the fault budget is used up (at most {most})"

    def split(self, expr: Expr) -> str:
        cut = self._processes(self.scope.state[SPLIT])
        return (
            f"the network is partitioned ({listing(cut)} cut off)"
            if cut
            else "there is no partition"
        )

    def cuts(self, expr: Expr) -> str:
        return f"the fault budget is used up (at most {_times(self.bound(expr), 'cut', 'cuts')})"

    def resets(self, expr: Expr) -> str:
        most = _times(self.bound(expr), "reset", "resets")
        return f"the fault budget is used up (at most {most})"

    def gone(self, expr: Expr) -> str:
        """Returns why a process gets no notice now that a connection is gone."""
        values = [self.scope.names[param.name] for param in self.action.params]
        source, to = (self.system.processes[int(cast(int, value))] for value in values)
        if self._negated(expr):
            return f"nothing is in transit from {source} to {to}"
        return f"earlier messages from {source} to {to} are received first"

    def cut(self, expr: Expr) -> str:
        if isinstance(expr, Quant) or (self._negated(expr) and _is_quantified(expr)):
            return "the link is already cut" if self._negated(expr) else "the link is not cut"
        if not self._negated(expr):
            return "the link is not cut"
        (to, source) = self._ends(expr)
        return f"the link from {source} to {to} is cut"

    def _ends(self, expr: Expr) -> list[str]:
        """Returns the receiver and the sender in the condition that a link between them is open."""
        assert isinstance(expr, Apply) and isinstance(expr.args[0], Apply)
        to, lost = expr.args[0].args
        assert isinstance(lost, ir.Index)
        return [show(end.type, evaluate(end, self.scope)) for end in (to, lost.key)]

    def byzantine(self, expr: Expr) -> str:
        who = self.who(expr)
        return f"{who} is Byzantine" if self._negated(expr) else f"{who} is not Byzantine"

    def _negated(self, expr: Expr) -> TypeGuard[Apply]:
        return isinstance(expr, Apply) and expr.op is Op.NOT

    def client(self, expr: Expr) -> str:
        assert isinstance(expr, Apply)
        made, turn = (int(evaluate(side, self.scope)) for side in expr.args)
        who = self.who(expr)
        if made > turn:
            return f"{who} has made this request already"
        return f"{who} makes {'another request' if turn - made == 1 else 'other requests'} first"

    def pending(self, expr: Expr) -> str:
        who = self.who(expr)
        if isinstance(expr, IsCase):
            return f"the handler that {who} is in does something else next"
        if self._negated(expr):
            return f"{who} is inside no handler"
        return f"{who} is inside a handler, whose next effect comes first"

    def begun(self, expr: Expr) -> str:
        return f"{self.who(expr)} is inside a handler that has yielded"

    def under_way(self, expr: Expr) -> str:
        return f"{self.who(expr)} has an activity of this handler under way"

    def immune(self, expr: Expr) -> str:
        if self._negated(expr) and "is_some" not in dump.text(expr):
            return f"{self.who(expr)} never crashes: the failure detector has settled on it"
        chosen = self.value(IMMUNE)
        return f"the failure detector has settled: {chosen} never crashes"

    def said(self, expr: Expr) -> str:
        return (
            "the failure detector has indicated this already"
            if self._negated(expr)
            else "the failure detector has indicated nothing that it could revoke"
        )

    def wrong(self, expr: Expr) -> str:
        return f"the failure detector's mistakes are used up (at most {self.bound(expr)})"

    def settled(self, expr: Expr) -> str:
        return "the failure detector has settled"

    def stable(self, expr: Expr) -> str:
        stable = bool(self.scope.state[STABLE])
        return "the system is synchronous by now" if stable else "the system is not synchronous yet"

    def pauses(self, expr: Expr) -> str:
        return f"the pauses are used up (at most {_times(self.bound(expr), 'pause', 'pauses')})"

    def late(self, expr: Expr) -> str:
        return f"{self.who(expr)} has an expired timer to handle, and does not pause"

    def early(self, expr: Expr) -> str:
        return f"the early timeouts are used up (at most {self.bound(expr)})"

    def clock(self, expr: Expr) -> str:
        if self._negated(expr):
            return "the clocks would drift too far apart"
        return "time ends here: the clock has reached the `until` of the check"

    def doomed(self, expr: Expr) -> str:
        if self.bound(expr):
            down = [self.scope.state[name] for name in (CRASHED, DOOMED)]
            return self._used_up(expr, self._processes(down[0] | down[1]), "crashed or to crash")
        who = self.who(expr)
        return f"the crash of {who} is foreseen already" if self._negated(expr) else ""

    def taken(self, expr: Expr) -> str:
        (name,) = dict.fromkeys(_reads(expr))
        most = _times(self.bound(expr), "time", "times")
        return f"`{name.partition(' ')[2]}` is used up (at most {most})"

    def timer(self, expr: Expr) -> str:
        for node in nodes(expr, beyond=(Quant, ir.Comprehension)):
            if not isinstance(node, ir.Index):
                continue
            base, key = node.base, ""
            if isinstance(base, ir.Index):  # of a timer with keys
                base, key = base.base, f"[{show(node.key.type, evaluate(node.key, self.scope))}]"
            if isinstance(base, Read):
                name = base.variable.partition(TIMER)[2] + key
                value = evaluate(node, self.scope)
                which = f"the timer `{name}`" if name else "the timer"
                if self._negated(expr):
                    return f"{which} of {self.who(expr)} has expired, and is handled first"
                stands = value is None or (value is False and bool(name))  # the anonymous one runs
                runs = "is not running" if stands else "has not expired"
                return f"{which} of {self.who(expr)} {runs}"
        return ""

    def waiting(self, read: list[str]) -> str:
        """Returns what a condition that nothing is left to do waits for."""
        if any(TIMER in name for name in read):
            return "timers that have expired are handled first"
        if self.action.kind is ActionKind.WORLD and any(n.startswith(NETWORK) for n in read):
            return "messages in transit are received first"
        if self.action.kind in (ActionKind.STEP, ActionKind.REQUEST, ActionKind.TIMEOUT):
            return ""
        return "steps that are possible now come first" if read else ""


def _reads(expr: Expr) -> list[str]:
    """Returns the variables that ``expr`` reads."""
    return [node.variable for node in nodes(expr) if isinstance(node, Read)]


def _times(number: str, one: str, more: str) -> str:
    return f"{number} {one if number == '1' else more}"


def _is_quantified(negation: Expr) -> bool:
    return isinstance(negation, Apply) and isinstance(negation.args[0], Quant)


_TABLE: dict[str, Callable[[_Telling, Expr], str]] = {
    CRASHED: _Telling.crashed,
    CRASHES: _Telling.crashes,
    POWER_FAILURES: _Telling.power_failures,
    WIPES: _Telling.wipes,
    OMITTING: _Telling.omitting,
    SPLITS: _Telling.splits,
    SPLIT: _Telling.split,
    CUTS: _Telling.cuts,
    RESETS: _Telling.resets,
    BYZANTINE: _Telling.byzantine,
    CLIENT: _Telling.client,
    PENDING: _Telling.pending,
    WAITING: _Telling.begun,
    UNDER_WAY.strip(): _Telling.under_way,
    IMMUNE: _Telling.immune,
    SAID: _Telling.said,
    WRONG: _Telling.wrong,
    SETTLED: _Telling.settled,
    STABLE: _Telling.stable,
    NOISE: _Telling.early,
    LATE: _Telling.late,
    PAUSES: _Telling.pauses,
    DOOMED: _Telling.doomed,
    BUDGET: _Telling.taken,
}
"""What is said of a condition that reads a variable of the world, by its name."""
