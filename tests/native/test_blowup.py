"""What multiplies states, against a count of all of them."""

from __future__ import annotations

import pytest

from checker.engines.native.codegen.image import build
from checker.engines.native.search import blowup as module
from checker.engines.native.search.blowup import blowup, sample_rows
from checker.engines.native.search.search import Search
from checker.engines.native.search.tiered_jit import first_kernel
from checker.instantiate.assemble import instantiate
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.model.types import MapT
from checker.properties.formula import ask
from checker.resources import specs
from checker.results.answer import Limits, State, Variety, Weight
from checker.session.pipeline import load_check

CHECKS = [
    ("broadcast/eager_reliable", "crash_one"),
    ("consensus/paxos", "quorums_that_miss_each_other"),
    ("oracles/two_phase", "three"),
]


def system_of(spec: str, check: str) -> TransitionSystem:
    loaded = load_check(str(specs() / f"{spec}.bcast"), check, {})
    return instantiate(loaded, {}, ask).system


def searched(system: TransitionSystem, threads: int = 1) -> Search:
    kernel, _ = first_kernel(build(system))
    search = Search(system, kernel, None, Limits(), threads, None)
    layout = search.kernel.image.layout
    search.run([layout.pack(state) for state, _ in interpreter.initial_events(system)])
    return search


def weighed(search: Search) -> tuple[tuple[Weight, ...], tuple[Variety, ...]]:
    return blowup(search.system, search.store, sample_rows(search.store, module.SAMPLE))


def states_of(search: Search) -> list[State]:
    width, layout = search.store.shape.words, search.kernel.image.layout
    (crew,) = search.store.workers
    words = crew.rows.words()
    rows = (words[i * width : (i + 1) * width] for i in range(crew.count))
    return [layout.unpack(row) for row in rows]


@pytest.mark.parametrize(("spec", "check"), CHECKS, ids=[c[0] for c in CHECKS])
def test_all_of_a_small_space_is_counted(
    spec: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SAMPLE", "WALKED", "VALUES", "QUESTIONS"):
        monkeypatch.setattr(module, name, 1 << 30)
    monkeypatch.setattr(module, "WORTH_SAYING", 0.0)
    search = searched(system_of(spec, check))
    states = states_of(search)
    found = {weight.name: weight.factor for weight in weighed(search)[0]}
    compared = 0
    for index, variable in enumerate(search.system.variables):
        without = len({(*state[:index], *state[index + 1 :]) for state in states})
        exact = len(states) / without
        factor = found.get(f"`{variable.title or variable.name}`", 1.0)
        if isinstance(variable.type, MapT):  # a row need not be connected
            assert factor <= exact + 1e-9
        else:
            assert factor == pytest.approx(exact)
        compared += factor > 1
    assert compared


def test_messages_have_weights_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_SAYING", 1.0)
    search = searched(system_of("consensus/paxos", "quorums_that_miss_each_other"))
    names = {weight.name for weight in weighed(search)[0]}
    assert "PROMISE in `in flight`" in names


def test_a_sample_walks_few_rows_whoever_holds_them() -> None:
    system = system_of("oracles/two_phase", "three")
    one, three = (weighed(searched(system, threads)) for threads in (1, 3))
    assert one == three
    assert all(weight.factor >= 1 for weight in one[0])
