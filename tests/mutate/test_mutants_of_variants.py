"""Mutants of what a variant adds or replaces, judged by its checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.language.mutation.mutants import checks_of, mutants
from tests.mutate.test_mutate_command import SPEC, judged, spec_in

VARIANTS = """\
variant Slow of Counter {
  state late : bool = false
  upon condition x == 2 and not seen as ends { late := true seen := true }
}
variant Slower of Slow { upon condition late and x < 3 as more { x := 3 } }
check slow of Slow { n = 1 prove small, done }
check slower of Slower { n = 1 prove done expect small violated }
"""


def test_a_variant_is_judged_by_its_checks(tmp_path: Path) -> None:
    path = spec_in(tmp_path, SPEC + VARIANTS)
    report = judged(path, "--every-check", "--fresh")
    kills = {
        (each["protocol"], each["what"]): {kill["check"] for kill in each["kills"]}
        for each in report["mutants"]
    }
    assert kills["Slow", "without `seen := true`"] == {"slow", "slower"}
    assert kills["Slow", "without `late := true`"] == {"slower"}
    assert kills["Slower", "without `x := 3`"] == {"slower"}
    assert kills["Counter", "without `seen := true`"] == {"one"}
    assert "is the same" not in str(report)


def test_its_lines_and_its_checks(tmp_path: Path) -> None:
    path = spec_in(tmp_path, SPEC + VARIANTS)
    before = [each.what for each in mutants(spec_in(tmp_path, SPEC))]
    path = spec_in(tmp_path, SPEC + VARIANTS)
    found = mutants(path)
    assert [each.what for each in found][: len(before)] == before, "numbers stay"
    lines = {each.line for each in found if each.protocol == "Slow"}
    assert lines == {14}
    texts = {each.protocol: {*each.variants} for each in found}
    assert texts == {"Counter": {"Slow", "Slower"}, "Slow": {"Slower"}, "Slower": set()}
    assert checks_of(path, "Slow") == {"slow": "", "slower": "Slower"}
    assert checks_of(path, "Slower") == {"slower": ""}
    assert checks_of(path, "Counter") == {"one": "", "slow": "Slow", "slower": "Slower"}


def test_one_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spec_in(tmp_path, SPEC + VARIANTS)
    (number,) = (n for n, m in enumerate(mutants(path), 1) if m.change == "without `x := 3`")
    assert main(["mutate", str(path), "-q", "--show", str(number)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"mutant {number}: Slower, line 16: without `x := 3`\n  -variant Slower")
    assert said.count("variant Slower of Slow {") == 2, "before and after"


def test_roles_that_a_variant_changes(tmp_path: Path) -> None:
    text = """\
protocol Two {
  role left(1) { state x : 0..3 = 0  upon condition x < 2 as counts { x += 1 } }
  property small "It stays small." : always forall p in left: p.x <= 2
}
variant Fast of Two {
  role left { upon condition x < 2 as counts { x := 2 } }
}
check fast of Fast { prove small }
"""
    path = spec_in(tmp_path, text)
    assert "without `x := 2`" in {m.change for m in mutants(path) if m.protocol == "Fast"}
    report = judged(path, "--fresh")
    kills = {(m["protocol"], m["what"]): m["fate"] for m in report["mutants"]}
    assert kills["Fast", "3 for 2, column 53"] == "killed"
