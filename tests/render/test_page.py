"""What a page says, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from checker.model.ir import VariableKind
from checker.records import replace
from checker.render.html import page_of
from checker.render.html.comparison import align
from checker.render.html.content import ablation, viewer
from checker.render.html.gallery import Exhibit, Skipped, index_of, page_name
from checker.render.html.script_data import as_script, data_of
from checker.render.html.state import states_of
from checker.render.html.timeline import timeline
from checker.render.html.values import value_text
from checker.render.terminal.explained import smaller
from checker.results.trace import Change, Claim, Cost, Counterfactual, Explanation, Json, Trace
from checker.session.pipeline import Options, run_check
from checker.words.steps import headline
from tests.browser import runs

VOID = {"meta", "input", "br", "img", "link"}


class Balance(HTMLParser):
    """Whether every element that begins ends, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def balanced(text: str) -> Balance:
    found = Balance()
    found.feed(text)
    found.close()
    assert found.open == []
    assert len(set(found.ids)) == len(found.ids)
    return found


@pytest.fixture(scope="module")
def broken() -> Trace:
    return runs.found(runs.BROKEN, "crash_one")


def test_a_page_is_well_formed_and_needs_nothing(broken: Trace) -> None:
    lasso = runs.found("consensus/paxos.bcast", "duel")
    pages = (
        page_of(broken),
        page_of(runs.explained(broken, (1,))),
        page_of(lasso),
        page_of(broken, lasso),
        page_of(broken, index="../index.html"),
        index_of([Exhibit("a", broken, "a/b.html")], [Skipped("x::y", "no time")]),
    )
    for page in pages:
        balanced(page)
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
        assert not re.search(r"""\son\w+=["']""", page)
        assert "url(http" not in page


def test_only_the_script_whose_hash_is_named_may_run(broken: Trace) -> None:
    page = page_of(broken)
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in page or f"'sha256-{digest}'" in page


def test_data_can_not_leave_its_element() -> None:
    said = as_script({"a": "</script><!--\u2028"})
    assert "<" not in said and "\u2028" not in said
    assert json.loads(said) == {"a": "</script><!--\u2028"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"#set": ["a", {"#tup": ["p1", 2]}]}, "{a, (p1, 2)}"),
        ({"#map": [["p1", True], ["p2", False]]}, "{p1: true, p2: false}"),
        ({"#bigint": "9007199254740993"}, "9007199254740993"),
        ({"tag": "DATA", "value": {"origin": "p1", "m": "a"}}, "DATA(p1, a)"),
        ({"tag": "STOP", "value": {}}, "STOP"),
        ({"tag": "None", "value": {"tag": "UNIT", "value": None}}, "none"),
        ({"tag": "Some", "value": 3}, "3"),
        ({"tag": "top", "value": {"m": {"tag": "X", "value": {}}}}, "X"),
        ({"tag": "rb.", "value": {"m": {"tag": "X", "value": {}}}}, "rb.X"),
        ({"from": "p1", "to": "p2"}, "(from: p1, to: p2)"),
        ([1, "a", None], "[1, a, none]"),
    ],
)
def test_values_are_written_as_a_person_does(value: Json, text: str) -> None:
    assert value_text(value) == text


def test_states_follow_from_what_each_step_changes(broken: Trace) -> None:
    found = states_of(broken)
    texts = {(cell.title, cell.process): cell.text for cell in found.cells}
    assert texts["seen", "p2"] == "{}"
    for deltas in found.deltas:
        for delta in deltas:
            cell = found.cells[delta.cell]
            assert texts[cell.title, cell.process] == delta.before
            texts[cell.title, cell.process] = delta.after
    last = broken.steps[-1].state["seen"]
    assert isinstance(last, dict) and isinstance(last["#map"], list)
    for entry in last["#map"]:
        assert isinstance(entry, list)
        assert texts["seen", str(entry[0])] == value_text(entry[1])


ONCE = """
protocol Once implements ReliableBroadcast {
  message DATA(m: Msg)
  state NAME = false
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when not NAME { NAME := true  deliver(p, m) }
}
check c of Once { n = 2  clients { p1 broadcasts a, b }  expect validity violated }
"""


@pytest.mark.parametrize("name", ["delivered", "broadcast", "done"])
def test_a_state_variable_may_be_called_like_a_history(tmp_path: Path, name: str) -> None:
    """Each variable has a row, whatever it is called, and no two rows have one title."""
    path = tmp_path / "once.bcast"
    path.write_text(ONCE.replace("NAME", name))
    report = run_check(str(path), "c", Options())
    (trace,) = (verdict.trace for verdict in report.verdicts if verdict.trace is not None)
    cells = states_of(trace).cells
    places = [(cell.row, cell.process) for cell in cells]
    assert len(set(places)) == len(places)
    titles = {cell.row: cell.title for cell in cells}
    assert len(set(titles.values())) == len(titles)
    assert [c.process for c in cells if c.title == name and c.kind == "local"] == ["p1", "p2"]


@pytest.mark.parametrize("name", ["@received.DATA", "fd.@said", "one.two.@received.DATA"])
def test_what_the_spec_does_not_have_is_shown_by_its_title_only(broken: Trace, name: str) -> None:
    first = replace(broken.steps[0], state={**broken.steps[0].state, name: 0, "fd.own": 0})
    variables = (*broken.variables, (name, "local"), ("fd.own", "local"))
    made = replace(broken, steps=(first, *broken.steps[1:]), variables=variables)
    titles = [cell.title for cell in states_of(made).cells]
    assert name not in titles
    assert "fd.own" in titles
    change = Change(name, "fd.suspects", "", "0", "1", VariableKind.LOCAL, False)
    last = replace(broken.steps[-1], changes=(*broken.steps[-1].changes, change))
    titles = [cell.title for cell in states_of(replace(made, steps=(*made.steps[:-1], last))).cells]
    assert "fd.suspects" in titles and name not in titles


def test_two_runs_are_aligned_by_what_they_share(broken: Trace) -> None:
    right = runs.found(runs.RIGHT, "crash_one")
    found = align(broken, right)
    assert found.common == 1
    assert found.words[-1].startswith("Then, on the left: ")
    assert align(broken, broken).common == len(broken.steps) - 1
    assert align(broken, broken).words == ("Both runs take the same steps.",)
    shorter = replace(broken, steps=broken.steps[:2])
    assert "On the right: the run ends here." in align(broken, shorter).words[-1]
    lasso = runs.found("consensus/paxos.bcast", "duel")
    other = align(broken, lasso)
    assert other.common == 0
    assert "other processes" in other.words[0]


def test_what_would_be_otherwise_is_said_by_its_outcome() -> None:
    holds = ablation(Counterfactual("fault", "the crash of p1", 3, "holds"))
    assert (holds["sign"], holds["text"]) == (
        "essential",
        "Without the crash of p1 the property would hold.",
    )
    fails = ablation(Counterfactual("message", "A from p1 to p2", 3, "violated", steps=1))
    other = (
        "Another execution violates the property without the message A from p1 to p2, in 1 step."
    )
    assert fails["text"] == other
    assert fails["sign"] == "replaceable"
    unknown = ablation(Counterfactual("fault", "the crash of p1", 3, "unknown", "no time"))
    assert unknown["text"] == "Without the crash of p1: not known (no time)."


def test_messages_that_do_not_matter_are_one_line(broken: Trace) -> None:
    crash = Counterfactual("fault", "the crash of p1", 3, "holds")
    first, second = (Counterfactual("message", f"M{i}", i, "violated", steps=i) for i in (1, 2))

    def lines(*ablations: Counterfactual) -> list[str]:
        page = viewer(replace(broken, explanation=Explanation(ablations=ablations)), "a")
        return [line["text"] for line in page["ablations"]["first"]]

    none = (
        "No single message matters: other executions violate the property without any one of them."
    )
    assert lines(crash, first, second) == [none]
    assert lines(crash, first) == [
        "Another execution violates the property without the message M1, in 1 step."
    ]
    assert none not in lines(crash, first, replace(second, outcome="holds", steps=None))


def test_what_was_made_smaller_is_said_where_it_was() -> None:
    less, more = Cost(1, 1, 3), Cost(2, 5, 9)
    assert smaller(Explanation()) == ""
    assert smaller(Explanation(before=less, after=less)) == (
        "The run takes 1 fault, 1 message and 3 steps."
    )
    assert smaller(Explanation(before=more, after=less, least=True)) == (
        "Minimised: from 2 faults, 5 messages and 9 steps to 1 fault, 1 message and 3 steps."
        " It is minimal: no violation needs less."
    )


def test_the_timeline_has_stretches_and_ends(broken: Trace) -> None:
    assert timeline(broken) is None
    found = timeline(runs.explained(broken))
    assert found is not None
    delivered = found["claims"][0]
    assert [(s["true"], s["first"], s["width"]) for s in delivered["stretches"]] == [
        (False, 0, 2),
        (True, 2, 2),
    ]
    assert [each["text"] for each in delivered["true"]] == ["2 to 3"]
    assert [claim["role"] for claim in found["claims"]] == ["if", "then"]
    assert [each["outcome"] for each in found["obligations"]] == ["impossible", "met"]


def test_pages_have_names_that_every_disk_takes(broken: Trace) -> None:
    named = replace(broken, property_name='at most/once: "x"\\y')
    assert re.fullmatch(r"[\w.-]+\.html", page_name(named))


def test_a_run_that_violates_nothing_has_a_page_too(broken: Trace) -> None:
    quiet = replace(broken, word="run", property_name="", definition="", sentence="all is well")
    page = page_of(quiet)
    balanced(page)
    assert "✗" not in page.partition("<article")[2].partition("<svg")[0]
    assert "All is well." in page
    assert "A run" in page
    beside_it = page_of(broken, quiet, names=("", "The same without faults"))
    balanced(beside_it)
    assert "The same without faults" in beside_it


def test_what_must_not_be_is_true_while_it_is_not() -> None:
    trace = runs.explained(runs.found(runs.BROKEN, "crash_one"))
    assert trace.explanation is not None
    states = len(trace.steps)
    goal = Claim("p1 suspects p2", "p2 in suspected(p1)", (False,) * 2 + (True,) * (states - 2))
    trace = replace(
        trace, explanation=replace(trace.explanation, claims=(replace(goal, role="goal"),))
    )
    rows = timeline(trace)
    assert rows is not None
    row = rows["claims"][0]
    assert row["role"] == "then not:"
    assert not row["ends"]
    assert row["true"] == [{"step": 0, "text": "0 to 1"}]
    assert data_of(trace)["claims"] == ["11" + "0" * (states - 2)]


def test_the_run_in_words_says_nothing_twice_and_no_handler() -> None:
    trace = runs.found(runs.BROKEN, "crash_one")
    for told, step in zip(viewer(trace, "a")["steps"], trace.steps, strict=True):
        assert headline(step) not in told["also"].split("; ")
        assert "upon " not in told["also"]
