"""``bivalence gallery``: a page for each check that shows a violation, and an index of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from checker.options import Options
    from checker.views.page.gallery import Exhibit, Skipped
    from checker.witness.trace import Trace

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
@click.option("--open", "opened", is_flag=True, help="Open the index in a browser.")
def gallery(folder: str, files: tuple[str, ...], budget: float, opened: bool) -> int:
    """Write pages of HTML for runs that violate what they should, and an index, to DIR.

    FILEs are specs, or folders with specs in them; without any, the library that comes with the
    tool. Of each, the checks that expect a violation are run.
    """
    from checker.cli.pages import open_in_browser
    from checker.cli.say import note, write
    from checker.views.page.gallery import index_of

    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise click.UsageError(f"{folder} is a file")
    target.mkdir(parents=True, exist_ok=True)
    exhibits: list[Exhibit] = []
    skipped: list[Skipped] = []
    specs = _specs(files)
    for file in specs:
        _visit(file, target, budget, exhibits, skipped)
    index = target / "index.html"
    write(str(index), index_of(exhibits, skipped))
    for each in skipped:
        note(f"left out: {each.check}: {each.why}")
    click.echo(f"{index}: {len(exhibits)} runs, {len(skipped)} checks left out")
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


def _visit(
    file: Path,
    target: Path,
    budget: float,
    exhibits: list[Exhibit],
    skipped: list[Skipped],
) -> None:
    """Runs the checks of ``file`` that expect a violation, and writes a page for each."""
    from checker import pipeline
    from checker.diagnostics import SpecError
    from checker.views.page.gallery import Skipped

    options = _options(budget)
    try:
        names = pipeline.checks_in(str(file))
    except SpecError as problem:
        skipped.append(Skipped(str(file), problem.diagnostics[0].message))
        return
    for name in names:
        said = f"{file.name}::{name}"
        try:
            if not _expects_violation(str(file), name):
                continue
            traces = _traces(str(file), name, options)
        except SpecError as problem:
            skipped.append(Skipped(said, problem.diagnostics[0].message))
            continue
        if not traces:
            skipped.append(Skipped(said, f"nothing was found in {budget:g} seconds"))
        exhibits += [_hang(trace, file, target) for trace in traces]


def _options(budget: float) -> Options:
    from checker.options import Options
    from checker.witness.answer import Limits

    return Options(limits=Limits(None, None, budget, None), explain=budget)


def _expects_violation(file: str, name: str) -> bool:
    from checker import pipeline

    expected = pipeline.load_check(file, name, {}).expect
    return any(each.value == "violated" for each in expected)


def _traces(file: str, name: str, options: Options) -> list[Trace]:
    """The traces of the violations that the check expects."""
    from checker import pipeline
    from checker.cli.progress import Meter

    with Meter(f"{file}::{name}") as meter:
        report = pipeline.run_check(file, name, options, meter)
    if report.interrupted:
        raise KeyboardInterrupt
    return [v.trace for v in report.verdicts if v.trace is not None and v.expected == "violated"]


def _hang(trace: Trace, file: Path, target: Path) -> Exhibit:
    """Writes the page of a run, with the text of its spec beside it."""
    from checker.cli.say import write
    from checker.views.page import page_of
    from checker.views.page.gallery import Exhibit, page_name

    theme = file.resolve().parent.name
    name = page_name(trace)
    (target / theme).mkdir(exist_ok=True)
    spec = f"{theme}/{file.name}.txt"
    write(str(target / spec), file.read_text(encoding="utf-8"))
    write(str(target / theme / name), page_of(trace, index="../index.html"))
    return Exhibit(theme, trace, f"{theme}/{name}", spec)
