"""The suite has what the tables have, and runners that can disagree."""

from __future__ import annotations

import importlib.util

import pytest

from checker.cli.bench import TABLES
from checker.records import replace
from checker.resources import specs
from checker.session.published import read_numbers
from scripts.second_opinion.spin import missing
from scripts.suite.__main__ import main, run
from scripts.suite.instances import STATES, SURE, VALUE, VERDICT, Instance, instances
from scripts.suite.runners import ours, spin

COUNT, VALUED = (
    "TLA+ examples: transaction_commit/TCommit",
    "QVBS: haddad-monmege N=20 p=0.7 target",
)


def _named(name: str) -> Instance:
    (found,) = [one for one in instances() if one.name == name]
    return found


def test_there_is_an_instance_for_each_published_number_that_a_check_says() -> None:
    rows = [row for table in TABLES.values() for row in read_numbers(specs() / table) if row.check]
    published = [one for one in instances() if one.published is not None]
    assert [one.published for one in published] == rows
    assert [one.answer for one in published] == [row.published for row in rows]
    assert {one.kind for one in published} == {STATES, VALUE, SURE}
    assert all((one.kind == SURE) == (one.answer == "True") for one in published)
    assert all((one.kind == STATES) == one.answer.isdecimal() for one in published[:40])
    assert all(one.settings == row.settings for one, row in zip(published, rows, strict=True))


def test_instances_have_names_of_their_own_and_a_world_that_exists() -> None:
    names = [one.name for one in instances()]
    assert len(names) == len(set(names))
    for one in instances():
        file, _, check = one.world.partition("::")
        assert check and one.provenance
        assert (specs() / file).is_file()


def test_the_manifest_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["TCommit"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    cells = dict(zip(head.split("\t"), line.split("\t"), strict=True))
    assert cells["answer"] == "34"
    assert cells["world"] == "oracles/tcommit.bcast::three"


def test_a_difference_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [_named(COUNT), _named(VALUED)]
    assert run(asked, lambda one: "agrees" if one.kind == STATES else "differs: 7") == 1
    out = capsys.readouterr().out
    assert "2 instances, 1 agree, 1 differ" in out
    assert run(asked, lambda one: "agrees" if one.kind == STATES else "no words for it") == 0
    assert "not answered: 1 x no words for it" in capsys.readouterr().out


def test_the_tool_agrees_and_can_differ() -> None:
    answer = ours(60.0)
    count = _named(COUNT)
    assert answer(count) == "agrees"
    assert count.published is not None
    wrong = replace(count, published=replace(count.published, states=35))
    assert answer(wrong) == "differs: 34"
    verdict = next(one for one in instances() if one.kind == VERDICT and "tcommit" in one.world)
    assert answer(verdict) == "agrees"
    assert answer(replace(verdict, answer="violated")).startswith("differs")


def test_a_checker_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert main(["--by", "storm"]) == 2
    assert "stormpy is not installed" in capsys.readouterr().err


@pytest.mark.peers
@pytest.mark.skipif(bool(missing()), reason="SPIN or gcc is not installed")
def test_spin_agrees_can_differ_and_says_what_it_can_not() -> None:
    answer = spin(20.0)
    count = _named(COUNT)
    assert answer(count) == "agrees"
    assert answer(replace(count, answer="35")) == "differs: 34"
    assert answer(_named(VALUED)) == "SPIN has no probabilities"
    symmetric = next(one for one in instances() if "counted with" in one.question)
    assert answer(symmetric) == "SPIN does not count states up to symmetry"
    without_relay = "broadcast/eager_reliable_without_relay.bcast::crash_one"
    bad = next(o for o in instances() if o.world == without_relay and o.answer == "violated")
    assert answer(bad) == "agrees"
    five = next(o for o in instances() if o.world == count.world and o.kind == VERDICT)
    assert answer(five) == "agrees"
    assert answer(replace(five, answer="violated")).startswith("differs")


@pytest.mark.peers
@pytest.mark.slow
def test_storm_agrees_and_can_differ() -> None:
    pytest.importorskip("stormpy")
    from scripts.suite.runners import storm

    answer = storm(60.0)
    least = _named("QVBS: zeroconf N=20 K=2 reset=true correct_min")
    assert answer(least) == "agrees"
    assert least.published is not None
    wrong = replace(least, published=replace(least.published, value="6860/3250206859"))
    assert answer(wrong).startswith("differs")
    assert "no rewards" in answer(_named("QVBS: herman N=3 steps"))
