"""The environment of a parametric check: parameters, named processes, faulty processes and their
numbers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from checker.instantiate.protocol.stack import payloads
from checker.instantiate.protocol.walk import nodes
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import TRUE, plus
from checker.parametric.automaton.automaton import Condition, Group, Linear, Mode
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.parametric.extract.binders import match_patterns
from checker.parametric.extract.numbers import (
    as_linear,
    at_least,
    both,
    comparison,
    either,
    minus,
    term,
)
from checker.parametric.extract.values import (
    ME,
    OTHERS,
    Cases,
    Scale,
    Scene,
    Who,
    condition,
    evaluate,
    is_condition,
)
from checker.records import replace

FORGED = ("forged", "forged by nobody")
"""The payload that no client requests to send, as the finite system calls it."""


class Asked(Struct, frozen=True):
    """A request that a client makes: its operator, arguments and its clause."""

    op: str
    args: tuple[object, ...]
    client: typed.Client


class Settings(Struct):
    """What is the same in all executions and for all numbers.

    ``requests``: the requests to each process with a name, in order, and to every other one;
    ``liars``: how many Byzantine processes there are, by sender as in
    :class:`~checker.parametric.extract.values.Count`; ``byzantine``: whether there may be any;
    ``faulty``: how many processes may be faulty in any way.
    """

    check: typed.Check
    scale: Scale
    parameters: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    constraints: tuple[Condition, ...] = ()
    resilience: Condition = TRUE
    groups: tuple[Group, ...] = ()
    requests: dict[str, tuple[Asked, ...]] = field(default_factory=dict)
    liars: dict[str | None, Linear] = field(default_factory=dict)
    faulty: Linear = field(default_factory=Linear)

    @property
    def byzantine(self) -> bool:
        return bool(self.liars)

    def who(self, group: Group) -> Who:
        return ME if group.process is None else Who(group.process)


def for_every(check: typed.Check) -> typed.Check:
    """Returns ``check`` as a question about all numbers: one with sizes is generalised.

    Then `n`, `f` and integer parameters are free, but for those that have a default and no setting,
    and the bound of a fault that is a number becomes `f`.
    """
    if check.every:
        return check
    protocol = check.protocol
    settings = {s.name for s in check.settings}
    free = ["n", "f"]
    for parameter in protocol.parameters:
        if parameter.name in settings or parameter.default is None:
            if isinstance(parameter.type, typed.Int):
                free.append(parameter.name)
    kept = tuple(s for s in check.settings if s.name not in free)

    def bound(expr: typed.Expr | None) -> typed.Expr | None:
        if isinstance(expr, typed.Literal) and int(expr.value) > 0:
            return typed.Param(expr.type, "f", expr.span)
        return expr

    return replace(
        check,
        every=tuple(free),
        settings=kept,
        crash=bound(check.crash),
        byzantine=bound(check.byzantine),
    )


def settings_of(check: typed.Check, found: FragmentErrors) -> Settings:
    """Returns the settings of ``check`` (:func:`for_every`); what leaves the fragment is added to
    ``found``."""
    try:
        return _settings(check)
    except Leaves as leaves:
        found.add(leaves)
        found.raise_if_any()
        raise


def _settings(check: typed.Check) -> Settings:
    scale = Scale(named=tuple(_with_names(check)))
    made = Settings(check, scale)
    scene = Scene(scale)
    made.parameters = check.every
    scale.values.update({name: term(name) for name in check.every})
    _values(made, scene)
    named_payloads = payloads(check) or ("m",)
    _groups(made, scene)
    if made.byzantine:
        named_payloads += (FORGED[0] if FORGED[0] not in named_payloads else FORGED[1],)
    scale.payloads = named_payloads
    if check.condition is not None:
        made.resilience = condition(evaluate(check.condition, scene))
    _requests(made, scene)
    return made


def _index(name: str) -> int:
    return int(name.lstrip("abcdefghijklmnopqrstuvwxyz_") or 0)


def _with_names(check: typed.Check) -> list[str]:
    """Returns the processes that the check names, in order."""
    given = {s.name: s.value for s in check.settings}
    names = {client.process for client in check.clients} - {"all"}
    for parameter in check.protocol.parameters:
        if isinstance(parameter.type, typed.Proc):
            value = given.get(parameter.name, parameter.default)
            names.add(value.name if isinstance(value, typed.Named) else "p1")
    formulas = tuple(p.formula for p in check.prove)
    for node in nodes((formulas, check.protocol.roles)):
        if isinstance(node, typed.Named) and isinstance(node.type, typed.Proc):
            names.add(node.name)
    return sorted(names, key=lambda name: (_index(name), name))


def _values(made: Settings, scene: Scene) -> None:
    check, values = made.check, made.scale.values
    given = {s.name: s.value for s in check.settings}
    for parameter in check.protocol.parameters:
        if isinstance(parameter.type, typed.Proc):
            value = given.get(parameter.name, parameter.default)
            values[parameter.name] = Who(value.name if isinstance(value, typed.Named) else "p1")
    for name, value in given.items():
        if name not in values:
            values[name] = _value(value, scene)
    values.setdefault("n", 3)
    if "f" not in values:
        _all_faults(made, scene)
    for parameter in check.protocol.parameters:
        if parameter.name not in values:
            if parameter.default is None:
                hint = f"add `{parameter.name} = …`, or name it in `for all`"
                message = f"the check gives no value to `{parameter.name}`"
                raise Leaves("T015", message, check.span, hint)
            values[parameter.name] = _value(parameter.default, scene)


def _all_faults(made: Settings, scene: Scene) -> None:
    """Makes `f` the number of processes that may be faulty, where the check gives no other."""
    check = made.check
    bounds = [e for e in (check.crash, check.byzantine) if e is not None]
    zero = replace(scene, scale=replace(scene.scale, values={**scene.scale.values, "f": 0}))
    total = Linear()
    for bound in bounds:
        total = plus(total, as_linear(_number(bound, zero)))
    if len(bounds) < 2:
        made.scale.values["f"] = total if total.terms else total.constant
        return
    made.scale.values["f"], made.hidden = term("f"), ("f",)
    size = as_linear(_number(typed.Param(typed.Int(), "n", check.span), scene))
    least = both(comparison("==", term("f"), total), comparison("<=", total, size))
    made.constraints += (
        either(least, both(comparison("==", term("f"), size), comparison(">", total, size))),
    )


def _value(expr: typed.Expr, scene: Scene) -> object:
    return evaluate(expr, scene) if isinstance(expr.type, typed.Bool) else _number(expr, scene)


def _number(expr: typed.Expr, scene: Scene) -> int | Linear:
    found = evaluate(expr, scene)
    if isinstance(found, Cases) or is_condition(found) or not isinstance(found, int | Linear):
        raise Leaves(
            "T015", "this is not a linear term", expr.span, "use sums, and products with numbers"
        )
    return found


# ---- groups -----------------------------------------------------------------------------------


def _groups(made: Settings, scene: Scene) -> None:
    """Makes groups of processes that begin alike, and how many of them are faulty in what way."""
    check, names = made.check, made.scale.named
    role = check.protocol.roles[0]
    total = role.size if role.size is not None else typed.Param(typed.Int(), "n", check.span)
    size = as_linear(_number(total, scene))
    constraints = [comparison(">=", size, Linear((), max([1, *map(_index, names)])))]
    classes = [(OTHERS, plus(size, Linear((), -len(names))), "")]
    classes += [(name, Linear((), 1), f"_{name}") for name in names]
    faulty: dict[str, list[str]] = {}
    for word, bound in (("crashing", check.crash), ("byzantine", check.byzantine)):
        most = Linear() if bound is None else as_linear(_number(bound, scene))
        if not most.terms and most.constant <= 0:
            continue
        faulty[word] = [f"{word}{suffix}" for _, _, suffix in classes]
        constraints.append(at_least(minus(most, _sum(faulty[word]))))
        constraints.append(comparison("<=", most, size))
        made.faulty = plus(made.faulty, most)
    groups: list[Group] = []
    for number, (name, all_, _) in enumerate(classes):
        own = [found[number] for found in faulty.values()]
        correct = minus(all_, _sum(own))
        constraints.append(at_least(correct))
        groups.append(Group(name or "correct", correct, Mode.CORRECT, name or None))
        if "crashing" in faulty:
            crashing = term(faulty["crashing"][number])
            title = f"{name} crashing" if name else "crashing"
            groups.append(Group(title, crashing, Mode.CRASHING, name or None))
        if "byzantine" in faulty:
            made.liars[name] = term(faulty["byzantine"][number])
    if "byzantine" in faulty:
        made.liars[None] = _sum(faulty["byzantine"])
    made.hidden += tuple(name for found in faulty.values() for name in found)
    made.groups = tuple(groups)
    bound_f = as_linear(_number(typed.Param(typed.Int(), "f", check.span), scene))
    constraints.append(comparison("<=", bound_f, size))
    whole = both(*constraints)
    made.constraints += (whole,) if whole != TRUE else ()


def _sum(names: list[str]) -> Linear:
    total = Linear()
    for name in names:
        total = plus(total, term(name))
    return total


# ---- clients ----------------------------------------------------------------------------------


def _requests(made: Settings, scene: Scene) -> None:
    """Collects the requests to each process, in order."""
    found: dict[str, list[Asked]] = {name: [] for name in (OTHERS, *made.scale.named)}
    for client in made.check.clients:
        args = tuple(evaluate(arg, scene) for arg in client.args)
        asked = Asked(client.op, args, client)
        for name in found if client.process == "all" else (client.process,):
            found[name].append(asked)
    made.requests = {name: tuple(requests) for name, requests in found.items()}


def taking(
    role: typed.Role, asked: Asked, scene: Scene
) -> Iterator[tuple[typed.Handler, Scene, Condition]]:
    """Yields the handlers that may take a request, with the names that they bind and when."""
    for handler in role.handlers:
        event = handler.event
        if isinstance(event, typed.OnRequest) and event.op == asked.op:
            one = match_patterns(event.patterns, asked.args, scene)
            if one is not None:
                yield handler, scene.bound(one[1]), condition(one[0])
