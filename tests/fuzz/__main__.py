"""Gives the command line many inputs that nobody would: ``python -m tests.fuzz --inputs 1000``."""

from __future__ import annotations

import argparse
import gc
import importlib
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.inputs import Input, made, traces
from tests.fuzz.running import Outcome, run

IMPORTED = (
    "checker.cli.main",
    "checker.session.pipeline",
    "checker.session.run_engine",
    "checker.engines.native.engine",
    "z3",
)


def wrong(first: int, inputs: int, seconds: float = 1e9) -> tuple[list[str], Counter[str]]:
    """What went wrong of so many ``inputs`` from number ``first`` on, and how often each way of
    ending came, within about so many ``seconds``."""
    for name in IMPORTED:  # once, and not in each child
        importlib.import_module(name)
    gc.freeze()
    found: list[str] = []
    seen: Counter[str] = Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = traces(folder)
        assert documents
        for number in range(first, first + inputs):
            if time.monotonic() - start > seconds:
                break
            given, outcome = _one(number, documents, folder / str(number))
            seen[f"{given.kind} {outcome.code}"] += 1
            if outcome.wrong:
                found.append(_told(number, given, outcome))
    return found, seen


def _one(number: int, documents: list[object], folder: Path) -> tuple[Input, Outcome]:
    folder.mkdir()
    try:
        given = made(number, documents)
        given.write(folder)
        return given, run(given.arguments, folder)
    finally:
        shutil.rmtree(folder)


def _told(number: int, given: Input, outcome: Outcome) -> str:
    last = "\n      ".join(outcome.said.strip().splitlines()[-4:])
    command = " ".join(given.arguments)
    return f"{number} ({given.kind}): {outcome.wrong}: bivalence {command!r}\n      {last}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--show", action="store_true", help="write the first input and do not run")
    args = parser.parse_args()
    if args.show:
        with tempfile.TemporaryDirectory() as folder:
            given = made(args.first, traces(Path(folder)))
        print(given.arguments)
        for name, text in given.files.items():
            print(f"---- {name}\n{text}")
        return
    found, seen = wrong(args.first, args.inputs, args.seconds)
    for each in found:
        print(each)
    print(sum(seen.values()), "inputs,", len(found), "wrong:", dict(sorted(seen.items())))


if __name__ == "__main__":
    main()
