"""``bivalence mutate --properties``: stronger properties that hold as well, and parts of properties
that no run distinguishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.language.load import Spec
from checker.mutate.property_mutants import property_mutants
from checker.results.mutation import STRONGER, WEAKER
from tests.documents import validator

SPEC = """\
protocol Counter {
  state x : 0..3 = 0
  state y : 0..3 = 0
  upon condition x < 2 as counts { x := x + 1 }
  property p "…" : always forall p, q in Proc: FORMULA
}
check one of Counter { n = 2 CLAUSE }
"""


def spec(formula: str, clause: str = "prove p") -> str:
    return SPEC.replace("FORMULA", formula).replace("CLAUSE", clause)


def changes(formula: str, clause: str = "prove p expect p holds") -> dict[str, str]:
    path = Path("counter.bcast")
    text = spec(formula, clause)
    path.write_text(text, "utf-8")
    module = Spec(text, str(path)).module
    return {each.mutant.change: each.mutant.kind for each in property_mutants(path, module.checks)}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("formula", "words", "kind"),
    [
        ("p.x <= 2 and p.y == 0", "without `p.y == 0`", WEAKER),
        ("p.x == 7 or p.y == 0", "without `p.x == 7`", STRONGER),
        ("p.x == 1 => p.y == 0", "without `p.x == 1`", STRONGER),
        ("p.x == 1 and q.x == 0 => p.y == 0", "without `q.x == 0`", STRONGER),
        ("p.x == 1 or q.x == 0 => p.y == 0", "without `q.x == 0`", WEAKER),
        ("not (p.x == 7 and p.y == 1)", "without `p.y == 1`", STRONGER),
        ("not (p.x == 7 or p.y == 1)", "without `p.y == 1`", WEAKER),
        ("p.x <= 2", "`<` in `p.x <= 2`", STRONGER),
        ("p.x < 3", "`<=` in `p.x < 3`", WEAKER),
        ("not p.x >= 3", "`>` in `p.x >= 3`", WEAKER),
        ("(forall r in Proc when r.x == 1: r.y == 0)", "without `r.x == 1`", STRONGER),
        ("(exists r in Proc when r.x == 1: r.y == 0)", "without `r.x == 1`", WEAKER),
        ("(exists r in Proc: r.y == 0)", "`forall` for `exists` before `r in Proc …`", STRONGER),
        ("not (exists r in Proc: r.y == 1)", "`forall` for `exists` before `r in Proc …`", WEAKER),
    ],
)
def test_polarity(formula: str, words: str, kind: str) -> None:
    clause = "expect p violated" if kind == WEAKER else "expect p holds"
    assert changes(formula, clause)[words] == kind


def test_what_is_no_known_direction_is_not_changed() -> None:
    """The domain may be empty, where `forall` is weaker."""
    assert changes("(exists k in {1, 2} when k == 3: p.x == k) or true") == {
        "without `exists k in {1, 2} when k == 3: p.x == k`": STRONGER,
        "without `true`": STRONGER,
        "without `k == 3`": WEAKER,
    }
    assert changes("(p.x == 0) == (p.y == 0 and q.y == 0)") == {}


def judged(text: str, *words: str, code: int = 0) -> dict[str, Any]:
    path = Path("counter.bcast")
    path.write_text(text, "utf-8")
    command = ["mutate", str(path), "--properties", "--jobs", "1", "-q", "--json", "out.json"]
    assert main([*command, *words]) == code
    document = json.loads(Path("out.json").read_text("utf-8"))
    validator("mutation").validate(document)
    (report,) = document["reports"]
    return report


def test_what_could_be_promised(capsys: pytest.CaptureFixture[str]) -> None:
    report = judged(spec("p.x == 2 and q.x == 0 => p.y <= 1", "prove p"))
    fates = {each["what"]: each["fate"] for each in report["mutants"]}
    assert fates["`<` in `p.y <= 1`"] == "survived"
    assert report["promised"] == [
        "p without `p.x == 2`", "p without `q.x == 0`", "p `<` in `p.y <= 1`",
    ]  # fmt: skip
    assert report["undistinguished"] == [] and report["score"] is None
    said = " ".join(capsys.readouterr().out.split())
    assert "promised p without `p.x == 2`" in said and "which is stronger" in said
    report = judged(spec("p.x == 2 or q.x <= 2", "prove p"))
    fates = {each["what"]: each["fate"] for each in report["mutants"]}
    assert fates["`<` in `q.x <= 2`"] == "killed", "it is violated"


def test_what_no_run_distinguishes(capsys: pytest.CaptureFixture[str]) -> None:
    formula = "p.x < 2 and p.y == 0"
    clause = "prove p expect p violated"
    report = judged(spec(formula, clause))
    fates = {each["what"]: each["fate"] for each in report["mutants"]}
    assert fates == {
        "without `p.x < 2`": "killed", "`<=` in `p.x < 2`": "killed",
        "without `p.y == 0`": "survived",
    }  # fmt: skip
    assert report["undistinguished"] == ["p without `p.y == 0`"] and report["promised"] == []
    report = judged(spec("p.x <= 2 and p.y == 0", "prove p"))
    weaker = [each for each in report["mutants"] if each["kind"] == WEAKER]
    assert {each["reason"] for each in weaker} == {"no check expects p violated"}
    assert weaker and capsys.readouterr()


def test_mutants_of_a_check_have_runs_that_distinguish() -> None:
    clause = "prove p  mutant m { replace x + 1 with 3  expect p violated }"
    report = judged(spec("p.x <= 2 and p.y == 0", clause))
    fates = {each["what"]: each["fate"] for each in report["mutants"]}
    assert fates["without `p.x <= 2`"] == "killed"
    assert fates["without `p.y == 0`"] == "survived"


def test_a_property_of_the_library_is_declared_again() -> None:
    text = """\
protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when m not in seen { seen += m  deliver(p, m) }
}
check c of P { n = 2  faults crash <= 1  clients { p1 broadcasts a }  prove validity, no_creation }
"""
    report = judged(text)
    fates = {(each["protocol"], each["what"]): each["fate"] for each in report["mutants"]}
    assert fates == {
        ("validity", "without `correct(p)`"): "killed",
        ("validity", "without `m in broadcast(p)`"): "killed",
    }
    words = {each["kills"][0]["verdict"] for each in report["mutants"]}
    assert words == {"violated"}


@pytest.mark.parametrize("words", [("--show", "1"), ("--score-at-least", "0"), ("--world",)])
def test_what_is_not_about_properties(words: tuple[str, ...]) -> None:
    Path("counter.bcast").write_text(spec("p.x <= 2"), "utf-8")
    assert main(["mutate", "counter.bcast", "--properties", *words]) == 2
