"""The help of commands with many options: in groups; and ``--quiet``, which every command has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

GROUPS = {
    "History": ("object_name", "by", "model", "assumed", "initial", "clock_error"),
    "Log": ("mapping", "windows", "replay", "listen", "once", "lag", "state"),
    "Mutants": ("sample", "drawn_by", "every_check", "worlds", "show", "score_at_least"),
    "World": ("settings", "grids", "over", "fine_steps"),
    "Walks": ("walks", "most_steps", "seed", "after"),
    "Engine": ("engine", "reduce", "compact", "whole", "audit_reductions", "threads", "jobs"),
    "Cluster": ("master", "conf", "exchange", "shards", "graduate_at"),
    "Budgets": (
        *("budget", "timeout", "memory", "max_states", "max_depth", "query_timeout", "explaining"),
    ),
    "Chance": ("exact", "precision", "drn_out"),
    "Checkpoints": ("checkpoint", "resume", "keep", "checkpoint_every"),
}
"""The options in each group, by the names of their parameters; all others are about the output."""

OUTPUT = "Output"


class Grouped(click.Command):
    """A command whose page of help has its options in groups."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes each group that the command has options of, in the order of ``GROUPS``."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, OUTPUT)}
        for option in self.get_params(context):
            record = option.get_help_record(context)
            if record is not None:
                found[group_of(option)].append(record)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def group_of(option: click.Parameter) -> str:
    """Returns the title of the group that ``option`` is in."""
    for title, names in GROUPS.items():
        if option.name in names:
            return title
    return OUTPUT


def quiet_option(
    said: str = "Omit progress and notes.", *, expose: bool = True
) -> Callable[..., Any]:
    """Returns the option ``--quiet``, of which :func:`is_quiet` knows; ``said``: its help;
    ``expose``: the command has a parameter for it."""
    return click.option(
        "--quiet", "-q", is_flag=True, callback=_hush, expose_value=expose, help=said
    )


def _hush(context: click.Context, option: click.Parameter, given: bool) -> bool:
    context.meta[__name__] = given
    return given


def is_quiet() -> bool:
    """Returns whether the command that runs was given ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(__name__))


def with_quiet(command: click.Command) -> click.Command:
    """Returns ``command``, with the option ``--quiet`` if it has none of its own."""
    if all(option.name != "quiet" for option in command.params):
        quiet_option(expose=False)(command)
    return command
