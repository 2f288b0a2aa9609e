"""Initial values of variables, and the senders that a handler distinguishes."""

from __future__ import annotations

from collections.abc import Iterator

from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import TRUE
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.parametric.extract.binders import bindings
from checker.parametric.extract.values import OTHERS, Scale, Scene, evaluate, members


def check_states(role: typed.Role, scale: Scale, found: FragmentErrors) -> None:
    """Adds to ``found`` the variables that have not the same few values for every n (T005)."""
    for decl in role.states:
        try:
            members(decl.type, Scene(scale), decl.span)
        except Leaves as leaves:
            name, hint = decl.name, "use `bool`, `enum { … }` or a range with numbers at both ends"
            message = f"`{name}` has no fixed set of values: {leaves.diagnostic.message}"
            found.add(Leaves("T005", message, decl.span, hint))


def initial_values(role: typed.Role, scene: Scene) -> Iterator[dict[str, object]]:
    """Yields all values with which a process may start."""
    start = {}
    for decl in role.states:
        if decl.initial is None:
            start[decl.name] = members(decl.type, scene, decl.span)[0]
            continue
        start[decl.name] = evaluate(decl.initial, scene)
    yield from _initial_choices(role, role.choices, scene, start)


def _initial_choices(
    role: typed.Role,
    choices: tuple[typed.InitChoice, ...],
    scene: Scene,
    values: dict[str, object],
) -> Iterator[dict[str, object]]:
    if not choices:
        yield values
        return
    choice, *others = choices
    inner = Scene(scene.scale, scene.self, values)
    type_ = next(decl.type for decl in role.states if decl.name == choice.name)
    if choice.domain is None:
        options = members(type_, scene, choice.span)
        scenes = [inner.bound({choice.name: option}) for option in options]
        if choice.where is not None:
            scenes = [s for s in scenes if _certain(evaluate(choice.where, s), choice)]
    else:
        binder = typed.Binder(typed.Bind(type_, choice.name), choice.domain, choice.where)
        scenes = [s for where, s in bindings(binder, inner) if _certain(where == TRUE, choice)]
    for found in scenes:
        after = {**values, choice.name: found.names[choice.name]}
        yield from _initial_choices(role, tuple(others), scene, after)


def _certain(holds: object, choice: typed.InitChoice) -> bool:
    if isinstance(holds, bool):
        return holds
    message = f"the initial value of `{choice.name}` depends on the number of processes"
    raise Leaves("T005", message, choice.span, "use a choice that is the same for every n")


def senders(handler: typed.Handler, event: typed.OnReceive, scale: Scale) -> tuple[str | None, ...]:
    """Returns the senders that the handler distinguishes: none (``None``), or each with a name, and
    the others."""
    match event.sender:
        case typed.Ignore():
            return (None,)
        case typed.Bind(_, name):
            parts = (handler.when, handler.body, handler.at, event.patterns)
            used = any(isinstance(n, typed.Local) and n.name == name for n in nodes(parts))
            return (*scale.named, OTHERS) if used else (None,)
        case _:
            return (*scale.named, OTHERS)
