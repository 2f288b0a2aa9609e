"""Opens sessions of runs within the time limit, shared by several runs where that is requested."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark import probe
from checker.engines.spark.session import SHORTEST, Session, open_session
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


_held: tuple[ExitStack, dict[str, Session]] | None = None


@contextmanager
def holding() -> Iterator[None]:
    """Within the block, sessions that runs open stay open until it ends."""
    global _held
    with ExitStack() as stack:
        _held = (stack, {})
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
    stack, known = _held
    key = str(cluster)
    if key not in known:
        known[key] = stack.enter_context(open_session(cluster, seconds=seconds))
    yield known[key]
