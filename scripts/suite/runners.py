"""Answers the instances by the tool itself, SPIN, or Storm."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import weakref
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from checker import resources
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.session.load import load_check
from checker.session.pipeline import run_check
from checker.session.published import Comparison, PublishedNumber
from scripts.second_opinion.compare import Opinion, compare
from scripts.second_opinion.spin import Verifiers, missing
from scripts.suite.instances import STATES, VALUE, VERDICT, Instance

AGREES, DIFFERS = "agrees", "differs"
CLOSE = Fraction(1, 10_000)
"""The share of a value by which Storm's may be off: its sweeps stop at 1e-6 by default."""

MOST = 300_000
"""The largest number of states of a system that SPIN is asked about."""

Runner = Callable[[Instance], str]
"""Answers an instance: ``AGREES``, ``DIFFERS`` with what was found, or why there is no answer."""


class Missing(Exception):
    """A checker is not installed; the message says which."""


def ours(seconds: float) -> Runner:
    """Returns the tool; ``seconds``: the limit for one instance."""
    options = Options(limits=Limits(timeout=seconds))
    comparison = Comparison(options)

    @cache
    def words_of(file: str, check: str) -> dict[str, str]:
        report = run_check(file, check, options)
        return {verdict.property: verdict.word.value for verdict in report.verdicts}

    def answer(instance: Instance) -> str:
        if instance.published is not None:
            found = comparison.compare(instance.published)
            return _judged(found.ours, found.same) if found.ours else f"not in {seconds:g} s"
        file, _, check = instance.world.partition("::")
        words = words_of(str(resources.specs() / file), check)
        return _judged(words[instance.question], words[instance.question] == instance.answer)

    return answer


def spin(seconds: float) -> Runner:
    """Returns SPIN, on the translation of a system to C; raises :class:`Missing`."""
    if missing():
        raise Missing(missing())
    folder = tempfile.TemporaryDirectory()
    verifiers = Verifiers(Path(folder.name), int(seconds), 2_000)

    @cache
    def opinion_on(world: str, settings: tuple[tuple[str, str], ...]) -> Opinion:
        file, _, check = world.partition("::")
        return compare(str(resources.specs() / file), check, verifiers, MOST, dict(settings))

    def answer(instance: Instance) -> str:
        if instance.kind not in (STATES, VERDICT):
            return "SPIN has no probabilities"
        if instance.published is not None and instance.published.reduce != "none":
            return "SPIN does not count states up to symmetry"
        opinion = opinion_on(instance.world, tuple(instance.settings.items()))
        for fact in opinion.facts:
            if instance.kind == STATES and fact.kind == "number of states":
                return _judged(str(fact.spin), str(fact.spin) == instance.answer)
            if instance.kind == VERDICT and fact.about == instance.question:
                violated = "violated" if fact.spin else "holds"
                return _judged(violated, violated == instance.answer)
        return "; ".join(opinion.reasons) or "not translated"

    weakref.finalize(answer, folder.cleanup)
    return answer


def _judged(found: str, same: bool) -> str:
    return AGREES if same else f"{DIFFERS}: {found}"


def storm(seconds: float) -> Runner:
    """Returns Storm, which reads decision processes in DRN; raises :class:`Missing`."""
    if importlib.util.find_spec("stormpy") is None:
        raise Missing("stormpy is not installed")

    def answer(instance: Instance) -> str:
        row = instance.published
        if instance.kind != VALUE or row is None:
            return "only exact values are asked of Storm"
        words = row.question.removesuffix(" for some adversary").split(" ")
        if words[:2] != ["chance", "of"] or "within" in words or "until" in words:
            return "the tool writes no rewards and no bounds of steps for Storm"
        with tempfile.TemporaryDirectory() as folder:
            found = _storm_on(row, Path(folder) / "process.drn", "least" not in words, seconds)
        if found is None:
            return f"no process in {seconds:g} s"
        near = abs(Fraction(found) - Fraction(row.value)) <= CLOSE * Fraction(row.value)
        return _judged(f"{found:.9g}", near)

    return answer


def _storm_on(row: PublishedNumber, path: Path, largest: bool, seconds: float) -> float | None:
    """Returns what Storm computes of the question of ``row``; ``None`` where nothing is written."""
    stormpy: Any = importlib.import_module("stormpy")

    file, _, check = row.check.partition("::")
    limits = Limits(timeout=seconds)
    options = Options(settings=row.settings, limits=limits, drn_out=str(path))
    source = str(resources.specs() / file)
    asked = [each.name for each in load_check(source, check, row.settings).chance]
    (number,) = [i for i, name in enumerate(asked, 1) if name.startswith(row.question)]
    run_check(source, check, options)
    if not path.is_file():
        return None
    model: Any = stormpy.build_model_from_drn(str(path))
    (formula,) = stormpy.parse_properties(f'P{"max" if largest else "min"}=? [F "goal{number}"]')
    result = stormpy.model_checking(model, formula)
    starts = (result.get_value(state) for state in model.initial_states)
    return float(max(starts) if largest else min(starts))


RUNNERS: dict[str, Callable[[float], Runner]] = {"ours": ours, "spin": spin, "storm": storm}
