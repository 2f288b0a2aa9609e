"""Opinions of failure detectors."""

from __future__ import annotations

import pytest

from checker.results.events import OracleIndicated
from checker.words.events import opinion
from tests.results.by_hand import call


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fd.suspect(p1)", "suspects p1"),
        ("restore(p1)", "no longer suspects p1"),
        ("omega.trust(p2)", "trusts p2"),
        ("cons.decide(1)", ""),
        ("fd.suspect(p1, 2)", ""),
    ],
)
def test_what_a_detector_says_of_a_process(text: str, said: str) -> None:
    assert opinion(OracleIndicated(call(text), process="p1")) == said
