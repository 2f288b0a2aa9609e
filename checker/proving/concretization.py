"""Concretizes executions of automata as executions of the check: replayed, judged, and
explained."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.extensions.tables import DEFAULT
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.instantiate.instantiated import Instantiated
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import holds
from checker.parametric.automaton.automaton import AcceleratedRun, Automaton, Question
from checker.parametric.automaton.concretize import ConcretizationFailed, concretize
from checker.records import replace
from checker.results.answer import Answer, Limits, Listener, Path
from checker.results.judge import judge
from checker.results.trace import Trace
from checker.results.verdict import Word
from checker.session.load import load_check
from checker.session.trace_header import header_of

EXPLORED = 300_000
"""States at most of a system that is explored since an execution could not be concretized."""

SECONDS = 20.0
"""Seconds at most for exploring it."""

SMALL = 5
"""A small system has no larger numbers, where that suffices."""


def numbers_of(automaton: Automaton, run: AcceleratedRun) -> dict[str, int]:
    """Returns the parameters of the finite system of ``run``."""
    return {name: value for name, value in run.values if name in automaton.parameters}


def sizes_text(numbers: Mapping[str, int]) -> str:
    """Returns ``n=4, T=1``."""
    return ", ".join(f"{name}={value}" for name, value in numbers.items())


class Finite(Struct):
    """The finite systems of a check about all sizes: ``written`` as the user has it, ``check``
    about all sizes."""

    spec: Spec
    written: typed.Check
    check: typed.Check
    options: Options
    made: dict[tuple[tuple[str, int], ...], Instantiated] = field(default_factory=dict)

    def settings(self, numbers: Mapping[str, int]) -> dict[str, str]:
        """Returns the settings for the system of ``numbers``."""
        settings = dict(self.options.settings)
        settings |= {name: str(value) for name, value in numbers.items()}
        if not self.written.every and "f" in numbers:
            for word in ("crash", "omission", "byzantine"):
                if getattr(self.check, word) != getattr(self.written, word):
                    settings[word] = str(numbers["f"])
        return settings

    def at(
        self, numbers: Mapping[str, int], grows: str | None = None
    ) -> tuple[typed.Check, Instantiated]:
        """Returns the system of ``numbers``, with its check; raises :class:`SpecError`.

        ``grows``: a capacity that has to be larger than it was.
        """
        from checker.properties.formula import ask

        settings = self.settings(numbers)
        check = load_check(self.spec, self.written.name, settings)
        key = tuple(sorted(numbers.items()))
        if key not in self.made or grows is not None:
            capacities = dict(self.made[key].capacities) if key in self.made else {}
            if grows is not None:
                capacities[grows] = enlarge_bound(capacities[grows])
            self.made[key] = instantiate(check, settings, ask, capacities=capacities)
        return check, self.made[key]

    def concretize_run(
        self,
        automaton: Automaton,
        question: Question,
        run: AcceleratedRun,
        numbers: Mapping[str, int],
    ) -> tuple[typed.Check, Instantiated, Path]:
        """Returns ``run`` in the system of ``numbers``, with capacities that are large enough;
        raises :class:`ConcretizationFailed` and :class:`SpecError`."""
        check, made = self.at(numbers)
        while True:
            try:
                return check, made, concretize(automaton, question, run, made.system)
            except ConcretizationFailed as lost:
                if lost.grows is None or made.capacities[lost.grows] >= maximum_bound(lost.grows):
                    raise
                check, made = self.at(numbers, lost.grows)

    def small(self, automaton: Automaton) -> Instantiated | None:
        """Returns the smallest system whose numbers satisfy the resilience condition, where a small
        one does."""
        for values in small_numbers(automaton, SMALL):
            try:
                return self.at(values)[1]
            except SpecError:
                continue
        return None


def small_numbers(automaton: Automaton, most: int) -> Iterator[dict[str, int]]:
    """Yields numbers up to ``most`` that satisfy the resilience condition, smallest first."""
    names = automaton.parameters
    for numbers in sorted(itertools.product(range(most + 1), repeat=len(names)), key=sum):
        values = dict(zip(names, numbers, strict=True))
        if values.get("n", 1) >= 1 and _spoken_of(automaton, values):
            yield values


def _spoken_of(automaton: Automaton, values: Mapping[str, int]) -> bool:
    try:
        return holds(automaton.resilience, values)
    except KeyError:  # the condition refers to a quotient
        return False


class Refuted(Struct, frozen=True):
    """The outcome of concretizing an execution: its ``trace``, or, without one, why there is none.

    ``holds``: the property holds at the execution's numbers, for their system was explored;
    ``stopped``: why it was ended meanwhile, if it was: an interrupt, or a budget.
    """

    trace: Trace | None
    reason: str
    holds: bool = False
    stopped: str = ""


def refute(
    finite: Finite,
    automaton: Automaton,
    question: Question,
    numbers: Mapping[str, int],
    runs: Iterable[AcceleratedRun],
    options: Options,
    listener: Listener | None,
) -> Refuted:
    """Returns the trace of the first of ``runs``, which violate ``question``, that is an execution
    of the finite system at their ``numbers``; where none is, that system is explored."""
    why = ""
    for run in runs:
        try:
            check, made, path = finite.concretize_run(automaton, question, run, numbers)
        except SpecError as error:
            said = error.diagnostics[0].message
            return Refuted(None, f"these sizes have no finite system: {said}")
        except ConcretizationFailed as lost:
            why = why or str(lost)
        else:
            settings = finite.settings(numbers)
            return _judge_path(finite, question, check, made, path, settings, options, listener)
    return explore_size(finite, question, numbers, options, listener, why)


def _judge_path(
    finite: Finite,
    question: Question,
    check: typed.Check,
    made: Instantiated,
    path: Path,
    settings: dict[str, str],
    options: Options,
    listener: Listener | None,
) -> Refuted:
    """Returns the replayed and judged ``path`` as a trace, explained where that is requested."""
    header = header_of(finite.spec.path, check, made, replace(options, settings=settings))
    prop = made.system.violated_part(question.property, lasso=path.loop is not None)
    assert prop is not None
    answer = Answer("z3", 0, 0, False, 0.0, violations={prop.name: path})
    (verdict, *_) = judge(replace(made.system, properties=(prop,)), answer, header)
    trace, reason = verdict.trace, verdict.reason
    if trace is not None and options.explain is not None:
        from checker.explain.counterfactual_queries import ExplainingBudget
        from checker.explain.explain import explain

        clock = ExplainingBudget(options.explain, options.threads, options.limits.memory, listener)
        trace = explain(made.system, trace, clock)
        return Refuted(trace, reason, stopped=clock.why_stopped)
    return Refuted(trace, reason)


def explore_size(
    finite: Finite,
    question: Question,
    numbers: Mapping[str, int],
    options: Options,
    listener: Listener | None,
    why: str,
) -> Refuted:
    """Returns the result of exploring the system of ``numbers``, where an execution could not be
    concretized in it."""
    from checker.session.pipeline import run_check

    seconds = min(options.limits.timeout or SECONDS, SECONDS)
    limits = Limits(EXPLORED, None, seconds, options.limits.memory)
    plain = replace(
        options, settings=finite.settings(numbers), engine=DEFAULT, limits=limits, kinds=1
    )
    report = run_check(finite.spec, finite.written.name, plain, listener)
    if report.was_interrupted:
        raise KeyboardInterrupt
    found = next((v for v in report.verdicts if v.property == question.property), None)
    if found is None:
        return Refuted(None, f"{why}; the finite system does not check it")
    if found.word is Word.VIOLATED and found.trace is not None:
        return Refuted(found.trace, found.reason)
    if found.word in (Word.HOLDS, Word.VACUOUS) and report.omission is None:
        said = f"{sizes_text(numbers)} ({report.distinct_states:,} states)"
        return Refuted(None, said, holds=True)
    return Refuted(None, f"{why}; exploring them: {found.reason}")
