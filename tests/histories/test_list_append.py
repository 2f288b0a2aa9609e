"""Histories of appends and reads, against all orders tried one by one; and each anomaly."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.histories.judging import Request, judge_of
from checker.histories.judging_transactions import MODELS
from checker.results.judgement import Judgement
from checker.results.verdict import Word
from tests.histories.orders_of_transactions import (
    Txn,
    is_serializable,
    is_snapshot_isolated,
)


def written(file: Path, transactions: list[Txn]) -> str:
    rows: list[tuple[int, dict[str, Any]]] = []
    for process, one in enumerate(transactions):
        row = {"process": process, "f": "txn"}
        called = [
            [kind, key, value if kind == "append" else None] for kind, key, value in one.steps
        ]
        rows.append((one.called, {**row, "type": "invoke", "value": called}))
        if one.returned is not None:
            value = [list(step) for step in one.steps] if one.outcome == "ok" else called
            rows.append((one.returned, {**row, "type": one.outcome, "value": value}))
    rows.sort(key=lambda row: row[0])
    file.write_text("".join(json.dumps(row) + "\n" for _, row in rows), encoding="utf-8")
    return str(file)


def judged(file: str, model: str) -> Judgement:
    return judge_of(Request("ListAppend", model)).judge(file)


def draw_transactions(draw: random.Random) -> list[Txn]:
    """Up to five transactions whose reads are those of a run in which each reads a snapshot that
    may be old, and sometimes any list that was there."""
    count = draw.randint(2, 5)
    times = draw.sample(range(100), 2 * count)
    state: dict[str, list[int]] = {"x": [], "y": []}
    past = [{key: list(value) for key, value in state.items()}]
    made = []
    value = 0
    for number in range(count):
        seen = draw.choice(past[-2:]) if draw.random() < 0.5 else past[-1]
        local = {key: list(of) for key, of in seen.items()}
        steps: list[tuple[str, Any, Any]] = []
        outcome = draw.choices(["ok", "info", "fail"], [8, 1, 1])[0]
        for _ in range(draw.randint(1, 3)):
            key = draw.choice("xy")
            if draw.random() < 0.5:
                value += 1
                steps.append(("append", key, value))
                local[key].append(value)
                if outcome == "ok" or (outcome == "info" and draw.random() < 0.5):
                    state[key].append(value)
            else:
                read = list(draw.choice(past)[key]) if draw.random() < 0.1 else list(local[key])
                steps.append(("r", key, read if outcome == "ok" else None))
        past.append({key: list(of) for key, of in state.items()})
        begin, end = sorted(times[2 * number : 2 * number + 2])
        returned = None if outcome == "info" and draw.random() < 0.5 else end
        made.append(Txn(tuple(steps), begin, returned, outcome))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_models_hold_where_an_order_is_found(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    seen: set[tuple[str, bool]] = set()
    unknown = 0
    for _ in range(120):
        transactions = draw_transactions(draw)
        file = written(tmp_path / "history.ndjson", transactions)
        expected = {
            "snapshot-isolation": is_snapshot_isolated(transactions),
            "serializable": is_serializable(transactions),
            "strict-serializable": is_serializable(transactions, strict=True),
        }
        for model, holds in expected.items():
            report = judged(file, model)
            if report.word is Word.UNKNOWN:
                assert model == "snapshot-isolation"
                unknown += 1
            elif report.word is not Word.VACUOUS:
                assert (report.word is Word.HOLDS) is holds, (model, transactions, report)
                seen.add((model, holds))
    assert len(seen) == 6
    assert unknown <= 4


def rows(*steps: list[list[Any]], outcomes: str = "") -> list[Txn]:
    """Transactions that all overlap, with these steps; ``outcomes``: ``i`` and ``f`` for ``info``
    and ``fail``."""
    names = {"i": "info", "f": "fail"}
    made = []
    for number, one in enumerate(steps):
        outcome = names.get(outcomes[number : number + 1], "ok")
        made.append(Txn(tuple((k, key, v) for k, key, v in one), number, 100 + number, outcome))
    return made


A, R = "append", "r"
CASES: dict[str, tuple[list[Txn], str]] = {
    "G0": (rows([[A, "x", 1], [A, "y", 1]], [[A, "x", 2], [A, "y", 2]],
                [[R, "x", [1, 2]], [R, "y", [2, 1]]]), "read-committed"),
    "G1a": (rows([[A, "x", 1]], [[R, "x", [1]]], outcomes="f"), "read-committed"),
    "G1b": (rows([[A, "x", 1], [A, "x", 2]], [[R, "x", [1]]], [[R, "x", [1, 2]]]),
            "read-committed"),
    "G1c": (rows([[A, "x", 1], [R, "y", [1]]], [[A, "y", 1], [R, "x", [1]]]), "read-committed"),
    "internal": (rows([[A, "x", 1], [R, "x", []]], [[R, "x", [1]]]), "snapshot-isolation"),
    "incompatible-order": (rows([[A, "x", 1]], [[A, "x", 2]], [[R, "x", [1]]], [[R, "x", [2]]]),
                           "read-committed"),
    "duplicate-elements": (rows([[A, "x", 1]], [[R, "x", [1, 1]]]), "read-committed"),
    "unwritten-read": (rows([[R, "x", [7]]]), "read-committed"),
    "G-single": (rows([[A, "x", 1], [A, "y", 1]], [[R, "x", [1]], [R, "y", []]],
                      [[R, "y", [1]]]), "snapshot-isolation"),
    "G-nonadjacent": (
        rows([[A, "x", 1], [A, "y", 1]], [[A, "z", 1], [R, "x", [1]], [R, "w", []]],
             [[A, "w", 1], [A, "v", 1]], [[R, "v", [1]], [R, "y", []]],
             [[R, "y", [1]], [R, "w", [1]]]),
        "snapshot-isolation",
    ),
    "G2-item": (rows([[R, "x", []], [A, "y", 1]], [[R, "y", []], [A, "x", 1]],
                     [[R, "x", [1]], [R, "y", [1]]]), "serializable"),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(CASES))
def test_each_anomaly_is_found_and_allowed_by_weaker_models(name: str, tmp_path: Path) -> None:
    transactions, weakest = CASES[name]
    file = written(tmp_path / "history.ndjson", transactions)
    names = [*MODELS]
    for number, model in enumerate(names):
        report = judged(file, model)
        if number >= names.index(weakest):
            assert name in [each.name for each in report.anomalies], (model, report)
            assert report.word is Word.VIOLATED
        else:
            assert report.word is Word.HOLDS and report.allowed == (name,)


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
    '[["append", "x", 1], ["append", "x", 1]]', '[["append", "x"]]', '[["w", "x", 1]]', '"x"',
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
