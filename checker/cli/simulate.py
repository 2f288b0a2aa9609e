"""``bivalence simulate``: random walks, which find violations and prove nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import click

from checker.cli.check import only_asked
from checker.cli.cluster_options import CONF, MASTER
from checker.cli.document_options import (
    ITF_OUT,
    JSON_OUT,
    explaining_options,
    trace_option,
    writing_files,
)
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.reporting import VERBOSE, Display, Files, run_and_report
from checker.cli.settings import FINE_STEPS, LAYOUT, SET, selection, size
from checker.extensions.tables import AUTO, DEFAULT, DEFINITION, ON_CLUSTER
from checker.records import replace

if TYPE_CHECKING:
    from checker.cli.progress import Meter
    from checker.engines.cluster import Cluster
    from checker.language.load import Spec
    from checker.language.syntax import typed
    from checker.results.verdict import Report
    from checker.session.pipeline import Options
    from checker.simulate.simulation import WalkPlan

LARGEST_SEED = 1_000_000_000
MOST_STEPS = 1_000_000
"""A walk has no more steps: its states are kept to be replayed."""
DEFAULT_WALKS = 10_000
"""So many walks are made where neither their number nor a time is given."""


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@SET
@click.option(
    "--walks",
    "--runs",
    "walks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of walks (default: 10000, or as many as --timeout allows).",
)
@click.option(
    "--steps",
    "most_steps",
    type=click.IntRange(1, MOST_STEPS),
    default=200,
    show_default=True,
    metavar="K",
    help="Maximum number of steps of a walk.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    help="Seed of the walks (default: a new one).",
)
@click.option(
    "--after", metavar="SCENARIO", help="Start walks at the end of SCENARIO: a name, or a file."
)
@click.option("--only", multiple=True, metavar="PROPERTY", help="Check only PROPERTY (repeatable).")
@click.option(
    "--engine",
    type=click.Choice([AUTO, DEFAULT, ON_CLUSTER, DEFINITION]),
    default=AUTO,
    show_default=True,
    help="Engine: native code here or on Spark, or the reference interpreter;"
    " all make the same walks.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="K",
    help="Number of threads (default: all cores).",
)
@MASTER
@CONF
@click.option(
    "--timeout",
    "--time",
    "timeout",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="Stop walks after SECONDS.",
)
@click.option("--memory", type=size, metavar="SIZE", help="Memory limit for walks.")
@explaining_options(
    "Time limit for minimising a violating walk and finding counterfactuals.",
    "Show the run as found, without minimising and explaining it.",
)
@FINE_STEPS
@JSON_OUT
@trace_option("a violation's")
@ITF_OUT
@LAYOUT
@selection
@VERBOSE
@quiet_option("Omit progress and runs.")
@writing_files
def simulate(
    name: str,
    settings: tuple[str, ...],
    after: str | None,
    only: tuple[str, ...],
    explaining: float,
    no_explain: bool,
    files: Files,
    layout: Any,
    lanes: tuple[str, ...],
    folded: bool,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Check properties on random walks.

    Walks reach deeper states than a search, without guarantees. Stops at the first violation, and
    reports it like `check`; otherwise exits with 3. Invariants are evaluated in every state,
    liveness properties where a walk may stay forever. The same seed reproduces the same walks.
    """
    from checker.cli.settings import one_target, settings_of
    from checker.engines import budgets
    from checker.session import pipeline
    from checker.session.simulation import simulate_check

    plan = _plan(given)
    shows_runs = bool(files.outputs) or not quiet
    options = pipeline.Options(
        settings=settings_of(settings),
        fine_steps=given["fine_steps"],
        threads=given["threads"],
        engine=AUTO if plan.cluster is not None else plan.engine,
        explain=explaining if shows_runs and not no_explain else None,
        strips=shows_runs,
    )
    with budgets.within(given["timeout"]), budgets.raising_when_exhausted():
        asked = one_target(name)

    def ask(spec: Spec, check: str, meter: Meter) -> Report:
        walked = replace(plan, after=_scenario(spec, check, options, after))
        return simulate_check(spec, check, options, walked, meter)

    display = Display(quiet, verbose, layout=layout, lanes=lanes, folded=folded)
    return run_and_report(only_asked([asked], only), ask, options, files, display)


def _plan(given: dict[str, Any]) -> WalkPlan:
    """Returns what is walked; a seed is drawn where none is given."""
    from checker.simulate.simulation import WalkPlan

    seed, walks = given["seed"], given["walks"]
    if walks is None and given["timeout"] is None:
        walks = DEFAULT_WALKS
    return WalkPlan(
        random.SystemRandom().randrange(LARGEST_SEED) if seed is None else seed,
        walks,
        given["most_steps"],
        given["timeout"],
        given["threads"],
        given["memory"],
        engine=given["engine"],
        cluster=_cluster(given),
    )


def _cluster(given: dict[str, Any]) -> Cluster | None:
    """Returns the cluster that walks, if any."""
    from checker.cli.cluster_options import conf_of, look
    from checker.engines.cluster import HERE, Cluster

    engine, master = given["engine"], given["master"]
    if master is None and engine != ON_CLUSTER:
        if given["conf"]:
            raise click.UsageError("--conf needs --master")
        return None
    if engine not in (AUTO, ON_CLUSTER):
        raise click.UsageError(f"--master applies to --engine {ON_CLUSTER}")
    if given["threads"] is not None:
        raise click.UsageError("--threads applies to this machine; Spark has one task per slot")
    cluster = Cluster(master or HERE, conf_of(given["conf"]))
    look(cluster)
    return cluster


def _scenario(spec: Spec, check: str, options: Options, name: str | None) -> typed.Scenario | None:
    """Returns the scenario behind which walks start, of the check or in a file, if one is named."""
    if name is None:
        return None
    from checker.cli.named_scenarios import find_scenario
    from checker.session.load import load_check

    return find_scenario(load_check(str(spec), check, options.settings), name)
