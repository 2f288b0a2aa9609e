"""Runs to make pages of: from the library, and made up."""

from __future__ import annotations

from functools import cache

from checker import resources
from checker.engines.options import Options
from checker.records import replace
from checker.results.events import Event
from checker.results.trace import (
    Claim,
    Cost,
    Counterfactual,
    Explanation,
    Header,
    Obligation,
    Step,
    Trace,
)
from checker.session import pipeline
from tests.results.by_hand import receive, send

BROKEN = "broadcast/eager_reliable_without_relay.bcast"
RIGHT = "broadcast/eager_reliable.bcast"


@cache
def found(file: str, check: str) -> Trace:
    """The first violation of a check of the library."""
    path = str(resources.specs() / file)
    report = pipeline.run_check(path, check, Options())
    return next(v.trace for v in report.verdicts if v.trace is not None)


def explained(trace: Trace, context: tuple[int, ...] = ()) -> Trace:
    """``trace`` with an explanation that has one of everything."""
    states = len(trace.steps)
    truths = tuple(number >= 2 for number in range(states))
    explanation = Explanation(
        sentences=("Agreement fails: <p3> never delivers a.", "p1 crashed & nobody relays."),
        claims=(
            Claim("p2 delivered a", "(p1, a) in delivered(p2)", truths, "premise"),
            Claim("p3 delivered a", "(p1, a) in delivered(p3)", (False,) * states, "goal"),
        ),
        obligations=(
            Obligation("p3 has to deliver a", 2, None, states - 1),
            Obligation("p2 has to deliver a", 1, 2),
        ),
        context=context,
        before=Cost(2, 5, 9),
        after=Cost(1, 1, 3),
        least=True,
        ablations=(
            Counterfactual("message", "DATA(a) from p1 to p2", 2, "violated", steps=4),
            Counterfactual("fault", "the crash of p1", 3, "holds"),
        ),
        note="",
    )
    return replace(trace, explanation=explanation)


def long(steps: int) -> Trace:
    """A run in which a token goes round three processes, ``steps`` times."""
    processes = ("p1", "p2", "p3")
    made = [_round(number, processes) for number in range(steps + 1)]
    return Trace(
        header=Header("0", "ring.bcast", "ring"),
        property_name="progress",
        definition="The token comes home.",
        word="violated",
        sentence="progress is violated",
        processes=processes,
        variables=(("held", "shared"),),
        steps=tuple(made),
    )


def _round(number: int, processes: tuple[str, ...]) -> Step:
    if number == 0:
        return Step(0, "", "start", "", (), (), {"held": 0})
    here, to = processes[number % 3], processes[(number + 1) % 3]
    came = processes[(number - 1) % 3]
    events: list[Event] = [send(here, f"T({number})", to)]
    if number > 1:
        events.insert(0, receive(here, f"T({number - 1})", came))
    return Step(number, f"step {number}", "receive", here, tuple(events), (), {"held": number})
