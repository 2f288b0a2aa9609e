"""Types of which one value has too many parts are refused, and nobody counts their values."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.model.types import BOOL, IntT, MapT, SeqT, SetT, cardinality, cardinality_up_to
from checker.session.pipeline import Options, run_check

TOO_LARGE = [
    "map<set<0..100>, set<0..100>> = {}",
    "map<0..65536, bool> = false",
    "map<0..300, map<0..300, bool>> = {k -> {j -> false for j in (0..300)} for k in (0..300)}",
    "option<map<0..1000000, bool>> = none",
    "seq<0..3, max 1000000000> = []",
    "bag<0..3, max 1000000000> = {| |}",
    "seq<seq<0..3, max 1000>, max 1000> = [[]]",
]


@pytest.mark.parametrize("type_", TOO_LARGE)
def test_too_many_parts(tmp_path: Path, type_: str) -> None:
    path = tmp_path / "large.bcast"
    path.write_text(
        f"protocol P {{\n  state x : {type_}\n  property q : always true\n}}\n"
        "check c of P { n = 1  prove q  allow unused }\n"
    )
    began = time.monotonic()
    with pytest.raises(SpecError) as refused:
        run_check(str(path), "c", Options())
    (found,) = refused.value.diagnostics
    assert (found.code, found.span is not None and found.span.line) == ("C202", 2)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("type_", TOO_LARGE[:2])
def test_a_field_of_a_message(tmp_path: Path, type_: str) -> None:
    path = tmp_path / "large.bcast"
    path.write_text(
        f"protocol P {{\n  message M(x: {type_.partition(' = ')[0]})\n"
        "  upon receive M(x) { skip }\n  property q : always true\n}\n"
        "check c of P { n = 1  prove q  allow unused }\n"
    )
    with pytest.raises(SpecError) as refused:
        run_check(str(path), "c", Options())
    assert [d.code for d in refused.value.diagnostics] == ["C202"]


def test_counting_stops_at_the_limit() -> None:
    huge = MapT(SetT(IntT(0, 10**6)), SetT(IntT(0, 10**6)))
    assert cardinality_up_to(huge, 1000) == 1000
    assert cardinality_up_to(SeqT(BOOL, 10**9), 1000) == 1000
    for small in (SetT(BOOL), MapT(BOOL, IntT(0, 2)), SeqT(BOOL, 3)):
        assert cardinality_up_to(small, 10**6) == cardinality(small)
