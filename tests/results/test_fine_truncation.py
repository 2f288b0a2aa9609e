"""What a process would still have done, where each effect is a step and it crashes between two."""

from __future__ import annotations

import pytest

from checker.simulate.session import SteppingSession
from checker.words.events import sentence
from checker.words.steps import headline
from tests.simulate.opening import library

EAGER = "broadcast/eager_reliable.bcast::crash_one"


def cut_after(*steps: str) -> tuple[str, ...]:
    """What is cut off by the crash of p1 after these steps."""
    session = SteppingSession(library(EAGER, fine=True))
    for words in steps:
        session.say(words)
    session.say("p1 crashes")
    last = session.trace().steps[-1]
    assert headline(last) == "p1 crashes"
    return tuple(map(sentence, last.cut))


SENDS = "p1 sends COPY(DATA(p1, a)) to"


@pytest.mark.parametrize(
    ("steps", "cut"),
    [
        ((), ()),
        (("p1 broadcasts a",), (f"{SENDS} p1, p2, p3",)),
        (("p1 broadcasts a", "p1 goes on", "COPY(DATA(p1, a)) leaves p1 for p2"),
         (f"{SENDS} p1, p3",)),
        (("p1 broadcasts a", "p1 goes on", *(f"COPY(DATA(p1, a)) leaves p1 for {p}" for p in
          ("p1", "p2", "p3"))), ()),
        (("p1 broadcasts a", "p1 goes on", *(f"COPY(DATA(p1, a)) leaves p1 for {p}" for p in
          ("p1", "p2", "p3")), "p1 receives COPY"),
         ("p1 indicates deliver(p1, a)", f"{SENDS} p1, p2, p3")),
    ],
)  # fmt: skip
def test_a_crash_between_two_effects_cuts_off_the_others(
    steps: tuple[str, ...], cut: tuple[str, ...]
) -> None:
    assert cut_after(*steps) == cut
