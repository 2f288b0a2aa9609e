"""The speed-up of judging the mutants of a spec with more processes.

    python -m benchmarks.mutants_by_slots specs/broadcast/fifo.bcast 1 2

judges all mutants of the spec with one process, then with two, without what earlier commands have
stored, and prints the seconds, and the speed-up over the first number of processes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from checker.cli.main import main


def seconds(spec: str, jobs: str) -> float:
    """Returns the seconds that the mutants of ``spec`` take with ``jobs`` processes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        code = main(["mutate", spec, "--fresh", "-q", "--jobs", jobs, "--json", str(out)])
        if code:
            raise SystemExit(code)
        (report,) = json.loads(out.read_text("utf-8"))["reports"]
    return float(report["seconds"])


if __name__ == "__main__":
    spec, *slots = sys.argv[1:]
    took = [seconds(spec, each) for each in slots]
    for each, time in zip(slots, took, strict=True):
        print(f"{each} processes: {time:.1f} s, {took[0] / time:.2f} times as fast")
