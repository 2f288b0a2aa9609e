"""A search that finds a guessed capacity too small goes on in the larger system, and ends as if
it had been large enough from the start; where it can't go on nothing that was known is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from checker.engines.native.codegen.layout import lay_out
from checker.engines.native.search import capacity_growth, search
from checker.engines.options import Options
from checker.formats.json_format import report_to_json
from checker.instantiate import assemble, capacity_estimation
from checker.instantiate.assemble import instantiate
from checker.instantiate.instantiated import Instantiated
from checker.model.ir import TransitionSystem
from checker.model.types import IntT, SeqT
from checker.records import replace
from checker.render.terminal.report import report_view
from checker.results.answer import Answer, Limits
from checker.results.verdict import Report, Word
from checker.session import attempts, pipeline, run_engine
from tests.native import models
from tests.selection import first_by_default

LATE = """
protocol Late(size: Nat = 2) {
  state x : 0..size = 0
  state up : bool = true
  state y = 0
  state got : seq<Nat> = []
  upon condition x < size { x += 1 }
  upon condition x == size and y < 5 { y += 1 }
  upon condition y >= 2 and #got < 3 { got := got + y }
  upon condition x == 1 { up := not up }
  property moves : always forall p in Proc: p.x == 0
  property low : always forall p in Proc: p.y <= 4
  property short : always forall p in Proc: #p.got <= 6
  property ends : eventually forall p in Proc: p.y == 5
}
check all of Late { n = 2  prove short  expect moves violated  expect low violated }
check live of Late { n = 2  prove short  expect ends violated }
check steady of Late { n = 2  prove short }
"""


@dataclass
class Made:
    """The systems that were made, one after the other."""

    capacities: list[dict[str, int]] = field(default_factory=list)

    @property
    def last(self) -> dict[str, int]:
        return self.capacities[-1]


@pytest.fixture
def late(tmp_path: Path) -> str:
    path = tmp_path / "late.bcast"
    path.write_text(LATE)
    return str(path)


def run(
    late: str,
    name: str,
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
    guess: Mapping[str, int] = {},
) -> tuple[Report, Made]:
    """What becomes of a check that begins with these guesses."""
    made = Made()

    def watched(*args: object, **named: object) -> Instantiated:
        found = instantiate(*args, **named)  # type: ignore[arg-type]
        made.capacities.append(dict(found.capacities))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(capacity_estimation, "estimate_capacities", lambda make: make(guess))
        patch.setattr(assemble, "instantiate", watched)
        return pipeline.run_check(late, name, options), made


def told(report: Report) -> Report:
    """All of a report but what depends on the machine, and on how it came about."""
    times = {"seconds": 0.0, "liveness_seconds": 0.0, "bytes_per_state": 0.0, "bytes_per_edge": 0.0}
    return replace(report, **times, restarts=(), forecast=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("reduce", ["none", "auto", "symmetry", "por"])
@pytest.mark.parametrize("threads", first_by_default([3, 1], 1))
@pytest.mark.parametrize("name", ["all", "live", "steady"])
def test_it_ends_as_if_there_had_been_room_from_the_start(
    late: str, name: str, threads: int, reduce: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PARALLEL_FROM", 64)
    options = Options(reduce=reduce, threads=threads)
    found, made = run(late, name, options, monkeypatch)
    assert len(made.capacities) > 2 and len(found.restarts) == len(made.capacities) - 1
    expected, once = run(late, name, options, monkeypatch, made.last)
    assert once.capacities == [made.last] and not expected.restarts
    assert told(found) == told(expected)
    if reduce != "auto":
        assert all(restart.kept for restart in found.restarts)


def test_far_more_room_makes_no_difference_to_what_is_counted(
    late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(reduce="none", coverage=True)
    found, made = run(late, "all", options, monkeypatch)
    expected, _ = run(late, "all", options, monkeypatch, dict.fromkeys(made.last, 60))
    for one in ("distinct_states", "transitions", "depth", "exhaustive", "coverage", "never"):
        assert getattr(found, one) == getattr(expected, one), one
    words = [(v.property, v.word) for v in found.verdicts]
    assert words == [(v.property, v.word) for v in expected.verdicts]
    lengths = [v.trace and v.trace.length for v in found.verdicts]
    assert lengths == [v.trace and v.trace.length for v in expected.verdicts]


def test_within_a_limit_of_memory(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room for both it begins again, and comes to the same."""
    options = Options(reduce="none", threads=1)
    expected, _ = run(late, "steady", options, monkeypatch)
    for memory, kept in ((1 << 26, True), (1 << 12, False)):
        limited = replace(options, limits=Limits(memory=memory))
        found, _ = run(late, "steady", limited, monkeypatch)
        assert all(restart.kept for restart in found.restarts) == kept
        if found.exhaustive:
            assert told(found) == told(expected)


def test_a_run_that_is_kept_has_all_of_it(
    late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(reduce="none", threads=1)
    expected, made = run(late, "steady", options, monkeypatch)
    folder = str(tmp_path / "run")
    cut = replace(options, checkpoint=folder, limits=Limits(max_depth=expected.depth - 2))
    first, there = run(late, "steady", cut, monkeypatch)
    assert there.last == made.last and all(restart.kept for restart in first.restarts)
    resumed, again = run(late, "steady", replace(options, resume=folder), monkeypatch)
    assert again.capacities == [made.last]
    assert told(resumed) == told(expected)


# ---- beginning again --------------------------------------------------------------------------


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ever gone on with."""
    monkeypatch.setattr(capacity_growth.Levels, "fits", lambda *_: False)


def cut_short(monkeypatch: pytest.MonkeyPatch, number: int, depth: int) -> None:
    """The attempt of this number comes to an end at this depth, as if by a limit."""
    numbers = count(1)

    def answer_of(system: TransitionSystem, options: Options, *rest: Any, **named: Any) -> Answer:
        if next(numbers) >= number:
            limits = replace(options.limits, max_depth=depth, until_decided=False)
            options = replace(options, limits=limits)
        return run_engine.answer_of(system, options, *rest, **named)

    monkeypatch.setattr(attempts, "answer_of", answer_of)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("name", ["all", "steady"])
@pytest.mark.usefixtures("forgetful")
def test_the_farthest_attempt_is_told(
    late: str, name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one ends in its first steps."""
    cut_short(monkeypatch, 2, 1)
    options = Options(engine=engine, reduce="none", threads=1, coverage=True)
    report, made = run(late, name, options, monkeypatch)
    (restart,) = report.restarts
    assert len(made.capacities) == 2 and not restart.kept
    ((capacity, was, now),) = restart.grown
    assert (was, now) == (made.capacities[0][capacity], made.last[capacity])
    assert report.distinct_states == restart.states and report.depth == restart.depth > 3
    assert report.stopped == "the depth limit of 1 was reached"
    found = {v.property: v for v in report.verdicts}
    again = f"restarted once: `{capacity}` ({was}) was guessed too low"
    assert found["short"].word is Word.UNKNOWN
    assert found["short"].reason == (
        f"no violation up to depth {report.depth - 1}, of {report.distinct_states} states to depth"
        f" {report.depth} found; {report.stopped}; {again}"
    )
    if name == "all":
        assert found["moves"].word is Word.VIOLATED
    assert report_to_json(report)["restarts"] == [
        {
            "grown": [{"capacity": capacity, "was": was, "now": now}],
            "states": restart.states,
            "depth": restart.depth,
            "kept": False,
        }
    ]
    console = Console(width=400)
    with console.capture() as said:
        console.print(report_view(report))
    assert f"restart  {again}" in said.get()


@pytest.mark.usefixtures("forgetful")
def test_a_violation_is_not_lost(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was found by the first attempt, and not by the second one, which comes to no state."""
    cut_short(monkeypatch, 2, 0)
    report, _ = run(late, "all", Options(reduce="none", threads=1), monkeypatch)
    found = {v.property: v for v in report.verdicts}
    assert found["moves"].word is Word.VIOLATED and found["moves"].trace is not None


def test_what_was_gone_on_with_is_no_less(late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, 2, 1)
    report, _ = run(late, "steady", Options(reduce="none", threads=1), monkeypatch)
    (restart,) = report.restarts
    assert restart.kept and report.stopped == "the depth limit of 1 was reached"
    assert report.depth >= restart.depth - 1 > 3


def test_after_a_long_search_the_guess_takes_what_is_free(
    late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many bits as the words of a state have anyway."""
    options = Options(reduce="none", threads=1)
    often, made = run(late, "steady", options, monkeypatch, {"y": 1})
    monkeypatch.setattr(attempts, "LONG", 10)
    seldom, other = run(late, "steady", options, monkeypatch, {"y": 1})
    assert 0 < len(seldom.restarts) < len(often.restarts)
    assert all(other.last[name] >= size for name, size in made.last.items())
    assert told(replace(seldom, verdicts=())) == told(replace(often, verdicts=()))
    assert [v.word for v in seldom.verdicts] == [v.word for v in often.verdicts]


def test_a_guess_grows_by_parts_of_a_doubling() -> None:
    """Where the words of a state have no room for another doubling."""

    def make(capacities: Mapping[str, int]) -> Any:
        queue = SeqT(IntT(0, (1 << 17) - 1), capacities["queue"])
        system = replace(models.two_phase(2), variables=(models.variable("queue", queue, ()),))
        return SimpleNamespace(system=system)

    def words(capacity: int) -> int:
        return lay_out(make({"queue": capacity}).system).words

    found = attempts.enlarge_capacities(make, {"queue": 4}, ["queue"], attempts.LONG)["queue"]
    assert 8 < found < 16 and words(found) == words(8) < words(found + 1)
    early = attempts.enlarge_capacities(make, {"queue": 4}, ["queue"], attempts.LONG - 1)
    assert early == {"queue": 8}


# A link that keeps messages holds one of each number. Each is dead when a later one is received, so
# that there are two at most in normal form, and all of them in the run that is shown.
KEPT = """
protocol Numbers(last: Nat = 12, first: Proc, second: Proc) {
  message NEXT(k: 0..last, load: 0..99999)
  message SEEN(k: 0..last)
  state sent : 0..last = 0
  state seen : 0..last = 0
  upon condition self == first and sent == seen and sent < last {
    sent += 1
    send NEXT(sent, 0) to second
  }
  upon receive NEXT(k, _) when k > seen {
    seen := k
    send SEEN(k) to first
  }
  upon receive SEEN(k) when k > seen { seen := k }
  property early : always forall p in Proc: p.seen < last
  property sent_first : always forall p in Proc: p.seen > 0 => p.seen < last
}
check numbers of Numbers { n = 2  second = p2  links persistent  expect early violated }
check both of Numbers {
  n = 2
  second = p2
  links persistent
  expect early violated
  expect sent_first violated
}
"""


@pytest.mark.parametrize("name", ["numbers", "both"])
def test_what_is_dead_takes_room_in_the_run_that_is_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.bcast"
    path.write_text(KEPT)
    report = pipeline.run_check(str(path), name, Options(engine="native"))
    assert [e for e in report.expectations if not e.met] == []
    assert "dead" in report.reduced.used
    assert [v.trace.length for v in report.verdicts if v.trace] == [35] * len(report.verdicts)
