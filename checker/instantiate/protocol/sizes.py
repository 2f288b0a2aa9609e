"""Computes the sizes of one check: n, f, the protocol's parameters, and the processes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from checker.diagnostics import Diagnostic, Span, SpecError, option_span
from checker.diagnostics.english import listing
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.sizes import RoleSize, Sizes
from checker.language.syntax import typed
from checker.language.syntax.ast import LARGEST as LARGEST_NUMBER
from checker.language.syntax.stack import layers_of, stands_for

LARGEST = 64
"""The largest number of processes: sets of them are machine words."""


def refuse(code: str, message: str, span: Span | None, hint: str = "") -> SpecError:
    """Returns an error with one diagnostic, ready to be raised."""
    return SpecError((Diagnostic(code, message, span, hint=hint),))


def evaluate_size(expr: typed.Expr, values: Mapping[str, int]) -> int:
    """Returns the value of ``expr`` under ``values``, truth as 0 or 1; raises :class:`SpecError`
    (C200)."""
    match expr:
        case typed.Literal(_, value, _):
            return int(value)
        case typed.Param(_, name, span):
            if name not in values:
                hint = f"add `{name} = …` to the check"
                raise refuse("C200", f"the check gives no value to `{name}`", span, hint)
            return values[name]
        case typed.Again():
            from checker.instantiate.protocol.unfold import unfold

            return evaluate_size(unfold(expr, values), values)
        case typed.Operation(_, "neg", (arg,), _):
            return -evaluate_size(arg, values)
        case typed.Operation(_, "not", (arg,), _):
            return not evaluate_size(arg, values)
        case typed.Operation(_, "and", args, _):
            return all(evaluate_size(arg, values) for arg in args)
        case typed.Operation(_, "or", args, _):
            return any(evaluate_size(arg, values) for arg in args)
        case typed.Operation(_, "if", (condition, then, otherwise), _):
            return evaluate_size(then if evaluate_size(condition, values) else otherwise, values)
        case typed.Operation(_, op, (left, right), span):
            a, b = evaluate_size(left, values), evaluate_size(right, values)
            if op in ("div", "mod") and b == 0:
                raise refuse("C200", "division by zero", span)
            if op in _ARITHMETIC:
                return int(_ARITHMETIC[op](a, b))
            raise refuse("C200", f"`{op}` can't be used in a size", span)
        case _:
            raise refuse("C200", "this is not a number that the check fixes", expr.span)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=>": lambda a, b: not a or b,
}


def parameters(check: typed.Check) -> set[str]:
    """Returns what can be set beside the environment: the protocol's parameters, ``n`` and
    ``f``."""
    return {p.name for p in check.protocol.parameters} | {"n", "f"}


def given_value(check: typed.Check, name: str, value: str, option: str = "--set") -> typed.Expr:
    """Returns the ``value`` that ``option`` gives to the parameter ``name``.

    Raises :class:`SpecError` (E003) where ``name`` is no parameter, or ``value`` is not of its
    type.  Whether there is a process of that name is seen when the sizes are known.
    """
    span = option_span(option, name, value)
    known = parameters(check)
    if name not in known:
        from checker.language.typecheck.world_settings import WORDS

        hint = f"known: {', '.join(sorted(known))}; of the world: {', '.join(WORDS)}"
        raise refuse("E003", f"there is no parameter `{name}`", span, hint)
    type_ = _types(check).get(name, typed.Int())
    if isinstance(type_, typed.Proc):
        return typed.Named(type_, value, span)
    if isinstance(type_, typed.Bool):
        if value not in ("true", "false"):
            raise refuse("E003", f"`{name}` is `true` or `false`, not `{value}`", span)
        return typed.Literal(type_, value == "true", span)
    if not value.removeprefix("-").isdecimal():
        raise refuse("E003", f"`{name}` needs a number, not `{value}`", span)
    if len(value) > len(str(LARGEST_NUMBER)) + 1 or abs(int(value)) > LARGEST_NUMBER:
        message = f"{value[:24]} exceeds the maximum of `{name}`, {LARGEST_NUMBER}"
        raise refuse("E003", message, span)
    return typed.Literal(typed.Int(), int(value), span)


def _types(check: typed.Check) -> dict[str, typed.Type]:
    """Returns the types of the protocol's parameters."""
    return {p.name: p.type for p in check.protocol.parameters}


def _of_processes(check: typed.Check) -> set[str]:
    """Returns the parameters that are processes."""
    return {name for name, type_ in _types(check).items() if isinstance(type_, typed.Proc)}


def describe_sizes(check: typed.Check, sizes: Sizes) -> dict[str, str | int]:
    """Returns all parameters of ``check`` for display: processes by their names."""
    types = _types(check)
    result: dict[str, str | int] = {}
    sized = {"n"} if all(role.size is not None for role in check.protocol.roles) else set()
    unused = sized - {s.name for s in check.settings}
    unused |= sizes.values.keys() - parameters(check)
    for name, value in sizes.values.items():
        if name not in unused:
            result[name] = _shown(value, types.get(name), sizes)
    return result | {word: number_or_text(value) for word, value in check.overridden}


def _shown(value: int, type_: typed.Type | None, sizes: Sizes) -> str | int:
    if isinstance(type_, typed.Proc):
        return sizes.processes[value]
    return str(bool(value)).lower() if isinstance(type_, typed.Bool) else value


def number_or_text(value: str) -> int | str:
    """Returns a setting's ``value`` as a number where it is one."""
    return int(value) if value.removeprefix("-").isdecimal() else value


def compute(check: typed.Check, overrides: Mapping[str, str]) -> Sizes:
    """Returns all sizes of ``check``; ``overrides`` are ``--set`` values, of which those that
    replace clauses of the environment are in ``check`` already.  Raises :class:`SpecError`."""
    protocol = check.protocol
    replaced = dict(check.overridden)
    numbers = {name: value for name, value in overrides.items() if name not in replaced}
    written = {s.name: s.value for s in check.settings}
    written |= {name: given_value(check, name, value) for name, value in numbers.items()}
    require_sizes(check, numbers)
    if "n" in written:
        require_effect_of_n(check)
    values = _numbers(check, written)
    roles, processes = _processes(protocol, values, _place(check, written, "n"))
    if "f" not in written:
        values["f"] = min(values["f"], len(processes)) if _overlap(check) else values["f"]
    _processes_given(protocol, written, values, processes, check)
    _of_layers(check, values, processes)
    _within_ranges(check, written, values)
    leads = _leads(protocol, roles, len(processes))
    _sane(check, values, roles, len(processes), len(set(leads)) or len(processes))
    if not 0 <= values["f"] <= len(processes):
        message = f"f = {values['f']} exceeds the {len(processes)} processes"
        hint = f"f is between 0 and {len(processes)}"
        raise refuse("E003", message, _place(check, written, "f"), hint)
    return Sizes(values, roles, processes, leads)


def _place(check: typed.Check, written: Mapping[str, typed.Expr], name: str) -> Span:
    """Returns where ``name`` has got its value; the check where it is not ``written``."""
    return written[name].span if name in written else check.span


def require_sizes(check: typed.Check, given: Collection[str]) -> None:
    """Raises :class:`SpecError` (C205) where ``check`` is parametric and no sizes are given."""
    missing = [name for name in check.every if name not in given]
    if missing:
        sizes = " ".join(f"--set {name}=…" for name in missing)
        message = (
            f"this check covers every {', '.join(check.every)}, so it has no finite system to"
            " explore"
        )
        hint = f"use `bivalence prove`, or set sizes: `{sizes}`"
        raise refuse("C205", message, check.every_span, hint)


def require_effect_of_n(check: typed.Check) -> None:
    """Raises :class:`SpecError` (C207) where ``check`` gives `n` a value that nothing depends
    on."""
    roles = check.protocol.roles
    if any(role.size is None for role in roles) or "n" in check.every:
        return
    below = [stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given)]
    asked = check.protocol.implements
    texts = (check, below, asked and asked.properties)
    for node in nodes(texts):
        if isinstance(node, typed.Again) or (isinstance(node, typed.Param) and node.name == "n"):
            return  # a call may read it in the definition
    span = next((s.value.span for s in check.settings if s.name == "n"), check.span)
    sizes = [f"`role {role.name}({_size_text(role)})`" for role in roles]
    message = f"`n` has no effect: the roles have fixed sizes ({listing(sizes)})"
    hint = f"write `role {roles[-1].name}(k)` with a parameter `k`, and set that"
    raise refuse("C207", message, span, hint)


def _size_text(role: typed.Role) -> str:
    match role.size:
        case typed.Literal(_, value, _):
            return str(value)
        case typed.Param(_, name, _):
            return name
        case _:
            return "…"


def _numbers(check: typed.Check, written: Mapping[str, typed.Expr]) -> dict[str, int]:
    """Computes every number and truth value, in the order of their dependencies."""
    processes = _of_processes(check)
    sources = {name: value for name, value in written.items() if name not in processes}
    for parameter in check.protocol.parameters:
        if parameter.name in sources or parameter.name in processes:
            continue
        if parameter.default is None:
            hint = f"add `{parameter.name} = …` to the check"
            message = f"the check gives no value to the parameter `{parameter.name}`"
            raise refuse("C200", message, check.span, hint)
        sources[parameter.name] = parameter.default
    sources.setdefault("n", typed.Literal(typed.Int(), 3, check.span))
    order = list(dict.fromkeys((*check.every, *sources, "f")))
    values: dict[str, int] = {}
    while len(values) < len(order):
        waiting = [name for name in order if name not in values]
        ready = [
            n for n in waiting if not (_needed_parameters(check, n, sources.get(n)) & set(waiting))
        ]
        for name in ready or waiting:  # if none is ready, the error names the first
            source = sources.get(name)
            if source is None:
                values[name] = _faulty(check, {**values, "f": 0})
            else:
                values[name] = evaluate_size(source, values)
    return {name: values[name] for name in order}


def _needed_parameters(check: typed.Check, name: str, source: typed.Expr | None) -> set[str]:
    """Returns what ``name`` depends on; ``source`` ``None``: the fault bounds, for f."""
    if source is not None:
        return _mentioned_parameters(source)
    return {"n"}.union(*(_mentioned_parameters(expr) for expr in _bounds(check))) - {name}


def _mentioned_parameters(expr: typed.Expr) -> set[str]:
    match expr:
        case typed.Param(_, name, _):
            return {name}
        case typed.Operation(_, _, args, _):
            return set[str]().union(*map(_mentioned_parameters, args))
        case _:
            return set()


def _faulty(check: typed.Check, values: Mapping[str, int]) -> int:
    """Returns the number of processes that may be faulty by the check's bounds; the sizes of roles
    are not known yet."""
    total = sum(evaluate_size(expr, values) for expr in _bounds(check))
    n = values["n"] if all(role.size is None for role in check.protocol.roles) else total
    return min(total, n) if _overlap(check) else total


def _bounds(check: typed.Check) -> list[typed.Expr]:
    return [e for e in (check.crash, check.omission, check.byzantine) if e is not None]


def _overlap(check: typed.Check) -> bool:
    """Tells whether bounds may exceed the number of processes in sum: some process may count
    twice."""
    return check.recover or len(_bounds(check)) > 1


_KINDS = {typed.Proc: "a process", typed.Int: "a number", typed.Bool: "a truth value"}


def _of_layers(check: typed.Check, values: dict[str, int], processes: tuple[str, ...]) -> None:
    """Adds the parameters of layers that the protocol on top does not have: each has its default, a
    process without one is the first.  Raises :class:`SpecError` (C200) where one name is of two
    kinds."""
    kinds = _types(check)
    for layer in layers_of(check.protocol, check.given):
        below = stands_for(layer, check.given)
        for parameter in below.parameters if below is not None else ():
            kind = kinds.setdefault(parameter.name, parameter.type)
            a_process = isinstance(parameter.type, typed.Proc)
            if type(kind) is not type(parameter.type):
                one, other = _KINDS[type(kind)], _KINDS[type(parameter.type)]
                message = f"`{parameter.name}` is {one} in one protocol, {other} in another"
                raise refuse("C200", message, parameter.span, "rename one of the two")
            if parameter.name in values:
                continue
            if not a_process and parameter.default is not None:
                values[parameter.name] = evaluate_size(parameter.default, values)
            elif a_process:
                default = parameter.default
                name = default.name if isinstance(default, typed.Named) else processes[0]
                if name not in processes:
                    hint = "processes: " + ", ".join(processes)
                    message = f"`{parameter.name}` needs a process"
                    raise refuse("E003", message, check.span, hint)
                values[parameter.name] = processes.index(name)


def _within_ranges(
    check: typed.Check, written: Mapping[str, typed.Expr], values: Mapping[str, int]
) -> None:
    """Raises :class:`SpecError` (E003) where a parameter, of the protocol on top or of a layer, is
    outside of its range."""
    layers = (stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given))
    for protocol in (check.protocol, *(below for below in layers if below is not None)):
        for parameter in protocol.parameters:
            if not isinstance(parameter.type, typed.Int):
                continue
            value, bounds = values[parameter.name], (parameter.type.lo, parameter.type.hi)
            lo, hi = (None if e is None else evaluate_size(e, values) for e in bounds)
            if (lo is None or lo <= value) and (hi is None or value <= hi):
                continue
            outside = f"below {lo}" if hi is None else f"outside {lo}..{hi}"
            message = f"{parameter.name} = {value} is {outside}"
            hint = f"`{protocol.name}` declares this range"
            raise refuse("E003", message, _place(check, written, parameter.name), hint)


def role_letter(name: str, roles: tuple[str, ...]) -> str:
    """Returns the prefix of the names of a role's members: its initial where no other role shares
    it."""
    shared = [r for r in roles if r[:1] == name[:1]]
    return "p" if not name else name[0].lower() if len(shared) == 1 else name


def _processes(
    protocol: typed.Protocol, values: Mapping[str, int], place: Span
) -> tuple[tuple[RoleSize, ...], tuple[str, ...]]:
    roles: list[RoleSize] = []
    labels: list[str] = []
    names = tuple(r.name for r in protocol.roles)
    for role in protocol.roles:
        size = values["n"] if role.size is None else evaluate_size(role.size, values)
        if size < 1:
            what = f"role `{role.name}`" if role.name else "the protocol"
            raise refuse("E003", f"{what} has {size} processes", place, "at least 1 is needed")
        if len(labels) + size > LARGEST:
            many = f"{len(labels) + size} processes exceed the limit of {LARGEST}"
            raise refuse("E003", many, place)
        roles.append(RoleSize(role.name, len(labels), size))
        prefix = role_letter(role.name, names)
        labels.extend(f"{prefix}{i}" for i in range(1, size + 1))
    return tuple(roles), tuple(labels)


def _leads(
    protocol: typed.Protocol, roles: tuple[RoleSize, ...], processes: int
) -> tuple[int, ...]:
    """Returns for each process the one with which it stops; nothing where all stop on their own.

    Raises :class:`SpecError` (C039) where two roles that stop together are not of one size.
    """
    found, of = list(range(processes)), {role.name: role for role in roles}
    for role in protocol.roles:
        if not role.lead:
            continue
        mine, leads = of[role.name], of[role.lead]
        if mine.size != leads.size:
            sizes = f"`{role.name}` has {mine.size}, `{role.lead}` has {leads.size}"
            message = f"the i-th member of a role dies with the i-th of another, but {sizes}"
            raise refuse("C039", message, role.span, "give both roles the same size")
        for index in range(mine.size):
            found[mine.first + index] = leads.first + index
    return tuple(found) if found != list(range(processes)) else ()


def _processes_given(
    protocol: typed.Protocol,
    written: Mapping[str, typed.Expr],
    values: dict[str, int],
    processes: tuple[str, ...],
    check: typed.Check,
) -> None:
    for parameter in protocol.parameters:
        if not isinstance(parameter.type, typed.Proc):
            continue
        given = written.get(parameter.name, parameter.default)
        name = given.name if isinstance(given, typed.Named) else processes[0]
        if name not in processes:
            hint = "processes: " + ", ".join(processes)
            place = _place(check, written, parameter.name)
            raise refuse("E003", f"`{parameter.name}` needs a process", place, hint)
        values[parameter.name] = processes.index(name)


def _sane(
    check: typed.Check,
    values: Mapping[str, int],
    roles: tuple[RoleSize, ...],
    processes: int,
    stopping: int,
) -> None:
    for word, expr, most in (
        ("crash", None if check.recover else check.crash, stopping),
        ("omission", check.omission, processes),
        ("byzantine", check.byzantine, processes),
    ):
        bound = 0 if expr is None else evaluate_size(expr, values)
        if expr is not None and not 0 <= bound <= most:
            message = f"{word} <= {bound} is impossible with {processes} processes"
            if most < processes:
                message += f", of which {most} stop on their own"
            raise refuse("E003", message, expr.span, f"the bound is between 0 and {most}")
    for clause in check.role_faults:
        _sane_in_role(check, clause, values, roles)
    for word, expr in (
        ("crash", check.crash),
        ("power", check.power),
        ("wipe", check.wipe),
        ("sync", check.sync),
        ("partition", check.partitions),
        ("pause", check.pauses),
    ):
        if expr is not None and evaluate_size(expr, values) < 0:
            message = f"{word} <= {evaluate_size(expr, values)} is impossible"
            raise refuse("E003", message, expr.span, "the bound is 0 or more")


def _sane_in_role(
    check: typed.Check,
    clause: typed.RoleFault,
    values: Mapping[str, int],
    roles: tuple[RoleSize, ...],
) -> None:
    """Raises :class:`SpecError` where a role can't have so many faulty members; of a process that
    comes back each crash counts."""
    if clause.bound is None:
        return
    bound = evaluate_size(clause.bound, values)
    size = next(role.size for role in roles if role.name == clause.role)
    stops = clause.kind in ("crash", "power", "wipe")
    counts_crashes = clause.kind == "pause" or (check.recover and stops)
    if bound < 0 or (bound > size and not counts_crashes):
        message = f"{clause.kind} <= {bound} is impossible with {size} of role `{clause.role}`"
        most = "0 or more" if counts_crashes else f"between 0 and {size}"
        raise refuse("E003", message, clause.span, f"the bound is {most}")
