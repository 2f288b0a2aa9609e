"""Budgets and interruptions of the native engine give partial answers that say why."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from checker.engines.native import engine as native
from checker.engines.native.codegen import jit
from checker.engines.native.codegen.image import build
from checker.engines.native.search import search, store
from checker.results.answer import Answer, Limits, Progress
from tests.native.models import two_phase


def partial(answer: Answer) -> str:
    """Why ``answer`` is partial."""
    assert not answer.exhaustive
    assert answer.stopped is not None
    return answer.stopped


@pytest.mark.parametrize("threads", [1, 2])
def test_states(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 8)
    answer = native.explore(two_phase(5), Limits(max_states=1000), threads=threads)
    assert "1,000 states" in partial(answer)
    assert answer.distinct_states == 1000


def test_depth() -> None:
    answer = native.explore(two_phase(3), Limits(max_depth=4), threads=1)
    assert "depth limit of 4" in partial(answer)
    assert answer.depth == 4
    whole = native.explore(two_phase(3), Limits(max_depth=10), threads=1)
    assert whole.exhaustive
    assert whole.distinct_states == 288


def test_time() -> None:
    answer = native.explore(two_phase(9), Limits(timeout=0.05), threads=1)
    assert "time limit" in partial(answer)
    assert answer.seconds < 2


def test_memory() -> None:
    answer = native.explore(two_phase(8), Limits(memory=1 << 20), threads=1)
    assert "memory limit" in partial(answer)
    assert answer.distinct_states > 100


def test_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "available_memory", lambda: 1 << 20)
    answer = native.explore(two_phase(8), Limits(), threads=1)
    assert "not enough memory" in partial(answer)


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 8)
    monkeypatch.setattr(search, "SLICE", 0.001)

    def listener(progress: Progress) -> None:
        if progress.states > 1000:
            raise KeyboardInterrupt

    answer = native.explore(two_phase(8), Limits(), threads=threads, listener=listener)
    assert partial(answer) == "interrupted"
    assert answer.distinct_states > 1000
    assert [t.name for t in threading.enumerate() if t.name != "budgets"] == ["MainThread"]


def test_machine_code_is_kept_and_damage_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = build(two_phase(3))
    assert not jit.compile_image(image).cached
    assert jit.compile_image(image).cached
    (kept,) = (tmp_path / "bivalence" / "kernels").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert not jit.compile_image(image).cached


def test_without_a_place_for_machine_code_it_works_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert native.explore(two_phase(3), Limits(), threads=1).distinct_states == 288
