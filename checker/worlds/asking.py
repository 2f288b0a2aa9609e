"""Runs the check at many points in parallel processes, once at each; searches share the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
"""Receives the number of finished points, and a line of progress for each running one."""


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
        """Returns the outcome at each point.  Raises ``KeyboardInterrupt``; :meth:`known` then
        returns the outcomes so far."""
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
        """Returns the outcome at a point that was run, else ``None``."""
        return self._outcomes.get(key_of(options))

    def _run(self, tasks: Sequence[PointTask]) -> Iterator[PointOutcome]:
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

    def _say(self, running: Iterable[str]) -> None:
        if self._tell is not None:
            self._tell(self.done, list(running))


def key_of(options: Options) -> str:
    """Returns the key of a point: its settings, and the fairness that it does not assume."""
    return repr((sorted(options.settings.items()), sorted(options.unfair)))


def search_together(
    searches: Mapping[K, Search],
    ask: Callable[[Mapping[tuple[K, Point], Point]], Mapping[tuple[K, Point], Answer]],
) -> dict[K, Boundary]:
    """Runs several searches side by side, so that their points are run together; returns the
    boundary that each finds.  Passes on ``KeyboardInterrupt`` from ``ask``; each search then has
    the boundary known so far (:meth:`Search.boundary`)."""
    running = {key: each.run() for key, each in searches.items()}
    wanted: dict[K, set[Point]] = {}
    for key, asking in running.items():
        with suppress(StopIteration):
            wanted[key] = next(asking)
    while wanted:
        asked = {(key, point): point for key, points in wanted.items() for point in points}
        answers, before, wanted = ask(asked), wanted, {}
        for key, points in before.items():
            with suppress(StopIteration):
                wanted[key] = running[key].send({p: answers[key, p] for p in points})
    return {key: each.boundary() for key, each in searches.items()}
