"""Histories from anywhere: compressed, piped, in text, and damaged ones, with their lines."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.histories import edn
from checker.histories.reading import read_history
from checker.logs.read_mapping import read_mapping
from tests.logs.damage import COMPRESSIONS

ROWS = [
    {"process": 0, "type": "invoke", "f": "write", "value": 3},
    {"process": 0, "type": "ok", "f": "write", "value": 3},
    {"process": 1, "type": "invoke", "f": "read", "value": None},
    {"process": 1, "type": "ok", "f": "read", "value": 3},
]
JSON = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
EDN = b"""{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 3}
"""


def code_of(folder: Path, data: bytes, *more: str) -> int:
    (folder / "history").write_bytes(data)
    return main(["judge", str(folder / "history"), "--as", "Register", "-q", *more])


@pytest.mark.every
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_compression_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    for text in (JSON, EDN, b"\xef\xbb\xbf" + JSON, b"\xef\xbb\xbf" + EDN):
        assert code_of(tmp_path, COMPRESSIONS[name](text)) == 0
        assert code_of(tmp_path, COMPRESSIONS[name](text.replace(b"3}\n", b"4}\n", 1))) == 1
    if name != "plain":
        assert code_of(tmp_path, COMPRESSIONS[name](JSON)[:-3]) == 2


def test_standard_input_and_pipes_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for data in (JSON, COMPRESSIONS["gzip"](EDN)):
        stdin = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["judge", "-", "--as", "Register", "-q"]) == 0
        ends = os.pipe()
        with os.fdopen(ends[0], "rb"):
            os.write(ends[1], data)
            os.close(ends[1])
            assert main(["judge", f"/dev/fd/{ends[0]}", "--as", "Register", "-q"]) == 0
    assert "-: linearizable" in capsys.readouterr().out


LINE = JSON.splitlines(keepends=True)


@pytest.mark.every
@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (LINE[0] + LINE[1].replace(b"write", b"\xe9"), "E093", 2),
        (LINE[0] + b'{"process": 0, "type": "ok", "type": "ok"}\n', "E093", 2),
        (LINE[0] + b'{"process": 0, "type": "ok", "value": 1e999}\n', "E093", 2),
        (LINE[0] + b'{"process": 0, "type": "ok", "value": "\\ud800"}\n', "E093", 2),
        (LINE[0] + b'{"process": 0, "type": 7}\n', "E093", 2),
        (LINE[0] + b'{"process": 0}\n', "E093", 2),
        (LINE[0] + b'{"type": "ok"}\n', "E093", 2),
        (LINE[0] + b"[1]\n", "E093", 2),
        (LINE[0] + b'{"value": ' + b"[" * 900 + b"]" * 900 + b"}\n", "E093", 2),
        (LINE[0] + LINE[0], "E094", 2),
        (b"{" + LINE[0][2:] + LINE[1], "E093", 1),  # not JSON, but the beginning of EDN
        (b'{:process 0, :type :invoke, :f :write, :value "3}\n{:process 0}\n', "E093", 1),
        (b"[0 :invoke :write [3\n[0 :ok :write 3]\n", "E093", 1),
        (b'{:process 0, :type :invoke, :f :write, :value "\\ud800"}\n', "E093", 1),
        (b"PK\x03\x04", "E075", 0),
        (b"\xff\xfe{\x00", "E075", 0),
        (b"hello\n", "E093", 1),
        (b'{"resourceSpans": {}}\n', "E093", 1),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 1}]}]}]}\n', "E093", 1),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "x"}]}]}]}\n',
            "E099",
            1,
        ),
    ],
)
def test_what_is_damaged_is_told_with_its_line(
    data: bytes, code: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(tmp_path, data) == 2
    said = capsys.readouterr().err
    assert f"[{code}]" in said and (not line or f"{tmp_path}/history:{line}" in said), said


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_history_is_vacuous(data: bytes, tmp_path: Path) -> None:
    assert code_of(tmp_path, data) == 4


TEXT = (
    "12:00 c1 > write 3\n12:01 c1 < write ok 3\n# a note\n\n"
    "12:02 c2 > read nil\n12:03 c2 < read ok 3\n"
)
NAMES = (
    "lines = '^\\S+ (?P<process>c\\d) (?P<way>[<>]) (?P<op>\\w+) "
    "(?:(?P<how>ok|fail) )?(?P<value>.*)$'\n"
    '[columns]\ntype = ["how", "way"]\nf = "op"\n[values.type]\ninvoke = ">"\n[results]\n'
    'read = "nil is unknown"\n'
)


def test_lines_of_text_are_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "names.toml").write_text(NAMES, encoding="utf-8")
    mapped = ["--mapping", str(tmp_path / "names.toml")]
    assert code_of(tmp_path, TEXT.encode(), *mapped) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "[E098]" in said and "read 5 rows, 1 of them ignored (text)" in said
    assert code_of(tmp_path, TEXT.replace("ok 3", "ok 4").encode(), *mapped) == 1
    assert code_of(tmp_path, b"hello\n", *mapped) == 2
    (tmp_path / "cut").write_text(TEXT[:-1], encoding="utf-8")
    found = read_history(str(tmp_path / "cut"), read_mapping(str(tmp_path / "names.toml")))
    assert [row.value for row in found.rows] == [3, 3, None]
    assert [each.code for each in found.warnings] == ["E098", "E085"]


def test_nested_rows_and_constants(tmp_path: Path) -> None:
    (tmp_path / "names.toml").write_text(
        'rows = "clients[].log[]"\nignored = ["sleep"]\n[columns]\nprocess = "id"\ntype = "t"\n'
        'f = "op[0]"\nvalue = "op[1]"\nkey = "@const x"\n[operations]\nread = "r"\nwrite = "w"\n',
        encoding="utf-8",
    )
    calls = [("invoke", ["w", 3]), ("ok", ["w", 3]), ("invoke", ["r"]), ("ok", ["r", 3]),
             ("invoke", ["sleep"])]  # fmt: skip
    document = {"clients": [{"id": 7, "log": [{"t": t, "op": op} for t, op in calls]}]}
    mapped = ["--mapping", str(tmp_path / "names.toml"), "--by", "key"]
    assert code_of(tmp_path, json.dumps(document, indent=1).encode(), *mapped) == 0


def test_two_halves_of_a_surrogate_pair_are_one_character() -> None:
    assert edn.value_of('"\\ud83d\\ude00é"', 1) == "\U0001f600é"
