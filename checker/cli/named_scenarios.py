"""Scenarios that a user names, of a check or in a file, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import console

if TYPE_CHECKING:
    from checker.language.syntax import typed
    from checker.results.trace import Trace
    from checker.simulate.choices import Choice
    from checker.simulate.prepared_check import PreparedCheck


def find_scenario(check: typed.Check, name: str) -> typed.Scenario:
    """Returns the scenario ``name`` of ``check``, or the one in the file ``name``."""
    from checker.cli.console import read_document
    from checker.simulate.scenario_files import SUFFIX, read_saved

    if name.endswith(SUFFIX):
        return read_saved(read_document(name), name).scenario(check)
    for scenario in check.scenarios:
        if scenario.name == name:
            return scenario
    known = ", ".join(scenario.name for scenario in check.scenarios)
    has = f"it has {known}" if known else "it has none"
    raise click.UsageError(f"the check {check.name} has no scenario {name}: {has}")


def save(opened: PreparedCheck, taken: Sequence[Choice], trace: Trace, file: str) -> None:
    """Writes the execution through ``taken``, with its ``trace``, as a scenario to ``file``."""
    from checker.cli.console import require_writable, write_file

    require_writable(file)
    write_file(file, text_of(opened, taken, trace, file))


def text_of(
    opened: PreparedCheck, taken: Sequence[Choice], trace: Trace, file: str, name: str | None = None
) -> str:
    """Returns the text of a file with that scenario, which is called ``name``, or like the file."""
    from checker.simulate.scenario import claims_of, clause
    from checker.simulate.scenario_files import scenario_text

    header = opened.header
    text = clause(scenario_name(name or file), taken, trace.loop, claims_of(trace))
    settings = [(k, v) for k, v in opened.settings.items()]
    return scenario_text(header.file, header.check, settings, opened.fine, text, file)


def scenario_name(file: str) -> str:
    """Makes a scenario's name, from the name of its file, or from the requested name."""
    from checker.diagnostics import SpecError
    from checker.language.typecheck.scenarios import scenario_in

    name = re.sub(r"\W+", "_", Path(file).stem, flags=re.ASCII).strip("_")
    try:
        scenario_in(f"\nscenario {name} {{\n}}\n", file, frozenset())
    except SpecError:  # a keyword of the language, or it begins with a digit
        return f"run_{name}".rstrip("_")
    return name


def is_scenario(name: str) -> bool:
    """Returns whether ``name`` is a scenario's: ``FILE.scenario`` or ``FILE::CHECK::SCENARIO``."""
    from checker.simulate.scenario_files import SUFFIX

    return name.endswith(SUFFIX) or name.count("::") == 2


def open_scenario(name: str) -> tuple[PreparedCheck, typed.Scenario]:
    """Opens the scenario ``name`` (see :func:`is_scenario`), with its check ready for stepping."""
    from checker.cli.console import read_document
    from checker.session import pipeline
    from checker.simulate.scenario_files import SUFFIX, read_saved

    if name.endswith(SUFFIX):
        saved = read_saved(read_document(name), name)
        options = pipeline.Options(settings=saved.settings, fine_steps=saved.fine)
        opened = pipeline.open_check(saved.path, saved.check, options)
        return opened, saved.scenario(opened.check)
    path, check, called = name.split("::")
    opened = pipeline.open_check(path, check, pipeline.Options())
    return opened, find_scenario(opened.check, called)


def replay_scenario(name: str, steps: bool) -> int:
    """Runs and shows a scenario; returns 0 where it is possible and its claims are true, else 1."""
    from checker.cli.console import print_view
    from checker.render.terminal.text import trace_view
    from checker.simulate.scenario import play
    from checker.simulate.session import trace_of_choices

    opened, scenario = open_scenario(name)
    played = play(opened, scenario)
    if played.taken:
        about = next((c.what for c in scenario.claims if c.word == "violated"), "")
        print_view(trace_view(trace_of_choices(opened, played.taken, played.loop, about), steps))
        console.print_line()
    problem = played.problem
    if problem is None:
        console.print_line(f"{scenario.name}: passed")
        return 0
    console.print_line(f"{problem.span.file}:{problem.span.line}: {scenario.name} FAILED:")
    console.print_line(f"  {problem.message}")
    if problem.possible:
        console.print_line("  possible steps:")
    for text in problem.possible:
        console.print_line(f"    {text}")
    return 1
