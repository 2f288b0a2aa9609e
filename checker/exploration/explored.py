"""A search that is over: what liveness and the answer are made from, whoever made the search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from checker.exploration.compact import NO_GRAPH
from checker.exploration.findings import Best, Findings
from checker.exploration.store import Store
from checker.kernels.jit import Kernel
from checker.system.ir import TransitionSystem
from checker.witness.answer import Limits, Path


class Undecided(Exception):
    """A question about cycles is not decided; the message says why."""


class Cyclic(Exception):
    """Some step does not lead on to the next level, where the plan of reductions is proven only for
    systems without cycles: explore again with the fallback plan."""


@dataclass(frozen=True)
class GraphStates:
    """States of which a graph is made; at most ``steps`` lead from them."""

    store: Store
    steps: int


@dataclass
class Explored:
    """``load``: gives the store of all states; ``cycles``: gives what may lie on cycles, and where
    everything that leads from there is known, too (``None``: that is no less than all); both may
    raise :class:`Undecided`.

    ``depth``: the last level that has states; ``states``, ``used``: how many there are, and the
    bytes that they and the seen set take; ``lost``: a state in which a property can't be
    evaluated; ``stopped``: why the search is not exhaustive, or ``None``; ``started``: on the clock
    of ``time.monotonic``; ``path_to``: a shortest run to a state of a level; ``tell``: says what
    is done now; ``orbits``: gives the sizes of orbits in a sample of the states, as
    :func:`checker.exploration.reduction_stats.weigh` does ((0, 0): not known; ``None``: ask
    ``load``).
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
    cycles: Callable[[], GraphStates] | None = None
    orbits: Callable[[], tuple[int, int]] | None = None

    def whole(self) -> GraphStates:
        """All states.  Raises :class:`Undecided`, too, where steps were left out: there is more to
        a graph then than was counted."""
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
        timeout = self.limits.timeout
        if timeout is not None and time.monotonic() - self.started > timeout:
            raise Undecided(self.limits.no_more_time)
