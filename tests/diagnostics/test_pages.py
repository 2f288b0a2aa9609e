"""Every code has a page; what a page shows is what the tool says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.codes import codes, page
from checker.diagnostics.render import render
from checker.language.load import load_text

BLOCK = re.compile(r"```(\w+)\n(.*?)\n```", re.S)
ROOT = Path(__file__).resolve().parents[2]


def blocks(code: str) -> dict[str, str]:
    return dict(BLOCK.findall(page(code)))


def found_in(spec: str) -> tuple[Diagnostic, ...]:
    """What is wrong with ``spec``, when it is read or when its one check is set up, or what is
    warned of."""
    from checker.instantiate.assemble import instantiate
    from checker.parametric.automaton.questions import questions
    from checker.parametric.extract.extract import extract
    from checker.properties.formula import ask

    try:
        module = load_text(spec, "example.bcast")
        if module.checks[0].every:
            questions(module.checks[0], extract(module.checks[0]))
        instantiate(module.checks[0], {}, ask)
    except SpecError as error:
        return error.diagnostics
    return module.checks[0].warnings


def test_every_code_has_a_page_and_every_page_a_use() -> None:
    used: set[str] = set()
    for path in (ROOT / "checker").rglob("*.py"):
        used.update(re.findall(r'"([A-Z]\d{3})"', path.read_text(encoding="utf-8")))
    assert used == set(codes())


@pytest.mark.parametrize("code", codes())
def test_the_page_begins_with_title_and_explanation(code: str) -> None:
    title, blank, *prose = page(code).split("```")[0].rstrip().split("\n")
    assert re.fullmatch(rf"# {code}: \S.*[^.\s]", title) and not blank
    assert prose[0] and prose[-1].endswith(".")


def test_no_two_codes_have_the_same_title() -> None:
    titles = [page(code).splitlines()[0].partition(": ")[2] for code in codes()]
    assert len(set(titles)) == len(titles)


LONG = {"C211"}
"""It is found only after half a minute: an automaton of 50,000 states is built."""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(c, marks=pytest.mark.slow if c in LONG else pytest.mark.every)
        for c in codes()
        if "text" in blocks(c)
    ],
)
def test_the_example_gives_this_message_and_no_other(code: str) -> None:
    parts = blocks(code)
    spec = parts["bivalence"] + "\n"
    found = found_in(spec)
    assert {d.code for d in found} == {code}
    assert "\n".join(render(d, spec) for d in found) == parts["text"]


def test_what_a_spec_can_do_wrong_has_an_example() -> None:
    reachable = {c for c in codes() if c[0] in "SNCT"} - {"N210"}
    assert reachable <= {c for c in codes() if "text" in blocks(c)}


@pytest.mark.parametrize("code", [c for c in codes() if c[0] == "R"])
def test_errors_of_a_run_have_a_spec_that_can_be_run(code: str) -> None:
    assert found_in(blocks(code)["bivalence"]) == ()


def test_pages_are_found_in_any_case_and_unknown_codes_are_refused() -> None:
    assert page(" n003\n") == page("N003")
    for wrong in ("N999", "", "../codes", "N003.md"):
        with pytest.raises(KeyError):
            page(wrong)
