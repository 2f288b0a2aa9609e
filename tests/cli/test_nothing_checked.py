"""A check that checks nothing is no success; and each case of a check has the line of the check."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from checker.cli.main import main

SPEC = """protocol Once {
  message DONE
  state done = false
  upon condition not done as finishes { done := true  send DONE to all }
  upon receive DONE { skip }
  property stays : always forall p in Proc: p.done or not p.done
  property ends : eventually forall p in Proc: correct(p) => p.done
}

check c of Once {
  n = 1
  CLAUSES
}
"""


def file_with(folder: Path, clauses: str) -> Path:
    file = folder / "once.bcast"
    file.write_text(SPEC.replace("CLAUSES", clauses), encoding="utf-8")
    return file


NOTHING = SPEC.partition("  property")[0] + "}\ncheck c of Once { n = 1 }\n"


def test_a_check_of_nothing_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.bcast"
    file.write_text(NOTHING, encoding="utf-8")
    assert main(["check", str(file)]) == 4
    out = capsys.readouterr().out
    assert "no property was checked; the states were counted: add a property" in out
    assert main(["test", str(file)]) == 4
    file.write_text(NOTHING.replace("n = 1", "n = 1  expect states 3"), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    scenario = "n = 1  scenario one {\n p1: finishes\n }"
    file.write_text(NOTHING.replace("n = 1", scenario), encoding="utf-8")
    assert main(["check", str(file)]) == 0


@pytest.mark.parametrize("command", ["check", "test"])
@pytest.mark.parametrize(
    ("clauses", "options"),
    [
        ("prove stays, ends", ()),
        ("prove stays, ends  expect states 7", ()),
        ("prove ends", ("--max-states", "1")),
        ("faults crash <= 1  prove ends  expect stays violated", ()),
        ("at most 0 finishes  prove stays, ends", ()),
    ],
)
def test_each_case_has_the_line_of_its_check(
    tmp_path: Path, command: str, clauses: str, options: tuple[str, ...]
) -> None:
    file, line = file_with(tmp_path, clauses), 10
    junit, sarif = tmp_path / "a.xml", tmp_path / "a.sarif"
    main([command, str(file), "--junit", str(junit), "--sarif", str(sarif), *options])
    cases = list(Xml.parse(junit).iter("testcase"))
    assert cases
    for case in cases:
        assert case.get("file") == str(file)
        assert case.get("line") in (str(line), "4", "7"), Xml.tostring(case)
    for result in json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] in (line, 4, 7), result
