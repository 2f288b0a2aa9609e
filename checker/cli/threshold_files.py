"""Proves the specifications of threshold automata that are files of their own, and shows that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from checker.cli import console

if TYPE_CHECKING:
    from checker.cli.reporting import Display, Files
    from checker.engines.options import Options
    from checker.proving.threshold import FileReport
    from checker.render.ci.outcomes import NotRun
    from checker.results.proof import CountedRun
    from checker.results.verdict import Report

ELSEWHERE = {
    "settings": "--set", "depth": "--depth", "certificate": "--certificate", "shown": "--show",
    "synthesize": "--synthesize", "steps": "--steps",
}  # fmt: skip
"""Options of ``prove`` that say nothing about such files."""


def are_threshold_files(names: tuple[str, ...], given: dict[str, Any], method: str) -> bool:
    """Returns whether ``names`` are files of threshold automata.

    Raises ``UsageError`` where only some are, or where options ``given`` don't apply to them.
    """
    from checker.parametric.threshold.reader import is_threshold_file

    found = [name for name in names if is_threshold_file(name.partition("::")[0])]
    if not found:
        return False
    if len(found) < len(names):
        raise click.UsageError("threshold automata and specs can't be proved by one command")
    for name in found:
        path, separator, _ = name.partition("::")
        if separator:
            raise click.UsageError(f"`{path}` has no checks: leave out what follows `::`")
    for option, written in ELSEWHERE.items():
        if given[option]:
            raise click.UsageError(f"{written} does not apply to threshold automata")
    if method != "auto":
        raise click.UsageError("--method does not apply to threshold automata")
    return True


def prove_files(names: tuple[str, ...], options: Options, files: Files, display: Display) -> int:
    """Proves the specifications of the files ``names``, and returns the worst exit code."""
    from checker.cli.errors import attempt
    from checker.cli.progress import Meter
    from checker.proving.threshold import prove_file
    from checker.results.verdict import worst

    found: list[Report | NotRun] = []
    codes: list[int] = []
    for number, name in enumerate(dict.fromkeys(names)):

        def answer(name: str = name, number: int = number) -> None:
            with (
                files.recording_errors(found, name),
                Meter(name, silent=display.quiet) as meter,
            ):
                proved = prove_file(name, options, meter)
                found.append(proved.report)
            codes.append(proved.report.exit_code)
            if files.leave_stdout:
                if number:
                    console.print_line()
                _show(proved, display)

        codes.append(attempt(answer))
        codes.append(attempt(lambda: files.write(found)))
        if found and getattr(found[-1], "was_interrupted", False):
            break
    codes.append(attempt(lambda: files.close(found)))
    return worst(codes)


def _show(proved: FileReport, display: Display) -> None:
    from checker.cli.reporting import print_report

    for warning in proved.warnings:
        console.print_note(console.render_with_source(warning).rstrip("\n"))
    print_report(proved.report, display)
    if not display.quiet:
        for verdict in proved.report.verdicts:
            if verdict.counted is not None:
                _show_run(verdict.property, verdict.counted)


def _show_run(name: str, run: CountedRun) -> None:
    from checker.proving.threshold import sizes_of

    begin = ", ".join(f"{number} in {location}" for location, number in run.begin.items())
    console.print_line()
    console.print_line(f"{name} is violated with {sizes_of(run)}:")
    console.print_line(f"  begins with {begin or 'nobody'}")
    for step in run.steps:
        move = f"{step.times} x {step.source} -> {step.target}"
        console.print_line(f"  {move}   {step.rule}, line {step.line}")
