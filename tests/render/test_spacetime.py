"""Space-time diagrams in a terminal."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from checker.model.ir import VariableKind
from checker.records import replace
from checker.render.terminal import marks
from checker.render.terminal.canvas import as_text
from checker.render.terminal.spacetime import spacetime
from checker.results import events as ev
from checker.results.trace import Change, Copies, Trace
from tests.render.every_view import LAYOUTS
from tests.results.by_hand import (
    copy,
    crash,
    deliver,
    expire,
    forge,
    lose,
    perform,
    receive,
    recover,
    request,
    send,
    step,
    store,
    suspect,
    trace,
    wrote,
)


def drawn(made: Trace, width: int = 80) -> list[str]:
    return as_text(spacetime(made), width).splitlines()


def row(made: Trace, text: str) -> str:
    """The first line of the diagram that has ``text``."""
    return next(line for line in drawn(made) if text in line)


def codes(line: str) -> list[str]:
    """The escape codes of ``line``, without their beginning."""
    return re.findall(r"\x1b\[([0-9;]*m)", line)


EVERYTHING = trace(
    step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p1", "p2", "p3")),
    step(2, receive("p2", "DATA(a)", "p1"), deliver("p2", "deliver(p1, a)")),
    step(3, lose("p1", "DATA(a)", "p3")),
    step(4, ev.Partitioned(("p2", "p3"))),
    step(
        5,
        perform("p3", "go"),
        crash("p3"),
        cut=(store("p3", "log", "a"), send("p3", "DONE", "p1", "p2")),
    ),
    step(6, suspect("p2", "p3")),
    step(7, recover("p3")),
    step(8, expire("p1", "t"), ev.TimerChanged("start", "t", process="p1")),
    step(9, send("p2", "LATE", "p1")),
    step(10, forge("p4", "LIE", "p1")),
    step(11, receive("p1", "DATA(a)", "p1")),
    processes=("p1", "p2", "p3", "p4"),
    context=(9,),
    ends=True,
)
BYZANTINE = replace(
    EVERYTHING,
    fates=(*EVERYTHING.fates[:3], replace(EVERYTHING.fates[3], faulty="byzantine")),
)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("processes", [2, 4, 7, 9])
def test_no_line_is_wider_than_the_page(width: int, processes: int) -> None:
    names = tuple(f"process{i}" for i in range(1, processes + 1))
    last = names[-1]
    made = trace(
        step(1, request(names[0], "broadcast(a rather long message)")),
        step(2, send(names[0], "DATA(a rather long message)", *names)),
        step(3, receive(last, "DATA(a rather long message)", names[0]), deliver(last, "d" * 90)),
        step(4, ev.Partitioned(("w" * 200,))),
        step(5, receive(names[0], "日本語の長いメッセージ" * 5, last)),
        processes=names,
    )
    lines = drawn(made, width)
    assert max(map(cell_len, lines)) <= width
    told = "".join(line.strip() for line in lines)
    assert "d" * 90 in told
    assert "w" * 200 in told or width > 200
    assert "DATA(a rather long message)" in " ".join("\n".join(lines).split())


@pytest.mark.parametrize("width", [90, 120])
def test_each_sign_is_where_it_belongs(width: int) -> None:
    text = "\n".join(drawn(BYZANTINE, width))
    for sign in ("▷ broadcast(a)", "►■ deliver(p1, a)", "◆ performs go", "✕ crashes inside"):
        assert sign in text
    assert "▫ not done: stores" in text
    assert "? suspects p3" in text
    assert "↑ back up" in text
    assert "◷ timeout t" in text
    assert "══ the network splits: p1 and p4 | p2 and p3 ═" in text
    assert " (9)" in text
    assert "● DATA(a) from itself" in text


def test_a_message_is_an_arrow_on_the_row_of_its_receipt() -> None:
    line = row(EVERYTHING, "►■ deliver(p1, a)")
    assert line.startswith("   2  ├")
    assert " DATA(a) " in line


def test_arrows_that_do_not_arrive() -> None:
    assert row(EVERYTHING, "✗│").startswith("   3  ├")
    assert "┊ not sent: DONE to p1" in row(EVERYTHING, "DONE")
    late = row(EVERYTHING, "·─")
    assert "LATE" in late
    assert "○" not in late


def test_a_crashed_process_has_a_dotted_lane_until_it_is_back() -> None:
    lanes = [line for line in drawn(EVERYTHING) if line[:5].strip("( )").isdigit()]
    at = drawn(EVERYTHING)[0].index("p3")
    by_number = {line[:5].strip("( )"): line for line in lanes}
    assert by_number["6"][at] == marks.DOWN
    assert by_number["7"][at] == marks.RECOVERY
    assert by_number["8"][at] == marks.UP


def test_a_forgery_shows_in_whose_name_it_comes() -> None:
    lie = forge("p4", "LIE", "p1", "p2")
    assert "forged, in the name of p" not in "\n".join(drawn(BYZANTINE))
    assert "═ LIE as p2 ═" in row(
        replace(BYZANTINE, steps=(BYZANTINE.steps[0], step(1, lie))), "LIE"
    )


def test_an_arrow_shows_which_lanes_it_crosses() -> None:
    made = replace(BYZANTINE, processes=("p1", "p4", "p2", "p3"))
    line = row(made, "►■ deliver(p1, a)")
    assert line[drawn(made)[0].index("p4")] == "╫"


def test_choices_come_first() -> None:
    start = replace(
        EVERYTHING.steps[0], events=(send("p1", "A", "p2"), ev.Chosen("x", "1", process="p1"))
    )
    lines = drawn(replace(EVERYTHING, steps=(start,)))
    assert "x = 1" in lines[2]
    assert "► A to p2" in lines[3]


def test_a_diagram_is_in_the_order_of_steps_or_of_causality() -> None:
    made = trace(
        step(1, send("p1", "A", "p2")),
        step(2, receive("p2", "A", "p1")),
        step(3, request("p3", "go")),
    )
    orders = {
        layout: [line.split()[0] for line in as_text(spacetime(made, layout)).splitlines()[2:5]]
        for layout in LAYOUTS
    }
    assert orders == {"steps": ["1", "2", "3"], "causality": ["1", "3", "2"]}


def test_a_byzantine_process_has_a_lane_of_its_own_kind_and_double_arrows() -> None:
    lines = drawn(BYZANTINE)
    at = lines[0].index("p4")
    assert lines[1][at] == marks.BYZANTINE
    assert "═ LIE ═" in row(BYZANTINE, "LIE")
    assert "║ is Byzantine" in "\n".join(lines)


def test_plain_text_has_no_escape_codes_and_colour_changes_no_letter() -> None:
    plain = as_text(spacetime(EVERYTHING))
    coloured = as_text(spacetime(EVERYTHING), colour=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def test_every_sign_has_a_stand_in() -> None:
    text = as_text(spacetime(BYZANTINE))
    plain = marks.in_ascii(text)
    assert plain.isascii()
    assert "?" not in plain.replace("? suspects", "").replace("? output of", "")
    assert list(map(len, plain.splitlines())) == list(map(len, text.splitlines()))
    signs = [value for name, value in vars(marks).items() if name.isupper() and len(value) == 1]
    assert signs
    assert all(cell_len(sign) == 1 for sign in signs)


def test_what_repeats_is_boxed() -> None:
    made = trace(
        step(1, send("p1", "BALL", "p2")),
        step(2, receive("p2", "BALL", "p1"), send("p2", "BALL", "p1")),
        loop=1,
        closing=step(3, receive("p1", "BALL", "p2"), send("p1", "BALL", "p2")),
    )
    lines = drawn(made)
    boxed = [line for line in lines if line.startswith(("┏", "┃", "┗"))]
    assert boxed[0] == "┏━━ steps 2 to 3 repeat forever"
    assert boxed[-1] == "┗━━ then the state is as after step 1, and so on"
    assert [line[:3] for line in boxed if line[2].isdigit()] == ["┃ 2", "┃ 3"]


def test_context_is_faded_and_marked() -> None:
    lines = as_text(spacetime(EVERYTHING), colour=True).splitlines()
    faded = next(line for line in lines if "LATE" in line)
    full = next(line for line in lines if "suspects" in line)
    assert "\x1b[2;" in faded
    assert all("2" in code.removesuffix("m").split(";") or code == "0m" for code in codes(faded))
    assert any("2" not in code.removesuffix("m").split(";") for code in codes(full) if code != "0m")
    assert "(n) a step that the violation does not depend on" in "\n".join(drawn(EVERYTHING))


def test_state_is_shown_if_the_property_reads_it() -> None:
    changes = (
        Change("holding", "holding", "p1", "false", "true", VariableKind.LOCAL, False),
        Change("seen", "seen", "p1", "0", "1", VariableKind.LOCAL, False),
    )
    made = replace(trace(step(1, request("p1", "go"), changes=changes)), reads=("holding",))
    shown = "\n".join(drawn(made))
    assert "holding = true" in shown
    assert "seen" not in shown


def test_more_processes_than_there_is_room_for() -> None:
    names = tuple(f"p{i}" for i in range(1, 41))
    made = trace(
        step(1, send("p1", "A", "p40")), step(2, receive("p40", "A", "p1")), processes=names
    )
    lines = drawn(made)
    assert lines[0].split() == ["p1", "p40"]
    assert any("► A to p40" in line for line in lines)
    busy = trace(*(step(i, request(f"p{i}", "x")) for i in range(1, 41)), processes=names)
    text = " ".join(" ".join(drawn(busy)).split())
    assert "There is no room for 40 processes in 80 columns." in text
    assert "40 p40 is asked: x" in text


def test_copies_that_end_nowhere_share_a_row_for_each_message() -> None:
    made = trace(
        step(1, send("p2", "A", "p1", "p2", "p3", "p4")),
        step(2, receive("p4", "A", "p2")),
        step(3, crash("p2")),
        processes=("p1", "p2", "p3", "p4"),
        crashed=("p2",),
        ends=True,
    )
    missed = [line for line in drawn(made) if "○" in line and "never" not in line]
    assert len(missed) == 1
    names, (line,) = drawn(made)[0], missed
    assert line[names.index("p1") + 1] == "○"
    assert line[names.index("p3") - 1] == "○"
    assert line[names.index("p4") - 1] != "○"


def test_in_fine_steps_copies_that_never_left_are_not_sent() -> None:
    made = trace(
        step(1, request("p1", "a"), send("p1", "A", "p2", "p3")),
        step(2, copy("p1", "A", "p2")),
        step(3, crash("p1"), cut=(send("p1", "A", "p3"),)),
        step(4, receive("p2", "A", "p1")),
        crashed=("p1",),
        fine=True,
        ends=True,
    )
    made = replace(made, copies=(Copies(1, "p1", "A", ("p2",), ("p3",)),))
    text = "\n".join(drawn(made))
    assert "○" not in text
    assert "never arrives" not in text
    assert "not sent: A to p3" in row(made, "not sent")
    assert "will send A to all others" in text


def test_what_several_have_counted_at_once() -> None:
    """Two copies to the same side that were received as they were sent, and nothing after that."""
    noted = tuple(
        replace(wrote("@received.ECHO", VariableKind.HISTORY), process=who) for who in ("p2", "p3")
    )
    made = trace(replace(step(1, send("p1", "ECHO", "p2", "p3")), changes=noted))
    (line,) = (text for text in drawn(made) if text.count(marks.RIGHT) == 2)
    assert "ECHO" in line


def test_what_a_process_sends_to_itself_may_be_lost_or_under_way() -> None:
    made = trace(
        step(1, request("p1", "broadcast(a)"), send("p1", "DATA(a)", "p1", "p2")),
        step(2, send("p2", "MORE", "p2")),
        step(3, lose("p1", "DATA(a)", "p1")),
    )
    lost = row(made, "DATA(a) to itself")
    assert lost.split()[:4] == ["3", "✗", "DATA(a)", "to"]
    assert lost.index("✗") == row(made, "broadcast(a)").index("▷")
    under_way = row(made, "· MORE to itself")
    assert under_way.index("·") == row(made, "► MORE").index("├")
    legend = " ".join(drawn(made))
    assert "✗ lost" in legend
    assert "· still in transit" in legend
    assert "takes a step" not in legend


def test_a_loss_is_drawn_wherever_it_happens() -> None:
    made = trace(
        step(1, send("p1", "DATA", "p1", "p2")),
        step(2, ev.RoundEnded(), lose("p1", "DATA", "p1"), lose("p1", "DATA", "p2")),
    )
    assert "✗ DATA to itself" in row(made, "to itself")


def test_texts_that_are_cut_alike_are_told_with_their_steps() -> None:
    long = "visible_to_everybody"
    made = trace(
        step(1, store("p1", long, "the first of these values")),
        step(2, store("p1", long, "the second of these values")),
        step(3, store("p2", "b", "a value of its own that is long, too")),
        processes=("p1", "p2", "p3"),
    )
    told = " ".join("\n".join(drawn(made, 60)).split())
    assert f"in step 1: stores {long} = the first of these values" in told
    assert f"in step 2: stores {long} = the second of these values" in told
    assert "in step 3" not in told, "what is left of it is like nothing else"
