"""Many random files of threshold automata against a plain search: how many, and what differs.

python -m tests.parametric.sweep FIRST LAST [resets]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.parametric.test_random_threshold_files import disagreements

AT_ONCE = 100


def sweep(first: int, last: int, *, resets: bool) -> int:
    """Prints what is known after each hundred files, and returns how many verdicts differ."""
    decided = undecided = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(first, last, AT_ONCE):
            seeds = range(begin, min(begin + AT_ONCE, last))
            found, more, open_ = disagreements(seeds, Path(folder), resets=resets)
            decided, undecided = decided + more, undecided + open_
            differ += len(found)
            for each in found:
                print(each, flush=True)
            print(f"{seeds.stop - first} files: {decided} specifications decided,"
                  f" {undecided} not, {differ} differ", flush=True)  # fmt: skip
    return differ


if __name__ == "__main__":
    sys.exit(sweep(int(sys.argv[1]), int(sys.argv[2]), resets="resets" in sys.argv[3:]) > 0)
