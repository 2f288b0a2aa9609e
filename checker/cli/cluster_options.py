"""The options that select the cluster of a search, and how it runs there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from checker.extensions.tables import AUTO, ON_CLUSTER

if TYPE_CHECKING:
    from checker.engines.cluster import Cluster

MASTER = click.option(
    "--master",
    metavar="URL",
    help="Cluster URL: spark://HOST:PORT, yarn, k8s://https://HOST:PORT, sc://HOST, local[N].",
)
CONF = click.option(
    "--conf", multiple=True, metavar="KEY=VALUE", help="Spark setting (repeatable)."
)

ENDING = 15.0
"""Seconds that a run on a cluster has to end after a signal: its tasks commit what they have."""


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command."""
    options = (
        MASTER,
        CONF,
        click.option(
            "--exchange",
            type=click.Choice(["auto", "shuffle", "barrier"]),
            default="auto",
            show_default=True,
            help="State exchange: by Spark's shuffle, or between tasks (faster; all tasks run"
            " at the same time).",
        ),
        click.option(
            "--shards",
            type=click.IntRange(min=1),
            metavar="K",
            help="Number of shards (default: one per slot).",
        ),
        click.option(
            "--graduate-at",
            type=click.IntRange(min=1),
            metavar="N",
            help="With auto: switch to --master once a level has N states (default: a million).",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def cluster_of(given: Mapping[str, Any]) -> Cluster | None:
    """Returns the requested cluster, after a quick test of it from here; ``None`` where there is
    none.

    Raises ``UsageError`` for options that contradict one another, and :class:`SpecError` (E020 to
    E023) for a cluster that can't be reached.
    """
    from checker.engines.cluster import HERE, Cluster, Exchange

    engine, master = given["engine"], given["master"]
    about = _about_clusters(given)
    if engine != AUTO:
        from checker.engines.engine import ClusterUse
        from checker.engines.registry import engine_of

        use = engine_of(engine).cluster
        if use is ClusterUse.REFUSED:
            if about:
                which = f"--engine {ON_CLUSTER}, or {AUTO} with --master"
                raise click.UsageError(f"{about[0]} applies to {which}")
            return None
        if use is ClusterUse.REQUIRED:
            if given["graduate_at"] is not None:
                raise click.UsageError(f"--graduate-at applies to --engine {AUTO} with --master")
            if given["threads"] is not None:
                raise click.UsageError("--threads applies to this machine; on Spark use --shards")
            master = master or HERE
    if master is None:
        if about:
            raise click.UsageError(f"{about[0]} needs --master")
        return None
    conf, exchange = conf_of(given["conf"]), Exchange(given["exchange"])
    cluster = Cluster(master, conf, exchange, given["shards"])
    look(cluster)
    return cluster


def simple_cluster(master: str | None, conf: Sequence[str]) -> Cluster | None:
    """Returns the cluster that the options ``--master`` and ``--conf`` name, after a quick test of
    it; raises ``UsageError`` and :class:`SpecError` as :func:`cluster_of` does."""
    from checker.engines.cluster import Cluster

    if master is None:
        if conf:
            raise click.UsageError("--conf needs --master")
        return None
    cluster = Cluster(master, conf_of(conf))
    look(cluster)
    return cluster


def _about_clusters(given: Mapping[str, Any]) -> list[str]:
    """Returns those of the options that were given."""
    said = {
        "--master": given["master"] is not None,
        "--conf": bool(given["conf"]),
        "--exchange": given["exchange"] != "auto",
        "--shards": given["shards"] is not None,
        "--graduate-at": given["graduate_at"] is not None,
    }
    return [name for name, was_given in said.items() if was_given]


def conf_of(pairs: Sequence[str]) -> dict[str, str]:
    """Parses ``spark.executor.memory=4g`` and the like into a mapping."""
    conf: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if not (equals and name.startswith("spark.")):
            raise click.UsageError(
                f"--conf takes KEY=VALUE, such as spark.executor.memory=4g, not {pair!r}"
            )
        if conf.get(name, value) != value:
            raise click.UsageError(f"--conf sets {name} twice: to {conf[name]} and {value}")
        conf[name] = value
    return conf


def look(cluster: Cluster) -> None:
    """Raises :class:`SpecError` where a quick test shows that no session can be opened."""
    from checker.cli import last_words

    last_words.end_within(ENDING)
    from checker.engines.spark.session import require

    require(cluster)
