"""What must not be forgotten when a run is gone on with, whichever way states travel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.engines.cluster import Cluster, Exchange
from checker.engines.native import engine as native
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.checkpoint.sealed import seal, unseal
from checker.engines.native.codegen.image import build
from checker.engines.spark import driver, local_prefix, shuffle
from checker.engines.spark.failures import TRACEBACK
from checker.engines.spark.job import Job, RunOutcome
from checker.engines.spark.run_state import Missing
from checker.engines.spark.session import Session
from checker.engines.spark.stages import InconsistentTasks
from checker.model.evaluate import RunFault
from checker.model.ir import Const, Op, Read, TransitionSystem
from checker.model.types import BOOL, IntT
from checker.results.answer import Limits, Unsupported
from tests.native import models
from tests.native.models import action, assign, call, equal, invariant, negated, system, variable
from tests.spark import gang, relay
from tests.spark.relay import Relay


def number(value: int) -> Const:
    return Const(IntT(value, value), value)


def cannot_be_told() -> TransitionSystem:
    """A counter from 0 to 6, and a property that divides by zero where it is 2."""
    x = Read(IntT(0, 6), "x")
    up = assign(x, call(IntT(1, 7), Op.ADD, x, number(1)))
    share = call(IntT(-9, 9), Op.DIV, number(6), call(IntT(-2, 4), Op.SUB, x, number(2)))
    return system(
        "a share",
        (variable("x", x.type, 0),),
        (action("up", (), call(BOOL, Op.LT, x, number(6)), up),),
        (invariant("not nine", negated(equal(share, number(9)))),),
    )


@pytest.mark.parametrize("how", ["barrier", "shuffle", "driver"])
def test_a_property_that_cannot_be_evaluated_is_met_again(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "shuffle":
        monkeypatch.setattr(local_prefix, "LIGHT", -1)
    answer = gang.answer if how == "barrier" else relay.answer
    found = cannot_be_told()
    with pytest.raises(RunFault):
        native.explore(found, Limits(), threads=1)
    for _ in range(2):
        with pytest.raises(RunFault):
            answer(found, tmp_path / "run", 2, Limits())


@pytest.mark.parametrize("job", [2, 3])
def test_executors_that_do_not_see_the_last_commit(
    job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared disk may show a folder as it was some seconds ago."""
    monkeypatch.setattr(local_prefix, "LIGHT", -1)
    monkeypatch.setattr(shuffle, "JOB_SECONDS", 0.0)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "")
    commits, made = RunFolder._commits, Relay._run_levels
    jobs, old = list[int](), False
    monkeypatch.setattr(RunFolder, "_commits", lambda self: commits(self)[: -1 if old else None])

    def at_once(self: Relay, length: int) -> object:
        nonlocal old
        jobs.append(length)
        old = len(jobs) == job
        try:
            return made(self, length)
        finally:
            old = False

    monkeypatch.setattr(Relay, "_run_levels", at_once)
    found = models.two_phase(3)
    with pytest.raises(Missing):
        relay.answer(found, tmp_path / "run", 2, Limits())
    assert relay.answer(found, tmp_path / "run", 2, Limits()).distinct_states == 288


@pytest.mark.parametrize("where", ["here", "on an executor"])
def test_what_native_code_cannot_take_is_not_tried_again(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[object]()

    def attempt(*given: object) -> RunOutcome:
        tried.append(given)
        if where == "here":
            raise Unsupported("too many choices")
        said = "checker.results.answer.Unsupported: too many choices"
        raise RuntimeError(f"{TRACEBACK}\n  File x, line 1, in y\n    z()\n{said}")

    monkeypatch.setattr(driver.SparkRun, "_attempt", attempt)
    none: Any = None
    image = build(models.two_phase(3))
    folder = gang.begun(tmp_path, models.two_phase(3), image)
    session = cast(Session, SimpleNamespace(log=tmp_path / "log"))
    cluster = Cluster("local[2]", {}, Exchange.SHUFFLE)
    run = driver.SparkRun(none, none, Limits(), cluster, folder, session, None)
    with pytest.raises(Unsupported, match=r"^too many choices$"):
        run.outcome(cast(Job, SimpleNamespace(shards=2)))
    assert len(tried) == 1


def test_a_task_that_is_given_what_is_for_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is asked to may put small partitions together."""
    mail = Relay._mail

    def both(self: Relay, given: list[list[Any]], shard: int) -> Iterator[Any]:
        yield from mail(self, given, shard)
        if shard == 0:
            yield from mail(self, given, 1)

    monkeypatch.setattr(local_prefix, "LIGHT", -1)
    monkeypatch.setattr(Relay, "_mail", both)
    with pytest.raises(InconsistentTasks, match="has come to one task"):
        relay.answer(models.two_phase(3), tmp_path / "run", 2, Limits())


def test_a_commit_that_says_too_little_does_not_count(tmp_path: Path) -> None:
    found = models.two_phase(3)
    gang.answer(found, tmp_path / "run", 2, Limits(max_depth=2))
    last = tmp_path / "run" / "levels" / "00002" / "_SUCCESS"
    document = unseal(last.read_bytes())
    assert document is not None
    del document["findings"]["marks"]
    last.write_bytes(seal(document))
    run = RunFolder(str(tmp_path / "run"), build(found).shape.words)
    assert run.committed_depth < 2
    assert run.latest() is not None
    assert gang.answer(found, tmp_path / "run", 3, Limits()).distinct_states == 288


def test_a_part_that_has_less_than_its_commit_says(tmp_path: Path) -> None:
    found = models.two_phase(3)
    gang.answer(found, tmp_path / "run", 2, Limits(max_depth=2))
    run = next((tmp_path / "run").glob("levels/00002/*.arrow"))
    other = next((tmp_path / "run").glob("levels/00001/*.arrow"))
    if other.stat().st_size > run.stat().st_size:
        run, other = other, run
    run.write_bytes(other.read_bytes() + bytes(run.stat().st_size))
    with pytest.raises((Missing, OSError)):
        gang.answer(found, tmp_path / "run", 3, Limits())
