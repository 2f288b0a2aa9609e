"""Vacuity: what happens in no execution, so that a verdict may be only vacuously true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from checker.diagnostics.english import listing
from checker.model.ir import (
    MarkInfo,
    MarkKind,
    Property,
    PropertyKind,
    SourceLocation,
    TransitionSystem,
)
from checker.model.transforms.simplify_liveness import never
from checker.records import replace
from checker.resources import display_name
from checker.results.answer import Answer
from checker.results.bounds import named_limits
from checker.results.verdict import CountedSteps, Covered, CoveredKind, HandlerSteps

COVERED: dict[MarkKind, CoveredKind] = {
    MarkKind.HANDLER: "handler",
    MarkKind.BRANCH: "branch",
    MarkKind.POINT: "point",
}
"""The kinds of marks in a coverage report."""
UNFAIR = "fairness admits no run: whatever happens, some fairness assumption is violated"
NO_START = "no run begins: every start ends at a false `require` or a `choose` without a value"


def vacuous(
    system: TransitionSystem, answer: Answer, prop: Property, *, allow_unused: bool, idle: str
) -> str:
    """Returns why it is vacuous that ``prop`` is not violated; empty where it is not vacuous.

    ``idle``: why the clients make no request, where the check itself says so.
    """
    if not answer.distinct_states:
        return NO_START
    within = named_limits(system, answer)
    if answer.fair is False and within and prop.kind is not PropertyKind.INVARIANT:
        return "no fair run stays within the bound, so liveness is not checked"
    if answer.fair is False and prop.kind is not PropertyKind.INVARIANT:
        return UNFAIR
    if idle:
        return idle
    asks = [i for i, info in enumerate(system.marks) if info.kind is MarkKind.REQUEST]
    if asks and answer.reached_marks.isdisjoint(asks):
        return f"no request of a client is ever made{within}, so there is nothing to check"
    if prop.name not in answer.premises:
        return f"the premise of {prop.asked} never held in any run{within}, so nothing was checked"
    if prop.name in answer.unmet and prop.given is not None:
        return f"no fair execution{within} satisfies its premise: {prop.given.text}"
    if allow_unused:
        return ""
    unused = _missing(system, answer, lambda info: info.required)
    said = "; ".join(
        (*(_never(info) + within for info in unused), *_ways_that_never_come(system, prop))
    )
    return f"{said} (write `allow unused` if this is intended)" if said else ""


def unreached(system: TransitionSystem, answer: Answer) -> tuple[frozenset[int], ...]:
    """Returns the sets of marks of which none was reached, and one has to be: the requests of
    clients, and each handler or message that is required."""
    asks = frozenset(i for i, info in enumerate(system.marks) if info.kind is MarkKind.REQUEST)
    groups = _groups(system, lambda info: info.required)
    wanted = [asks, *(frozenset(index for index, _ in group) for group in groups)]
    return tuple(one for one in wanted if one and one.isdisjoint(answer.reached_marks))


def _ways_that_never_come(system: TransitionSystem, prop: Property) -> Iterator[str]:
    """Yields the alternatives of the property's goals that nothing can make true, in words."""
    for way in prop.ways:
        if way.wanted and never(system, way.holds):
            others = listing((f"`{other}`" for other in way.besides), "or")
            yield f"`{way.text}` is never true: the property holds because of {others} alone"


def never_happened(system: TransitionSystem, answer: Answer) -> tuple[str, ...]:
    """Returns the handlers that are never taken and the messages that are never sent, in words."""
    kinds = (MarkKind.HANDLER, MarkKind.MESSAGE)
    missing = _missing(system, answer, lambda info: info.kind in kinds)
    within = named_limits(system, answer)
    return tuple(f"{_never(info)}{within}" for info in missing)


def _missing(
    system: TransitionSystem, answer: Answer, wanted: Callable[[MarkInfo], bool]
) -> list[MarkInfo]:
    """Returns the marks that were never reached, one of each group."""
    return [
        _representative(group)
        for group in _groups(system, wanted)
        if not any(index in answer.reached_marks for index, _ in group)
    ]


def _groups(
    system: TransitionSystem, wanted: Callable[[MarkInfo], bool]
) -> list[list[tuple[int, MarkInfo]]]:
    """Groups marks with the same kind, text and source location, and those of the instances of a
    family; from wherever a procedure is called."""
    groups: dict[tuple[object, ...], list[tuple[int, MarkInfo]]] = {}
    for index, info in enumerate(system.marks):
        if wanted(info):
            place = None if info.place is None else replace(info.place, called=None)
            key = (info.kind, info.family or info.text, place)
            groups.setdefault(key, []).append((index, info))
    return list(groups.values())


def _representative(group: list[tuple[int, MarkInfo]]) -> MarkInfo:
    """Returns a mark that stands for the marks of ``group``."""
    info = group[0][1]
    if all(other.text == info.text for _, other in group):
        return info
    return replace(info, text=info.family)


def _never(info: MarkInfo) -> str:
    line = "" if info.place is None else f" (line {info.place.line})"
    if info.kind is MarkKind.MESSAGE:
        return f"message {info.text} is never sent{line}"
    return f"{info.text}{line} never ran"


def coverage(system: TransitionSystem, answer: Answer) -> tuple[Covered, ...]:
    """Returns each handler, branch and crash point, and whether the search reached it."""
    return covered(system, answer.reached_marks)


def counted_steps(system: TransitionSystem, answer: Answer) -> CountedSteps | None:
    """Returns how many steps each handler has; ``None`` where they were not counted."""
    counts = answer.step_counts
    if counts is None:
        return None
    found = []
    for group in _groups(system, lambda info: info.kind is MarkKind.HANDLER):
        info = _representative(group)
        at = info.place or SourceLocation("", 0, 0)
        steps = sum(counts.by_mark.get(index, 0) for index, _ in group)
        found.append(HandlerSteps(info.text, display_name(at.file), at.line, steps))
    found.sort(key=lambda each: (-each.steps, each.file, each.line))
    return CountedSteps(counts.states, counts.every, counts.steps, tuple(found))


def covered(system: TransitionSystem, reached_marks: Collection[int]) -> tuple[Covered, ...]:
    """Returns each handler, branch and crash point in the order of the source, and whether it was
    reached."""
    found = []
    for group in _groups(system, lambda info: info.kind in COVERED):
        info = _representative(group)
        at = info.place or SourceLocation("", 0, 0)
        reached = any(index in reached_marks for index, _ in group)
        file = display_name(at.file)
        found.append(Covered(COVERED[info.kind], info.text, file, at.line, at.column, reached))
    order = list(COVERED.values())
    found.sort(key=lambda c: (c.file, c.line, order.index(c.kind), c.column))
    return tuple(found)
