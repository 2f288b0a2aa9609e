"""The layout of space-time diagrams."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import pairwise

import pytest

from checker.records import replace
from checker.render.diagram.description import description_of
from checker.render.diagram.identity import Identities
from checker.render.diagram.parts import Box, Picture
from checker.render.diagram.picture import picture_of
from checker.render.diagram.places import Room, crosses
from checker.render.diagram.rows import Layout
from checker.render.terminal.columns import shorten
from checker.results.causality import CopyOutcome, causality
from checker.results.events import Chosen, Indicated
from checker.results.narrate import narrate
from checker.results.trace import Explanation, Lack, Trace
from tests.render.every_view import LAYOUTS, check_labels, check_order
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
from tests.results.by_hand import (
    HEADER,
    crash,
    forge,
    perform,
    receive,
    request,
    send,
    step,
    store,
    trace,
)
from tests.results.pingpong import lasso, pingpong
from tests.results.test_documents import made, trace_of


def bounced() -> Trace:
    system = pingpong()
    return narrate(system, lasso(system), system.properties[0], HEADER)


RUNS = {
    "half heard": half_heard(),
    "everything": everything(),
    "cut off": cut_off(),
    "disks": disks(),
    "disconnected": disconnected(),
    "together": together(),
    "round and round": round_and_round(),
    "busy": busy(300),
    "busy with three": busy(80, 3, seed=7),
    "nothing": trace(),
    "error": trace_of(made(limit=1)),
    "violation": trace_of(made()),
    "lasso": bounced(),
}

every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
layouts = pytest.mark.parametrize("layout", LAYOUTS)


def shown(picture: Picture) -> set[int]:
    return {mark.step for mark in picture.marks} | {bar.step for bar in picture.bars}


@every_run
@layouts
def test_every_step_is_there(run: Trace, layout: Layout) -> None:
    assert shown(picture_of(run, layout)) == {step.number for step in run.every_step}


@every_run
def test_every_arrow_is_there(run: Trace) -> None:
    found = causality(run)
    wanted = [
        (a.sender, a.receiver, a.message, a.how, a.sent, a.ended)
        for a in found.arrows
        if not (a.how is CopyOutcome.MISSED and (a.sender == a.receiver or found.was_cut_off(a)))
    ]
    drawn = [
        (a.sender, a.receiver, a.message, a.how, a.sent, a.ended) for a in picture_of(run).arrows
    ]
    assert drawn == wanted


@every_run
@layouts
def test_arrows_go_forward_in_time(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    for arrow in picture.arrows:
        assert arrow.points[-1][1] > arrow.points[0][1] or arrow.sent == arrow.ended, arrow


@every_run
@layouts
def test_causes_are_above(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    at = {mark.step: mark.y for mark in picture.marks if mark.first}
    at |= {bar.step: bar.y for bar in picture.bars}
    for number, causes in enumerate(causality(run).causes):
        assert all(at[cause] < at[number] for cause in causes if cause), number


@every_run
@layouts
def test_marks_are_apart(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    lanes = defaultdict(list)
    for mark in picture.marks:
        lanes[mark.x].append(mark.y)
    for ys in lanes.values():
        assert all(below - above >= 20 for above, below in pairwise(sorted(ys)))
    marks = [(mark.x, mark.y) for mark in picture.marks]
    assert len(set(marks)) == len(marks)


@every_run
@layouts
def test_labels_of_marks_hide_no_mark_and_no_lane(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    boxes = [Box(m.x - 9, m.y - 9, m.x + 9, m.y + 9) for m in picture.marks if m.lane]
    for mark in picture.marks:
        if mark.label is not None:
            assert not any(mark.label.box.meets(box) for box in boxes), mark
            inside = [x for x in (lane.x for lane in picture.lanes)
                      if mark.label.box.left < x < mark.label.box.right]  # fmt: skip
            assert not inside, mark


@every_run
@layouts
def test_everything_is_inside(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    for mark in picture.marks:
        assert 0 < mark.x < picture.width
        assert 0 < mark.y < picture.end
    for arrow in picture.arrows:
        for x, y in arrow.points:
            assert 0 < x < picture.width
            assert 0 < y <= picture.end + 4
    for strip in picture.strips:
        for item in strip.items:
            assert 0 < item.box.left < item.box.right < picture.width
            assert picture.end < item.box.top < item.box.bottom < picture.height


def test_a_word_at_the_end_of_an_arrow_is_not_on_its_text() -> None:
    sent = step(1, request("p1", "broadcast(a)"), send("p1", "DATA(p1, a)", "p2", "p3"))
    run = trace(sent, step(2, crash("p1")), crashed=("p1",), ends=True)
    (both,) = (a for a in picture_of(run).arrows if a.label is not None and a.note is not None)
    assert both.label is not None and both.note is not None
    assert not both.label.box.meets(both.note.box)


@every_run
def test_each_multicast_says_what_it_is_once(run: Trace) -> None:
    labels = defaultdict(int)
    for arrow in picture_of(run).arrows:
        labels[arrow.multicast, arrow.sent, arrow.message] += arrow.label is not None
    assert set(labels.values()) <= {1}


@every_run
def test_the_same_trace_has_the_same_picture(run: Trace) -> None:
    assert picture_of(run) == picture_of(run)


def test_steps_that_do_not_depend_on_one_another_stand_side_by_side() -> None:
    run = trace(step(1, request("p1", "go(a)")), step(2, request("p2", "go(b)")))
    one, two = [mark for mark in picture_of(run, "causality").marks if mark.step]
    assert one.y == two.y
    assert one.x != two.x


@every_run
def test_rows_are_in_the_order_of_steps(run: Trace) -> None:
    check_order(picture_of(run))


@every_run
@layouts
def test_texts_are_at_their_own_arrows(run: Trace, layout: Layout) -> None:
    check_labels(picture_of(run, layout))


def test_what_concerns_everybody_has_the_past_above_and_the_future_below() -> None:
    picture = picture_of(everything())
    (bar,) = picture.bars
    assert (bar.step, bar.apart) == (6, ("p2",))
    for mark in picture.marks:
        if mark.step:
            assert (mark.y < bar.y) == (mark.step < bar.step), mark


def test_a_tick_of_one_clock_stands_on_its_lane() -> None:
    (tick,) = [mark for mark in picture_of(everything()).marks if mark.step == 11]
    assert (tick.lane, tick.kind) == ("p1", "world")


def test_a_message_keeps_its_identity_through_relays_and_deliveries() -> None:
    run = half_heard()
    picture = picture_of(run)
    numbers = {arrow.identity for arrow in picture.arrows}
    numbers |= {item.identity for strip in picture.strips for item in strip.items}
    assert len(numbers) == 1
    assert picture.identities[numbers.pop()] == "about a"


def test_messages_without_a_value_go_by_their_type() -> None:
    identities = Identities(run := half_heard(), run.steps)
    assert identities.of("ACK(a)", True) == identities.of("DATA(p1, a)", True)
    assert identities.of("READY(p1)", True) == identities.of("READY(p2)", True)
    assert identities.of("READY(p1)", True) != identities.of("ACK(a)", True)


def test_a_number_in_a_message_is_no_value() -> None:
    run = trace(step(1, request("p1", "propose(1)")))
    identities = Identities(run, run.steps)
    assert identities.of("PREPARE(1)", True) != identities.of("decide(1)")


def test_a_crash_inside_a_step_has_its_own_mark_and_what_it_cut_off() -> None:
    picture = picture_of(half_heard())
    request_, crash = [mark for mark in picture.marks if mark.step == 1]
    assert (request_.kind, crash.kind) == ("request", "crash")
    assert crash.y > request_.y
    assert crash.label is not None
    struck = [line.whole for line in crash.label.lines if line.struck]
    assert struck == ["sends DATA(a) to p3", "indicates deliver(p1, a)"]
    lane = picture.lanes[0]
    assert [(span.down, span.top == crash.y) for span in lane.spans] == [
        (False, False), (True, True)
    ]  # fmt: skip


def test_what_a_crash_cut_off_is_not_drawn_as_sent() -> None:
    (arrow,) = picture_of(half_heard()).arrows
    assert (arrow.receiver, arrow.how) == ("p2", CopyOutcome.RECEIVED)
    missed = [a.receiver for a in picture_of(unheard()).arrows if a.how is CopyOutcome.MISSED]
    assert missed == ["p3"]


def test_a_forgery_shows_in_whose_name_it_comes() -> None:
    event, own = forge("p3", "LIE(p1)", "p2", "p1"), forge("p3", "LIE(p1)", "p2")
    lie, plain = picture_of(trace(step(1, event), step(2, own), byzantine=("p3",))).arrows
    assert lie.label is not None and plain.label is not None
    assert lie.label.lines[0].whole == "LIE(p1) as p1"
    assert "made up by p3 in the name of p1" in lie.title
    assert plain.label.lines[0].whole == "LIE(p1)"


def test_all_that_arrives_in_a_step_is_told() -> None:
    run = trace(
        step(1, send("p1", "A", "p3")),
        step(2, send("p2", "B", "p3")),
        step(3, receive("p3", "A", "p1"), receive("p3", "B", "p2")),
    )
    (mark,) = [mark for mark in picture_of(run).marks if mark.step == 3]
    assert mark.title == "Step 3: p3 receives A from p1; p3 also has B from p2"


def test_messages_between_the_same_steps_have_arrows_of_their_own() -> None:
    run = trace(
        step(1, send("p1", "A", "p2"), send("p1", "B", "p2"), send("p1", "C", "p2")),
        step(2, *(receive("p2", message, "p1") for message in "ABC")),
    )
    picture = picture_of(run)
    assert len({arrow.points for arrow in picture.arrows}) == 3
    check_labels(picture)


def test_both_sides_of_a_partition_are_named() -> None:
    (bar,) = picture_of(everything()).bars
    assert bar.text == "the network splits: p1 and p3 | p2"


def test_choices_come_first() -> None:
    start = replace(
        trace().steps[0], events=(send("p1", "A", "p2"), Chosen("x", "1", process="p1"))
    )
    start = replace(start, events=(*start.events, store("p1", "log", "1")))
    (mark,) = picture_of(replace(trace(), steps=(start,))).marks
    assert mark.label is not None
    assert [line.text for line in mark.label.lines] == ["x = 1", "log = 1"]


def test_a_lane_is_down_between_crash_and_recovery() -> None:
    lane = picture_of(everything()).lanes[0]
    assert [span.down for span in lane.spans] == [False, True, False]


def test_a_correct_process_that_never_delivers_has_an_empty_box() -> None:
    picture = picture_of(half_heard())
    lacks = {s.process: [i.text for i in s.items if i.missing] for s in picture.strips}
    assert lacks == {"p1": [], "p2": [], "p3": ["deliver(p1, a)"]}
    (violation,) = picture.violations
    assert (violation.lane, violation.step) == ("p3", None)


def test_an_acceptor_does_not_lack_what_proposers_decide() -> None:
    run = replace(half_heard(), processes=("p1", "p2", "a1"), sentence="violated with p = p2")
    fates = tuple(replace(f, process=p) for f, p in zip(run.fates, run.processes, strict=True))
    cut = replace(run.steps[1], cut=())
    run = replace(run, fates=fates, steps=(run.steps[0], cut, *run.steps[2:]))
    assert not any(item.missing for strip in picture_of(run).strips for item in strip.items)


def test_a_violation_of_safety_is_at_the_last_step() -> None:
    (violation,) = picture_of(everything()).violations
    assert violation.step == 12


def test_a_run_that_violates_nothing_says_so() -> None:
    assert picture_of(replace(half_heard(), word="run")).violations == ()


def test_the_loop_holds_its_steps_and_no_others() -> None:
    picture = picture_of(round_and_round())
    assert picture.loop is not None
    for mark in picture.marks:
        inside = picture.loop.box.top < mark.y < picture.loop.box.bottom
        assert inside == mark.loop == (mark.step > 1), mark


def test_context_is_told_apart() -> None:
    run = replace(half_heard(), explanation=Explanation(sentences=("So it is.",), context=(2,)))
    picture = picture_of(run)
    assert {mark.step for mark in picture.marks if mark.context} == {2}
    assert picture.sentences == ("So it is.",)


def test_the_description_tells_everything() -> None:
    said = description_of(picture_of(half_heard()))
    assert "Step 2: p2 receives DATA(a) from p1; p2 indicates deliver(p1, a)." in said
    assert "crashes inside this step; it never sends DATA(a) to p3, never indicates" in said
    assert "DATA(a) that p1 sent in step 1" not in said
    assert "DATA(a) that p1 sent in step 1 never arrives at p3." in description_of(
        picture_of(unheard())
    )
    assert "p3 indicated, in order: nothing; it never gets deliver(p1, a)" in said
    assert "p1 (crashed), p2 (correct) and p3 (correct)" in said
    assert "steps repeat forever" in description_of(picture_of(round_and_round()))


def test_the_description_of_a_long_run_is_no_list_of_all_steps() -> None:
    said = description_of(picture_of(busy(300)))
    assert "180 steps are left out here." in said


def test_a_long_run_is_laid_out_quickly() -> None:
    started = time.process_time()
    picture_of(busy(2_000))
    assert time.process_time() - started < 6  # a tenth of that where nothing else runs


def test_texts_are_shortened_by_columns() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("\u6d88\u606f\u6d88\u606f", 6) == "\u6d88\u606f…"


def test_a_label_goes_where_it_hides_least() -> None:
    room = Room([100.0], 300.0)
    room.take(Box(0, 0, 50, 50))
    room.take_path(((120.0, 0.0), (180.0, 60.0)))
    taken, lane, arrow, free, outside = (
        Box(10, 10, 40, 25), Box(80, 10, 115, 25), Box(125, 10, 170, 25), Box(200, 10, 240, 25),
        Box(290, 10, 320, 25),
    )  # fmt: skip
    costs = [room.cost(box) for box in (free, arrow, lane, taken, outside)]
    assert costs == sorted(costs)
    assert len(set(costs)) == 5
    assert room.best([(taken, 0.0), (arrow, 0.0), (free, 1.0)]) == 2


@pytest.mark.parametrize(
    ("to", "expected"), [((10.0, 10.0), True), ((10.0, 0.0), False), ((0.0, 10.0), False)]
)
def test_lines_through_boxes(to: tuple[float, float], expected: bool) -> None:
    assert crosses(Box(4, 4, 6, 6), (0.0, 0.0), to) is expected


def away(point: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    """How far a point is from the line between two others."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    part = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / max(dx * dx + dy * dy, 0.01)
    part = min(max(part, 0.0), 1.0)
    return ((a[0] + part * dx - point[0]) ** 2 + (a[1] + part * dy - point[1]) ** 2) ** 0.5


@every_run
@layouts
def test_arrows_pass_the_marks_of_others(run: Trace, layout: Layout) -> None:
    picture = picture_of(run, layout)
    met = 0
    for arrow in picture.arrows:
        for mark in picture.marks:
            if mark.step in (arrow.sent, arrow.ended) or not mark.lane or arrow.curved:
                continue
            pieces = pairwise(arrow.points)
            met += min(away((mark.x, mark.y), a, b) for a, b in pieces) < 9
    assert met <= len(picture.arrows) / 50


def test_nobody_lacks_an_act_of_another() -> None:
    acting = replace(half_heard(), property_name="exactly_once over effects")
    acts = [
        replace(
            step,
            events=tuple(
                perform(e.process, "a") if isinstance(e, Indicated) else e for e in step.events
            ),
        )
        for step in acting.steps
    ]
    for name in ("exactly_once over effects", "all_agree"):
        run = replace(acting, property_name=name, steps=tuple(acts), lacking=())
        items = [item for strip in picture_of(run).strips for item in strip.items]
        assert items and not any(item.missing for item in items)


def test_what_is_never_done_is_said_at_its_client() -> None:
    run = replace(
        half_heard(),
        property_name="exactly_once over effects",
        witness=(("p", "p2"), ("m", "a")),
        lacking=(Lack("", "effects", "a"),),
    )
    (violation,) = picture_of(run).violations
    assert (violation.lane, violation.text) == ("p2", "act a never has its effect")
