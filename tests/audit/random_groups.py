"""Random logs of groups and transactions: what a right system writes, and a few rows changed."""

from __future__ import annotations

import random
from typing import Any

Row = dict[str, Any]


def random_rows(draw: random.Random, run: str) -> list[Row]:
    """Returns the rows of a run with producers `w1`, `w2` and members `c1` to `c3`."""
    groups = draw.random() < 0.3
    lines: dict[str, list[Row]] = {name: [] for name in ("w1", "w2", "c1", "c2", "c3")}
    records = _appended(draw, lines)
    for group in ("g", "h") if groups else (None,):
        _consumed(draw, lines, records, group)
    _isolate(random.Random(f"{run} isolated"), lines)
    for line in lines.values():
        _disturb(draw, line)
        if draw.random() < 0.06:
            line.insert(draw.randint(0, len(line)), {"kind": "gap"})
        line.insert(0, {"kind": "start"})
    return [
        {"run": run, "process": name, "pos": 2 * at + 5, **row}
        for name, line in lines.items()
        for at, row in enumerate(line)
    ]


def _appended(draw: random.Random, lines: dict[str, list[Row]]) -> list[Row]:
    """Appends to two partitions, some records in transactions; returns what can be polled."""
    numbered, transactional = draw.random() < 0.4, draw.random() < 0.6
    ends = {"x": 0, "y": 0}
    records = []
    for number in range(draw.randint(2, 6)):
        writer, partition = draw.choice(["w1", "w2"]), draw.choice(["x", "y"])
        row: Row = {"kind": "append", "msg": f"m{number}", "partition": partition}
        row["offset"] = ends[partition]
        ends[partition] += draw.choice([1, 1, 2])
        if numbered:
            row["seq"] = number
        if transactional and draw.random() < 0.7:
            row["transaction"] = f"{writer}.{draw.randint(0, 1)}"
        lines[writer].append(row)
        records.append(row)
    for name in {r["transaction"]: 1 for r in records if "transaction" in r}:
        kind = draw.choice(["commit", "commit", "commit", "abort"])
        line = lines[name.partition(".")[0]]
        line.insert(draw.randint(0, len(line)) if draw.random() < 0.2 else len(line), {
            "kind": kind, "transaction": name, **_status(draw, 0.1),
        })  # fmt: skip
        if kind == "abort" and draw.random() < 0.8:
            records = [r for r in records if r.get("transaction") != name]
    if draw.random() < 0.3:  # acknowledgements of their own
        for line in lines.values():
            for row in [r for r in line if r["kind"] == "append" and draw.random() < 0.5]:
                told = {k: v for k, v in row.items() if k not in ("kind", "seq")}
                line.append({"kind": "acknowledge", **told})
                row.pop("offset")
    return [{**r} for r in records]


def _status(draw: random.Random, odd: float) -> Row:
    return {"status": draw.choice(["maybe", "fail"])} if draw.random() < odd else {}


def _consumed(
    draw: random.Random, lines: dict[str, list[Row]], records: list[Row], group: str | None
) -> None:
    at = {"x": 0, "y": 0}
    of = {} if group is None else {"group": group}
    for generation in range(1, draw.randint(2, 4)):
        for partition in ("x", "y"):
            line = lines[draw.choice(["c1", "c2", "c3"])]
            shared = {"partition": partition, "generation": generation, **of}
            line.append({"kind": "assign", **shared})
            there = [r for r in records if r["partition"] == partition and "offset" in r]
            there = [r for r in there if r["offset"] >= at[partition]]
            some = there if generation > 1 and draw.random() < 0.8 else there[: draw.randint(0, 3)]
            within = {"transaction": f"t{generation}"} if draw.random() < 0.2 else {}
            for record in some:
                poll = {"msg": record["msg"], "offset": record["offset"]}
                line.append({"kind": "poll", **poll, **shared, **within})
            if some and draw.random() < 0.8:
                done = draw.choice(some)["offset"] + 1
                line.append({"kind": "commit", "offset": done, **shared})
                at[partition] = done if draw.random() < 0.9 else 0


def _isolate(draw: random.Random, lines: dict[str, list[Row]]) -> None:
    """Says of some polls, in one run of three, whether they are of uncommitted records."""
    if draw.random() < 0.65:
        return
    for name in ("c1", "c2", "c3"):
        share = draw.choice([0.0, 0.5, 1.0])
        for row in lines[name]:
            if row["kind"] == "poll" and draw.random() < 0.8:
                row["uncommitted"] = draw.random() < share


def _disturb(draw: random.Random, line: list[Row]) -> None:
    """Leaves out, repeats, swaps or changes a row, in one log of three."""
    if not line or draw.random() < 0.65:
        return
    i, j = draw.randrange(len(line)), draw.randrange(len(line))
    what = draw.choice(["drop", "again", "swap", "offset", "status", "generation", "recover"])
    if what == "drop":
        line.pop(i)
    elif what == "again":
        line.insert(j, {**line[i]})
    elif what == "swap":
        line[i], line[j] = line[j], line[i]
    elif what == "recover":
        line.insert(i, {"kind": "recover"})
    elif what == "status" and line[i]["kind"] == "append":
        line[i] |= {"status": draw.choice(["fail", "maybe"])}
    elif what in ("offset", "generation") and what in line[i]:
        line[i] = {**line[i], what: draw.randint(0, 3)}
