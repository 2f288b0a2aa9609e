"""Phrases for texts about executions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from checker.diagnostics.english import listing
from checker.results.answer import Restart


def at_most(probability: float) -> str:
    """Returns ``3e-6``, ``0.02``: with one digit, rounded up."""
    if not 0 < probability < 1:
        return f"{probability:.0f}"
    places = -math.floor(math.log10(probability))
    digit = math.ceil(probability * 10.0**places)
    digit, places = (1, places - 1) if digit == 10 else (digit, places)
    return f"{digit}e-{places}" if places > 2 else f"{digit / 10**places:.{places}f}"


def unless_omitted(probability: float | None) -> str:
    """Returns the reservation at the end of a sentence about all states, where some may have been
    omitted; empty for ``None``."""
    if probability is None:
        return ""
    return f", unless a state was omitted (probability at most {at_most(probability)})"


def restarts_text(restarts: Sequence[Restart]) -> str:
    """Returns that some explorations had to start over, how often, and why; empty where none
    had."""
    return _restart_text([one for one in restarts if not one.kept], "restarted")


def continuations_text(restarts: Sequence[Restart]) -> str:
    """Returns that some explorations continued in a larger system; empty where none did."""
    return _restart_text([one for one in restarts if one.kept], "continued in a larger system")


def _restart_text(restarts: Sequence[Restart], how: str) -> str:
    if not restarts:
        return ""
    sizes: dict[str, list[str]] = {}
    for restart in restarts:
        for name, was, _ in restart.grown:
            sizes.setdefault(name, []).append(f"{was:,}")
    small = listing(f"`{name}` ({', then '.join(found)})" for name, found in sizes.items())
    times = "once" if len(restarts) == 1 else f"{len(restarts)} times"
    were = "was" if len(sizes) == 1 else "were"
    return f"{how} {times}: {small} {were} guessed too low"
