"""The page of a run, in a browser: by keys, by clicks, by its address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker.records import replace
from checker.render.html import page_of
from checker.results.events import Handled
from checker.results.trace import Failure, Trace
from checker.words.events import sentence
from checker.words.steps import headline
from tests.browser import runs
from tests.browser.conftest import Opened, wait_for_address

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a run; at its close it must have been quiet and asked for nothing."""
    opened: list[Opened] = []

    def opener(
        trace: Trace, other: Trace | None = None, fragment: str = "", **context: Any
    ) -> Opened:
        file = tmp_path / f"page{len(opened)}.html"
        file.write_text(page_of(trace, other), encoding="utf-8")
        opened.append(Opened(browser, file, fragment, **context))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


def broken() -> Trace:
    return runs.found(runs.BROKEN, "crash_one")


def test_it_begins_at_the_end_and_moves_by_keys(open_page: Open) -> None:
    trace = broken()
    page = open_page(trace).page
    last = len(trace.steps) - 1
    assert page.locator(".headline").inner_text() == f"{last}. {headline(trace.steps[last])}"
    assert page.locator(".diagram .later").count() == 0
    page.keyboard.press("ArrowLeft")
    assert page.locator(".headline").inner_text().startswith(f"{last - 1}. ")
    wait_for_address(page, f"#step={last - 1}")
    page.keyboard.press("Home")
    page.keyboard.press("j")
    assert page.locator(".headline").inner_text() == f"1. {headline(trace.steps[1])}"
    assert page.locator(".count").inner_text() == f"step 1 of {last}"
    assert page.locator(".spoken").inner_text() == f"Step 1 of {last}: {headline(trace.steps[1])}"
    page.keyboard.press("k")
    assert page.locator(".diagram .step.later").count() >= last
    page.keyboard.press("End")
    assert page.locator(".diagram .step.later").count() == 0


def test_what_changes_is_marked_in_the_state(open_page: Open) -> None:
    page = open_page(broken(), fragment="#step=2").page
    row = page.locator(".state tr", has=page.locator("th", has_text="seen"))
    assert row.locator("del").all_inner_texts() == ["{}"]
    assert row.locator("ins").all_inner_texts() == ["{(p1, a)}"]
    page.keyboard.press("ArrowRight")
    assert row.locator("ins").count() == 0
    assert "{(p1, a)}" in row.inner_text()
    assert "down" in page.locator(".state tr").first.inner_text()
    page.keyboard.press("Home")
    assert "(p1, a)" not in row.inner_text()


def test_the_handler_and_its_effects_are_shown_in_the_source(open_page: Open) -> None:
    page = open_page(broken(), fragment="#step=2").page
    marked = page.locator(".file:visible li.handler")
    assert marked.all_inner_texts()[0].strip().startswith("upon beb.deliver(p, DATA(s, m))")
    effect = page.locator(".file:visible li.effect")
    assert effect.locator("code").inner_text().strip().startswith("deliver(s, m)")
    assert effect.locator(".mark").inner_text() == "● p2 indicates deliver(p1, a)"
    box, line = page.locator(".code:visible").bounding_box(), effect.bounding_box()
    assert box is not None and line is not None
    assert box["y"] <= line["y"] <= box["y"] + box["height"]
    page.locator(".files button", has_text="best_effort").click()
    assert "best_effort_broadcast" in page.locator(".file:visible figcaption").inner_text()


def test_a_crash_inside_a_handler_says_before_which_line(open_page: Open) -> None:
    trace = runs.found("exactly_once/winch.bcast", "lower_then_log")
    crashing = next(step for step in trace.steps if step.cut)
    page = open_page(trace, fragment=f"#step={crashing.number}").page
    said = page.locator(".code li.crash .mark").inner_text()
    assert said == f"✕ crashed before this: {sentence(crashing.cut[0])}"


def test_an_error_of_the_run_is_shown_where_it_is(open_page: Open) -> None:
    trace = broken()
    failure = Failure("R1", "7 is too large", "receive", trace.header.sources[0].file, 17, 5)
    page = open_page(replace(trace, word="error", failure=failure)).page
    assert page.locator(".code li.crash .mark").inner_text() == "✕ 7 is too large (in receive)"
    assert "7 is too large" in page.locator(".events").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".code li.crash").count() == 0


def test_the_address_is_followed_and_kept(open_page: Open) -> None:
    page = open_page(broken(), fragment="#step=1").page
    assert page.locator(".headline").inner_text().startswith("1. ")
    page.evaluate("location.hash = '#step=2'")
    page.locator(".headline", has_text="2. ").wait_for()
    page.locator(".steps a", has_text="p1 crashes").click()
    wait_for_address(page, "#step=3")
    page.evaluate("location.hash = '#step=999'")
    page.locator(".headline", has_text="3. ").wait_for()


def test_what_stands_in_a_trace_is_text_and_nothing_else(open_page: Open) -> None:
    evil = "</script><script>document.title='x'</script><img src=http://127.0.0.1:9/ onerror=a()>"
    trace = broken()
    step = replace(trace.steps[1], kind="step", events=(Handled(evil, process="p1"),))
    steps = (trace.steps[0], step, *trace.steps[2:])
    told = replace(trace, definition=evil, sentence=evil, property_name=evil, steps=steps)
    page = open_page(told, told, fragment="#step=1").page
    assert page.title() != "x"
    assert evil in page.locator(".lead").first.inner_text()
    assert evil in page.locator(".headline").first.inner_text()
    assert page.locator("main img").count() == 0


def test_no_other_script_than_the_pages_own_runs(open_page: Open) -> None:
    opened = open_page(broken())
    opened.page.evaluate(
        """() => {
          const added = document.createElement("script");
          added.textContent = "document.title = 'x'";
          document.body.append(added);
        }"""
    )
    assert opened.page.title() != "x"
    assert "Content Security Policy" in opened.said.pop()


@pytest.mark.parametrize("fragment", ["#step=", "#step=x", "#step=-4", "#nothing", "#step=1e9"])
def test_a_wrong_address_does_no_harm(open_page: Open, fragment: str) -> None:
    page = open_page(broken(), fragment=fragment).page
    assert page.locator(".headline").inner_text() != ""


def test_a_sign_in_the_picture_is_clicked(open_page: Open) -> None:
    page = open_page(broken()).page
    page.locator("g.step[data-step='1']").first.click()
    assert page.locator(".headline").inner_text().startswith("1. ")
    focused = page.evaluate("document.activeElement.dataset.step")
    assert focused == "1"
    assert page.locator("g.step[tabindex='0']").count() >= 1


def test_the_slider_moves_and_arrows_on_it_go_one_step(open_page: Open) -> None:
    page = open_page(broken()).page
    page.locator(".time").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".headline").inner_text().startswith("2. ")


def test_context_is_hidden_and_stepped_over(open_page: Open) -> None:
    page = open_page(runs.explained(broken(), context=(1,))).page
    page.keyboard.press("c")
    assert page.locator(".run.sliced").count() == 1
    assert page.locator(".slice").is_checked()
    wait_for_address(page, "slice=1")
    assert not page.locator(".steps li.context").first.is_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator(".headline").inner_text().startswith("2. ")
    page.keyboard.press("c")
    assert page.locator(".run.sliced").count() == 0


def test_the_explanation_is_told(open_page: Open) -> None:
    page = open_page(runs.explained(broken())).page
    assert page.locator(".lead").inner_text() == "Agreement fails: <p3> never delivers a."
    saving = page.locator(".verdict .ablations li").all_inner_texts()
    assert len(saving) == 1 and "Without the crash of p1" in saving[0]
    lines = page.locator(".takes .ablations li").all_inner_texts()
    assert len(lines) == 1 and lines[0].startswith("replaceable")
    assert page.locator(".row.true").count() == 1
    assert page.locator(".row.false").count() == 1
    page.keyboard.press("Home")
    assert page.locator(".row.true").count() == 0
    page.locator(".chart .end.met").click()
    assert page.locator(".headline").inner_text().startswith("2. ")
    page.locator(".timeline summary").click()
    assert "impossible after step 3" in page.locator(".timeline table").inner_text()


def test_a_run_without_an_explanation_is_shown_all_the_same(open_page: Open) -> None:
    page = open_page(broken()).page
    assert page.locator(".lead").inner_text() != ""
    assert page.locator(".timeline").count() == 0
    assert page.locator(".context.slice").count() == 0


def test_a_lasso_is_told_with_its_promises(open_page: Open) -> None:
    trace = runs.found("consensus/paxos.bcast", "duel")
    assert trace.closing is not None
    page = open_page(trace).page
    assert page.locator(".loop-box").count() == 1
    assert "repeat" in page.locator(".ending").inner_text()
    assert page.locator(".ledger tbody tr").count() == len(trace.ledger)
    assert "forever" in page.locator(".events").inner_text()
    link = page.locator(".ledger td a").first
    number = link.inner_text()
    link.click()
    assert page.locator(".headline").inner_text().startswith(f"{number}. ")


def test_two_runs_move_together_until_they_part(open_page: Open) -> None:
    left, right = broken(), runs.found(runs.RIGHT, "crash_one")
    page = open_page(left, right).page
    words = page.locator(".alignment").inner_text()
    assert "Step 1 is the same in both" in words
    assert "on the left: " in words
    heads = page.locator(".headline")
    assert [text[:2] for text in heads.all_inner_texts()] == ["1.", "1."]
    page.keyboard.press("ArrowLeft")
    assert [text[:2] for text in heads.all_inner_texts()] == ["0.", "0."]
    page.locator(".run").nth(1).locator("[data-do=last]").click()
    assert [text[:2] for text in heads.all_inner_texts()] == ["1.", "3."]
    page.locator(".run").nth(0).locator("[data-do=next]").click()
    assert [text[:2] for text in heads.all_inner_texts()] == ["2.", "3."]
    page.locator("#together").fill("0")
    assert [text[:2] for text in heads.all_inner_texts()] == ["0.", "0."]
    assert page.locator(".steps .parts").count() == 2
    assert page.evaluate("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == (
        page.locator("[id]").count()
    )


def test_dark_and_light_are_chosen_and_kept(open_page: Open) -> None:
    page = open_page(broken(), color_scheme="light").page
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator("button.theme").click()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert light != dark
    page.reload()
    again = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert again == dark
    paper = page.evaluate("getComputedStyle(document.querySelector('.diagram')).backgroundColor")
    assert paper == dark


@pytest.mark.parametrize("width", [1200, 700, 400, 320])
def test_the_page_never_scrolls_sideways(open_page: Open, width: int) -> None:
    size = {"width": width, "height": 800}
    trace = runs.explained(broken(), context=(1,))
    for other in (None, broken()):
        page = open_page(trace, other, viewport=size).page
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width


def test_without_a_script_the_picture_and_the_words_are_there(open_page: Open) -> None:
    page = open_page(runs.explained(broken()), java_script_enabled=False).page
    assert page.locator(".diagram svg").is_visible()
    assert page.locator(".lead").is_visible()
    assert page.locator(".steps li").count() == 4
    assert page.locator(".code").first.is_visible()
    assert not page.locator(".controls").is_visible()
    assert page.locator("#step\\=2").count() == 1


def test_on_paper_all_of_the_run_is_there_in_ink_on_white(open_page: Open) -> None:
    page = open_page(broken(), fragment="#step=1&theme=dark").page
    page.emulate_media(media="print")
    assert not page.locator(".controls").is_visible()
    for step in (1, 2, 3):
        assert page.locator(f"g.step[data-step='{step}']").first.is_visible()
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    faded = page.locator("g.step.later").first
    assert faded.evaluate("mark => getComputedStyle(mark).fillOpacity") == "1"


def test_help_is_a_dialog(open_page: Open) -> None:
    page = open_page(broken()).page
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


def test_playing_ends_at_the_end(open_page: Open) -> None:
    page = open_page(broken(), fragment="#step=1").page
    page.keyboard.press("Space")
    assert page.locator("[data-do=play]").inner_text() == "Pause"
    page.locator(".headline", has_text="3. ").wait_for()
    page.locator("[data-do=play]", has_text="Play").wait_for()


def test_a_long_run_has_a_sign_and_a_line_for_each_step(open_page: Open) -> None:
    page = open_page(runs.long(1000)).page
    assert page.locator(".steps li").count() == 1001
    numbers = page.evaluate(
        "new Set([...document.querySelectorAll('g.step')].map(g => g.dataset.step)).size"
    )
    assert numbers == 1001
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator(".headline").inner_text().startswith("1. ")
    assert page.locator("g.step.now").count() == 1


PHONE = {"viewport": {"width": 390, "height": 700}}
IN_SIGHT = """selector => {
  const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
  return bottom > 60 && top < innerHeight;
}"""


def test_a_link_far_below_brings_the_picture_back(open_page: Open) -> None:
    page = open_page(broken(), **PHONE).page
    page.locator(".steps a").nth(1).click()
    assert page.evaluate(IN_SIGHT, ".diagram .step.now")


def test_keys_do_not_take_the_words_away_from_who_reads_them(open_page: Open) -> None:
    page = open_page(runs.long(60), fragment="#step=20", **PHONE).page
    page.locator('.steps li[data-step="20"]').scroll_into_view_if_needed()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(IN_SIGHT, '.steps li[data-step="35"]')
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.keyboard.press("Home")
    assert page.evaluate(IN_SIGHT, ".diagram")
