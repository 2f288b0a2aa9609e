"""How fast `judge` decides generated histories, and with how much memory:

    python -m benchmarks.judging                 # 10^6 operations over 10^3 keys, 10^5 transactions
    python -m benchmarks.judging --share 0.01    # a hundredth of that

Each history has a twin in which one row is changed such that it is wrong.  A verdict other than the
expected one ends the run.  CPU seconds are given as a multiple of those in which Python's `json`
reads the same rows: compare these between machines and versions, never seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from checker.engines.python_children import command

Row = tuple[int, str, str, Any]
"""The process, the type, the name of the operation, and the value."""


class Case(NamedTuple):
    """What is judged: ``rows`` of a history of some size, and of its wrong twin."""

    name: str
    options: tuple[str, ...]
    size: int
    rows: Callable[[int, bool], Iterator[Row]]


class Cost(NamedTuple):
    """CPU seconds of a command, and the largest memory in bytes."""

    seconds: float
    memory: int


PROCESSES = 20
KEYS = 1000
LONGEST = 32
"""The largest number of elements of a list."""


def registers(size: int, wrong: bool) -> Iterator[Row]:
    """Operations on registers, by key: each takes effect as it returns."""
    draw = random.Random(1)
    values: dict[int, int] = {}
    calls: dict[int, tuple[str, int, Any]] = {}
    done = 0
    while done < size:
        process = draw.randrange(PROCESSES)
        if process not in calls:
            key, f = draw.randrange(KEYS), draw.choice(["read", "write", "cas"])
            given = {"read": None, "write": draw.randrange(5), "cas": [draw.randrange(5)] * 2}[f]
            calls[process] = f, key, given
            yield process, "invoke", f, [key, given]
            continue
        f, key, given = calls.pop(process)
        done += 1
        kind, value = "ok", given
        if f == "read":
            value = values.get(key)
            if wrong and done > size // 2:
                wrong, value = False, 9
        elif f == "write":
            values[key] = given
        elif values.get(key) != given[0]:
            kind = "fail"
        yield process, kind, f, [key, value]


def transactions(size: int, wrong: bool, is_list: bool) -> Iterator[Row]:
    """Transactions of four steps at most that take effect one after the other; of a list, the
    longest is as long as `LONGEST`, then another key takes its place."""
    draw = random.Random(2)
    values: dict[int, list[int]] = {}
    keys, used = list(range(10)), dict.fromkeys(range(10), 0)
    calls: dict[int, list[list[Any]]] = {}
    done = 0
    while done < size:
        process = draw.randrange(PROCESSES)
        if process not in calls:
            steps = []
            for _ in range(draw.randint(1, 4)):
                place = draw.randrange(10)
                key = keys[place]
                if draw.random() < 0.5:
                    steps.append(["r", key, None])
                    continue
                used[key] += 1
                steps.append(["append" if is_list else "w", key, used[key]])
                if used[key] == LONGEST:
                    keys[place] = len(used)
                    used[len(used)] = 0
            calls[process] = steps
            yield process, "invoke", "txn", steps
            continue
        done += 1
        read = []
        for kind, key, value in calls.pop(process):
            if kind == "r":
                there = values.get(key, [])
                value = list(there) if is_list else there[-1] if there else None
                if wrong and done > size // 2 and there:
                    wrong, value = False, [*there, -1] if is_list else -1
            else:
                values.setdefault(key, []).append(value)
            read.append([kind, key, value])
        yield process, "ok", "txn", read


CASES = (
    Case("registers by key", ("--as", "CompareAndSwap", "--by", "key"), 1_000_000, registers),
    Case("lists", ("--as", "ListAppend"), 100_000, lambda n, wrong: transactions(n, wrong, True)),
    Case("registers", ("--as", "RwRegister", "--assume", "linearizable-keys"), 100_000,
         lambda n, wrong: transactions(n, wrong, False)),
)  # fmt: skip


def edn(value: Any) -> str:
    """A value in EDN; a string is a keyword."""
    if value is None:
        return "nil"
    if isinstance(value, list):
        return f"[{' '.join(map(edn, value))}]"
    return f":{value}" if isinstance(value, str) else str(value)


def written(rows: Iterator[Row], folder: Path) -> tuple[Path, float]:
    """Writes a history; returns its file, and the seconds in which `json` reads its rows."""
    file, taken = folder / "history.edn", 0.0
    with file.open("w", encoding="utf-8") as out:
        for process, kind, f, value in rows:
            out.write(f"{{:process {process}, :type :{kind}, :f :{f}, :value {edn(value)}}}\n")
            text = json.dumps({"process": process, "type": kind, "f": f, "value": value})
            began = time.process_time()
            json.loads(text)
            taken += time.process_time() - began
    return file, taken


def judged(file: Path, options: tuple[str, ...], expected: int) -> Cost:
    """Runs the command; raises ``SystemExit`` for another exit code than the expected one."""
    words = command("judge", str(file), *options, "--quiet")
    out = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(
        words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)]
    )
    os.close(out)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != expected:
        raise SystemExit(f"{' '.join(words)}: exit code {code}, expected {expected}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def measured(case: Case, share: float) -> str:
    """Judges a history and its wrong twin; returns a line of the table."""
    size = max(20, int(case.size * share))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, baseline = written(case.rows(size, False), folder)
        megabytes = file.stat().st_size / 1e6
        cost = judged(file, case.options, 0)
        file, _ = written(case.rows(size, True), folder)
        wrong = judged(file, case.options, 1)
    return (
        f"| {case.name} | {size:,} | {megabytes:.1f} | {cost.seconds / baseline:.1f} |"
        f" {wrong.seconds / baseline:.1f} | {cost.memory / 1e6:.0f} |"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the full sizes")
    parser.add_argument("--only", default="", help="the name of a case")
    args = parser.parse_args(arguments)
    print("| history | operations | MB | holds/json | violated/json | peak MB |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        if args.only in ("", case.name):
            print(measured(case, args.share), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
