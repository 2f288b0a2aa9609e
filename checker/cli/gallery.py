"""``bivalence gallery``: writes a page for each check with a violation, and an index of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.settings import LAYOUT

if TYPE_CHECKING:
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.render.diagram.rows import Layout
    from checker.render.html.gallery import Exhibit, Skipped
    from checker.results.trace import Trace
    from checker.results.verdict import PropertyVerdict

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
    help="For each check; one that takes longer is left out, and named. As much again goes into"
    " explaining what is found.",
)
@click.option(
    "--every",
    is_flag=True,
    help="Every check; otherwise of each protocol and property the first one that violates it.",
)
@LAYOUT
@click.option("--open", "opened", is_flag=True, help="Open the index in a browser.")
def gallery(
    folder: str, files: tuple[str, ...], budget: float, every: bool, layout: Layout, opened: bool
) -> int:
    """Write pages of HTML for runs that violate what they should, and an index, to DIR.

    FILEs are specs, or folders with specs in them; without any, the library that comes with the
    tool. Of each, the checks that expect a violation are run.
    """
    from checker.cli.console import print_note, write_file
    from checker.cli.page_options import open_in_browser
    from checker.diagnostics.english import count
    from checker.render.html.gallery import index_of

    target = console.make_folder(folder)
    specs = _specs(files)
    exhibits: list[Exhibit] = []
    skipped: list[Skipped] = []
    for file in specs:
        for trace in _visit(file, budget, every, skipped):
            exhibits.append(_hang(trace, file, target, layout))
    index = target / "index.html"
    write_file(str(index), index_of(exhibits, skipped, layout))
    for each in skipped:
        print_note(f"left out: {each.check}: {each.why}")
    console.print_line(
        f"{index}: {count(len(exhibits), 'run')}, {count(len(skipped), 'check')} left out"
    )
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


def _visit(file: Path, budget: float, every: bool, skipped: list[Skipped]) -> Iterator[Trace]:
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
            for verdict in _verdicts(spec, name, _options(budget)):
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


def _options(budget: float) -> Options:
    from checker.engines.options import Options
    from checker.results.answer import Limits

    return Options(limits=Limits(None, None, budget, None), explain=budget)


def _verdicts(spec: Spec, name: str, options: Options) -> tuple[PropertyVerdict, ...]:
    from checker.cli.progress import Meter
    from checker.proving.dispatch_check import answer_check

    with Meter(f"{spec}::{name}") as meter:
        report = answer_check(spec, name, options, meter)
    if report.was_interrupted:
        raise KeyboardInterrupt
    return report.verdicts


def _hang(trace: Trace, file: Path, target: Path, layout: Layout) -> Exhibit:
    """Writes the page of an execution, with the text of its spec beside it."""
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
