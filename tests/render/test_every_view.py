"""Runs made by hand in every view, also where their texts are meant to do harm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.engines.options import Options
from checker.records import replace
from checker.resources import specs
from checker.results.events import Event, Indicated, OracleIndicated, Requested
from checker.results.trace import Source, Trace
from checker.session.pipeline import run_check
from tests.render import runs
from tests.render.every_view import draw, draw_all

HARM = "\x1b]0;x\x07\x9b31m\u202e\u2066 </script><b>\x00\r\u2028\U000e0041"


def _everything() -> Trace:
    trace = runs.everything()
    header = replace(trace.header, sources=(Source("a.bcast", "0" * 64, f"protocol {HARM}\n"),))
    return replace(trace, header=header, definition="d", sentence="s.", property_name="p")


@pytest.mark.parametrize(
    "made",
    [
        *(
            runs.half_heard,
            runs.everything,
            runs.cut_off,
            runs.disks,
            runs.disconnected,
            runs.together,
        ),
        runs.round_and_round,
    ],
)
def test_runs_made_by_hand(made: Callable[[], Trace]) -> None:
    trace = made()
    header = replace(trace.header, sources=(Source("a.bcast", "0" * 64, "protocol P {}\n"),))
    draw(replace(trace, header=header))


def harmful(event: Event) -> Event:
    """An event with harm in each of its texts but for names of processes."""
    texts = {"message", "handler", "act", "variable", "value", "timer"}
    found = {name: getattr(event, name) + HARM for name in event.__struct_fields__ if name in texts}
    if isinstance(event, Requested | Indicated | OracleIndicated):
        found["call"] = replace(event.call, values=(*event.call.values, HARM))
    return replace(event, **found)


def test_texts_that_mean_harm() -> None:
    trace = _everything()
    steps = tuple(
        replace(
            step,
            action=f"{step.action}{HARM}",
            events=tuple(harmful(event) for event in step.events),
        )
        for step in trace.steps
    )
    header = replace(trace.header, file=f"a{HARM}", check=HARM, tool=HARM)
    draw(replace(trace, header=header, steps=steps, definition=HARM, sentence=HARM,
                 property_name=HARM))  # fmt: skip


def test_messages_that_are_counted() -> None:
    path = specs() / "for_every_n" / "folklore_broadcast.bcast"
    assert draw_all(run_check(str(path), "two_messages_three", Options()))
