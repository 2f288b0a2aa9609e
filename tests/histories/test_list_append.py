"""Histories of appends and reads: each anomaly, and what is no such history."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.histories.judging_transactions import MODELS
from checker.results.verdict import Word
from tests.histories.drawing_transactions import as_registers, judged, names_by_model, rows, written
from tests.histories.orders_of_transactions import Txn, is_serializable

A, R = "append", "r"
CASES: dict[str, tuple[str, list[Txn], list[Txn]]] = {
    "G0": (
        "read-committed",
        rows([[A, "x", 1], [A, "y", 1]], [[A, "x", 2], [A, "y", 2]],
             [[R, "x", [1, 2]], [R, "y", [2, 1]]]),
        rows([[A, "x", 1], [A, "y", 1]], [[A, "x", 2], [A, "y", 2]],
             [[R, "x", [1, 2]], [R, "y", [1, 2]]]),
    ),
    "G1a": (
        "read-committed",
        rows([[A, "x", 1]], [[R, "x", [1]]], outcomes="f"),
        rows([[A, "x", 1]], [[R, "x", [1]]], outcomes="i"),
    ),
    "G1b": (
        "read-committed",
        rows([[A, "x", 1], [A, "x", 2]], [[R, "x", [1]]], [[R, "x", [1, 2]]]),
        rows([[A, "x", 1], [A, "x", 2]], [[R, "x", [1, 2]]], [[R, "x", []]]),
    ),
    "G1c": (
        "read-committed",
        rows([[A, "x", 1], [R, "y", [1]]], [[A, "y", 1], [R, "x", [1]]]),
        rows([[A, "x", 1], [R, "y", []]], [[A, "y", 1], [R, "x", [1]]]),
    ),
    "internal": (
        "snapshot-isolation",
        rows([[A, "x", 1], [R, "x", []]], [[R, "x", [1]]]),
        rows([[A, "x", 1], [R, "x", [1]]], [[R, "x", [1]]]),
    ),
    "incompatible-order": (
        "read-committed",
        rows([[A, "x", 1]], [[A, "x", 2]], [[R, "x", [1]]], [[R, "x", [2]]]),
        rows([[A, "x", 1]], [[A, "x", 2]], [[R, "x", [1]]], [[R, "x", [1, 2]]]),
    ),
    "duplicate-elements": (
        "read-committed",
        rows([[A, "x", 1]], [[R, "x", [1, 1]]]),
        rows([[A, "x", 1]], [[R, "x", [1]]]),
    ),
    "unwritten-read": (
        "read-committed", rows([[R, "x", [7]]]), rows([[R, "x", [7]]], [[A, "x", 7]]),
    ),
    "G-single": (
        "snapshot-isolation",
        rows([[A, "x", 1], [A, "y", 1]], [[R, "x", [1]], [R, "y", []]], [[R, "y", [1]]]),
        rows([[A, "x", 1], [A, "y", 1]], [[R, "x", []], [R, "y", []]], [[R, "y", [1]]]),
    ),
    "G-nonadjacent": (
        "snapshot-isolation",
        rows([[A, "x", 1], [A, "y", 1]], [[A, "z", 1], [R, "x", [1]], [R, "w", []]],
             [[A, "w", 1], [A, "v", 1]], [[R, "v", [1]], [R, "y", []]],
             [[R, "y", [1]], [R, "w", [1]]]),
        rows([[A, "x", 1], [A, "y", 1]], [[A, "z", 1], [R, "x", [1]], [R, "w", []]],
             [[A, "w", 1], [A, "v", 1]], [[R, "v", []], [R, "y", []]],
             [[R, "y", [1]], [R, "w", [1]]]),
    ),
    "G2-item": (
        "serializable",
        rows([[R, "x", []], [A, "y", 1]], [[R, "y", []], [A, "x", 1]],
             [[R, "x", [1]], [R, "y", [1]]]),
        rows([[R, "x", []], [A, "y", 1]], [[R, "y", [1]], [A, "x", 1]],
             [[R, "x", [1]], [R, "y", [1]]]),
    ),
    "no-order": (  # two blind appends that no read has, by transactions that miss each other's
        "snapshot-isolation",
        rows([[R, "x", []], [A, "y", 1], [A, "z", 1]], [[R, "y", []], [A, "x", 1], [A, "z", 2]]),
        rows([[R, "x", []], [A, "y", 1], [A, "z", 1]], [[R, "y", [1]], [A, "x", 1], [A, "z", 2]]),
    ),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(CASES))
def test_each_anomaly_is_found_and_allowed_by_weaker_models(name: str, tmp_path: Path) -> None:
    weakest, transactions, near_miss = CASES[name]
    models = [*MODELS]
    found = names_by_model(tmp_path / "history.ndjson", transactions, "ListAppend")
    for number, (model, (report, names)) in enumerate(found.items()):
        if number < models.index(weakest):
            assert report.word is Word.HOLDS and name not in names - {*report.allowed}
        else:
            assert report.word is Word.VIOLATED
            assert name in names or (name == "no-order" and model != weakest)
    assert is_serializable(near_miss) and not is_serializable(transactions)
    found = names_by_model(tmp_path / "history.ndjson", near_miss, "ListAppend")
    assert all(report.word is Word.HOLDS and not names for report, names in found.values())


@pytest.mark.parametrize("name", ["ListAppend", "RwRegister"])
def test_a_read_of_a_later_write_of_the_same_transaction_is_internal(
    name: str, tmp_path: Path
) -> None:
    early = rows([[R, "x", [1]], [A, "x", 1]])
    if name == "RwRegister":
        early = as_registers(early)
    assert not is_serializable(early)
    found = names_by_model(tmp_path / "history.ndjson", early, name)
    assert found["serializable"][1] == {"internal"}


def test_real_time_counts_for_strict_serializability_alone(tmp_path: Path) -> None:
    late = [Txn((("append", "x", 1),), 0, 1), Txn((("r", "x", []),), 2, 3)]
    file = written(tmp_path / "history.ndjson", [*late, Txn((("r", "x", [1]),), 4, 5)])
    assert judged(file, "serializable").word is Word.HOLDS
    report = judged(file, "strict-serializable")
    (found,) = report.anomalies
    assert found.name == "G-single-realtime"
    assert [each.kind for each in found.dependencies] == ["rw", "realtime"]
    assert [(one.called, one.returned) for one in found.transactions] == [(3, 4), (1, 2)]


def test_runs_of_realtime_edges_are_one_edge(tmp_path: Path) -> None:
    chain = [Txn((("append", "x", 1),), 0, 1)]
    chain += [Txn((("append", "y", n),), 2 * n, 2 * n + 1) for n in range(1, 30)]
    chain += [Txn((("r", "x", []),), 100, 101), Txn((("r", "x", [1]),), 102, 103)]
    report = judged(written(tmp_path / "history.ndjson", chain), "strict-serializable")
    assert [len(each.transactions) for each in report.anomalies] == [2]


WRONG = [
    '[["append", "x"]]', '[["w", "x", 1]]', '"x"',
    '[["r", "x", 1]]', "[3]",
]  # fmt: skip


@pytest.mark.parametrize("value", WRONG)
def test_what_is_no_transaction_is_a_diagnostic(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "history.ndjson"
    row = '{"process": 0, "type": "%s", "f": "txn", "value": %s}\n'
    file.write_text(row % ("invoke", value) + row % ("ok", value), encoding="utf-8")
    assert main(["judge", str(file), "--as", "ListAppend"]) == 2
    said = capsys.readouterr().err
    assert "[E095]" in said and f"{file}:" in said


def test_a_value_that_is_written_twice_is_a_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, write in (("ListAppend", "append"), ("RwRegister", "w")):
        file = tmp_path / "history.edn"
        steps = f"[:{write} :x 1] [:{write} :x 2]"
        file.write_text(
            f"{{:process 0 :type :invoke :value [{steps}]}}\n"
            f"{{:process 1 :type :invoke :value [[:{write} :x 2]]}}",
            encoding="utf-8",
        )
        assert main(["judge", str(file), "--as", name]) == 2
        said = capsys.readouterr().err
        assert "[E102]" in said and f"{file}:2:" in said and "line 1" in said


def test_an_answer_of_another_transaction_is_a_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "history.edn"
    file.write_text(
        "{:process 0 :type :invoke :value [[:append 1 1]]}\n"
        "{:process 0 :type :ok :value [[:append 1 2]]}",
        encoding="utf-8",
    )
    assert main(["judge", str(file), "--as", "ListAppend"]) == 2
    assert f"{file}:2:" in capsys.readouterr().err
