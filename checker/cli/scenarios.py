"""Scenarios that a user names: of a check, or in a file; and how they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import say

if TYPE_CHECKING:
    from checker.lang import typed
    from checker.stepping.choices import Choice
    from checker.stepping.opened import Opened
    from checker.witness.trace import Trace


def found(check: typed.Check, name: str) -> typed.Scenario:
    """The scenario ``name`` of ``check``, or the one in the file ``name``."""
    from checker.cli.say import read
    from checker.stepping.saved import SUFFIX, read_saved

    if name.endswith(SUFFIX):
        return read_saved(read(name), name).scenario(check)
    for scenario in check.scenarios:
        if scenario.name == name:
            return scenario
    known = ", ".join(scenario.name for scenario in check.scenarios)
    has = f"it has {known}" if known else "it has none"
    raise click.UsageError(f"the check {check.name} has no scenario {name}: {has}")


def save(opened: Opened, taken: Sequence[Choice], trace: Trace, file: str) -> None:
    """Writes the run through ``taken``, which ``trace`` tells, as a scenario to ``file``."""
    from checker.cli.say import require_writable, write

    require_writable(file)
    write(file, text_of(opened, taken, trace, file))


def text_of(
    opened: Opened, taken: Sequence[Choice], trace: Trace, file: str, name: str | None = None
) -> str:
    """What a file with that scenario holds; it is called ``name``, or as the file."""
    from checker.stepping.saved import written
    from checker.stepping.scenario import claims_of, clause

    header = opened.header
    text = clause(named(name or file), taken, trace.loop, claims_of(trace))
    settings = [(k, v) for k, v in opened.settings.items()]
    return written(header.file, header.check, settings, opened.fine, text, file)


def named(file: str) -> str:
    """A scenario's name, from the name of its file, or from what it shall be called."""
    from checker.diagnostics import SpecError
    from checker.lang.check_scenario import scenario_in

    name = re.sub(r"\W+", "_", Path(file).stem, flags=re.ASCII).strip("_")
    try:
        scenario_in(f"\nscenario {name} {{\n}}\n", file, frozenset())
    except SpecError:  # a word of the language, or it begins with a digit
        return f"run_{name}".rstrip("_")
    return name


def is_scenario(name: str) -> bool:
    """Whether ``name`` is a scenario's: ``FILE.scenario`` or ``FILE::CHECK::SCENARIO``."""
    from checker.stepping.saved import SUFFIX

    return name.endswith(SUFFIX) or name.count("::") == 2


def opened_for(name: str) -> tuple[Opened, typed.Scenario]:
    """The scenario ``name`` (see :func:`is_scenario`), and its check ready for stepping."""
    from checker import pipeline
    from checker.cli.say import read
    from checker.stepping.saved import SUFFIX, read_saved

    if name.endswith(SUFFIX):
        saved = read_saved(read(name), name)
        options = pipeline.Options(settings=saved.settings, fine_steps=saved.fine)
        opened = pipeline.open_check(saved.path, saved.check, options)
        return opened, saved.scenario(opened.check)
    path, check, called = name.split("::")
    opened = pipeline.open_check(path, check, pipeline.Options())
    return opened, found(opened.check, called)


def replay_scenario(name: str, steps: bool) -> int:
    """Runs a scenario and shows the run; 0 where it is as it is told, and 1 where it is not."""
    from checker.cli.say import page
    from checker.stepping.scenario import play
    from checker.stepping.session import told
    from checker.views.text import trace_view

    opened, scenario = opened_for(name)
    played = play(opened, scenario)
    if played.taken:
        about = next((c.what for c in scenario.claims if c.word == "violated"), "")
        page(trace_view(told(opened, played.taken, played.loop, about), steps))
        say.line()
    problem = played.problem
    if problem is None:
        say.line(f"{scenario.name}: as told")
        return 0
    say.line(f"{problem.span.file}:{problem.span.line}: {scenario.name} is not as told:")
    say.line(f"  {problem.message}")
    if problem.possible:
        say.line("  what can happen there:")
    for text in problem.possible:
        say.line(f"    {text}")
    return 1
