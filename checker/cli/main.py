"""The entry point: the group of commands, and what each exception means to the shell.

Exit codes: 0 as it should be, 1 violated, 4 vacuous, 3 unknown, 2 what was given can't be used,
70 a fault of the tool.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence

import click

from checker.budgets import left_behind
from checker.cli.check import check
from checker.cli.diagnostic import diagnostic
from checker.cli.doctor import doctor
from checker.cli.explain import explain
from checker.cli.explore import explore
from checker.cli.export import export
from checker.cli.gallery import gallery
from checker.cli.library import list_specs
from checker.cli.prove import prove
from checker.cli.replay import replay
from checker.cli.scenario import scenario
from checker.cli.show import show
from checker.cli.simulate import simulate
from checker.cli.sweep import sweep
from checker.cli.test import test
from checker.cli.unusable import USAGE, say_notes, say_unusable
from checker.cli.view import view

UNKNOWN, BUG = 3, 70
UNREAD = 141
"""Nobody reads the output: what a shell says of a process that SIGPIPE ended."""
DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
"""What a disk says that has no room, or is not for the user: nothing that the tool could help."""
DEBUG = "BIVALENCE_DEBUG"


def version() -> str:
    """The version of the installed tool."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bivalence")
    except PackageNotFoundError:
        return "(not installed)"


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"bivalence {version()}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """A model checker for broadcast protocols.

    Exit codes: 0 all as expected, 1 violated, 4 vacuous, 3 unknown (a budget was reached),
    2 what was given can't be used, 70 a fault of the tool.
    """


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
    explore,
    scenario,
    list_specs,
    diagnostic,
    doctor,
):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        code = UNREAD
    if left_behind():  # a compiler, say: nothing that anybody would wait for
        sys.stderr.flush()
        os._exit(code)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="bivalence",
            standalone_mode=False,
        )
        return result if isinstance(result, int) else 0
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt) as problem:
        click.echo("interrupted", err=True)
        say_notes(problem)
        return UNKNOWN
    except BrokenPipeError:
        raise
    except SystemExit as leaving:  # click's own answer to a broken pipe
        raise BrokenPipeError from leaving
    except MemoryError as problem:
        click.echo("out of memory: the verdict is unknown; --memory sets a budget", err=True)
        say_notes(problem)
        return UNKNOWN
    except OSError as problem:
        return _of_system(problem)
    except Exception as problem:
        return _of_exception(problem)


def _of_system(problem: OSError) -> int:
    """The machine refuses: a disk is full, a file can't be read or written."""
    from checker.cli.say import Unwritten

    where = f"{problem.filename}: " if problem.filename is not None else ""
    click.echo(f"error: {where}{problem.strerror or problem}", err=True)
    say_notes(problem)
    _debug()
    return USAGE if isinstance(problem, Unwritten) or problem.errno in DISKS else BUG


def _of_exception(problem: Exception) -> int:
    code = say_unusable(problem)
    if code is not None:
        return code
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    click.echo(f"internal error: {what}; please report it ({DEBUG}=1 shows where)", err=True)
    say_notes(problem)
    _debug()
    return BUG


def _debug() -> None:
    if os.environ.get(DEBUG, "") not in ("", "0"):
        click.echo(traceback.format_exc(), err=True, nl=False)


def _close_stdout() -> None:
    """Nobody reads any more: what Python would still flush goes nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return
