"""Questions about chance, from a check to its verdict.

Oracles: small cases that are worked out by hand, and the published values of PRISM's case study of
Aspnes and Herlihy's shared coin (Kwiatkowska, Norman, Segala, CAV 2001; prismmodelchecker.org).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import checker
from checker.diagnostics import SpecError
from checker.results.chance import Adversary
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.session.pipeline import Options, run_check

ROOT = Path(__file__).resolve().parents[2]
COIN = """
protocol Coin {
  state side : enum { none_yet, heads, tails } = none_yet
  upon condition side == none_yet as tosses {
    choose s by chance { heads: 1/3, tails: 2/3 }
    side := s
  }
  upon condition side == tails as again { if flip() { side := heads } }
  property all_heads "All heads." : eventually forall p in Proc: p.side == heads
}
"""


def report_on(path: Path, clauses: str, protocol: str = COIN, engine: str = "native") -> Report:
    path.write_text(f"{protocol}\ncheck c of Coin {{ {clauses} }}\n", encoding="utf-8")
    return checker.check(str(path), "c", engine=engine)


def verdict_on(path: Path, question: str, **more: str) -> PropertyVerdict:
    (found,) = report_on(path, f"n = 2  prove {question}", **more).verdicts
    return found


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("question", "word", "exact"),
    [
        ("almost surely all_heads", Word.HOLDS, "1"),
        ("almost surely eventually p1.side == tails", Word.VIOLATED, "2/3"),
        ("almost surely forall p in Proc: eventually p.side == heads", Word.HOLDS, "1"),
        ("chance of eventually p1.side == tails at most 2/3", Word.HOLDS, "2/3"),
        ("chance of eventually p1.side == tails at most 1/2", Word.VIOLATED, "2/3"),
        ("chance of eventually p1.side == tails at least 2/3", Word.HOLDS, "2/3"),
        ("chance of always p1.side != tails at least 1/3", Word.HOLDS, "1/3"),
        # p1 sees heads before p2 has tossed: the adversary decides who tosses first.
        ("chance of p2.side == none_yet until p1.side == heads at least 1/3", Word.VIOLATED, "0"),
        (
            "chance of p2.side == none_yet until p1.side == heads at least 1 for some adversary",
            Word.HOLDS,
            "1",
        ),
        ("chance of all_heads within 2 steps at most 1/9", Word.HOLDS, "1/9"),
        ("chance of all_heads within 2 steps at least 1/9", Word.HOLDS, "1/9"),
        # The adversary tosses both, and then has one step for one of the two again.
        ("chance of all_heads within 3 steps at most 1/3", Word.HOLDS, "1/3"),
        ("chance of eventually always p1.side == heads at least 1", Word.HOLDS, "1"),
    ],
)
def test_small_cases(tmp_path: Path, engine: str, question: str, word: Word, exact: str) -> None:
    found = verdict_on(tmp_path / "a.bcast", question, engine=engine)
    assert found.word is word
    assert found.chance is not None
    assert found.chance.exact == exact


def test_it_is_said_that_the_interpreter_computes(tmp_path: Path) -> None:
    """A loop with coins is none of the native engine's systems; ``auto`` takes the other one."""
    loop = COIN.replace(
        "choose s by chance", "for i in (1..2) { if flip() { skip } }\n    choose s by chance"
    )
    found = verdict_on(
        tmp_path / "a.bcast", "almost surely all_heads", protocol=loop, engine="auto"
    )
    assert found.word is Word.HOLDS
    assert found.reason.endswith("; by the interpreter, which is slow: a loop makes choices")


def test_where_only_fairness_makes_it_sure(tmp_path: Path) -> None:
    """A coin that may be tossed need never be."""
    may = COIN.replace("upon condition side == none_yet", "may upon condition side == none_yet")
    found = verdict_on(tmp_path / "a.bcast", "almost surely all_heads", protocol=may)
    assert found.word is Word.VIOLATED
    assert found.chance is not None
    assert found.chance.exact == "0"


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("question", "word", "exact"),
    [
        # A toss shows heads with 1/3, each later one with 1/2: 1 + 2/3 * 2.
        ("expected steps until p1.side == heads at most 7/3", Word.HOLDS, "7/3"),
        ("expected steps until p1.side == heads at most 2", Word.VIOLATED, "7/3"),
        ("expected steps of again until p1.side == heads at most 4/3", Word.HOLDS, "4/3"),
        ("expected steps until p1.side == heads at least 7/3", Word.HOLDS, "7/3"),
    ],
)
def test_expected_steps(tmp_path: Path, engine: str, question: str, word: Word, exact: str) -> None:
    path = tmp_path / "a.bcast"
    (found,) = report_on(path, f"n = 1  prove {question}", engine=engine).verdicts
    assert found.word is word
    assert found.chance is not None
    assert found.chance.exact == exact


def test_an_infinite_expected_value_is_said_with_where_the_adversary_stays(tmp_path: Path) -> None:
    may = COIN.replace("upon condition side == tails", "may upon condition side == tails")
    question = "expected steps until p1.side == heads at most 9"
    found = verdict_on(tmp_path / "a.bcast", question, protocol=may)
    assert found.word is Word.VIOLATED
    assert "infinite under the worst adversary" in found.reason
    assert "E068" in found.reason
    assert found.chance is not None
    assert found.chance.digits == found.chance.upper == "infinite"
    assert all("tails" in state for state in found.chance.endless)


def test_an_expected_verdict_is_met_or_not(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    assert (
        report_on(path, "n = 2 expect almost surely eventually p1.side == tails violated").exit_code
        == 0
    )
    assert report_on(path, "n = 2 expect almost surely all_heads violated").exit_code == 1
    assert report_on(path, "n = 2 prove almost surely eventually p1.side == tails").exit_code == 1


def test_an_engine_without_chance_leaves_it_unknown(tmp_path: Path) -> None:
    report = report_on(
        tmp_path / "a.bcast", "n = 1 prove almost surely all_heads", engine="symbolic"
    )
    assert [v.word for v in report.verdicts] == [Word.UNKNOWN]
    assert report.exit_code == 3


def adversary(found: PropertyVerdict) -> Adversary:
    assert found.chance is not None and found.chance.adversary is not None
    return found.chance.adversary


def test_the_adversary_is_a_tree_whose_branches_sum_to_one(tmp_path: Path) -> None:
    from fractions import Fraction

    found = adversary(
        verdict_on(tmp_path / "a.bcast", "chance of eventually p1.side == tails at most 1/2")
    )
    assert found.kind == "worst"
    first = found.tree[0]
    assert first.steps == ("p1: tosses",)
    assert [(b.probability, b.shows) for b in first.branches] == [
        ("2/3", "s = tails: p1.side = tails"),
        ("1/3", "s = heads: p1.side = heads"),
    ]
    assert [found.tree[b.then].ends for b in first.branches] == ["reached", "never"]
    for visit in found.tree:
        assert not visit.branches or sum(Fraction(b.probability) for b in visit.branches) == 1


@pytest.mark.parametrize("name", ["two", pytest.param("four", marks=pytest.mark.slow)])
def test_the_shared_coin_has_the_published_values(name: str) -> None:
    report = checker.check(str(ROOT / "specs/chance/shared_coin.bcast"), name)
    assert report.exit_code == 0
    assert {v.chance.exact for v in report.verdicts if v.chance is not None} == {
        "two": {"1", "49/128", "13/120", "75", "48"},
        "four": {"325/1024", "170112531/577765376", "363", "192"},
    }[name]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2/3", "2/3"),
        ("1 - 1/3", "2/3"),
        ("1 - n/4 + 1/(n + 1) - 1/6", "2/3"),
        ("2 * 1/3", "2/3"),
    ],
)
def test_a_bound_is_a_sum_of_fractions(tmp_path: Path, written: str, value: str) -> None:
    """The chance is 2/3, so both bounds hold only of this number."""
    goal = "chance of eventually p1.side == tails"
    for sense in ("at least", "at most"):
        found = verdict_on(tmp_path / "a.bcast", f"{goal} {sense} {written}")
        assert found.word is Word.HOLDS
    weighed = COIN.replace("{ heads: 1/3, tails: 2/3 }", f"{{ heads: 1/3, tails: {written} }}")
    n = "protocol Coin(k: Nat)", "  state side"
    made = (
        weighed.replace("protocol Coin", n[0]).replace("n/4", "k/4").replace("(n + 1)", "(k + 1)")
    )
    report = report_on(tmp_path / "b.bcast", f"n = 2  k = 2  prove {goal} at least {value}", made)
    assert [v.word for v in report.verdicts] == [Word.HOLDS]


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ("at least -1/2", "E065", "-1/2 is not a probability"),
        ("at most - 1", "E065", "-1 is not a probability"),
        ("at most 1 - 3/2", "E065", "-1/2 is not a probability"),
        ("at most 1/0", "E065", "divides by zero"),
        ("at most 0.5", "S001", "write a probability as a fraction, such as `1/2`"),
        ("within 3 steps", "S001", "`at least` or `at most`"),
        ("within 0 - 1 steps at most 1", "E065", "-1 is not a number of steps"),
    ],
)
def test_a_bad_bound_is_diagnosed(tmp_path: Path, written: str, code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        verdict_on(tmp_path / "a.bcast", f"chance of all_heads {written}")
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert said in " ".join((found.message, found.hint, found.expected))


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("question", "exact"),
    [
        # A toss, and k tosses more: 1 - 2/3 * 2^-k.
        ("chance of eventually p1.side == heads within 0 steps of again at least 1/3", "1/3"),
        ("chance of eventually p1.side == heads within 2 steps of again at least 5/6", "5/6"),
        ("chance of always p1.side != heads within 2 steps of again at most 1/6", "1/6"),
    ],
)
def test_within_steps_of_a_handler(tmp_path: Path, engine: str, question: str, exact: str) -> None:
    clauses = f"n = 1  prove {question}"
    (found,) = report_on(tmp_path / "a.bcast", clauses, engine=engine).verdicts
    assert found.word is Word.HOLDS
    assert found.chance is not None and found.chance.exact == exact


def test_steps_of_no_handler_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no handler is called `agin`"):
        verdict_on(tmp_path / "a.bcast", "chance of all_heads within 2 steps of agin at least 1/2")


MAY = COIN.replace("upon condition side", "may upon condition side").replace(
    "  property",
    "  state turns : 0..1 = 0\n"
    "  upon condition side == tails as turns_around { turns := 1 - turns }\n  property",
)


def test_an_adversary_that_idles_shows_what_then_happens_forever(tmp_path: Path) -> None:
    report = report_on(
        tmp_path / "a.bcast",
        "n = 1  prove almost surely all_heads"
        "  prove chance of eventually always p1.side == tails at most 1/2",
        MAY,
    )
    idle, turning = (adversary(found) for found in report.verdicts)
    assert [(v.ends, v.again) for v in idle.tree] == [("never", ("nothing more happens",))]
    forever = [v for v in turning.tree if v.ends == "reached"]
    assert [v.again for v in forever] == [("p1: turns_around",)]


def test_a_coin_that_is_taken_back_is_underlined(tmp_path: Path) -> None:
    taken = COIN.replace("side := s", "require s == heads\n    side := s")
    with pytest.raises(SpecError) as caught:
        report_on(tmp_path / "a.bcast", "n = 1 prove almost surely all_heads", taken, "reference")
    (found,) = caught.value.diagnostics
    assert found.code == "E067" and found.span is not None
    assert (found.span.line, found.span.column, found.span.end_column) == (5, 5, 11)


def test_the_decision_process_is_written_for_storm(tmp_path: Path) -> None:
    out = tmp_path / "coin.drn"
    asked = "prove almost surely all_heads prove chance of p1.side == tails until p1.side == heads"
    path = tmp_path / "a.bcast"
    path.write_text(f"{COIN}\ncheck c of Coin {{ n = 1 {asked} at most 1 }}\n", encoding="utf-8")
    options = Options(drn_out=str(out))
    assert run_check(str(path), "c", options).exit_code == 0
    states = [line for line in out.read_text().splitlines() if line.startswith("state")]
    assert states == ["state 0 init", "state 1 goal1 goal2", "state 2 until2"]
    assert "\t\t1 : 1/3" in out.read_text().splitlines()


def test_a_process_that_is_not_written_is_said_not_to_be(tmp_path: Path) -> None:
    out, path = tmp_path / "coin.drn", tmp_path / "a.bcast"
    clauses = "n = 1  bound p1.side != tails  prove almost surely all_heads"
    path.write_text(f"{COIN}\ncheck c of Coin {{ {clauses} }}\n", encoding="utf-8")
    (verdict,) = run_check(str(path), "c", Options(drn_out=str(out))).verdicts
    assert verdict.word is Word.UNKNOWN and not out.exists()
    assert f"nothing is written to `{out}`" in verdict.reason
