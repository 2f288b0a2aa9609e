"""A run on Spark as the driver sees it: how it is made, again after a failure, what comes of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.spark import barrier, probe, shuffle
from checker.engines.spark.cluster import Cluster, Exchange
from checker.engines.spark.failures import ENDED, failed, keep, root_cause
from checker.engines.spark.fan_out import Failure, fan_out
from checker.engines.spark.grounds import Grounds
from checker.engines.spark.job import STOP, Job, Outcome
from checker.engines.spark.masters import shown
from checker.engines.spark.mesh import Unmeshed
from checker.engines.spark.session import Session, open_session
from checker.engines.spark.slots import TooFew, require_barrier, why_no_barrier
from checker.engines.spark.watch import Watch
from checker.exploration.backwards import Finder, compiled, path_to
from checker.exploration.conclude import conclude
from checker.exploration.explored import Explored, Unfinished
from checker.exploration.findings import Best
from checker.exploration.kept import using
from checker.exploration.run_folder import Part, RunFolder
from checker.exploration.trimming import Trimming
from checker.kernels.image import KernelImage, build
from checker.reductions.plan import NOTHING, Plan
from checker.system.ir import TransitionSystem
from checker.witness.answer import (
    INTERRUPTED,
    Answer,
    Limits,
    Listener,
    Path,
    Progress,
    Unsupported,
)

NAME = "spark"
COMMIT_EVERY = 30.0
"""Seconds between commits."""
ATTEMPTS = 4
"""So often in a row a run may fail without having come further."""
STOPPING = 10.0
"""Seconds in which a run that was interrupted may still write down what it has."""
WORTH_IT = 200_000
"""Levels of fewer states are looked through by the driver itself."""


def explore(
    system: TransitionSystem,
    limits: Limits,
    cluster: Cluster,
    folder: RunFolder,
    listener: Listener | None = None,
    *,
    plan: Plan = NOTHING,
    commit_every: float = COMMIT_EVERY,
    all_states: bool = False,
) -> Answer:
    """Goes on from the last commit in ``folder``, which has to hold one, and answers.

    ``commit_every``: seconds between commits; ``all_states``: all levels are committed in the end.
    Raises :class:`SpecError` where the cluster, or the folder, can't be used, ``Unsupported``
    where native code can't take the system.
    """
    image = build(system, plan)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(compiled, image)  # while Java starts
        with _session(cluster) as session:
            probe.require_elsewhere(session, folder)
            run = Run(system, image, limits, cluster, folder, session, listener)
            outcome = run.outcome(run.job(commit_every, all_states))
            answer = conclude(NAME, run.explored(outcome))
            return replace(answer, remarks=(*answer.remarks, *run.remarks))


_held: tuple[ExitStack, dict[str, Session]] | None = None


@contextmanager
def holding() -> Iterator[None]:
    """Sessions that runs open in this block stay open until it ends."""
    global _held
    with ExitStack() as stack:
        _held = (stack, {})
        try:
            yield
        finally:
            _held = None


@contextmanager
def _session(cluster: Cluster) -> Iterator[Session]:
    if _held is None:
        with open_session(cluster) as session:
            yield session
        return
    stack, known = _held
    key = str(cluster)
    if key not in known:
        known[key] = stack.enter_context(open_session(cluster))
    yield known[key]


@dataclass
class Run:
    """One run on an open session; ``remarks``: what the report says about how it was made."""

    system: TransitionSystem
    image: KernelImage
    limits: Limits
    cluster: Cluster
    folder: RunFolder
    session: Session
    listener: Listener | None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self._states = 0

    # -- how it is made -------------------------------------------------------------------------

    def job(self, commit_every: float, all_states: bool) -> Job:
        """What all tasks are given."""
        timeout = self.limits.timeout
        return Job(
            system=self.system,
            image=self.image,
            folder=self.folder,
            shards=self.cluster.shards or self.session.slots,
            limits=self.limits,
            token=secrets.token_bytes(32),
            deadline=None if timeout is None else time.time() + timeout,
            commit_every=commit_every,
            all_states=all_states,
        )

    def exchange(self, shards: int) -> tuple[Exchange, str]:
        """Which exchange is used, and why; raises :class:`SpecError` where it can't be."""
        match self.cluster.exchange:
            case Exchange.BARRIER:
                require_barrier(self.session, shards)
                return Exchange.BARRIER, "as asked for"
            case Exchange.SHUFFLE:
                return Exchange.SHUFFLE, "as asked for"
            case Exchange.AUTO:
                why = why_no_barrier(self.session, shards)
                if why is None:
                    return Exchange.BARRIER, "all tasks fit at once"
                return Exchange.SHUFFLE, why

    def outcome(self, job: Job) -> Outcome:
        """Makes the run, again from the last commit where something is lost on the way."""
        exchange, why = self.exchange(job.shards)
        self._remark(
            f"on {shown(self.cluster.master)}, {job.shards} shards, {exchange.value}: {why}"
        )
        self.folder.say(STOP, {"stop": False})
        failures, reached = 0, -1
        with Watch(self.folder, self.listener, self.started):
            while True:
                try:
                    outcome = self._attempt(job, exchange)
                    self._efforts(outcome)
                    return outcome
                except (SpecError, Unsupported):
                    raise
                except KeyboardInterrupt:
                    return self._cancelled()
                except Exception as problem:
                    keep(problem, self.session.log)
                    _require_supported(problem)
                    depth = self._reached()
                    failures = failures + 1 if depth <= reached else 1
                    reached = max(reached, depth)
                    ended = ENDED if self.session.has_ended else None
                    if ended or failures >= ATTEMPTS:
                        raise failed(problem, self.session.log, "the run failed", ended) from None
                    exchange = self._otherwise(problem, exchange)
                    self._remark(f"gone on from level {depth} after: {root_cause(problem)}")

    def _otherwise(self, problem: Exception, exchange: Exchange) -> Exchange:
        """How to go on after ``problem``; raises :class:`SpecError` (E025) where that is not as
        it was asked for."""
        few = isinstance(problem, TooFew)
        if exchange is Exchange.SHUFFLE or not (few or Unmeshed.__name__ in root_cause(problem)):
            return exchange
        if self.cluster.exchange is Exchange.AUTO:
            self._remark("by shuffle from now on")
            return Exchange.SHUFFLE
        if few:
            hint = "--resume the run with --exchange shuffle"
            raise SpecError((Diagnostic("E025", str(problem), hint=hint),))
        return exchange

    def _reached(self) -> int:
        """The last level that is committed; raises :class:`SpecError` (E014)."""
        with using(self.folder.location):
            found = self.folder.latest()
        if found is None:
            message = f"the run's folder {self.folder.location} is empty, and was not before"
            raise SpecError((Diagnostic("E014", message),))
        return found.depth

    def _efforts(self, outcome: Outcome) -> None:
        """Says what the run took."""
        if outcome.efforts:
            sent = sum(effort.sent for effort in outcome.efforts) / 1e6
            peaks = [effort.peak / (1 << 20) for effort in outcome.efforts]
            self._remark(
                f"{sent:,.0f} MB of states from task to task; a task took {max(peaks):,.0f} MiB"
                f" at most, all of them {sum(peaks):,.0f} MiB"
            )

    def _remark(self, words: str) -> None:
        self.remarks += (f"spark: {words}",)

    def _attempt(self, job: Job, exchange: Exchange) -> Outcome:
        """One attempt from the last commit.  Raises what Spark raises, and ``KeyboardInterrupt``
        where the run does not end by itself soon after an interrupt."""
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(self._whole, job, exchange)
            try:
                outcome = made.result()
            except KeyboardInterrupt:
                self.folder.say(STOP, {"stop": True})
                try:
                    outcome = made.result(STOPPING)
                except BaseException:
                    self.session.cancel_all()
                    raise KeyboardInterrupt from None
        if outcome.broken is not None:
            return self._unkept(outcome, outcome.broken)
        return outcome

    def _unkept(self, outcome: Outcome, why: str) -> Outcome:
        """The folder can't be written any more: the run is over, and without states no trace can
        be shown; raises :class:`SpecError` (E014) where there would be one."""
        found = outcome.found
        if found.violating or found.faulty or outcome.lost:
            message = f"a violation was found, and the states that lead to it can't be kept: {why}"
            raise SpecError((Diagnostic("E014", message, hint="make room, and --resume the run"),))
        return replace(outcome, stopped=f"the run can't be kept: {why}")

    def _whole(self, job: Job, exchange: Exchange) -> Outcome:
        match exchange:
            case Exchange.SHUFFLE:
                return shuffle.run(self.session, job)
            case _:
                return barrier.run(self.session, job)

    def _cancelled(self) -> Outcome:
        """What is known of a run that had to be cancelled: its last commit."""
        found = self.folder.latest()
        assert found is not None, "the initial states are committed"
        states = sum(part.rows for parts in self.folder.parts().values() for part in parts)
        used = 8 * self.folder.words * states
        seconds = time.monotonic() - self.started
        return Outcome(found, found, states, found.depth, used, None, INTERRUPTED, None, seconds)

    # -- what comes of it -----------------------------------------------------------------------

    def explored(self, outcome: Outcome) -> Explored:
        """The finished search, with its states where the folder has them."""
        self._states = outcome.states
        grounds = self._grounds(outcome)
        return Explored(
            system=self.system,
            limits=self.limits,
            kernel=compiled(self.image),
            load=grounds.whole,
            found=outcome.found,
            depth=outcome.depth,
            states=outcome.states,
            used=outcome.used,
            lost=outcome.lost,
            stopped=outcome.stopped,
            started=self.started,
            seconds=outcome.seconds,
            path_to=self._path_to,
            tell=self._tell,
            cycles=grounds.cycles,
        )

    def _grounds(self, outcome: Outcome) -> Grounds:
        """What liveness is decided on."""
        limits, shards = self.limits, self.cluster.shards or self.session.slots
        memory, deadline = limits.memory, None
        if limits.timeout is not None:
            deadline = time.time() + limits.timeout - (time.monotonic() - self.started)
        each = None if memory is None else memory // shards
        trim = Trimming(self.image, self.folder, shards, each, deadline)

        def check_time() -> None:
            if deadline is not None and time.time() > deadline:
                raise Unfinished(limits.no_more_time)

        counts = outcome.states, outcome.found.transitions
        return Grounds(self.session, trim, limits, *counts, check_time, self._tell)

    def _tell(self, phase: str) -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            self.listener(Progress(self._states, 0, 0, seconds, 0, phase))

    def _path_to(self, depth: int, target: Best) -> Path:
        return path_to(self.image, self.folder.parts(), self._find, depth, target)

    def _find(self, parts: Sequence[Part], words: tuple[int, ...]) -> Best | None:
        """The best predecessor among the states of parts: found here, or where there are many
        states by all executors."""
        find = Finder(self.image, self.folder)
        if sum(part.rows for part in parts) < WORTH_IT:
            return find(parts, words)
        found: list[Best] = []
        for _, best in fan_out(self.session, lambda part: find([part], words), parts):
            if isinstance(best, Failure):
                return find(parts, words)
            if best is not None:
                found.append(best)
        return min(found, default=None)


def _require_supported(problem: Exception) -> None:
    """Raises ``Unsupported`` where a task has said so: another attempt would say the same."""
    _, said, why = root_cause(problem).partition(f"{Unsupported.__name__}: ")
    if said:
        raise Unsupported(why) from None
