"""From the files of a log to the report on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from msgspec import Struct, field

from checker.audit.arrow_engine import ArrowEngine
from checker.audit.arrow_log import ArrowLog, load
from checker.audit.columns import COLUMNS, Kind, Kinds, Role, kinds_of, operators_of
from checker.audit.declared import Declared, declared
from checker.audit.engine import Engine
from checker.audit.files import LogFile, find_files
from checker.audit.judge import Answer, answer
from checker.audit.manifest import Manifest
from checker.audit.processes import (
    Grace,
    ProcessState,
    process_states,
    runs_of,
    table_of,
)
from checker.audit.questions import Question, Refused, questions_of, require_known
from checker.audit.reading import Reader
from checker.audit.required_roles import require_roles
from checker.audit.restrict import Restriction, restrict
from checker.audit.tables import Tables
from checker.audit.violations import SCHEMA, violations_table
from checker.audit.witnesses import Witnesses
from checker.audit.wording import Words
from checker.diagnostics import Diagnostic
from checker.engines import budgets
from checker.engines.cluster import Cluster
from checker.extensions.tables import ON_CLUSTER
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.results.answer import stop_reason
from checker.results.logs import LoggedProcess, LogSummary
from checker.results.origin import with_origins
from checker.results.trace import Trace
from checker.results.verdict import PropertyVerdict, Report, Word

KEPT = 1_000_000
"""How many findings of a kind are kept, at most."""

READING = "reading"
"""What is done while the log is read, as progress says it."""

Progress = Callable[[str, int], None]


class Request(Struct, frozen=True):
    """What is asked: the ``names`` of files and folders, the name of the ``interface``.

    ``over``: further questions such as ``exactly_once over effects``; ``only``: properties that are
    asked alone, if any.
    """

    names: tuple[str, ...]
    interface: str
    over: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    mapping: LogMapping = NO_MAPPING
    manifest: Manifest = field(default_factory=Manifest)
    grace: Grace = field(default_factory=Grace)
    restriction: Restriction = field(default_factory=Restriction)


class Audit(Struct):
    """The result of an audit: the report, the violations as a table, and warnings about the log."""

    report: Report
    violations: pa.Table
    warnings: list[Diagnostic]

    def to_arrow(self) -> pa.Table:
        """Returns the verdicts as a table; the ``violations`` are one already."""
        return self.report.to_arrow()

    def to_pandas(self) -> Any:
        """Returns the same as a ``pandas.DataFrame``; raises :class:`SpecError` (E128)."""
        return self.report.to_pandas()

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the report."""
        return self.report._repr_html_()


def audit(
    request: Request,
    progress: Progress = lambda what, rows: None,
    cluster: Cluster | None = None,
) -> Audit:
    """Asks the properties of an interface of a log: here, over Arrow tables, or on ``cluster``.

    Raises :class:`SpecError`: E045 for a property that is not asked of such logs, E080 to E089 for
    logs, mappings, manifests and names that can't be used, E020 to E029 for a cluster.
    """
    about = declared(request.interface)
    require_known(about, request.over, request.only)
    kinds = kinds_of(about.interface, request.mapping.kinds)
    request.mapping.require_known("kind", kinds, "a kind of event")
    others = (request.mapping.file, request.manifest.file)
    is_text = request.mapping.lines is not None
    files = find_files(request.names, tuple(name for name in others if name), is_text=is_text)
    began = time.monotonic()
    rows, is_asking = 0, False

    def told(what: str, number: int) -> None:
        nonlocal rows, is_asking
        rows = number if what == READING else rows
        is_asking = what != READING
        progress(what, number)

    try:
        if cluster is not None:
            from checker.audit.on_spark import audit_on_spark

            found = audit_on_spark(request, about, kinds, files, cluster, told)
        else:
            found = _here(request, about, kinds, files, told)
    except KeyboardInterrupt as problem:
        if is_asking:
            raise
        engine = ArrowEngine.name if cluster is None else ON_CLUSTER
        read = Read(len(files), rows, (), began, time.monotonic() - began)
        found = _nothing_asked(request, about, engine, read, stop_reason(problem))
    return found


def _here(
    request: Request,
    about: Declared,
    kinds: Kinds,
    files: list[LogFile],
    progress: Progress,
) -> Audit:
    """Asks over Arrow tables, in this process."""
    began = time.monotonic()
    reader = Reader(request.mapping, operators_of(about.interface))
    with budgets.raising_when_exhausted():
        log = load(files, reader, kinds, lambda rows: progress(READING, rows))
    read = Read(len(files), log.events.num_rows, _kinds(log), began, time.monotonic() - began)
    torn = {process: file.path for process, file in log.torn.items()}
    asked = ask(ArrowEngine(log), about, request, torn, pa.int32(), progress)
    return asked.audit(request, read, reader.warnings)


def _nothing_asked(request: Request, about: Declared, engine: str, read: Read, why: str) -> Audit:
    """Returns the report of an audit that was ended before anything could be asked."""
    known = frozenset(COLUMNS) - {"payload_hash"}
    questions, refused = questions_of(about, request.over, known, request.only)
    verdicts = tuple(
        PropertyVerdict(question.name, question.definition, Word.UNKNOWN, reason=why)
        for question in questions
    )
    verdicts += _of_refused(refused, request)
    summary = LogSummary(
        read.files, read.rows, 0, (), scope=request.restriction.said, reading=read.seconds
    )
    report = Report(
        _called(request),
        about.name,
        {},
        engine,
        False,
        with_origins(verdicts, about.properties),
        seconds=time.monotonic() - read.began,
        exhaustive=False,
        stopped=why,
        log=summary,
        notes=("no property was checked: the run stopped while reading the log",),
    )
    return Audit(report, SCHEMA.empty_table(), _warnings(about, refused))


def _called(request: Request) -> str:
    """Returns what the log is called."""
    return request.names[0] if len(request.names) == 1 else f"{request.names[0]}, ..."


def _of_refused(refused: list[Refused], request: Request) -> tuple[PropertyVerdict, ...]:
    """Returns the verdicts on properties that can't be asked: those that were asked for by name,
    and an author's own."""
    return tuple(
        PropertyVerdict(each.name, each.definition, Word.UNKNOWN, reason=each.why)
        for each in refused
        if request.only or each.warning is not None
    )


def _warnings(about: Declared, refused: list[Refused]) -> list[Diagnostic]:
    """Returns the warnings about the properties of a file."""
    unasked = (each.warning for each in refused)
    return [*about.warnings, *(warning for warning in unasked if warning is not None)]


class Read(Struct, frozen=True):
    """What was read: ``files``, ``rows``, how many of which kinds; when that ``began``, on the
    clock of ``time.monotonic``, and the seconds that it took."""

    files: int
    rows: int
    kinds: tuple[tuple[str, int], ...]
    began: float
    seconds: float


class Asked(Struct):
    """The answers of an engine: of each property, and what could not be asked."""

    engine: Engine
    about: Declared
    states: list[ProcessState]
    answers: list[Answer]
    refused: list[Refused]
    notes: list[str]

    def audit(self, request: Request, read: Read, warnings: list[Diagnostic]) -> Audit:
        """Returns the report on the log, with its witnesses, and all findings."""
        interface = self.about.interface
        words = Words(self.engine, interface)
        witnesses = Witnesses(self.engine, interface, words, self.states, _called(request))
        traces, violations = self._shown(witnesses)
        try:
            report = self._report(request, read, traces)
        except KeyboardInterrupt as problem:  # what was found is said all the same
            self.notes.append(f"it was stopped after all checks: {stop_reason(problem)}")
            report = self._report(request, read, traces)
        return Audit(report, violations, [*_warnings(self.about, self.refused), *warnings])

    def _report(self, request: Request, read: Read, traces: dict[int, list[Trace]]) -> Report:
        verdicts = tuple(_verdict(each, traces.get(id(each), [])) for each in self.answers)
        verdicts += _of_refused(self.refused, request)
        shown = {verdict.property for verdict in verdicts}
        not_asked = [each for each in self.refused if each.name not in shown]
        summary = LogSummary(
            read.files,
            read.rows,
            len({state.run for state in self.states}),
            tuple(_logged(state) for state in self.states if state.rows or state.gaps),
            read.kinds,
            request.restriction.said,
            read.seconds,
            "",
            tuple(f"{each.name}: {each.why}" for each in not_asked),
        )
        return Report(
            _called(request),
            self.about.name,
            {},
            self.engine.name,
            False,
            with_origins(verdicts, self.about.properties),
            seconds=time.monotonic() - read.began,
            exhaustive=True,
            log=summary,
            notes=tuple(self.notes),
        )

    def _shown(self, witnesses: Witnesses) -> tuple[dict[int, list[Trace]], pa.Table]:
        """Returns the traces of each answer, and all findings; less where that takes too long, of
        which there is a note then."""
        traces: dict[int, list[Trace]] = {}
        try:
            with budgets.raising_when_exhausted(late=True):
                for answer in self.answers:
                    traces[id(answer)] = witnesses.of(answer)
                return traces, violations_table(self.engine, self.answers)
        except KeyboardInterrupt as problem:
            self.notes.append(f"some findings are not shown: {stop_reason(problem)}")
            return traces, SCHEMA.empty_table()


def ask(
    engine: Engine,
    about: Declared,
    request: Request,
    torn: dict[Any, str],
    kind: pa.DataType,
    progress: Progress,
) -> Asked:
    """Asks an engine, which has the log's events, all properties; ``kind``: the Arrow type of its
    values of processes."""
    with budgets.raising_when_exhausted():
        states = _prepare(engine, request, torn, kind)
    questions, refused = questions_of(about, request.over, engine.columns, request.only)
    require_roles(engine, questions, about.interface)
    words, seen = Words(engine, about.interface), _Seen(engine, states)
    answers: list[Answer] = []
    try:
        for question in questions:
            progress(question.name, 0)
            said = request.restriction.said
            with budgets.raising_when_exhausted():
                tables = seen.by(question)
                answers.append(answer(question, tables, states, words, said, KEPT))
            engine.forget(tables.shared)
    except KeyboardInterrupt as problem:
        why = stop_reason(problem)
        answers += [Answer(q, Word.UNKNOWN, why) for q in questions[len(answers) :]]
    return Asked(engine, about, states, answers, refused, _notes(request, states))


class _Seen:
    """The tables of questions: the same ones for those about the same requests and indications."""

    def __init__(self, engine: Engine, states: list[ProcessState]) -> None:
        self._engine, self._states = engine, states
        self._known: dict[tuple[Role, ...], Tables] = {}

    def by(self, question: Question) -> Tables:
        """Returns the tables that ``question`` is asked of."""
        apart = "operator" in self._engine.columns or question.rule.by_role
        roles = question.roles if apart else ()
        if roles not in self._known:
            self._known[roles] = Tables(self._engine, roles, self._states)
        return self._known[roles]


def _prepare(
    engine: Engine, request: Request, torn: dict[Any, str], kind: pa.DataType
) -> list[ProcessState]:
    """Makes known to an engine what is known of processes and runs, and leaves out what is not
    asked about; returns the former."""
    runs = {engine.process(value)[0] for value in engine.values()}
    known = {engine.process(value)[1] for value in engine.values()}
    for name in request.manifest.processes:
        if name not in known and not any(letter in name for letter in "*?["):
            for run in sorted(runs):
                engine.add_process(run, name)
    states = process_states(engine, engine.values(), request.manifest, torn, request.grace)
    engine.add("processes", table_of(states, kind))
    engine.add("runs", runs_of(states))
    restrict(engine, request.restriction)
    return states


def _verdict(answer: Answer, traces: list[Trace]) -> PropertyVerdict:
    """Returns the verdict on a property, with a witness for each kind of violation."""
    return PropertyVerdict(
        answer.question.name,
        answer.question.definition,
        answer.word,
        reason=answer.reason,
        within=answer.within,
        trace=traces[0] if traces else None,
        others=tuple(traces[1:]),
        of_others="each is shown once" if traces[1:] else "",
    )


def _notes(request: Request, states: list[ProcessState]) -> list[str]:
    """Returns what verdicts rest on that the log does not say."""
    notes = []
    if not request.manifest.file:
        notes.append(
            "no manifest: each log counts as complete up to its end, and processes"
            " without logs as absent"
        )
    silent = [s.name for s in states if s.rows and s.delivers and not s.indications]
    if silent and any(s.indications for s in states):
        few = ", ".join(silent[:5])
        notes.append(
            f"{few}: no indications; mark a process that receives no messages with"
            " `delivers = false` in the manifest"
        )
    return notes


def _logged(state: ProcessState) -> LoggedProcess:
    return LoggedProcess(state.run, state.name, state.rows, state.correct, tuple(state.gaps))


def _kinds(log: ArrowLog) -> tuple[tuple[str, int], ...]:
    counts = log.events["kind"].value_counts().to_pylist()
    found = [
        (Kind(row["values"]).name.lower(), row["counts"])
        for row in sorted(counts, key=lambda row: row["values"])
        if row["values"] != Kind.OTHER
    ]
    return (*found, *((f"{name} (not checked)", rows) for name, rows in log.other.items()))
