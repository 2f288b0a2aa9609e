"""``bivalence explore``: interactive stepping through a check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.settings import FINE_STEPS, SET
from checker.polling import waiting

if TYPE_CHECKING:
    from checker.cli.interactive import Exploring
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.model.interpreter import State
    from checker.simulate.prepared_check import PreparedCheck
    from checker.simulate.session import SteppingSession


@click.command()
@click.argument("name", metavar="[FILE[::CHECK]]", required=False)
@click.option(
    "--from",
    "position",
    metavar="TRACE[@STEP]",
    help="Start from STEP of a recorded run, or from its end, instead of FILE::CHECK.",
)
@SET
@FINE_STEPS
@click.option(
    "--scenario", metavar="NAME|FILE", help="Start after a scenario of the check, or a saved one."
)
@click.option("--save", "save", metavar="FILE", help="Save the run as a scenario at the end.")
@click.option(
    "--valence",
    is_flag=True,
    help="Show after each choice which values can still be decided; explores all states first.",
)
@click.option(
    "--no-diagram", is_flag=True, help="Print only sentences, for example for a screen reader."
)
def explore(
    name: str | None,
    position: str | None,
    settings: tuple[str, ...],
    fine_steps: bool,
    scenario: str | None,
    save: str | None,
    valence: bool,
    no_diagram: bool,
) -> int:
    """Step through a check by hand.

    After each step, shows the run so far and the numbered possible steps of each process. `?`
    lists the commands. Commands come from a terminal or, one per line, from a file or a pipe.
    """
    from checker.cli.console import require_writable
    from checker.cli.interactive import Exploring
    from checker.cli.trace_positions import session_from
    from checker.engines import budgets

    if save is not None:
        require_writable(save)
    if position is None:
        if name is None:
            raise click.UsageError("name a check, as FILE::CHECK, or a run, as --from TRACE@STEP")
        session, still_open = _session_of(name, settings, fine_steps, scenario, valence)
    else:
        if name is not None or settings or fine_steps or scenario is not None or valence:
            raise click.UsageError(
                "--from TRACE@STEP: leave out FILE::CHECK, which the trace names"
            )
        session, still_open = session_from(position), None
    exploring = Exploring(session, diagrams=not no_diagram, still_open=still_open)
    try:
        with budgets.raising_when_exhausted():
            exploring.show()
            while (line := _line()) is not None and _execute(exploring, line):
                pass
    except KeyboardInterrupt:
        budgets.resume_after_interrupt()
        console.print_line()
    if save is not None:
        exploring.save(save)
    return 0


def _session_of(
    name: str,
    settings: tuple[str, ...],
    fine_steps: bool,
    scenario: str | None,
    valence: bool,
) -> tuple[SteppingSession, Callable[[State], str] | None]:
    """Returns stepping through the check that ``FILE::CHECK`` names, at its start or at the end of
    a scenario, and with ``valence`` what says what can still be decided in a state."""
    from checker.cli.settings import one_target, settings_of
    from checker.session import pipeline
    from checker.simulate.session import SteppingSession

    spec, check = one_target(name)
    options = pipeline.Options(settings=settings_of(settings), fine_steps=fine_steps)
    still_open = None
    if valence:
        opened, still_open = _with_valence(name, spec, check, options)
    else:
        opened = pipeline.open_check(spec, check, options)
    session = SteppingSession(opened)
    if scenario is not None:
        _begin(session, session.prepared, scenario)
    return session, still_open


def _with_valence(
    name: str, spec: Spec, check: str, options: Options
) -> tuple[PreparedCheck, Callable[[State], str]]:
    """Returns the check of which the valence of all states is known, and what says it; raises
    ``UsageError`` where it is not."""
    from checker.cli.progress import Meter
    from checker.valence.compute import compute
    from checker.valence.explore import prepared, still_open
    from checker.valence.question import question_of

    with Meter(name) as meter:
        found = compute(question_of(spec, check, options, None, free_inputs=False), meter)
    if found.stopped is not None:
        raise click.UsageError(f"the valence of {name} is unknown: {found.stopped}")
    return prepared(found), lambda state: still_open(found, state)


def _execute(exploring: Exploring, line: str) -> bool:
    """Executes the command ``line``; returns False at the end.  On a terminal, Ctrl-C ends the
    command, such as a long `random`, and not the session.
    """
    from checker.cli import last_words
    from checker.engines import budgets

    try:
        return exploring.do(line)
    except KeyboardInterrupt:
        if not sys.stdin.isatty():
            raise
        budgets.resume_after_interrupt()
        last_words.answered()
        console.print_line("\ninterrupted; `show` displays the run so far")
        return True


def _line() -> str | None:
    """Reads the next command; ``None`` at the end.  Where the input is no terminal, the line is
    echoed.
    """
    if sys.stdin.isatty():
        try:
            import readline  # noqa: F401 - lines can be edited, and recalled
        except ImportError:
            pass
        try:
            with waiting():
                return input("> ")
        except EOFError:
            console.print_line()
            return None
    with waiting():
        line = sys.stdin.readline()
    if not line:
        return None
    console.print_line(f"> {line.strip()}")
    return line


def _begin(session: SteppingSession, opened: PreparedCheck, name: str) -> None:
    """Takes the steps of a scenario, as far as they are possible."""
    from checker.cli.named_scenarios import find_scenario
    from checker.simulate.phrase_matching import Unclear

    scenario = find_scenario(opened.check, name)
    for step in (*scenario.steps, *scenario.again):
        said = session.say(step.text)
        if isinstance(said, Unclear):
            console.print_line(f"line {step.span.line}: {said.message}; the run stops here")
            break
