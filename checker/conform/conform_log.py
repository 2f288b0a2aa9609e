"""Whether a log is a log of a run of a check: from the files to the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker.conform.choices import noting_choices
from checker.conform.explain_events import EventExplainer, Observation
from checker.conform.lines import MARKS, Line, Logged, NeedsRoom, Resolver, Timeline, logged_of
from checker.conform.log_coverage import Seen, unseen
from checker.conform.obstacles import obstacles_at
from checker.conform.propose_steps import StepProposals
from checker.conform.read_log import Log, read_log
from checker.conform.reference_steps import Outgrown, ReferenceSteps
from checker.conform.replayed_run import ReplayedRun, replayed
from checker.conform.search import OFTEN, Found, Search, Steps
from checker.conform.windows import Red, first_red, score
from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count, listing
from checker.engines import budgets
from checker.engines.options import Options
from checker.engines.registry import resolved_name
from checker.extensions.tables import DEFAULT, DEFINITION
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.sizes import Sizes
from checker.language.syntax import typed
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Const, Local, Mark, MarkKind, Members, TransitionSystem
from checker.model.memo import a_run
from checker.model.tree import statements
from checker.records import replace
from checker.results.answer import Listener, Progress, Unsupported, stop_reason
from checker.results.conformance import Conformance, LogOfProcess
from checker.results.step_proposals import StepProposal
from checker.results.trace import Header, Trace
from checker.results.verdict import Word
from checker.results.windows import Unseen, WindowScore
from checker.session.load import load_check
from checker.session.next_steps import steps_after_log
from checker.session.trace_header import OF_A_LOG, for_a_log, header_of
from checker.session.world_line import world_line
from checker.simulate.prepared_check import PreparedCheck
from checker.words.unjudged import diagnosed

if TYPE_CHECKING:
    from checker.language.load import Spec

RECORDED = frozenset(MARKS.values())
"""The kinds of events that a line can record."""

REPLAYED = 2_000
"""So many steps of a run, the last ones, are replayed and are the trace, unless another number is
asked."""
FEW = 200
"""The number of nodes that the interpreter searches before native code is compiled."""
PER_LINE = 20
"""The largest number of nodes per line that are searched for a run to a line that is rejected."""
MOST_ENLARGED = 6
"""The largest number of times that guessed capacities are enlarged for a process alone."""


class Asked(Struct, frozen=True):
    """What is asked of a log.

    ``replay``: how many steps of a run are replayed by the interpreter, and become a trace: the
    last ones.  ``windows``: whether the log is scored by windows, too; with
    ``coverage``, runs are sought for what no window shows.  ``proposals``: whether a
    mapping is sought that would explain a log with red windows.
    """

    spec: Spec | str
    check: str | None
    options: Options
    mapping: LogMapping = NO_MAPPING
    replay: int = REPLAYED
    windows: bool = False
    coverage: bool = False
    proposals: bool = False

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
                conforming = _Conforming(asked, log, _open(asked), listener, started)
                observation = conforming.observation()
        except KeyboardInterrupt as error:
            return not_begun(asked, log, stop_reason(error), time.monotonic() - started)
        return conforming.with_coverage(conforming.report(observation))


def not_begun(asked: Asked, log: Log, why: str, seconds: float) -> Conformance:
    """Returns the report where ``log`` was not read, or its check not made, because of ``why``."""
    return Conformance(
        file=str(asked.spec),
        check=asked.check or "",
        parameters={},
        engine=resolved_name(asked.options.engine),
        word=Word.UNKNOWN,
        sentence=f"{why} before the search began",
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
        next_steps=steps_after_log(why, asked.options, (), windows=asked.windows),
    )


class Opened(Struct, frozen=True):
    """A check: ``whole``, and prepared ``without`` its properties, which need not hold."""

    asked: Asked
    whole: typed.Check
    without: PreparedCheck

    def serves(self, asked: Asked) -> bool:
        """Returns whether the same check was already opened for another log.  A path is not enough:
        the file may be another one by now."""
        mine, options = self.asked, asked.options
        return (
            not isinstance(asked.spec, str)
            and asked.spec is mine.spec
            and asked.check == mine.check
            and options.settings == mine.options.settings
            and options.fine_steps == mine.options.fine_steps
        )


_last: list[Opened] = []
"""The check that the log before was held to."""


def _open(asked: Asked) -> Opened:
    """Returns the check, from the log before where it is the same."""
    if not (_last and _last[0].serves(asked)):
        _last[:] = [open_check(asked)]
    return _last[0]


def open_check(asked: Asked) -> Opened:
    """Returns the check that is asked, opened anew; raises :class:`SpecError`."""
    whole = load_check(asked.spec, asked.check, asked.options.settings)
    return Opened(asked, whole, _without_properties(asked, whole))


def _without_properties(asked: Asked, whole: typed.Check) -> PreparedCheck:

    def header(made: Instantiated) -> Header:
        found = header_of(str(asked.spec), whole, made, asked.options)
        return replace(found, settings={**found.settings, OF_A_LOG: "yes"})

    settings, fine = asked.options.settings, asked.options.fine_steps
    return PreparedCheck(for_a_log(whole), settings, header, fine=fine)


class _Enlarged(Exception):
    """The system was replaced by a larger one."""


class _Conforming:
    """One log and one check."""

    def __init__(
        self,
        asked: Asked,
        log: Log,
        opened: Opened,
        listener: Listener | None,
        started: float,
    ) -> None:
        self.asked, self.log, self.opened, self.whole = asked, log, opened.without, opened.whole
        self.listener, self.started = listener, started
        self.engine = resolved_name(asked.options.engine)
        self.search: Search[Any] | None = None
        self.found: Found[Any] = Found()
        self.red: Red | None = None
        self.windows: WindowScore | None = None
        self.seen = Seen()
        self.decided_by = self.engine
        self._enlarged = 0
        self.stopped: str | None = None
        self.notes: list[str] = [*log.skipped]
        self.omitted = 0
        self._shown: Callable[[Any], State] = lambda state: state

    def report(self, observation: Observation) -> Conformance:
        if not observation.lines:
            self.windows = WindowScore() if self.asked.windows else None
            return self._made(observation, Word.VACUOUS, "the log records no event")
        try:
            observation = self._search(observation)
        except KeyboardInterrupt as error:
            self.stopped = stop_reason(error)
        if self.found.complete:
            run = self._replay(observation)
            if run is not None:
                self.seen.add_run(observation.system, zip(run.states, run.steps, strict=False))
            said = f"all {count(observation.lines, 'line')} are explained by a run of this check"
            return self._made(observation, Word.HOLDS, said, run)
        if self.stopped is not None:
            said = f"{self.stopped}; so far {self.found.explained:,} lines are explained"
            report = self._made(observation, Word.UNKNOWN, said)
            asked, why = self.asked, self.stopped
            steps = steps_after_log(why, asked.options, report.silent, windows=asked.windows)
            return replace(report, next_steps=steps)
        report = self._violated(observation)
        return replace(report, proposals=self._proposals()) if self.asked.proposals else report

    def with_coverage(self, report: Conformance) -> Conformance:
        """Adds what no window covers to ``report``, if asked and time is left."""
        if not self.asked.coverage or report.windows is None:
            return report
        found: list[Unseen] = []
        error = budgets.ended(lambda: found.extend(unseen(self.opened, self.seen)))
        if error is not None:
            note = f"no runs were sought for what no window shows: {stop_reason(error)}"
            return replace(report, notes=(*report.notes, note))
        return replace(report, windows=replace(report.windows, unseen=tuple(found)))

    def _violated(self, observation: Observation) -> Conformance:
        if self.red is not None:
            return self._rejected(observation, self.red)
        explained, lines = self.found.explained, observation.lines
        said = (
            f"no run of this check has this log: {explained:,} of {count(lines, 'line')}"
            f" are explained, and no step explains another one"
        )
        self._prefer_few_faults()
        run = self._replay(observation)
        report = self._made(observation, Word.VIOLATED, said, run)
        if run is None:
            return report
        explainer = EventExplainer(observation)
        found = obstacles_at(observation, explainer, self.found.furthest[0].cursors, run)
        return replace(report, obstacles=found)

    def _rejected(self, observation: Observation, red: Red) -> Conformance:
        """Returns the report on a log with a line that no step of its process explains."""
        row, found = red.window.line.row, red.obstacle
        said = (
            f"no run of this check has this log: no step of {row.process} explains"
            f" {row.file}:{row.number}, whatever the other processes do"
        )
        run = self._replay(observation) if self.found.reached else None
        if run is not None:
            cursors = self.found.furthest[0].cursors
            every = obstacles_at(observation, EventExplainer(observation), cursors, run)
            own = next(each for each in every if each.line.process == row.process)
            known = [each.why for each in found.candidates if each.why]
            others = (c for c in own.candidates if not any(why in c.text for why in known))
            found = replace(own, candidates=(*found.candidates, *others))
        report = self._made(observation, Word.VIOLATED, said, run)
        return replace(report, obstacles=(found,))

    def _proposals(self) -> tuple[StepProposal, ...]:
        """Returns proposals for the mapping, as many as are found in the time left."""
        found: list[StepProposal] = []
        seeking = StepProposals(
            self.opened.system, self.log, self.asked.mapping, self.observation, self._explains
        )
        budgets.ended(lambda: found.extend(seeking.found()))
        return tuple(found)

    def _explains(self, observation: Observation) -> bool | None:
        """Returns whether a run explains a log, as far as a short search finds out."""
        steps = ReferenceSteps(observation.system, EventExplainer(observation))
        search: Search[Any] = Search(steps, observation, lambda _: None)
        try:
            ended = search.run(FEW + 2 * observation.lines)
        except (Outgrown, RunFault):
            return None
        return search.found.complete if ended else None

    # ---- the search -----------------------------------------------------------------------

    def observation(self, mapping: LogMapping | None = None) -> Observation:
        """Returns what is logged, in terms of the present system, or of a larger one if values in
        the log need that; with another ``mapping``, if it is given."""
        mapping = mapping or self.asked.mapping
        says_choices = any("chosen" in row.data for rows in self.log.rows.values() for row in rows)
        self.opened.change = noting_choices if says_choices else None
        while True:
            try:
                system = self.opened.system
                timelines = Resolver(system, mapping).timelines(self.log)
                break
            except NeedsRoom as small:
                if not self.opened.make_room(small.capacity, small.size):
                    raise
        unlogged = frozenset(logged_of(text) for text in mapping.unlogged)
        logged = logged_in(timelines, mapping, self.opened.made.sizes)
        return Observation(system, timelines, logged, unlogged)

    def _search(self, observation: Observation) -> Observation:
        """Searches in the smallest system whose guessed capacities are large enough."""
        self._require_engine()
        while True:
            try:
                with budgets.raising_when_exhausted():
                    self._decide(observation)
                return observation
            except _Enlarged:
                observation = self.observation()
            except Outgrown as small:
                if not self.opened.fit(small.fault):
                    self.stopped = f"{small.fault.message}, and it grows without end"
                    return observation
                observation = self.observation()
            except RunFault as fault:
                if not self.opened.fit(fault):
                    raise diagnosed(observation.system, fault) from None
                observation = self.observation()

    def _decide(self, observation: Observation) -> None:
        """Scores the log, if that is asked for, and searches.

        The interpreter searches a few nodes.  The engine that is asked for searches as many as
        there are lines, which suffices if each step explains the next line.  Then each process is
        judged alone, and if none is red, the search goes on to its end.
        """
        if self.asked.windows:
            scored = score(observation)
            self.windows, self.seen = scored.score, scored.seen
            self._fit(scored.small)
        few = ReferenceSteps(observation.system, EventExplainer(observation))
        if self._searched(observation, few, FEW):
            self.decided_by = DEFINITION
            return
        steps = self._steps(observation)
        if self._searched(observation, steps, FEW + observation.lines):
            return
        self.red, small = first_red(observation)
        self._fit(None if self.red else small)
        if self.red is None:
            assert self.search is not None
            self.search.run()  # from where it stopped
        else:
            goal = self.red.number, self.red.window.at
            self._searched(observation, steps, FEW + PER_LINE * observation.lines, goal)

    def _fit(self, small: RunFault | None) -> None:
        """Begins again in a larger system, if a process alone needs more room than was guessed."""
        if small is not None and self._enlarged < MOST_ENLARGED and self.opened.fit(small):
            self._enlarged += 1
            raise _Enlarged

    def _searched(
        self,
        observation: Observation,
        steps: Steps[Any],
        most: int | None = None,
        goal: tuple[int, int] | None = None,
    ) -> bool:
        """Searches by ``steps`` for at most ``most`` nodes; returns whether that decides."""
        search: Search[Any] = Search(steps, observation, self._tell, self._often, goal)
        self.search, self.found, self._shown = search, search.found, steps.shown
        return search.run(most)

    def _require_engine(self) -> None:
        if self.engine not in (DEFAULT, DEFINITION):
            message = f"the {self.engine} engine does not support logs"
            hint = f"try --engine {DEFAULT} or --engine {DEFINITION}"
            raise SpecError((Diagnostic("E007", message, hint=hint),))

    def _steps(self, observation: Observation) -> Steps[Any]:
        explainer = EventExplainer(observation)
        if self.engine == DEFINITION:
            return ReferenceSteps(observation.system, explainer)
        from checker.conform.native_steps import NativeSteps

        try:
            return NativeSteps(observation.system, explainer)
        except Unsupported as why:
            note = f"searched by the interpreter, which is slower: no native form: {why}"
            if note not in self.notes:
                self.notes.append(note)
            self.decided_by = DEFINITION
            return ReferenceSteps(observation.system, explainer)

    @property
    def _often(self) -> int:
        """After how many nodes budgets are looked at."""
        return min(OFTEN, self.asked.options.limits.max_states or OFTEN)

    def _tell(self, found: Found[Any]) -> None:
        limits = self.asked.options.limits
        if limits.max_states is not None and found.nodes >= limits.max_states:
            raise KeyboardInterrupt(limits.no_more_states)
        if self.listener is not None:
            seconds = time.monotonic() - self.started
            said = f"{found.explained:,} lines explained"
            self.listener(Progress(found.nodes, 0, 0, seconds, 0, said))

    # ---- what is said of it ---------------------------------------------------------------

    def _prefer_few_faults(self) -> None:
        """Puts the explanation with the fewest faults first, unless there is no time left."""
        error = budgets.ended(self._put_fewest_faults_first)
        if error is not None:
            self.notes.append(
                f"the explained prefix may not have the fewest faults: {stop_reason(error)}"
            )

    def _put_fewest_faults_first(self) -> None:
        assert self.search is not None
        best = self.search.fewest_faults()
        others = [
            n for n in self.found.furthest if (n.state, n.cursors) != (best.state, best.cursors)
        ]
        self.found.furthest = [best, *others]

    def _replay(self, observation: Observation) -> ReplayedRun | None:
        """Returns the run to the first of the furthest nodes, its last steps replayed by the
        interpreter, unless there is no time left."""
        run = self.found.furthest[0].run()
        before = max(len(run) - 1 - self.asked.replay, 0)
        if before:
            self.notes.append(
                f"the first {count(before, 'step')} of {len(run) - 1:,} were not replayed by the"
                f" interpreter: use --replay {len(run) - 1}"
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
        made = self.opened.made
        header = self.opened.header
        cursors = self.found.furthest[0].cursors if self.found.furthest else observation.start
        return Conformance(
            file=header.file,
            check=header.check,
            parameters=header.parameters,
            engine=self.decided_by,
            word=word,
            sentence=said,
            logs=self.log.files,
            run=self.log.run,
            read=self.log.read,
            processes=tuple(
                LogOfProcess(timeline.process, timeline.lines, _explained(timeline, cursor))
                for timeline, cursor in zip(observation.timelines, cursors, strict=True)
            ),
            logged=logged_texts(observation),
            silent=silent_in(observation),
            gaps=tuple(self.log.gaps),
            ignored=self.log.ignored,
            explaining=len(self.found.furthest),
            nodes=self.found.nodes,
            steps=self.found.steps,
            seconds=time.monotonic() - self.started,
            stopped=self.stopped,
            world=world_line(self.whole, made.sizes),
            notes=tuple(self.notes),
            omitted=self.omitted,
            trace=_trace(run),
            windows=self.windows,
        )


def _trace(run: ReplayedRun | None) -> Trace | None:
    return None if run is None else run.trace


def _explained(timeline: Timeline, cursor: int) -> int:
    return sum(isinstance(item, Line) for item in timeline.items[:cursor])


def logged_in(
    timelines: Sequence[Timeline], mapping: LogMapping, sizes: Sizes
) -> tuple[frozenset[Logged], ...]:
    """Returns for each process which events its log has: the crashes and recoveries; the names that
    occur in a log of its role; and all events of the kinds that occur there, unless the mapping
    lists what is logged.  Processes of a role run the same code, so what one of them logs is missed
    in the log of another.

    Raises :class:`SpecError` (E097) where the mapping names no kind of event.
    """
    crashes = {Logged(MARKS["crash"]), Logged(MARKS["recover"])}
    listed = None if mapping.logged is None else {logged_of(text) for text in mapping.logged}
    logged: list[frozenset[Logged]] = [frozenset(crashes)] * len(sizes.processes)
    for role in sizes.roles or (sizes.role(None),):
        members = sizes.processes[role.first : role.first + role.size]
        occurring = {
            item.logged
            for timeline in timelines
            if timeline.process in members
            for item in timeline.items
            if isinstance(item, Line)
        }
        kinds = {Logged(one.kind) for one in occurring} if listed is None else listed
        for rank in range(role.first, role.first + role.size):
            logged[rank] = frozenset(crashes | occurring | kinds)
    return tuple(logged)


def logged_texts(observation: Observation) -> tuple[str, ...]:
    """Returns which events are logged, in words; with the processes where not all log them."""
    logging: dict[str, list[str]] = {}
    for process, logged in _with_logs(observation).items():
        for one in logged:
            logging.setdefault(one.text, []).append(process)
    return tuple(text + _by(observation, logging[text]) for text in sorted(logging))


def silent_in(observation: Observation) -> tuple[str, ...]:
    """Returns which steps of the system the logs do not record, in words."""
    system, logs = observation.system, _with_logs(observation)
    silent = []
    for kind, ranks in sorted(_acting(system).items()):
        acting = [name for name in logs if system.processes.index(name) in ranks]
        without = [name for name in acting if all(one.kind is not kind for one in logs[name])]
        if without:
            silent.append(kind.value + ("" if without == acting else _by(observation, without)))
    unlogged = [name for name in system.processes if name not in logs]
    return (*silent, *([f"everything at {', '.join(unlogged)}"] if unlogged else []))


def _acting(system: TransitionSystem) -> dict[MarkKind, set[int]]:
    """Returns for each kind of event that a log can record the processes that may have it: those
    of the role whose handler it is in, where the code says so, and else all."""
    acting: dict[MarkKind, set[int]] = {}
    everyone = set(range(len(system.processes)))
    for action in system.actions:
        domains = {param.name: param.domain for param in action.params}
        for stmt in statements(action.body):
            if not isinstance(stmt, Mark) or (kind := system.marks[stmt.mark].kind) not in RECORDED:
                continue
            ranks = everyone
            if stmt.args and isinstance(who := stmt.args[0], Local):
                match domains.get(who.name):
                    case Members(of=Const(value=frozenset() as members)):
                        ranks = {rank for rank in members if isinstance(rank, int)}
            acting.setdefault(kind, set()).update(ranks)
    return acting


def _with_logs(observation: Observation) -> dict[str, frozenset[Logged]]:
    """Returns which events are logged by each process that has a log."""
    ranks = {name: rank for rank, name in enumerate(observation.system.processes)}
    return {
        timeline.process: observation.logged[ranks[timeline.process]]
        for timeline in observation.timelines
    }


def _by(observation: Observation, processes: list[str]) -> str:
    """Returns which ``processes`` are meant, in words; nothing where they are all with a log."""
    return "" if len(processes) == len(observation.timelines) else f" by {listing(processes)}"
