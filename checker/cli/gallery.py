"""``bivalence gallery``: writes a page for each check with a violation, and an index of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from checker.cli import console
from checker.cli.option_groups import quiet_option
from checker.cli.parallel import JOBS
from checker.cli.settings import LAYOUT

if TYPE_CHECKING:
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.render.diagram.rows import Layout
    from checker.render.html.gallery import Exhibit, Skipped
    from checker.results.answer import Listener
    from checker.results.trace import Trace
    from checker.results.verdict import PropertyVerdict
    from checker.sweep.cells import Status

UNPROTOCOLLED = ("interfaces",)
"""Folders of the library that hold no protocols."""


@click.command()
@click.argument("folder", metavar="DIR")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--budget",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit per check, and again for explanations; checks that take longer are skipped"
    " and listed.",
)
@click.option(
    "--every",
    is_flag=True,
    help="Include every violation (default: one per protocol and property).",
)
@JOBS
@LAYOUT
@click.option("--open", "opened", is_flag=True, help="Open the index in a browser.")
@quiet_option("Omit progress and the list of skipped checks.")
def gallery(
    folder: str,
    files: tuple[str, ...],
    budget: float,
    every: bool,
    jobs: int | None,
    layout: Layout,
    opened: bool,
    quiet: bool,
) -> int:
    """Write HTML pages of expected violations to DIR.

    FILEs are specs, or folders of specs (default: the library). Only checks that expect a
    violation are run. The pages have an index.
    """
    from checker.cli.chance_chapters import write_chance_chapters
    from checker.cli.console import print_hint, write_file
    from checker.cli.errors import UNKNOWN
    from checker.cli.ladder_chapters import write_ladders
    from checker.cli.page_options import open_in_browser
    from checker.cli.valence_chapters import write_chapters
    from checker.diagnostics.english import count
    from checker.render.html.gallery import index_of

    target = console.make_folder(folder)
    exhibits: list[Exhibit] = []
    skipped: list[Skipped] = []
    specs = _specs(files)
    interrupted = False
    try:
        for visit in _visits(specs, budget, every, jobs, quiet):
            skipped += visit.skipped
            exhibits += [hang(trace, visit.file, target, layout) for trace in visit.traces]
    except KeyboardInterrupt:
        interrupted = True
    index = target / "index.html"
    chapters = [] if interrupted else write_chapters(specs, target, budget)
    chapters += [] if interrupted else write_chance_chapters(specs, target, budget)
    ladders = [] if interrupted else write_ladders(specs, exhibits, target, layout)
    write_file(str(index), index_of(exhibits, skipped, layout, chapters, ladders))
    for each in skipped:
        print_hint(f"skipped: {each.check}: {each.why}")
    console.print_line(
        f"{index}: {count(len(exhibits), 'run')}, {count(len(skipped), 'check')} skipped"
    )
    if interrupted:
        console.print_note("interrupted; pages cover only the specs checked so far")
        return UNKNOWN
    if opened:
        open_in_browser(str(index))
    return 0


def _specs(files: tuple[str, ...]) -> list[Path]:
    from checker import resources
    from checker.cli.test import specs_in

    if files:
        return list(dict.fromkeys(specs_in(files)))
    found = specs_in((str(resources.specs()),))
    return [file for file in found if file.parent.name not in UNPROTOCOLLED]


class VisitTask(Struct, frozen=True):
    """The visit of ``file``: :func:`visit`, each check with ``options``."""

    number: int
    file: Path
    options: Options
    every: bool

    @property
    def seconds(self) -> None:
        """There is no time limit for all checks of a file."""
        return None


class Visit(Struct, frozen=True):
    """The executions of ``file`` to be shown, and the checks that were left out."""

    number: int
    file: Path
    traces: tuple[Trace, ...]
    skipped: tuple[Skipped, ...]


def _visits(
    files: list[Path], budget: float, every: bool, jobs: int | None, quiet: bool
) -> Iterator[Visit]:
    """Yields the visit of each file, in order; several run at a time."""
    from checker.cli.parallel import jobs_and_threads, run_in_order
    from checker.cli.progress import Count
    from checker.engines.options import Options
    from checker.results.answer import Limits
    from checker.sweep.local import Work

    at_once, threads = jobs_and_threads(jobs, len(files), None)
    options = Options(limits=Limits(None, None, budget, None), explain=budget, threads=threads)
    tasks = [VisitTask(number, file, options, every) for number, file in enumerate(files)]
    with (
        Count("gallery", len(tasks), "spec", silent=quiet) as meter,
        closing(
            run_in_order(tasks, at_once, Work(visit, _lost), meter, lambda task: task.file.name)
        ) as visits,
    ):
        yield from visits


def _lost(task: VisitTask, status: Status, reason: str, seconds: float) -> Visit:
    from checker.render.html.gallery import Skipped

    return Visit(task.number, task.file, (), (Skipped(task.file.name, reason),))


def visit(task: VisitTask, listener: Listener) -> Visit:
    """Returns the visit of a file."""
    skipped: list[Skipped] = []
    traces = tuple(_violations(task.file, task.options, task.every, skipped, listener))
    return Visit(task.number, task.file, traces, tuple(skipped))


def _violations(
    file: Path, options: Options, every: bool, skipped: list[Skipped], listener: Listener
) -> Iterator[Trace]:
    """Yields executions of ``file`` that violate, as expected, what no earlier check has violated;
    checks that can't be run, or have no violation, are added to ``skipped``.
    """
    from checker.diagnostics import SpecError
    from checker.render.html.gallery import Skipped
    from checker.session import pipeline

    shown: set[tuple[str, str]] = set()
    name = ""
    try:
        spec = pipeline.read_spec(str(file))
        for check in spec.module.checks:
            name = check.name
            expected = [e.what for e in check.expect if e.value == "violated"]
            wanted = [
                what for what in expected if every or (check.protocol.name, what) not in shown
            ]
            if not wanted:
                continue
            for verdict in _verdicts(spec.only(tuple(wanted)), name, options, listener):
                if verdict.property not in wanted:
                    continue
                if verdict.trace is None:
                    said = f"{file.name}::{name}"
                    skipped.append(
                        Skipped(said, f"{verdict.property} {verdict.word.value}: {verdict.reason}")
                    )
                    continue
                shown.add((check.protocol.name, verdict.property))
                yield verdict.trace
    except SpecError as problem:
        said = f"{file.name}::{name}" if name else file.name
        found = problem.diagnostics[0]
        at = f", line {found.span.line}" if found.span is not None else ""
        skipped.append(Skipped(said, f"{found.message} ({found.code}{at})"))


def _verdicts(
    spec: Spec, name: str, options: Options, listener: Listener
) -> tuple[PropertyVerdict, ...]:
    from checker.proving.dispatch_check import answer_check

    report = answer_check(spec, name, options, listener)
    if report.was_interrupted:
        raise KeyboardInterrupt
    return report.verdicts


def hang(trace: Trace, file: Path, target: Path, layout: Layout) -> Exhibit:
    """Writes the page of an execution into the folder ``target``, with the text of its spec beside
    it; returns where they are."""
    from checker.cli.console import write_file
    from checker.cli.trace_positions import steps_of
    from checker.render.html import page_of
    from checker.render.html.gallery import Exhibit, page_name
    from checker.simulate.alternatives import all_alternatives

    theme = file.resolve().parent.name
    name = page_name(trace)
    (target / theme).mkdir(exist_ok=True)
    spec = f"{theme}/{file.name}.txt"
    write_file(str(target / spec), file.read_text(encoding="utf-8"))
    opened, taken = steps_of(trace)
    others = all_alternatives(opened.system, taken)
    page = page_of(trace, index="../index.html", layout=layout, alternatives=others)
    write_file(str(target / theme / name), page)
    return Exhibit(theme, trace, f"{theme}/{name}", spec)
