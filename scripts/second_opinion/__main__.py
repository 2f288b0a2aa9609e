"""Compares the engine with SPIN on the checks of files or folders."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from scripts.named_checks import named_checks
from scripts.second_opinion.compare import Opinion, compare
from scripts.second_opinion.spin import Verifiers, missing


def main() -> int:
    """Prints a line for each check; returns 1 if the answers differ anywhere."""
    parser = argparse.ArgumentParser(prog="second_opinion", description=__doc__)
    parser.add_argument("paths", nargs="+", help="FILE, FILE::CHECK or a folder")
    parser.add_argument("--states", type=int, default=300_000, help="skip checks with more")
    parser.add_argument("--seconds", type=int, default=60, help="processor time of one search")
    parser.add_argument("--megabytes", type=int, default=2_000, help="memory limit of one search")
    parser.add_argument("--part", default="1/1", help="as 2/5: the second fifth of the checks")
    given = parser.parse_args()
    if missing():
        print(missing(), file=sys.stderr)
        return 2
    part, parts = map(int, given.part.split("/"))
    asked = [*named_checks(given.paths)][part - 1 :: parts]
    opinions = list[Opinion]()
    with tempfile.TemporaryDirectory() as folder:
        verifiers = Verifiers(Path(folder), given.seconds, given.megabytes)
        for file, check in asked:
            opinions.append(compare(file, check, verifiers, given.states))
            print(opinions[-1].line, flush=True)
    print(summary(opinions))
    return int(any(one.different for one in opinions))


def summary(opinions: list[Opinion]) -> str:
    """Returns the numbers of what was compared, and the reasons why something was not."""
    said = Counter(fact.kind for one in opinions for fact in one.facts if fact.agrees)
    compared = [one for one in opinions if one.facts]
    reasons = Counter(reason for one in opinions for reason in one.reasons)
    return "\n".join(
        (
            f"{len(opinions)} checks, {len(compared)} compared, "
            f"{sum(one.different for one in opinions)} differ",
            *(f"confirmed: {count} x {kind}" for kind, count in said.items()),
            *(f"not compared: {count} x {reason}" for reason, count in reasons.most_common()),
        )
    )


if __name__ == "__main__":
    sys.exit(main())
