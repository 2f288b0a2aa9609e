"""What the world of a check assumes, as axes: on each one the levels from the strongest assumption
to none.

A level further on allows all that the ones before it allow, and more.  A check is at one level of
each axis.  A point is a level for each axis; as settings it is a world, as ``--set`` takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from checker.language.link_kinds import DUPLICATING, FAIR_LOSS, FIFO, LOSSY, PERFECT, Delivery
from checker.language.syntax import typed
from checker.language.syntax.constant_text import constant_text

Point = tuple[int, ...]
"""A level of each axis."""

FAILS, LINKS, DETECTOR, FAIR, FAIRNESS = "fails", "links", "detector", "fair", "fairness"
"""Parts of a world that several axes determine together."""
KINDS = ("crash", "omission", "byzantine")
"""Kinds of faults of a process, each of which includes the ones before it."""
_VERBS = {
    "crash": ("crashes", "crash"),
    "omission": ("omits messages", "omit messages"),
    "byzantine": ("lies", "lie"),
}


class Level(Struct, frozen=True):
    """``value``: as a setting has it; ``words``: what is assumed here and no more further on, empty
    where nothing is."""

    value: str
    words: str = ""


class Axis(Struct, frozen=True):
    """``name``: unique in a world; ``levels``: the strongest assumption first; ``at``: the level of
    the check; ``part``: the setting that it determines, alone or with others; ``counts``: whether
    its levels are numbers, without a last one."""

    name: str
    levels: tuple[Level, ...]
    at: int
    part: str
    counts: bool = False


class World(Struct, frozen=True):
    """The axes of ``check``; ``left_out``: what no axis varies, each with the reason."""

    check: typed.Check
    axes: tuple[Axis, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def own(self) -> Point:
        """The point of the check as it is written."""
        return tuple(axis.at for axis in self.axes)

    @property
    def top(self) -> Point:
        """The point at which nothing is assumed."""
        return tuple(len(axis.levels) - 1 for axis in self.axes)

    def settings(self, point: Sequence[int]) -> dict[str, str]:
        """Returns the settings at ``point`` that differ from the check's own."""
        moved = [a for a, level in zip(self.axes, point, strict=True) if level != a.at]
        at = {a.name: a.levels[n].value for a, n in zip(self.axes, point, strict=True)}
        found: dict[str, str] = {}
        for axis in moved:
            if axis.part == FAILS:
                found |= _failures(at, {each.name for each in moved})
            elif axis.part == LINKS:
                found[LINKS] = _links_text(self.check, at)
            elif axis.part == DETECTOR:
                found[DETECTOR] = _detector_text(self.check, at)
            elif axis.part == FAIR:
                fair = (at[each.name] for each in self.axes if each.part == FAIR)
                found[FAIR] = "+".join(value for value in fair if value) or "none"
            elif axis.part != FAIRNESS:
                found[axis.part] = at[axis.name]
        return found

    def unfair(self, point: Sequence[int]) -> tuple[str, ...]:
        """Returns the kinds of steps for which no fairness is assumed at ``point``."""
        both = zip(self.axes, point, strict=True)
        return tuple(a.levels[0].value for a, level in both if a.part == FAIRNESS and level)


def world_of(check: typed.Check, fairness: Mapping[str, str] | None = None) -> World:
    """Returns the axes of ``check``; ``fairness``: the kinds of steps for which its world assumes
    fairness, each with the assumption in words."""
    found = [axis for part in (_stops, _links, _time, _fair) for axis in part(check)]
    for kind, words in (fairness or {}).items():
        levels = (Level(kind, words), Level("none"))
        found.append(Axis(f"fairness of {kind}", levels, 0, FAIRNESS))
    return World(check, tuple(found), tuple(_left_out(check, {axis.name for axis in found})))


# ---- faults of processes ------------------------------------------------------------------------


def _stops(check: typed.Check) -> Iterator[Axis]:
    """Yields how many processes fail, how, where, and whether they come back and pause."""
    if not check.role_faults:
        yield from _bounds(check)
    if _value(check.crash, check) and not check.role_faults and not check.recovering:
        levels = (Level("no", "a process that has crashed stays down"), Level("yes"))
        if not (check.power or check.wipe):
            yield Axis("recover", levels, int(check.recover), FAILS)
    if check.crash is not None:
        levels = (Level("between_handlers", "no crash falls inside a handler"), Level("inside"))
        yield Axis("crash_points", levels, int(check.crash_points != "between_handlers"),
                   "crash_points")  # fmt: skip
    yield _once("pause", "no process pauses", check.pausing)


def _bounds(check: typed.Check) -> Iterator[Axis]:
    bounds = {kind: _value(getattr(check, kind), check) for kind in KINDS}
    if check.power or check.wipe or None in bounds.values():
        return
    numbers = {kind: bound for kind, bound in bounds.items() if bound}
    for kind, bound in (numbers or {"crash": 0}).items():
        yield _bound(check, kind, bound or 0)
    if len(numbers) == 1:
        (kind,) = numbers
        levels = (
            Level("crash", "processes that fail stop"),
            Level("omission", "no process lies"),
            Level("byzantine"),
        )
        yield Axis("kind of faults", levels, KINDS.index(kind), FAILS)


def _bound(check: typed.Check, kind: str, bound: int) -> Axis:
    """Returns how many processes fail: of `n` all but one at most; one more where `n` is not
    known."""
    n = _processes(check)
    last = bound + 1 if n is None else max(bound, n - 1)
    levels = [Level(str(k), _bounded(kind, k)) for k in range(last + 1)]
    levels[-1] = Level(str(last)) if n is not None else levels[-1]
    return Axis(kind, tuple(levels), bound, FAILS, counts=True)


def _bounded(kind: str, number: int) -> str:
    """Returns ``at most 2 processes crash``."""
    one, several = _VERBS[kind]
    if number == 0:
        return f"no process {one}"
    return f"at most {number} {f'processes {several}' if number > 1 else f'process {one}'}"


def _failures(at: Mapping[str, str], moved: set[str]) -> dict[str, str]:
    """Returns the settings for the faults of processes: those on axes that have ``moved``."""
    kind = at.get("kind of faults")
    if kind is None:
        found = {name: _none(at[name]) for name in KINDS if name in moved}
    else:
        own = next(name for name in KINDS if name in at)
        found = {kind: _none(at[own])}
        if kind != own:
            found = {own: "none", **found}
    if kind not in (None, "crash") and at.get("recover") == "no":
        found = {"crash": "none", "recover": "no", **found}
    if "recover" in moved:
        found["recover"] = at["recover"]
    if moved == {"recover"}:
        found = {"recover": at["recover"]}
    return found


def _none(bound: str) -> str:
    return "none" if bound == "0" else bound


def _once(name: str, words: str, allowed: bool) -> Axis:
    """Returns a fault that does not happen, or happens once, or as often as the check says."""
    return Axis(name, (Level("none", words), Level("1")), int(allowed), name)


# ---- links --------------------------------------------------------------------------------------


def _links(check: typed.Check) -> Iterator[Axis]:
    """Yields whether links lose, repeat and reorder messages, and whether they can be cut."""
    kinds = check.links
    connected = any(kind.connects for kind in kinds)
    if check.protocol.messages or check.protocol.layers:
        if not connected:
            yield from _kinds(check)
        yield _once("cut", "no link is cut", bool(check.cuts))
        yield _once("partition", "the network is never partitioned", check.splits)


def _kinds(check: typed.Check) -> Iterator[Axis]:
    kinds = check.links
    none = any(kind.delivery is Delivery.NO_PROMISE for kind in kinds)
    loses = any(kind.loses for kind in kinds)
    levels = (
        Level(PERFECT.name, "no message is lost"),
        Level(FAIR_LOSS.name, "a message that is sent again and again arrives"),
        Level(LOSSY.name),
    )
    yield Axis("loss", levels, 2 if none else int(loses), LINKS)
    once = (Level("once", "no message arrives twice"), Level(DUPLICATING.name))
    if not any(kind.keeps for kind in kinds):
        yield Axis("repetition", once, int(any(kind.repeats for kind in kinds)), LINKS)
    order = (Level(FIFO.name, "messages arrive in order (FIFO)"), Level("any order"))
    yield Axis("order", order, int(not any(kind.ordered for kind in kinds)), LINKS)


def _links_text(check: typed.Check, at: Mapping[str, str]) -> str:
    """Returns the kinds of links at a point; traits that no axis varies stay."""
    varied = {PERFECT.name, FIFO.name, FAIR_LOSS.name, LOSSY.name, DUPLICATING.name}
    names = [
        f"{kind.name} {check.capacity}" if kind.has_capacity else kind.name
        for kind in check.links
        if kind.name not in varied
    ]
    wanted = {at["loss"], at.get("repetition"), at["order"]} - {PERFECT.name}
    order = [kind.name for kind in (FIFO, FAIR_LOSS, LOSSY, DUPLICATING)]
    names += [name for name in order if name in wanted]
    return "+".join(names) or PERFECT.name


# ---- time ---------------------------------------------------------------------------------------

_SYNCHRONY = ("synchronous", "partial", "asynchronous")


def _time(check: typed.Check) -> Iterator[Axis]:
    """Yields the axes of detectors and of synchrony."""
    detector = check.detector
    if detector is not None and detector.kind in ("P", "S") and not detector.of_roles:
        kinds = (Level("P", "only crashed processes are suspected"), Level("S"))
        yield Axis("accuracy", kinds, int(detector.kind == "S"), DETECTOR)
        wrong = (Level("always", "the detector is never wrong"), Level("eventually"))
        yield Axis("mistakes", wrong, int(detector.eventually), DETECTOR)
    kind = None if check.timing is None else check.timing.kind
    if kind in _SYNCHRONY:
        levels = (
            Level("synchronous", "messages arrive within their round"),
            Level("partial", "the system becomes synchronous eventually"),
            Level("asynchronous"),
        )
        yield Axis("timing", levels, _SYNCHRONY.index(kind), "timing")


def _fair(check: typed.Check) -> Iterator[Axis]:
    """Yields how fair each optional handler is that the check calls fair."""
    for clause in check.fair:
        name = clause.handler
        levels = [Level(name, f"`{name}` is run if it can go on being run"), Level("")]
        if clause.strongly:
            words = f"`{name}` is run if it can be run again and again"
            levels.insert(0, Level(f"strongly {name}", words))
        yield Axis(f"fairness of `{name}`", tuple(levels), 0, FAIR)


def _detector_text(check: typed.Check, at: Mapping[str, str]) -> str:
    assert check.detector is not None
    eventually = at["mistakes"] == "eventually"
    noise = check.detector.noise if check.detector.eventually else None
    text = f"eventually {at['accuracy']}" if eventually else at["accuracy"]
    return f"{text} noise {constant_text(noise)}" if eventually and noise is not None else text


# ---- what is not varied -------------------------------------------------------------------------


def _left_out(check: typed.Check, axes: set[str]) -> Iterator[tuple[str, str]]:
    """Yields the parts of the world that no axis varies, each with the reason."""
    n = _processes(check)
    yield "other sizes", "this check has one size" if n is None else f"here n = {n}"
    if check.clients:
        yield "other requests of clients", "the requests are those of this check"
    if check.role_faults:
        yield "other bounds of faults", "this check bounds the faults of single roles"
    elif not axes & set(KINDS):
        yield "more faults of processes", "no axis varies power failures and lost disks"
    elif "kind of faults" not in axes and not _value(check.byzantine, check):
        yield "processes that omit messages or lie", "no process fails in this check"
    if check.link_rules:
        yield "links between single roles", "they stay as the check has them"
    if "loss" not in axes and (check.protocol.messages or check.protocol.layers):
        yield "other kinds of links", f"links are {', '.join(k.name for k in check.links)}"
    if check.detector is not None and "accuracy" not in axes:
        yield "other failure detectors", f"the detector is {check.detector.kind}"
    if check.timing is not None and "timing" not in axes:
        yield "other drifts of clocks", "the clocks are those of this check"
    for given in check.given:
        as_ = "an oracle" if given.protocol is None else given.protocol.name
        yield f"other implementations of {given.layer}", f"here it is {as_}"
    if check.bounds or check.view is not None or check.budgets:
        yield "runs beyond the check's bounds", "they stay as the check has them"


def _processes(check: typed.Check) -> int | None:
    """Returns `n`, where the check says it as a number."""
    size = next((s.value for s in check.settings if s.name == "n"), None)
    return int(size.value) if isinstance(size, typed.Literal) else None


def _value(bound: typed.Expr | None, check: typed.Check) -> int | None:
    """Returns a bound of faults, 0 where there is none; ``None`` where it is neither a number nor a
    parameter that the check sets."""
    if bound is None:
        return 0
    if isinstance(bound, typed.Param):
        found = (s.value for s in check.settings if s.name == bound.name)
        bound = next(found, bound)
    return int(bound.value) if isinstance(bound, typed.Literal) else None
