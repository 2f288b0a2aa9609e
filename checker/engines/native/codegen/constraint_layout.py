"""The rows of fairness constraints: see :mod:`checker.engines.native.codegen.constraints`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.engines.native.codegen.packing import decode, width
from checker.model.interpreter import Constraint
from checker.model.ir import FALSE, Action, Fairness, FairnessKind, TransitionSystem, fairness_of
from checker.model.types import Type

if TYPE_CHECKING:
    from checker.engines.native.codegen.emit import Val
    from checker.engines.native.codegen.frame import Frame

WORD = 64


class ConstraintGroup(Struct, frozen=True):
    """Constraints of one name whose keys have as many values, of these types."""

    name: str
    types: tuple[Type, ...]
    kind: FairnessKind


class ConstraintLayout:
    """The groups of a system, and the words of a row."""

    def __init__(self, system: TransitionSystem) -> None:
        from checker.engines.native.codegen.convert import unify

        found: dict[tuple[str, int], ConstraintGroup] = {}
        members: Counter[tuple[str, int]] = Counter()
        for action in system.actions:
            if action.promised == FALSE:
                continue
            fairness = fairness_of(action)
            types = tuple(key.type for key in fairness.key)
            members[fairness.group, len(types)] += 1
            old = found.get((fairness.group, len(types)))
            if old is not None:
                types = tuple(unify(a, b) for a, b in zip(old.types, types, strict=True))
            found[fairness.group, len(types)] = ConstraintGroup(
                fairness.group, types, fairness.kind
            )
        self.groups = tuple(found.values())
        self._numbers = {which: i for i, which in enumerate(found)}
        self._members = [members[which] for which in found]
        bits = max((sum(map(width, group.types)) for group in self.groups), default=0)
        self.words = 1 + -(-bits // WORD)

    def alone(self, action: Action) -> bool:
        """Whether each instance of ``action`` with a fairness constraint has a separate one."""
        fairness = fairness_of(action)
        if self._members[self.number(fairness)] > 1:
            return False
        from checker.reductions.dead_variables.messages import says_all

        return all(says_all(fairness.key, param) for param in action.params)

    def number(self, fairness: Fairness) -> int:
        """The number of a constraint's group."""
        return self._numbers[fairness.group, len(fairness.key)]

    def store(self, frame: Frame, action: Action, row: Val) -> None:
        """Emits the row of the constraint of an instance of ``action`` whose parameters are
        bound.
        """
        from checker.engines.native.codegen import value_codes as c
        from checker.engines.native.codegen.emit import const
        from checker.engines.native.codegen.expressions import lower

        fn, fairness = frame.fn, fairness_of(action)
        which = self.number(fairness)
        types = self.groups[which].types
        parts = []
        for key, type_ in zip(fairness.key, types, strict=True):
            value = frame.adapt(lower(frame, key), key.type, type_)
            parts.append(c.to_code(fn, type_, value))
        whole = c.concatenate(fn, parts, max(1, sum(map(width, types))))
        fn.store(const(which), row)
        for i in range(self.words - 1):
            shift = i * WORD
            word = const(0)
            if parts and shift < whole.bits:
                word = fn.resize(fn.lshr(whole, const(shift, whole.bits)), WORD)
            fn.store(word, fn.at(row, i + 1))

    def decode(self, row: tuple[int, ...]) -> Constraint:
        """The constraint that has this row."""
        group = self.groups[row[0]]
        code = sum(word << i * WORD for i, word in enumerate(row[1:]))
        values = []
        for type_ in reversed(group.types):
            bits = width(type_)
            values.append(decode(type_, code & (1 << bits) - 1))
            code >>= bits
        return Constraint(group.name, tuple(reversed(values)))
