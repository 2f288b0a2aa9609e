"""The options for checkpoints: where a run of the tool is kept, and how it is resumed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from checker.diagnostics.packages import require_arrow
from checker.extensions.tables import AUTO
from checker.records import replace

if TYPE_CHECKING:
    from checker.results.verdict import Report
    from checker.session.pipeline import Options

NAMES = ("checkpoint", "resume", "keep", "checkpoint_every")


def keeping_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command."""
    options = (
        click.option(
            "--checkpoint",
            metavar="DIR",
            help="Save the run in DIR (or a URI), so that it can be resumed if stopped.",
        ),
        click.option("--resume", metavar="DIR", help="Resume the run saved in DIR."),
        click.option("--keep", is_flag=True, help="Keep DIR after completion."),
        click.option(
            "--checkpoint-every",
            type=click.FloatRange(min=0),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="Minimum time between checkpoints.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def with_keeping(options: Options, given: Mapping[str, Any], checks: int) -> Options:
    """Returns ``options`` with those that were given; raises ``UsageError`` where they conflict."""
    both = [f"--{name}" for name in ("checkpoint", "resume") if given[name] is not None]
    if len(both) > 1:
        raise click.UsageError("--resume saves to the same folder; leave out --checkpoint")
    if both and checks > 1:
        raise click.UsageError(f"{both[0]} applies to one check: name it, as FILE::CHECK")
    if given["keep"] and not both:
        raise click.UsageError("--keep needs --checkpoint or --resume")
    if not both:
        return options
    require_arrow()
    return replace(options, **{name: given[name] for name in NAMES})


def say_kept(report: Report, options: Options) -> None:
    """Prints where the run is kept, if it is, and the command that resumes it."""
    from checker.cli.console import print_note

    if report.kept is None:
        return
    undecided = any(v.word == "unknown" for v in report.verdicts)
    if report.exhaustive and not undecided and not report.failed:
        print_note(f"the run is saved in {report.kept}")
        return
    words = ["bivalence", "check", f"{report.file}::{report.check}", *_same(options)]
    if options.states_out is not None and not _has_tables(options.states_out):
        words += ["--states-out", options.states_out]
    print_note(f"resume with: {shlex.join([*words, '--resume', report.kept])}")


def _has_tables(folder: str) -> bool:
    """Returns whether there are tables already: of the states explored so far."""
    return os.path.isdir(folder) and bool(os.listdir(folder))


def _same(options: Options) -> Sequence[str]:
    """Returns the options that have to be the same when a run is resumed, and the engine."""
    words = [w for name, value in options.settings.items() for w in ("--set", f"{name}={value}")]
    words += ["--fine-steps"] * options.fine_steps + ["--coverage"] * options.coverage
    words += ["--whole"] * options.whole
    words += ["--reduce", options.reduce] if options.reduce != "auto" else []
    if options.engine != AUTO:
        words += ["--engine", options.engine]
    if options.cluster is not None:
        from checker.engines.spark.masters import redact_master, redact_setting

        words += ["--master", redact_master(options.cluster.master)]
        conf = options.cluster.conf.items()
        words += [w for k, v in conf for w in ("--conf", redact_setting(k, v))]
    return words
