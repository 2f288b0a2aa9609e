"""Pages of HTML, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker import resources
from checker.cli.main import main
from checker.formats.json_format import trace_to_json
from tests.browser import runs
from tests.render.test_page import balanced

Out = pytest.CaptureFixture[str]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    file = tmp_path / "trace.json"
    document = trace_to_json(runs.found(runs.BROKEN, "crash_one"))
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def test_view_writes_a_page(trace: str, tmp_path: Path, capsys: Out) -> None:
    page = tmp_path / "page.html"
    assert main(["view", trace, "--html", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out == ""


def test_a_page_goes_to_stdout(trace: str, capsys: Out) -> None:
    assert main(["view", trace, "--html", "-"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("</html>")


def test_the_same_steps_in_the_right_protocol_stand_beside_it(trace: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    right = f"{resources.specs() / runs.RIGHT}::crash_one"
    assert main(["view", trace, "--html", str(page), "--compare", right]) == 0
    text = page.read_text(encoding="utf-8")
    assert "But only on the right p2 sends COPY(DATA(p1, a)) to p1, p2, p3." in text
    assert "no property of the check is violated" in text


def test_the_same_steps_without_the_faults_stand_beside_it(trace: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["view", trace, "--html", str(page), "--without-faults"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "no property of the check is violated" in text
    assert "on the left: p1 crashes. On the right: p" in text


def test_two_traces_go_on_one_page(trace: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["view", trace, "--html", str(page), "--compare", trace]) == 0
    assert "Both runs take the same steps." in page.read_text(encoding="utf-8")


def test_a_page_is_opened_in_a_browser(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: asked.append(url) or True)
    page = tmp_path / "page.html"
    assert main(["view", trace, "--html", str(page), "--open"]) == 0
    assert asked == [page.as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert main(["view", trace, "--open"]) == 0
    assert "no browser found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--compare", "other.json"], "--html FILE"),
        (["--without-faults"], "--html FILE"),
        (
            ["--html", "-", "--without-faults", "--compare", "other.json"],
            "only one of them is possible",
        ),
        (["--html", "-", "--compare", "other.bcast"], "name a check, as FILE::CHECK"),
        (["--html", "-", "--open"], "can't be opened"),
        (["--html", "/nowhere/at/all.html"], "there is no folder"),
        (["--html", "page.html", "--svg", "page.html"], "same file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    trace: str, more: list[str], said: str, capsys: Out
) -> None:
    assert main(["view", trace, *more]) == 2
    assert said in capsys.readouterr().err


SPEC = """
protocol Quiet implements ReliableBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
check two of Quiet {
  n = 2
  faults crash <= 1
  clients { p1 broadcasts a }
  prove no_creation
  expect no_creation holds
  expect agreement violated
}
check crash_one of Quiet {
  n = 3
  faults crash <= 1
  clients { p1 broadcasts a }
  prove no_creation
  expect no_creation holds
  expect agreement violated
}
check again of Quiet {
  n = 3
  faults crash <= 1
  clients { p1 broadcasts a }
  prove no_creation
  expect no_creation holds
  expect agreement violated
}
"""


def test_a_gallery_has_a_page_for_each_protocol_and_property(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "quiet.bcast").write_text(SPEC, encoding="utf-8")
    (tmp_path / "talk" / "wrong.bcast").write_text("protocol {", encoding="utf-8")
    folder = tmp_path / "gallery"
    assert main(["gallery", str(folder), str(tmp_path / "talk")]) == 0
    pages = sorted(file.name for file in (folder / "talk").glob("*.html"))
    assert pages == ["quiet-crash_one-agreement.html"]
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert 'href="talk/quiet-crash_one-agreement.html"' in index
    assert 'href="talk/quiet.bcast.txt"' in index
    assert "wrong.bcast" in index
    assert (folder / "talk" / "quiet.bcast.txt").read_text(encoding="utf-8") == SPEC
    assert "quiet.bcast::two" in index
    told = capsys.readouterr()
    assert "1 run, 2 checks skipped" in told.out
    assert "skipped: quiet.bcast::two: agreement holds: in every fair run" in told.err
    assert "skipped: wrong.bcast: this `{` is never closed (S003, line 1)" in told.err
    assert main(["gallery", str(folder), str(tmp_path / "talk"), "--every"]) == 0
    assert len(list((folder / "talk").glob("*.html"))) == 2
    balanced(index)


def test_a_gallery_needs_a_folder(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    assert main(["gallery", str(file)]) == 2
    assert "is a file" in capsys.readouterr().err
