"""Tests a cluster for ``bivalence doctor``: the user's, or one that it starts itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.records import replace

if TYPE_CHECKING:
    from checker.diagnostics import SpecError
    from checker.engines.cluster import Cluster
    from checker.engines.spark.probe import Seen
    from checker.engines.spark.session import Session
    from checker.results.verdict import Report

SPEC, CHECK, SIZE = "oracles/two_phase.bcast", "three", 8
"""The check of the library that is run on a cluster, and its number of participants."""


class Finding(Struct, frozen=True):
    """One test result; ``needed`` things that are not ``good`` make exit code 1."""

    what: str
    good: bool
    said: str
    remedy: str = ""
    needed: bool = True


def on_cluster(master: str | None, conf: Mapping[str, str]) -> Iterator[Finding]:
    """Tests whether a session can be opened on a cluster, and its executors' installation."""
    from checker.diagnostics import SpecError
    from checker.engines.cluster import Cluster
    from checker.engines.spark.session import open_session

    if master is None:
        return
    try:
        cluster = Cluster(master, conf)
        with open_session(cluster) as session:
            yield from _executors(cluster, session)
    except SpecError as problem:
        yield from _wrong(problem)


def on_own_cluster() -> Iterator[Finding]:
    """Starts a cluster on this machine, tests it as :func:`on_cluster` does, runs a small check on
    it with both exchanges, and ends it."""
    from checker.diagnostics import SpecError
    from checker.engines.cluster import Exchange
    from checker.engines.spark.session import open_session
    from checker.engines.spark.standalone import temporary_cluster

    try:
        with temporary_cluster() as cluster, open_session(cluster) as session:
            yield from _executors(cluster, session)
            native = _checked(None)
            for exchange in (Exchange.BARRIER, Exchange.SHUFFLE):
                yield _compared(native, replace(cluster, exchange=exchange))
    except SpecError as problem:
        yield from _wrong(problem)


def _executors(cluster: Cluster, session: Session) -> Iterator[Finding]:
    """Tests the executors of an open session."""
    from checker.engines.spark import probe
    from checker.engines.spark.masters import redact_master

    dynamic = ", allocated dynamically" if session.dynamic else ""
    said = f"{redact_master(cluster.master)}: {session.slots} slots{dynamic}"
    yield Finding("cluster", True, said)
    for one in sorted({_executor(seen) for seen in probe.require(session)}):
        yield Finding("executor", True, one)


def _executor(seen: Seen) -> str:
    from checker.engines.spark.probe import PACKAGES

    versions = ", ".join(f"{PACKAGES[name]} {version}" for name, version in seen.versions.items())
    return f"{seen.host}: Python {seen.python}, {versions}"


def _checked(cluster: Cluster | None) -> Report:
    """Runs the check on a cluster, or natively without one, and returns the report.  Raises
    :class:`SpecError`."""
    from checker.engines.options import Options
    from checker.extensions.tables import DEFAULT, ON_CLUSTER
    from checker.resources import specs
    from checker.session.pipeline import run_check

    engine = DEFAULT if cluster is None else ON_CLUSTER
    settings = {"n": str(SIZE)}
    options = Options(settings=settings, engine=engine, cluster=cluster, reduce="none", whole=True)
    return run_check(str(specs() / SPEC), CHECK, options)


def _compared(native: Report, cluster: Cluster) -> Finding:
    """Runs the check on ``cluster`` and compares the report with that of the native engine."""
    started = time.monotonic()
    found = _checked(cluster)
    seconds = time.monotonic() - started
    counts = [(each.distinct_states, each.depth, each.transitions) for each in (found, native)]
    verdicts = [[each.word for each in one.verdicts] for one in (found, native)]
    what = f"check by {cluster.exchange.value}"
    if counts[0] != counts[1] or verdicts[0] != verdicts[1]:
        said = f"finds states, levels and steps {counts[0]} instead of {counts[1]}"
        return Finding(what, False, said, "don't use this exchange, and report it as a bug")
    said = f"{SPEC} with n={SIZE}: {found.distinct_states:,} states in {seconds:.1f} s,"
    return Finding(what, True, f"{said} as the native engine finds")


def _wrong(problem: SpecError) -> Iterator[Finding]:
    for each in problem.diagnostics:
        yield Finding("cluster", False, f"{each.message} [{each.code}]", each.hint)
