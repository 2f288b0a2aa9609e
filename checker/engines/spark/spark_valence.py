"""The valence of all states of a search on a cluster, drawn backwards where the states are.

Executors draw words, count them, and find critical states
(:mod:`checker.engines.native.sharding.sharded_words`).  The driver finds executions, as for traces,
and looks for one that never decides among the states in which one could wait: the driver has to
have room for them, and for as many steps as the whole run has.
"""

from __future__ import annotations

import time
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from checker import resources
from checker.engines.attribution import Attributed
from checker.engines.cluster import HERE, Cluster
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.checkpoint.run_identity import Identity
from checker.engines.native.codegen.image import build
from checker.engines.native.liveness.graph import Numbers, build_graph
from checker.engines.native.search.answers import answer_of_states
from checker.engines.native.search.explored import Explored, GraphStates, Undecided
from checker.engines.native.search.states import States, Unevaluable
from checker.engines.native.search.store import OutOfMemory
from checker.engines.native.sharding.backward_search import kernel_of
from checker.engines.native.sharding.cycle_filter import Levels
from checker.engines.native.sharding.cycle_filter_steps import TimeLimitReached
from checker.engines.native.sharding.sharded_words import ShardedWords
from checker.engines.native.sharding.valence_steps import Row, ValenceContext
from checker.engines.native.valence.native_valence import searched_system
from checker.engines.native.valence.state_words import Ranges
from checker.engines.native.valence.undecided_runs import UndecidedRuns, levels_of
from checker.engines.spark.driver import SparkRun, opened_run
from checker.engines.spark.engine import NAME
from checker.engines.spark.job import RunOutcome
from checker.engines.spark.residual_graph import ResidualGraph
from checker.engines.valence import ValenceGraph, ValenceProblem, ValenceUnknown
from checker.model import interpreter
from checker.records import replace
from checker.results.answer import Listener, Path, State

IMPOSSIBLE = "valence can't be computed"


def valence(problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
    """Returns the valence of the states of ``problem.system``, explored without reductions; raises
    what :func:`checker.engines.spark.driver.explore` does.

    The session has to stay open while the graph is used.
    """
    started, options, by = time.monotonic(), problem.options, searched_system(problem)
    image = build(by.system)
    kept = Checkpoint.scratch(Identity(resources.version(), "", "valence"))
    kept.unfinished = False
    try:
        folder = kept.open(by.system, image)
        cluster = options.cluster or Cluster(HERE)
        with opened_run(
            by.system, image, options.limits, cluster, folder, listener, started
        ) as run:
            outcome = run.result(all_states=True)
            return SparkValence(problem, by, run, outcome, kept)
    except BaseException:
        kept.leave()
        raise


class SparkValence(ValenceGraph):
    """The words of the states of a run that is over, in the run's folder ``kept``, which is left
    when nobody needs them any more."""

    def __init__(
        self,
        problem: ValenceProblem,
        by: Attributed,
        run: SparkRun,
        outcome: RunOutcome,
        kept: Checkpoint,
    ) -> None:
        weakref.finalize(self, kept.leave)
        self.layout, self._system, self._by = problem.layout, problem.system, by
        self._search: Explored = run.as_explored(outcome)
        self.answer = replace(answer_of_states(NAME, self._search), remarks=run.remarks)
        self._known: dict[Row, int] = {}
        if not self.answer.exhaustive or self.answer.fault is not None:
            return
        grounds = run.grounds(outcome, partial(ValenceContext, layout=self.layout, by=by))
        self._grounds: ResidualGraph = replace(grounds, impossible=IMPOSSIBLE)
        try:
            self._build()
        except (Undecided, OSError, OutOfMemory) as error:
            self.missing = str(error)
        except TimeLimitReached:
            self.missing = problem.options.limits.no_more_time

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Within the block, what leaves a query undecided is :class:`ValenceUnknown`."""
        try:
            yield
        except (Undecided, OSError, OutOfMemory, MemoryError) as error:
            raise ValenceUnknown(str(error) or "out of memory") from error
        except TimeLimitReached:
            raise ValenceUnknown(self._grounds.limits.no_more_time) from None

    def _build(self) -> None:
        started, trim = time.monotonic(), self._grounds.trim
        assert isinstance(trim, ValenceContext)
        try:
            self._words = ShardedWords(
                trim, self._grounds.all_levels(), self._grounds.everywhere, self._tell
            )
        except Unevaluable as lost:
            state = kernel_of(trim.image).image.layout.unpack(lost.words)
            for condition in self._by.system.properties[0].propositions:
                interpreter.holds(self._system, condition, state)
            raise AssertionError("a condition has a run-time error in native code only") from lost
        self.edges, self.bytes_per_state = self._words.edges, trim.dtype.itemsize
        self.levels = tuple(map(self._words.tally, range(self._search.depth + 1)))
        self.seconds = 0.0, time.monotonic() - started
        self._learn(state for state in interpreter.initial_states(self._system))

    def _tell(self, what: str) -> None:
        self._grounds.check_time()
        self._search.tell(f"valence: {what}")

    # -- queries --------------------------------------------------------------------------------

    def _row(self, state: State) -> Row | None:
        try:
            return tuple(self._search.kernel.image.layout.pack(state))
        except ValueError:
            return None

    def _learn(self, states: Iterable[State]) -> None:
        """Looks up the words of some states together."""
        rows = {row for state in states if (row := self._row(state)) is not None}
        if missing := sorted(rows - self._known.keys()):
            self._known |= self._words.look_up(missing)

    def word(self, state: State) -> int | None:
        """Looks the state up, unless it was met."""
        with self._asked():
            self._learn([state])
        row = self._row(state)
        return None if row is None else self._known.get(row)

    def _to(self, depth: int, row: Row) -> Path:
        """A shortest execution to a state, whose words are known then."""
        path = self._search.path_to(depth, (0, row))
        self._learn(path.states)
        return path

    def nearest(self, wanted: Callable[[int], bool]) -> Path | None:
        """Looks at the first level that has such a state."""
        for depth, level in enumerate(self.levels):
            good = frozenset(word for word in level if wanted(word))
            if good:
                with self._asked():
                    return self._to(depth, min(self._rows(self._words.select(good, [depth]))))
        return None

    def _rows(self, levels: Levels) -> Iterable[Row]:
        width = self._grounds.trim.folder.words
        for parts in levels.values():
            for part in parts:
                for block in self._grounds.trim.folder.read(part):
                    words = block.cast("Q")
                    yield from (tuple(words[i : i + width]) for i in range(0, len(words), width))

    def critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        """Asks what executors have found."""
        with self._asked():
            return self._critical(most)

    def _critical(self, most: int) -> tuple[int, tuple[Path, ...]]:
        total, paths = 0, list[Path]()
        for depth in range(len(self.levels)):
            count, rows = self._words.critical(depth)
            total += count
            paths += (self._to(depth, row) for row in rows[: most - len(paths)])
        for path in paths:
            steps = interpreter.successors(self._system, path.states[-1])
            self._learn(step.successor for step in steps if step.successor is not None)
        return total, tuple(paths)

    def undecided_run(self, *, bivalent: bool) -> Path | None:
        """Looks for an end, then for a fair cycle, among the states in which one may wait."""
        with self._asked():
            return self._undecided_run(bivalent)

    def _undecided_run(self, bivalent: bool) -> Path | None:
        layout, search = self.layout, self._search

        def waits(word: int) -> bool:
            return not layout.decided(word) and (layout.is_bivalent(word) or not bivalent)

        wanted = frozenset(word for level in self.levels for word in level if waits(word))
        if not wanted:
            return None
        search.tell("valence: runs that never decide")
        states = sum(level.get(word, 0) for level in self.levels for word in wanted)
        what = f"the graph of the {states:,} undecided states"
        self._grounds.require_room(what, states, self.edges)
        levels = self._words.select(wanted, range(len(self.levels)))
        numbers = Numbers(GraphStates(self._grounds.load_store(levels), self.edges))
        graph = States(search, numbers, build_graph(search, numbers))
        ranges = levels_of(numbers, max(levels))

        def path_to(number: int) -> Path:
            return self._to(numbers.depth(number), numbers.words(number))

        path = UndecidedRuns(graph, self._by, ranges, path_to).first(partial(_waiting, numbers))
        if path is not None:
            self._learn(path.states)
        return path


def _waiting(numbers: Numbers, states: Ranges, among: int) -> array[int]:
    """All of these states that are meant: those of the graph are those in which one may wait."""
    import ctypes

    marks: Any = (ctypes.c_ubyte * numbers.count).from_address(among) if among else None
    found = (number for begin, end in states for number in range(begin, end))
    return array("I", (n for n in found if marks is None or marks[n]))
