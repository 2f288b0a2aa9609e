"""The tool from Python.

``check("spec.bcast", "name", settings={"n": "4"})`` returns the report that the command shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from checker.conform.driving import Difference as Difference
from checker.conform.driving import Implementation as Implementation
from checker.conform.driving import drive as drive

if TYPE_CHECKING:
    from checker.audit.audit import Audit
    from checker.results.state_graph import StateGraph
    from checker.results.verdict import Report
    from checker.sweep.result import Sweep


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


def sweep(
    path: str,
    name: str | None = None,
    *,
    grid: Mapping[str, Iterable[object]],
    settings: Mapping[str, object] | None = None,
    jobs: int | None = None,
    **how: Any,
) -> Sweep:
    """Runs the check ``name`` of the file ``path`` (``None``: its only check) for every combination
    of the values in ``grid``, as ``bivalence sweep`` does.

    ``jobs``: how many cells run at a time (``None``: one per core); ``settings`` and ``how``: as of
    :func:`check`, for each cell.  Raises :class:`checker.diagnostics.SpecError`.
    """
    from checker.engines.options import Options
    from checker.sweep.grid import grid_of
    from checker.sweep.result import swept
    from checker.sweep.run import for_each_cell, jobs_for
    from checker.sweep.sweep_plan import plan

    given = {key: str(value) for key, value in (settings or {}).items()}
    options = Options(settings=given, **how)
    at_once = jobs or jobs_for(options.threads)
    axes = [f"{axis}={{{','.join(map(str, values))}}}" for axis, values in grid.items()]
    return swept(plan(path, name, grid_of(axes), for_each_cell(options, at_once)), at_once)


def state_graph(
    path: str, name: str | None = None, *, settings: Mapping[str, object] | None = None
) -> StateGraph:
    """Returns the state graph of the check ``name`` of the file ``path`` (``None``: its only
    check), as ``bivalence show --graph`` draws it.

    Raises :class:`checker.diagnostics.SpecError`, also where it is too large to draw (E129).
    """
    from checker.engines.options import Options
    from checker.session.observed_graph import observed_graph

    given = {key: str(value) for key, value in (settings or {}).items()}
    return observed_graph(path, name, Options(settings=given))


def audit(logs: str | Iterable[str], interface: str, **asked: Any) -> Audit:
    """Asks of ``logs`` (files or folders) the properties of ``interface``, as ``bivalence audit``
    does.

    ``asked``: further fields of :class:`checker.audit.audit.Request`: ``over``, ``only``,
    ``mapping``, ``manifest``, ``grace``, ``restriction``.  Raises
    :class:`checker.diagnostics.SpecError`.
    """
    from checker.diagnostics.packages import require_arrow

    require_arrow()
    from checker.audit.audit import Request
    from checker.audit.audit import audit as ask

    names = (logs,) if isinstance(logs, str) else tuple(logs)
    return ask(Request(names, interface, **asked))
