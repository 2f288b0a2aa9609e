"""``bivalence view`` and ``replay``: documents that are whole, changed, or no traces at all."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from checker.cli import console
from checker.cli.main import main

Out = pytest.CaptureFixture[str]

SPEC = """
interface Service { request ask(m: Msg)  indication answer(m: Msg) }
protocol Echo implements Service {
  state got : 0..2 = 0
  upon request ask(m) { send PING(m) to all }
  message PING(m: Msg)
  upon receive PING(m) from p { got := 1  answer(m) }
  property quiet "Nobody gets anything." : always forall p in Proc: p.got == 0
}
check two of Echo { n = 2  clients { p1 asks a }  expect quiet violated }
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    file = Path("echo.bcast")
    file.write_text(SPEC, encoding="utf-8")
    return file


@pytest.fixture
def trace(spec: Path, capsys: Out) -> Path:
    assert main(["check", str(spec), "-q", "--trace-out", "t.json"]) == 0
    capsys.readouterr()
    return Path("t.json")


def edit(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_trace_of_a_spec_that_is_as_it_was(trace: Path, capsys: Out) -> None:
    assert main(["view", str(trace)]) == 0
    seen = capsys.readouterr()
    assert seen.err == ""
    assert "as recorded in the trace file" in seen.out
    assert "got = 1" in seen.out
    assert main(["replay", str(trace)]) == 1
    again = capsys.readouterr()
    assert again.err == ""
    assert "accepted by an independent replay" in again.out
    assert again.out.splitlines()[-1] == seen.out.splitlines()[-1]


def test_the_steps_one_by_one(trace: Path, capsys: Out) -> None:
    for command in ("view", "replay"):
        main([command, "--steps", str(trace)])
        out = capsys.readouterr().out
        assert "Step by step" in out
        assert "changes   got: 0 -> 1" in out


def test_stdin(trace: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(trace.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["view", "-"]) == 0
    assert "quiet: VIOLATED" in capsys.readouterr().out


def test_a_spec_that_has_changed_and_still_has_the_run(
    trace: Path, spec: Path, capsys: Out
) -> None:
    spec.write_text(SPEC + "// and a remark\n")
    assert main(["replay", str(trace)]) == 1
    out = capsys.readouterr()
    assert "note: echo.bcast has changed since the trace was written; the run is still" in out.err
    assert "accepted by an independent replay" in out.out
    assert main(["view", str(trace)]) == 0
    out = capsys.readouterr()
    assert "note: echo.bcast has changed since the trace was written; --source" in out.err
    assert "as recorded in the trace file" in out.out


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("got := 1", "got := 2", "no transition leads to the state of step 2"),
        ("got", "had", "the trace and the spec have different variables"),
        ("quiet", "silent", "the check has no property quiet"),
        ("check two", "check three", "the spec can't be used"),
        ("protocol Echo", "protocol {", "the spec can't be used"),
    ],
)
def test_a_spec_that_has_changed_and_has_no_such_run(
    before: str, after: str, says: str, trace: Path, spec: Path, capsys: Out
) -> None:
    spec.write_text(SPEC.replace(before, after))
    assert main(["replay", str(trace)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error[E009]: t.json is no longer a run of echo.bcast: ")
    assert says in err
    assert "echo.bcast has changed since" in err
    assert "show it with `bivalence view t.json`" in err
    assert "Traceback" not in err
    assert main(["view", "--source", str(trace)]) == 0
    assert "2 interface Service { request ask(m: Msg)" in capsys.readouterr().out


def test_a_spec_that_is_gone(trace: Path, spec: Path, capsys: Out) -> None:
    spec.unlink()
    assert main(["replay", str(trace)]) == 2
    err = capsys.readouterr().err
    assert "E009" in err
    assert "echo.bcast is gone)" in err
    assert "E001" in err
    assert main(["view", str(trace)]) == 0
    assert capsys.readouterr().err == ""


def test_a_shipped_file_that_has_changed(trace: Path, capsys: Out) -> None:
    shipped = {
        "file": "interfaces/links.bcast",
        "digest": "0" * 64,
        "text": "before",
        "shipped": True,
    }
    document = json.loads(trace.read_text())
    del document["digest"]
    trace.write_text(json.dumps({**document, "sources": [*document["sources"], shipped]}))
    assert main(["replay", str(trace)]) == 1
    err = capsys.readouterr().err
    assert "interfaces/links.bcast, part of the library, has changed since" in err
    assert "edited" not in err


def test_a_document_that_was_edited(trace: Path, capsys: Out) -> None:
    document = json.loads(trace.read_text())
    document["steps"][1]["headline"] = "p1 does nothing"
    edit(trace, steps=document["steps"])
    assert main(["view", str(trace)]) == 0
    assert "note: t.json was edited after it was written" in capsys.readouterr().err
    assert main(["replay", str(trace)]) == 1
    assert "p1 does nothing" not in capsys.readouterr().out
    state = document["steps"][2]["state"]
    assert state["got"]
    state["got"] = {"#map": [["p1", 2], ["p2", 2]]}
    edit(trace, steps=document["steps"])
    assert main(["replay", str(trace)]) == 2
    err = capsys.readouterr().err
    assert "no transition leads to the state of step 2 (the document was edited" in err


def test_a_document_of_another_version(trace: Path, capsys: Out) -> None:
    edit(trace, format=2, tool="0.0.9")
    for command in ("view", "replay"):
        assert main([command, str(trace)]) == 2
        err = capsys.readouterr().err
        assert "error[E005]: t.json is a trace of format 2" in err
        assert "written by 0.0.9" in err
        assert "check the spec again with this version" in err


def test_a_run_that_another_version_wrote(trace: Path, spec: Path, capsys: Out) -> None:
    document = json.loads(trace.read_text())
    del document["digest"]
    document["steps"][2]["state"]["got"] = {"#map": [["p1", 2], ["p2", 2]]}
    trace.write_text(json.dumps({**document, "tool": "0.0.9"}))
    assert main(["replay", str(trace)]) == 2
    assert "version 0.0.9 wrote it, and this is " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"", "E006"),
        (b"{", "E006"),
        (b"[]", "E006"),
        (b'{"format": 4, "kind": "bivalence trace"}', "'tool' is missing"),
        (b'{"format": ' + b"9" * 5000 + b"}", "E006"),
        (b'{"format": "\\ud800"}', "E006"),
        (b'[{"kind": "bivalence report"}]', "is a report, not a trace"),
    ],
)
@pytest.mark.parametrize("command", ["view", "replay"])
def test_what_is_no_trace(command: str, content: bytes, says: str, spec: Path, capsys: Out) -> None:
    Path("bad.json").write_bytes(content)
    assert main([command, "bad.json"]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"number": 7}, "step 1 is numbered 7"),
        ({"process": "p9"}, "step 1 is of 'p9', which is not a process of the trace"),
    ],
)
def test_steps_that_do_not_fit_their_trace(
    changed: dict[str, Any], says: str, trace: Path, capsys: Out
) -> None:
    steps = json.loads(trace.read_text())["steps"]
    steps[1] |= changed
    edit(trace, steps=steps)
    for command in (["view"], ["export", "--to", "svg"], ["export", "--to", "csv"], ["replay"]):
        assert main([*command, str(trace)]) == 2
        assert says in capsys.readouterr().err


def test_a_document_that_is_too_large(
    trace: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "LARGEST", 100)
    assert main(["view", str(trace)]) == 2
    assert "E001" in capsys.readouterr().err


def test_an_output_that_takes_ascii_only(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(page, encoding="ascii"))
    assert main(["view", str(trace)]) == 0
    sys.stdout.flush()
    text = page.getvalue().decode("ascii")
    assert "1  > ask(a)" in text
    assert "?" not in text


def test_pictures_go_to_files(trace: Path, capsys: Out) -> None:
    assert main(["view", str(trace), "--svg", "t.svg"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("t.svg").read_text().lstrip().startswith("<svg")
    assert main(["view", str(trace), "--svg", "-"]) == 0
    assert capsys.readouterr().out.lstrip().startswith("<svg")
    assert main(["view", str(trace), "--svg", "nowhere/t.svg"]) == 2
    assert main(["view", str(trace), "--svg", "x", "--mermaid", "x"]) == 2
    assert "same file" in capsys.readouterr().err


def test_a_run_of_another_kind_is_shown_once(capsys: Out) -> None:
    """Also where it violates two properties."""
    name = "specs/total_order/sequencer_takeover.bcast::crash_one"
    assert main(["check", name, "--all", "2", "--explain", "0"]) == 0
    out = capsys.readouterr().out
    assert out.count("Another kind of run (2)\n") == 1
    assert out.count("total_order: VIOLATED, by the same run\n") == 2
    assert "(3)" not in out


APART = """
protocol Alone {
  state done = false
  upon condition not done { done := true }
  property some "Somebody is not done." : always exists p in Proc: not p.done
}
check three of Alone { n = 3  expect some violated }
"""


def test_the_layout_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alone.bcast").write_text(APART, encoding="utf-8")
    assert main(["check", "alone.bcast", "--layout", "causality", "--trace-out", "t.json"]) == 0
    capsys.readouterr()
    pictures = []
    for layout in ("steps", "causality"):
        assert main(["view", "t.json", "--layout", layout, "--svg", "-"]) == 0
        pictures.append(capsys.readouterr().out)
        assert main(["view", "t.json", "--layout", layout, "--html", f"{layout}.html"]) == 0
        page = Path(f"{layout}.html").read_text(encoding="utf-8")
        pressed = "true" if layout == "causality" else "false"
        assert f'class="layout" aria-pressed="{pressed}"' in page
    assert pictures[0] != pictures[1]
    assert main(["gallery", "pages", "alone.bcast", "--layout", "causality"]) == 0
    (drawn,) = [file for file in Path("pages").rglob("*.html") if file.name != "index.html"]
    assert 'class="layout" aria-pressed="true"' in drawn.read_text(encoding="utf-8")
    assert main(["view", "t.json", "--layout", "sideways"]) == 2


def test_processes_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "run.json"
    spec = "specs/broadcast/eager_reliable.bcast::crash_one"
    given = ["--processes", "p2, p3", "--fold"]
    assert main(["check", spec, "--trace-out", str(file), *given]) == 0
    checked = capsys.readouterr().out
    assert main(["view", str(file), *given]) == 0
    viewed = capsys.readouterr().out
    for out in (checked, viewed):
        assert "left out: p1" in out
        assert "step left out" in out or "steps left out" in out
    assert main(["view", str(file), "--processes", "p2,p9"]) == 2
    assert "there is no p9 in this run: p1, p2, p3" in capsys.readouterr().err
    assert main(["view", str(file), "--processes", "p2,,p3"]) == 2
    assert "separate processes by commas" in capsys.readouterr().err
