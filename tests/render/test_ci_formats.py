"""What CI systems read: JUnit XML, SARIF, annotations; nothing that fails is left out of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from checker.cli.main import main
from checker.diagnostics import Diagnostic
from checker.render.ci.github import github_of
from checker.render.ci.junit import junit_of
from checker.render.ci.outcomes import NotRun, outcomes_of
from checker.render.ci.sarif import sarif_of
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check

SPEC = """protocol Numbers(first: Proc) {
  message GO(k: 0..2)
  state x : 0..2 = 0
  upon init {
    if first == self { send GO(2) to all }
  }
  upon receive GO(k) {
    x := k
  }
  property low : always forall p in Proc: p.x <= 1
  property done : eventually forall p in Proc: correct(p) => p.x >= 1
}
check c of Numbers {
  n = 2  first = p1  prove low, done
  scenario tale { GO(1) from p1 to p2 }
}
check known of Numbers {
  n = 2  first = p1  expect low violated  expect done holds  expect states 9
}
"""
HANDLER, ASSIGNED = 7, 8


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ci") / "one, two%.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report(spec: Path) -> Report:
    return run_check(str(spec), "c", Options(engine="reference"))


@pytest.fixture(scope="module")
def known(spec: Path) -> Report:
    return run_check(str(spec), "known", Options(engine="reference"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().out


def test_each_thing_that_is_asked_is_an_outcome(report: Report, known: Report) -> None:
    assert [(o.name, o.met) for o in outcomes_of([report])] == [
        ("low", False),
        ("done", True),
        ("scenario tale", False),
    ]
    assert [(o.name, o.met) for o in outcomes_of([known])] == [
        ("low", True),
        ("done", True),
        ("expect states", False),
    ]


def test_a_violation_is_where_a_handler_made_it(report: Report, spec: Path) -> None:
    """It is violated by the step that receives 2, whose handler begins there."""
    low = outcomes_of([report])[0]
    assert low.place.file == str(spec) and low.place.line in (HANDLER, ASSIGNED)
    assert low.flow[-1][0] == low.place and "receive" in low.flow[-1][1]
    assert low.defined is not None and low.defined.line == 10
    assert low.said.startswith("VIOLATED, expected holds: low is violated")
    assert "├" in low.text, "the picture"


def test_junit_counts_what_it_lists(report: Report, known: Report) -> None:
    root = Xml.fromstring(junit_of([report, known]))
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == (
        "testsuites",
        "6",
        "3",
        "0",
    )
    suites = root.findall("testsuite")
    assert [len(suite.findall("testcase")) for suite in suites] == [3, 3]
    for suite in suites:
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    failure = suites[0].find("testcase/failure")
    assert failure is not None and "GO(2)" in (failure.text or "")


def test_what_is_undecided_is_an_error(spec: Path) -> None:
    cut = run_check(str(spec), "known", Options(engine="reference", limits=Limits(max_states=2)))
    root = Xml.fromstring(junit_of([cut]))
    assert root.findall("testsuite/testcase/error")
    assert json.loads(sarif_of([cut]))["runs"][0]["results"]
    assert "::error " in github_of([cut])


def test_junit_has_no_characters_that_xml_has_not() -> None:
    bell = NotRun("a.bcast", "c", (Diagnostic("S001", "a bell \x07 and \ud800"),))
    assert "a bell \ufffd and \ufffd" in Xml.tostring(
        Xml.fromstring(junit_of([bell])), encoding="unicode"
    )


def results(found: str) -> list[dict[str, Any]]:
    document = json.loads(found)
    assert document["version"] == "2.1.0"
    (only,) = document["runs"]
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in only["results"])
    return list(only["results"])


def test_sarif_has_an_execution_as_code_flow(report: Report, spec: Path) -> None:
    low, tale = results(sarif_of([report]))
    assert (low["ruleId"], tale["ruleId"]) == ("low", "scenario tale")
    (flow,) = low["codeFlows"]
    (thread,) = flow["threadFlows"]
    places = [step["location"]["physicalLocation"] for step in thread["locations"]]
    assert places[-1] == low["locations"][0]["physicalLocation"]
    assert places[-1]["artifactLocation"]["uri"] == spec.as_uri()
    assert places[-1]["region"]["startLine"] in (HANDLER, ASSIGNED)
    assert tale["locations"][0]["physicalLocation"]["region"]["startLine"] == 15


def test_relative_files_stay_relative(monkeypatch: pytest.MonkeyPatch, spec: Path) -> None:
    monkeypatch.chdir(spec.parent)
    found = run_check(spec.name, "c", Options(engine="reference"))
    uri = results(sarif_of([found]))[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri == {"uri": "one%2C%20two%25.bcast"}


def test_annotations_are_one_line_each(report: Report) -> None:
    lines = github_of([report]).splitlines()
    assert len(lines) == 2
    for line in lines:
        found = re.fullmatch(r"::error file=([^,]+),line=\d+,col=\d+,title=([^,:]+)::.+", line)
        assert found is not None and found[1].endswith("one%2C two%25.bcast")


def test_the_command_writes_all_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, spec: Path
) -> None:
    junit, sarif = tmp_path / "junit.xml", tmp_path / "all.sarif"
    arguments = ("--junit", str(junit), "--sarif", str(sarif), "--github", "--no-explain")
    code, out = run(capsys, "check", str(spec), "--engine", "reference", "-q", *arguments)
    assert code == 1 and out.count("\n::error ") == 3
    assert Xml.parse(junit).getroot().get("failures") == "3"
    assert len(results(sarif.read_text("utf-8"))) == 3


def test_a_file_with_an_error_is_a_result_at_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.bcast"
    broken.write_text(SPEC.replace("x := k", "y := k"), encoding="utf-8")
    junit, sarif = tmp_path / "junit.xml", tmp_path / "all.sarif"
    code, out = run(
        capsys, "check", str(broken), "--junit", str(junit), "--sarif", str(sarif), "--github"
    )
    assert code == 2 and f"::error file={broken},line=8,col=5" in out
    (error,) = Xml.parse(junit).getroot().findall("testsuite/testcase/error")
    assert "`y`" in error.get("message", "")
    (result,) = results(sarif.read_text("utf-8"))
    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 8,
        "startColumn": 5,
    }


def test_a_check_that_can_not_be_run_does_not_hide_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.bcast"
    path.write_text(
        SPEC + "check unset of Numbers { n = 2  prove low  first = p3 }\n", encoding="utf-8"
    )
    junit = tmp_path / "junit.xml"
    code, _ = run(capsys, "check", str(path), "--engine", "reference", "-q", "--junit", str(junit))
    root = Xml.parse(junit).getroot()
    assert code == 2 and len(root.findall("testsuite")) == 3, Xml.tostring(root)
    assert len(root.findall("testsuite/testcase/error")) == 1


def test_stdout_is_not_shared(capsys: pytest.CaptureFixture[str], spec: Path) -> None:
    assert run(capsys, "check", str(spec), "--github", "--json", "-")[0] == 2
    assert run(capsys, "check", str(spec), "--junit", "-", "--sarif", "-")[0] == 2


def test_all_specs_of_a_folder_go_into_one_document(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.bcast").write_text(SPEC, encoding="utf-8")
    (tmp_path / "b.bcast").write_text("protocol X {", encoding="utf-8")
    junit = tmp_path / "junit.xml"
    arguments = ("--engine", "reference", "--jobs", "1", "--junit", str(junit))
    assert run(capsys, "test", str(tmp_path), *arguments)[0] == 2
    root = Xml.parse(junit).getroot()
    names = [suite.get("name", "").rpartition("/")[2] for suite in root]
    assert names == ["a.bcast::c", "a.bcast::known", "b.bcast"]
    assert (root.get("failures"), root.get("errors")) == ("3", "1")
    assert run(capsys, "test", str(tmp_path), "--junit", "-")[0] == 2
