"""Answers the questions about chance of a check: its state graph, then each of them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.engines import budgets
from checker.engines.capabilities import Feature
from checker.engines.chance import ChanceGraph, ChanceProblem
from checker.engines.options import Options
from checker.engines.registry import can, engine_of, resolved_name
from checker.extensions.tables import AUTO, DEFINITION
from checker.instantiate.assemble import instantiate
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model.distributions import ImproperChance
from checker.properties.formula import ask
from checker.records import replace
from checker.results.answer import Limits, Listener, Unsupported, stop_reason
from checker.results.verdict import Expected, PropertyVerdict, Report, Word, meets
from checker.session.next_steps import with_steps_after_proof
from checker.session.run_engine import remaining_time
from checker.session.state_graphs import graph_of_check

if TYPE_CHECKING:
    from checker.chance.questions import Asked

UNWRITTEN = "E091"
"""The code of the page about decision processes that are not written."""


def chance_verdicts(
    check: typed.Check,
    options: Options,
    started: float | None = None,
    listener: Listener | None = None,
) -> tuple[PropertyVerdict, ...]:
    """Returns the verdicts on the questions about chance of a check, in order; *unknown* where the
    engine, a budget or a bound of the check leaves them open.

    ``started``: since when the time limit of the options counts, on ``time.monotonic``'s clock.

    Raises :class:`SpecError` for questions that make no sense.
    """
    if not check.chance:
        if options.drn_out is not None:
            hint = "use `almost surely` or `chance of`"
            message = f"the check `{check.name}` has no probabilistic query"
            raise SpecError((Diagnostic(UNWRITTEN, message, hint=hint),))
        return ()
    if check.bounds:
        why = "the check has a `bound`, and runs beyond it have probabilities, too"
        return _unknown(check, why, options)
    if not can(options.engine, Feature.CHANCE):
        note = engine_of(options.engine).ability(Feature.CHANCE).note
        name = resolved_name(options.engine)
        return _unknown(check, f"the {name} engine {note}: `--engine auto` computes it", options)
    try:
        left = options if started is None else remaining_time(options, started)
        return _known(check, left, options.limits, listener)
    except ImproperChance as wrong:
        at, place = None, wrong.place
        if place is not None:
            end = place.column + len("choose")  # as long as `flip()`
            at = Span(place.file, place.line, place.column, place.line, end)
        hint = "put `require`, `when` and the adversary's choices before the random choice"
        raise SpecError((Diagnostic("E067", wrong.why, at, hint=hint),)) from None
    except KeyboardInterrupt as error:
        return _unknown(check, stop_reason(error))


def with_chance(report: Report, verdicts: tuple[PropertyVerdict, ...]) -> Report:
    """Returns the report with verdicts on questions about chance, and what the check expects of
    them."""
    expected = tuple(
        Expected(v.property, v.expected, v.word.value, meets(v.word, v.expected))
        for v in verdicts
        if v.expected is not None
    )
    return replace(
        report,
        verdicts=(*report.verdicts, *verdicts),
        expectations=(*report.expectations, *expected),
    )


def with_unknown_chance(report: Report, check: typed.Check) -> Report:
    """Returns the report on a check that was ended before anything was known; its questions about
    chance are unknown, too."""
    return with_chance(report, _unknown(check, report.stopped or ""))


def not_by_proof(report: Report, check: typed.Check) -> Report:
    """Returns the report on a proof, with the check's questions about chance as unknown, and with
    next steps for whatever is not proved."""
    why = "a proof ignores probabilities: `bivalence check` computes them"
    return with_steps_after_proof(with_chance(report, _unknown(check, why)))


def _unknown(
    check: typed.Check, why: str, options: Options | None = None
) -> tuple[PropertyVerdict, ...]:
    """Returns that nothing is known of the questions of a check; ``options``: where the file that
    they ask for, if any, was not written, which is said, too."""
    if options is not None and options.drn_out is not None:
        why = f"{why}; nothing is written to `{options.drn_out}`"
    return tuple(
        PropertyVerdict(q.name, q.goal.document or q.name, Word.UNKNOWN, q.expected or None, why)
        for q in check.chance
    )


def _known(
    check: typed.Check, options: Options, limits: Limits, listener: Listener | None
) -> tuple[PropertyVerdict, ...]:
    from checker.chance.questions import asked_of
    from checker.chance.values import Precision
    from checker.chance.verdicts import verdict_of

    engine = engine_of(resolved_name(options.engine))
    formulas = tuple(formula for q in check.chance for formula in q.formulas)
    bare = replace(check, prove=formulas, expect=(), scenarios=(), invariants=())

    def make(capacities: Mapping[str, int]) -> Instantiated:
        return instantiate(
            bare, options.settings, ask, capacities=capacities, fine=options.fine_steps
        )

    def questions(made: Instantiated) -> list[Asked]:
        return [asked_of(made, question) for question in check.chance]

    def graph_of(made: Instantiated, left: Options) -> ChanceGraph:
        with budgets.raising_when_exhausted():
            conditions = tuple(c for q in questions(made) for c in q.conditions)
        whole = replace(made.system, view=None)
        problem = ChanceProblem(whole, left, conditions)
        try:
            return engine.chance(problem, listener)
        except Unsupported as why:
            if options.engine != AUTO:
                raise
            slower[:] = [f"; by the interpreter, which is slow: {why}"]
            return engine_of(DEFINITION).chance(problem, listener)

    slower: list[str] = []
    made, graph, stopped = graph_of_check(make, engine.name, graph_of, options)
    if stopped is not None:
        if limits.timeout is not None and stopped == options.limits.no_more_time:
            stopped = limits.no_more_time
        return _unknown(check, stopped, options)
    if options.drn_out is not None:
        _write_process(questions(made), graph, options.drn_out)
    first, found = 0, list[PropertyVerdict]()
    for asked in questions(made):
        with budgets.raising_when_exhausted():
            precision = Precision(options.precision, options.exact)
            verdict = verdict_of(asked, graph, first, precision)
            found.append(replace(verdict, reason=verdict.reason + "".join(slower)))
        first += len(asked.conditions)
    return tuple(found)


def _write_process(questions: list[Asked], graph: ChanceGraph, path: str) -> None:
    """Writes the decision process with the goals of its questions as labels: of the first
    goal of question 2 ``goal2``, of its second ``goal2_2``, of what holds until then ``until2``.
    """
    from checker.chance import drn
    from checker.chance.process import process_of

    labels, index = dict[str, AbstractSet[int]](), 0
    for number, asked in enumerate(questions, start=1):
        for position, goal in enumerate(asked.goals, start=1):
            which = f"{number}" if position == 1 else f"{number}_{position}"
            labels[f"goal{which}"] = graph.satisfying(index)
            index += 1
            if goal.until is not None:
                labels[f"until{which}"] = graph.satisfying(index)
                index += 1
    try:
        with open(path, "w", encoding="utf-8") as out:
            drn.write(process_of(graph.steps), out, labels)
    except OSError as error:
        message = f"can't write `{path}`: {error.strerror}"
        raise SpecError((Diagnostic(UNWRITTEN, message),)) from None
