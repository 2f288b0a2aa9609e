"""Default mappings of known formats; a mapping of the user overrides them."""

from __future__ import annotations

from pathlib import Path as File

from checker.logs.mapping import LogMapping
from checker.logs.paths import FILE, ROW, Path, path_of
from checker.logs.read_mapping import read_mapping

OPENTELEMETRY = "opentelemetry"
"""The name of the mapping of messaging attributes of OpenTelemetry's semantic conventions."""


def _paths(*texts: str) -> tuple[Path, ...]:
    return tuple(path for path in map(path_of, texts) if path is not None)


def _attribute(name: str) -> tuple[Path, ...]:
    return _paths(f"attributes.{name}", f"resource.attributes.{name}", name)


SPANS = LogMapping(
    columns={
        "process": _attribute("messaging.client.id"),
        "pos": _paths(ROW),
        "kind": _attribute("messaging.operation.type"),
        "msg": _attribute("messaging.message.id"),
        "partition": _attribute("messaging.destination.partition.id"),
        "offset": _attribute("messaging.kafka.offset"),
    },
    values={"kind": {"send": "request", "receive": "indicate", "process": "perform"}},
)
"""Spans of messaging, as objects with attributes, or in OTLP's JSON."""

DUMPS = LogMapping(columns={"process": _paths(FILE), "pos": _paths(ROW)})
"""Records of kafka-dump-log: the log of a replica, whose name is that of the file."""


def mapping_called(given: str | None) -> LogMapping:
    """Returns the mapping in the file ``given``, or the known one of that name; raises
    :class:`SpecError` (E097)."""
    if given == OPENTELEMETRY and not File(given).exists():
        return SPANS
    return read_mapping(given)
