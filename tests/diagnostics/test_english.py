"""Names and numbers in English."""

from __future__ import annotations

import pytest

from checker.witness.phrases import count, detector_output_text, listing


@pytest.mark.parametrize(
    ("names", "said"),
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_names_are_listed(names: tuple[str, ...], said: str) -> None:
    assert listing(names) == said
    assert listing(iter(names)) == said


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 states"), (1, "1 state"), (1204, "1,204 states")]
)
def test_things_are_counted(number: int, said: str) -> None:
    assert count(number, "state") == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("fd.suspect(p1)", "suspects p1"),
        ("restore(p1)", "no longer suspects p1"),
        ("omega.trust(p2)", "trusts p2"),
        ("cons.decide(1)", ""),
        ("fd.suspect(p1, 2)", ""),
    ],
)
def test_what_a_detector_says_of_a_process(call: str, said: str) -> None:
    assert detector_output_text(call) == said
