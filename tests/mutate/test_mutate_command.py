"""``bivalence mutate``: which mutants are killed, by what, and which survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.cli.main import main
from tests.documents import validator

SPEC = """\
protocol Counter {
  state x : 0..3 = 0
  state seen : bool = false
  upon condition x < 2 as counts { x := x + 1 }
  upon condition x == 2 and not seen as ends {
    seen := true
  }
  property small "It stays small." : always forall p in Proc: p.x <= 2
  property done "It ends." : forall p in Proc: eventually p.seen
}
check one of Counter { n = 1 expect small holds expect done holds }
"""
WEAK = SPEC.replace(" expect done holds", "").replace("n = 1", "n = 1 prove small")


def spec_in(folder: Path, text: str) -> Path:
    path = folder / "counter.bcast"
    path.write_text(text, "utf-8")
    return path


def judged(path: Path, *words: str, code: int = 0) -> dict[str, Any]:
    out = path.with_suffix(".json")
    assert main(["mutate", str(path), "--jobs", "1", "-q", "--json", str(out), *words]) == code
    document = json.loads(out.read_text("utf-8"))
    validator("mutation").validate(document)
    (report,) = document["reports"]
    return report


def fates(report: dict[str, Any]) -> dict[str, str]:
    return {each["what"]: each["fate"] for each in report["mutants"]}


def of_protocol(report: dict[str, Any]) -> dict[str, Any]:
    """Returns the report on the mutants of the protocol, without those of its variants."""
    return report | {"mutants": [m for m in report["mutants"] if m["protocol"] == "Counter"]}


def test_what_is_killed_and_by_what(tmp_path: Path) -> None:
    report = judged(spec_in(tmp_path, SPEC), "--every-check")
    found = fates(report)
    assert found["without `x := x + 1`"] == "killed"
    assert found["no handler `upon condition x == 2 and not seen`"] == "killed"
    kills = {each["what"]: each["kills"] for each in report["mutants"]}
    (kill,) = [k for k in kills["one less: `x < 2`"] if k["property"] == "small"]
    assert kill == {"check": "one", "property": "small", "verdict": "violated", "steps": 3}
    assert report["kills"].keys() >= {"small", "done"}
    for mutant in report["mutants"]:
        if mutant["fate"] == "killed":
            assert {k["property"] for k in mutant["kills"]} & {*report["sufficient"]}


def test_a_weaker_check_kills_fewer(tmp_path: Path) -> None:
    strong = judged(spec_in(tmp_path, SPEC))
    weak = judged(spec_in(tmp_path, WEAK))
    killed = {what for what, fate in fates(strong).items() if fate == "killed"}
    still = {what for what, fate in fates(weak).items() if fate == "killed"}
    assert still < killed
    assert weak["score"] < strong["score"]
    assert fates(weak)["no handler `upon condition x == 2 and not seen`"] == "survived"
    assert weak["unguarded"] == [6]


def test_what_can_t_be_told_apart_is_equivalent(tmp_path: Path) -> None:
    """Where no property reads `seen`, and nothing else does, a conjunct about it is still a step
    that is possible or not; a guard that is always true is not."""
    text = SPEC.replace("x == 2 and not seen", "x == 2 and not seen and x <= 3")
    found = fates(judged(spec_in(tmp_path, text)))
    assert found["without `x <= 3`"] == "equivalent here"
    assert found["one less: `x <= 3`"] == "equivalent here", "the guard is in the action's name"


@pytest.mark.slow
def test_a_mutant_that_is_a_variant_is_judged(tmp_path: Path) -> None:
    """A variant that is the same as its protocol is an error, which is none of the mutant's."""
    variant = """\
variant Endless of Counter { upon condition x == 2 and not seen as ends { skip } }
check two of Endless { n = 1 expect done violated }
"""
    alone = fates(judged(spec_in(tmp_path, SPEC)))
    assert fates(of_protocol(judged(spec_in(tmp_path, SPEC + variant)))) == alone
    assert alone["without `seen := true`"] == "killed"


LESS = """\
variant Also of Counter { state x : 0..4 = 0 }
variant Less of Also { upon condition x == 2 and not seen as ends { x := 2 seen := true } }
check also of Also { n = 1 expect done holds }
check less of Less { n = 1 expect done holds }
"""


def test_checks_of_variants_judge_what_they_inherit(tmp_path: Path) -> None:
    """And not what a variant replaces, nor a mutant that the variant can't be made of."""
    alone = fates(judged(spec_in(tmp_path, WEAK)))
    report = of_protocol(judged(spec_in(tmp_path, WEAK + LESS), "--every-check"))
    kills = {m["what"]: {kill["check"] for kill in m["kills"]} for m in report["mutants"]}
    ends = ("without `seen := true`", "no handler `upon condition x == 2 and not seen`")
    assert {alone[end] for end in ends} == {"survived"}
    assert {end: kills[end] for end in ends} == {end: {"also"} for end in ends}
    assert kills["1 for 2, column 22"] == {"one", "also", "less"}
    assert {*alone} == {*kills}


def test_a_check_of_a_variant_is_named(tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK + LESS)
    out = tmp_path / "out.json"
    assert main(["mutate", f"{path}::less", "--jobs", "1", "-q", "--json", str(out)]) == 0
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    assert report["known"] == len(judged(path)["mutants"])
    assert fates(report)["1 for 2, column 22"] == "killed"


def test_mutants_that_read_alike_are_numbered(tmp_path: Path) -> None:
    text = SPEC.replace("x == 2 and not seen", "x == 2 and x == 2 and not seen")
    found = [each["what"] for each in judged(spec_in(tmp_path, text))["mutants"]]
    assert len(set(found)) == len(found)
    assert "without `x == 2`" in found and "without `x == 2` (2)" in found


def test_a_protocol_that_no_check_is_about(tmp_path: Path) -> None:
    other = SPEC.partition("check")[0].replace("Counter", "Other")
    report = judged(spec_in(tmp_path, other + SPEC))
    lonely = [each for each in report["mutants"] if each["protocol"] == "Other"]
    assert {each["fate"] for each in lonely} <= {"survived", "stillborn"}
    assert "no check is about Other" in {each["reason"] for each in lonely}
    named = judged(spec_in(tmp_path, other + SPEC), "--sample", "3")
    assert (named["drawn"], named["seed"]) == (3, 0)


def test_only_the_protocols_of_a_check(tmp_path: Path) -> None:
    other = SPEC.replace("Counter", "Other").replace("check one", "check two")
    path = spec_in(tmp_path, SPEC + other)
    out = tmp_path / "out.json"
    main(["mutate", f"{path}::two", "--jobs", "1", "-q", "--json", str(out)])
    (report,) = json.loads(out.read_text("utf-8"))["reports"]
    assert {each["protocol"] for each in report["mutants"]} == {"Other"}


def test_several_processes_say_the_same(tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK)
    alone = judged(path)
    together = judged(path, "--jobs", "2")
    assert fates(alone) == fates(together)


def test_an_accepted_survivor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec_in(tmp_path, WEAK)
    before = judged(path)
    survivor = next(each for each in before["mutants"] if each["fate"] == "survived")
    file = tmp_path / "counter.mutants.toml"
    key = f"{survivor['protocol']}: {survivor['what']}"
    file.write_text(f"[accepted]\n'{key}' = 'not asked'\n", "utf-8")
    after = judged(path)
    assert after["score"] > before["score"]
    accepted = [each for each in after["mutants"] if each["accepted"]]
    assert {each["reason"] for each in accepted} == {"not asked"}
    for text, code in (
        ("[accepted]\n'Counter: nothing' = 'x'\n", "E126"),
        (f"[accepted]\n'{key}' = ''\n", "E125"),
        ("[refused]\n", "E125"),
        ("accepted = ", "E125"),
    ):
        file.write_text(text, "utf-8")
        assert main(["mutate", str(path), "-q"]) == 2
        said = capsys.readouterr().err
        assert code in said and "counter.mutants.toml:" in said


def test_a_check_that_is_red_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec_in(tmp_path, SPEC.replace("small holds", "small violated"))
    assert main(["mutate", str(path), "-q"]) == 2
    assert "E127" in (said := capsys.readouterr().err) and "is not as expected" in said


def test_a_check_that_is_not_decided_is_not_called_red(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = "1000000000"
    text = f"""\
protocol Counter {{
  state x : 0..{large} = 0
  upon condition x < {large} {{ x := x + 1 }}
  property small "It stays small." : always forall p in Proc: p.x <= {large}
}}
check one of Counter {{ n = 1 prove small }}
"""
    path = spec_in(tmp_path, text)
    assert main(["mutate", str(path), "-q", "--timeout", "0.5"]) == 2
    said = capsys.readouterr().err
    assert "E127" in said and "is not decided before any change" in said and "--timeout" in said


def test_nothing_to_change_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    path = resources.specs() / "broadcast" / "best_effort.bcast"
    assert main(["mutate", f"{path}::no_fault", "-q"]) == 4
    assert "there is nothing to change" in capsys.readouterr().err


def test_the_score_can_be_demanded(tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK)
    judged(path, "--score-at-least", "1")
    judged(path, "--score-at-least", "100", code=1)


def test_a_mutant_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec_in(tmp_path, SPEC)
    report = judged(path)
    number = next(m["number"] for m in report["mutants"] if m["what"] == "one less: `x < 2`")
    assert main(["mutate", str(path), "-q", "--show", str(number)]) == 0
    said = capsys.readouterr().out
    assert "-  upon condition x < 2 as counts { x := x + 1 }" in said
    assert "+  upon condition x <= 2 as counts { x := x + 1 }" in said
    assert "VIOLATED" in said
    assert main(["mutate", str(path), "-q", "--show", "999"]) == 2
