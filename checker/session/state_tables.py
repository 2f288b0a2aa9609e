"""Writes tables of the explored states and transitions, where they are requested."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from checker import budgets
from checker.engines.capabilities import Feature, require
from checker.options import Options
from checker.witness.answer import Listener, stop_reason
from checker.witness.verdict import Report, Word

if TYPE_CHECKING:
    from checker.exploration.checkpoint import Checkpoint
    from checker.exploration.run_folder import RunFolder
    from checker.exploration.tables import MapParts, WrittenTables
    from checker.system.ir import TransitionSystem


def require_exportable(options: Options) -> None:
    """Raises :class:`SpecError` (E035 to E037) where the requested tables can't be made."""
    if options.states_out is None:
        return
    require(options.engine, Feature.TABLES)
    from checker.exploration.tables import prepare

    prepare(options.states_out)


def export_tables(
    report: Report,
    system: TransitionSystem,
    options: Options,
    run: Checkpoint | None,
    listener: Listener | None,
) -> Report:
    """Returns ``report`` with a note on the tables that were written, or why they were not.

    ``run``: holds the states of ``system``; it is kept where the tables still have to be made.  The
    tables have the time limit of the search again, and :data:`checker.budgets.GRACE`.
    """
    if options.states_out is None:
        return report
    assert run is not None
    if report.was_interrupted:
        return report
    try:
        limit = budgets.raising_when_exhausted(spare=budgets.GRACE)
        with budgets.within(options.limits.timeout), limit:
            done = _write_tables(report, system, options, run, listener)
    except KeyboardInterrupt as error:
        why = stop_reason(error)
    except OSError as error:
        where = "" if error.filename is None else f" ({error.filename})"
        why = f"{error.strerror or error}{where}"
    else:
        said = f"{done.states:,} states and {done.transitions:,} transitions"
        if _error(report) is not None:
            said += ", as far as the search went before an error of the run ended it,"
        return replace(report, notes=(*report.notes, f"tables of {said} are in {done.location}"))
    run.unfinished = True
    return replace(report, failed=(*report.failed, f"no tables were written: {why}"))


def _write_tables(
    report: Report,
    system: TransitionSystem,
    options: Options,
    run: Checkpoint,
    listener: Listener | None,
) -> WrittenTables:
    from checker.exploration.run_folder import RunFolder
    from checker.exploration.tables import write_tables
    from checker.kernels.layout import lay_out

    assert options.states_out is not None
    layout = lay_out(system)
    about = {
        "tool": report.version,
        "file": report.file,
        "check": report.check,
        "parameters": report.parameters,
        "settings": dict(options.settings),
        "fine_steps": options.fine_steps,
        "exhaustive": report.exhaustive,
        "stopped": report.stopped,
        "ended_by": _error(report),
    }
    folder = RunFolder(run.location, layout.words)
    return write_tables(
        system,
        layout,
        folder,
        options.states_out,
        map_parts(report.engine, options, folder),
        listener,
        about,
        _frontier(folder),
    )


def _error(report: Report) -> str | None:
    """Returns the error that has ended the search, if one has."""
    found = (v.reason for v in report.verdicts if v.word is Word.ERROR)
    return None if report.exhaustive else next(found, None)


def _frontier(folder: RunFolder) -> int | None:
    """Returns the depth behind an error of the execution, where nothing was expanded any more."""
    found = folder.latest()
    if found is None or found.faulty is None:
        return None
    depth, _ = found.faulty
    return found.depth if depth < found.depth else None


def map_parts(engine: str, options: Options, folder: RunFolder) -> MapParts:
    """Returns where the tables are made: where ``engine`` has found the states, which ``folder``
    has."""
    if engine == "spark" and options.cluster is not None:
        from checker.engines.spark.masters import is_local

        if not is_local(options.cluster.master):
            from checker.engines.spark.table_pieces import OnExecutors

            return OnExecutors(options.cluster, folder)
    from checker.exploration.process_pool import parallel_map

    return partial(parallel_map, processes=options.threads)
