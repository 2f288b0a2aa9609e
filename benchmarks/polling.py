"""Finds code that does not poll: where the main thread of a command is while no poll comes.

    python -m benchmarks.polling check specs/consensus/paxos.bcast --engine reference

runs the command in this process.  Each place where more than ``GAP`` seconds have passed since the
last poll (:mod:`checker.polling`) is listed, with the largest number of seconds: until such code is
over, a limit of time has no effect there, and a signal is obeyed by killing the process.  Native
code, z3 and a wait that an interrupt ends do not poll, and are listed, too.
"""

from __future__ import annotations

import sys
import threading
import time
from types import FrameType

from checker import polling
from checker.cli.main import main

GAP = 0.25
SEEN = 12
"""Functions of the tool that are listed of a place, the innermost first."""


def measured(words: list[str]) -> dict[str, float]:
    """Runs a command; returns the places, with the seconds without a poll."""
    last, over, found = [time.monotonic()], threading.Event(), dict[str, float]()
    thread = threading.get_ident()

    def polled() -> None:
        if threading.get_ident() == thread:
            last[0] = time.monotonic()

    def watch() -> None:
        while not over.wait(0.02):
            gap = time.monotonic() - last[0]
            if gap > GAP:
                place = _place(sys._current_frames().get(thread))
                found[place] = max(found.get(place, 0.0), gap)

    polling.ask(polled)
    polling.ask_no_more = lambda: polling.ask(polled)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        main(words)
    finally:
        over.set()
        watcher.join()
    return found


def _place(frame: FrameType | None) -> str:
    names = []
    while frame is not None and len(names) < SEEN:
        module = str(frame.f_globals.get("__name__"))
        if module.startswith("checker.") and not module.startswith("checker.cli"):
            names.append(f"{module.removeprefix('checker.')}.{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(names)


if __name__ == "__main__":
    for place, gap in sorted(measured(sys.argv[1:]).items(), key=lambda pair: -pair[1]):
        print(f"{gap:6.2f} s  {place}", file=sys.stderr)
