"""From the file of a history to the report on it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from checker.diagnostics.english import count
from checker.engines import budgets
from checker.histories.clocks import Clocks
from checker.histories.initial import Initial
from checker.histories.judging_transactions import STRICT, TRANSACTIONS, judge_transactions
from checker.histories.linearizability import Elsewhere, Part, decide, parts_of, reordered
from checker.histories.objects import Machines, find_object
from checker.histories.pairing import Operation, Shape, indeterminate, operations_of, with_keys
from checker.histories.reading import History, read_history
from checker.histories.refutations import Refutation, as_recorded, explain
from checker.histories.rows import FAIL
from checker.histories.steps import bind
from checker.histories.wording import refutation_of, undecided
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.records import replace
from checker.results.answer import stop_reason
from checker.results.judgement import Judgement
from checker.results.problems import problem_of
from checker.results.verdict import Word

LINEARIZABLE = "linearizable"


class Request(Struct, frozen=True):
    """What is asked: ``name`` of the object; ``model``: ``linearizable``, or that of transactions;
    ``shape`` and ``mapping``: how values become arguments; ``clock_error``: of the clocks of hosts,
    in nanoseconds, if it is known; ``initial``: operations before the history; ``assumed``: of
    transactions, what is not asked."""

    name: str
    model: str = LINEARIZABLE
    shape: Shape = field(default_factory=Shape)
    mapping: LogMapping = NO_MAPPING
    clock_error: int | None = None
    initial: tuple[Initial, ...] = ()
    assumed: tuple[str, ...] = ()


class Judge(Struct, frozen=True):
    """Judges histories as ``request`` says.

    ``machines``: those of the object, for all histories; ``None``: operations are transactions.
    ``elsewhere``: other processes that decide parts that are not decided soon, if there are any.
    """

    request: Request
    machines: Machines | None
    elsewhere: Elsewhere | None = None

    def judge(self, file: str) -> Judgement:
        """Judges the history in ``file``; limits and interrupts make it unknown.

        Raises :class:`SpecError`: E093 for a row that can't be read, E094 for calls without answers
        and answers without calls, E095 for what the object does not have.
        """
        with _no_collection():
            return self._judge(file)

    def _judge(self, file: str) -> Judgement:
        began = time.monotonic()
        report = Judgement(file, self.request.name, self.request.model, Word.UNKNOWN, "")
        try:
            with budgets.raising_when_exhausted():
                history = read_history(file, self.request.mapping)
                operations, report = self._read(history, report)
                clocks = Clocks(tuple(history.hosts), self.request.clock_error)
                report = replace(report, notes=clocks.notes(operations))
        except KeyboardInterrupt as problem:
            why = stop_reason(problem)
            return replace(report, sentence=f"not read to its end: {why}", stopped=why,
                           seconds=time.monotonic() - began)  # fmt: skip
        if self.machines is None:
            report = self._judged_transactions(operations, report, clocks)
        else:
            report = self._judged(self.machines, operations, report, clocks)
        return replace(report, seconds=time.monotonic() - began)

    def _read(self, history: History, report: Judgement) -> tuple[list[Operation], Judgement]:
        made = operations_of(history, self.request.mapping.ignored)
        warnings = tuple(map(problem_of, history.warnings))
        ignored = history.skipped + made.ignored
        whole = {row.call for row in history.rows} if history.hosts else history.rows
        rows = len(whole) + history.skipped
        failed = sum(
            one.outcome == FAIL and one.f not in self.request.shape.fail_means_false
            for one in made.found
        )
        return made.found, replace(
            report, format=history.format, rows=rows, ignored=ignored, warnings=warnings,
            failed=failed, operations=len(made.found) - failed,
            indeterminate=indeterminate(made.found),
        )  # fmt: skip

    def _judged_transactions(
        self, operations: list[Operation], report: Judgement, clocks: Clocks
    ) -> Judgement:
        """Judges transactions; where they have several clocks and real time matters, first in the
        order of all times: what holds in it holds in any that is less sure."""
        model, assumed = self.request.model, self.request.assumed
        found = judge_transactions(operations, model, report, assumed)
        is_timed = model == STRICT or bool(assumed)
        if not (clocks.are_several and is_timed and found.word is Word.VIOLATED):
            return found
        clocks.put_in_sure_order(operations)
        found = judge_transactions(operations, model, report, assumed)
        if found.word is not Word.HOLDS:
            return found
        why = "it depends on the order of operations that the clocks do not order"
        return replace(found, word=Word.UNKNOWN, sentence=f"{model}? {why}")

    def _judged(
        self, machines: Machines, operations: list[Operation], report: Judgement, clocks: Clocks
    ) -> Judgement:
        shape, parts = self.request.shape, list[Part]()
        refuted: Part | None = None
        try:
            with budgets.raising_when_exhausted():
                if shape.by_key:
                    with_keys(operations)
                bound = bind(machines.found, operations, shape)
                parts += parts_of(machines, bound, shape.by_key, self.request.initial)
                refuted = decide(parts, self.elsewhere)
                if refuted is not None and clocks.are_several:
                    parts = [
                        part if part.verdict else reordered(part, clocks.sure(part.bound))
                        for part in parts
                    ]
                    refuted = decide([p for p in parts if not p.verdict], self.elsewhere)
        except KeyboardInterrupt as problem:
            why = stop_reason(problem)
            refuted = next((part for part in parts if part.verdict is False), None)
            report = replace(report, stopped=None if refuted else why)
        report = replace(report, parts=len(parts), work=sum(part.reached.work for part in parts))
        if refuted is not None:
            return _violated(refuted, parts, report)
        return _not_violated(parts, report)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collects no garbage within the block: rows and configurations are no cycles of references,
    and there are many."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def judge_of(request: Request, elsewhere: Elsewhere | None = None) -> Judge:
    """Returns what judges histories, with ``elsewhere`` as in :class:`Judge`.

    Raises :class:`SpecError`: as :func:`find_object` does, and E097 where the mapping names an
    operation that the object does not have.
    """
    if request.name in TRANSACTIONS:
        return Judge(request, None)
    found = find_object(request.name)
    what = f"an operation of {found.name}"
    request.mapping.require_known("f", found.operations, what)
    request.mapping.require_results(found.operations, what)
    return Judge(request, Machines(found), elsewhere)


def _violated(part: Part, parts: Sequence[Part], report: Judgement) -> Judgement:
    found: Refutation | None = None
    notes: tuple[str, ...] = ()
    try:
        with budgets.raising_when_exhausted(late=True):
            found = explain(as_recorded(part))
        if part.sure is not None:
            notes = ("the operations are shown in the order of their times as recorded",)
    except KeyboardInterrupt as problem:
        notes += (f"the operations that show it were not found: {stop_reason(problem)}",)
    others = sum(each.verdict is None for each in parts)
    if others:
        notes += (f"{count(others, 'other key')} not decided: one violation decides the history",)
    return replace(
        report,
        word=Word.VIOLATED,
        sentence=f"not linearizable as {report.object}",
        refutation=None if found is None else refutation_of(found, report.file),
        notes=report.notes + notes,
    )


def _not_violated(parts: Sequence[Part], report: Judgement) -> Judgement:
    left = [part for part in parts if part.verdict is None]
    if report.stopped is not None:
        return replace(
            report,
            sentence=f"linearizable as {report.object}? {report.stopped}",
            undecided=tuple(undecided(part, report.file) for part in left),
        )
    certain = report.operations - report.indeterminate
    if not certain:
        why = "no operation has returned, so nothing is checked"
        return replace(report, word=Word.VACUOUS, sentence=why)
    return replace(report, word=Word.HOLDS, sentence=f"linearizable as {report.object}")
