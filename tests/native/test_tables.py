"""The tables have what the interpreter says, for the library and for random systems."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from checker.diagnostics import SpecError
from checker.engines.native.codegen.layout import Layout, lay_out
from checker.engines.native.tables import tables
from checker.engines.native.tables.table_rows import Count, TableTask, columns_of
from checker.engines.native.tables.tables import MapParts, prepare, remove_tables, write_tables
from checker.engines.reference import engine as reference
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacities import enlarge_bound
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.model import types as t
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, holds, successors
from checker.model.ir import PropertyKind, TransitionSystem
from checker.model.types import Type, Value
from checker.properties.formula import ask
from checker.records import replace
from checker.resources import specs
from checker.results.answer import Answer, Limits, Progress, Unsupported
from checker.results.events import Lost, Received
from checker.results.mark_events import trace_events
from checker.results.show_values import show
from checker.session.pipeline import load_check
from tests.agreement.generator import Generator
from tests.native.walked import Walk, stored, walk

LIBRARY = [
    ("broadcast/best_effort.bcast", "crash_one"),
    ("oracles/two_phase.bcast", "three"),
    ("links/alternating_bit.bcast", "reordering"),
    ("detectors/heartbeat.bcast", "partly_synchronous"),
    ("links/crash_and_recovery.bcast", "recovery"),
    ("exactly_once/winch.bcast", "lower_to_height"),
    ("broadcast/lazy_reliable.bcast", "crash_one"),
]
RANDOM = 60
"""Random systems that are looked at; about a third is small enough."""


def here(
    function: Callable[[TableTask], list[Count]], tasks: Sequence[TableTask]
) -> Iterator[list[Count]]:
    """In this process."""
    return map(function, tasks)


@cache
def of_library(path: str, name: str) -> tuple[TransitionSystem, Walk, Answer]:
    """The system of a check, with capacities that are large enough, and all of it."""
    check = load_check(str(specs() / path), name, {})
    made = estimate_capacities(lambda sizes: instantiate(check, {}, ask, capacities=sizes))
    while True:
        system, capacities = made.system, dict(made.capacities)
        answer = reference.explore(system, Limits())
        fault = answer.fault
        if fault is None:
            found = walk(system)
            assert found is not None
            return system, found, answer
        faults = (step.fault for step in successors(system, fault.states[-1]))
        for grows in {f.grows for f in faults if f is not None}:
            assert grows is not None
            capacities[grows] = enlarge_bound(capacities[grows])
        made = instantiate(check, {}, ask, capacities=capacities)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / table).to_pylist()
    return found


def written(
    tmp_path: Path,
    system: TransitionSystem,
    found: Walk,
    shards: int = 1,
    map_parts: MapParts = here,
) -> Path:
    """The tables of ``found``."""
    layout = lay_out(system)
    run = stored(tmp_path / "run", layout, found, shards)
    out = tmp_path / "out"
    prepare(str(out))
    done = write_tables(system, layout, run, str(out), map_parts)
    assert done.location == str(out)
    assert done.states == found.states
    return out


def identity(layout: Layout, state: State) -> str:
    row = b"".join(word.to_bytes(8, "little") for word in layout.pack(state))
    return blake2b(row, digest_size=16).hexdigest()


def value_of(type_: Type, plain: Any) -> Value:
    """What a column of ``type_`` says; a message remains a string."""
    match type_:
        case t.AtomT(labels=labels, first=first):
            return first + labels.index(plain)
        case t.TupleT(items):
            return tuple(value_of(i, v) for i, v in zip(items, plain.values(), strict=True))
        case t.OptionT(item):
            return None if plain is None else (value_of(item, plain),)
        case t.SetT(item):
            members = [value_of(item, v) for v in plain]
            assert members == sorted(members, key=t.sort_key)
            return frozenset(members)
        case t.SeqT(item) | t.BagT(item):
            return tuple(value_of(item, v) for v in plain)
        case t.MapT(key, item):
            for known, (word, _) in zip(t.universe(key), plain, strict=True):
                simple = isinstance(known, int) and not isinstance(key, t.AtomT)
                assert word == (known if simple else show(key, known))
            return tuple(value_of(item, v) for _, v in plain)
        case _:
            return plain


def worded(type_: Type, value: Any) -> Value:
    """``value`` with its messages in words, so that it can be compared with a column's."""
    match type_:
        case t.VariantT():
            return show(type_, value)
        case t.TupleT(items):
            return tuple(worded(i, v) for i, v in zip(items, value, strict=True))
        case t.OptionT(item):
            return None if value is None else (worded(item, value[0]),)
        case t.SetT(item) if any(isinstance(part, t.VariantT) for part in _parts(item)):
            return [worded(item, v) for v in sorted(value, key=t.sort_key)]
        case t.SeqT(item) | t.BagT(item) | t.MapT(value=item):
            return tuple(worded(item, v) for v in value)
        case _:
            return value


def _parts(type_: Type) -> Iterator[Type]:
    return iter(t.parts_of(type_))


def compare(out: Path, system: TransitionSystem, found: Walk) -> None:
    """The tables in ``out`` say what ``found`` says."""
    layout = lay_out(system)
    states = {row["id"]: row for row in rows(out, "states")}
    assert len(states) == found.states
    columns = columns_of(system)
    for depth, level in enumerate(found.levels):
        for state in level:
            row = states[identity(layout, state)]
            assert row["depth"] == depth
            assert row["violates"] == violated(system, state)
            for column, variable, value in zip(columns, system.variables, state, strict=True):
                if not _has_messages_in_sets(variable.type):
                    told_value = value_of(variable.type, row[column])
                    assert told_value == worded(variable.type, value), variable
    moves = Counter(
        (r["source"], r["target"], r["depth"], r["action"], r["kind"], r["error"])
        for r in rows(out, "transitions")
    )
    assert moves == Counter(
        (
            identity(layout, source),
            None if step.successor is None else identity(layout, step.successor),
            depth,
            step.action.name,
            step.action.kind.value,
            None if step.fault is None else f"{step.fault.code}: {step.fault.message}",
        )
        for depth, source, step in found.moves
    )
    counted = [
        (r["depth"], r["states"], r["transitions"], r["errors"]) for r in rows(out, "depths")
    ]
    assert counted == [
        (
            depth,
            len(level),
            sum(d == depth and step.fault is None for d, _, step in found.moves),
            sum(d == depth and step.fault is not None for d, _, step in found.moves),
        )
        for depth, level in enumerate(found.levels)
    ]


def _has_messages_in_sets(type_: Type) -> bool:
    """Sets of messages become lists of words, which are compared nowhere else."""
    sets = [part for part in _parts(type_) if isinstance(part, t.SetT)]
    return any(isinstance(part, t.VariantT) for one in sets for part in _parts(one))


def violated(system: TransitionSystem, state: State) -> list[str]:
    names = []
    for prop in system.properties:
        if prop.kind is PropertyKind.INVARIANT:
            try:
                names += [prop.name] if holds(system, prop.bad, state) else []
            except RunFault:
                pass
    return names


@pytest.mark.parametrize(("path", "name"), LIBRARY)
def test_library(path: str, name: str, tmp_path: Path) -> None:
    system, found, answer = of_library(path, name)
    out = written(tmp_path, system, found, shards=2)
    compare(out, system, found)
    assert answer.exhaustive
    depths = rows(out, "depths")
    assert sum(row["states"] for row in depths) == answer.distinct_states
    assert sum(row["transitions"] for row in depths) == answer.transitions
    assert depths[-1]["depth"] == answer.depth
    bad = {name for row in rows(out, "states") for name in row["violates"]}
    invariants = {p.name for p in system.properties if p.kind is PropertyKind.INVARIANT}
    assert bad == answer.violations.keys() & invariants


def test_processes_and_messages_are_those_of_a_trace(tmp_path: Path) -> None:
    system, found, _ = of_library("links/alternating_bit.bcast", "lossy_fifo")
    moves = rows(written(tmp_path, system, found), "transitions")
    kinds = set()
    for row, (_, _, step) in zip(moves, found.moves, strict=True):
        events = trace_events(system, step.events)
        kinds.add(step.action.kind.value)
        assert row["process"] == next((e.process for e in events if e.process), None)
        about = [e.message for e in events if isinstance(e, Received | Lost)]
        assert row["message"] == (about[0] if about else None)
        assert row["parameters"] or not step.action.params
        if step.action.kind.value in ("receive", "lose"):
            assert {"from", "to"} <= {key for key, _ in row["parameters"]}
    assert {"receive", "lose", "step"} <= kinds


def random_system(seed: int) -> TransitionSystem:
    draw = random.Random(seed)
    return Generator(lambda count: draw.randrange(count)).system()


@pytest.mark.parametrize("shard", range(3))
def test_random_systems(shard: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(shard, RANDOM, 3):
        system = random_system(seed)
        try:
            lay_out(system)
            found = walk(system, 150)
        except (RunFault, Unsupported):
            continue
        if found is not None and len(found.moves) < 4_000:
            compare(written(tmp_path / str(seed), system, found), system, found)
            compared += 1
    assert compared > 3


def test_the_same_rows_however_the_work_is_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, found, _ = of_library("oracles/two_phase.bcast", "three")
    one = written(tmp_path / "one", system, found)
    monkeypatch.setattr(tables, "LEAST", 7)
    mixed = replace_order(found)
    other = written(tmp_path / "other", system, mixed, shards=3, map_parts=backwards)
    assert len(list((one / "states").iterdir())) < len(list((other / "states").iterdir()))
    for table in ("states", "transitions"):
        assert Counter(map(repr, rows(one, table))) == Counter(map(repr, rows(other, table)))
    assert rows(one, "depths") == rows(other, "depths")


def replace_order(found: Walk) -> Walk:
    return replace(found, levels=[list(reversed(level)) for level in found.levels])


def backwards(
    function: Callable[[TableTask], list[Count]], tasks: Sequence[TableTask]
) -> Iterator[list[Count]]:
    """As on a cluster: in any order, and one of them twice."""
    function(tasks[0])
    return map(function, reversed(tasks))


@pytest.mark.slow
def test_by_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LEAST", 100)
    system, found, _ = of_library("oracles/two_phase.bcast", "three")
    run = stored(tmp_path / "run", lay_out(system), found)
    said: list[Progress] = []
    prepare(str(tmp_path / "out"))
    write_tables(system, lay_out(system), run, str(tmp_path / "out"), listener=said.append)
    compare(tmp_path / "out", system, found)
    assert [p.states for p in said] == [found.states] * len(said)
    assert said[-1].phase == f"tables: {found.states:,} written"


def test_contents(tmp_path: Path) -> None:
    system, found, _ = of_library("broadcast/best_effort.bcast", "crash_one")
    out = written(tmp_path, system, found)
    contents = json.loads((out / "tables.json").read_text("utf-8"))
    names = {v["name"]: v["column"] for v in contents["variables"]}
    assert names["@history.deliver"] == "history_deliver"
    columns = parquet.read_table(out / "states").column_names
    assert columns == ["id", "depth", "violates", *names.values()]
    assert contents["states"] == found.states
    assert contents["processes"] == ["p1", "p2", "p3"]
    assert {p["name"] for p in contents["properties"]} == {p.name for p in system.properties}


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(SpecError) as refused:
        prepare(str(tmp_path))
    assert [d.code for d in refused.value.diagnostics] == ["E035"]
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("where", ["a file", "a file/below", "nowhere://host/tables"])
def test_a_folder_that_can_not_be_written_is_refused(where: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("", "utf-8")
    with pytest.raises(SpecError) as refused:
        prepare(where if "://" in where else str(tmp_path / where))
    assert [d.code for d in refused.value.diagnostics] == ["E036"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_tables_that_are_not_complete_are_removed(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "LEAST", 10)
    system, found, _ = of_library("broadcast/best_effort.bcast", "crash_one")

    def failing(
        function: Callable[[TableTask], list[Count]], tasks: Sequence[TableTask]
    ) -> Iterator[list[Count]]:
        yield function(tasks[0])
        assert (tmp_path / "out" / "states").exists()
        raise error

    with pytest.raises(type(error)):
        written(tmp_path, system, found, map_parts=failing)
    remove_tables(str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []
    prepare(str(tmp_path / "out"))
