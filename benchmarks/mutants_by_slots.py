"""The speed-up of judging the mutants of a spec with more processes.

    python -m benchmarks.mutants_by_slots specs/broadcast/fifo.bcast 1 2

judges all mutants of the spec with one process, then with two, without what earlier commands have
stored.  It prints the seconds by the clock and of the processor, and the speed-up over the first
number of processes.  On a busy machine the clock says little; the processor's seconds say how much
work more processes add.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

from checker.cli.main import main


def processor() -> float:
    """Returns the seconds of the processor that this process and those that it has ended took."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def seconds(spec: str, jobs: str) -> tuple[float, float]:
    """Returns the seconds that the mutants of ``spec`` take with ``jobs`` processes: by the clock,
    and of the processor."""
    before = processor()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        code = main(["mutate", spec, "--fresh", "-q", "--jobs", jobs, "--json", str(out)])
        if code:
            raise SystemExit(code)
        (report,) = json.loads(out.read_text("utf-8"))["reports"]
    return float(report["seconds"]), processor() - before


if __name__ == "__main__":
    spec, *slots = sys.argv[1:]
    took = [seconds(spec, each) for each in slots]
    for each, (time, work) in zip(slots, took, strict=True):
        faster, more = took[0][0] / time, work / took[0][1]
        print(
            f"{each} processes: {time:.1f} s, {faster:.2f} times as fast; "
            f"{work:.1f} s of the processor, {more:.2f} times as many"
        )
