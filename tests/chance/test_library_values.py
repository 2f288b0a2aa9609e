"""The library's values against published ones, exactly.

Herman's ring, leader election and bounded retransmission: PRISM's case studies `herman`,
`leader_sync` and `brp` (prismmodelchecker.org); gossip and Ben-Or: worked out in the
comments of the specs.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import checker

SPECS = Path(__file__).resolve().parents[2] / "specs/chance"
FRAME = 1 - (1 - Fraction(98, 100) * Fraction(99, 100)) ** 3
"""The chance that a frame gets over in three attempts."""
VALUES = {
    "herman_ring::three": {"1", "4/3"},
    "herman_ring::five": {"1", "16/5"},
    "herman_ring::seven": {"48/7"},
    "herman_ring::nine": {"12"},
    "ring_leader::three_two": {"1", "4/3"},
    "ring_leader::three_four": {"16/15"},
    "ring_leader::four_two": {"1", "2"},
    "lossy_link::sixteen": {str(1 - FRAME**16)},
    "gossip::three": {"15/16"},
    "gossip::four": {"58/81"},
    "ben_or_rounds::one_more_round": {"7/8"},
    "ben_or_rounds::three_rounds": {"49/64"},
    "shared_coin::two_far": {"1793/4096", "251/4080", "243", "192"},
}
LARGE = {"herman_ring::nine", "ben_or_rounds::one_more_round", "ben_or_rounds::three_rounds"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param(name, values, id=name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name, values in VALUES.items()
    ],
)
def test_values_are_the_published_ones(name: str, values: set[str]) -> None:
    file, _, check = name.partition("::")
    report = checker.check(str(SPECS / f"{file}.bcast"), check, exact=True)
    assert report.exit_code == 0
    assert {v.chance.exact for v in report.verdicts if v.chance is not None} == values


def test_the_published_decimal_of_bounded_retransmission() -> None:
    assert abs(float(1 - FRAME**16) - 4.2333344e-4) < 1e-11


@pytest.mark.slow
def test_rounds_of_a_ring_of_thirteen_places() -> None:
    """8,192 outcomes of a step: the native engine takes them, the interpreter would for hours."""
    path = str(SPECS / "herman_ring.bcast")
    report = checker.check(path, "three", settings={"k": 13}, exact=True)
    found = {v.chance.exact for v in report.verdicts if v.chance is not None}
    assert found == {"1", "320/13"}
