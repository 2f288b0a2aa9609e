"""The driver of a run on Spark: starts it, restarts it after a failure, and returns its answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.cluster import Cluster, Exchange
from checker.engines.native.checkpoint.checkpoint import reporting_disk_errors
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.search.explored import Explored, Undecided
from checker.engines.native.search.finalize import finalize
from checker.engines.native.search.findings import Best
from checker.engines.native.search.reduction_stats import add_samples
from checker.engines.native.sharding.backward_search import Finder, kernel_of, path_to
from checker.engines.native.sharding.cycle_filter_steps import FilterContext
from checker.engines.native.sharding.weighing import weigh_part
from checker.engines.spark import barrier, shuffle
from checker.engines.spark.engine import NAME
from checker.engines.spark.failures import ENDED, failure_of, keep, require_supported, root_cause
from checker.engines.spark.fan_out import ItemFailure, fan_out
from checker.engines.spark.heartbeat import Heartbeat, HeartbeatMonitor, Overdue, SilentTask
from checker.engines.spark.job import STOP, Job, RunOutcome
from checker.engines.spark.lost_executors import LostExecutor, lost_executors
from checker.engines.spark.masters import redact_master
from checker.engines.spark.mesh import Unmeshed
from checker.engines.spark.residual_graph import ResidualGraph
from checker.engines.spark.session import Session
from checker.engines.spark.shared_sessions import enter_session
from checker.engines.spark.slots import LACK, PATIENT_LACK, TooFew, require_barrier, why_no_barrier
from checker.engines.spark.task_progress import ProgressReader
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import (
    FOUND,
    INTERRUPTED,
    Answer,
    Limits,
    Listener,
    Path,
    Progress,
    Unsupported,
)

COMMIT_EVERY = 30.0
"""Seconds between commits."""
ATTEMPTS = 4
"""The number of consecutive attempts of a run that may fail without progress."""
STOPPING = 10.0
"""Seconds in which an interrupted or late run may still write its states."""
WORTH_IT = 200_000
"""Levels of fewer states are searched by the driver itself."""


def explore(
    system: TransitionSystem,
    limits: Limits,
    cluster: Cluster,
    folder: RunFolder,
    listener: Listener | None = None,
    *,
    plan: ReductionPlan = NOTHING,
    commit_every: float = COMMIT_EVERY,
    all_states: bool = False,
) -> Answer:
    """Resumes from the last commit in ``folder``, which has to hold one, and returns the answer.

    ``commit_every``: seconds between commits; ``all_states``: all levels are committed at the end.
    Raises :class:`SpecError` where the cluster, or the folder, can't be used, ``Unsupported`` where
    native code can't take the system.
    """
    started, image = time.monotonic(), build(system, plan)
    with opened_run(system, image, limits, cluster, folder, listener, started) as run:
        outcome = run.result(commit_every, all_states)
        answer = finalize(NAME, run.as_explored(outcome))
        return replace(answer, remarks=(*answer.remarks, *run.remarks))


@contextmanager
def opened_run(
    system: TransitionSystem,
    image: KernelImage,
    limits: Limits,
    cluster: Cluster,
    folder: RunFolder,
    listener: Listener | None,
    started: float,
) -> Iterator[SparkRun]:
    """Yields the run in ``folder``, which began at ``started``, on an open session, or without one
    (``session`` is ``None``) where the time limit comes first; the kernel is built meanwhile.

    Raises what :func:`explore` does."""
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        pool.submit(kernel_of, image)  # while Java starts
        session = enter_session(stack, cluster, folder, limits, started)
        yield SparkRun(system, image, limits, cluster, folder, session, listener, started=started)


@dataclass
class SparkRun:
    """One run on an open session (``None``: it could not be opened); ``remarks``: the report's
    remarks on how it was executed; ``started``: on the clock of ``time.monotonic``.
    """

    system: TransitionSystem
    image: KernelImage
    limits: Limits
    cluster: Cluster
    folder: RunFolder
    session: Session | None
    listener: Listener | None
    remarks: tuple[str, ...] = ()
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._states = 0
        self._groups = 0
        self._has_lost = False

    @property
    def there(self) -> Session:
        """The session."""
        assert self.session is not None, "a run that goes on has one"
        return self.session

    @property
    def _seconds_left(self) -> float | None:
        """Returns the seconds until the time limit."""
        timeout = self.limits.timeout
        return None if timeout is None else timeout - (time.monotonic() - self.started)

    @property
    def _is_late(self) -> bool:
        left = self._seconds_left
        return left is not None and left <= 0

    # -- executing -----------------------------------------------------------------------------

    def result(self, commit_every: float = COMMIT_EVERY, all_states: bool = False) -> RunOutcome:
        """Executes the run on its session, if there is one."""
        if self.session is None:
            return self.as_cancelled(
                self.limits.no_more_time, "timed out waiting for the Spark session"
            )
        return self.outcome(self.job(commit_every, all_states))

    def job(self, commit_every: float, all_states: bool) -> Job:
        """Returns the input of all tasks."""
        left = self._seconds_left
        return Job(
            system=self.system,
            image=self.image,
            folder=self.folder,
            shards=self.cluster.shards or self.there.slots,
            limits=self.limits,
            token=secrets.token_bytes(32),
            deadline=None if left is None else time.time() + left,
            commit_every=commit_every,
            all_states=all_states,
            silence=self.there.silence,
        )

    def exchange(self, shards: int) -> tuple[Exchange, str]:
        """Returns which exchange is used, and why; raises :class:`SpecError` where it can't be."""
        match self.cluster.exchange:
            case Exchange.BARRIER:
                require_barrier(self.there, shards)
                return Exchange.BARRIER, "as asked for"
            case Exchange.SHUFFLE:
                return Exchange.SHUFFLE, "as asked for"
            case Exchange.AUTO:
                why = why_no_barrier(self.there, shards)
                if why is None:
                    return Exchange.BARRIER, "all tasks fit at the same time"
                return Exchange.SHUFFLE, why

    def outcome(self, job: Job) -> RunOutcome:
        """Executes the run, again from the last commit where a task or executor is lost."""
        exchange, why = self.exchange(job.shards)
        self._remark(
            f"on {redact_master(self.cluster.master)}, {job.shards} shards, {exchange.value}: {why}"
        )
        self.folder.say(STOP, {STOP: False})
        failures, reached = 0, -1
        with ProgressReader(self.folder, self.listener, self.started):
            while True:
                try:
                    self._claim(first=reached < 0)
                    outcome = self._attempt(job, exchange)
                    self._efforts(outcome)
                    return outcome
                except (SpecError, Unsupported):
                    raise
                except KeyboardInterrupt:
                    return self.as_cancelled(INTERRUPTED, "some tasks did not end in time")
                except Overdue:
                    why = f"some tasks did not end within {STOPPING:g} s of the time limit"
                    return self.as_cancelled(self.limits.no_more_time, why)
                except _Unkept as unkept:
                    return self.as_cancelled(f"the run can't be saved: {unkept}", "")
                except Exception as problem:
                    if budgets.is_interrupted():  # a signal to all processes ends Java, too
                        return self.as_cancelled(INTERRUPTED, "Spark was ended as well")
                    keep(problem, self.there.log)
                    require_supported(problem)
                    depth = self._committed_depth()
                    failures = failures + 1 if depth <= reached else 1
                    reached = max(reached, depth)
                    ended = ENDED if self.there.has_ended else None
                    if ended or failures >= ATTEMPTS:
                        raise failure_of(problem, self.there.log, "the run failed", ended) from None
                    self._has_lost = self._has_lost or isinstance(problem, LostExecutor)
                    exchange = self._otherwise(problem, exchange)
                    self._again(problem, depth)

    def _claim(self, *, first: bool) -> None:
        """Prevents remains of earlier attempts from committing.  Raises :class:`SpecError` (E014),
        and where it is not the first attempt :class:`_Unkept`.
        """
        if first:
            with reporting_disk_errors(self.folder.location):
                self.folder.claim()
            return
        try:
            self.folder.claim()
        except OSError as error:
            raise _Unkept(f"{error.filename or self.folder.location}: {error.strerror}") from None

    def _again(self, problem: Exception, depth: int) -> None:
        """Reports that the run restarts from level ``depth``, and why."""
        why = root_cause(problem)
        self._remark(f"resumed from level {depth} after: {why}")
        self._news(f"{why}; resuming from level {depth}")

    def _report_lost(self, silent: SilentTask) -> None:
        """Reports that a task is not heard from, and that another one repeats its work."""
        self._remark(f"repeated after: {silent}")
        self._news(str(silent))

    def _news(self, words: str) -> None:
        """Adds a message to the report that users should not miss."""
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            self.listener(Progress(0, 0, 0, seconds, 0, words, news=True))

    def _otherwise(self, problem: Exception, exchange: Exchange) -> Exchange:
        """Returns how to continue after ``problem``; raises :class:`SpecError` (E025)."""
        few = isinstance(problem, TooFew)
        if exchange is Exchange.SHUFFLE or not (few or Unmeshed.__name__ in root_cause(problem)):
            return exchange
        if self.cluster.exchange is Exchange.AUTO:
            self._remark("by shuffle from now on")
            return Exchange.SHUFFLE
        if few:
            hint = "resume the run with --exchange shuffle"
            raise SpecError((Diagnostic("E025", str(problem), hint=hint),))
        return exchange

    def _committed_depth(self) -> int:
        """Returns the last level that is committed; raises :class:`SpecError` (E014)."""
        with reporting_disk_errors(self.folder.location):
            found = self.folder.latest()
        if found is None:
            message = f"the run's folder {self.folder.location} has been emptied"
            raise SpecError((Diagnostic("E014", message),))
        return found.depth

    def _efforts(self, outcome: RunOutcome) -> None:
        """Reports the costs of the run."""
        if outcome.efforts:
            sent = sum(effort.sent for effort in outcome.efforts) / 1e6
            peaks = [effort.peak / (1 << 20) for effort in outcome.efforts]
            self._remark(
                f"{sent:,.0f} MB of states from task to task; a task took {max(peaks):,.0f} MiB"
                f" at most, all of them {sum(peaks):,.0f} MiB"
            )

    def _remark(self, words: str) -> None:
        self.remarks += (f"spark: {words}",)

    def _attempt(self, job: Job, exchange: Exchange) -> RunOutcome:
        """Makes one attempt from the last commit.  Raises what Spark raises, and
        ``KeyboardInterrupt`` where the run does not end by itself soon after an interrupt.
        """
        shards, slots = job.shards, self.there.slots
        together = shards <= slots and not self.there.dynamic and not self._has_lost
        listening = HeartbeatMonitor(job.beat, shards, together=together, until=self._until())
        with listening as heard, ThreadPoolExecutor(1) as pool:
            made = pool.submit(self._whole, job, exchange, heard)
            try:
                outcome = budgets.when_done(made)
            except KeyboardInterrupt:
                self.folder.say(STOP, {STOP: True})
                budgets.tell_all()  # the first levels may be made here
                try:
                    outcome = made.result(STOPPING)
                except BaseException:
                    self.there.cancel_all()
                    raise KeyboardInterrupt from None
        if outcome.broken is not None:
            return self._unkept(outcome, outcome.broken)
        return outcome

    def _unkept(self, outcome: RunOutcome, why: str) -> RunOutcome:
        """Returns the outcome where the folder can't be written any more: the run is over, and
        without states no trace can be shown; raises :class:`SpecError` (E014) where there would be
        one.
        """
        found = outcome.found
        if found.violating or found.faulty or outcome.lost:
            message = f"a violation was found, but the states that lead to it can't be saved: {why}"
            raise SpecError(
                (
                    Diagnostic(
                        "E014", message, hint="free disk space, and resume the run with `--resume`"
                    ),
                )
            )
        return replace(outcome, stopped=f"the run can't be saved: {why}")

    def _whole(self, job: Job, exchange: Exchange, heard: HeartbeatMonitor) -> RunOutcome:
        match exchange:
            case Exchange.SHUFFLE:
                with lost_executors(self.there) as check_executors:

                    def watch() -> None:
                        check_executors()
                        heard.check()

                    return shuffle.run(self.there, job, watch)
            case _:
                can_switch = self.cluster.exchange is Exchange.AUTO
                lack = LACK if can_switch else max(PATIENT_LACK, self.there.patience)
                return barrier.run(self.there, job, heard.check, lack)

    def _until(self) -> float | None:
        """Returns the deadline of tasks, soon after the time limit, by ``time.monotonic``."""
        left = self._seconds_left
        return None if left is None else time.monotonic() + max(left, 0.0) + STOPPING

    def _listening_to_parts(self, *, bounded: bool = True) -> HeartbeatMonitor:
        """Monitors tasks on parts of some work; ``bounded``: by the time limit."""
        self._groups += 1
        beat = Heartbeat.within(self.folder, self.there.silence, f"part{self._groups}")
        return HeartbeatMonitor(beat, until=self._until() if bounded else None)

    def as_cancelled(self, stopped: str, why: str) -> RunOutcome:
        """Returns a cancelled run's last commit; ``why``: the cause; ``stopped``: the report's."""
        found = self.folder.latest()
        assert found is not None, "the initial states are committed"
        states = sum(part.rows for parts in self.folder.parts().values() for part in parts)
        used = 8 * self.folder.words * states
        seconds = time.monotonic() - self.started
        if why:
            self._remark(f"{why}: results are those committed up to level {found.depth}")
        return RunOutcome(found, found, states, found.depth, used, None, stopped, None, seconds)

    # -- the answer ----------------------------------------------------------------------------

    def as_explored(self, outcome: RunOutcome) -> Explored:
        """Returns the finished search, with its states where the folder has them."""
        self._states = outcome.states
        grounds = self.grounds(outcome, FilterContext)
        return Explored(
            system=self.system,
            limits=self.limits,
            kernel=kernel_of(self.image),
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
            known=partial(self._tell, FOUND),
            cycles=grounds.cycles,
            orbits=lambda: outcome.orbits or self._orbits(outcome),
        )

    def _orbits(self, outcome: RunOutcome) -> tuple[int, int]:
        """Returns sampled sizes of orbits; (0, 0) if states are missing, or the run has to end."""
        image, folder, states = self.image, self.folder, outcome.states
        if outcome.stopped == INTERRUPTED or self._is_late:
            return 0, 0
        try:
            parts = [part for level in folder.parts().values() for part in level]
            if sum(part.rows for part in parts) != states:
                return 0, 0
            if states < WORTH_IT:
                return add_samples(weigh_part(image, folder, part, states) for part in parts)
            return self._weigh(parts, states)
        except OSError:
            return 0, 0

    def _weigh(self, parts: Sequence[Part], states: int) -> tuple[int, int]:
        """Weighs the parts on all executors."""
        image, folder, found = self.image, self.folder, list[tuple[int, int]]()
        try:
            with self._listening_to_parts() as heard:
                done = fan_out(
                    self.there, lambda part: weigh_part(image, folder, part, states), parts, heard
                )
                for _, some in done:
                    if isinstance(some, ItemFailure):
                        return 0, 0
                    found.append(some)
        except (SilentTask, Overdue):
            return 0, 0
        return add_samples(found)

    def grounds(self, outcome: RunOutcome, context: Callable[..., FilterContext]) -> ResidualGraph:
        """Returns the graph on which liveness is decided; ``context`` makes that of its steps."""
        limits, left = self.limits, self._seconds_left
        shards = self.cluster.shards or (self.session.slots if self.session else 1)
        memory, deadline = limits.memory, None if left is None else time.time() + left
        each = None if memory is None else memory // shards
        trim = context(self.image, self.folder, shards, each, deadline)

        def check_time() -> None:
            if deadline is not None and time.time() > deadline:
                raise Undecided(limits.no_more_time)

        counts = outcome.states, outcome.found.transitions
        return ResidualGraph(
            self.session,
            trim,
            limits,
            *counts,
            check_time,
            self._tell,
            self._listening_to_parts,
            self._report_lost,
        )

    def _tell(self, phase: str, answer: Answer | None = None) -> None:
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            self.listener(Progress(self._states, 0, 0, seconds, 0, phase, answer=answer))

    def _path_to(self, depth: int, target: Best) -> Path:
        return path_to(self.image, self.folder.parts(), self._find, depth, target)

    def _find(self, parts: Sequence[Part], words: tuple[int, ...]) -> Best | None:
        """Returns the best predecessor in parts; searches many states on executors."""
        find = Finder(self.image, self.folder)
        if sum(part.rows for part in parts) < WORTH_IT:
            return find(parts, words)
        found: list[Best] = []
        try:
            with self._listening_to_parts(bounded=False) as heard:
                for _, best in fan_out(self.there, lambda part: find([part], words), parts, heard):
                    if isinstance(best, ItemFailure):
                        return find(parts, words)
                    if best is not None:
                        found.append(best)
        except SilentTask as silent:
            self._report_lost(silent)
            return find(parts, words)
        return min(found, default=None)


class _Unkept(Exception):
    """The folder can't be written any more; the message says where, and why."""
