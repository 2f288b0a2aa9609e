"""A search does no work that nobody uses: no body is compiled twice, no compiler is waited for, and
the states of an attempt that is repeated are not weighed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from checker.engines.native import engine
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.search import tiered_jit
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.reductions.choose import VERDICTS, choose
from checker.resources import specs
from checker.session import pipeline
from checker.session.load import load_check
from tests.native.test_capacity_growth import LATE


def test_a_body_that_is_taken_alone_is_compiled_once() -> None:
    check = load_check(str(specs() / "replication" / "raft.bcast"), "one_term", {})
    system = instantiate(check, {}, ask).system
    plan = choose(system, "auto", VERDICTS)
    assert plan.ample_actions
    text = build(system, plan).text
    assert "@ample(" in text
    assert text.count("@action_") > text.count(" @action_0(") > 1
    defined = [line for line in text.splitlines() if line.startswith("define")]
    assert sum("@action_" in line for line in defined) == len(system.actions)
    assert not [line for line in defined if "eager" in line]


def test_nobody_waits_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on = threading.Event(), threading.Event()

    def optimise(image: object) -> None:
        began.set()
        assert go_on.wait(60)

    quick = lambda image: (compile_image(image, Effort.QUICK), True)  # noqa: E731
    monkeypatch.setattr(engine, "first_kernel", quick)
    monkeypatch.setattr(tiered_jit, "SECONDS_PER_CHARACTER", 0.0)
    monkeypatch.setattr(tiered_jit, "compile_image", optimise)
    try:
        file = specs() / "broadcast" / "eager_reliable.bcast"
        report = pipeline.run_check(str(file), "crash_one", Options())
        assert began.is_set() and report.exhaustive
    finally:
        go_on.set()


def test_what_is_explored_again_is_not_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "late.bcast"
    file.write_text(LATE, "utf-8")
    weighed: list[int] = []

    def weigh(_: object, store: object, rows: object) -> tuple[tuple[()], tuple[()]]:
        weighed.append(getattr(store, "states", 0))
        return (), ()

    monkeypatch.setattr("checker.engines.native.search.blowup.blowup", weigh)
    monkeypatch.setattr(engine, "SOME", 1)
    report = pipeline.run_check(str(file), "steady", Options())
    assert report.restarts and report.exhaustive
    assert weighed == []
    monkeypatch.setattr(engine, "MANY", 1)
    report = pipeline.run_check(str(file), "steady", Options())
    assert weighed[-1] == report.distinct_states
