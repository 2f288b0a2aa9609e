"""Writes tables of the explored states and transitions, where they are requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.diagnostics.english import count
from checker.diagnostics.packages import require_arrow
from checker.engines import budgets
from checker.engines.capabilities import Feature
from checker.engines.options import Options
from checker.engines.registry import engine_of, require
from checker.engines.search_engine import SearchEngine
from checker.records import replace
from checker.results.answer import Listener, Progress, stop_reason
from checker.results.verdict import Report, Word
from checker.session.run_engine import remaining_time

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.checkpoint.run_folder import RunFolder
    from checker.engines.native.tables.tables import WrittenTables
    from checker.model.ir import TransitionSystem


def require_exportable(options: Options) -> None:
    """Raises :class:`SpecError` (E035 to E037) where the requested tables can't be made."""
    if options.states_out is None:
        return
    require(options.engine, Feature.TABLES)
    require_arrow()
    from checker.engines.native.tables.tables import prepare

    prepare(options.states_out)


def export_tables(
    report: Report,
    system: TransitionSystem,
    options: Options,
    run: Checkpoint | None,
    listener: Listener | None,
    started: float,
) -> Report:
    """Returns ``report`` with a note on the tables that were written, or why they were not.

    ``run``: holds the states of ``system``; it is kept where the tables still have to be made, but
    not where they took too long and no user named its folder.  The tables have the time that is
    left since ``started``, and :data:`checker.engines.budgets.GRACE` at least.
    """
    if options.states_out is None:
        return report
    assert run is not None
    if report.was_interrupted:
        return report
    written = _Written(listener)
    left, keep = remaining_time(options, started).limits.timeout, True
    left = None if left is None else max(left, budgets.GRACE)
    over = "" if left is None else options.limits.no_more_time
    done: WrittenTables | None = None
    try:
        with budgets.within(left, said=over), budgets.raising_when_exhausted():
            done = _write_tables(report, system, options, run, written)
    except KeyboardInterrupt as error:
        why = stop_reason(error)
        if isinstance(error, budgets.BudgetExhausted):
            why, keep = f"{why}{written.so_far}", not run.temporary
    except OSError as error:
        where = "" if error.filename is None else f" ({error.filename})"
        why = f"{error.strerror or error}{where}"
    finally:
        if done is None:  # nothing is raised here by a budget or a second signal
            from checker.engines.native.tables.tables import remove_tables

            remove_tables(options.states_out)
    if done is None:
        run.unfinished = keep
        return replace(report, failed=(*report.failed, f"no tables were written: {why}"))
    said = f"{count(done.states, 'state')} and {count(done.transitions, 'transition')}"
    if _error(report) is not None:
        said += ", as far as the search went before a run-time error ended it,"
    return replace(report, notes=(*report.notes, f"tables of {said} are in {done.location}"))


class _Written:
    """A listener that notes how many states are written, and passes all on to ``listener``."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener, self.so_far = listener, ""

    def __call__(self, progress: Progress) -> None:
        done = progress.states - progress.frontier
        self.so_far = f" after {done:,} of {count(progress.states, 'state')}"
        if self._listener is not None:
            self._listener(progress)


def _write_tables(
    report: Report,
    system: TransitionSystem,
    options: Options,
    run: Checkpoint,
    listener: Listener,
) -> WrittenTables:
    from checker.engines.native.checkpoint.run_folder import RunFolder
    from checker.engines.native.codegen.layout import lay_out
    from checker.engines.native.tables.tables import write_tables

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
    found = engine_of(report.engine)
    assert isinstance(found, SearchEngine), "the others are refused"
    return write_tables(
        system,
        layout,
        folder,
        options.states_out,
        found.map_parts(options, folder),
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
