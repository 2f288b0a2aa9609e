"""Dumps of Kafka's logs: what kafka-dump-log prints becomes rows with positions and producers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.audit.audit import Audit, Request, audit
from checker.audit.files import find_files
from checker.audit.kafka_dump import Dump
from checker.diagnostics import SpecError
from checker.logs.read_mapping import read_mapping
from tests.audit.logs import words

BEGIN = "Dumping /data/orders-0/00000000000000000000.log\nLog starting offset: 0\n"


def batch(base: int, last: int, producer: int = 7, **more: Any) -> str:
    given = {"isTransactional": "false", "isControl": "false", "isvalid": "true"} | more
    return (
        f"baseOffset: {base} lastOffset: {last} count: {last - base + 1} baseSequence: 0"
        f" lastSequence: 0 producerId: {producer} producerEpoch: 2 partitionLeaderEpoch: 0"
        f" isTransactional: {given['isTransactional']} isControl: {given['isControl']}"
        " deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000500 size: 80"
        f" magic: 2 compresscodec: none crc: 1 isvalid: {given['isvalid']}\n"
    )


def record(offset: int, payload: str, sequence: int = 0, key: str | None = None) -> str:
    size = -1 if key is None else len(key.encode())
    said = "" if key is None else f" key: {key}"
    return (
        f"| offset: {offset} CreateTime: 1700000000500 keySize: {size}"
        f" valueSize: {len(payload.encode())} sequence: {sequence} headerKeys: [trace]{said}"
        f" payload: {payload}\n"
    )


def marker(offset: int, said: str) -> str:
    control = batch(offset, offset, isTransactional="true", isControl="true")
    return (
        f"{control}| offset: {offset} CreateTime: 1700000000500 keySize: 4 valueSize: 6"
        f" sequence: -1 headerKeys: [] endTxnMarker: {said} coordinatorEpoch: 0\n"
    )


def rows_in(text: str) -> list[dict[str, Any]]:
    return [row for _, row in Dump("dump").rows(text.encode())]


def test_records_have_what_their_batches_say() -> None:
    transactional = batch(0, 1, isTransactional="true")
    text = BEGIN + transactional + record(0, "a", 4) + record(1, "", 5, "k: 1") + marker(2, "ABORT")
    first, second, third = rows_in(text)
    assert first == {
        "kind": "indicate", "msg": "a", "partition": "orders-0", "offset": 0, "ts": 1700000000.5,
        "producer": "7", "epoch": 2, "seq": 4, "transactional": True,
    }  # fmt: skip
    assert (second["msg"], second["key"], second["seq"]) == ("", "k: 1", 5)
    assert (third["kind"], third["control"], third["offset"]) == ("control", "abort", 2)
    assert "msg" not in third and "seq" not in third


@pytest.mark.parametrize(
    "payload", ["a\nb", "\n", "é\n| offset: 9 keySize: -1 valueSize: 1 x", "a payload: b"]
)
@pytest.mark.parametrize("key", [None, "k", " payload: x", "é"])
def test_payloads_and_keys_may_be_any_text(payload: str, key: str | None) -> None:
    text = BEGIN + batch(0, 1) + record(0, payload, key=key) + record(1, "z")
    assert [row["msg"] for row in rows_in(text)] == [payload, "z"]


def test_a_payload_of_another_decoder_hides_no_record() -> None:
    """Its text does not have the size of the value."""
    text = BEGIN + batch(0, 2) + record(0, "x" * 9).replace("x" * 9, "x") + record(1, "b")
    assert [row["offset"] for row in rows_in(text)] == [0, 1]


def test_no_producer_and_an_old_format() -> None:
    old = (
        "Starting offset: 0\noffset: 0 position: 0 CreateTime: -1 isvalid: true keysize: -1"
        " valuesize: 1 magic: 2 compresscodec: NONE producerId: -1 producerEpoch: -1 sequence: -1"
        " isTransactional: false headerKeys: [] payload: a\n"
    )
    (row,) = rows_in(old)
    assert row == {"kind": "indicate", "msg": "a", "offset": 0, "transactional": False}


def test_a_batch_with_a_wrong_checksum_is_a_gap() -> None:
    text = BEGIN + batch(0, 0, isvalid="false") + record(0, "a") + batch(1, 1) + record(1, "b")
    assert [row["kind"] for row in rows_in(text)] == ["gap", "indicate"]


def test_what_is_cut_or_something_else_is_said() -> None:
    dump = Dump("dump")
    text = BEGIN + "[main] WARN something\n" + batch(0, 0) + record(0, "a") + record(1, "bcd")[:-3]
    assert len([*dump.rows(text.encode())]) == 1 and dump.torn
    (warning,) = dump.warnings()
    assert warning.code == "E098" and warning.span is not None and warning.span.line == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BEGIN + batch(0, 0), 1),
        (BEGIN + batch(0, 0) + record(0, "a").replace(" payload: a", ""), 4),
        (BEGIN + batch(0, 0) + record(0, "a").replace("keySize", "size"), 4),
        (BEGIN + batch(0, 0) + record(0, "a").replace("offset: 0", f"offset: {10**30}"), 4),
        (BEGIN + batch(0, 0) + record(0, "a").replace("sequence: 0", "sequence: x"), 4),
        (BEGIN + batch(0, 0) + record(0, "a", key="k").replace("keySize: 1", "keySize: 99"), 4),
    ],
)
def test_a_malformed_record_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(SpecError) as caught:
        rows_in(text)
    (found,) = caught.value.diagnostics
    assert found.code == "E100" and found.span is not None and found.span.line == line


def audited(folder: Path, mapping: str = "", **dumps: str) -> Audit:
    for name, text in dumps.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    names = folder / "names.toml"
    names.write_text(mapping, encoding="utf-8")
    files = tuple(str(folder / f"{name}.txt") for name in dumps)
    return audit(Request(files, "ReplicatedLog", mapping=read_mapping(str(names))))


def test_replicas_agree_or_not(tmp_path: Path) -> None:
    one = BEGIN + batch(0, 1) + record(0, "a") + record(1, "b") + marker(2, "COMMIT")
    other = one.replace("payload: b", "payload: c")
    assert words(audited(tmp_path, b1=one, b2=one))["log_agreement"] == "holds"
    found = audited(tmp_path, b1=one, b2=other)
    assert words(found)["log_agreement"] == "violated" and found.warnings == []
    assert found.report.log is not None and found.report.log.rows == 6
    keyed = one.replace("keySize: -1 valueSize", "keySize: 1 valueSize").replace(
        "] payload", "] key: k payload"
    )
    by_key = audited(tmp_path, '[columns]\nmsg = "key"\n', b1=keyed, b2=keyed.replace(": b", ": c"))
    assert words(by_key)["log_agreement"] == "holds"


def test_a_dump_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "b1.log").write_text(BEGIN + batch(0, 0) + record(0, "a"), encoding="utf-8")
    assert [file.format for file in find_files((str(tmp_path),))] == ["dump"]
