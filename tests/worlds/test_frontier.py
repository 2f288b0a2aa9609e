"""``bivalence frontier``: how far a check holds, and the formula of the boundary."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checker import resources
from checker.cli.main import main
from checker.results.frontier import Boundary
from checker.words.frontier import shape_text
from checker.worlds.formula import Formula, fits
from tests.documents import validator

QUORUM = """\
protocol Quorum(need: Nat) {
  message ACK
  state got : set<Proc> = {}
  upon init { send ACK to all }
  upon receive ACK from p { got += p }
  property enough "Each correct process hears of so many others." :
    forall p in Proc: correct(p) => eventually #p.got >= need
}
check c of Quorum { n = 3  need = 2  f = 1  faults crash <= f  prove enough }
"""


def asked(path: Path, text: str, *words: str) -> tuple[dict[str, Any], int]:
    path.write_text(text, "utf-8")
    return run(str(path), path.with_suffix(".json"), *words)


def run(name: str, out: Path, *words: str) -> tuple[dict[str, Any], int]:
    code = main(["frontier", name, "--jobs", "1", "-q", "--json", str(out), *words])
    document = json.loads(out.read_text("utf-8"))
    validator("frontier").validate(document)
    assert document["exit_code"] == code
    return (document["reports"] or [{}])[0], code


def test_how_many_can_be_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of `n` processes `need` are heard of exactly where no more than `n - need` crash: each side
    of the boundary was run, and each failing point has its run."""
    page = tmp_path / "p.html"
    words = ("--over", "n=2..4,f=0..3", "--html", str(page))
    report, code = asked(tmp_path / "p.bcast", QUORUM, *words)
    assert code == 0 and report["harder"] == ["f"]
    (enough,) = report["properties"]
    (boundary,) = enough["boundaries"]
    assert boundary["formula"] == "n > f + 1" and boundary["up_to"] == "n = 4"
    assert not boundary["proved"] and not enough["contradictions"]
    for cell in enough["cells"]:
        n, f = int(cell["settings"]["n"]), int(cell["settings"]["f"])
        if cell["known"] == "impossible":
            continue
        assert (cell["known"] == "holds") == (n - f >= 2), cell["settings"]
        if cell["known"] == "violated" and not cell["inferred"]:
            assert cell["trace"]["verdict"] == "violated" and cell["steps"] is not None
        if n - f in (1, 2):
            assert not cell["inferred"], "both sides of the boundary were run"
    out = capsys.readouterr().out
    assert "boundary: n > f + 1 (enumerated up to n = 4)" in out
    assert max(map(len, out.splitlines())) <= 120
    text = page.read_text("utf-8")
    assert 'class="boundary dashed"' in text and "<svg" in text


def test_a_world_is_a_table_of_its_own(tmp_path: Path) -> None:
    words = ("--over", "f=0..1", "--over", "links={perfect,lossy}")
    report, _ = asked(tmp_path / "p.bcast", QUORUM, *words)
    shapes = {b["world"]: b["shape"] for b in report["properties"][0]["boundaries"]}
    assert shapes == {"--set links=perfect": "everywhere", "--set links=lossy": "nowhere"}


def test_what_is_vacuous_does_not_count(tmp_path: Path) -> None:
    """Where nobody crashes a handler never runs: neither side of the boundary has that point."""
    text = """\
protocol D {
  uses fd : FailureDetector
  state dead : set<Proc> = {}
  upon fd.suspect(p) { dead += p }
  property told "Who crashes is known." : forall p in Proc: correct(p) => eventually #p.dead >= 0
}
check c of D { n = 2  f = 1  faults crash <= f  detector P  prove told }
"""
    report, code = asked(tmp_path / "p.bcast", text, "--over", "f=0..1")
    known = {c["settings"]["f"]: c["known"] for c in report["properties"][0]["cells"]}
    assert code == 0 and known == {"0": "vacuous", "1": "holds"}


def test_what_is_not_monotone_is_loud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A protocol that uses `f` may hold again where it is larger: that is no boundary."""
    text = QUORUM.replace("#p.got >= need", "(#p.got >= need or f == 2)")
    report, _ = asked(tmp_path / "p.bcast", text, "--over", "f=0..2")
    (enough,) = report["properties"]
    assert enough["contradictions"] == []
    text = QUORUM.replace("#p.got >= need", "(#p.got >= 3 or f == 2)").replace("f = 1", "f = 0")
    report, _ = asked(tmp_path / "q.bcast", text, "--over", "f=0..2")
    (enough,) = report["properties"]
    assert enough["contradictions"] == [{"fails": "--set f=1", "holds": "--set f=2"}]
    assert "NOT MONOTONE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("axes", "code"),
    [
        ("n=2..4", "E150"),
        ("n=2..9,f=0..99", "E151"),
        ("m=1..2,f=0..1", "E003"),
        ("f=0..", "E031"),
    ],
)
def test_bad_grids(
    axes: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(QUORUM, "utf-8")
    assert main(["frontier", str(path), "-q", "--over", axes]) == 2
    assert code in capsys.readouterr().err


def test_a_property_that_is_violated_here_has_a_boundary_too(tmp_path: Path) -> None:
    text = QUORUM.replace("need = 2", "need = 3").replace("prove enough", "expect enough violated")
    report, _ = asked(tmp_path / "p.bcast", text, "--over", "f=0..1")
    (enough,) = report["properties"]
    assert [(b["shape"], b["points"]) for b in enough["boundaries"]] == [("points", ["f = 0"])]


def test_a_larger_size_that_fails_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = QUORUM.replace("correct(p) => eventually #p.got >= need", "always #p.got <= need + 1")
    report, _ = asked(tmp_path / "p.bcast", text, "--over", "n=3..4,f=0..1")
    (enough,) = report["properties"]
    (boundary,) = enough["boundaries"]
    assert boundary["shape"] == "none" and boundary["formula"] == ""
    assert boundary["fall"] == {"holds": "n = 3, f = 0", "fails": "n = 4, f = 0"}
    said = " ".join(capsys.readouterr().out.split())
    assert "it holds at n = 3, f = 0, and fails at n = 4, f = 0" in said


def test_a_red_check_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(QUORUM.replace("need = 2", "need = 3"), "utf-8")
    assert main(["frontier", str(path), "-q", "--over", "f=0..1"]) == 2
    assert "E149" in capsys.readouterr().err


# ---- formulas -----------------------------------------------------------------------------------


@pytest.mark.every
@pytest.mark.parametrize("numbers", [(1, 3, 0), (1, 2, 0), (1, 1, 1), (2, 5, -1)])
def test_the_least_integers_that_fit(numbers: tuple[int, int, int]) -> None:
    formula = Formula(*numbers)
    grid = [(n, f) for n in range(1, 16) for f in range(5)]
    good = [p for p in grid if formula.holds(*p)]
    assert fits(good, [p for p in grid if p not in good])[0] == formula


def test_a_boundary_off_by_one_fits_another_formula() -> None:
    grid = [(n, f) for n in range(1, 10) for f in range(4)]
    good = [p for p in grid if p[0] > 3 * p[1]]
    bad = [p for p in grid if p not in good]
    moved = [(3, 1), *good]
    assert Formula(1, 3, 0) not in fits(moved, [p for p in bad if p != (3, 1)])
    assert fits(good, []) == [] and fits([], bad) == []
    assert fits([(1, 0), (3, 0)], [(2, 0)]) == []


def test_what_the_points_do_not_tell_apart_is_named() -> None:
    found = fits([(3, 1), (2, 0)], [(2, 1)])
    assert len(found) > 1 and all(f.holds(3, 1) and not f.holds(2, 1) for f in found)
    assert Formula(2, 1, -3).text("n", "f") == "2 * n > f - 3"


# ---- the library --------------------------------------------------------------------------------

HEADER = re.compile(r"//\s+Frontier of `(\w+)` over `([^`]+)`:\s+`([^`]+)`")
FILES = sorted(
    path for path in resources.specs().rglob("*.bcast") if HEADER.search(path.read_text("utf-8"))
)


def test_some_headers_state_a_frontier() -> None:
    assert {path.stem for path in FILES} >= {"uniform_majority_ack", "wait_for_all"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_headers_state_what_is_found(path: Path, tmp_path: Path) -> None:
    """What a header says is the boundary of the properties that have one; the others hold at every
    point."""
    found = HEADER.search(path.read_text("utf-8"))
    assert found is not None
    check, axes, stated = found.groups()
    report, _ = run(f"{path}::{check}", tmp_path / "f.json", "--over", axes)
    every = [each for p in report["properties"] for each in p["boundaries"]]
    said = {shape_text(msgspec.convert(each, Boundary)) for each in every}
    assert not any(p["contradictions"] for p in report["properties"])
    assert said - {"holds at every point"} == {stated}
