"""What a layer below puts around the messages of the layer above."""

from __future__ import annotations

import pytest

from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.terminal.canvas import as_text
from checker.render.terminal.spacetime import spacetime
from checker.results.trace import Trace
from checker.words.wrappers import fold_wrappers
from tests.results.by_hand import receive, send, step, trace


def sent(*messages: str) -> Trace:
    """p1 sends each of ``messages`` to p2, which receives it."""
    steps = []
    for message in messages:
        steps.append(step(len(steps) + 1, send("p1", message, "p2")))
        steps.append(step(len(steps) + 1, receive("p2", message, "p1")))
    return trace(*steps)


def drawn(run: Trace) -> set[str]:
    return {arrow.message for arrow in picture_of(run).arrows}


def test_a_wrapper_is_left_out_and_the_legend_says_so() -> None:
    run = sent("COPY(DATA(p1, a))", "COPY(DATA(p1, b))")
    assert drawn(run) == {"DATA(p1, a)", "DATA(p1, b)"}
    text = as_text(spacetime(run))
    assert text.count("COPY") == 1
    assert "COPY(…) around a message is left out" in text
    assert "COPY(…) around a message is left out" in svg_of(picture_of(run))


@pytest.mark.parametrize(
    "messages",
    [
        ("PARCEL(JOB(a))", "RECEIPT(JOB(a))"),
        ("COPY(DATA(a))", "DATA(a)"),
        ("COPY(DATA(a))", "COPY(a)"),
        ("COPY(p1, DATA(a))",),
    ],
)
def test_what_could_be_taken_for_another_message_stays(messages: tuple[str, ...]) -> None:
    run = sent(*messages)
    assert drawn(run) == set(messages)
    name = messages[0].partition("(")[0]
    assert any(said.startswith(name) for said in fold_wrappers(run)[1])
    assert "a layer's own message" in as_text(spacetime(run))


@pytest.mark.parametrize("message", ["DATA(a)", "DATA(p1, {a, b})", "PING", "VOTE(A)"])
def test_a_plain_message_needs_no_explanation(message: str) -> None:
    assert fold_wrappers(sent(message)) == (sent(message), ())
