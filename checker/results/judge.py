"""Judges an engine's answer: replays each violation and gives a verdict on each property."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from msgspec import Struct

from checker.diagnostics.english import count
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.answer import Answer, Path, stop_reason, without_run
from checker.results.assumptions import assumptions_of
from checker.results.bounds import limits_met, where_it_holds
from checker.results.origin import origin_of_property
from checker.results.phrases import restarts_text, unless_omitted
from checker.results.trace import ERRORS, Header, Trace
from checker.results.vacuity import vacuous
from checker.results.verdict import Expected, PropertyVerdict, Word, meets
from checker.results.walks import WalkSummary


def judge(
    system: TransitionSystem,
    answer: Answer,
    header: Header | None = None,
    expected: Mapping[str, str] | None = None,
    *,
    allow_unused: bool = False,
    idle: str = "",
    world: tuple[str, ...] = (),
    budgets: str = "",
) -> tuple[PropertyVerdict, ...]:
    """Returns the verdict on each property of ``system``, in order.

    ``expected`` gives the words that the check expects.  Every violation and error is replayed:
    raises :class:`checker.results.replay.ReplayMismatch` if the engine's execution is not one of
    the system.  A run-time error that no property's verdict carries gets a separate verdict,
    called ``ERRORS``.

    ``allow_unused``: unused handlers and messages do not make a verdict vacuous; ``idle``: why the
    clients make no request, if so; ``world``: what the check states of what is (not) assumed;
    ``budgets``: how often handlers may run in it.
    """
    words = expected or {}
    within = limits_met(system, answer)
    failed = None
    if answer.fault is not None:
        from checker.results.replay import replay

        try:
            failed = replay(system, answer.fault, None, header)
        except KeyboardInterrupt as error:
            answer = replace(answer, fault=None, exhaustive=False, stopped=stop_reason(error))
    verdicts = []
    for name in dict.fromkeys(prop.asked for prop in system.asked_properties):
        parts = system.parts_of(name)
        found = []
        for prop in parts:
            if prop.name in answer.violations:
                found.append(_of_path(system, answer.violations[prop.name], prop, header))
                break
            if failed is not None:
                found.append(_Finding(Word.ERROR, _of_failure(failed), failed))
                continue
            why = vacuous(system, answer, prop, allow_unused=allow_unused, idle=idle)
            word, reason = _without_trace(system, answer, prop, why, within)
            if word in (Word.HOLDS, Word.WITHIN, Word.VACUOUS):
                reason += f", with {budgets}" if budgets else ""
                reason += unless_omitted(answer.omission)
            found.append(_Finding(word, reason))
        verdict = _joined(system, parts, found, words.get(name), world, answer.up_to)
        if verdict.word in (Word.WITHIN, Word.BOUNDED):
            verdict = replace(verdict, within=within)
        verdicts.append(verdict)
    if failed is not None and all(v.word is not Word.ERROR for v in verdicts):
        reason = _of_failure(failed)
        verdicts.append(
            PropertyVerdict(ERRORS, "no run meets an error", Word.ERROR, None, reason, trace=failed)
        )
    return tuple(verdicts)


class _Finding(Struct, frozen=True):
    """What is found of one part of a property."""

    word: Word
    reason: str
    trace: Trace | None = None


GRAVEST = (
    Word.VIOLATED,
    Word.ERROR,
    Word.UNKNOWN,
    Word.BOUNDED,
    Word.VACUOUS,
    Word.WITHIN,
    Word.HOLDS,
)
"""The word of a conjunction is the first of these that one of its parts has."""


def _of_path(
    system: TransitionSystem, path: Path, prop: Property, header: Header | None
) -> _Finding:
    """Replays ``path``, which violates ``prop``."""
    from checker.results.replay import replay

    try:
        trace = replay(system, path, prop, header)
    except KeyboardInterrupt as error:
        return _Finding(Word.UNKNOWN, without_run(error))
    return _Finding(Word.VIOLATED, reason_of_violation(trace), trace)


def _joined(
    system: TransitionSystem,
    parts: tuple[Property, ...],
    found: list[_Finding],
    expected: str | None,
    world: tuple[str, ...],
    steps: int | None,
) -> PropertyVerdict:
    """Returns the verdict on the conjunction of ``parts``; ``found``: what is found of each, up to
    the first that is violated."""
    word = min((part.word for part in found), key=GRAVEST.index)
    same = [part for part in found if part.word is word]
    assumed = (text for prop in parts for text in assumptions_of(system, prop, world))
    return PropertyVerdict(
        parts[0].asked,
        parts[0].definition,
        word,
        expected,
        "; ".join(dict.fromkeys(why for part in same for why in part.reason.split("; "))),
        tuple(dict.fromkeys(assumed)),
        trace=same[0].trace,
        up_to=steps if word is Word.BOUNDED else None,
        origin=origin_of_property(parts[0]),
    )


def reason_of_violation(trace: Trace) -> str:
    """Returns for which values, and in what kind of execution, ``trace`` violates its property."""
    from checker.results.violation_witnesses import violated_text

    return f"{violated_text(trace.property_name, trace.witness)} ({_steps(trace)})"


def _of_failure(trace: Trace) -> str:
    failure = trace.failure
    assert failure is not None
    at = f" at {failure.file}:{failure.line}:{failure.column}" if failure.file else ""
    return f"the run meets an error{at}: {failure.message} ({failure.code}, {_steps(trace)})"


def _steps(trace: Trace) -> str:
    if trace.closing is not None:
        before = f"after {count(trace.loop, 'step')}" if trace.loop else "from the start"
        return f"in a lasso: {before} it repeats forever"
    if trace.loop is not None and trace.length:
        return f"in a run that ends after {count(trace.length, 'step')}"
    return "in the initial state" if trace.length == 0 else f"after {count(trace.length, 'step')}"


def _without_trace(
    system: TransitionSystem, answer: Answer, prop: Property, vacuous: str, within: str
) -> tuple[Word, str]:
    if answer.up_to is not None and not answer.exhaustive:
        return _judge_bounded(answer, prop, answer.up_to)
    if prop.name in answer.undecided:
        return Word.UNKNOWN, answer.undecided[prop.name]
    if answer.walks is not None:
        return Word.UNKNOWN, _of_walks(answer.walks, prop)
    if not answer.exhaustive:
        why = answer.stopped or "the search is not exhaustive"
        again = restarts_text(answer.restarts)
        return Word.UNKNOWN, "; ".join((_so_far(answer, prop), why, *([again] if again else ())))
    if vacuous and not answer.unseen:
        return Word.VACUOUS, vacuous
    word, where = _held(system, answer, prop, within)
    if vacuous:
        perhaps = f"perhaps vacuously: in the states explored, {vacuous}; {answer.unseen}"
        return Word.UNKNOWN, f"it holds {where}, but {perhaps}"
    return word, where


def _held(
    system: TransitionSystem, answer: Answer, prop: Property, within: str
) -> tuple[Word, str]:
    """Returns the verdict on a property that no execution violates."""
    match prop.kind:
        case PropertyKind.INVARIANT if within:
            return Word.WITHIN, where_it_holds(system, answer)
        case PropertyKind.INVARIANT:
            return Word.HOLDS, "in every reachable state"
        case PropertyKind.LIVENESS if within:
            return Word.WITHIN, f"in every fair run that stays within {within}"
        case PropertyKind.LIVENESS:
            return Word.HOLDS, "in every fair run"
        case _:
            assert_never(prop.kind)


def _of_walks(walks: WalkSummary, prop: Property) -> str:
    """Returns what random walks show about a property that none of them violates."""
    said = (
        f"no violation found in {count(walks.walks, 'walk')}, which says nothing about other runs"
    )
    if prop.kind is PropertyKind.LIVENESS:
        where = f"{count(walks.ends, 'state')} where a run might end"
        said += f"; liveness was judged only in {where}"
        said += ", since a walk that can continue violates nothing"
    return said


def _so_far(answer: Answer, prop: Property) -> str:
    """Returns what is known of a property that is not seen to fail; the states found last are not
    checked, and whole executions not level by level."""
    far = f"{count(answer.distinct_states, 'state')} to depth {answer.depth}"
    if prop.kind is PropertyKind.LIVENESS:
        return f"liveness is decided once all states are found, so far {far}"
    none = "no violation of its safety part" if prop.part_of else "no violation"
    if answer.judged < 0:
        return f"{none} in {far}"
    return f"{none} up to depth {answer.judged}, of {far} found"


def _judge_bounded(answer: Answer, prop: Property, steps: int) -> tuple[Word, str]:
    """Returns the verdict of an engine that checks executions up to a length, and not states."""
    why = answer.stopped or "longer runs were not explored"
    if prop.name in answer.undecided:
        return Word.UNKNOWN, answer.undecided[prop.name]
    return Word.BOUNDED, f"in every state of a run of up to {count(steps, 'step')}; {why}"


def compare(
    expectations: Iterable[tuple[str, str | int]],
    verdicts: Iterable[PropertyVerdict],
    answer: Answer,
) -> tuple[Expected, ...]:
    """Compares what a check expects with what was found.

    An expectation is about a property (a verdict's word), ``states`` (their number), or ``trace``
    (the number of steps of the shortest counterexample).
    """
    known = {v.property: v for v in verdicts}
    return tuple(_compare_expected(what, value, known, answer) for what, value in expectations)


def _compare_expected(
    what: str, value: str | int, known: Mapping[str, PropertyVerdict], answer: Answer
) -> Expected:
    if what in known:
        verdict = known[what]
        return Expected(what, str(value), verdict.label(), meets(verdict.word, str(value)))
    match what:
        case "states":
            states = str(answer.distinct_states)
            if not answer.exhaustive:
                return Expected(what, str(value), f"at least {states}", False)
            return Expected(what, str(value), states, states == str(value))
        case "trace":
            lengths = [v.trace.length for v in known.values() if v.trace is not None]
            length = str(min(lengths)) if lengths else "no counterexample"
            return Expected(what, str(value), length, length == str(value))
        case _:
            return Expected(what, str(value), "not checked", False)
