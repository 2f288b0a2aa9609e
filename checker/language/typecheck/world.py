"""Types the environment of a check: faults, links, timing, failure detector."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

from msgspec import Struct

from checker.diagnostics import Span
from checker.diagnostics.english import listing
from checker.language.link_kinds import LINK_KINDS, PERFECT, LinkKind, contradiction
from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.expressions import check
from checker.language.typecheck.scope import Hole, Home, Reporter, Scope, suggestion
from checker.language.typecheck.types import INT, PROC

FAULTS = (
    "crash", "power", "wipe", "recover", "sync", "omission", "byzantine", "partition", "pause",
    "cut", "reset",
)  # fmt: skip
TIMINGS = {"asynchronous": "", "synchronous": "", "partial": "noise", "clocks": "drift"}
"""The timing models, and the word that may follow each."""
CLASSES = ("P", "S", "Omega")


class Faults(Struct, frozen=True):
    """The bounds of a check's faults, whether crashed processes may recover, and whether the
    network may partition (``partition``: how often, ``None``: any number of times), and the
    links that may be cut.  Processes may
    pause where there is a ``pause_span`` (``pause``: how often, as ``partition``).  ``crash`` is
    the bound of all that stops a process, ``power`` and ``wipe`` of those that also touch its disk;
    ``sync``: how often a ``sync`` fails; ``reset``: how often connections may be reset."""

    crash: typed.Expr | None = None
    recover: bool = False
    omission: typed.Expr | None = None
    byzantine: typed.Expr | None = None
    partition: typed.Expr | None = None
    splits: bool = False
    pause: typed.Expr | None = None
    pause_span: Span | None = None
    of_roles: tuple[typed.RoleFault, ...] = ()
    recovering: tuple[str, ...] = ()
    cuts: tuple[typed.Cut, ...] = ()
    kill: typed.Expr | None = None
    power: typed.Expr | None = None
    wipe: typed.Expr | None = None
    sync: typed.Expr | None = None
    reset: typed.Expr | None = None
    reset_span: Span | None = None


# ---- faults -----------------------------------------------------------------------------------


def faults_of(items: list[ast_items.Fault], home: Home) -> Faults:
    """Types ``faults crash <= 1, recover``; errors go to the report of ``home``."""
    cuts = _cuts([item for item in items if item.kind.text == "cut"], home)
    items = [item for item in items if item.kind.text != "cut" and _has_no_arrow(item, home)]
    bounds: dict[str, typed.Expr | None] = {}
    recovering = _recovering([item for item in items if item.kind.text == "recover"], home)
    recover = next((item for item in items if item.kind.text == "recover"), None)
    of_roles = [i for i in items if i.role is not None and i.kind.text in {*FAULTS} - {"recover"}]
    for item in items:
        kind = item.kind.text
        if kind not in FAULTS:
            hint = suggestion(kind, FAULTS)
            home.report.add("C004", f"no kind of fault `{kind}`", item.kind.span, hint=hint)
        elif item.role is not None or kind == "recover":
            continue
        elif kind in bounds:
            home.report.add("C009", f"duplicate `{kind}`", item.span)
        elif kind in UNBOUNDED and item.bound is None:
            bounds[kind] = None
        else:
            bounds[kind] = _bound(item, home)
    limits = _of_roles(of_roles, bounds.keys(), home)
    for kind in BY_ROLE:
        alone = [limit.bound for limit in limits if limit.alone and limit.kind == kind]
        if alone:
            of_each = [bound for bound in alone if bound is not None]
            bounds[kind] = reduce(_sum, of_each) if len(of_each) == len(alone) else None
    stops = [bound for kind in STOPS if (bound := bounds.get(kind)) is not None]
    _need_more(items, bounds.keys(), recover is not None, home)
    if recover is not None and not {item.kind.text for item in items} & {*STOPS}:
        message = "no process crashes in this check, so none can recover"
        home.report.add("C012", message, recover.span, hint="write `crash <= 1, recover`")
    return Faults(
        reduce(_sum, stops) if stops else None,
        recover is not None,
        bounds.get("omission"),
        bounds.get("byzantine"),
        bounds.get("partition"),
        "partition" in bounds,
        bounds.get("pause"),
        next((item.span for item in items if item.kind.text == "pause"), None),
        limits,
        recovering,
        cuts,
        bounds.get("crash"),
        bounds.get("power"),
        bounds.get("wipe"),
        bounds.get("sync"),
        bounds.get("reset"),
        next((item.span for item in items if item.kind.text == "reset"), None),
    )


def _need_more(
    items: list[ast_items.Fault], kinds: Collection[str], recovers: bool, home: Home
) -> None:
    """Reports (C024) faults of disks where nothing could tell them from others."""
    for item in items:
        kind = item.kind.text
        if kind in ("power", "wipe") and not recovers:
            message = f"`{kind}` makes no difference to a process that never recovers"
            home.report.add("C024", message, item.span, hint=f"write `{kind} <= 1, recover`")
        elif kind == "sync" and "power" not in kinds:
            message = "a `sync` that fails loses something only if the power fails"
            home.report.add("C024", message, item.span, hint="write `sync <= 1, power <= 1`")


UNBOUNDED = ("partition", "pause", "cut")
"""The faults that may happen any number of times, so that they need no bound."""
STOPS = ("crash", "power", "wipe")
"""The faults by which a process stops: it keeps its disk and what is still to be written, it keeps
the disk alone, it keeps nothing."""
BY_ROLE = ("crash", "omission", "byzantine", "pause", "power", "wipe")
"""The faults that processes have, so that a role can have a bound of its own."""


def _of_roles(
    items: list[ast_items.Fault], of_all: Collection[str], home: Home
) -> tuple[typed.RoleFault, ...]:
    """Returns the bounds of single roles; ``of_all``: the kinds that have one for all processes."""
    made: dict[tuple[str, str], typed.RoleFault] = {}
    of_all = frozenset(of_all)
    for item in items:
        kind, role = item.kind.text, item.role
        assert role is not None
        if kind not in BY_ROLE:
            wanted = listing((f"`{each}`" for each in BY_ROLE), "or")
            message = f"`{kind}` applies to all processes, not to a role"
            home.report.add("C032", message, item.span, f"{wanted} of a role")
        elif not _is_role(role, home) or not _stops_by_itself(kind, role, home):
            continue
        elif (kind, role.text) in made:
            home.report.add("C009", f"duplicate `{kind}` of `{role.text}`", item.span)
        else:
            free = kind in UNBOUNDED and item.bound is None
            bound = None if free else _bound(item, home)
            if free or bound is not None:
                alone = kind not in of_all
                made[kind, role.text] = typed.RoleFault(kind, role.text, bound, alone, item.span)
    return tuple(made.values())


def _has_no_arrow(item: ast_items.Fault, home: Home) -> bool:
    """Tells whether ``item`` is not about a way between processes; otherwise that is reported."""
    if item.receiver is not None:
        message = f"`{item.kind.text}` does not apply to links from one process to another"
        home.report.add("C032", message, item.span, "`cut` with an arrow")
    return item.receiver is None


def _cuts(items: list[ast_items.Fault], home: Home) -> tuple[typed.Cut, ...]:
    """Types ``cut <= 2``, ``cut <= 1 of client -> server``."""
    made: dict[tuple[str, str] | None, typed.Cut] = {}
    for item in items:
        if item.role is not None and item.receiver is None:
            message = "`cut` applies to links, not to a role"
            wanted = f"`cut`, or `cut of {item.role.text} -> {item.role.text}`"
            home.report.add("C032", message, item.span, wanted)
            continue
        way = None
        if item.role is not None and item.receiver is not None:
            if not all([_is_end(end, home) for end in (item.role, item.receiver)]):
                continue
            way = item.role.text, item.receiver.text
        bound = None if item.bound is None else _number(item.bound, home)
        if way in made:
            whose = "" if way is None else f" of {way[0]} -> {way[1]}"
            home.report.add("C009", f"duplicate `cut{whose}`", item.span)
        elif isinstance(bound, typed.Literal) and bound.value == 0:
            hint = "leave out the clause, or allow at least one cut"
            home.report.add("C035", "`cut <= 0` cuts no link", item.span, hint=hint)
        elif item.bound is None or bound is not None:
            made[way] = typed.Cut(bound, way, item.span)
    return tuple(made.values())


def _is_end(name: ast.Name, home: Home) -> bool:
    """Tells whether ``name`` stands for processes: a role, ``Proc``, or a parameter; otherwise that
    is reported."""
    roles = [role for role in home.roles if role]
    known = [EVERYBODY, *roles, *(p for p, type_ in home.params.items() if type_ == PROC)]
    if name.text in known:
        return True
    hint = suggestion(name.text, known) or f"known: {', '.join(known)}"
    message = f"no role and no parameter of type Proc is called `{name.text}`"
    home.report.add("C005", message, name.span, hint=hint)
    return False


EVERYBODY = "Proc"
"""The name that stands for all processes at either end of a link."""


def _recovering(items: list[ast_items.Fault], home: Home) -> tuple[str, ...]:
    """Returns the roles whose members recover; empty where all do, or nobody does."""
    roles: list[str] = []
    for number, item in enumerate(items):
        if item.bound is not None:
            message = "only crashes have a bound"
            home.report.add("C010", message, item.span, "`recover`")
        if number and (item.role is None or not roles or item.role.text in roles):
            home.report.add("C009", "duplicate `recover`", item.span)
        elif item.role is not None and _is_role(item.role, home):
            if _stops_by_itself("recover", item.role, home):
                roles.append(item.role.text)
    return tuple(roles)


def _is_role(name: ast.Name, home: Home) -> bool:
    """Tells whether ``name`` is a role of the protocol; otherwise that is reported."""
    known = [role for role in home.roles if role]
    if name.text in known:
        return True
    hint = suggestion(name.text, known)
    hint = hint or "this protocol has no roles; leave out `of`"
    home.report.add("C005", f"no role is called `{name.text}`", name.span, hint=hint)
    return False


def _stops_by_itself(kind: str, role: ast.Name, home: Home) -> bool:
    """Tells whether faults of that ``kind`` are those of ``role`` rather than of the lead with
    which it dies; otherwise that is reported."""
    lead = home.leads.get(role.text)
    if lead is None or kind not in ("crash", "power", "wipe", "recover", "pause"):
        return True
    message = f"`{role.text}` dies with `{lead}`: a `{kind}` is one step of both"
    home.report.add("C039", message, role.span, hint=f"name the lead: `of {lead}`")
    return False


def _sum(one: typed.Expr, other: typed.Expr) -> typed.Expr:
    return typed.Operation(INT, "+", (one, other), other.span)


def _bound(item: ast_items.Fault, home: Home) -> typed.Expr | None:
    kind = item.kind.text
    if item.bound is None:
        home.report.add("C010", f"`{kind}` needs a bound", item.span, f"`{kind} <= 1`")
        return None
    return _number(item.bound, home)


def _number(expr: ast.Expr, home: Home) -> typed.Expr | None:
    try:
        return check(expr, Scope(home, "constant"), INT)
    except Hole:
        return None


# ---- links ------------------------------------------------------------------------------------


def require_connections(check: typed.Check, reset: Span | None, report: Reporter) -> None:
    """Reports ``reset`` without connections, and what does not go with them: ``omission`` and
    rounds (C003), Byzantine processes (C022)."""
    if not any(kind.connects for kind in check.link_kinds):
        if reset is not None:
            message = "`reset` breaks connections, and no links of this check are connected"
            hint = "write `links connected`, or leave out `reset`"
            report.add("C038", message, reset, hint=hint)
        return
    omission, byzantine, timing = check.omission, check.byzantine, check.timing
    if omission is not None:
        message = "a process can't omit messages on connected links"
        hint = "a connection loses nothing while it lasts: use `faults reset <= 1`, or other links"
        report.add("C003", message, omission.span, hint=hint)
    if timing is not None and timing.kind in ("synchronous", "partial"):
        message = "every message arrives in its round, but a connection may break during it"
        hint = "use `timing asynchronous` or `timing clocks drift 1`, or other links"
        report.add("C003", message, timing.span, hint=hint)
    if byzantine is not None:
        message = "the effect of a Byzantine process on a connection is not defined"
        hint = "use other links, such as `links fifo, authenticated`"
        report.add("C022", message, byzantine.span, hint=hint)


def links_of(items: list[ast_items.Link], home: Home) -> tuple[tuple[LinkKind, ...], int | None]:
    """Returns the kinds of links, those of a perfect link where none is given, and the capacity of
    the kind that has one."""
    report = home.report
    kinds: list[LinkKind] = []
    capacity: int | None = None
    for item in items:
        name, span = item.kind.text, item.kind.span
        kind = LINK_KINDS.get(name)
        if kind is None:
            hint = suggestion(name, LINK_KINDS)
            report.add("C004", f"no kind of link `{name}`", span, hint=hint)
        elif kind in kinds:
            report.add("C009", f"duplicate `{name}`", span)
        elif kind.has_capacity != (item.capacity is not None):
            sized = [k.name for k in LINK_KINDS.values() if k.has_capacity]
            message = f"only {' and '.join(f'`{s}`' for s in sized)} has a capacity"
            if kind.has_capacity:
                sized, message = [name], "`bounded` needs a capacity"
            report.add("C010", message, item.span, f"`{sized[0]} 2`")
        elif item.capacity == 0:
            report.add("C010", "a link's capacity is at least 1", item.span)
        else:
            for other in kinds:
                reason = contradiction(other, kind)
                if reason:
                    message = f"links can't be both {other.name} and {name}"
                    report.add("C003", message, span, hint=reason)
            kinds.append(kind)
            capacity = item.capacity if kind.has_capacity else capacity
    return tuple(kinds) or (PERFECT,), capacity


def rules_of(items: list[ast_items.LinkRule], home: Home) -> tuple[typed.LinkRule, ...]:
    """Types ``links client -> server lossy``: links of another kind than the others."""
    made: dict[tuple[str, str], typed.LinkRule] = {}
    for item in items:
        ends = item.sender.text, item.receiver.text
        wrong = False
        for end in (item.sender, item.receiver):
            if not end.text or end.text not in home.roles:
                wrong = True
                hint = suggestion(end.text, [r for r in home.roles if r])
                hint = hint or "this protocol has no roles; write `links …` for all links"
                home.report.add("C005", f"no role is called `{end.text}`", end.span, hint=hint)
        if ends in made:
            message = f"duplicate `links {ends[0]} -> {ends[1]}`"
            home.report.add("C009", message, item.span)
        kinds, capacity = links_of(list(item.kinds), home)
        if not wrong:
            made.setdefault(ends, typed.LinkRule(*ends, kinds, capacity, item.span))
    return tuple(made.values())


# ---- timing -----------------------------------------------------------------------------------


def timing_of(items: list[ast_items.Timing], home: Home) -> typed.Timing | None:
    """Types ``timing partial noise 2``."""
    made: typed.Timing | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind not in TIMINGS:
            hint = suggestion(kind, TIMINGS)
            home.report.add("C004", f"no timing `{kind}`", span, hint=hint)
            continue
        if made is not None:
            home.report.add("C009", "duplicate `timing`", item.span)
            continue
        word = TIMINGS[kind]
        if item.word and item.word != word:
            wanted = f"`{kind} {word} 2`" if word else f"`{kind}`"
            message = f"`{kind}` has no `{item.word}`"
            home.report.add("C010", message, item.span, wanted)
        elif kind == "clocks" and item.value is None:
            message = "`clocks` needs a drift in ticks"
            home.report.add("C010", message, item.span, "`clocks drift 1`")
        value = None if item.value is None else _number(item.value, home)
        until = None if item.until is None else _number(item.until, home)
        if item.until is not None and kind != "clocks":
            message = f"`{kind}` has no `until`: its processes have no clocks"
            home.report.add("C010", message, item.until.span, "`clocks drift 1 until 10`")
        drift = value if kind == "clocks" else None
        noise = value if kind == "partial" else None
        made = typed.Timing(kind, drift, noise, until, item.span)
    return made


# ---- detectors --------------------------------------------------------------------------------


def detector_of(items: list[ast_items.Detector], home: Home) -> typed.Detector | None:
    """Types ``detector eventually S noise 2``."""
    made: typed.Detector | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind not in CLASSES:
            hint = suggestion(kind, [*CLASSES, *(f"eventually {c}" for c in ("P", "S"))])
            home.report.add("C004", f"unknown detector class `{kind}`", span, hint=hint)
            continue
        if made is not None:
            home.report.add("C009", "duplicate `detector`", item.span)
            continue
        later = item.eventually or kind == "Omega"
        noise, of_roles, alone = _mistakes(item.noise or (), home)
        if noise is not None and not later:
            message = f"`{kind}` is never wrong, so it takes no `noise`"
            home.report.add("C010", message, item.span, f"`eventually {kind} noise 2`")
        made = typed.Detector(kind, later, noise, item.span, of_roles, alone)
    return made


def _mistakes(
    items: Sequence[ast_items.Mistakes], home: Home
) -> tuple[typed.Expr | None, tuple[typed.RoleNoise, ...], bool]:
    """Types ``noise 3, 1 of broker``: how many mistakes there are at most, those about single
    roles, and whether there are no others."""
    of_all: typed.Expr | None = None
    of_roles: dict[str, typed.RoleNoise] = {}
    for item in items:
        bound = _number(item.bound, home)
        if bound is None or (item.role is not None and not _is_role(item.role, home)):
            continue
        if item.role is None:
            if of_all is not None:
                home.report.add("C009", "duplicate `noise` of all roles", item.span)
            of_all = bound
        elif item.role.text in of_roles:
            home.report.add("C009", f"duplicate `noise` of `{item.role.text}`", item.span)
        else:
            of_roles[item.role.text] = typed.RoleNoise(item.role.text, bound)
    alone = of_all is None and bool(of_roles)
    if alone:
        of_all = reduce(_sum, (noise.bound for noise in of_roles.values()))
    return of_all, tuple(of_roles.values()), alone
