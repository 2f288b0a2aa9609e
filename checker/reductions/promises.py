"""Whether steps that nobody notices can keep a promise that others are owed.

Where dead parts are at rest, a step that changes dead parts only is no step.  In the system it is
one, and takes its constraint; a run in which it comes again and again may be fair although another
instance of the same constraint is put off for ever.  Without the step that run is not fair, and a
violation would be missed.  So for each action that may take such steps one of these has to hold:

* it is never promised: its steps take no constraint;
* each of its steps changes something that never rests (:func:`_moves`): then it is noticed;
* its constraint is of one instance alone, and of one way to go (no choice is made in its body).
  In the same node of the reduced graph an instance either changes dead parts only or it does not;
  so where it is taken unnoticed nothing of its constraint is enabled in the reduced graph.  A weak
  constraint that is enabled from some point on is then taken by steps that are noticed.  A strong
  one may be taken unnoticed in one state and put off in another: where runs go round (``round_``)
  that is not enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.system import ir
from checker.system.ir import Action, Apply, Block, Const, Expr, Op, TransitionSystem
from checker.system.tree import nodes
from checker.system.types import BoolT, TupleT


def doubtful(system: TransitionSystem, dead: Block, round_: bool) -> str | None:
    """The name of an action for which none of the three is known; ``None`` where there is none.

    ``dead``: what gives dead parts their value of rest; ``round_``: whether runs may go round.
    """
    resting = _written(dead)
    for action in system.actions:
        block = action.body + system.monitor
        if action.promised == ir.FALSE or not resting & _written(block):
            continue
        if _moves(action, system.monitor, resting) or _alone(system, action, round_):
            continue
        return action.name
    return None


def _written(block: Block) -> set[str]:
    """The variables of the state that ``block`` assigns."""
    return {n.target.name for n in nodes(block) if isinstance(n, ir.Assign) and n.target.is_state}


def _moves(action: Action, monitor: Block, resting: set[str]) -> bool:
    """Whether each step changes something that is not among ``resting``.

    It does where the body begins (nothing before has written the same variable, or can change what
    its path means) with an assignment that makes a flag true which the guard knows to be false, or
    adds a constant to what is there.  What is written again later in the body does not count.
    """
    known = [*_conjuncts(action.guard), *(c for p in action.params for c in _conjuncts(p.where))]
    for number, stmt in enumerate(action.body):
        match stmt:
            case ir.Assign(target, value) if target.is_state and target.name not in resting:
                others = action.body[:number] + action.body[number + 1 :] + monitor
                if target.name in _written(others) or not _plain(target):
                    continue
                if _flips(target, value, known) or _adds(target, value):
                    return True
            case _:
                pass
    return False


def _plain(target: ir.Target) -> bool:
    """Whether its path means the same in the guard and in the body: parameters and constants."""
    return all(
        isinstance(step, ir.Pos) or isinstance(step.key, ir.Local | Const) for step in target.path
    )


def _place(target: ir.Target) -> object:
    keys = (s.position if isinstance(s, ir.Pos) else s.key for s in target.path)
    return (target.name, *keys)


def _read(expr: Expr) -> object | None:
    """The place that ``expr`` reads, as :func:`_place` gives it."""
    path: list[object] = []
    while True:
        match expr:
            case ir.Index(_, base, key):
                expr = base
                path.append(key)
            case ir.Item(_, base, position):
                expr = base
                path.append(position)
            case ir.Read(_, name):
                return (name, *reversed(path))
            case _:
                return None


def _flips(target: ir.Target, value: Expr, known: list[Expr]) -> bool:
    if not (isinstance(value, Const) and isinstance(value.type, BoolT)):
        return False
    for fact in known:
        match fact:
            case Apply(_, Op.NOT, (inner,)) if value.value is True:
                if _read(inner) == _place(target):
                    return True
            case _ if value.value is False and _read(fact) == _place(target):
                return True
    return False


def _adds(target: ir.Target, value: Expr) -> bool:
    match value:
        case Apply(_, Op.ADD, (left, Const(_, int() as much))) if much != 0:
            return _read(left) == _place(target)
        case _:
            return False


def _alone(system: TransitionSystem, action: Action, round_: bool) -> bool:
    """Whether each instance is its own constraint, and can go one way only."""
    block = action.body + system.monitor
    if any(isinstance(node, ir.Choose) for node in nodes(block)):
        return False
    fairness = ir.fairness_of(action)
    if round_ and fairness.kind is ir.FairnessKind.STRONG:
        return False
    groups = [ir.fairness_of(a).group for a in system.actions if a.promised != ir.FALSE]
    if groups.count(fairness.group) > 1:
        return False
    return all(named(param, fairness.key) for param in action.params)


def named(param: ir.Param, key: tuple[Expr, ...]) -> bool:
    """Whether the key tells the value of a parameter."""
    type_ = ir.domain_item(param.domain)
    if any(isinstance(k, ir.Local) and k.name == param.name for k in key):
        return True
    if not isinstance(type_, TupleT):
        return False
    items = {
        k.position
        for k in key
        if isinstance(k, ir.Item) and isinstance(k.base, ir.Local) and k.base.name == param.name
    }
    return items == set(range(len(type_.items)))


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Apply) and expr.op is Op.AND:
        for arg in expr.args:
            yield from _conjuncts(arg)
    else:
        yield expr
