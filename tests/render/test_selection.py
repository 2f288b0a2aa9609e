"""What of an execution a diagram in a terminal shows: some processes, and steps that matter."""

from __future__ import annotations

import pytest

from checker.records import replace
from checker.render.terminal.canvas import as_text
from checker.render.terminal.selection import Shown
from checker.render.terminal.spacetime import spacetime
from checker.results.events import Partitioned
from checker.results.trace import Explanation, Step, Trace
from tests.render.every_view import LAYOUTS
from tests.results.by_hand import crash, deliver, lose, receive, request, send, step, trace

RUN = trace(
    step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p2", "p3")),
    step(2, receive("p2", "DATA(a)", "p1"), deliver("p2", "deliver(p1, a)")),
    step(3, lose("p1", "DATA(a)", "p3")),
    step(4, send("p3", "ACK", "p2")),
    step(5, crash("p3")),
    step(6, Partitioned(("p2",))),
    step(7, receive("p2", "ACK", "p3")),
    crashed=("p3",),
)


def matters_not(made: Trace, *steps: int) -> Trace:
    return replace(made, explanation=Explanation(context=steps))


def drawn(made: Trace, *processes: str, folded: bool = False, layout: str = "steps") -> list[str]:
    view = spacetime(made, layout, Shown(processes, folded))  # type: ignore[arg-type]
    return as_text(view, 80).splitlines()


def test_all_is_shown_without_a_selection() -> None:
    plain = as_text(spacetime(RUN), 80).splitlines()
    assert drawn(RUN) == plain
    assert drawn(RUN, "p1", "p2", "p3") == plain
    assert (
        drawn(matters_not(RUN), folded=True)
        == as_text(spacetime(matters_not(RUN)), 80).splitlines()
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_only_chosen_processes_have_lanes(layout: str) -> None:
    lines = drawn(RUN, "p2", "p1", layout=layout)
    text = "\n".join(lines)
    assert lines[0].split() == ["p1", "p2"], "in the order of the run"
    assert "deliver(p1, a)" in text
    assert "crashes" not in text
    assert "left out: p3" in text
    assert "the network splits" in text


def test_a_message_from_a_lane_that_is_left_out_is_told_at_its_receiver() -> None:
    lines = drawn(RUN, "p2")
    assert any("● DATA(a) from p1" in line for line in lines)
    assert any("● ACK from p3" in line for line in lines)
    assert "► DATA(a) to" not in "\n".join(lines)


def test_steps_of_other_processes_are_counted() -> None:
    lines = drawn(RUN, "p1")
    assert [line.split("⋯")[1].strip() for line in lines if "⋯" in line] == [
        "1 step left out",
        "2 steps left out",
        "1 step left out",
    ]
    numbers = [line.split()[0] for line in lines if line[:1].isdigit()]
    assert numbers == ["1", "3", "6"]
    assert any("✗ DATA(a) to p3 is lost" in line for line in lines)


def test_what_does_not_matter_is_folded() -> None:
    made = matters_not(RUN, 3, 4, 5)
    lines = drawn(made, folded=True)
    text = "\n".join(lines)
    assert sum("⋯" in line for line in lines) == 1
    assert "⋯ 3 steps left out" in text
    assert "(4)" not in text
    assert "a step that the violation does not depend on" not in text
    assert "(4)" in "\n".join(drawn(made))


def test_a_crash_that_is_folded_away_is_seen_below() -> None:
    lines = drawn(matters_not(RUN, 4, 5), folded=True)
    after = next(number for number, line in enumerate(lines) if "⋯" in line)
    assert all("┊" in line for line in lines[after + 2 : after + 4])
    assert any(sign in "\n".join(lines) for sign in ("┊ is down",))


def test_folding_and_lanes_together() -> None:
    lines = drawn(matters_not(RUN, 1, 2), "p2", "p3", folded=True)
    text = "\n".join(lines)
    assert "deliver(p1, a)" not in text
    assert "⋯ 2 steps left out" in text
    assert "crashes" in text


def test_inside_a_loop_the_bar_goes_on() -> None:
    closing: Step = step(8, send("p1", "AGAIN", "p2"))
    made = replace(matters_not(RUN, 4, 5), loop=2, closing=closing)
    lines = drawn(made, folded=True)
    folded = next(line for line in lines if "⋯" in line)
    assert folded.startswith("┃")
    assert any("repeat forever" in line for line in lines)


def test_a_process_that_is_not_there_is_told() -> None:
    text = "\n".join(drawn(RUN, "p1", "p9"))
    assert "there is no process p9" in text
    assert "there is no process p9" in "\n".join(drawn(RUN, "p9"))
    assert drawn(RUN, "p9")[0].split() == ["p1", "p2", "p3"]
