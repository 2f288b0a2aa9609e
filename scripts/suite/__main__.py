"""Prints the suite, or what a checker says of it (``docs/suite.md``).

``python -m scripts.suite [WORDS…]`` prints the manifest: a line for each instance, with tabs.
``--by ours``, ``--by spin`` and ``--by storm`` answer the instances; the exit code is 1 if an
answer differs, 2 if the checker is not installed.  WORDS choose the
instances in whose names all occur.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from scripts.suite.instances import COLUMNS, Instance, instances
from scripts.suite.runners import AGREES, DIFFERS, RUNNERS, Missing, Runner


def main(arguments: list[str]) -> int:
    """Runs the script; returns its exit code."""
    parser = argparse.ArgumentParser(prog="suite", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--by", choices=sorted(RUNNERS))
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for one instance")
    given = parser.parse_args(arguments)
    asked = [one for one in instances() if all(word in one.name for word in given.words)]
    if given.by is None:
        print(*("\t".join(cells) for cells in (COLUMNS, *(one.cells for one in asked))), sep="\n")
        return 0
    try:
        return run(asked, RUNNERS[given.by](given.seconds))
    except Missing as error:
        print(error, file=sys.stderr)
        return 2


def run(asked: list[Instance], answer: Runner) -> int:
    """Prints the answer to each instance and totals; returns 1 if one differs."""
    said = list[str]()
    for one in asked:
        said.append(answer(one))
        print(f"{one.name}: {said[-1]}", flush=True)
    differ = sum(word.startswith(DIFFERS) for word in said)
    others = Counter(word for word in said if word != AGREES and not word.startswith(DIFFERS))
    print(f"{len(said)} instances, {said.count(AGREES)} agree, {differ} differ")
    print(*(f"not answered: {times} x {why}" for why, times in others.most_common()), sep="\n")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
