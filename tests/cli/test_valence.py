"""``bivalence valence``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker import resources
from checker.cli.commands import run
from checker.cli.valence_chapters import write_chapters
from checker.engines.valence import ValenceUnknown
from checker.render.html.gallery import index_of
from checker.valence import strips
from tests.documents import only_report, validator

LEADER = f"{resources.specs() / 'consensus' / 'leader.bcast'}::leader_crash_one"
IMPATIENT = f"{resources.specs() / 'commit' / 'two_phase_commit.bcast'}::no_fault"


def test_the_corners_the_inputs_and_the_run_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["valence", LEADER]) == 0
    said = capsys.readouterr().out
    assert "termination   given up  an admissible run never decides" in said
    assert "differs in p1 alone" in said
    assert "Without p1 nothing can be" in " ".join(said.split())
    assert "{} " in said  # the strip


def test_who_holds_the_decision_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["valence", IMPATIENT]) == 0
    said = capsys.readouterr().out
    assert "c1 holds the decision: without it nothing can be decided." in said
    assert "{1}    after: c1 receives VOTE(1) from p2" in said


@pytest.mark.parametrize("columns", [80, 120])
def test_it_fits(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(["valence", LEADER]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_the_document_fits_its_schema(tmp_path: Path) -> None:
    out = tmp_path / "valence.json"
    assert run(["valence", IMPATIENT, "-q", "--json", str(out)]) == 0
    document = only_report(out.read_text(encoding="utf-8"))
    validator("valence").validate(json.loads(out.read_text(encoding="utf-8")))
    assert document["starts"][3]["open"] == ["0", "1"]
    assert document["critical"][0]["holder"] == "c1"


def test_a_page_has_pictures_and_asks_for_nothing_from_outside(tmp_path: Path) -> None:
    out = tmp_path / "valence.html"
    assert run(["valence", LEADER, "-q", "--html", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    for part in ("corners", "inputs", "levels", "hook", "never"):
        assert f'<section id="{part}">' in page
    for number, kind in enumerate(("{0}", "{1}", "{}")):
        assert f'<article id="nearest-{number}">' in page
        assert f"The nearest state in which <code>{kind}</code> can be decided" in page
        assert f'<a href="#nearest-{number}"><rect' in page
    assert page.count("<svg") == 3 + 3
    assert 'href="http' not in page and 'src="http' not in page


def test_check_says_what_is_open_after_each_step_of_a_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The run is the one that the search found, and its states those of the same steps."""
    out = tmp_path / "trace.json"
    assert run(["check", LEADER, "--valence", "--no-explain", "--trace-out", str(out)]) == 0
    trace = json.loads(out.read_text(encoding="utf-8"))
    opened = [each["values"] for each in trace["still_open"]]
    assert len(opened) == len(trace["steps"])
    headlines = [step["headline"] for step in trace["steps"]]
    crash = next(i for i, said in enumerate(headlines) if "p1 crashes" in said)
    assert [bool(values) for values in opened] == [i < crash for i in range(len(opened))]
    capsys.readouterr()
    assert run(["view", str(out), "--html", str(tmp_path / "page.html")]) == 0
    assert "{0}" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_check_without_decisions_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{resources.specs() / 'broadcast' / 'eager_reliable.bcast'}::crash_one"
    assert run(["check", spec, "--valence"]) == 2
    said = capsys.readouterr().err
    assert "error[E060]" in said and "--of deliver" in said


def test_what_is_not_known_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["valence", LEADER, "--max-states", "20"]) == 3
    assert "UNKNOWN  the limit of 20 states was reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("of", "code"),
    [("decided", "E061"), ("{ x for p in Proc }", "N002"), ("{1", "S003"), ("{1}", "E062")],
)
def test_what_can_not_be_decided_is_refused(
    of: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["valence", LEADER, "--of", of]) == 2
    assert f"error[{code}]" in capsys.readouterr().err


def test_a_set_in_the_words_of_the_spec_is_what_its_members_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    documents = []
    for number, of in enumerate(("decide", "{ x for p in Proc, x in decided(p) }")):
        out = tmp_path / f"{number}.json"
        assert run(["valence", IMPATIENT, "-q", "--of", of, "--json", str(out)]) == 0
        documents.append(only_report(out.read_text(encoding="utf-8")))
    capsys.readouterr()
    for key in ("states", "starts", "levels", "critical_states", "blocking", "non_uniform"):
        assert documents[0][key] == documents[1][key]


def test_an_engine_that_keeps_no_graph_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["valence", LEADER, "--engine", "symbolic"]) == 2
    assert "error[E007]" in capsys.readouterr().err


def test_only_the_written_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["valence", LEADER, "-q", "--inputs", "written"]) == 0
    said = capsys.readouterr().out
    assert "as written" in said
    assert "nontriviality unknown" in said


def test_explore_says_what_is_open_after_each_choice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("p1 crashes\nq\n"))
    assert run(["explore", LEADER, "--valence", "--no-diagram"]) == 0
    said = capsys.readouterr().out
    assert "p1 crashes   {}" in said
    assert "p2 crashes   {0}" in said
    assert said.index("still open: {0}") < said.index("still open: {}")


def test_the_gallery_has_a_chapter_for_each_step_of_the_proof(tmp_path: Path) -> None:
    files = [LEADER, IMPATIENT, f"{resources.specs() / 'consensus' / 'paxos.bcast'}::duel"]
    specs = [Path(name.partition("::")[0]) for name in files]
    found = write_chapters(specs, tmp_path, 60.0)
    titles = ["The adjacent inputs", "The hook", "The run that never decides"]
    assert [chapter.title for chapter in found] == titles
    index = index_of((), (), "steps", found)
    for chapter in found:
        page, _, part = chapter.page.partition("#")
        assert f'id="{part}"' in (tmp_path / page).read_text(encoding="utf-8")
        assert f'href="{chapter.page}"' in index
    assert write_chapters(specs[:1], tmp_path, 60.0) == found[:1]


def test_a_report_stays_where_valence_is_not_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValenceUnknown("nobody knows")

    monkeypatch.setattr(strips, "compute", fails)
    assert run(["check", LEADER, "--valence"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the decisions still possible in these runs are not known: nobody knows" in said
    assert "as expected" in said


def test_a_sign_leads_to_the_first_critical_state_of_its_level_and_each_is_told_once(
    tmp_path: Path,
) -> None:
    page, document = tmp_path / "valence.html", tmp_path / "valence.json"
    spec = f"{resources.specs() / 'commit' / 'two_phase_commit.bcast'}::coordinator_or_participant"
    assert run(["valence", spec, "-q", "--html", str(page), "--json", str(document)]) == 0
    critical = only_report(document.read_text(encoding="utf-8"))["critical"]
    told = [
        json.dumps([[step["headline"] for step in each["trace"]["steps"]], each["branches"]])
        for each in critical
    ]
    assert told and len(told) == len(set(told))
    text, depths = page.read_text(encoding="utf-8"), [len(c["trace"]["steps"]) for c in critical]
    for number, depth in enumerate(depths):
        assert (f'<a href="#hook-{number}"><' in text) == (depths.index(depth) == number)
