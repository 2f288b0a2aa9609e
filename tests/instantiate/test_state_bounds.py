"""Bounds of checks: what is beyond one is seen and not followed, and verdicts say so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.engines.native.search import search
from checker.engines.options import Options
from checker.language.load import load_text
from checker.results.answer import Limits
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.session.pipeline import open_check, run_check
from checker.session.simulation import simulate_check
from checker.simulate.session import SteppingSession
from checker.simulate.simulation import WalkPlan, simulate
from checker.simulate.why_not import why_not
from tests.instantiate.small_checks import MODES, report

CLIMBING = """
protocol Climbing {
  state term : Nat max 9 = 0
  state done = false
  upon condition term < 9 as climbs { term := term + 1 }
  upon condition term == 2 and not done { done := true }
  upon condition term == 7 as late { done := true }
  property low : always forall p in Proc: p.term <= 4
  property lower : always forall p in Proc: p.term <= 3
  property done : eventually forall p in Proc: p.done
  property tops : eventually forall p in Proc: p.term == 9
  property safe : always forall p in Proc: p.term <= 9
}
check c of Climbing { n = 2  BOUND  prove PROVE  allow unused }
"""


def climbing(bound: str, prove: str) -> str:
    return CLIMBING.replace("BOUND", bound).replace("PROVE", prove)


def only(found: Report) -> PropertyVerdict:
    (verdict,) = found.verdicts
    return verdict


@pytest.mark.parametrize("mode", MODES)
def test_states_beyond_are_judged_and_not_left(mode: str, tmp_path: Path) -> None:
    """The fourth term is beyond ``<= 3``: it is seen, and the fifth is not."""
    found = report(tmp_path, climbing("bound p.term <= 3", "low, lower"), mode)
    low, lower = found.verdicts
    assert (low.word, low.within, low.label()) == (
        Word.WITHIN, "p.term <= 3", "holds within p.term <= 3",
    )  # fmt: skip
    assert lower.word is Word.VIOLATED and lower.trace is not None and lower.trace.length == 4
    assert found.exit_code == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_bound_that_no_run_exceeds_limits_nothing(mode: str, tmp_path: Path) -> None:
    without = report(tmp_path, climbing("", "safe"), mode)
    bounded = report(tmp_path, climbing("bound p.term <= 9", "safe"), mode)
    assert only(bounded).word is Word.HOLDS and only(bounded).within == ""
    if mode in (
        "reference",
        "native plain",
    ):  # where the bound is looked at, reductions leave out less
        assert bounded.distinct_states == without.distinct_states
    assert bounded.exit_code == 0


@pytest.mark.parametrize("mode", MODES)
def test_of_several_bounds_those_are_named_that_are_met(mode: str, tmp_path: Path) -> None:
    text = climbing("bound p.term <= 9  bound p.term <= 3", "low")
    assert only(report(tmp_path, text, mode)).label() == "holds within p.term <= 3"
    text = climbing("bound p1.term <= 4  bound p2.term <= 3", "safe")
    assert only(report(tmp_path, text, mode)).within == "p1.term <= 4 and p2.term <= 3"


@pytest.mark.parametrize("mode", MODES)
def test_a_run_that_ends_beyond_is_no_violation_of_liveness(mode: str, tmp_path: Path) -> None:
    """Without the bound both come true; every fair run within it waits for ``climbs`` or stays."""
    tops = only(report(tmp_path, climbing("bound p.term <= 3", "tops"), mode))
    assert tops.word is Word.VACUOUS and "no fair run stays within the bound" in tops.reason


def climbs(state: tuple[tuple[int, bool], ...]) -> Iterator[tuple[tuple[int, bool], ...]]:
    """The steps of ``Climbing``, written down again."""
    for at, (term, done) in enumerate(state):
        ways = []
        if term < 9:
            ways.append((term + 1, done))
        if (term == 2 and not done) or term == 7:
            ways.append((term, True))
        for way in ways:
            yield (*state[:at], way, *state[at + 1 :])


def counted_again(highest: Sequence[int]) -> tuple[int, int]:
    """The number of states that are found, and of those in which each term is at most its
    highest."""
    start = ((0, False),) * len(highest)
    states, waiting, within = {start}, [start], 0
    while waiting:
        state = waiting.pop()
        if any(term > high for (term, _), high in zip(state, highest, strict=True)):
            continue
        within += 1
        new = set(climbs(state)) - states
        states |= new
        waiting += new
    return len(states), within


@pytest.mark.parametrize("mode", ["reference", "native plain"])
@pytest.mark.parametrize(
    ("bound", "highest"),
    [
        ("bound p.term <= 3", (3, 3)),
        ("bound p1.term <= 4  bound p2.term <= 3", (4, 3)),
        ("bound p.term <= 9", (9, 9)),
        ("bound p1.term < 0", (-1, 9)),
    ],
)
def test_the_states_within_are_counted(
    bound: str, highest: Sequence[int], mode: str, tmp_path: Path
) -> None:
    found = report(tmp_path, climbing(bound, "safe"), mode)
    assert (found.distinct_states, found.states_within) == counted_again(highest)


def test_what_is_not_known_of_states_within(tmp_path: Path) -> None:
    for bound, limits in (("", Limits()), ("bound p.term <= 3", Limits(max_states=5))):
        assert report(tmp_path, climbing(bound, "safe"), limits=limits).states_within is None
    pytest.importorskip("z3")
    text = climbing("bound p.term <= 3", "safe")
    unrolled = report(tmp_path, text, "symbolic", limits=Limits(max_depth=6))
    assert unrolled.states_within is None


GROWING = """
protocol Growing {
  state level = 0
  state seen : seq<Nat> = []
  upon condition level < 30 { level := level + 1 }
  upon condition level > 5 and #seen < 4 { seen := seen + level }
  property low : always forall p in Proc: p.level <= 30
}
check c of Growing { n = 2  bound p.level <= 12  prove low }
"""


def test_they_are_counted_once_where_levels_are_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By several workers, while capacities grow, in two runs of which one is cut short."""
    path = tmp_path / "growing.bcast"
    path.write_text(GROWING)
    plainly = Options(engine="native", reduce="none", threads=1)
    expected = run_check(str(path), None, plainly)
    assert expected.restarts and expected.states_within is not None
    assert 0 < expected.states_within < expected.distinct_states
    monkeypatch.setattr(search, "PARALLEL_FROM", 64)
    folder = str(tmp_path / "run")
    cut = Options(
        engine="native",
        reduce="none",
        threads=3,
        checkpoint=folder,
        limits=Limits(max_depth=expected.depth - 5),
    )
    assert run_check(str(path), None, cut).states_within is None
    resumed = run_check(
        str(path), None, Options(engine="native", reduce="none", threads=3, resume=folder)
    )
    counts = resumed.distinct_states, resumed.states_within
    assert counts == (expected.distinct_states, expected.states_within)


def test_both_numbers_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "climbing.bcast"
    out = tmp_path / "report.json"
    states, within = counted_again((3, 3))
    path.write_text(climbing(f"bound p.term <= 3  expect states {states}", "safe"))
    main(["check", str(path), "--json", str(out)])
    said = capsys.readouterr().out
    assert f"searched {states} distinct states ({within} within the bound) to depth" in said
    (document,) = json.loads(out.read_text())["reports"]
    assert (document["distinct_states"], document["states_within"]) == (states, within)
    (expectation,) = (e for e in document["expectations"] if e["what"] == "states")
    assert expectation["met"], "`expect states` is of all states that are found"


LASSO = """
protocol Lasso {
  state term : 0..9 = 0
  state busy = false
  state done = false
  upon condition term < 9 as climbs { term := term + 1 }
  may upon condition term == 1 and not busy { busy := true }
  upon condition busy { done := not done }
  property rests : eventually always forall p in Proc: not p.done
  property waits : eventually always forall p in Proc: p.term <= 1
}
check c of Lasso { n = 1  bound p.term <= 3  prove rests, waits  allow unused }
"""


@pytest.mark.parametrize("mode", ["reference", "native", "native plain"])
def test_a_lasso_inside_is_a_violation(mode: str, tmp_path: Path) -> None:
    rests, waits = report(tmp_path, LASSO, mode).verdicts
    assert rests.word is Word.VIOLATED and rests.trace is not None
    assert rests.trace.closing is not None
    assert waits.word is Word.VIOLATED


def test_what_is_expected_within_a_bound(tmp_path: Path) -> None:
    """A plain ``holds`` is not met by what holds within a bound, the other way round it is."""
    for bound, expected, code in (
        ("bound p.term <= 3", "", 3),
        ("bound p.term <= 3", "expect low holds", 3),
        ("bound p.term <= 3", "expect low holds within", 0),
        ("bound p.term <= 5", "expect low holds within", 1),
    ):
        text = climbing(f"{bound}  {expected}", "low")
        assert report(tmp_path, text).exit_code == code, (bound, expected)
    text = climbing("bound p.term <= 9  expect safe holds within", "safe")
    assert report(tmp_path, text).exit_code == 0


def test_what_never_happens_never_happens_within_the_bound(tmp_path: Path) -> None:
    text = climbing("bound p.term <= 3", "low").replace("allow unused", "")
    found = report(tmp_path, text)
    assert only(found).word is Word.VACUOUS and "never ran within the bound" in only(found).reason
    assert any("late" in never and "within the bound" in never for never in found.never)


def test_a_state_in_which_runs_start_may_be_beyond(tmp_path: Path) -> None:
    found = report(tmp_path, climbing("bound p.term >= 1", "safe"))
    assert found.distinct_states == 1
    assert only(found).label() == "holds within p.term >= 1"


def test_an_unfinished_search_says_unknown(tmp_path: Path) -> None:
    text = climbing("bound p.term <= 3", "safe")
    found = report(tmp_path, text, limits=Limits(max_states=5))
    assert only(found).word is Word.UNKNOWN and only(found).within == ""


def test_formulas_about_short_runs_stay_within(tmp_path: Path) -> None:
    text = climbing("bound p.term <= 3", "low")
    pytest.importorskip("z3")
    found = only(report(tmp_path, text, "symbolic", limits=Limits(max_depth=6)))
    assert found.word is Word.BOUNDED
    assert found.label() == "holds up to 6 within p.term <= 3"


@pytest.mark.parametrize(
    "bound", ["p.term <= 3", "forall p in Proc: p.term <= 3", "not exists q in Proc: q.term > 3"]
)
def test_a_bound_on_all_processes_keeps_symmetry(bound: str, tmp_path: Path) -> None:
    found = report(tmp_path, climbing(f"bound {bound}", "low"), "native", audit=True)
    assert "symmetry" in found.reduced.used
    assert found.audit is not None and found.audit.complete


def test_a_bound_on_one_process_is_not_symmetric(tmp_path: Path) -> None:
    found = report(tmp_path, climbing("bound p1.term <= 3", "safe"), "native", audit=True)
    assert "symmetry" not in found.reduced.used


def said_of(bound: str) -> list[str]:
    with pytest.raises(SpecError) as raised:
        load_text(climbing(bound, "low"), "bounds.bcast")
    return [f"{d.code} {d.message}" for d in raised.value.diagnostics]


def test_a_bound_is_about_single_states() -> None:
    assert said_of("bound always p.term <= 3") == [
        "C030 a bound is a state predicate, and this has a temporal operator"
    ]
    assert said_of("bound correct(p1)")[0].startswith("C030")
    assert said_of("bound p.terms <= 3") == ["N002 a process has no `terms`"]


def test_a_parameter_may_be_called_bound(tmp_path: Path) -> None:
    text = climbing("bound = 3  bound p.term <= bound", "low").replace(
        "protocol Climbing {", "protocol Climbing(bound: Nat) {"
    )
    assert only(report(tmp_path, text)).label() == "holds within p.term <= bound"


def test_a_proof_under_a_bound_is_refused(tmp_path: Path) -> None:
    from checker.proving.finite import prove_check

    pytest.importorskip("z3")
    path = tmp_path / "bounds.bcast"
    path.write_text(climbing("bound p.term <= 3", "low"), encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        prove_check(str(path), "c", Options(), ("induction",), 10.0, None)
    assert [d.code for d in raised.value.diagnostics] == ["C031"]


def stepping(folder: Path, bound: str, *steps: str) -> SteppingSession:
    path = folder / "bounds.bcast"
    path.write_text(climbing(bound, "low, done"), encoding="utf-8")
    session = SteppingSession(open_check(str(path), "c", Options()))
    for words in steps:
        session.say(words)
    return session


def test_stepping_ends_beyond_and_says_why(tmp_path: Path) -> None:
    session = stepping(tmp_path, "bound p.term <= 0", "the start", "p1: climbs")
    assert session.state is not None and not session.choices.ways
    beyond = "the state is beyond the bound `p.term <= 0`: no step from it is explored"
    assert session.beyond() == beyond and not session.ends() and not session.stays()
    said = why_not("p2: climbs", session.system, session.state, session.trace())
    assert [reason.text for reason in said] == [beyond]


@pytest.mark.parametrize("claim", ["it ends", "it continues", "done violated", "done holds"])
def test_a_scenario_that_leaves_the_bound_claims_nothing_of_whole_runs(
    claim: str, tmp_path: Path
) -> None:
    steps = "scenario leaves {\n p1: climbs\n then low holds\n then CLAIM\n}\n}"
    text = climbing("bound p.term <= 0", "low, done").rstrip().removesuffix("}")
    (found,) = report(tmp_path, text + steps.replace("CLAIM", claim)).scenarios
    assert not found.met and "beyond the bound `p.term <= 0`" in found.reason


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_random_walks_end_beyond(engine: str, tmp_path: Path) -> None:
    """To leave the bound is no violation; a walk that has done so has come to its end."""
    path = tmp_path / "bounds.bcast"
    path.write_text(climbing("bound p.term <= 1", "low, tops"), encoding="utf-8")
    opened = open_check(str(path), "c", Options())
    walks = simulate(opened, WalkPlan(1, walks=20, steps=50, engine=engine, threads=1))
    assert walks.found is None and walks.seen.walks == 20 and walks.seen.longest == 3
    report = simulate_check(str(path), "c", Options(explain=None), walks.plan, None)
    assert {verdict.word for verdict in report.verdicts} == {Word.UNKNOWN}
