"""Random walks of a check, from its name to its report: the same report as that of a search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.extensions.tables import DEFINITION, ON_CLUSTER
from checker.model.evaluate import RunFault
from checker.model.memo import a_run
from checker.records import replace
from checker.results.answer import INTERRUPTED, Listener, Unsupported
from checker.results.verdict import Report
from checker.session.next_steps import with_next_steps
from checker.session.pipeline import open_check, report_of, with_strips
from checker.session.run_engine import marking_interruption, shared_sessions
from checker.simulate.prepared_check import PreparedCheck
from checker.simulate.simulation import WalkPlan, Walks, simulate
from checker.words.unjudged import diagnosed

if TYPE_CHECKING:
    from checker.language.load import Spec


@a_run()
def simulate_check(
    spec: Spec | str, name: str | None, options: Options, plan: WalkPlan, listener: Listener | None
) -> Report:
    """Walks through one check of ``spec`` (``None``: its only one) and returns the report.

    ``options``: how it is instantiated and explained.  Raises :class:`SpecError`.
    """
    started = time.monotonic()
    on_cluster = options if plan.cluster is None else replace(options, engine=ON_CLUSTER)
    with shared_sessions(replace(on_cluster, cluster=plan.cluster)):
        with budgets.within(plan.timeout), budgets.raising_when_exhausted():
            opened = open_check(spec, name, options)
        walks = _walks(opened, plan, listener)
    answer = walks.answer(opened.system)
    options = replace(options, coverage=True)
    with marking_interruption(answer):
        report = report_of(str(spec), opened.check, opened.made, answer, options)
        report = with_next_steps(report, options)
    if walks.stopped == INTERRUPTED:
        return report
    if options.explain is not None and answer.violations:
        from checker.explain.reports import as_asked

        report = as_asked(report, opened.system, options, listener)
    limited = replace(options, limits=replace(options.limits, timeout=plan.timeout))
    return with_strips(report, opened.system, limited, started)


def _walks(opened: PreparedCheck, plan: WalkPlan, listener: Listener | None) -> Walks:
    try:
        return simulate(opened, plan, listener)
    except Unsupported as why:
        message = f"the {plan.engine} engine does not support this check: {why}"
        hint = f"try --engine {DEFINITION}, or fewer --steps"
        raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
    except RunFault as fault:
        raise diagnosed(opened.system, fault) from None
