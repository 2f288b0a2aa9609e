"""Compares what the engine and SPIN find of one check."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.results.answer import Answer, Limits
from checker.session.exploring import explore_once
from checker.session.load import load_check
from scripts.second_opinion.layout import Untranslatable
from scripts.second_opinion.program import program, size_of_node
from scripts.second_opinion.spin import Searched, Unsettled, Verifiers

SMALL = 5_000
"""A system of fewer states is searched in less time than optimised code takes to compile."""


class Fact(Struct, frozen=True):
    """Something that both found: ``kind`` of fact, what it is about, and both values."""

    kind: str
    about: str
    engine: object
    spin: object

    @property
    def agrees(self) -> bool:
        return self.engine == self.spin


class Opinion(Struct):
    """What was compared of a check, and why something was not."""

    name: str
    facts: list[Fact] = []
    reasons: list[str] = []

    @property
    def different(self) -> bool:
        """Whether both disagree on anything."""
        return not all(fact.agrees for fact in self.facts)

    @property
    def line(self) -> str:
        """The comparison in a line."""
        wrong = [
            f"{f.about or f.kind}: {f.engine} / SPIN {f.spin}" for f in self.facts if not f.agrees
        ]
        agreed = sum(fact.agrees for fact in self.facts)
        parts = [f"{agreed} agree"] * bool(agreed) + [f"DIFFERENT {each}" for each in wrong]
        return f"{self.name}: {'; '.join([*parts, *self.reasons])}"


def compare(
    file: str,
    check: str,
    verifiers: Verifiers,
    most: int,
    settings: Mapping[str, str] | None = None,
) -> Opinion:
    """Compares a check, with ``settings``, if it has at most that many states; the result may say
    why it was not compared."""
    opinion = Opinion(f"{file}::{check}", [], [])
    try:
        loaded = load_check(file, check, dict(settings or {}))
        if loaded.every:
            raise Untranslatable("a check of all sizes")
        limits = Limits(max_states=most + 1, timeout=20.0 * verifiers.seconds)
        options = Options(engine="native", reduce="none", threads=1, whole=True, limits=limits)
        made, answer = explore_once(loaded, options, None, None)
        if answer.stopped is not None:
            reason = (
                answer.stopped if "limit of" not in answer.stopped else f"more than {most} states"
            )
            raise Untranslatable(reason if not answer.endless else "messages without a bound")
        second_opinion(made.system, answer, verifiers, opinion)
    except (Untranslatable, Unsettled) as error:
        opinion.reasons.append(str(error))
    except SpecError as error:
        opinion.reasons.append(f"the engine: {error.diagnostics[0].code}")
    return opinion


def second_opinion(
    system: TransitionSystem, answer: Answer, verifiers: Verifiers, opinion: Opinion
) -> None:
    """Adds what SPIN finds of ``system``, beside an engine's ``answer`` about it.

    Raises :class:`Untranslatable` and :class:`Unsettled`.
    """
    verifiers.compile_program(program(system), quickly=answer.distinct_states < SMALL)
    found = verifiers.search(size_of_node(system))
    failed = answer.fault is not None
    opinion.facts.append(Fact("run-time errors", "", failed, found.faults > 0))
    if failed:
        return  # the engine ends at the level of the error
    opinion.facts.append(Fact("number of states", "", answer.distinct_states, found.states))
    opinion.facts.append(Fact("depth", "", answer.depth, found.depth))
    opinion.facts.append(Fact("number of transitions", "", answer.transitions, found.ways))
    lively = any(p.kind is PropertyKind.LIVENESS for p in system.properties)
    if lively:
        opinion.facts.append(Fact("number of ends", "", answer.ends, found.ends))
    for i, prop in enumerate(system.properties):
        violated = prop.name in answer.violations
        if prop.kind is PropertyKind.INVARIANT:
            opinion.facts.append(Fact("verdict of safety", prop.name, violated, found.bad[i]))
        elif prop.name in answer.undecided:
            opinion.reasons.append(f"{prop.name}: undecided by the engine")
        elif prop.asked in _safety_violated(system, found):
            continue  # an engine need not decide the rest of a property that is violated
        else:
            _compare_liveness(i, prop, violated, verifiers, opinion)


def _safety_violated(system: TransitionSystem, found: Searched) -> set[str]:
    """Returns the names that the check asks for whose safety part is violated."""
    return {p.asked for p, bad in zip(system.properties, found.bad, strict=True) if bad}


def _compare_liveness(
    number: int, prop: Property, violated: bool, verifiers: Verifiers, opinion: Opinion
) -> None:
    try:
        cycle = verifiers.has_fair_cycle(number)
        opinion.facts.append(Fact("verdict of liveness", prop.name, violated, cycle))
    except Unsettled as error:
        opinion.reasons.append(f"liveness: {error}")
