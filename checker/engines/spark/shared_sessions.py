"""Opens sessions of runs within the time limit, shared by several runs where that is requested."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from msgspec import Struct, field

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark import probe
from checker.engines.spark.java_process import JavaProcess
from checker.engines.spark.session import (
    SHORTEST,
    Session,
    discard_java,
    open_session,
    start_java,
)
from checker.records import replace
from checker.results.answer import Limits


def enter_session(
    stack: ExitStack, cluster: Cluster, folder: RunFolder, limits: Limits, started: float
) -> Session | None:
    """Opens a session that ends with ``stack``, on a cluster that has what a run needs; returns
    ``None`` where the time limit of the run is reached before.  Raises :class:`SpecError`.
    """

    def seconds_left() -> float:
        assert limits.timeout is not None
        return limits.timeout - (time.monotonic() - started)

    bounded = limits.timeout is not None
    try:
        session = stack.enter_context(session_for(cluster, seconds_left() if bounded else None))
        if bounded:
            session = replace(
                session, patience=max(min(session.patience, seconds_left()), SHORTEST)
            )
        probe.require_elsewhere(session, folder)
    except SpecError:
        if bounded and seconds_left() <= 0:
            return None
        raise
    return None if bounded and seconds_left() <= 0 else session


class _Held(Struct):
    """Sessions that stay open, by their clusters, and a Java that was started for one of them."""

    stack: ExitStack
    sessions: dict[str, Session] = field(default_factory=dict)
    started: dict[str, JavaProcess] = field(default_factory=dict)


_held: _Held | None = None


@contextmanager
def holding(cluster: Cluster | None = None) -> Iterator[None]:
    """Within the block, sessions that runs open stay open until it ends; the Java of one on
    ``cluster`` is started at once."""
    global _held
    with ExitStack() as stack:
        _held = _Held(stack)
        java = None if cluster is None else start_java(cluster)
        if java is not None:
            stack.callback(discard_java, java)
            _held.started[str(cluster)] = java
        try:
            yield
        finally:
            _held = None


@contextmanager
def session_for(cluster: Cluster, seconds: float | None) -> Iterator[Session]:
    """Opens or reuses a session; ``seconds``: the time that is left for it."""
    if _held is None:
        with open_session(cluster, seconds=seconds) as session:
            yield session
        return
    key, sessions = str(cluster), _held.sessions
    if key not in sessions:
        opened = open_session(cluster, seconds=seconds, java=_held.started.pop(key, None))
        sessions[key] = _held.stack.enter_context(opened)
    yield sessions[key]
