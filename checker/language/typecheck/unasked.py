"""Finds the worlds that no check of a file asks a property in, where a check has the mildest one.

Only two kinds of checks are reported: those of a single process, and those of a protocol whose
checks all have a world in which nothing fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.language.link_kinds import Delivery
from checker.language.mutants import is_mutant
from checker.language.syntax import typed
from checker.language.typecheck.world import STOPS
from checker.records import replace


def with_unasked(checks: Iterable[typed.Check]) -> tuple[typed.Check, ...]:
    """Returns the checks of a file, each with what neither it nor another one asks."""
    every = tuple(checks)
    return tuple(
        check if is_mutant(check.name) else replace(check, unasked=unasked(check, every))
        for check in every
    )


def unasked(check: typed.Check, every: Iterable[typed.Check]) -> tuple[typed.Unasked, ...]:
    """Returns what ``check`` leaves out, and each of the checks ``every`` that asks one of its
    properties of the same protocol does, too; what matters most comes first."""
    names = {p.name for p in check.prove}
    alike = [
        other
        for other in every
        if other.protocol.name == check.protocol.name and names & {p.name for p in other.prove}
    ]
    return tuple(_left_out(check, [check, *alike]))


def _left_out(check: typed.Check, alike: list[typed.Check]) -> Iterator[typed.Unasked]:
    if all(_size(other) == 1 for other in alike):
        yield typed.Unasked("more than one process", "n = 3")
    if not all(map(is_honest, alike)):
        return
    yield typed.Unasked("a process that crashes", "faults crash <= 1")
    if _sends(check):
        yield typed.Unasked("a lost message", "links lossy")
    if any(state.stable for role in check.protocol.roles for state in role.states):
        yield typed.Unasked("a process that recovers", "faults crash <= 1, recover")


def is_honest(check: typed.Check) -> bool:
    """Returns whether nothing fails in the world of ``check``: no process, no link, no detector,
    no clock."""
    noisy = (check.timing is not None and check.timing.kind == "partial") or (
        check.detector is not None and check.detector.eventually
    )
    faulty = _bound(check.byzantine) or bool(check.role_faults) or _may_crash(check)
    may = check.splits or check.cuts or check.pausing or _bound(check.resets)
    return not (check.every or noisy or faulty or _may_lose(check) or may)


def _bound(bound: typed.Expr | None) -> bool:
    """Returns whether a bound of faults may be above 0."""
    return bound is not None and not (isinstance(bound, typed.Literal) and bound.value == 0)


def _may_crash(check: typed.Check) -> bool:
    return _bound(check.crash) or any(clause.kind in STOPS for clause in check.role_faults)


def _may_lose(check: typed.Check) -> bool:
    kinds = check.link_kinds
    loses = any(kind.loses or kind.delivery is Delivery.NO_PROMISE for kind in kinds)
    return (
        loses or _bound(check.omission) or check.splits or bool(check.cuts) or _bound(check.resets)
    )


def _sends(check: typed.Check) -> bool:
    return bool(check.protocol.messages or check.protocol.layers)


def _size(check: typed.Check) -> int | None:
    """Returns the number of processes, where the check says it as a literal."""
    found = next((s.value for s in check.settings if s.name == "n"), None)
    return int(found.value) if isinstance(found, typed.Literal) else None
