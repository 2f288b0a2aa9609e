"""Whoever wants the tool to end is heard."""

from __future__ import annotations

import signal
import time

import pytest

from checker.cli.signals import interrupting_on_signals

BOTH = [signal.SIGTERM, signal.SIGINT]


class GivenUp:
    """Something whose end takes long enough for a signal to come meanwhile."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_ends_what_is_done(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupting_on_signals():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", BOTH)
def test_none_is_lost_while_an_object_is_given_up(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interrupting_on_signals():
        _given_up_and_slept(number)


def _given_up_and_slept(number: int) -> None:
    thing = GivenUp(number)
    del thing
    time.sleep(30.0)


def test_what_somebody_else_answers_stays_theirs() -> None:
    said = []
    before = signal.signal(signal.SIGINT, lambda number, _: said.append(number))
    try:
        with interrupting_on_signals():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert said == [signal.SIGINT]
