"""The benchmark of what a check costs before its search: what is added up, and what is an error."""

from __future__ import annotations

import pytest

from benchmarks import planning, stages
from benchmarks.comparing import WrongAnswer
from checker.model import ir
from checker.model.types import BOOL, SetT
from checker.resources import specs

ROW = {"load": 0.5, "instantiate": 0.25, "plan": 1.0}


def test_the_least_of_each_stage_counts() -> None:
    one = {"a": ROW, "b": {**ROW, "plan": 3.0, "generate": 1.0}, "random 1": {"digest": "x"}}
    other = {"a": {**ROW, "plan": 0.5}, "b": {**ROW, "plan": 4.0, "generate": 2.0}}
    assert planning.least([one, other]) == {
        "load": 1.0, "instantiate": 0.5, "plan": 3.5, "generate": 1.0, "compile": 0.0,
    }  # fmt: skip


def test_other_plans_are_an_error() -> None:
    planning.agree({"a": {"digest": "x"}, "new": {"digest": "z"}}, {"a": {"digest": "x"}})
    with pytest.raises(WrongAnswer, match="other plans than before: a"):
        planning.agree({"a": {"digest": "x"}}, {"a": {"digest": "y"}})


def test_the_table_has_ratios_where_there_is_something_to_compare() -> None:
    now = dict.fromkeys(planning.STAGES, 1.0)
    alone = planning.table(now, None, 10)
    assert alone.rows[0] == ("load", "1", "100.0") and alone.rows[-1][0] == "all"
    compared = planning.table(now, {**now, "plan": 3.0}, 10)
    assert compared.rows[2] == ("plan", "1", "100.0", "3", "3.00x")


def test_equal_values_have_one_digest() -> None:
    kind = SetT(BOOL)
    one, other = (ir.Const(kind, frozenset(some)) for some in ((False, True), (True, False)))
    assert stages.digest((one, None)) == stages.digest((other, None))
    assert stages.digest(one) != stages.digest(ir.Const(kind, frozenset({True})))


def test_stages_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    path = specs() / "oracles" / "ping_pong.bcast"
    monkeypatch.setattr(stages, "checks", lambda every: [(path, "bag")])
    monkeypatch.setattr(stages, "RANDOM", 2)
    found = stages.one_pass(1, True)
    assert found.keys() == {"oracles/ping_pong bag", "random 0", "random 1"}
    assert set(found["oracles/ping_pong bag"]) == {*planning.STAGES, "digest"}
