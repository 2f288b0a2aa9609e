"""The result of a finished search: the input of liveness checking and of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct, field

from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.compact import NO_GRAPH
from checker.engines.native.search.findings import Best, Findings, Target
from checker.engines.native.search.store import Store
from checker.model.ir import TransitionSystem
from checker.polling import poll
from checker.results.answer import Answer, Limits, Path


class Undecided(Exception):
    """A query about cycles is undecided; the message says why."""


class GraphStates(Struct, frozen=True):
    """The states of a graph; ``steps`` bounds the number of their steps."""

    store: Store
    steps: int


class Explored(Struct):
    """``load``: gives the store of all states; ``cycles``: gives the states that may lie on cycles,
    and with them all steps between them (``None``: use all states); both may raise
    :class:`Undecided`.

    ``depth``: the last level that has states; ``states``, ``used``: how many there are, and the
    bytes that they and the visited set take; ``lost``: a state in which a property can't be
    evaluated; ``stopped``: why the search is not exhaustive, or ``None``; ``started``: on the clock
    of ``time.monotonic``; ``path_to``: a shortest execution to a state of a level; ``tell``:
    reports what is done now, ``known`` what is known before that; ``runs``: executions of the
    system to violations that are known already, to which others are added; ``orbits``: gives the
    sizes of orbits in a sample of the states, as
    :func:`checker.engines.native.search.reduction_stats.weigh` does ((0, 0): not known; ``None``:
    ask ``load``); ``unfolds``: where a plan is proven for acyclic systems only, cycles are unfolded
    (:mod:`checker.engines.native.liveness.unfolding`).
    """

    system: TransitionSystem
    limits: Limits
    kernel: Kernel
    load: Callable[[], Store]
    found: Findings
    depth: int
    states: int
    used: int
    lost: Best | None
    stopped: str | None
    started: float
    seconds: float
    path_to: Callable[[int, Best], Path]
    tell: Callable[[str], None]
    known: Callable[[Answer], None]
    cycles: Callable[[], GraphStates] | None = None
    orbits: Callable[[], tuple[int, int]] | None = None
    runs: dict[Target, Path] = field(default_factory=dict)
    unfolds: bool = False

    def whole(self) -> GraphStates:
        """All states.  Raises :class:`Undecided`, too, where steps were left out: the graph is then
        larger than counted.
        """
        self.require_states()
        if self.kernel.image.reductions.ample_actions:
            raise Undecided("not all steps were counted")
        return GraphStates(self.load(), self.found.transitions)

    def require_states(self) -> None:
        """Raises :class:`Undecided` where states are not kept."""
        if self.kernel.image.compact:
            raise Undecided(NO_GRAPH)

    @property
    def exhaustive(self) -> bool:
        """Whether every reachable state was found."""
        return self.stopped is None and self.found.faulty is None

    def check_time(self) -> None:
        """Raises :class:`Undecided` where the time limit is reached."""
        poll()
        timeout = self.limits.timeout
        if timeout is not None and time.monotonic() - self.started > timeout:
            raise Undecided(self.limits.no_more_time)
