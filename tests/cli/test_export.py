"""``bivalence export``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.extensions.tables import EXPORTS
from checker.formats.json_format import trace_from_text, trace_to_json
from tests.results.test_documents import made, trace_of

Out = pytest.CaptureFixture[str]
STARTS = {
    "csv": "step,process,kind",
    "itf": '{\n  "#meta"',
    "json": '{\n  "format": 5',
    "mermaid": "sequenceDiagram",
    "shiviz": "(?<event>",
    "svg": "<svg",
}


@pytest.fixture
def trace(tmp_path: Path) -> str:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(trace_to_json(trace_of(made()))))
    return str(file)


def test_every_format_has_a_test() -> None:
    assert set(EXPORTS.built_in) == set(STARTS)


@pytest.mark.parametrize("name", STARTS)
def test_to_stdout_and_to_a_file(name: str, trace: str, tmp_path: Path, capsys: Out) -> None:
    assert main(["export", trace, "--to", name]) == 0
    out = capsys.readouterr()
    assert STARTS[name] in out.out[:400]
    assert out.err == ""
    file = tmp_path / "out"
    assert main(["export", trace, "--to", name, "-o", str(file)]) == 0
    assert capsys.readouterr().out == ""
    assert file.read_bytes().decode("utf-8") == out.out


def test_json_is_the_document(trace: str, capsys: Out) -> None:
    assert main(["export", trace, "--to", "json"]) == 0
    assert trace_from_text(capsys.readouterr().out) == trace_of(made())


def test_rows_can_be_read(trace: str, capsys: Out) -> None:
    assert main(["export", trace, "--to", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert len(rows) == 2 + trace_of(made()).length


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("export TRACE", "Missing option '--to'"),
        ("export TRACE --to pdf", "'pdf' is not one of"),
        ("export TRACE --to csv -o nowhere/x", "there is no folder nowhere"),
        ("export nowhere.json --to csv", "there is no such file"),
    ],
)
def test_usage_errors(arguments: str, says: str, trace: str, capsys: Out) -> None:
    assert main(arguments.replace("TRACE", trace).split()) == 2
    out = capsys.readouterr()
    assert says in out.err
    assert out.out == ""


def test_what_is_no_trace(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "t.json"
    file.write_text("{}")
    assert main(["export", str(file), "--to", "svg"]) == 2
    assert "E006" in capsys.readouterr().err


def test_a_picture_has_several_orders(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "run.json"
    spec = "specs/total_order/sequencer_takeover.bcast"
    assert main(["check", spec, "--trace-out", str(file), "-q", "--no-explain"]) == 0
    pictures = {}
    for layout in ("steps", "causality"):
        capsys.readouterr()
        assert main(["export", str(file), "--to", "svg", "--layout", layout]) == 0
        pictures[layout] = capsys.readouterr().out
        viewed = tmp_path / "viewed.svg"
        assert main(["view", str(file), "--svg", str(viewed), "--layout", layout]) == 0
        assert viewed.read_text() == pictures[layout]
    assert pictures["steps"] != pictures["causality"]
    assert main(["export", str(file), "--to", "csv", "--layout", "causality"]) == 2
    assert "the format csv has a fixed order" in capsys.readouterr().err
