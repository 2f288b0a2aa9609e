"""Random transactions, and files of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from checker.histories.judging import Request, judge_of
from checker.histories.judging_transactions import MODELS
from checker.results.judgement import Judgement
from tests.histories.orders_of_transactions import Txn


def written(file: Path, transactions: list[Txn]) -> str:
    rows: list[tuple[int, dict[str, Any]]] = []
    for process, one in enumerate(transactions):
        row = {"process": process, "f": "txn"}
        called = [[kind, key, None if kind == "r" else value] for kind, key, value in one.steps]
        rows.append((one.called, {**row, "type": "invoke", "value": called}))
        if one.returned is not None:
            value = [list(step) for step in one.steps] if one.outcome == "ok" else called
            rows.append((one.returned, {**row, "type": one.outcome, "value": value}))
    rows.sort(key=lambda row: row[0])
    file.write_text("".join(json.dumps(row) + "\n" for _, row in rows), encoding="utf-8")
    return str(file)


def judged(
    file: str, model: str, name: str = "ListAppend", assumed: tuple[str, ...] = ()
) -> Judgement:
    return judge_of(Request(name, model, assumed=assumed)).judge(file)


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
                if draw.random() < 0.02:
                    read = draw.sample(range(1, value + 2), draw.randint(0, min(3, value)))
                steps.append(("r", key, read if outcome == "ok" else None))
        past.append({key: list(of) for key, of in state.items()})
        begin, end = sorted(times[2 * number : 2 * number + 2])
        returned = None if outcome == "info" and draw.random() < 0.5 else end
        made.append(Txn(tuple(steps), begin, returned, outcome))
    return made


def as_registers(transactions: list[Txn]) -> list[Txn]:
    """The same on registers: a read sees the last element of the list."""

    def on_register(kind: str, key: Any, value: Any) -> tuple[str, Any, Any]:
        return ("w", key, value) if kind == "append" else (kind, key, value[-1] if value else None)

    return [one._replace(steps=tuple(on_register(*s) for s in one.steps)) for one in transactions]


def rows(*steps: list[list[Any]], outcomes: str = "") -> list[Txn]:
    """Transactions that all overlap, with these steps; ``outcomes``: ``i`` and ``f`` for ``info``
    and ``fail``."""
    names = {"i": "info", "f": "fail"}
    made = []
    for number, one in enumerate(steps):
        outcome = names.get(outcomes[number : number + 1], "ok")
        made.append(Txn(tuple((k, key, v) for k, key, v in one), number, 100 + number, outcome))
    return made


def names_by_model(
    file: Path, transactions: list[Txn], name: str, assumed: tuple[str, ...] = ()
) -> dict[str, tuple[Judgement, set[str]]]:
    """The report by each model, with the names of all anomalies that were found."""
    written(file, transactions)
    found = {}
    for model in MODELS:
        report = judged(str(file), model, name, assumed)
        found[model] = report, {each.name for each in report.anomalies} | {*report.allowed}
    return found
