"""Selects the states of which the driver builds a graph: all of them, or those that remain when
executors have removed states that can't lie on a cycle
(:mod:`checker.engines.native.sharding.cycle_filter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from checker.engines.native.liveness.graph import bytes_needed
from checker.engines.native.search.explored import GraphStates, Undecided
from checker.engines.native.search.memory import available_memory
from checker.engines.native.search.store import OutOfMemory, Store
from checker.engines.native.sharding.backward_search import kernel_of, load_store
from checker.engines.native.sharding.cycle_filter import Levels, Remainder, filter_cycles
from checker.engines.native.sharding.cycle_filter_steps import FilterContext, TimeLimitReached
from checker.engines.spark.fan_out import ItemFailure, fan_out
from checker.engines.spark.heartbeat import HeartbeatMonitor, Overdue, SilentTask
from checker.engines.spark.session import Session
from checker.results.answer import Limits

AT_ONCE = 1_000_000
"""Graphs of up to so many states are built by the driver without filtering."""
WORTH_IT = 50_000
"""Steps over fewer rows in total are made by the driver itself."""
LEAST = 0.01
"""A pass over the remaining states is followed by another if it has removed this part of them."""
ATTEMPTS = 4
"""The largest number of attempts of a step."""


class FilterStep(Protocol):
    """A step: ``weight`` estimates the number of rows that it reads."""

    @property
    def weight(self) -> int: ...

    def do(self, trim: Any, /) -> Any: ...


class ResidualGraph(Struct, frozen=True):
    """``states``, ``steps``: of the whole run; ``check_time``: raises ``Undecided`` where the time
    limit is reached; ``tell``: reports the current activity; ``listening``: monitors the executors
    of a step; ``lost``: reports a task that was not heard from any more; ``impossible``: what can't
    be done where something fails.
    """

    session: Session | None
    trim: FilterContext
    limits: Limits
    states: int
    steps: int
    check_time: Callable[[], None]
    tell: Callable[[str], None]
    listening: Callable[[], HeartbeatMonitor]
    lost: Callable[[SilentTask], None]
    impossible: str = "the search for cycles failed"

    def whole(self) -> Store:
        """Returns all states, in the driver.  Raises :class:`Undecided`."""
        self.require_room(f"the graph of all {self.states:,} states", self.states, self.steps)
        return self.load_store(self.all_levels())

    def cycles(self) -> GraphStates:
        """Returns the states that may lie on cycles, in the driver.  Raises :class:`Undecided`."""
        whole = Remainder(self.all_levels(), self.states, self.steps)
        if self._enough(whole):
            return GraphStates(self.load_store(whole.levels), self.steps)
        try:
            left = filter_cycles(
                self.trim, whole, self.everywhere, self._enough, self._say, least=LEAST
            )
            what = f"of {self.states:,} states {left.states:,} may lie on cycles: their graph"
            self.require_room(what, left.states, left.steps)
            return GraphStates(self.load_store(left.levels), left.steps)
        except (OSError, OutOfMemory) as error:
            raise Undecided(f"{self.impossible}: {error}") from error
        except TimeLimitReached:
            raise Undecided(self.limits.no_more_time) from None
        finally:
            self.trim.work.delete_folder()

    def all_levels(self) -> Levels:
        """Returns all states, if the folder has all: without some, cycles would be missed."""
        try:
            levels = self.trim.folder.parts()
        except OSError as error:
            raise Undecided(f"{self.impossible}: {error}") from error
        states = sum(part.rows for parts in levels.values() for part in parts)
        if states != self.states:
            why = f"the run's folder holds {states:,} states instead of {self.states:,}"
            raise Undecided(f"{self.impossible}: {why}")
        return levels

    def _enough(self, left: Remainder) -> bool:
        return left.states <= AT_ONCE and self._lacks(left.states, left.steps) is None

    def _lacks(self, states: int, steps: int) -> str | None:
        """Returns why a graph has no room here; ``None`` where it has."""
        needed, limit = bytes_needed(states, steps, self.trim.folder.words), self.limits.memory
        if limit is not None and needed > limit:
            return f"it needs {needed / 1e9:,.1f} GB, and the memory limit is {limit / 1e9:,.1f} GB"
        there = available_memory()
        if needed > there:
            return f"it needs {needed / 1e9:,.1f} GB, and {there / 1e9:,.1f} GB are available"
        return None

    def require_room(self, what: str, states: int, steps: int) -> None:
        """Raises :class:`Undecided` where a graph of that size has no room in the driver."""
        why = self._lacks(states, steps)
        if why is not None:
            raise Undecided(f"{what} does not fit the driver: {why}")

    def load_store(self, levels: Levels) -> Store:
        """Returns these states, in the driver.  Raises :class:`Undecided`."""
        try:
            return load_store(
                kernel_of(self.trim.image), self.trim.folder, self.limits.memory, levels
            )
        except OutOfMemory as error:
            raise Undecided(f"the driver lacks memory for the graph: {error}") from error
        except OSError as error:
            raise Undecided(f"{self.impossible}: {error}") from error

    def _say(self, what: str) -> None:
        self.check_time()
        self.tell(f"liveness: {what}")

    def everywhere(self, steps: Sequence[FilterStep]) -> list[Any]:
        """Returns the results of steps; those that fail are repeated.  Raises
        :class:`Undecided`.
        """
        try:
            if sum(step.weight for step in steps) < WORTH_IT:
                return [step.do(self.trim) for step in steps]
            return self._on_executors(steps)
        except (OSError, OutOfMemory) as error:
            raise Undecided(f"{self.impossible}: {error}") from error
        except TimeLimitReached:
            raise Undecided(self.limits.no_more_time) from None

    def _on_executors(self, steps: Sequence[FilterStep]) -> list[Any]:
        done = dict[int, Any]()
        left = list(range(len(steps)))
        for _ in range(ATTEMPTS):
            reason = ""
            given = [steps[number] for number in left]
            for at, result in self._run_steps(given):
                if isinstance(result, ItemFailure):
                    reason = result.reason
                else:
                    done[left[at]] = result
            left = [number for number in left if number not in done]
            if not left:
                return [done[number] for number in range(len(steps))]
            self.check_time()
        raise Undecided(f"{self.impossible}: {reason}")

    def _run_steps(self, steps: Sequence[FilterStep]) -> Iterator[tuple[int, Any]]:
        """Yields the results of steps on the executors, with their numbers, as far as they have
        any.  Raises :class:`Undecided`.
        """
        trim, session = self.trim, self.session
        assert session is not None, "somebody has explored all of it"
        try:
            with self.listening() as heard:
                yield from fan_out(session, lambda step: step.do(trim), steps, heard)
        except SilentTask as silent:
            self.lost(silent)
            yield -1, ItemFailure(str(silent))
        except Overdue:
            raise Undecided(self.limits.no_more_time) from None
