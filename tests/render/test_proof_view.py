"""Reports on proofs, and on what holds for so many steps, as text and as JSON."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from checker.formats.json_format import report_to_json
from checker.records import replace
from checker.render.terminal.report import report_view
from checker.results.proof import AutomatonSize, Proof, Weakened
from checker.results.verdict import Expected, PropertyVerdict, Report, Word, meets
from tests.documents import validator

SCOPE = "every n, T, f with n > 3 * T and f <= T"
PROVED = PropertyVerdict(
    "relay", "…", Word.PROVED, "holds", "no run violates it", certificate="asked twice", queries=4
)
PROOF = Proof(
    scope=SCOPE,
    methods=("segments between guards",),
    automaton=AutomatonSize(6, 9, 4),
    condition="n > 3 * T and f <= T",
    sufficient=True,
    weakened=(Weakened("n >= 3 * T and f <= T", "relay", {"n": 3, "T": 1, "f": 1}),),
    queries=7,
    seconds=0.25,
)
FOR_ALL = Report(
    "echo.bcast", "every", {}, "symbolic", False, (PROVED,), exhaustive=True, proof=PROOF
)
BOUNDED = Report(
    "echo.bcast",
    "four",
    {"n": 4},
    "symbolic",
    False,
    (PropertyVerdict("relay", "…", Word.BOUNDED, None, "nothing found", up_to=12),),
    depth=12,
    stopped="the depth limit of 12 was reached",
)


def text(report: Report) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(report_view(report))
    return captured.get()


def test_a_proof_says_what_it_is_about_and_what_it_took() -> None:
    said = text(FOR_ALL)
    assert f"PROVED for {SCOPE}" in said
    assert "6 locations, 9 rules, 4 guards" in said
    assert "7 queries to z3, 0.25 s" in said
    assert "relay: asked twice" in said
    assert "distinct states" not in said


def test_the_assumption_on_sizes_is_enough_and_tight() -> None:
    said = " ".join(text(FOR_ALL).split())
    assert "n > 3 * T and f <= T is enough and tight" in said
    assert "with n >= 3 * T and f <= T: relay fails (n=3, T=1, f=1)" in said
    loose = replace(PROOF, weakened=(Weakened("n >= 3 * T"), Weakened("true", reason="gave up")))
    said = " ".join(text(replace(FOR_ALL, proof=loose)).split())
    assert "tight" not in said
    assert "with n >= 3 * T: still proved" in said and "with true: not known, gave up" in said


def test_nothing_is_no_proof() -> None:
    said = text(replace(FOR_ALL, verdicts=()))
    assert "nothing was proved" in said and "PROVED" not in said


def test_it_may_be_enough_for_some_properties() -> None:
    other = PropertyVerdict("termination", "…", Word.VIOLATED, "violated", "with n=2")
    proof = replace(PROOF, sufficient=False, weakened=())
    both = replace(FOR_ALL, verdicts=(PROVED, other), proof=proof)
    assert "is enough for relay, NOT enough for termination" in " ".join(text(both).split())
    alone = replace(both, verdicts=(other,))
    assert "f <= T is NOT enough for termination" in " ".join(text(alone).split())


@pytest.mark.parametrize("sufficient", [False, None])
def test_what_is_not_enough_is_never_tight(sufficient: bool | None) -> None:
    assert not replace(PROOF, sufficient=sufficient).tight
    assert not replace(PROOF, weakened=()).tight


def test_what_holds_for_some_steps_is_no_proof() -> None:
    said = text(BOUNDED)
    assert "HOLDS UP TO 12" in said
    assert "all runs of up to 12 steps" in said
    assert "NOT exhaustive" in said
    assert BOUNDED.exit_code == 3


def test_what_is_proved_holds_and_what_is_bounded_need_not() -> None:
    assert meets(Word.PROVED, "holds") and not meets(Word.BOUNDED, "holds")
    assert not meets(Word.PROVED, "violated") and not meets(Word.HOLDS, "vacuous")
    assert FOR_ALL.exit_code == 0
    expected = (Expected("relay", "holds", "holds up to 12", False),)
    assert replace(BOUNDED, expectations=expected).exit_code == 3
    bounded = replace(BOUNDED.verdicts[0], expected="holds")
    assert replace(BOUNDED, verdicts=(bounded,)).exit_code == 3


@pytest.mark.parametrize("report", [FOR_ALL, BOUNDED], ids=["proof", "bounded"])
def test_documents_follow_the_schema(report: Report) -> None:
    document = report_to_json(report)
    validator("report", "report").validate(document)
    assert json.loads(json.dumps(document)) == document


def test_a_document_tells_of_the_proof() -> None:
    document = report_to_json(FOR_ALL)
    assert document["proof"]["tight"] is True
    assert document["proof"]["weakened"][0]["numbers"] == {"n": 3, "T": 1, "f": 1}
    assert document["verdicts"][0]["certificate"] == "asked twice"
    assert report_to_json(BOUNDED)["proof"] is None
    assert report_to_json(BOUNDED)["verdicts"][0]["up_to"] == 12
