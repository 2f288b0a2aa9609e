"""The valence of checks of the library, each computed once."""

from __future__ import annotations

from functools import cache

from checker import resources
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.valence import Start, Valence
from checker.valence.analysis import analyse
from checker.valence.compute import compute
from checker.valence.question import question_of


@cache
def valence_of(name: str, engine: str = "native", of: str | None = None) -> Valence:
    """The valence of ``folder/file::check``, for all inputs."""
    file, _, check = name.partition("::")
    path = str(resources.specs() / f"{file}.bcast")
    options = Options(engine=engine, limits=Limits(timeout=300))
    report = analyse(compute(question_of(path, check, options, of, free_inputs=True), None))
    assert report.stopped is None
    return report


def by_input(report: Valence) -> dict[str, Start]:
    """The initial states by their inputs: ``011``."""
    return {"".join(value for _, value in start.inputs): start for start in report.starts}


def opens(report: Valence) -> dict[str, str]:
    """What each input can still decide: ``011`` may have ``01``."""
    return {key: "".join(start.open) for key, start in by_input(report).items()}
