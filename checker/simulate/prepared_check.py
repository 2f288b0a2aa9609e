"""A check prepared for stepping: its system, with capacities that grow on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checker.instantiate.assemble import instantiate
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model.evaluate import RunFault
from checker.model.interpreter import Transition
from checker.model.ir import TransitionSystem
from checker.properties.formula import ask
from checker.results.trace import Header

Describe = Callable[[Instantiated], Header]
"""Makes the header of a trace, which names its origin."""


class Outgrown(Exception):
    """A capacity that was estimated was too small and has been enlarged: states of the old system
    have to be replayed.
    """


class PreparedCheck:
    """A check whose ``system`` is replaced by a larger one on demand (:meth:`fit`).

    ``change``: what is done to each system that is made.
    """

    change: Callable[[TransitionSystem], TransitionSystem] | None = None
    _changed: tuple[TransitionSystem, TransitionSystem] | None = None

    def __init__(
        self,
        check: typed.Check,
        settings: Mapping[str, str],
        describe: Describe,
        *,
        fine: bool = False,
        made: Instantiated | None = None,
    ) -> None:
        """Instantiates ``check``; ``made``: the initial system, if there is one already; raises
        :class:`SpecError`.
        """
        self.check = check
        self.fine = fine
        self.settings = dict(settings)
        self._describe = describe
        self._made = made or estimate_capacities(self._make)

    @property
    def system(self) -> TransitionSystem:
        """The system with its current capacities."""
        made = self._made.system
        if self.change is None:
            return made
        if self._changed is None or self._changed[0] is not made:
            self._changed = made, self.change(made)
        return self._changed[1]

    @property
    def made(self) -> Instantiated:
        """The system with what belongs to it."""
        return self._made

    @property
    def header(self) -> Header:
        """The header of its traces."""
        return self._describe(self._made)

    def _make(self, capacities: Mapping[str, int]) -> Instantiated:
        return instantiate(
            self.check, self.settings, ask, capacities=capacities, fine=self.fine, coverage=True
        )

    def fit(self, fault: RunFault) -> bool:
        """Enlarges the capacity where ``fault`` is about one that was estimated.

        Returns False where that is not possible: it is a runtime error, or the growth is unbounded.
        """
        return fault.grows is not None and self.enlarge(fault.grows)

    def enlarge(self, capacity: str) -> bool:
        """Enlarges an estimated capacity; returns False where it would be without end."""
        capacities = dict(self._made.capacities)
        if capacities[capacity] >= maximum_bound(capacity):
            return False
        capacities[capacity] = enlarge_bound(capacities[capacity])
        self._made = self._make(capacities)
        return True

    def make_room(self, capacity: str, size: int) -> bool:
        """Enlarges an estimated capacity to at least ``size``; returns False where it would be
        larger than is tried."""
        if size > maximum_bound(capacity):
            return False
        room = self._made.capacities[capacity]
        while room < size:
            room = enlarge_bound(room)
        self._made = self._make({**self._made.capacities, capacity: room})
        return True

    def require_room(self, transition: Transition) -> None:
        """Raises :class:`Outgrown` where ``transition`` failed and a capacity was enlarged."""
        if transition.fault is not None and self.fit(transition.fault):
            raise Outgrown
