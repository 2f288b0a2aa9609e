"""Phrases about executions."""

from __future__ import annotations

import pytest

from checker.results.phrases import detector_output_text


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
