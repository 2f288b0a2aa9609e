"""``bivalence explore``: step through a check by hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from checker.cli import say
from checker.cli.settings import SET

if TYPE_CHECKING:
    from checker.cli.exploring import Exploring
    from checker.stepping.opened import Opened
    from checker.stepping.session import Session


@click.command()
@click.argument("name", metavar="FILE[::CHECK]")
@SET
@click.option("--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step.")
@click.option(
    "--scenario", metavar="NAME|FILE", help="Begin with a scenario of the check, or one saved."
)
@click.option("--save", "save", metavar="FILE", help="Save the run as a scenario at the end.")
@click.option("--no-diagram", is_flag=True, help="Sentences only, such as for a screen reader.")
def explore(
    name: str,
    settings: tuple[str, ...],
    fine_steps: bool,
    scenario: str | None,
    save: str | None,
    no_diagram: bool,
) -> int:
    """Step through a check by hand.

    After each step: the run so far, and what can happen next, numbered, for each process. `?`
    tells what can be said. Commands come from a terminal or, one a line, from a file or a pipe.
    """
    from checker import pipeline
    from checker.cli.exploring import Exploring
    from checker.cli.say import require_writable
    from checker.cli.settings import one_target, settings_of
    from checker.cli.signals import ended_politely
    from checker.stepping.session import Session

    if save is not None:
        require_writable(save)
    path, check = one_target(name)
    options = pipeline.Options(settings=settings_of(settings), fine_steps=fine_steps)
    opened = pipeline.open_check(path, check, options)
    session = Session(opened)
    if scenario is not None:
        _begin(session, opened, scenario)
    exploring = Exploring(session, diagrams=not no_diagram)
    with ended_politely():
        try:
            exploring.show()
            while (line := _line()) is not None and _done(exploring, line):
                pass
        except KeyboardInterrupt:
            say.line()
    if save is not None:
        exploring.save(save)
    return 0


def _done(exploring: Exploring, line: str) -> bool:
    """Does what ``line`` says; False at the end.  Where somebody types, Ctrl-C ends the command,
    such as a long `random`, and not the session."""
    try:
        return exploring.do(line)
    except KeyboardInterrupt:
        if not sys.stdin.isatty():
            raise
        say.line("\ninterrupted; `show` tells how far it went")
        return True


def _line() -> str | None:
    """The next line that somebody says; ``None`` at the end.  Where nobody types, it is told."""
    if sys.stdin.isatty():
        try:
            import readline  # noqa: F401 - lines can be edited, and recalled
        except ImportError:
            pass
        try:
            return input("> ")
        except EOFError:
            say.line()
            return None
    line = sys.stdin.readline()
    if not line:
        return None
    say.line(f"> {line.strip()}")
    return line


def _begin(session: Session, opened: Opened, name: str) -> None:
    """Takes the steps of a scenario, as far as they are possible."""
    from checker.cli.scenarios import found
    from checker.stepping.matching import Unclear

    scenario = found(opened.check, name)
    for step in (*scenario.steps, *scenario.again):
        said = session.say(step.text)
        if isinstance(said, Unclear):
            say.line(f"line {step.span.line}: {said.message}; this is how far it goes")
            break
