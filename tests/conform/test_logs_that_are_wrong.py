"""What is wrong with a log is told with its file and row; clocks never matter."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from checker.conform.read_log import Log, read_log
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.logs.read_mapping import read_mapping

NOTHING = NO_MAPPING


def line(pos: int, process: str = "p1", kind: str = "perform", **more: Any) -> str:
    return json.dumps({"process": process, "pos": pos, "kind": kind, **more}) + "\n"


def log_of(folder: Path, text: str, mapping: LogMapping = NOTHING, name: str = "log") -> Log:
    (folder / name).write_text(text, encoding="utf-8")
    return read_log([str(folder / name)], mapping)


def wrong(folder: Path, text: str) -> Diagnostic:
    with pytest.raises(SpecError) as error:
        log_of(folder, text)
    (found,) = error.value.diagnostics
    return found


@pytest.mark.parametrize(
    ("text", "code", "row", "said"),
    [
        (line(1) + "{oops}\n" + line(2), "E077", 2, "not JSON"),
        (line(1) + "[1]\n", "E077", 2, "not a JSON object"),
        (line(1) + line(2, kind="recieve"), "E077", 2, "unknown kind of line `recieve`"),
        ('{"process":"p1","kind":"end"}\n', "E071", 1, "no `pos`"),
        ('{"pos":1,"kind":"end"}\n', "E071", 1, "no `process`"),
        ('{"process":"p1","pos":"1","kind":"end"}\n', "E071", 1, "is not a position"),
        (line(1) + line(2) + line(2), "E072", 3, "the positions of p1 decrease"),
        ("[" * 200_000 + "\n", "E077", 1, "nested too deeply"),
        (line(1) + line(2).replace("2", "9" * 5_000), "E077", 2, "too long"),
        (line(1) + line(2**63), "E071", 2, "too large"),
        (line(1) + line(2).replace("2", "1\N{ARABIC-INDIC DIGIT TWO}"), "E077", 2, "not JSON"),
        (line(5) + line(4), "E072", 2, "4 after 5"),
    ],
)
def test_a_line_that_is_wrong_is_told(
    text: str, code: str, row: int, said: str, tmp_path: Path
) -> None:
    found = wrong(tmp_path, text)
    assert found.code == code
    assert found.span is not None
    assert (found.span.file, found.span.line) == (str(tmp_path / "log"), row)
    assert said in found.message


def test_the_nearest_kind_is_named(tmp_path: Path) -> None:
    assert wrong(tmp_path, line(1, kind="recieve")).hint == "did you mean `receive`?"


def test_two_logs_of_one_process_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(line(1), encoding="utf-8")
    with pytest.raises(SpecError) as error:
        read_log([str(tmp_path / "a"), str(tmp_path / "b")], NOTHING)
    assert error.value.diagnostics[0].code == "E073"


def test_lines_that_are_missing_are_gaps(tmp_path: Path) -> None:
    log = log_of(tmp_path, line(2) + line(5) + line(6) + '{"process":"p1","po')
    assert [row.kind for row in log.rows["p1"]] == [
        "gap",
        "perform",
        "gap",
        "perform",
        "perform",
        "gap",
    ]
    assert len(log.gaps) == 3
    assert "2 lines of p1 missing" in log.gaps[1]
    assert "p1 has a truncated line" in log.gaps[2]
    assert log.read == 4


def test_a_merged_log_is_taken_apart_and_clocks_do_not_matter(tmp_path: Path) -> None:
    text = line(1, "p2", ts=9) + line(1, "p1", ts=5) + line(2, "p2", ts=1) + line(2, "p1", ts=-3)
    log = log_of(tmp_path, text)
    assert {p: [row.pos for row in rows] for p, rows in log.rows.items()} == {
        "p2": [1, 2],
        "p1": [1, 2],
    }


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_compressed_files_are_read(module: Any, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(module.compress((line(1) + line(2)).encode()))
    assert len(read_log([str(path)], NOTHING).rows["p1"]) == 2


def test_a_file_that_is_not_there_and_one_that_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        read_log([str(tmp_path / "none")], NOTHING)
    assert error.value.diagnostics[0].code == "E075"
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress("".join(map(line, range(1, 100))).encode())[:-10])
    with pytest.raises(SpecError) as error:
        read_log([str(path)], NOTHING)
    assert error.value.diagnostics[0].code == "E075"


def test_a_compressed_file_that_is_damaged(tmp_path: Path) -> None:
    data = bytearray(gzip.compress("".join(map(line, range(1, 100))).encode()))
    data[10:40] = b"\xff" * 30
    (tmp_path / "log.gz").write_bytes(data)
    with pytest.raises(SpecError) as error:
        read_log([str(tmp_path / "log.gz")], NOTHING)
    assert error.value.diagnostics[0].code == "E075"


def test_a_mapping_renames_and_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(
        'ignored = ["note"]\n[columns]\nprocess = "node"\n[values.kind]\nreceive = "recv"\n'
        '[values.process]\np1 = "host:1"\n',
        encoding="utf-8",
    )
    text = '{"node":"host:1","pos":1,"kind":"note"}\n{"node":"host:1","pos":2,"kind":"recv"}\n'
    log = log_of(tmp_path, text, read_mapping(str(path)))
    assert [(row.process, row.kind) for row in log.rows["p1"]] == [("p1", "receive")]
    assert (log.read, log.ignored, log.gaps) == (2, 1, [])
