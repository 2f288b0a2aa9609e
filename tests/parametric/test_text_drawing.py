"""Automata as text and as pictures."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Automaton,
    Condition,
    Linear,
    Not,
    Or,
    Quotient,
)
from checker.parametric.automaton.wording import Words, numbers
from checker.parametric.drawing.svg_drawing import svg_of
from checker.parametric.drawing.text_drawing import draw_text, step_names
from checker.records import replace
from checker.render.diagram.graph_layout import APART, lay_out
from tests.parametric.echo_by_hand import CORRECTNESS, ECHO, RELAY, UNFORGEABILITY, at_least

QUESTIONS = (UNFORGEABILITY, CORRECTNESS, RELAY)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_says_what_there_is_in_100_columns() -> None:
    text = draw_text(ECHO, QUESTIONS)
    assert max(map(len, text.splitlines())) <= 100
    for said in (
        "EchoBroadcast: 8 locations, 10 rules",
        "n > 3 * T and f <= T",
        "upon condition #received(ECHO) >= T + 1",
        "when #ECHO >= n - T - 1",
        "wants, echoed, accepted",
        "1->3, 7->5",
        "relay       the run stays forever where some in 4..7 and some in 0..3",
    ):
        assert said in text


def test_long_texts_are_broken() -> None:
    long = tuple(replace(rule, label=" ".join(["upon"] * 60)) for rule in ECHO.rules)
    text = draw_text(replace(ECHO, rules=long), QUESTIONS)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (at_least(-1, n=1, T=-3), "n > 3 * T"),
        (at_least(n=1, T=-3), "n >= 3 * T"),
        (at_least(T=1, f=-1), "f <= T"),
        (at_least(1, T=1, f=-1), "f <= T + 1"),
        (at_least(-1, **{"#ECHO": 1, "T": -1}), "#ECHO >= T + 1"),
        (at_least(0, **{"#ECHO": -1, "T": 1}), "#ECHO <= T"),
        (Not(at_least(0, **{"#ECHO": 1, "T": -1})), "#ECHO <= T - 1"),
        (And(), "true"),
        (Or((at_least(-1, n=1), And((at_least(-2, n=1), at_least(-3, f=1))))), None),
        (AtLeast(Linear((("half", -1), ("n", 1)), 0)), "(n + f) div 2 <= n"),
    ],
)
def test_conditions_read_as_in_a_spec(condition: Condition, said: str | None) -> None:
    half = Quotient("half", Linear((("n", 1), ("f", 1))), 2)
    words = Words(replace(ECHO, quotients=(half,)))
    assert words.condition(condition) == (said or "n >= 1 or (n >= 2 and f >= 3)")


def test_numbers_are_told_in_ranges() -> None:
    assert numbers({7, 5, 6, 1, 3, 4}) == "1, 3..7"
    assert numbers({2, 1}) == "1, 2"
    assert numbers(()) == "nothing"


def test_the_same_step_has_one_letter() -> None:
    names = step_names(ECHO)
    assert names[0] == names[9] and names[1] == names[8]
    assert len(set(names)) == 4


def test_the_picture_is_an_image_with_every_location_and_step() -> None:
    root = ElementTree.fromstring(svg_of(ECHO, QUESTIONS))
    places = [g for g in root.iter(f"{SVG}g") if g.get("data-location") is not None]
    assert [int(g.get("data-location", "")) for g in places] == sorted(range(8))
    assert sum("edge" in (p.get("class") or "") for p in root.iter(f"{SVG}path")) == 8
    assert root.get("width") == root.get("viewBox", "").split()[2]


def test_boxes_do_not_overlap_and_edges_go_to_the_right() -> None:
    nodes = range(30)
    edges = [(i, j) for i, j in itertools.combinations(nodes, 2) if (i * 7 + j * 3) % 11 == 0]
    layout = lay_out(nodes, edges, dict.fromkeys(nodes, 40.0))
    for one, other in itertools.combinations(layout.boxes.values(), 2):
        if one.layer == other.layer:
            assert abs(one.y - other.y) >= (one.height + other.height) / 2 + APART - 1e-6
    for source, target in edges:
        way = [layout.boxes[source], *layout.bends[source, target], layout.boxes[target]]
        assert [box.layer for box in way] == list(
            range(layout.boxes[source].layer, layout.boxes[target].layer + 1)
        )


def test_what_is_empty_can_be_drawn() -> None:
    empty = Automaton("Nothing", (), (), (), (), And(), ECHO.groups, ECHO.locations[:1], (), (), ())
    assert "1 location, 0 rules" in draw_text(empty)
    assert re.search(r"<title[^>]*>Nothing", svg_of(empty))
