"""Times of calls of ``bivalence mcp`` for small specs on a warm server: median, and 95 of 100.

``python -m benchmarks.assistant_calls [--rounds N]`` starts a server over stdin and stdout, makes
one call of each kind that does not count, then ``N`` rounds, and asserts each verdict.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.assistants.trial import serving

GOAL = 2.0
"""Seconds that 95 of 100 calls should stay below."""

BUDGET = {"seconds": 30, "states": 10**6}
CALLS: tuple[tuple[str, dict[str, object], str], ...] = (
    ("look", {"path": "broadcast/eager_reliable"}, "shown"),
    ("check", {"path": "broadcast/eager_reliable", "check": "no_fault"}, "holds"),
    ("check", {"path": "broadcast/eager_reliable", "check": "crash_one"}, "violated"),
    ("check", {"path": "consensus/paxos", "check": "anything_goes"}, "holds"),
    ("check", {"path": "links/alternating_bit", "check": "reordering"}, "violated"),
    ("check", {"path": "commit/two_phase_commit", "check": "crash_one"}, "violated"),
    ("simulate", {"path": "links/alternating_bit", "check": "lossy_fifo", "seed": 1}, "violated"),
    ("library", {"query": "reliable broadcast"}, "shown"),
)
"""A tool, its arguments, and the outcome."""


def main() -> None:
    """Prints a line per kind of call, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    times = [list[float]() for _ in CALLS]
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as ask:
        for number in range(rounds + 1):
            for taken, (tool, given, outcome) in zip(times, CALLS, strict=True):
                budget = {} if tool in ("look", "library") else {"budget": BUDGET}
                began = time.monotonic()
                found = ask(tool, {**given, **budget})
                if number:
                    taken.append(time.monotonic() - began)
                assert found["outcome"] == outcome, (tool, given, found["claim"])
    for taken, (tool, given, _) in zip(times, CALLS, strict=True):
        about = " ".join(str(value) for value in given.values())
        print(
            f"{tool:9} {about:46} median {_part(taken, 50):5.2f} s  95 % {_part(taken, 95):5.2f} s"
        )
    every = [each for taken in times for each in taken]
    below = sum(each < GOAL for each in every) / len(every)
    print(f"{len(every)} calls: 95 % below {_part(every, 95):.2f} s; {below:.0%} below {GOAL:g} s")


def _part(times: list[float], percent: int) -> float:
    """Returns the time that ``percent`` of 100 do not exceed."""
    return sorted(times)[max(0, -(-len(times) * percent // 100) - 1)]


if __name__ == "__main__":
    main()
