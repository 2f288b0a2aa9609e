"""Parses option values: ``FILE::CHECK``, ``n=4``, ``4G``, and makes options from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from checker.cli.cluster_options import cluster_of, cluster_options

if TYPE_CHECKING:
    from checker.pipeline import Options

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Parses an amount of memory in bytes: ``500M``, ``4G``, ``1.5GiB``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"{text!r} is no amount of memory, such as 4G or 500M")
    amount = int(float(found[1]) * UNITS[found[2].upper()])
    if amount == 0:
        raise click.BadParameter("no memory at all is too little")
    return amount


DEEPEST = 10_000
"""The largest depth to which formulas are unrolled."""

DEPTH = click.option(
    "--depth",
    type=click.IntRange(0, DEEPEST),
    metavar="K",
    help="Of one finite system: induction over up to K steps.",
)
QUERY_TIMEOUT = click.option(
    "--query-timeout",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="How long z3 may think about one query.",
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a search to a command."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(["auto", "native", "spark", "reference", "symbolic"]),
            default="auto",
            show_default=True,
            help="What searches: compiled code here, or on Spark, or the plain interpreter that"
            " defines it, or z3, for runs of up to --depth steps; auto starts here, and goes over"
            " to --master when it pays.",
        ),
        click.option(
            "--reduce",
            type=click.Choice(["auto", "none", "symmetry", "por", "all"]),
            default="auto",
            show_default=True,
            help="What may be done to explore less; what is not proven for a question is not done,"
            " and none explores all states as they are.",
        ),
        click.option("--threads", type=click.IntRange(min=1), metavar="K", help="Default: all."),
        click.option(
            "--fine-steps", is_flag=True, help="Each copy of a multicast leaves in its own step."
        ),
        click.option("--max-states", type=click.IntRange(min=1), metavar="N"),
        click.option(
            "--max-depth",
            "--depth",
            "max_depth",
            type=click.IntRange(min=0),
            metavar="K",
            help="Look at runs of up to K steps.",
        ),
        QUERY_TIMEOUT,
        click.option("--timeout", type=click.FloatRange(min=0.001), metavar="SECONDS"),
        click.option("--memory", type=size, metavar="SIZE", help="Such as 4G or 500M."),
    )
    command = cluster_options(command)
    for option in reversed(options):
        command = option(command)
    return command


SET = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter or a clause of the world, such as n=4, crash=2 or links=fair_loss+fifo.",
)


def settings_of(pairs: Sequence[str]) -> dict[str, str]:
    """Parses ``n=4`` and the like into a mapping."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and value and re.fullmatch(r"[A-Za-z_]\w*", name)):
            raise click.UsageError(f"--set wants NAME=VALUE, such as n=4, not {pair!r}")
        if settings.get(name, value) != value:
            raise click.UsageError(f"--set gives {name} twice: {settings[name]} and {value}")
        settings[name] = value
    return settings


def options_of(
    settings: Sequence[str], given: dict[str, Any], *, coverage: bool = False
) -> Options:
    """Makes the pipeline's options from the options of :func:`engine_options`."""
    from checker.pipeline import Options
    from checker.witness.answer import Limits

    depth = given["max_depth"]
    if given["engine"] == "symbolic" and depth is not None and depth > DEEPEST:
        message = f"--depth {depth} is too deep for formulas: {DEEPEST:,} steps are the most"
        raise click.UsageError(message)
    limits = Limits(given["max_states"], depth, given["timeout"], given["memory"])
    more: dict[str, Any] = {}
    if given["graduate_at"] is not None:
        more["graduate_at"] = given["graduate_at"]
    cluster = cluster_of(given)
    if cluster is not None:
        more["cluster"] = cluster
    return Options(
        settings=settings_of(settings),
        engine=given["engine"],
        threads=given["threads"],
        fine_steps=given["fine_steps"],
        limits=limits,
        coverage=coverage,
        reduce=given["reduce"],
        query_timeout=given["query_timeout"],
        **more,
    )


def targets(
    names: Sequence[str], seconds: float | None = None, memory: int | None = None
) -> list[tuple[str, str]]:
    """Returns the checks that ``FILE`` (all of them) and ``FILE::CHECK`` name, in order, each once.

    ``seconds``, ``memory``: for reading each of the files.
    """
    from checker import budgets, pipeline

    found: dict[tuple[str, str], None] = {}
    for name in names:
        path, separator, wanted = name.partition("::")
        with budgets.within(seconds, memory):
            checks = pipeline.checks_in(path)
        if not checks or (separator and wanted not in checks):
            raise pipeline.no_such_check(path, wanted if separator else None, checks)
        found.update(dict.fromkeys((path, c) for c in ([wanted] if separator else checks)))
    return list(found)


def one_target(name: str) -> tuple[str, str]:
    """Returns the one check that ``FILE`` or ``FILE::CHECK`` names."""
    from checker import pipeline

    found = targets([name])
    if len(found) > 1:
        raise pipeline.no_such_check(found[0][0], None, [check for _, check in found])
    return found[0]
