"""Compact mode: it finds what an exact search finds, in less memory, says how probable it is that
something was omitted, and does not say what it can't know."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.native import engine as native
from checker.engines.native.codegen.fields import KEY_BITS, Worker
from checker.engines.native.codegen.image import build
from checker.engines.native.search import store
from checker.engines.native.search.compact import (
    COMPARED,
    NO_GRAPH,
    NO_ROUND,
    omission_probability,
    without_rounds,
)
from checker.engines.native.search.store import Store
from checker.engines.options import Options
from checker.model.evaluate import RunFault
from checker.model.ir import PropertyKind, TransitionSystem, Variable, VariableKind
from checker.model.types import IntT
from checker.records import replace
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import Answer, Limits, Unsupported
from checker.results.phrases import at_most
from checker.results.verdict import Word
from checker.session.pipeline import run_check
from tests.agreement.generator import Generator
from tests.native import models
from tests.native.test_store import kernel_of, rows_of
from tests.properties.test_buchi_automaton import random_formula

ECHO = ("specs/byzantine/consistent_echo.bcast", "four")
SAFE = ("specs/consensus/ben_or.bcast", "one_round")
WRONG = ("specs/byzantine/consistent_echo.bcast", "forged_senders")
BAD_END = ("specs/broadcast/eager_reliable_without_relay.bcast", "crash_one")
FLOODED = ("specs/broadcast/eager_reliable.bcast", "no_fault")


def wide(system: TransitionSystem, words: int = 3) -> TransitionSystem:
    """``system`` with so many words more: variables that nobody touches."""
    more = tuple(
        Variable(f"idle_{i}", IntT(0, (1 << 61) - 1), 77 << 50, VariableKind.SHARED)
        for i in range(words)
    )
    return replace(system, variables=(*more[1:], *system.variables, *more[:1]))


def same(answer: Answer) -> tuple[object, ...]:
    """What is the same in both modes, where nothing is omitted."""
    lengths = {name: len(path.states) for name, path in answer.violations.items()}
    return (
        *(answer.distinct_states, answer.depth, answer.exhaustive, answer.transitions),
        *(answer.reached_marks, answer.premises, answer.ends, answer.stopped),
        *(answer.fault and len(answer.fault.states), lengths),
    )


def safe(system: TransitionSystem) -> TransitionSystem:
    """``system`` with its safety properties only."""
    kept = [p for p in system.properties if p.kind is PropertyKind.INVARIANT]
    return replace(system, properties=tuple(kept))


def explored(seeds: range) -> Iterator[tuple[TransitionSystem, Answer]]:
    """Random systems that are asked a random formula, and what is exactly so."""
    for seed in seeds:
        draw = random.Random(seed)
        formula = random_formula(draw, 3)
        system = wide(Generator(draw.randrange).system(formula))
        try:
            exact = native.explore(system, Limits(max_states=2000), threads=1)
        except (RunFault, Unsupported):
            continue
        if exact.exhaustive:
            yield system, exact


# ---- what is found ----------------------------------------------------------------------------


@pytest.mark.parametrize("check", [ECHO, SAFE, WRONG], ids=lambda c: c[1])
def test_checks_of_the_library_count_as_always(check: tuple[str, str]) -> None:
    exact = run_check(*check, Options(reduce="none", threads=1))
    found = run_check(*check, Options(reduce="none", threads=2, compact=True))
    counted = [(r.distinct_states, r.depth, r.transitions, r.exhaustive) for r in (exact, found)]
    assert counted[0] == counted[1]
    assert exact.omission is None
    assert found.omission == omission_probability(found.distinct_states, KEY_BITS)
    assert 0 < found.omission < 1e-9
    for one, other in zip(exact.verdicts, found.verdicts, strict=True):
        if other.word is Word.UNKNOWN:
            assert other.reason == NO_GRAPH
            continue
        assert one.word is other.word
        assert (one.trace and one.trace.steps) == (other.trace and other.trace.steps)
        unless = f"unless a state was omitted (probability at most {at_most(found.omission)})"
        assert (unless in other.reason) is (other.word is Word.HOLDS)


@pytest.mark.parametrize("threads", [1, 3])
def test_random_systems_are_explored_alike(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "QUICKLY", 0)
    monkeypatch.setattr(store, "LEAST", 1)
    monkeypatch.setattr(store.Store.__init__, "__defaults__", (store.private_memory, 16))
    for system, exact in explored(range(threads, 30, 2)):
        found = native.explore(safe(system), Limits(), threads=threads, compact=True)
        only = {p.name for p in safe(system).properties}
        assert (found.distinct_states, found.depth) == (exact.distinct_states, exact.depth)
        assert found.transitions == exact.transitions
        assert found.omission is not None
        assert found.violations == {n: p for n, p in exact.violations.items() if n in only}


def test_one_word_is_exact_and_nothing_is_said() -> None:
    exact = native.explore(models.two_phase(5), Limits(), threads=1)
    found = native.explore(models.two_phase(5), Limits(), threads=1, compact=True)
    assert build(models.two_phase(5), NOTHING, KEY_BITS) == build(models.two_phase(5))
    assert same(found) == same(exact)
    assert (found.omission, found.remarks) == (None, ())


def test_the_code_of_both_modes_is_kept_apart() -> None:
    system = wide(models.two_phase(3))
    assert build(system).digest != build(system, NOTHING, KEY_BITS).digest


@pytest.mark.slow
def test_memory_is_the_table_and_the_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of expanded levels are on the disk, and traces are made from there."""
    monkeypatch.setattr(store, "LEAST", 1 << 14)
    system = wide(models.two_phase(8))
    exact = native.explore(system, Limits(), threads=1)
    found = native.explore(system, Limits(), threads=1, compact=True)
    assert same(found) == same(exact)
    assert found.distinct_states > 100_000
    row = 8 * build(system).layout.words
    assert row >= 24
    assert found.bytes_per_state < exact.bytes_per_state - row / 2
    assert found.violations == exact.violations


def test_a_disk_without_room_costs_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    system = wide(models.two_phase(6))
    exact = native.explore(system, Limits(), threads=1)
    monkeypatch.setattr(store, "LEAST", 1)
    monkeypatch.setattr("os.pwrite", full)
    assert same(native.explore(system, Limits(), threads=1, compact=True)) == same(exact)


def test_a_limit_of_memory_is_met_cleanly() -> None:
    system = wide(models.two_phase(8))
    found = native.explore(system, Limits(memory=1 << 20), threads=1, compact=True)
    assert found.stopped == "the memory limit of 1,048,576 bytes was reached"
    assert found.bytes_per_state * found.distinct_states <= 1 << 20


# ---- what is omitted --------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_few_bits_lose_states_and_the_bound_says_so(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "KEY_BITS", bits)
    system = wide(models.two_phase(7))
    exact = native.explore(system, Limits(), threads=1)
    found = native.explore(system, Limits(), threads=1, compact=True)
    assert found.distinct_states < exact.distinct_states
    assert found.exhaustive
    assert found.omission == 1.0, "it promises nothing"


@pytest.mark.parametrize("words", [2, 3, 5])
@pytest.mark.parametrize("bits", [12, 16, 20])
def test_no_more_is_omitted_than_is_expected_at_most(words: int, bits: int) -> None:
    """Of random rows, in a table that gets as full as it may be, and of rows that differ little."""
    rng, slots = random.Random(bits), 1 << 15
    count = slots * 7 // 8
    some = [tuple(rng.getrandbits(64) for _ in range(words)) for _ in range(count)]
    alike = [(*(i >> 8 for _ in range(words - 1)), i & 255) for i in range(count)]
    for rows in (some, alike):
        kept = Store(kernel_of(words, compact=bits), 1, None, slots=slots)
        (crew,), given = kept.workers, rows_of(rows)
        crew.put(Worker.SHARDS, 1)
        crew.put(Worker.CAP, count)
        address = ctypes.addressof(ctypes.c_char.from_buffer(given))
        done = kept.kernel.take(kept.context_address, crew.address, address, 0, count)
        assert done == count
        omitted = count - kept.states
        assert omitted <= (count + 1) * COMPARED / 2**bits
        # Its own line alone has 3.5 others, in the mean over all rows.
        assert omitted >= (count * Fraction(7, 2) / 2**bits) / 2 - 3


def test_the_bound() -> None:
    """The sum over pairs where there are few states, over comparisons where there are many."""
    assert omission_probability(100, 20) == (101 * 100 / 2) / 2**20
    assert omission_probability(10**9, 63) == pytest.approx(10**9 * COMPARED / 2**63)
    assert omission_probability(10**9, 20) == 1
    sizes = [omission_probability(n, 63) for n in (1, 10, 183, 184, 185, 10**4, 10**8)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("number", "said"),
    [(2.3e-6, "3e-6"), (3e-6, "3e-6"), (9.7e-7, "1e-6"), (0.012, "0.02"), (0.97, "1"), (1, "1")],
)
def test_a_probability_is_never_said_too_small(number: float, said: str) -> None:
    assert at_most(number) in (said, f"{float(said):.1f}")
    assert float(at_most(number)) >= number


# ---- what it can't know -----------------------------------------------------------------------


def test_what_needs_the_graph_is_unknown() -> None:
    exact = run_check(*ECHO, Options(reduce="none"))
    found = run_check(*ECHO, Options(reduce="none", compact=True))
    live = {v.property for v in found.verdicts if v.word is Word.UNKNOWN}
    assert live
    assert live < {v.property for v in exact.verdicts}
    assert found.edges == 0
    assert found.exhaustive


def test_bad_ends_are_found() -> None:
    exact = run_check(*BAD_END, Options(reduce="none"))
    found = run_check(*BAD_END, Options(reduce="none", compact=True))
    violated = {v.property for v in exact.verdicts if v.word is Word.VIOLATED}
    assert violated
    assert violated == {v.property for v in found.verdicts if v.word is Word.VIOLATED}
    for verdict in found.verdicts:
        if verdict.trace is not None:
            assert verdict.trace.ends


def test_liveness_is_never_green_where_it_is_not() -> None:
    seen = set()
    for system, exact in explored(range(100, 140)):
        found = native.explore(system, Limits(), threads=1, compact=True)
        assert found.distinct_states == exact.distinct_states
        for prop in system.properties:
            word = "violated" if prop.name in found.violations else "held"
            if prop.name in found.undecided:
                assert found.undecided[prop.name] == NO_GRAPH
                word = "undecided"
            else:
                assert (prop.name in found.violations) is (prop.name in exact.violations)
            seen.add((prop.kind, word))
        assert found.fair in (exact.fair, None)
    assert {(PropertyKind.LIVENESS, "undecided"), (PropertyKind.INVARIANT, "held")} <= seen


def test_what_is_proven_for_acyclic_systems_only_is_not_used() -> None:
    careful = ReductionPlan()
    plan = ReductionPlan(acyclic=True, fallback=careful)
    assert without_rounds(plan) == careful
    assert without_rounds(NOTHING) is NOTHING
    report = run_check(*FLOODED, Options(compact=True))
    exact = run_check(*FLOODED, Options())
    lost = {kind for kind, why in report.reduced.unused if why == NO_ROUND}
    assert "por" in exact.reduced.used
    assert "por" in lost
    assert lost == set(exact.reduced.used) - set(report.reduced.used)
    assert {v.word for v in report.verdicts} == {Word.HOLDS, Word.UNKNOWN}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (Options(checkpoint="kept"), "`--checkpoint`"),
        (Options(resume="kept"), "`--resume`"),
        (Options(cluster=Cluster("local[1]")), "`--master`"),
        (Options(states_out="tables"), "`--states-out`"),
        (Options(engine="reference"), "reference engine"),
        (Options(engine="spark"), "spark engine"),
    ],
)
def test_what_wants_states_is_refused(
    options: Options, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "explore", None)
    with pytest.raises(SpecError) as refused:
        run_check(*ECHO, replace(options, compact=True))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "E007"
    assert named in diagnostic.message
    assert diagnostic.hint
