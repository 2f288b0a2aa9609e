"""Asks many points at a time, each once, in processes of this machine; several searches share the
answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from checker.engines.options import Options
from checker.language.load import Spec
from checker.sweep.local import Pool, Work
from checker.worlds.monotone import Answer, Boundary, Point, Search
from checker.worlds.points import PointOutcome, PointTask, lost_point, run_point

if TYPE_CHECKING:
    from checker.results.answer import Progress

K = TypeVar("K")
Tell = Callable[[int, Sequence[str]], None]
"""Receives how many points are done, and how far those are that run."""


class Asker:
    """Runs a check at points, ``jobs`` at a time; a context that leaves no process behind."""

    def __init__(self, spec: Spec, check: str, jobs: int, tell: Tell | None = None) -> None:
        self._spec, self._check, self._jobs, self._tell = spec, check, jobs, tell
        self._pool: Pool[PointTask, PointOutcome] | None = None
        self._outcomes: dict[str, PointOutcome] = {}
        self._asked = 0

    @property
    def done(self) -> int:
        """How many points were run."""
        return len(self._outcomes)

    def __enter__(self) -> Asker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, error, trace)

    def ask(self, wanted: Mapping[K, Options]) -> dict[K, PointOutcome]:
        """Returns what comes of each point; raises ``KeyboardInterrupt``, and then
        :meth:`known` has those that are there."""
        keys = {point: key_of(options) for point, options in wanted.items()}
        new = {
            keys[point]: options
            for point, options in wanted.items()
            if keys[point] not in self._outcomes
        }
        tasks = {}
        for key, options in new.items():
            self._asked += 1
            tasks[self._asked] = (key, PointTask(self._asked, self._spec, self._check, options))
        for outcome in self._run([task for _, task in tasks.values()]):
            self._outcomes[tasks[outcome.number][0]] = outcome
        return {point: self._outcomes[key] for point, key in keys.items()}

    def known(self, options: Options) -> PointOutcome | None:
        """Returns what has come of a point, where it was run."""
        return self._outcomes.get(key_of(options))

    def _run(self, tasks: Sequence[PointTask]):  # type: ignore[no-untyped-def]
        if not tasks:
            return
        if self._jobs == 1:
            for task in tasks:
                self._say([str(task)])
                yield run_point(task)
            return
        if self._pool is None:
            self._pool = Pool(self._jobs, Work(run_point, lost_point))
        names = {task.number: str(task) for task in tasks}

        def tell(_: int, running: Mapping[int, Progress]) -> None:
            self._say(f"{names[n]}: {how.states:,} states" for n, how in sorted(running.items()))

        yield from self._pool.run(tasks, tell)

    def _say(self, running) -> None:  # type: ignore[no-untyped-def]
        if self._tell is not None:
            self._tell(self.done, list(running))


def key_of(options: Options) -> str:
    """Returns what distinguishes points: their settings, and the fairness that is not assumed."""
    return repr((sorted(options.settings.items()), sorted(options.unfair)))


def search_together(
    searches: Mapping[K, Search],
    ask: Callable[[Mapping[tuple[K, Point], Point]], Mapping[tuple[K, Point], Answer]],
) -> dict[K, Boundary]:
    """Runs several searches side by side, so that what they want is asked at once, and returns what
    each finds.  Where ``ask`` is interrupted, ``KeyboardInterrupt`` is raised, and each search has
    what is known so far (:meth:`Search.boundary`)."""
    running = {key: each.run() for key, each in searches.items()}
    wanted: dict[K, set[Point]] = {}
    for key in list(running):
        _advance(running, wanted, key, None)
    while wanted:
        asked = {(key, point): point for key, points in wanted.items() for point in points}
        answers = ask(asked)
        said = {key: {p: answers[key, p] for p in points} for key, points in wanted.items()}
        wanted = {}
        for key, each in said.items():
            _advance(running, wanted, key, each)
    return {key: each.boundary() for key, each in searches.items()}


def _advance(running, wanted, key, said) -> None:  # type: ignore[no-untyped-def]
    """Goes on with one search, and notes what it wants next."""
    try:
        wanted[key] = next(running[key]) if said is None else running[key].send(said)
    except StopIteration:
        del running[key]
