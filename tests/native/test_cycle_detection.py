"""Cycles are looked for while a search goes on; where there is no room for that, it is left for
the end."""

from __future__ import annotations

import pytest

from checker.engines.native.search import search
from checker.engines.native.search.explored import Undecided
from checker.resources import specs
from checker.results.answer import Limits
from checker.session import pipeline

CHECK = specs() / "byzantine" / "consistent_echo.bcast", "four"
LOOKED_AT = specs() / "byzantine" / "bracha.bcast", "three"
"""With steps that go first, which are given up as soon as a cycle is known."""


def test_a_look_that_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def no_room(*_: object) -> bool:
        asked.append(True)
        raise Undecided("not enough memory for the state graph")

    monkeypatch.setattr(search, "has_cycle", no_room)
    path, name = LOOKED_AT
    report = pipeline.run_check(str(path), name, pipeline.Options(threads=1, reduce="por"))
    assert asked
    assert report.exit_code == 0 and report.exhaustive


@pytest.mark.parametrize("kilobytes", [200, 250, 300, 400, 500, 700])
def test_whatever_room_there_is_nothing_wrong_is_said(kilobytes: int) -> None:
    path, name = CHECK
    options = pipeline.Options(threads=1, limits=Limits(memory=kilobytes << 10))
    report = pipeline.run_check(str(path), name, options)
    for verdict in report.verdicts:
        assert verdict.word.value in ("unknown", report.expected_word(verdict)), verdict
