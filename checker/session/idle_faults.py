"""Finds the faults that a check allows, and that no run of it has: it says nothing about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from checker.language.syntax import typed
from checker.model.ir import MarkInfo, MarkKind, TransitionSystem
from checker.results.answer import Answer
from checker.results.verdict import NotAsked

NEVER = "that is allowed and never happens"
HIDDEN = "that is allowed and was not seen (the reductions of this search may hide it)"


class _Step(Struct, frozen=True):
    """A fault: its ``word`` in comments (:mod:`checker.language.typecheck.unasked`); ``what``: its
    name in a sentence; ``allows``: whether a check declares it; ``kind``: of the marks of its
    steps; ``texts``: of these marks, empty for any."""

    word: str
    what: str
    allows: Callable[[typed.Check], bool]
    kind: MarkKind
    texts: tuple[str, ...] = ()

    def is_marked_by(self, info: MarkInfo) -> bool:
        return info.kind is self.kind and (not self.texts or info.text in self.texts)


STEPS = (
    _Step("crash", "a crash", lambda check: check.kill is not None, MarkKind.CRASH),
    _Step("recovery", "a recovery", lambda check: check.recover, MarkKind.RECOVER),
    _Step("power", "a power failure", lambda check: check.power is not None, MarkKind.POWER),
    _Step("disks", "a lost disk", lambda check: check.wipe is not None, MarkKind.WIPE),
    _Step("syncs", "a `sync` that fails", lambda c: c.sync is not None, MarkKind.FAIL_SYNC),
    _Step("omission", "an omission", lambda check: check.omission is not None, MarkKind.OMIT),
    _Step("lies", "a lie", lambda check: check.byzantine is not None, MarkKind.FORGE),
    _Step("partition", "a split network", lambda check: check.splits, MarkKind.PARTITION),
    _Step("cuts", "a cut", lambda check: bool(check.cuts), MarkKind.CUT),
    _Step("pauses", "a pause", lambda check: check.pausing, MarkKind.PAUSE),
    _Step("resets", "a reset", lambda check: check.resets is not None, MarkKind.RESET),
    _Step(
        *("loss", "a loss", lambda check: any(kind.loses for kind in check.link_kinds)),
        MarkKind.LOSE,
        ("lose",),
    ),
)
"""The faults that are steps of a run."""


def idle_faults(check: typed.Check, system: TransitionSystem, answer: Answer) -> Iterator[NotAsked]:
    """Yields the faults that ``check`` allows and that never happen: ``system`` has no such step,
    or a complete search has met none."""
    for step in STEPS:
        marks = {i for i, info in enumerate(system.marks) if step.is_marked_by(info)}
        if not step.allows(check) or not marks.isdisjoint(answer.reached_marks):
            continue
        if answer.exhaustive or not marks:
            certain = answer.reduced.shows_all or not marks
            yield NotAsked(f"{step.what} {NEVER if certain else HIDDEN}", "")
