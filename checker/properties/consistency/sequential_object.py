"""Executes a sequential object: the outcomes of an operation in a state."""

from __future__ import annotations

from collections.abc import Mapping

from checker.diagnostics import SpecError
from checker.instantiate.effects import coarse
from checker.instantiate.protocol import initial
from checker.instantiate.protocol.dispatch import run_handler
from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.patterns import match_patterns
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.statements import Root
from checker.instantiate.world import Draft, Instance, World
from checker.language.syntax import typed
from checker.model import ir
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, action_transitions, starts
from checker.model.ir import TRUE, Action, ActionKind, EffectDef, EffectKind, VariableKind
from checker.model.transforms.any_order import in_any_order
from checker.model.types import OptionT, Type, Value, default
from checker.properties.consistency.calls import Call, Result
from checker.records import replace

RESULT = "@result"
GROWTHS = 12
"""The number of doublings after which a number or a seq of an object counts as unbounded."""

Outcome = tuple[State, Result]


class SequentialObject:
    """An object that the operations ``calls`` are applied to, each at most once; its states are
    those of a transition system with one action for each of them."""

    def __init__(self, world: World, asked: typed.Consistent, calls: tuple[Call, ...]) -> None:
        self.world, self.of, self.calls = world, asked.object, calls
        self.asked_at = asked.span
        self.capacities: dict[str, int] = dict(world.capacities)
        self._instantiate()

    def _instantiate(self) -> None:
        self.known: dict[tuple[State, int], tuple[Outcome, ...]] = {}
        made, shell = shell_of(self.world, self.of, self.capacities)
        self._system = system_of(made, shell, self.of.name, self.calls)

    def initial(self) -> State:
        """Returns the first state; raises :class:`SpecError` (C210) where there are several."""
        try:
            first, *others = dict.fromkeys(state for state, _ in starts(self._system))
        except RunFault as fault:
            raise run_error(self.of, fault) from None
        if others:
            message = f"`{self.of.name}` has several initial states"
            raise refuse("C210", message, self.of.span, "a sequential object has one initial state")
        return self._bare(first)

    def outcomes(self, state: State, call: int) -> tuple[Outcome, ...]:
        """Returns the states and results to which the operation number ``call`` may lead; none:
        it can't take effect there.  Raises :class:`SpecError` (C210) for a run-time error."""
        key = state, call
        if key not in self.known:
            self.known[key] = self._run(state, call)
        return self.known[key]

    def _run(self, state: State, call: int) -> tuple[Outcome, ...]:
        action = self._system.actions[call]
        found: dict[Outcome, None] = {}
        for transition in action_transitions(self._system, action, (*state, None)):
            if transition.fault is not None:
                raise run_error(self.of, transition.fault)
            assert transition.successor is not None
            *after, result = transition.successor
            found[tuple(after), held(result)] = None
        return tuple(found)

    def _bare(self, state: State) -> State:
        return state[:-1]

    def grow(self, name: str) -> None:
        """Enlarges a guessed capacity of the object and starts over."""
        self.capacities[name] = 2 * self.capacities.get(name, 4)
        if self.capacities[name] > 4 << GROWTHS:
            raise unbounded(self.of)
        self._instantiate()


def run_error(of: typed.SequentialObject, fault: RunFault) -> SpecError:
    """Returns the run-time error of an operation as a diagnostic (C210); raises :class:`TooSmall`
    where a capacity was too small."""
    if fault.grows is not None:
        raise TooSmall(fault.grows)
    span = of.span
    if fault.place is not None:
        at = fault.place
        span = replace(
            span, file=at.file, line=at.line, column=at.column, end_line=at.line,
            end_column=at.column + 1,
        )  # fmt: skip
    message = f"run-time error in the object `{of.name}`: {fault.message}"
    return refuse(
        "C210", message, span, "guard an operation that can't be applied with `require …`"
    )


def unbounded(of: typed.SequentialObject) -> SpecError:
    """Returns the error that a value of ``of`` grows without a bound (C210)."""
    message = f"a value of `{of.name}` is unbounded"
    return refuse("C210", message, of.span, "give its type a bound")


def held(result: Value) -> Result:
    """Returns what the option ``result`` holds; ``None`` also where it holds nothing."""
    if result is None:
        return None
    assert isinstance(result, tuple)
    return result[0]


class TooSmall(Exception):
    """A guessed capacity of an object is too small; see :meth:`SequentialObject.grow`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def shell_of(
    world: World, of: typed.SequentialObject, capacities: Mapping[str, int]
) -> tuple[World, Instance]:
    """Returns a world that has the object ``of`` alone, with its state, and the instance that the
    object is in it."""
    made = World(world.check, world.sizes, capacities, False, world.proc)
    shell = Instance("", of.protocol, None, "", world.instances[0].payload, None)
    made.instances.append(shell)
    initial.declare_state(made)
    initial.initialise(made)
    return made, shell


def system_of(
    made: World,
    shell: Instance,
    name: str,
    calls: tuple[Call, ...],
    inputs: tuple[ir.Variable, ...] = (),
) -> ir.TransitionSystem:
    """Returns the variables of the object ``shell`` in the world ``made``, one that holds a result,
    the ``inputs`` that ``calls`` read, and an action for each of ``calls``."""
    variables = dict(made.variables)
    actions = []
    for number, call in enumerate(calls):
        made.variables = variables | {each.name: each for each in inputs}
        made.drafts = [_draft(made, shell, call, number)]
        (action,) = coarse.lower_effects(made).actions
        actions.append(action)
    result = ir.Variable(RESULT, OptionT(made.proc), None, VariableKind.WORLD, RESULT)
    system = ir.TransitionSystem(
        name, made.sizes.processes, (*variables.values(), result, *inputs), tuple(made.init),
        tuple(actions), (), (), tuple(made.marks),
    )  # fmt: skip
    return in_any_order(system)


def _draft(world: World, shell: Instance, call: Call, number: int) -> Draft:
    """Returns the action that applies ``call``, and declares the effect that notes its result."""
    caller = call.process
    self = ir.Const(world.proc, caller) if isinstance(caller, int) else caller
    interface = shell.protocol.implements
    assert interface is not None
    answer = next(o for o in interface.indications if o.name == call.op)
    params: tuple[tuple[str, Type], ...] = (("_self", world.proc),)
    body: ir.Block = ()
    for name, type_ in answer.fields:
        local = ir.Local(world.type_of(type_, shell, f"{call.op}.{name}"), name)
        params = (*params, (local.name, local.type))
        held = OptionT(local.type)
        some = ir.Apply(held, ir.Op.SOME, (local,))
        body = (ir.Assign(ir.Target(held, RESULT, True), some),)
        world.variables[RESULT] = ir.Variable(RESULT, held, default(held), VariableKind.WORLD)
    name = f"indicate.{call.op}"
    world.effects = {name: EffectDef(name, EffectKind.VISIBLE, params, body)}
    return Draft(
        Action(
            f"{call.op} {number}", ActionKind.STEP, (), TRUE, _body(world, shell, call, self), TRUE
        ),
        None,
    )


def _body(world: World, shell: Instance, call: Call, self: ir.Expr) -> ir.Block:
    (role,) = shell.protocol.roles
    env = Env(world, shell, self)
    handler = next(
        h for h in role.handlers if isinstance(h.event, typed.OnRequest) and h.event.op == call.op
    )
    assert isinstance(handler.event, typed.OnRequest)
    _, names = match_patterns(handler.event.patterns, call.args, env)
    return run_handler(handler, env, names, Root(world, self))
