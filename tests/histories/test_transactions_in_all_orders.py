"""Random transactions of lists and registers, against all orders tried one by one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from checker.histories.judging_transactions import LINEARIZABLE_KEYS
from checker.results.judgement import Judgement
from checker.results.verdict import Word
from tests.histories.drawing_transactions import as_registers, draw_transactions, judged, written
from tests.histories.orders_of_transactions import Txn, is_serializable, is_snapshot_isolated

SERIALIZABLE, STRICT = "serializable", "strict-serializable"
ASSUMED = "serializable, with linearizable keys"
NAMES = ("ListAppend", "RwRegister")


def expected_of(name: str, transactions: list[Txn]) -> dict[str, bool]:
    """Which models the transactions satisfy."""
    found = {
        "snapshot-isolation": is_snapshot_isolated(transactions),
        SERIALIZABLE: is_serializable(transactions),
        STRICT: is_serializable(transactions, strict=True),
    }
    if name == "RwRegister":
        found[ASSUMED] = is_serializable(transactions, linearizable_keys=True)
    return found


def report_on(name: str, model: str, file: str) -> Judgement:
    if model == ASSUMED:
        return judged(file, SERIALIZABLE, name, (LINEARIZABLE_KEYS,))
    return judged(file, model, name)


def compared(name: str, seed: int, cases: int, file: Path) -> Counter[tuple[str, str]]:
    """How often each verdict by each model, and each anomaly, is that of all orders."""
    draw = random.Random(seed)
    seen: Counter[tuple[str, str]] = Counter()
    for _ in range(cases):
        transactions = draw_transactions(draw)
        if name == "RwRegister":
            transactions = as_registers(transactions)
        written(file, transactions)
        expected = expected_of(name, transactions)
        for model, holds in expected.items():
            report = report_on(name, model, str(file))
            if report.word is not Word.VACUOUS:
                word = Word.HOLDS if holds else Word.VIOLATED
                assert report.word is word, (model, transactions, report)
                seen[model, report.word.value] += 1
        for one in judged(str(file), STRICT, name).anomalies:
            weaker = SERIALIZABLE if not one.name.endswith("-realtime") else STRICT
            if one.name != "no-order":
                assert not expected[weaker], (one.name, transactions)
            seen["found", one.name] += 1
    return seen


@pytest.mark.every
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_are_those_of_all_orders(name: str, tmp_path: Path) -> None:
    seen = compared(name, 1, 150, tmp_path / "history.ndjson")
    models = {model for model, _ in seen} - {"found"}
    for model in models:
        assert seen[model, "holds"] and seen[model, "violated"]


@pytest.mark.slow
@pytest.mark.every
@pytest.mark.parametrize("seed", range(2, 10))
@pytest.mark.parametrize("name", NAMES)
def test_many_verdicts_are_those_of_all_orders(name: str, seed: int, tmp_path: Path) -> None:
    compared(name, seed, 1_000, tmp_path / "history.ndjson")
