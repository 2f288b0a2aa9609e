"""The group of commands, and the handling of errors that no command handles."""

from __future__ import annotations

from collections.abc import Sequence

import click

from checker.cli import console
from checker.cli.audit import audit
from checker.cli.check import check
from checker.cli.conform import conform
from checker.cli.diagnostic import diagnostic
from checker.cli.doctor import doctor
from checker.cli.errors import say_notes, say_problem, say_refused
from checker.cli.explain import explain
from checker.cli.explore import explore
from checker.cli.export import export
from checker.cli.fmt import fmt
from checker.cli.gallery import gallery
from checker.cli.list_protocols import list_specs
from checker.cli.lsp import lsp
from checker.cli.main import UNKNOWN, UNREAD
from checker.cli.option_groups import with_quiet
from checker.cli.prove import prove
from checker.cli.replay import replay
from checker.cli.scenario import scenario
from checker.cli.show import show
from checker.cli.simulate import simulate
from checker.cli.sweep import sweep
from checker.cli.test import test
from checker.cli.test_cases import test_cases
from checker.cli.valence import valence
from checker.cli.view import view
from checker.cli.watch import watch
from checker.resources import version


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        console.print_line(f"bivalence {version()}")
        context.exit()


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 120}


@click.group(context_settings=CONTEXT, invoke_without_command=True)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """A model checker for broadcast protocols.

    \b
    Exit codes:
      0    all as expected
      1    violated
      2    invalid input, or the result can't be written
      3    unknown (a limit was reached)
      4    vacuous
      70   internal error
      141  output pipe closed
    """
    if context.invoked_subcommand is None:
        console.print_line(_first_steps())


def _first_steps() -> str:
    """Returns what is shown of a command line without any words: three things to try."""
    import os

    from checker import resources

    folder, here = resources.specs(), os.getcwd()
    library = folder.relative_to(here) if folder.is_relative_to(here) else folder
    protocol = library / "broadcast" / "eager_reliable.bcast"
    return f"""Bivalence checks broadcast protocols: every interleaving, crash and message loss.

Three things to try:

  bivalence check {protocol}
      check the properties of reliable broadcast, and show a run that violates one
  bivalence explore {protocol}::crash_one
      step through the same protocol by hand
  bivalence gallery pages {library / "consensus"}
      write a page for each failure of the library's faulty protocols

`bivalence list` shows the library, `bivalence --help` all commands."""


for _command in (
    check,
    prove,
    sweep,
    test,
    replay,
    explain,
    view,
    export,
    gallery,
    show,
    simulate,
    conform,
    test_cases,
    explore,
    valence,
    audit,
    scenario,
    list_specs,
    fmt,
    watch,
    lsp,
    diagnostic,
    doctor,
):
    cli.add_command(with_quiet(_command))


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    code = _run_command(arguments)
    say_refused()
    return code


def _run_command(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="bivalence",
            standalone_mode=False,
        )
        return result if isinstance(result, int) else 0
    except (click.Abort, KeyboardInterrupt) as problem:
        cause = problem.__cause__ if isinstance(problem, click.Abort) else problem
        console.print_note(str(cause or "") or "interrupted")
        say_notes(problem)
        return UNKNOWN
    except (console.OutputClosed, SystemExit):  # click itself exits on a broken pipe
        return UNREAD
    except Exception as problem:
        return say_problem(problem)
