"""The tool from Python.

``check("spec.bcast", "name", settings={"n": "4"})`` returns the report that the command shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checker.conform.driving import Difference as Difference
from checker.conform.driving import Implementation as Implementation
from checker.conform.driving import drive as drive

if TYPE_CHECKING:
    from checker.results.verdict import Report


def check(
    path: str, name: str | None = None, *, settings: Mapping[str, object] | None = None, **how: Any
) -> Report:
    """Runs the check ``name`` of the file ``path`` (``None``: its only check); one about all
    sizes is proved, unless ``settings`` give it some.

    ``settings`` replace the check's parameters; ``how`` are the fields of
    :class:`checker.session.pipeline.Options`: ``engine``, ``threads``, ``fine_steps``, ``limits``.
    Raises :class:`checker.diagnostics.SpecError` for what is wrong with the spec or the options.
    """
    from checker.engines.options import Options
    from checker.proving.dispatch_check import answer_check

    given = {key: str(value) for key, value in (settings or {}).items()}
    return answer_check(path, name, Options(settings=given, **how))


def simulate(
    path: str,
    name: str | None = None,
    *,
    seed: int,
    walks: int | None = 10_000,
    steps: int = 200,
    settings: Mapping[str, object] | None = None,
    timeout: float | None = None,
    **how: Any,
) -> Report:
    """Makes random walks of the check ``name`` of the file ``path`` (``None``: its only check),
    until one violates a property; returns the report that ``bivalence simulate`` shows.

    ``seed`` determines the walks, wherever they are made; ``walks``: how many at most (``None``: as
    many as ``timeout`` seconds allow); ``steps``: of how many steps at most; ``settings`` and
    ``how``: as of :func:`check`.  Raises :class:`checker.diagnostics.SpecError`.
    """
    from checker.engines.options import Options
    from checker.session.simulation import simulate_check
    from checker.simulate.simulation import WalkPlan

    if walks is None and timeout is None:
        raise ValueError("walks that neither their number nor a time ends")
    given = {key: str(value) for key, value in (settings or {}).items()}
    options = Options(settings=given, **how)
    plan = WalkPlan(
        seed, walks, steps, timeout, options.threads, engine=options.engine, cluster=options.cluster
    )
    return simulate_check(path, name, options, plan, None)
