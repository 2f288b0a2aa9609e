"""A check prepared for stepping: its system, with capacities that grow as a run needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checker.capacity_estimation import enlarge_bound, estimate_capacities, maximum_bound
from checker.lang import typed
from checker.properties import ask
from checker.system.evaluate import RunFault
from checker.system.instantiate.assemble import Instantiated, instantiate
from checker.system.interpreter import Transition
from checker.system.ir import TransitionSystem
from checker.witness.trace import Header

Describe = Callable[[Instantiated], Header]
"""What a trace of a run says of where it comes from."""


class Outgrown(Exception):
    """A capacity that the tool guessed was too small and is larger now: what was made of the old
    system is made again."""


class PreparedCheck:
    """``system`` is replaced by a larger one where a run needs it (:meth:`fit`)."""

    def __init__(
        self,
        check: typed.Check,
        settings: Mapping[str, str],
        describe: Describe,
        *,
        fine: bool = False,
        made: Instantiated | None = None,
    ) -> None:
        """``made``: the system to begin with, where there is one; raises :class:`SpecError`."""
        self.check = check
        self.fine = fine
        self.settings = dict(settings)
        self._describe = describe
        self._made = made or estimate_capacities(self._make)

    @property
    def system(self) -> TransitionSystem:
        """The system as large as it is by now."""
        return self._made.system

    @property
    def header(self) -> Header:
        """Where traces of it come from."""
        return self._describe(self._made)

    def _make(self, capacities: Mapping[str, int]) -> Instantiated:
        return instantiate(
            self.check, self.settings, ask, capacities=capacities, fine=self.fine, coverage=True
        )

    def fit(self, fault: RunFault) -> bool:
        """Makes room where ``fault`` is about a capacity that the tool guessed.

        False where there is nothing to do: it is an error of the run, or there is no end to it.
        """
        if fault.grows is None:
            return False
        capacities = dict(self._made.capacities)
        if capacities[fault.grows] >= maximum_bound(fault.grows):
            return False
        capacities[fault.grows] = enlarge_bound(capacities[fault.grows])
        self._made = self._make(capacities)
        return True

    def require_room(self, transition: Transition) -> None:
        """Raises :class:`Outgrown` where ``transition`` fails for want of room, and there is."""
        if transition.fault is not None and self.fit(transition.fault):
            raise Outgrown
