"""Histories of reads and writes of registers: each anomaly, and its near miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.histories import schedules
from checker.histories.judging_transactions import LINEARIZABLE_KEYS, MODELS
from checker.histories.pairing import Operation
from checker.histories.rows import MISSING, Row
from checker.histories.rw_register import Registers, observe
from checker.histories.transactions import Transaction
from checker.results.verdict import Word
from tests.histories.drawing_transactions import judged, names_by_model, rows, written
from tests.histories.orders_of_transactions import Txn, is_serializable, is_snapshot_isolated

W, R = "w", "r"
BOTH = [[W, "x", 1], [W, "y", 1]], [[W, "x", 2], [W, "y", 2]]


def later(*steps: tuple[str, str, int | None], at: int = 200) -> list[Txn]:
    """One transaction for each step, one after the other in time; after those of `rows`, or while
    they run."""
    return [Txn((step,), at + 2 * n, at + 2 * n + 1) for n, step in enumerate(steps)]


CASES: dict[str, tuple[str, list[Txn], list[Txn]]] = {
    "G1a": (
        "read-committed",
        rows([[W, "x", 1]], [[R, "x", 1]], outcomes="f"),
        rows([[W, "x", 1]], [[R, "x", 1]], outcomes="i"),
    ),
    "G1b": (
        "read-committed",
        rows([[W, "x", 1], [W, "x", 2]], [[R, "x", 1]]),
        rows([[W, "x", 1], [W, "x", 2]], [[R, "x", 2]]),
    ),
    "G1c": (
        "read-committed",
        rows([[W, "x", 1], [R, "y", 1]], [[W, "y", 1], [R, "x", 1]]),
        rows([[W, "x", 1], [R, "y", None]], [[W, "y", 1], [R, "x", 1]]),
    ),
    "unwritten-read": (
        "read-committed", rows([[R, "x", 7]]), rows([[R, "x", 7]], [[W, "x", 7]]),
    ),
    "internal": (
        "snapshot-isolation",
        rows([[W, "x", 1], [R, "x", None]]),
        rows([[W, "x", 1], [R, "x", 1]]),
    ),
    "lost-update": (
        "snapshot-isolation",
        rows([[R, "x", None], [W, "x", 1]], [[R, "x", None], [W, "x", 2]]),
        rows([[R, "x", None], [W, "x", 1]], [[R, "x", 1], [W, "x", 2]]),
    ),
    "G-single": (
        "snapshot-isolation",
        rows([[W, "x", 1], [W, "y", 1]], [[R, "x", 1], [R, "y", None]]),
        rows([[W, "x", 1], [W, "y", 1]], [[R, "x", None], [R, "y", None]]),
    ),
    "G-nonadjacent": (
        "snapshot-isolation",
        rows([[W, "x", 1], [W, "y", 1]], [[W, "z", 1], [R, "x", 1], [R, "w", None]],
             [[W, "w", 1], [W, "v", 1]], [[R, "v", 1], [R, "y", None]]),
        rows([[W, "x", 1], [W, "y", 1]], [[W, "z", 1], [R, "x", 1], [R, "w", None]],
             [[W, "w", 1], [W, "v", 1]], [[R, "v", None], [R, "y", None]]),
    ),
    "G2-item": (
        "serializable",
        rows([[R, "x", None], [W, "y", 1]], [[R, "y", None], [W, "x", 1]]),
        rows([[R, "x", None], [W, "y", 1]], [[R, "y", 1], [W, "x", 1]]),
    ),
    "no-order": (
        "snapshot-isolation",
        rows(*BOTH, [[R, "x", 1], [R, "y", 2]]),
        rows(*BOTH, [[R, "x", 2], [R, "y", 2]]),
    ),
    "G-single-realtime": (
        "strict-serializable",
        [*rows([[W, "x", 1]]), *later((R, "x", None))],
        [*rows([[W, "x", 1]]), *later((R, "x", 1))],
    ),
}  # fmt: skip
ON_ASSUMPTION: dict[str, tuple[list[Txn], list[Txn]]] = {
    "G0": (
        [*rows(*BOTH), *later((R, "x", 1), (R, "x", 2), at=10),
         *later((R, "y", 2), (R, "y", 1), at=10)],
        [*rows(*BOTH), *later((R, "x", 1), (R, "x", 2), at=10),
         *later((R, "y", 1), (R, "y", 2), at=10)],
    ),
    "cyclic-versions": (
        [*rows([[W, "x", 1]]), *later((R, "x", None))],
        [*rows([[W, "x", 1]], [[R, "x", None]])],
    ),
    "G-single": (
        [*rows([[W, "x", 1]], BOTH[1], [[R, "x", 1], [R, "y", 2]]),
         *later((R, "x", 1), (R, "x", 2), at=10)],
        [*rows([[W, "x", 1]], BOTH[1], [[R, "x", 2], [R, "y", 2]]),
         *later((R, "x", 1), (R, "x", 2), at=10)],
    ),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(CASES))
def test_each_anomaly_is_found_and_allowed_by_weaker_models(name: str, tmp_path: Path) -> None:
    weakest, transactions, near_miss = CASES[name]
    models = [*MODELS]
    found = names_by_model(tmp_path / "history.ndjson", transactions, "RwRegister")
    for number, (report, names) in enumerate(found.values()):
        if number < models.index(weakest):
            assert report.word is Word.HOLDS and name not in names - {*report.allowed}
        else:
            assert report.word is Word.VIOLATED and name in names
    assert is_serializable(transactions) is (weakest == "strict-serializable")
    assert is_snapshot_isolated(transactions) is ("serializable" in weakest)
    assert is_serializable(near_miss, strict=True)
    found = names_by_model(tmp_path / "history.ndjson", near_miss, "RwRegister")
    assert all(report.word is Word.HOLDS and not names for report, names in found.values())


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(ON_ASSUMPTION))
def test_anomalies_that_show_on_an_assumption_alone(name: str, tmp_path: Path) -> None:
    transactions, near_miss = ON_ASSUMPTION[name]
    file = tmp_path / "history.ndjson"
    report = judged(written(file, transactions), "serializable", "RwRegister", (LINEARIZABLE_KEYS,))
    assert report.word is Word.VIOLATED and name in {each.name for each in report.anomalies}
    assert "assumed: linearizable-keys" in report.notes
    assert not is_serializable(transactions, linearizable_keys=True)
    without = judged(str(file), "serializable", "RwRegister")
    assert (without.word is Word.HOLDS) is is_serializable(transactions)
    assert name not in {each.name for each in without.anomalies}
    report = judged(written(file, near_miss), "serializable", "RwRegister", (LINEARIZABLE_KEYS,))
    assert report.word is Word.HOLDS and is_serializable(near_miss, linearizable_keys=True)


@pytest.mark.every
@pytest.mark.parametrize("model", ["serializable", "snapshot-isolation"])
def test_a_few_transactions_without_an_order_are_found_among_many(
    model: str, tmp_path: Path
) -> None:
    """All overlap, so that nothing but reads orders them."""
    many = [[[W, f"k{n % 7}", n], [R, f"k{n % 7}", n], [W, "all", n]] for n in range(3, 300)]
    wrong = [*BOTH, [[R, "x", 1], [R, "y", 2]]]
    file = tmp_path / "history.ndjson"
    for extra, word in ((wrong, Word.VIOLATED), ([*BOTH, [[R, "x", 1], [R, "y", 1]]], Word.HOLDS)):
        steps = many[:150] + extra + many[150:]
        report = judged(written(file, rows(*steps)), model, "RwRegister")
        assert report.word is word
        shown = [one.text for each in report.anomalies for one in each.transactions]
        assert shown in ([], ["w(x, 1) w(y, 1)", "w(x, 2) w(y, 2)", "r(x) = 1 r(y) = 2"])


def test_what_no_search_finds_is_unknown_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schedules, "MOST", 2)
    monkeypatch.setattr(schedules, "FOR_EACH", 0)
    monkeypatch.setattr(schedules, "AROUND", 2)
    file = written(tmp_path / "history.ndjson", CASES["no-order"][1])
    assert main(["judge", file, "--as", "RwRegister"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "no read shows the order of all writes to x, y, on which it depends" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--as", "RwRegister", "--by", "key"], "--by"),
        (["--as", "RwRegister", "--initial", "w(1)"], "--initial"),
        (["--as", "ListAppend", "--assume", "linearizable-keys"], "--assume"),
        (["--as", "Register", "--assume", "linearizable-keys"], "--assume"),
    ],
)
def test_wrong_options_are_refused(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "history.ndjson", rows([[R, "x", None]]))
    assert main(["judge", file, *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("value", ['[["append", "x", 1]]', '[["w", "x"]]', '[["w", "x", null]]'])
def test_what_is_no_transaction_of_registers_is_a_diagnostic(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "history.ndjson"
    file.write_text(f'{{"process": 0, "type": "invoke", "f": "txn", "value": {value}}}\n')
    assert main(["judge", str(file), "--as", "RwRegister"]) == 2
    shown = capsys.readouterr().err
    assert "[E095]" in shown and "[:w key value]" in shown


def test_writes_of_one_transaction_come_in_their_order() -> None:
    steps = [[[R, "x", None], [W, "x", 1], [W, "x", 2]], [[R, "x", 2], [W, "x", 3]]]
    assert registers_of(steps).unordered() == []
    assert registers_of([*steps, [[W, "x", 4]]]).unordered() == ["x"]


def registers_of(steps: list[list[list[object]]]) -> Registers:
    call = Row(0, "invoke", "txn", MISSING, MISSING, "", 1)
    made = [Operation(n, "txn", MISSING, call, n, "ok", call, 10 + n) for n in range(len(steps))]
    return observe(
        [
            Transaction(n, made[n], tuple((k, key, v) for k, key, v in one))
            for n, one in enumerate(steps)
        ]
    )
