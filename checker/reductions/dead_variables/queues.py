"""Queues of messages: links with order, analysed as bags from which any message may be taken.

A queue is received from its head, so its messages are no parameters of steps, and cannot be told
apart as those of a bag can.  But a step of a system with queues is one of the system in which each
queue is the bag of its messages and any of them may be received: what never happens there never
happens here.  So a message that is dead in the bag is dead in the queue.

Without its dead messages a queue has the same live ones in the same order.  Let ``y`` be ``x``
without them.  A dead head of ``x`` is received without any effect, which leaves ``y`` as it is; a
live head of ``x`` is that of ``y``; what is put behind one is put behind the other; and a loss of a
dead message is no step of ``y``.  Before ``x`` does what ``y`` can do, or meets an error that ``y``
meets, it receives the dead messages in front.  That is a bisimulation in which only what is dead
stutters (Namjoshi 1997).

A queue is taken for a bag where nothing but that is done with it, nothing asks how full it is (its
capacity is guessed), and nothing asks for liveness: receptions from a queue have one fairness
constraint together, so a dead message could represent a live one.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.model import ir
from checker.model.build import below, conj, disj, equal, integer, negation, size
from checker.model.ir import FALSE, TRUE, Action, Apply, Expr, Op, PropertyKind, TransitionSystem
from checker.model.tree import nodes, rewritten
from checker.model.types import BOOL, BagT, MapT, SeqT, Type
from checker.records import replace
from checker.reductions.dead_variables.reset import Reset
from checker.reductions.dead_variables.terms import conjuncts
from checker.reductions.dead_variables.uses import now, place

ITEM = "@message"
"""The parameter that a message of a bag is."""


def with_bags(system: TransitionSystem) -> tuple[TransitionSystem, dict[str, ir.Variable]]:
    """A system without places that can do whatever ``system`` can, whose queues of messages are
    bags; and those queues, by their names.
    """
    queues: dict[str, ir.Variable] = {}
    if any(p.kind is PropertyKind.LIVENESS for p in system.properties):
        return system, queues
    for variable in system.variables:
        if variable.kind is ir.VariableKind.LINK and _is_queue(variable.type):
            changed = _Queue(variable).in_system(system)
            if changed is not None:
                system, queues[variable.name] = changed, variable
    if not queues:
        return system, queues
    actions = tuple(replace(one, promised=FALSE) for one in system.actions)
    return replace(system, actions=actions, justice=()), queues


def without_dead(queue: ir.Variable, rest: Reset) -> ir.Block:
    """The statements that leave the messages that ``rest`` removes out of each queue."""
    part = rest.cell
    assert part.item is not None
    entry: Expr = ir.Read(queue.type, queue.name)
    for key in part.keys:
        assert isinstance(entry.type, MapT)
        entry = ir.Index(entry.type.value, entry, key)
    dead = conj(*(disj(*clause) for clause in rest.clauses))
    messages, name = ir.Members(entry, part.item.type), part.item.name
    left = ir.Comprehension(entry.type, name, messages, negation(dead), part.item)
    path = tuple(ir.Key(key, key.type) for key in part.keys)
    body: ir.Block = (ir.Assign(ir.Target(entry.type, queue.name, True, path), left),)
    body = (ir.If(ir.Quant(ir.Quantifier.EXISTS, name, messages, dead, BOOL), body),)
    for key in reversed(part.keys):
        body = (ir.For(key.name, ir.Universe(key.type), body),)
    return body


def _is_queue(type_: Type) -> bool:
    while isinstance(type_, MapT):
        type_ = type_.value
    return isinstance(type_, SeqT) and type_.grows is not None


def _as_bag(type_: Type) -> Type:
    if isinstance(type_, MapT):
        return MapT(type_.key, _as_bag(type_.value))
    assert isinstance(type_, SeqT)
    return BagT(type_.item, type_.cap, type_.grows)


class _Taking(Struct, frozen=True):
    """What takes a message from the queue ``entry``: statements ``at`` and behind it; ``position``:
    the parameter that says which (``None``: the first).
    """

    at: int
    entry: Expr
    position: str | None


class _Queue:
    """A variable whose entries are queues, and how it is replaced by one of bags."""

    def __init__(self, variable: ir.Variable) -> None:
        self.variable = variable

    def in_system(self, system: TransitionSystem) -> TransitionSystem | None:
        """``system`` with bags; ``None`` where something else is done with the queues."""
        others = (system.monitor, system.view, *system.properties)
        if any(self._is_read(part) for part in others):
            return None
        found = [self._in_action(action) for action in system.actions]
        actions = tuple(action for action in found if action is not None)
        if len(actions) < len(found) or not any(map(self._always_receives, system.actions)):
            return None
        bags = replace(self.variable, type=_as_bag(self.variable.type))
        variables = tuple(bags if v.name == bags.name else v for v in system.variables)
        return replace(system, variables=variables, actions=actions)

    def _is_read(self, part: object) -> bool:
        return any(isinstance(n, ir.Read) and n.variable == self.variable.name for n in nodes(part))

    def _always_receives(self, action: Action) -> bool:
        """Whether it takes the first message, whatever that is."""
        first = any(taking.position is None for taking in self._takings(action))
        return first and not any(isinstance(node, ir.Assume) for node in nodes(action.body))

    def _takings(self, action: Action) -> Iterator[_Taking]:
        for at, (one, other) in enumerate(zip(action.body, action.body[1:], strict=False)):
            match one, other:
                case (
                    ir.Declare(value=Apply(op=Op.HEAD, args=(entry,))),
                    ir.Assign(target, Apply(op=Op.TAIL, args=(rest,))),
                ) if entry == rest == now(target) and self._is_entry(entry, action):
                    yield _Taking(at, entry, None)
                case (
                    ir.Declare(value=ir.Index(base=entry, key=ir.Local(name=name) as where)),
                    ir.Assign(target, Apply(op=Op.DELETE_AT, args=(rest, there))),
                ) if entry == rest == now(target) and there == where:
                    if self._is_entry(entry, action) and _is_free(action, name):
                        yield _Taking(at, entry, name)
                case _:
                    pass

    def _is_entry(self, entry: Expr, action: Action) -> bool:
        """Whether it is an entry of the variable, found by parameters."""
        found = place(entry)
        names = {param.name for param in action.params}
        return (
            found is not None
            and found[0] == self.variable.name
            and all(isinstance(key, ir.Local) and key.name in names for key in found[1])
        )

    def _in_action(self, action: Action) -> Action | None:
        """``action`` with bags; ``None`` where it does something else with the queues."""
        takings = list(self._takings(action))
        if len(takings) > 1:
            return None
        if takings:
            action = self._taking(action, takings[0])
        action = replace(action, body=tuple(rewritten(s, self._stored) for s in action.body))
        found = (n for n in nodes(action) if isinstance(n, ir.Read | ir.Index | ir.Target))
        left = any(_name(n) == self.variable.name and _is_queue(n.type) for n in found)
        return None if left else action

    def _taking(self, action: Action, taking: _Taking) -> Action:
        """``action`` with the message that it takes as its last parameter."""
        bag = self._bag(taking.entry)
        assert isinstance(bag.type, BagT)
        item = ir.Local(bag.type.item, ITEM)
        one, other = action.body[taking.at : taking.at + 2]
        assert isinstance(one, ir.Declare) and isinstance(other, ir.Assign)
        removal = Apply(bag.type, Op.BAG_REMOVE, (bag, item))
        pair = (
            replace(one, value=item),
            replace(other, target=replace(other.target, type=bag.type), value=removal),
        )
        known = [negation(equal(size(taking.entry), integer(0)))]
        params = [p for p in action.params if p.name != taking.position]
        if taking.position is not None:
            (chosen,) = (p for p in action.params if p.name == taking.position)
            position = ir.Local(ir.domain_item(chosen.domain), chosen.name)
            known.append(below(position, size(taking.entry)))
            where = conj(params[-1].where, chosen.where)
            params[-1] = replace(params[-1], where=where)
        params = [replace(p, where=_without(p.where, known)) for p in params]
        params.append(ir.Param(item.name, ir.Members(bag, item.type), TRUE))
        body = (*action.body[: taking.at], *pair, *action.body[taking.at + 2 :])
        return replace(action, params=tuple(params), body=body)

    def _bag(self, entry: Expr) -> Expr:
        """The bag in place of the queue ``entry``."""
        found = place(entry)
        assert found is not None
        bag: Expr = ir.Read(_as_bag(self.variable.type), self.variable.name)
        for key in found[1]:
            assert isinstance(bag.type, MapT)
            bag = ir.Index(bag.type.value, bag, key)
        return bag

    def _stored(self, node: object) -> object:
        """An assignment to a bag in place of one to a queue: with one more message, or empty."""
        if not (isinstance(node, ir.Assign) and node.target.name == self.variable.name):
            return None
        here = now(node.target)
        if here is None or not isinstance(here.type, SeqT):
            return None
        bag = self._bag(here)
        assert isinstance(bag.type, BagT)
        match node.value:
            case Apply(op=Op.APPEND, args=(old, message)) if old == here:
                value: Expr = Apply(bag.type, Op.BAG_ADD, (bag, message))
            case ir.Const(value=()):
                value = ir.Const(bag.type, ())
            case _:
                return None
        return ir.Assign(replace(node.target, type=bag.type), value)


def _is_free(action: Action, name: str) -> bool:
    """Whether a parameter may be any position, and is used for nothing but to take what is there:
    in the two statements that do, and in its own condition.
    """
    uses = sum(isinstance(n, ir.Local) and n.name == name for n in nodes(action.body))
    return uses == 2 and action.params[-1].name == name


def _without(condition: Expr, known: list[Expr]) -> Expr:
    return conj(*(part for part in conjuncts(condition) if part not in known))


def _name(node: ir.Read | ir.Index | ir.Target) -> str | None:
    if isinstance(node, ir.Target):
        return node.name
    found = place(node)
    return None if found is None else found[0]
