"""``bivalence sweep``: runs one check at every point of a grid of parameters."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console
from checker.cli.document_options import writing_errors
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import SET, engine_options
from checker.diagnostics.packages import require_arrow
from checker.diagnostics.visible import json_text

if TYPE_CHECKING:
    from checker.cli.errors import Failure
    from checker.engines.cluster import Cluster
    from checker.results.answer import Progress
    from checker.sweep.cells import CellOutcome
    from checker.sweep.rows import Row
    from checker.sweep.sweep_plan import SweepPlan

MOST_SHOWN = 1000
"""The largest number of cells on screen; files have all."""

ALLOWED, SHARE = 1.0, 20
"""Saving results may take ``ALLOWED`` seconds plus a ``SHARE``-th of the elapsed time."""


def _unusable(failed: Failure, given: Mapping[str, Any]) -> Any:
    """Returns the document of a sweep that an error has ended before its first cell."""
    from checker.sweep.rows import as_unusable

    file, _, check = given["name"].partition("::")
    return as_unusable(file, check, failed.problems)


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@click.argument("more", nargs=-1, metavar="")
@click.option(
    "--grid",
    "grids",
    multiple=True,
    required=True,
    metavar="AXES",
    help="Parameter grid, such as n=3..5,f=0..2,links={perfect,fifo}.",
)
@SET
@engine_options
@click.option("--out", metavar="FILE", help="Write a row per cell as Parquet.")
@click.option(
    "--json",
    "json_out",
    metavar="FILE",
    help="Write a row per cell as JSON; with -, stdout has nothing else.",
)
@click.option("--svg", "svg_out", metavar="FILE", help="Draw the numbers of states as a plot.")
@click.option("--traces", metavar="FOLDER", help="Write a trace per violation.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="K",
    help="Run K cells at a time (default: one per core).",
)
@quiet_option("Omit progress.")
@writing_errors(_unusable)
def sweep(
    name: str,
    more: tuple[str, ...],
    grids: tuple[str, ...],
    settings: tuple[str, ...],
    out: str | None,
    json_out: str | None,
    svg_out: str | None,
    traces: str | None,
    jobs: int | None,
    quiet: bool,
    **engine: Any,
) -> int:
    """Run one check for a grid of parameters.

    The grid has one cell per combination of values; limits apply per cell. A cell that fails or
    has impossible parameters does not affect the others. With --master, cells run on Spark.

    Exit codes: 0 all cells ran, with any verdicts; 2 invalid input; 3 some cells are unknown (a
    limit, a killed process, an interrupt); 70 internal error in some cell.
    """
    from checker.cli.settings import options_of
    from checker.sweep.grid import grid_of
    from checker.sweep.run import for_each_cell, jobs_for
    from checker.sweep.sweep_plan import plan

    outputs = [output for output in (out, json_out, svg_out) if output is not None]
    _require(outputs, traces, out)
    _require_whole(engine)
    options = options_of(settings, engine)
    path, separator, check = name.partition("::")
    grid = grid_of([*grids, *_rest_of_grid(more)])
    at_once = jobs or jobs_for(options.threads)
    planned = plan(path, check if separator else None, grid, for_each_cell(options, at_once))
    keeper = _Keeper(planned, out, json_out, svg_out, traces)
    return _run(planned, at_once, options.cluster, keeper, quiet=quiet)


def _rest_of_grid(more: Sequence[str]) -> Sequence[str]:
    """Returns further axes (shells split ``links={a,b}`` into two words); refuses other words."""
    for word in more:
        if "=" not in word:
            raise click.UsageError(f"sweep takes one check: unexpected {word!r}")
    return more


def _require_whole(engine: Mapping[str, Any]) -> None:
    """Refuses options that distribute a search: a cell is searched by one process."""
    for name, otherwise in (("exchange", "auto"), ("shards", None), ("graduate_at", None)):
        if engine[name] != otherwise:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} divides one search, but each cell is one task")


def _require(outputs: list[str], traces: str | None, out: str | None) -> None:
    from checker.cli.console import require_writable

    if len(set(outputs)) < len(outputs):
        raise click.UsageError("two outputs name the same file")
    for output in outputs:
        if output != "-":
            require_writable(output)
    if out is not None:
        require_arrow()
    if out == "-":
        raise click.UsageError("Parquet can't be written to stdout; use --json -")
    if traces is not None:
        try:
            Path(traces).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise click.UsageError(f"{traces}: {problem.strerror}") from problem
        if not os.access(traces, os.W_OK):
            raise click.UsageError(f"{traces} is not writable")


def _run(
    planned: SweepPlan, jobs: int, cluster: Cluster | None, keeper: _Keeper, *, quiet: bool
) -> int:
    from checker.cli.console import print_note
    from checker.cli.progress import Count
    from checker.sweep.run import run

    interrupted = False
    total = len(planned.tasks)
    with Count(f"{planned.path}::{planned.check.name}", total, silent=quiet) as meter:

        def tell(done: int, running: Mapping[int, Progress]) -> None:
            keeper.save_if_due()
            meter.count(done, [_where(planned, cell, how) for cell, how in sorted(running.items())])

        try:
            with closing(run(planned, jobs, cluster, tell)) as outcomes:
                for outcome in outcomes:
                    keeper.take(outcome)
        except KeyboardInterrupt:
            interrupted = True
    keeper.finish()
    if interrupted:
        print_note("interrupted; finished cells are kept")
    return _exit_code(keeper.rows)


def _where(planned: SweepPlan, cell: int, how: Progress) -> str:
    settings = planned.cells[cell - 1].settings
    values = " ".join(f"{name}={value}" for name, value in settings.items())
    return f"{values}: {how.states:,} states"


def _exit_code(rows: Sequence[Row]) -> int:
    from checker.results.verdict import worst
    from checker.sweep.cells import Status

    if all(row.status is Status.IMPOSSIBLE for row in rows):
        return 2
    codes = {Status.DONE: 0, Status.IMPOSSIBLE: 0, Status.FAILED: 70}
    return worst(codes.get(row.status, 3) for row in rows)


class _Keeper:
    """Keeps rows and traces as they come, on disk before all are there."""

    def __init__(
        self,
        planned: SweepPlan,
        out: str | None,
        json_out: str | None,
        svg_out: str | None,
        traces: str | None,
    ) -> None:
        self.rows: list[Row] = []
        self._plan, self._out, self._json, self._traces = planned, out, json_out, traces
        self._svg = svg_out
        self._began = time.monotonic()
        self._spent = 0.0
        self._unsaved = False
        self._told = False
        self._untraced: OSError | None = None

    def take(self, outcome: CellOutcome) -> None:
        """Adds the outcome of a cell."""
        from checker.sweep.rows import row_of

        cell = self._plan.cells[outcome.cell - 1]
        self.rows.append(row_of(cell, outcome, self._write_traces(outcome)))
        self._unsaved = True
        self.save_if_due()

    def save_if_due(self) -> None:
        """Saves the rows so far, unless saving has taken too much of the time already."""
        now = time.monotonic()
        if not self._unsaved or self._spent > ALLOWED + (now - self._began) / SHARE:
            return
        try:
            self._save()
        except OSError as problem:
            self._note_write_error(problem)
        self._spent += time.monotonic() - now
        self._unsaved = False

    def finish(self) -> None:
        """Saves everything, and shows it; raises ``OSError`` where it could not be written."""
        from checker.cli.console import print_view
        from checker.cli.sweep_view import sweep_view
        from checker.sweep.rows import as_json, without_run

        self.rows += without_run(self._plan, self.rows)
        try:
            self._save()
        finally:
            if self._json == "-":
                document = as_json(self._plan, self.rows)
                console.print_line(json_text(document))
            else:
                in_file = self._out is not None or self._json is not None
                print_view(sweep_view(self._plan, self.rows, MOST_SHOWN if in_file else None))
        if self._untraced is not None:
            raise self._untraced

    def _note_write_error(self, problem: OSError) -> None:
        """Reports an error of the disk, which does not stop the sweep: the table will be shown."""
        from checker.cli.console import print_note

        if not self._told:
            print_note(f"can't write: {problem.strerror or problem}; continuing")
        self._told = True

    def _save(self) -> None:
        from checker.cli.console import write_file
        from checker.sweep.rows import as_json, as_parquet

        if self._out is not None:
            write_file(self._out, as_parquet(self._plan, self.rows))
        if self._json not in (None, "-"):
            document = as_json(self._plan, self.rows)
            write_file(str(self._json), json_text(document) + "\n")
        if self._svg is not None:
            from checker.render.diagram.plots import plot_svg
            from checker.sweep.sweep_plot import plot_of

            write_file(self._svg, plot_svg(plot_of(self._plan, self.rows)))

    def _write_traces(self, outcome: CellOutcome) -> dict[str, str]:
        """Writes the traces of one cell; returns the file of each property."""
        if self._traces is None:
            return {}
        from checker.cli.console import write_file
        from checker.formats.json_format import trace_to_json
        from checker.session.trace_header import with_own_sources
        from checker.sweep.rows import traces_of

        files: dict[str, str] = {}
        for name, trace in traces_of(outcome).items():
            word = "-".join("".join(c if c.isalnum() or c == "_" else " " for c in name).split())
            path = str(Path(self._traces) / f"{outcome.cell:04}-{word}.json")
            document = trace_to_json(with_own_sources(trace))
            text = json_text(document)
            try:
                write_file(path, text + "\n")
                files[name] = path
            except OSError as problem:
                self._untraced = problem
                self._note_write_error(problem)
        return files
