"""The group of commands, and the handling of errors that no command handles."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import click

from checker import kept
from checker.cli import console
from checker.cli.errors import say_notes, say_problem, say_refused
from checker.cli.main import UNKNOWN, UNREAD
from checker.cli.option_groups import with_quiet
from checker.resources import version


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        console.print_line(f"bivalence {version()}")
        context.exit()


NAMES = (
    "check", "prove", "bench", "sweep", "test", "mutate", "assumptions", "frontier", "fill",
    "replay", "explain", "view", "export", "gallery", "show", "simulate", "conform",
    "monitor", "test-cases", "explore", "valence", "audit", "judge", "scenario", "list",
    "docs", "fmt", "watch", "lsp", "mcp", "skill", "daemon", "schema", "diagnostic", "doctor",
)  # fmt: skip
"""All commands; ``test-cases`` is ``test_cases`` in the module of that name."""

ELSEWHERE = {"list": ("list_protocols", "list_specs")}
"""The modules and functions of commands that are called otherwise."""


class Commands(Mapping[str, click.Command]):
    """The commands by name.  Each is imported on first use, so that a command does not import the
    others."""

    def __getitem__(self, name: str) -> click.Command:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


@cache
def _command(name: str) -> click.Command:
    """Returns the command called ``name``; raises ``KeyError`` if no command is."""
    if name not in NAMES:
        raise KeyError(name)
    plain = name.replace("-", "_")
    module, function = ELSEWHERE.get(name, (plain, plain))
    found: click.Command = getattr(importlib.import_module(f"checker.cli.{module}"), function)
    return with_quiet(found)


UNCOLLECTED = 50_000
"""The number of new objects from which on Python looks for garbage."""

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 120}


@click.group(commands=Commands(), context_settings=CONTEXT, invoke_without_command=True)
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


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code.

    Without ``arguments`` the process is a command, not a program that calls one: it keeps results
    on disk, and collects garbage, of which there is little, less often.
    """
    if arguments is None:
        kept.use()
        gc.set_threshold(UNCOLLECTED)
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
