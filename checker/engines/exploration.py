"""Asks an engine, and holds an engine from outside to the contract: what it raises or returns
against it is a diagnostic, and its silence is no verdict where it does not claim to decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from checker.engines import budgets
from checker.engines.capabilities import Can, Feature
from checker.engines.engine import Engine
from checker.engines.registry import engine_of, origin_of
from checker.engines.search_engine import HandedOver, SearchAgain, SearchEngine, SearchProblem
from checker.extensions.registry import Origin
from checker.extensions.tables import ENGINES
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.answer import Answer, Listener, Path, Unsupported
from checker.results.mismatch import ReplayMismatch

ALLOWED = (Unsupported, RunFault, SearchAgain, HandedOver)
"""What an engine may raise."""

NEEDED = {
    PropertyKind.INVARIANT: (Feature.SAFETY,),
    PropertyKind.LIVENESS: (Feature.STEADY, Feature.FOLLOWED),
}
"""The features without which it says nothing of a property that an engine reports no violation."""


def explore(name: str, problem: SearchProblem, listener: Listener | None) -> Answer:
    """Returns the answer of the engine ``name``.

    Raises what the engine may raise (:meth:`checker.engines.engine.Engine.explore`,
    :meth:`checker.engines.search_engine.SearchEngine.search`), and :class:`SpecError` (E042) where
    one from outside does not keep to the contract.
    """
    engine, origin = engine_of(name), origin_of(name)
    with ENGINES.blaming(origin, but=ALLOWED), _within_budget(engine, origin):
        if isinstance(engine, SearchEngine):
            answer = engine.search(problem, listener)
        else:
            answer = engine.explore(problem, listener)
        _require_answer(answer, problem.system, origin)
        return _without_gaps(engine, problem.system, answer)


def _within_budget(engine: Engine, origin: Origin) -> AbstractContextManager[None]:
    """Ends an engine from outside that does not end by itself where a budget is used up."""
    if not origin.distribution:
        return nullcontext()
    ends = engine.ability(Feature.LIMITS).can in (Can.YES, Can.PARTLY)
    return budgets.raising_when_exhausted(spare=budgets.GRACE if ends else 0.0)


@contextmanager
def replaying(name: str) -> Iterator[None]:
    """Turns what the replay refuses of an engine from outside into :class:`SpecError` (E042); of
    the tool's own engines it is :class:`ReplayMismatch`, a bug."""
    origin = origin_of(name)
    with ENGINES.blaming(origin, but=ALLOWED):
        try:
            yield
        except ReplayMismatch as why:
            if not origin.distribution:
                raise
            raise ENGINES.refusal(origin, f"returned a run that the replay rejects: {why}") from why


def _require_answer(answer: object, system: TransitionSystem, origin: Origin) -> None:
    """Raises :class:`SpecError` (E042) where ``answer`` is none about ``system``."""
    if not isinstance(answer, Answer):
        raise ENGINES.refusal(origin, f"returned a {type(answer).__name__}")
    if answer.engine != origin.name:
        raise ENGINES.refusal(origin, f"returned an answer of {answer.engine!r}")
    known = {prop.name for prop in system.properties}
    for name, path in answer.violations.items():
        if name not in known:
            raise ENGINES.refusal(
                origin, f"reported a violation of {name!r}, which is not a property of the check"
            )
        if not isinstance(path, Path):
            raise ENGINES.refusal(origin, f"reported a violation of {name} without a run")


def _without_gaps(engine: Engine, system: TransitionSystem, answer: Answer) -> Answer:
    """Returns ``answer``, undecided about what the engine does not claim to decide."""
    gaps: dict[str, str] = {}
    for prop in system.properties:
        abilities = [engine.ability(feature) for feature in NEEDED[prop.kind]]
        lacking = [a.note for a in abilities if a.can not in (Can.YES, Can.PARTLY)]
        if lacking and prop.name not in answer.violations:
            gaps[prop.name] = f"the {engine.name} engine {lacking[0]}"
    return replace(answer, undecided={**gaps, **answer.undecided}) if gaps else answer
