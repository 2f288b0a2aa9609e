"""Damaged mappings, and damaged logs under whole mappings: read, or refused with a place."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.audit.columns import operators_of
from checker.audit.declared import interface_called
from checker.audit.files import find_files
from checker.audit.reading import Reader
from checker.conform.read_log import read_logs
from checker.diagnostics import Diagnostic, SpecError
from checker.histories.pairing import operations_of
from checker.histories.reading import read_history
from checker.logs.mapping import LogMapping
from checker.logs.read_mapping import read_mapping

MAPPING = (
    'rows = "a[].b[]"\nignored = ["x"]\nunit = "ms"\nlogged = ["receive"]\n'
    '[columns]\nprocess = ["n.id", "m[0]"]\npos = "@row"\nkind = "k"\nmsg = "@const x"\n'
    'fields.m = "p"\n[values.kind]\ndeliver = ["got", 3]\n[values.process]\n"p 1" = "a.b"\n'
    '[operations]\nread = "r"\n[results]\nread = "nil is unknown"\n'
)
TEXT = (
    "lines = '^(?P<process>p\\d) (?P<pos>\\d+) (?P<kind>\\w+) (?P<msg>\\S+)"
    "( (?P<call_time>\\S+))?$'\n"
)
DUMP = (
    "Dumping /d/t-0/0.log\nLog starting offset: 0\nbaseOffset: 0 lastOffset: 0 count: 1"
    " producerId: 7 producerEpoch: 0 isTransactional: true isControl: false isvalid: true\n"
    "| offset: 0 CreateTime: 17 keySize: 1 valueSize: 1 sequence: 0 headerKeys: [] key: k"
    " payload: v\n"
    "baseOffset: 1 lastOffset: 1 count: 1 isControl: true isvalid: true\n"
    "| offset: 1 CreateTime: 17 keySize: 4 valueSize: 6 sequence: -1 headerKeys: []"
    " endTxnMarker: COMMIT coordinatorEpoch: 0\n"
)  # fmt: skip
LIST = {"arrayValue": {"values": [{"intValue": "1"}]}}
SPAN = {
    "name": "read",
    "startTimeUnixNano": "5",
    "endTimeUnixNano": "9",
    "status": {"code": 1},
    "attributes": [{"key": "value", "value": LIST}],
}
RESOURCE = {"attributes": [{"key": "host.name", "value": {"stringValue": "h"}}]}
OTLP = json.dumps(
    {"resourceSpans": [{"resource": RESOURCE, "scopeSpans": [{"spans": [SPAN] * 2}]}]}
)
NAMED = (
    '[columns]\nprocess = "resource.attributes.host.name"\npos = "startTimeUnixNano"\n'
    'kind = "@const deliver"\nmsg = "attributes.value[0]"\n'
)  # fmt: skip
PIECES = (
    '"',
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    "\n",
    "é",
    "0",
    "-1",
    "9" * 30,
    "\\",
    "@",
    ": ",
    "null",
)


def damaged(draw: random.Random, text: str) -> str:
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(text))
        match draw.randrange(4):
            case 0:
                text = text[:at] + text[at + draw.randint(1, 6) :]
            case 1:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case 2:
                end = at + draw.randint(1, 40)
                text = text[:end] + text[at:end] + text[end:]
            case _:
                text = text[:at] or text
    return text


def refused(problem: SpecError, name: str) -> None:
    for each in problem.diagnostics:
        assert isinstance(each, Diagnostic)
        assert (each.span is not None and each.span.line > 0) or name in each.message, each


def test_a_damaged_mapping_is_read_or_refused_with_its_place(tmp_path: Path) -> None:
    draw, path, read = random.Random(1), tmp_path / "names.toml", 0
    for _ in range(600):
        path.write_text(damaged(draw, MAPPING), encoding="utf-8")
        try:
            read_mapping(str(path))
            read += 1
        except SpecError as problem:
            assert {each.code for each in problem.diagnostics} == {"E097"}
            refused(problem, "names.toml")
    assert 20 < read < 580


OPERATORS = operators_of(interface_called("ReliableBroadcast"))


def by_audit(path: Path, mapping: LogMapping) -> None:
    for file in find_files((str(path),), is_text=mapping.lines is not None):
        for _ in Reader(mapping, OPERATORS).tables(file):
            pass


def by_conform(path: Path, mapping: LogMapping) -> None:
    read_logs([str(path)], mapping)


def by_judge(path: Path, mapping: LogMapping) -> None:
    operations_of(read_history(str(path), mapping))


@pytest.mark.parametrize("by", [by_audit, by_conform, by_judge])
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (DUMP, ""), (OTLP, ""), (OTLP, NAMED), (json.dumps(json.loads(OTLP), indent=1), NAMED),
        ("p1 1 deliver a\np2 1 deliver b 3.5\n", TEXT),
    ],
)  # fmt: skip
def test_a_damaged_log_is_read_or_refused_with_its_place(
    by: object, text: str, names: str, tmp_path: Path
) -> None:
    (tmp_path / "names.toml").write_text(names, encoding="utf-8")
    mapping, draw = read_mapping(str(tmp_path / "names.toml")), random.Random(2)
    path = tmp_path / "p1"
    for _ in range(120):
        path.write_text(damaged(draw, text), encoding="utf-8")
        try:
            by(path, mapping)  # type: ignore[operator]
        except SpecError as problem:
            refused(problem, str(path))
