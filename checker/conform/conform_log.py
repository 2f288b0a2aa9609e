"""Whether a log is a log of a run of a check: from the files to the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.conform.explain_events import EventExplainer, Observation
from checker.conform.lines import MARKS, Line, Logged, Resolver, Timeline, passed_marks
from checker.conform.mapping import NOTHING_RENAMED, NameMapping
from checker.conform.obstacles import obstacles_at
from checker.conform.read_log import Log, read_log
from checker.conform.reference_steps import Outgrown, ReferenceSteps
from checker.conform.replayed_run import ReplayedRun, replayed
from checker.conform.search import OFTEN, Found, Search, Steps
from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.engines import budgets
from checker.engines.options import Options
from checker.engines.registry import resolved_name
from checker.extensions.tables import DEFAULT, DEFINITION
from checker.instantiate.assemble import Instantiated
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.memo import a_run
from checker.results.answer import Listener, Progress, Unsupported, stop_reason
from checker.results.conformance import Conformance, LogOfProcess
from checker.results.trace import Header, Trace
from checker.results.unjudged import diagnosed
from checker.results.verdict import Word
from checker.session.load import load_check
from checker.session.trace_header import OF_A_LOG, for_a_log, header_of
from checker.session.world_line import world_line
from checker.simulate.prepared_check import PreparedCheck

if TYPE_CHECKING:
    from checker.language.load import Spec

REPLAYED = 2_000
"""So many steps of a run, the last ones, are replayed and are the trace, unless another number is
asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a log.

    ``replay``: how many steps of a run are replayed by the interpreter, and become a trace: the
    last ones.
    """

    spec: Spec | str
    check: str | None
    options: Options
    mapping: NameMapping = NOTHING_RENAMED
    replay: int = REPLAYED

    def __str__(self) -> str:
        return f"{self.spec}::{self.check}" if self.check else str(self.spec)


@a_run()
def conform(
    asked: Asked, logs: Sequence[str] | Log, listener: Listener | None = None
) -> Conformance:
    """Returns whether ``logs``, files that together are one log, or one that was read, are the log
    of a run of a check.

    Raises :class:`SpecError` for what is wrong with the spec, the options or the log.
    """
    started, limits = time.monotonic(), asked.options.limits
    log = logs if isinstance(logs, Log) else Log(tuple(logs))
    with budgets.within(limits.timeout, limits.memory):
        try:
            with budgets.raising_when_exhausted():
                log = logs if isinstance(logs, Log) else read_log(logs, asked.mapping)
                opened = _open(asked)
        except KeyboardInterrupt as error:
            return not_begun(asked, log, stop_reason(error), time.monotonic() - started)
        return _Conforming(asked, log, opened, listener, started).report()


def not_begun(asked: Asked, log: Log, why: str, seconds: float) -> Conformance:
    """Returns the report where ``log`` was not read, or its check not made, because of ``why``."""
    return Conformance(
        file=str(asked.spec),
        check=asked.check or "",
        parameters={},
        engine=resolved_name(asked.options.engine),
        word=Word.UNKNOWN,
        sentence=f"not known: {why} before the search began",
        logs=log.files,
        run=log.run,
        read=log.read,
        processes=(),
        logged=(),
        silent=(),
        gaps=tuple(log.gaps),
        ignored=log.ignored,
        seconds=seconds,
        stopped=why,
    )


def _open(asked: Asked) -> PreparedCheck:
    """Returns the check without its properties: it is not asked whether they hold."""
    whole = load_check(asked.spec, asked.check, asked.options.settings)

    def header(made: Instantiated) -> Header:
        found = header_of(str(asked.spec), whole, made, asked.options)
        return replace(found, settings={**found.settings, OF_A_LOG: "yes"})

    settings, fine = asked.options.settings, asked.options.fine_steps
    return PreparedCheck(for_a_log(whole), settings, header, fine=fine)


class _Conforming:
    """One log and one check."""

    def __init__(
        self,
        asked: Asked,
        log: Log,
        opened: PreparedCheck,
        listener: Listener | None,
        started: float,
    ) -> None:
        self.asked, self.log, self.opened = asked, log, opened
        self.listener, self.started = listener, started
        self.engine = resolved_name(asked.options.engine)
        self.found: Found[Any] = Found()
        self.stopped: str | None = None
        self.notes: list[str] = []
        self.omitted = 0
        self._shown: Callable[[Any], State] = lambda state: state

    def report(self) -> Conformance:
        observation = self.observation()
        if not observation.lines:
            return self._made(observation, Word.VACUOUS, "the log says of nothing that it happened")
        try:
            observation = self._search(observation)
        except KeyboardInterrupt as error:
            self.stopped = stop_reason(error)
        if self.found.complete:
            run = self._replay(observation)
            said = f"all {count(observation.lines, 'line')} are explained by a run of this check"
            return self._made(observation, Word.HOLDS, said, run)
        if self.stopped is not None:
            said = f"not known: {self.stopped}; so far {self.found.explained:,} lines are explained"
            return self._made(observation, Word.UNKNOWN, said)
        return self._violated(observation)

    def _violated(self, observation: Observation) -> Conformance:
        explained, lines = self.found.explained, observation.lines
        said = (
            f"no run of this check has this log: {explained:,} of {count(lines, 'line')}"
            f" are explained, and no step explains another one"
        )
        run = self._replay(observation)
        report = self._made(observation, Word.VIOLATED, said, run)
        if run is None:
            return report
        explainer = EventExplainer(observation)
        found = obstacles_at(observation, explainer, self.found.furthest[0].cursors, run)
        return replace(report, obstacles=found)

    # ---- the search -----------------------------------------------------------------------

    def observation(self) -> Observation:
        """Returns what is logged, in terms of the present system."""
        system = self.opened.system
        timelines = Resolver(system, self.asked.mapping).timelines(self.log)
        mapping = self.asked.mapping
        unlogged = frozenset(_logged(text) for text in mapping.unlogged)
        return Observation(system, timelines, logged_in(timelines, mapping), unlogged)

    def _search(self, observation: Observation) -> Observation:
        """Searches in the smallest system whose guessed capacities are large enough."""
        while True:
            steps = self._steps(observation)
            search: Search[Any] = Search(steps, observation, self._tell, self._often)
            self.found, self._shown = search.found, steps.shown
            try:
                with budgets.raising_when_exhausted():
                    search.run()
                return observation
            except Outgrown as small:
                if not self.opened.fit(small.fault):
                    self.stopped = f"{small.fault.message}, and it grows without end"
                    return observation
                observation = self.observation()
            except RunFault as fault:
                if not self.opened.fit(fault):
                    raise diagnosed(observation.system, fault) from None
                observation = self.observation()

    def _steps(self, observation: Observation) -> Steps[Any]:
        explainer = EventExplainer(observation)
        if self.engine == DEFINITION:
            return ReferenceSteps(observation.system, explainer)
        if self.engine != DEFAULT:
            message = f"the {self.engine} engine can't follow a log"
            hint = f"try --engine {DEFAULT} or --engine {DEFINITION}"
            raise SpecError((Diagnostic("E007", message, hint=hint),))
        from checker.conform.native_steps import NativeSteps

        try:
            return NativeSteps(observation.system, explainer)
        except Unsupported as why:
            message = f"the {self.engine} engine can't take this check: {why}"
            hint = f"try --engine {DEFINITION}"
            raise SpecError((Diagnostic("E007", message, hint=hint),)) from None

    @property
    def _often(self) -> int:
        """After how many nodes budgets are looked at."""
        return min(OFTEN, self.asked.options.limits.max_states or OFTEN)

    def _tell(self, found: Found[Any]) -> None:
        most = self.asked.options.limits.max_states
        if most is not None and found.nodes >= most:
            raise KeyboardInterrupt(f"the limit of {count(most, 'state')} was reached")
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            said = f"{found.explained:,} lines explained"
            self.listener(Progress(found.nodes, 0, 0, seconds, 0, said))

    # ---- what is said of it ---------------------------------------------------------------

    def _replay(self, observation: Observation) -> ReplayedRun | None:
        """Returns the run to the first of the furthest nodes, its last steps replayed by the
        interpreter, unless there is no time left."""
        run = self.found.furthest[0].run()
        before = max(len(run) - 1 - self.asked.replay, 0)
        if before:
            self.notes.append(
                f"the first {count(before, 'step')} of {len(run) - 1:,} were not replayed by the"
                f" interpreter: --replay {len(run) - 1} does"
            )
            self.omitted, run = before, run[before:]
        try:
            with budgets.raising_when_exhausted():
                states = {state: self._shown(state) for state in {node.state for node in run}}
                nodes = [(states[node.state], node.cursors) for node in run]
                return replayed(observation, nodes, self.opened, from_start=not before)
        except KeyboardInterrupt as error:
            self.stopped = stop_reason(error)
            self.notes.append(f"the run was not replayed: {self.stopped}")
            return None

    def _made(
        self, observation: Observation, word: Word, said: str, run: ReplayedRun | None = None
    ) -> Conformance:
        made, options = self.opened.made, self.asked.options
        header = self.opened.header
        cursors = self.found.furthest[0].cursors if self.found.furthest else observation.start
        return Conformance(
            file=header.file,
            check=header.check,
            parameters=header.parameters,
            engine=self.engine,
            word=word,
            sentence=said,
            logs=self.log.files,
            run=self.log.run,
            read=self.log.read,
            processes=tuple(
                LogOfProcess(timeline.process, timeline.lines, _explained(timeline, cursor))
                for timeline, cursor in zip(observation.timelines, cursors, strict=True)
            ),
            logged=tuple(sorted(one.text for one in observation.logged)),
            silent=silent_in(observation),
            gaps=tuple(self.log.gaps),
            ignored=self.log.ignored,
            explaining=len(self.found.furthest),
            nodes=self.found.nodes,
            steps=self.found.steps,
            seconds=time.monotonic() - self.started,
            stopped=self.stopped,
            world=world_line(
                load_check(self.asked.spec, self.asked.check, options.settings), made.sizes
            ),
            notes=tuple(self.notes),
            omitted=self.omitted,
            trace=_trace(run),
        )


def _trace(run: ReplayedRun | None) -> Trace | None:
    return None if run is None else run.trace


def _explained(timeline: Timeline, cursor: int) -> int:
    return sum(isinstance(item, Line) for item in timeline.items[:cursor])


def logged_in(timelines: Sequence[Timeline], mapping: NameMapping) -> frozenset[Logged]:
    """Returns what is logged: what occurs in some log, crashes and recoveries, and of other names
    what the mapping says, or else all events of the kinds that occur.

    Raises :class:`SpecError` (E076) where it says what is no kind of event.
    """
    found = {Logged(MARKS["crash"]), Logged(MARKS["recover"])}
    lines = [item for one in timelines for item in one.items if isinstance(item, Line)]
    found |= {line.logged for line in lines}
    if mapping.logged is not None:
        return frozenset(found | {_logged(text) for text in mapping.logged})
    return frozenset(found | {Logged(line.logged.kind) for line in lines})


def _logged(text: str) -> Logged:
    kind, _, name = text.partition(" ")
    if kind not in MARKS:
        message = f"`{text}` is no kind of event: write one of {', '.join(MARKS)}, and a name"
        raise SpecError((Diagnostic("E076", message),))
    return Logged(MARKS[kind], name.strip())


def silent_in(observation: Observation) -> tuple[str, ...]:
    """Returns which steps of the system a log says nothing of, in words."""
    system = observation.system
    marks = {number: system.marks[number] for number in passed_marks(system)}
    said = {one.kind for one in observation.logged}
    unlogged = [name for name in system.processes if not _has_log(observation, name)]
    kinds = {info.kind.value for info in marks.values() if info.kind in MARKS.values()}
    silent = sorted(kinds - {kind.value for kind in said})
    if unlogged:
        silent.append(f"everything at {', '.join(unlogged)}")
    return tuple(silent)


def _has_log(observation: Observation, process: str) -> bool:
    return any(timeline.process == process for timeline in observation.timelines)
