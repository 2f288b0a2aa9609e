"""``python -m tests.assistants COMMAND…`` scores a program, or ``--script NAME`` a script."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.assistants.baselines import ALL, Command
from tests.assistants.trial import RIGHT, WRONG, Assistant, Score, score, tasks


def main(words: list[str]) -> int:
    """Prints the points of each question, then the sums; returns 0 if all are right."""
    parser = argparse.ArgumentParser(prog="python -m tests.assistants", description=__doc__)
    parser.add_argument("--script", choices=sorted(ALL), help="score a script that is here")
    parser.add_argument("--task", action="append", default=[], help="only this task (repeatable)")
    parser.add_argument("--repeat", type=int, default=1, help="how often each task is given")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program to score")
    given = parser.parse_args(words)
    if bool(given.script) == bool(given.command):
        parser.error("name a script or a program")
    assistant: Assistant = ALL[given.script] if given.script else Command(given.command)
    chosen = tasks(tuple(given.task))
    if len(chosen) < len(given.task):
        parser.error("there is no such task")
    found: list[Score] = []
    for task in chosen * given.repeat:
        for one in score(task, assistant):
            print(f"{one.points:+d}  {one.task}: {one.why}", flush=True)
            found.append(one)
    print(summary(found))
    return 0 if all(one.points == RIGHT for one in found) else 1


def summary(found: list[Score]) -> str:
    """Returns the sums in a line: right, wrong, points, and the traps that were sprung."""
    right = sum(one.points == RIGHT for one in found)
    wrong = sum(one.points == WRONG for one in found)
    traps = Counter(trap for one in found for trap in one.trapped)
    sprung = ", ".join(f"{trap} {times}" for trap, times in sorted(traps.items())) or "none"
    points = sum(one.points for one in found)
    return f"{right} of {len(found)} right, {wrong} wrong, {points} points; traps sprung: {sprung}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
