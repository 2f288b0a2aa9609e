"""Space-time diagrams as SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from checker.records import replace
from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.diagram.svg_signs import BODIES, SIGNS, safe
from checker.render.diagram.svg_style import COLOURS, DARK, DASHES, LIGHT, colour, dash
from checker.results.trace import Explanation, Trace
from tests.render.runs import (
    busy,
    cut_off,
    disconnected,
    disks,
    everything,
    half_heard,
    round_and_round,
    together,
    unheard,
)

SVG = "{http://www.w3.org/2000/svg}"

RUNS = {
    "half heard": half_heard(),
    "everything": everything(),
    "cut off": cut_off(),
    "disks": disks(),
    "disconnected": disconnected(),
    "together": together(),
    "round and round": round_and_round(),
    "busy": busy(120),
}

every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)


def root_of(run: Trace, title_id: str = "") -> ElementTree.Element:
    return ElementTree.fromstring(svg_of(picture_of(run), title_id=title_id))


def groups(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [g for g in root.iter(f"{SVG}g") if name in g.get("class", "").split()]


@every_run
def test_marks_of_steps_can_be_found(run: Trace) -> None:
    root = root_of(run)
    steps = groups(root, "step")
    assert {int(g.attrib["data-step"]) for g in steps} == set(range(run.length + 1))
    for group in steps:
        assert group.attrib["data-lane"] in (*run.processes, "")
        assert (group.attrib["tabindex"], group.attrib["role"]) == ("-1", "img")
        title = group.find(f"{SVG}title")
        assert title is not None
        assert title.text


@every_run
def test_arrows_can_be_found(run: Trace) -> None:
    picture = picture_of(run)
    found = groups(root_of(run), "arrow")
    found = [g for g in found if "data-message" in g.attrib]  # those of the legend have none
    assert len(found) == len(picture.arrows)
    for group, drawn in zip(found, picture.arrows, strict=True):
        assert group.attrib["data-message"] == drawn.message
        assert group.get("data-sent") == (None if drawn.sent is None else str(drawn.sent))
        assert group.get("data-ended") == (None if drawn.ended is None else str(drawn.ended))
        assert group.attrib["class"].split()[1] == drawn.how.value.replace(" ", "-")
        title = group.find(f"{SVG}title")
        assert title is not None
        assert drawn.message in (title.text or "")


@every_run
def test_lanes_and_strips_can_be_found(run: Trace) -> None:
    root = root_of(run)
    assert [g.attrib["data-process"] for g in groups(root, "lane")] == list(run.processes)
    assert [g.attrib["data-process"] for g in groups(root, "strip")] == list(run.processes)
    items = [i for strip in picture_of(run).strips for i in strip.items]
    deliveries = groups(root, "delivery")
    assert [g.attrib["data-item"] for g in deliveries] == [item.whole for item in items]
    assert ["data-step" not in g.attrib for g in deliveries] == [item.missing for item in items]


@every_run
def test_the_same_picture_has_the_same_text(run: Trace) -> None:
    assert svg_of(picture_of(run)) == svg_of(picture_of(run))


def test_texts_are_escaped() -> None:
    root = root_of(everything())
    said = "".join(root.itertext())
    assert 'DATA(<&">)' in said
    assert any(g.get("data-message") == 'DATA(<&">)' for g in groups(root, "arrow"))
    assert any(g.get("data-item") == 'deliver(p1, <&">)' for g in groups(root, "delivery"))


def test_characters_that_act_are_shown() -> None:
    assert safe('a\x00b\x1b<"') == r"a\x00b\x1b&lt;&quot;"


@pytest.mark.parametrize("odd", ["\ufffe", "\uffff"])
def test_what_is_no_character_is_replaced(odd: str) -> None:
    assert ElementTree.fromstring(f"<a>{safe(odd)}</a>").text == "\ufffd"


def test_ends_of_messages_differ() -> None:
    classes = {g.attrib["class"].split()[1] for g in groups(root_of(everything()), "arrow")
               if "data-message" in g.attrib}  # fmt: skip
    assert classes == {"received", "lost", "forged", "under-way"}
    (missed,) = [g for g in groups(root_of(unheard()), "missed") if "data-message" in g.attrib]
    assert missed.attrib["data-to"] == "p3"


def test_shapes_differ_without_colour() -> None:
    assert len(set(BODIES.values())) == len(BODIES)
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_messages_differ_without_colour() -> None:
    assert len({dash(i) for i in range(COLOURS)}) == COLOURS == len(DASHES)
    both = {(colour(i), dash(i)) for i in range(COLOURS * COLOURS)}
    assert len(both) == COLOURS * COLOURS


def test_colours_are_custom_properties() -> None:
    text = svg_of(picture_of(everything()))
    outside = text.replace(text[text.index("<style>") : text.index("</style>")], "")
    assert not re.search(r"#[0-9a-f]{6}\b", outside)
    assert set(LIGHT) == set(DARK)


def contrast(one: str, two: str) -> float:
    """WCAG 2.1's contrast ratio of two colours."""

    def light(text: str) -> float:
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    above, below = sorted((light(one), light(two)), reverse=True)
    return (above + 0.05) / (below + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_and_words_stand_out_from_the_paper(colours: dict[str, str]) -> None:
    for name, value in colours.items():
        if name != "--paper":
            least = 4.5 if name in ("--ink", "--fault", "--faded") else 3.0
            assert contrast(value, colours["--paper"]) >= least, name


def test_alone_it_has_a_title_and_a_description() -> None:
    root = root_of(unheard())
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text == "agreement: violated"
    assert description is not None
    assert "never arrives at p3" in (description.text or "")
    assert (root.attrib["aria-labelledby"], root.attrib["aria-describedby"]) == ("title", "desc")


def test_in_a_page_it_is_named_by_the_page() -> None:
    root = root_of(half_heard(), "left")
    assert root.attrib["aria-labelledby"] == "left"
    ids = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
    assert ids
    assert all(name.startswith("left-") for name in ids)
    alone = root_of(half_heard())
    assert float(alone.attrib["height"]) > float(root.attrib["height"])


def test_every_pattern_that_is_used_is_defined() -> None:
    for text in (svg_of(picture_of(run), title_id="x") for run in RUNS.values()):
        assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(re.findall(r'id="([^"]+)"', text))


def test_nothing_comes_from_elsewhere() -> None:
    text = svg_of(picture_of(everything()))
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in text


def test_the_loop_is_in_a_box() -> None:
    (box,) = groups(root_of(round_and_round()), "loop-box")
    assert "repeats forever" in "".join(box.itertext())
    marks = groups(root_of(round_and_round()), "step")
    inside = {g.attrib["data-step"] for g in marks if "loop" in g.attrib["class"].split()}
    assert inside == {"2", "3"}


def test_the_violation_is_marked() -> None:
    (at_a_step,) = groups(root_of(everything()), "violation")
    assert (at_a_step.attrib["data-step"], at_a_step.attrib["data-lane"]) == ("12", "p1")
    (at_an_end,) = groups(root_of(half_heard()), "violation")
    assert at_an_end.attrib["data-lane"] == "p3"
    assert "data-step" not in at_an_end.attrib


def test_context_is_faded() -> None:
    run = replace(half_heard(), explanation=Explanation(context=(2,)))
    steps = {
        g.attrib["data-step"] for g in groups(root_of(run), "context") if "data-step" in g.attrib
    }
    assert steps == {"2"}


def test_the_legend_has_what_the_picture_has() -> None:
    said = []
    for run in (half_heard(), unheard()):
        (legend,) = groups(root_of(run), "legend")
        said.append("".join(legend.itertext()))
    assert "cut off by a crash" in said[0]
    assert "never arrives" in said[1]
    assert "timeout" not in said[0] + said[1]


def test_a_crash_and_a_loss_are_crosses_that_say_their_step() -> None:
    root = root_of(everything())
    (crash,) = groups(root, "crash")
    (loss,) = groups(root, "lose")
    for group, number in ((crash, "8"), (loss, "3")):
        assert number in "".join(group.itertext())
        assert any(p.get("class") == "cross" for p in group.iter(f"{SVG}path"))


def test_a_byzantine_lane_is_hatched() -> None:
    hatched = [lane.attrib["data-process"] for lane in groups(root_of(everything()), "lane")
               if any("hatch" in r.get("fill", "") for r in lane.iter(f"{SVG}rect"))]  # fmt: skip
    assert hatched == ["p3"]


def test_what_a_process_does_and_what_it_receives_have_different_shapes() -> None:
    drawn = {kind: re.match(r"<\w+", BODIES[kind]) for kind in ("receive", "effect")}
    assert drawn["receive"] is not None and drawn["effect"] is not None
    assert drawn["receive"][0] != drawn["effect"][0]


def test_colours_without_custom_properties() -> None:
    """A program that skips at-rules, as converters do, finds a literal colour for everything."""
    picture = svg_of(picture_of(everything()))
    sheet = re.sub(r":where[^}]*}", "", picture.partition("<style>")[2].partition("</style>")[0])
    plain, _, supported = sheet.partition("@supports (fill: var(--ink))")
    assert "var(" not in plain and "paint-order" not in plain
    assert "paint-order" in supported
    assert "fill: #1b1f24" in plain and "fill: var(--ink)" in supported
    assert "var(" not in picture.partition("</style>")[2]
