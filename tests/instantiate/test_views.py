"""Views of checks: states in which one is equal are taken for one, and verdicts say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.ir import TransitionSystem
from checker.model.views import seen
from checker.properties.formula import ask
from checker.proving.finite import prove_check
from checker.results.answer import Limits
from checker.results.unseparated import compare
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check

TRYING = """
protocol Trying {
  message ASK(k: 0..3)
  ghost state most : Nat max 2 = 0
  stable state kept : Nat max 2 = 0
  state tries : Nat max 2 = 0
  state log : seq<0..3, max 2> = []
  state done = false
  upon condition tries < 2 and not done { tries := tries + 1  most := tries }
  upon condition not done { done := true  kept := 1  send ASK(LIMIT) to all }
  upon receive ASK(k) when #log < 2 { log := log ++ [k] }
  upon receive ASK(k) { skip }
  property few : always forall p in Proc: p.tries <= 2
  property never : always forall p in Proc: not (p.done and p.tries == 2)
  property most : always forall p in Proc: p.most <= 1
  property short : always forall p in Proc: #p.log <= 1
  property ends : eventually forall p in Proc: p.done
}
check c of Trying { n = N  CLAUSES  allow unused }
"""
SOUND = "view p.done, #p.log, p.kept"
"""With messages that are all alike: nothing that is compared depends on `tries`."""


def spec(clauses: str, limit: str = "1", n: int = 2) -> str:
    return TRYING.replace("LIMIT", limit).replace("CLAUSES", clauses).replace("= N ", f"= {n} ")


def system(text: str, fine: bool = False) -> TransitionSystem:
    return instantiate(load_text(text, "v.bcast").checks[0], {}, ask, fine=fine).system


def report(folder: Path, text: str, engine: str = "native", **more: object) -> Report:
    path = folder / "views.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), None, Options(engine=engine, **more))  # type: ignore[arg-type]


def reachable(of: TransitionSystem) -> set[State]:
    """All states, by brute force."""
    found = set(interpreter.initial_states(of))
    todo = list(found)
    while todo:
        for step in interpreter.successors(of, todo.pop()):
            if step.successor is not None and step.successor not in found:
                found.add(step.successor)
                todo.append(step.successor)
    return found


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize(
    "clauses",
    [
        f"{SOUND} prove few",
        f"{SOUND} prove most",
        f"{SOUND} bound #p.log <= 1 prove few, short",
        f"{SOUND} faults crash <= 1 prove few",
        "view { q -> (q.done, (#q.log, q.kept)) for q in Proc } prove few",
    ],
)
def test_a_sound_view_finds_each_of_its_values_once(clauses: str, fine: bool) -> None:
    """One state for each value of the view that a state has, by brute force without it; and what
    is violated in some state."""
    of = system(spec(clauses), fine)
    states = reachable(of)
    values = {seen(of, state) for state in states}
    assert compare(of, 10**6).all, "the view is sound"
    assert len(values) <= len(states) - ("most" not in clauses), "a ghost that is read is compared"
    violated = {p.name for p in of.properties for s in states if interpreter.holds(of, p.bad, s)}
    for engine in (reference, native):
        answer = engine.explore(of, Limits())
        assert (answer.distinct_states, set(answer.violations)) == (len(values), violated)
        for path in answer.violations.values():
            assert set(path.states) <= states


def test_a_view_that_is_not_sound_keeps_states_that_can_be_reached() -> None:
    of = system(spec("view p.done, p.tries > 0 prove few, never, short"))
    states = reachable(of)
    assert compare(of).found is not None
    for engine in (reference, native):
        answer = engine.explore(of, Limits())
        assert answer.distinct_states <= len({seen(of, state) for state in states})
        assert set(answer.violations) == {"short"}, "of `never` only states that are hidden know"
        assert all(set(path.states) <= states for path in answer.violations.values())


@pytest.mark.parametrize("n", [2, 3])
def test_states_of_one_word_and_of_several(n: int) -> None:
    """A table of words compares masked words, one of rows masked rows."""
    for wide in ("", " p.log,"):
        of = system(spec(f"view p.done, p.kept,{wide} #p.log prove few", n=n))
        answers = [engine.explore(of, Limits()) for engine in (reference, native)]
        compact = native.explore(of, Limits(), compact=True)
        assert len({a.distinct_states for a in (*answers, compact)}) == 1
        assert len({a.transitions for a in answers}) == 1


def test_a_view_of_all_variables_hides_nothing(tmp_path: Path) -> None:
    """There is none then, and what holds plainly holds."""
    plain = system(spec("prove few"))
    whole = system(spec("view p.kept, p.tries, p.log, p.done prove few"))
    assert whole.view is None and whole == plain
    assert system(spec("view p.kept, p.tries, p.log prove few")).view is not None
    (verdict,) = report(tmp_path, spec("view p.kept, p.tries, p.log, p.done prove few")).verdicts
    assert verdict.word is Word.HOLDS


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_what_is_not_violated_holds_within_the_view(engine: str, tmp_path: Path) -> None:
    found = report(tmp_path, spec(f"{SOUND} prove few, short"), engine)
    few, short = found.verdicts
    assert few.word is Word.WITHIN and few.label() == f"holds within the {SOUND}"
    assert "the first" in few.reason
    assert short.word is Word.VIOLATED and short.trace is not None
    assert any("C052" in note for note in found.notes)
    expected = report(tmp_path, spec(f"{SOUND} expect few holds within"), engine)
    assert expected.exit_code == 0
    assert report(tmp_path, spec(f"{SOUND} expect few holds"), engine).exit_code == 3


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_with_a_bound_both_are_said(engine: str, tmp_path: Path) -> None:
    found = report(tmp_path, spec(f"{SOUND} bound #p.log <= 1 prove few"), engine)
    (few,) = found.verdicts
    assert few.label() == f"holds within #p.log <= 1 and the {SOUND}"


def test_a_violation_is_never_taken_for_what_is_none(tmp_path: Path) -> None:
    """``few`` reads what the view hides: a state that violates it is another one."""
    text = spec("view p.done prove steep", n=1).replace(
        "property few", "property steep : always forall p in Proc: p.tries != 1\n  property few"
    )
    for engine in ("reference", "native"):
        (steep,) = report(tmp_path, text, engine).verdicts
        assert steep.word is Word.VIOLATED and steep.trace is not None and steep.trace.length == 1


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_two_states_that_behave_differently_are_shown(engine: str, tmp_path: Path) -> None:
    """``tries`` decides whether a second try is possible, and the view drops it."""
    found = report(tmp_path, spec("view p.done, p.tries > 0 prove never"), engine, reduce="none")
    (never,) = found.verdicts
    assert never.word is Word.WITHIN, "the violation is missed, and the verdict is no plain `holds`"
    (said,) = [note for note in found.notes if "behave differently" in note]
    assert "C052" in said and ".tries is" in said


def test_a_view_that_is_sound_is_said_to_be(tmp_path: Path) -> None:
    states = len(reachable(system(spec(f"{SOUND} prove few"))))
    found = report(tmp_path, spec(f"{SOUND} prove few"))
    assert f"among all {states} states" in " ".join(found.notes)


def test_symmetry_goes_with_a_view(tmp_path: Path) -> None:
    """Fewer states, the same verdicts; a view that tells one process from others keeps it apart."""
    for clauses in (f"{SOUND} prove few, short", f"{SOUND} bound #p.log <= 1 prove few, short"):
        reduced = report(tmp_path, spec(clauses), reduce="symmetry")
        whole = report(tmp_path, spec(clauses), reduce="none")
        assert reduced.reduced.used == ("symmetry",)
        assert reduced.distinct_states < whole.distinct_states
        assert [v.label() for v in reduced.verdicts] == [v.label() for v in whole.verdicts]
        assert [v.trace and v.trace.length for v in reduced.verdicts] == [
            v.trace and v.trace.length for v in whole.verdicts
        ]
    named = report(tmp_path, spec("view p1.done, #p2.log prove few"), reduce="symmetry")
    assert named.reduced.used == ()


def test_other_reductions_are_left_out_with_a_view(tmp_path: Path) -> None:
    found = report(tmp_path, spec(f"{SOUND} prove few"), reduce="por")
    assert found.reduced.used == ()
    assert {reason for _, reason in found.reduced.unused} == {"the check has a view"}


def test_a_kept_run_goes_on_with_its_view(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    text = spec(f"{SOUND} prove few", n=3)
    whole = report(tmp_path, text, reduce="none")
    part = report(tmp_path, text, reduce="none", checkpoint=folder, limits=Limits(max_states=40))
    assert not part.exhaustive
    rest = report(tmp_path, text, reduce="none", resume=folder)
    assert (rest.distinct_states, rest.depth, rest.transitions) == (
        whole.distinct_states, whole.depth, whole.transitions,
    )  # fmt: skip


def test_numbers_whose_bound_is_found_keep_the_view(tmp_path: Path) -> None:
    text = spec(f"{SOUND} prove few").replace("state tries : Nat max 2", "state tries : Nat")
    answers = [report(tmp_path, text, engine, reduce="none") for engine in ("reference", "native")]
    assert len({a.distinct_states for a in answers}) == 1
    assert answers[0].exhaustive


def test_roles_and_shared_state(tmp_path: Path) -> None:
    """A process that the view names without saying which is any of the role that has the state."""
    text = """
protocol Roles {
  message GO
  shared state turn : 0..7 = 0
  role client(2) { state wishes : 0..3 = 0  upon condition wishes < 3 { wishes := wishes + 1 } }
  role server(1) {
    state load : 0..3 = 0
    upon condition turn < 7 and load < 3 { turn := turn + 1  load := load + 1 }
  }
  property low : always forall s in server: s.load <= 3
}
check c of Roles { view s.load, turn  prove low }
"""
    of = system(text)
    assert of.view is not None and len(of.view.hidden) == 1
    for engine in (reference, native):
        assert engine.explore(of, Limits()).distinct_states == 4
    assert compare(of).all


@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        ("view p.most prove few", "C050"),
        ("view correct(p1) prove few", "C050"),
        ("view always p1.done prove few", "C050"),
        ("view p.nothing prove few", "N002"),
        ("view p.done prove ends", "C051"),
    ],
)
def test_what_a_view_can_not_have(clauses: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        report(tmp_path, spec(clauses))
    assert [d.code for d in refused.value.diagnostics] == [code]


@pytest.mark.parametrize("wanted", ["", "--master"])
def test_a_cluster_takes_none(wanted: str, tmp_path: Path) -> None:
    """Neither as an engine of its own, nor as that to which a large search is handed over."""
    more = {"cluster": Cluster("local[1]")} if wanted else {"engine": "spark"}
    with pytest.raises(SpecError) as refused:
        report(tmp_path, spec("view p.done prove few"), **{"engine": "auto", **more})
    assert [d.code for d in refused.value.diagnostics] == ["E049"]


def test_a_proof_takes_none(tmp_path: Path) -> None:
    path = tmp_path / "proof.bcast"
    path.write_text(spec("view p.done prove few"), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        prove_check(str(path), None, Options())
    assert [d.code for d in refused.value.diagnostics] == ["C031"]


def test_a_counterfactual_is_asked_without_the_view(tmp_path: Path) -> None:
    """What an explanation says of other runs is said of all of them."""
    found = report(tmp_path, spec(f"{SOUND} faults crash <= 1 prove short"), explain=10.0)
    plain = report(tmp_path, spec("faults crash <= 1 prove short"), explain=10.0)
    traces = [r.verdicts[0].trace for r in (found, plain)]
    assert traces[0] is not None and traces[1] is not None
    assert traces[0].length == traces[1].length


def test_an_audit_compares_nothing_under_a_view(tmp_path: Path) -> None:
    """Of a view that is not sound another search may see something else: no error of the tool."""
    text = spec("view p.done, p.tries > 0 prove never")
    found = report(tmp_path, text, audit=True, reduce="symmetry")
    assert found.reduced.used == ("symmetry",)
    assert found.audit is not None and found.audit.said == "nothing was compared"
