"""Parses option values: ``FILE::CHECK``, ``n=4``, ``4G``, and makes options from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from checker.cli.cluster_options import cluster_of, cluster_options
from checker.cli.extension_names import ExtensionName
from checker.extensions.tables import AUTO, DEFAULT, DEFINITION, ENGINES

if TYPE_CHECKING:
    from checker.language.load import Spec
    from checker.session.pipeline import Options

    Target = tuple[Spec, str]
    """A check: its file, and its name there."""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Parses an amount of memory in bytes: ``500M``, ``4G``, ``1.5GiB``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"{text!r} is not an amount of memory, such as 4G or 500M")
    amount = int(float(found[1]) * UNITS[found[2].upper()])
    if amount == 0:
        raise click.BadParameter("the memory limit must be above 0")
    return amount


REDUCE_MODES = "[auto|none|symmetry|por|all]"
"""The choices of ``--reduce`` on a page of help, which loads no reductions."""


def reduce_mode(context: click.Context, option: click.Parameter, given: str) -> str:
    """Returns the mode of reductions; raises ``click.BadParameter`` where there is none."""
    from checker.reductions.modes import is_mode, modes

    if is_mode(given):
        return given
    return str(click.Choice(modes()).convert(given, option, context))


def complete_mode(context: click.Context, option: click.Parameter, begun: str) -> list[str]:
    """Returns the modes of reductions that begin so."""
    from checker.reductions.modes import modes

    return [mode for mode in modes() if mode.startswith(begun)]


DEEPEST = 10_000
"""The largest depth to which formulas are unrolled."""

DEPTH = click.option(
    "--depth",
    type=click.IntRange(0, DEEPEST),
    metavar="K",
    help="For one finite system: induction over up to K steps.",
)
TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="Stop after SECONDS; undecided properties are unknown.",
)
MAX_STATES = click.option(
    "--max-states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after finding N states.",
)
FINE_STEPS = click.option(
    "--fine-steps", is_flag=True, help="Send each copy of a multicast in a separate step."
)
LOG_ENGINE = click.option(
    "--engine",
    type=click.Choice([AUTO, DEFAULT, DEFINITION]),
    default=AUTO,
    show_default=True,
    help="Engine: native code or the reference interpreter.",
)
"""The engines that search for a run with the lines of a log."""
MEMORY = click.option(
    "--memory",
    type=size,
    metavar="SIZE",
    help="Limit memory to SIZE, such as 4G or 500M.",
)
QUERY_TIMEOUT = click.option(
    "--query-timeout",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="Time limit of z3 per query.",
)
SEARCH = click.option(
    "--search",
    type=click.IntRange(min=1),
    metavar="STATES",
    help="Threshold automata only: search up to that many states at small sizes for violations of"
    " what is proved, and replay the violations that are shown.",
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a search to a command."""
    options = (
        click.option(
            "--engine",
            type=ExtensionName(ENGINES),
            default=AUTO,
            show_default=True,
            help="Engine: native code here or on Spark, the reference interpreter, or z3 (runs of"
            " up to --depth steps); auto starts locally and switches"
            " to --master when that is faster.",
        ),
        click.option(
            "--reduce",
            metavar=REDUCE_MODES,
            callback=reduce_mode,
            shell_complete=complete_mode,
            default="auto",
            show_default=True,
            help="Allowed reductions; each is applied only where it is proven sound for the"
            " property;"
            " none explores all states.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="K",
            help="Number of threads (default: all cores).",
        ),
        FINE_STEPS,
        MAX_STATES,
        click.option(
            "--max-depth",
            "--depth",
            "max_depth",
            type=click.IntRange(min=0),
            metavar="K",
            help="Explore runs of up to K steps.",
        ),
        QUERY_TIMEOUT,
        TIMEOUT,
        MEMORY,
    )
    command = cluster_options(command)
    for option in reversed(options):
        command = option(command)
    return command


def chance_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of questions about chance to a command."""
    exact = click.option(
        "--exact",
        is_flag=True,
        help="Compute probabilities and expected values as fractions, each with a checked"
        " certificate; small systems are always exact.",
    )
    precision = click.option(
        "--precision",
        type=click.FloatRange(min=0, min_open=True, max=1),
        default=1e-6,
        show_default=True,
        metavar="WIDTH",
        help="Maximum width of probability intervals.",
    )
    drn_out = click.option(
        "--drn-out",
        metavar="FILE",
        help="Write the Markov decision process of a check for the Storm checker.",
    )
    return exact(precision(drn_out(command)))


SET = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter or a clause of the world, such as n=4, crash=2 or links=fair_loss+fifo.",
)


LAYOUT = click.option(
    "--layout",
    type=click.Choice(["steps", "causality"]),
    default="steps",
    show_default=True,
    help="Order in diagrams: by step, or by causality.",
)


def selection(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--processes`` and ``--fold`` to a command that draws executions."""
    options = (
        click.option(
            "--processes",
            "lanes",
            metavar="P,…",
            callback=_names,
            help="Draw only these processes, such as p1,p3.",
        ),
        click.option("--fold", "folded", is_flag=True, help="Omit irrelevant steps."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _names(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (given or "").split(","))
    if given is not None and not all(names):
        raise click.BadParameter("separate processes by commas, such as p1,p3")
    return names if given is not None else ()


def settings_of(pairs: Sequence[str]) -> dict[str, str]:
    """Parses ``n=4`` and the like into a mapping."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and value and re.fullmatch(r"[A-Za-z_]\w*", name)):
            raise click.UsageError(f"--set takes NAME=VALUE, such as n=4, not {pair!r}")
        if settings.get(name, value) != value:
            raise click.UsageError(f"--set sets {name} twice: to {settings[name]} and {value}")
        settings[name] = value
    return settings


def options_of(
    settings: Sequence[str], given: dict[str, Any], *, coverage: bool = False
) -> Options:
    """Makes the pipeline's options from the options of :func:`engine_options`."""
    from checker.engines.registry import engine_of
    from checker.results.answer import Limits
    from checker.session.pipeline import Options

    depth = given["max_depth"]
    if depth is not None and depth > DEEPEST and engine_of(given["engine"]).unrolls:
        message = f"--depth {depth} is too large for formulas: the limit is {DEEPEST:,} steps"
        raise click.UsageError(message)
    limits = Limits(given["max_states"], depth, given["timeout"], given["memory"])
    more: dict[str, Any] = {}
    if given["graduate_at"] is not None:
        more["graduate_at"] = given["graduate_at"]
    cluster = cluster_of(given)
    if cluster is not None:
        more["cluster"] = cluster
    if "exact" in given:
        more |= {"exact": given["exact"], "precision": Fraction(given["precision"])}
        more["drn_out"] = given["drn_out"]
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
) -> list[Target]:
    """Returns the checks that ``FILE`` (all of them) and ``FILE::CHECK`` name, in order, each once;
    a file is read once.

    ``seconds``, ``memory``: for reading each of the files.
    """
    from checker.engines import budgets
    from checker.session import pipeline

    found: dict[Target, None] = {}
    specs: dict[str, Spec] = {}
    for name in names:
        path, separator, wanted = name.partition("::")
        if path not in specs:
            with budgets.within(seconds, memory):
                specs[path] = pipeline.read_spec(path)
        checks = specs[path].names
        if not checks or (separator and wanted not in checks):
            raise pipeline.no_such_check(path, wanted if separator else None, checks)
        found.update(dict.fromkeys((specs[path], c) for c in ([wanted] if separator else checks)))
    return list(found)


def one_target(name: str) -> Target:
    """Returns the one check that ``FILE`` or ``FILE::CHECK`` names."""
    from checker.session import pipeline

    found = targets([name])
    if len(found) > 1:
        raise pipeline.no_such_check(str(found[0][0]), None, [check for _, check in found])
    return found[0]
