"""Asks the properties of a log on a Spark cluster: the same plans as operations on DataFrames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from checker.audit import audit as here
from checker.audit.columns import Kinds, operators_of
from checker.audit.declared import Declared
from checker.audit.files import LogFile
from checker.engines.cluster import Cluster
from checker.engines.spark.session import Session
from checker.engines.spark.shared_sessions import session_for

if TYPE_CHECKING:
    from checker.audit.spark_engine import SparkEngine

SETTINGS = {"spark.sql.adaptive.enabled": "true", "spark.sql.session.timeZone": "UTC"}
"""Spark chooses joins, and joins parts that turn out to be small, while it works."""
PART = 64 << 20
"""Bytes of files for a part of a shuffle, at least; a slot has one part at least."""


def _parts(files: list[LogFile], slots: int) -> int:
    """Returns into how many parts a shuffle divides the log."""
    return max(slots, sum(file.size for file in files) // PART)


def audit_on_spark(
    request: here.Request,
    about: Declared,
    kinds: Kinds,
    files: list[LogFile],
    cluster: Cluster,
    progress: Callable[[str, int], None],
) -> here.Audit:
    """Reads ``files`` and asks the properties of the log on ``cluster``; returns the report, all
    violations and the warnings.  Raises :class:`SpecError` as
    :func:`checker.audit.audit.audit` does."""
    with session_for(cluster, None) as session:
        parts = {"spark.sql.shuffle.partitions": str(_parts(files, session.slots))}
        with _configured(session, SETTINGS | parts):
            return session.run(lambda: _audit(request, about, kinds, files, session, progress))


@contextmanager
def _configured(session: Session, settings: Mapping[str, str]) -> Iterator[None]:
    """Gives the session these settings within the block, and restores the former ones after it."""
    conf = session.spark.conf
    before = {name: conf.get(name) for name in settings}
    for name, value in settings.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            conf.set(name, str(old))


def _audit(
    request: here.Request,
    about: Declared,
    kinds: Kinds,
    files: list[LogFile],
    session: Session,
    progress: Callable[[str, int], None],
) -> here.Audit:
    from checker.audit.spark_engine import SparkEngine
    from checker.audit.spark_log import read_log

    began = time.monotonic()
    progress(here.READING, 0)
    log = read_log(session.spark, files, request.mapping, kinds, operators_of(about.interface))
    read = here.Read(len(files), log.rows, log.kinds, began, time.monotonic() - began)
    engine = SparkEngine(session.spark, log.events, log.named)
    try:
        torn = log.torn | _of_empty_files(engine, log.unnamed)
        asked = here.ask(engine, about, request, torn, pa.string(), progress)
        return asked.audit(request, read, log.warnings)
    finally:
        engine.forget()


def _of_empty_files(engine: SparkEngine, files: list[LogFile]) -> dict[str, str]:
    """Returns the processes of ``files``, which have no whole line, with the path of their file:
    in each run the process with the name of the file, which is added if no row has it."""
    found: dict[str, str] = {}
    runs = {engine.process(value)[0] for value in engine.values()} or {""}
    for file in files:
        for run in sorted(runs):
            value = next(
                (v for v in engine.values() if engine.process(v) == (run, file.stem)), None
            )
            found[value or engine.add_process(run, file.stem)] = file.path
    return found
