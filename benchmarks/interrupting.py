"""Ends commands by signals at random moments, and says how long they take and what goes wrong.

    python -m benchmarks.interrupting --count 500
    python -m benchmarks.interrupting --count 200 --only check --longest 2

A moment is up to ``--longest`` seconds after the start, most of them early: while modules are
imported, a spec is read, a system is made, planned, compiled, explored, explained, printed.  The
commands, and what an end has to be like, are those of ``tests/cli/test_signals.py``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.cli.signalling import Ended, drawn, ended_by
from tests.cli.test_signals import COMMANDS, LONGEST, problems, words_of

PROMISED = 2.0
"""Seconds after the last signal in which a command has to end."""


def main() -> None:
    """Prints a table, one row for each command, and every problem."""
    given = _arguments()
    commands = [name for name in COMMANDS if name == given.only] or list(COMMANDS)
    ends: dict[str, list[Ended]] = {name: [] for name in commands}
    wrong: list[str] = []
    started = time.monotonic()
    for number in range(given.count):
        if given.until is not None and time.monotonic() - started > given.until:
            break
        rng = random.Random(given.seed + number)
        name = commands[number % len(commands)]
        with tempfile.TemporaryDirectory() as folder:
            moment = drawn(rng, given.longest)
            ended = ended_by(words_of(name, Path(folder)), moment, Path(folder))
            ends[name].append(ended)
            found = problems(ended)
            if ended.seconds is not None and ended.seconds > PROMISED:
                found.append(f"it took {ended.seconds:.1f} s")
            wrong += [f"{name}, seed {given.seed + number}, {moment}: {each}" for each in found]
            if found:
                print(wrong[-1], file=sys.stderr, flush=True)
    print(f"{'command':26}{'signals':>8}{'too late':>9}{'median':>8}{'longest':>9}   exit codes")
    for name, those in [*ends.items(), ("all", [one for each in ends.values() for one in each])]:
        print(_row(name, those))
    print(f"{len(wrong)} problems", *wrong, sep="\n")


def _row(name: str, ends: list[Ended]) -> str:
    heard = [ended for ended in ends if ended.seconds is not None]
    seconds = [ended.seconds or 0.0 for ended in heard]
    late = sum(each > PROMISED for each in seconds)
    codes = [ended.code for ended in heard]
    counted = ", ".join(f"{codes.count(code)} x {code}" for code in sorted(set(codes)))
    times = f"{median(seconds):8.2f}{max(seconds):9.2f}" if seconds else f"{'-':>8}{'-':>9}"
    return f"{name:26}{len(heard):8}{late:9}{times}   {counted}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500, help="number of commands that are begun")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments")
    parser.add_argument("--only", help="the only command, by its name in the table")
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds")
    parser.add_argument("--until", type=float, help="seconds after which no command is begun")
    return parser.parse_args()


if __name__ == "__main__":
    main()
