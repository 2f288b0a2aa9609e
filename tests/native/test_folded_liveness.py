"""Liveness on folded rows: the same verdicts, counts and runs as on whole ones, and no row is made
whole for good."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checker.engines.native import engine as native
from checker.engines.native.codegen.graph_fields import NONE
from checker.engines.native.codegen.row_selection import Code
from checker.engines.native.liveness import cycle_detection, graph
from checker.engines.native.liveness.graph import Numbers
from checker.engines.native.liveness.selection import Selection
from checker.engines.native.search import search
from checker.engines.native.search import store as stores
from checker.engines.native.search.explored import GraphStates
from checker.engines.native.search.memory import Buffer
from checker.engines.native.search.states import Propositions
from checker.engines.native.search.store import Store
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.properties.persistence import persistence
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import Answer, Limits, Unsupported
from tests.agreement.circling import Circling
from tests.agreement.generator import Generator
from tests.agreement.test_reductions import only, with_plan
from tests.native.test_folded_rows import folds_soon, in_both_forms, wide  # noqa: F401
from tests.native.test_threads import small_tables, told
from tests.properties.test_buchi_automaton import random_formula

SPECS = Path(__file__).resolve().parents[2] / "specs"
STATES = 900
LATER = (pytest.param(range(i, i + 34), marks=pytest.mark.slow) for i in (14, 48, 82, 116))
SEEDS = (range(14), *LATER)
MANY = 23
"""The number of a circling system with more than 70 states."""


@pytest.fixture(autouse=True)
def _folded_for_good(
    folds_soon: list[bool],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables and blocks are small, threads share all work, and nothing is made whole."""

    def unfold(_: Store) -> None:
        raise AssertionError("rows were made whole")

    monkeypatch.setattr(Store, "unfold", unfold)
    monkeypatch.setattr(search, "PARALLEL_FROM", 2)
    monkeypatch.setattr(search, "LEAST_PIECE", 1)
    monkeypatch.setattr(search, "LOOK_FROM", 50)
    monkeypatch.setattr(graph, "ROWS", 5)
    small_tables(monkeypatch, 8)


def anything(seed: int) -> tuple[TransitionSystem, ReductionPlan]:
    """A system of the generator of all kinds of types and expressions, with a formula about whole
    runs."""
    draw = random.Random(seed)
    return wide(Generator(draw.randrange).system(random_formula(draw, 3))), NOTHING


def circling(seed: int) -> tuple[TransitionSystem, ReductionPlan]:
    """A system with symmetric structure that most likely runs in circles, which are unfolded."""
    system = wide(Circling(random.Random(seed).randrange).system(None))
    plan = choose(system, "all", VERDICTS)
    return system, only(plan, frozenset({"symmetry", "dead"} if seed % 2 else {"symmetry"}))


def answers(
    system: TransitionSystem, plan: ReductionPlan, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Answer]:
    """With whole rows, and with folded ones by one thread and by two."""
    for short, threads in ((9, 1), (0, 1), (0, 2)):
        monkeypatch.setattr(stores, "SHORT", short)
        yield told(with_plan(system, plan, Limits(max_states=STATES), threads)[0])


@pytest.mark.parametrize("make", [anything, circling])
@pytest.mark.parametrize("seeds", SEEDS)
def test_random_systems_say_the_same(
    make: Callable[[int], tuple[TransitionSystem, ReductionPlan]],
    seeds: range,
    folds_soon: list[bool],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are explored whole: other threads find other states first."""
    cycles = violated = held = 0
    for seed in seeds:
        system, plan = make(seed)
        try:
            first, *others = answers(system, plan, monkeypatch)
        except (RunFault, Unsupported):
            continue
        if first.stopped is not None:
            continue
        assert others == [first, first], seed
        live = {prop.name for prop in system.properties if prop.kind is PropertyKind.LIVENESS}
        cycles += first.edges > 0
        violated += bool(live & first.violations.keys())
        held += bool(live - first.violations.keys() - first.undecided.keys())
    assert cycles and violated and held and True in folds_soon


def found_by(threads: int) -> Store:
    """The states of a search, in turn those of each of so many workers."""
    system, plan = circling(MANY)
    run, starts = native._prepare_search(system, Limits(), plan, 1, None, None, False)
    run.run(None if starts is None else [run.kernel.image.layout.pack(s) for s, _ in starts])
    store = Store(run.kernel, threads, None, slots=16, folds=True)
    for depth in range(run.depth + 1):
        if depth:
            store.open_level(depth)
        for rows in run.store.blocks(depth):
            for at in range(0, rows.nbytes, store.width):
                store.take(rows[at : at + store.width])
    assert store.states == run.store.states > 70
    assert all(crew.count > 20 for crew in store.workers)
    return store


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_state_has_one_number(threads: int) -> None:
    """By which its words are found, and which is found by its words."""
    store = found_by(threads)
    assert store.nodes is not None
    numbers = Numbers(GraphStates(store, 0))
    numbers.publish()
    every = [number for each in numbers.stretches for number in range(*each)]
    found = [numbers.words(number) for number in every]
    assert len(set(found)) == store.states
    assert [numbers.find(words) for words in found] == every
    assert numbers.find((found[0][0] ^ 1 << 50, *found[0][1:])) == NONE


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_state_has_its_propositions(threads: int) -> None:
    """In blocks of all states, and of some: as by the interpreter."""
    store, (system, _) = found_by(threads), circling(MANY)
    search: Any = SimpleNamespace(kernel=store.kernel, system=system, check_time=lambda: None)
    holds = Propositions(search, Numbers(GraphStates(store, 0)))
    every = [number for each in holds.numbers.stretches for number in range(*each)]
    asked = [i for i in store.kernel.image.steady if store.kernel.some[i] is not None]
    expected = {
        (i, number): int(_is_bad(system, i, holds.state(number))) for i in asked for number in every
    }
    assert {*expected.values()} == {0, 1}
    for i in asked:
        found = holds.some(i, None).bytes().cast("H")
        assert all(found[number] == expected[i, number] for number in every)
        some = array("I", sorted(random.Random(threads).sample(every, len(every) // 3)))
        found = holds.some(i, some).bytes().cast("H")
        assert [found[at] for at in range(len(some))] == [expected[i, number] for number in some]


def _is_bad(system: TransitionSystem, number: int, state: tuple[Value, ...]) -> bool:
    """Whether a violation of a persistence property can last in a state."""
    prop = system.properties[number]
    bad = persistence(prop)
    assert bad is not None
    names = [param.name for param in prop.params]
    return any(
        interpreter.holds(system, bad, state, dict(zip(names, values, strict=True)))
        for values in interpreter.assignments(prop.params)
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("short", [0, 9])
def test_the_graph_of_some_states_is_a_part(
    short: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has their edges to one another, and no others."""
    monkeypatch.setattr(stores, "SHORT", short)
    store = found_by(threads)
    search = cycle_detection._Look(store.kernel, Limits(), lambda: None)
    numbers = Numbers(GraphStates(store, 0))
    numbers.steps = graph.count_steps(store.kernel, numbers, search.check_time)
    whole = graph.build_graph(search, numbers)
    every = [number for each in numbers.stretches for number in range(*each)]
    for share in (0, 0.1, 0.5, 1):
        draw = random.Random(share)
        chosen = [number for number in every if draw.random() < share]
        alive = Buffer(numbers.count)
        for number in chosen:
            alive.bytes()[number] = Code.ALIVE
        some = Selection(numbers, alive)
        own = list(some.own())
        assert list(some.states) == chosen == [some.number(each) for each in own]
        names = dict(zip(chosen, own, strict=True)) | {NONE: NONE}
        part = some.graph(search)
        assert some.steps <= numbers.steps and (share == 1) == (some.steps == numbers.steps)
        for number, each in zip(chosen, own, strict=True):
            targets = [names.get(target, NONE) for target in leading(whole, number)]
            assert leading(part, each) == targets


def leading(of: graph.Graph, state: int) -> list[int]:
    """Where the edges of a state lead."""
    begin, end = of.start.words()[state : state + 2]
    return list(of.targets.halves()[begin:end])


LIBRARY = (
    ("consensus/flp/rounds", "no_coins"),
    ("replication/raft_progress", "two"),
    ("replication/raft_progress", "led"),
    ("replication/raft_progress", "in_silence"),
)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("file", "name"), LIBRARY, ids=lambda value: str(value))
def test_the_library_says_the_same(
    file: str,
    name: str,
    threads: int,
    folds_soon: list[bool],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_both_forms(file, name, threads, monkeypatch)
