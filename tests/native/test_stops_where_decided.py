"""Where all that is asked is decided nobody goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from checker.engines.native import engine as native
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.checkpoint.journal import Journal
from checker.engines.native.checkpoint.run_identity import Identity
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.properties.formula import ask
from checker.records import replace
from checker.render.terminal.report import report_view
from checker.results.answer import DECIDED, Limits
from checker.results.verdict import Report
from checker.session.load import load_check
from checker.session.pipeline import run_check

COUNTERS = """
protocol P {
  state x : 0..3 = 0
  state y : 0..3 = 0
  state z : 0..3 = 0
  upon condition x < 3 { x += 1 }
  upon condition y < 3 { y += 1 }
  upon condition z < 3 { z += 1 }
  property small : always forall p in Proc: p.x == 0
  property true_ : always forall p in Proc: p.x <= 3
  property comes : eventually forall p in Proc: p.x == 3
  property never : eventually forall p in Proc: p.x == 3 and p.y == 0
}
check one of P { n = 2  expect small violated }
check two of P { n = 2  expect small violated  prove true_ }
check counts of P { n = 2  expect small violated  expect states 4096 }
check live of P { n = 2  expect small violated  prove comes }
check bad of P { n = 2  expect small violated  expect never violated }

protocol Q {
  state over : bool = false
  state x : 0..9 = 0
  state y : 0..9 = 0
  upon condition not over and x < 9 { x += 1 }
  upon condition not over and y < 9 { y += 1 }
  upon condition not over and y == 0 { over := true }
  upon condition x > y + 20 { over := true }
  property small : always forall p in Proc: p.x == 0
  property comes : always eventually forall p in Proc: p.x == 9
}
check soon of Q { n = 1  expect small violated  expect comes violated }
check idle of Q { n = 1  expect small violated }
"""

PLAIN = Options(reduce="none", explain=None)


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counters") / "counters.bcast"
    path.write_text(COUNTERS)
    return path


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_level_is_finished_and_nothing_more(counters: Path, engine: str) -> None:
    """Of 4,096 states; one step leads to six, two steps to 21 more."""
    report = run_check(str(counters), "one", replace(PLAIN, engine=engine))
    assert (report.stopped, report.exhaustive, report.never) == (DECIDED, False, ())
    assert report.distinct_states == 1 + 6 + 21
    (verdict,) = report.verdicts
    assert verdict.word.value == "violated" and verdict.trace is not None
    assert verdict.trace.length == 1
    assert report.exit_code == 0


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_one_that_is_not_decided_keeps_it_going(counters: Path, engine: str) -> None:
    report = run_check(str(counters), "two", replace(PLAIN, engine=engine))
    assert (report.stopped, report.exhaustive, report.distinct_states) == (None, True, 4096)


def test_who_asks_for_more_gets_it(counters: Path, tmp_path: Path) -> None:
    for name, options in (
        ("counts", PLAIN),
        ("one", replace(PLAIN, coverage=True)),
        ("one", replace(PLAIN, kinds=2)),
        ("one", replace(PLAIN, whole=True)),
        ("one", replace(PLAIN, whole=True, engine="reference")),
    ):
        report = run_check(str(counters), name, options)
        assert (report.stopped, report.distinct_states) == (None, 4096)


def test_any_number_of_threads_gives_the_same_run(counters: Path) -> None:
    found = [run_check(str(counters), "one", replace(PLAIN, threads=t)) for t in (1, 2, 5)]
    assert len({repr(report.verdicts) for report in found}) == 1
    assert len({report.distinct_states for report in found}) == 1


def test_a_kept_run_is_over_where_all_is_decided(counters: Path, tmp_path: Path) -> None:
    """Its folder is as after any other that came to its end."""
    folder = tmp_path / "run"
    whole = run_check(str(counters), "one", PLAIN)
    report = run_check(str(counters), "one", replace(PLAIN, checkpoint=str(folder)))
    assert (report.stopped, report.kept) == (DECIDED, None) and not folder.exists()
    assert _same(report, whole)


def test_a_run_that_was_cut_short_ends_where_all_is_decided(counters: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "bad", "live"):
        whole = run_check(str(counters), name, PLAIN)
        folder = str(tmp_path / name)
        limits = Limits(max_depth=0)
        cut = run_check(str(counters), name, replace(PLAIN, checkpoint=folder, limits=limits))
        assert cut.stopped == limits.no_deeper and cut.kept == folder
        resumed = run_check(str(counters), name, replace(PLAIN, resume=folder))
        assert _same(resumed, whole) and resumed.kept is None


def test_a_run_that_had_decided_all_does_not_go_on(counters: Path, tmp_path: Path) -> None:
    """It was killed after its last commit, before it could say so."""
    made = instantiate(load_check(str(counters), "one", {}), {}, ask).system
    limits = Limits(until_decided=True)
    run = Checkpoint.begin(str(tmp_path / "run"), Identity("0", "counters.bcast", "one"))
    found = [
        native.explore(made, limits, journal=lambda image: Journal(run.open(made, image)))
        for _ in range(2)
    ]
    run.leave()
    assert [answer.stopped for answer in found] == [DECIDED, DECIDED]
    assert found[0].distinct_states == found[1].distinct_states == 28
    assert found[0].violations == found[1].violations


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("name", "words", "stopped"),
    [
        ("bad", {"small": "violated", "never": "violated"}, None),
        ("live", {"small": "violated", "comes": "holds"}, None),
        ("soon", {"small": "violated", "comes": "violated"}, DECIDED),
    ],
)
def test_liveness_is_decided_where_a_run_ends_badly_or_all_is_seen(
    counters: Path, engine: str, name: str, words: dict[str, str], stopped: str | None
) -> None:
    """A bad end at the last level; none; one after a step, which the search itself sees: of one
    state's three successors the level is finished, and leads to four more."""
    for threads in (1, 3):
        report = run_check(str(counters), name, replace(PLAIN, engine=engine, threads=threads))
        assert {v.property: v.word.value for v in report.verdicts} == words
        assert report.stopped == stopped
        assert name != "soon" or report.distinct_states == 1 + 3 + 4
        assert report.exhaustive == (report.stopped is None)


def test_what_is_shown_is_said_to_be_part(counters: Path) -> None:
    """Nothing is said that only a whole exploration shows."""
    report = run_check(str(counters), "idle", PLAIN)
    assert report.stopped == DECIDED and not report.exhaustive
    assert report.never == () and report.coverage is None
    console = Console(width=200)
    with console.capture() as said:
        console.print(report_view(report))
    assert "search stopped early for n=1, f=0: all properties are already decided" in said.get()
    assert "never" not in said.get()


def _same(one: Report, other: Report) -> bool:
    """All but what depends on the machine, and on where the run was kept."""
    rest = {"seconds": 0.0, "liveness_seconds": 0.0, "bytes_per_state": 0.0, "forecast": None}
    found = [replace(r, **rest, bytes_per_edge=0.0) for r in (one, other)]  # type: ignore[arg-type]
    return found[0] == found[1]
