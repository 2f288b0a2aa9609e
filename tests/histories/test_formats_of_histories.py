"""Formats of histories: the same rows in each, and what is wrong with a file."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.histories import edn as edn_reader
from checker.histories.pairing import operations_of
from checker.histories.reading import read_history
from checker.histories.rows import frozen
from checker.logs.content import Unreadable
from checker.logs.mapping import NO_MAPPING
from checker.logs.objects import Cut
from checker.logs.read_mapping import read_mapping
from checker.record import Recorder

ROWS = [
    (0, "invoke", "write", 3), (1, "invoke", "read", None), (0, "ok", "write", 3),
    (1, "ok", "read", 3), (2, "invoke", "cas", (3, 4)), (2, "info", "cas", (3, 4)),
    (0, "invoke", "cas", (1, 2)), (0, "fail", "cas", (1, 2)),
]  # fmt: skip


def edn(value: object) -> str:
    if value is None:
        return "nil"
    return f"[{' '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def maps() -> list[str]:
    return [f"{{:process {p}, :type :{t}, :f :{f}, :value {edn(v)}}}" for p, t, f, v in ROWS]


NEMESIS = "{:process :nemesis, :type :info, :f :start, :value nil}"
TEXTS = {
    "maps": "; a comment\n" + "\n".join(maps()),
    "vector": "[" + "\n ".join(maps()) + "]\n",
    "list": "(" + "\n ".join([*maps(), NEMESIS]) + ")",
    "tagged": "\n".join(f"#jepsen.history.Op{each}" for each in maps()),
    "tuples": "\n".join(f"[{p} :{t} :{f} {edn(v)}]" for p, t, f, v in ROWS),
    "vector of tuples": f"[{' '.join(f'[{p} :{t} :{f} {edn(v)}]' for p, t, f, v in ROWS)}]",
    "printed": "\n".join(f"INFO  jepsen.util - {p}\t:{t}\t:{f}\t{edn(v)}" for p, t, f, v in ROWS)
    + "\n",
    "printed later": "something else\n"
    + "".join(
        f"2015-01-01 10:00:00,1 INFO  [jepsen worker 1] jepsen.util: {p}\t:{t}\t:{f}\t{edn(v)}\n"
        for p, t, f, v in ROWS
    ),
    "JSON": "".join(
        json.dumps({"process": p, "type": t, "f": f, "value": v}) + "\n" for p, t, f, v in ROWS
    ),
    "JSON array": json.dumps(
        [{"process": p, "type": t, "f": f, "value": v} for p, t, f, v in ROWS], indent=1
    ),
}


def written(folder: Path, text: str) -> str:
    file = folder / "history"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_format_has_the_same_rows(name: str, tmp_path: Path) -> None:
    history = read_history(written(tmp_path, TEXTS[name]))
    rows = [r for r in history.rows if r.process != "nemesis"]
    assert [(r.process, r.kind, r.f, r.value) for r in rows] == ROWS
    assert history.warnings == ()
    outcomes = [one.outcome for one in operations_of(history).found]
    assert outcomes == ["ok", "ok", "info", "fail"]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    text = '; one\n\n[{:process 0, :type :invoke,\n  :f :write :value "a\nb"}\n #_ ignored\n'
    with pytest.raises(SpecError):
        read_history(written(tmp_path, text + "{:process 0 :type :ok"))
    text = text.replace(" #_ ignored\n", "{:process 0 :type :ok :f :write :value #_ 4 nil}]")
    rows = read_history(written(tmp_path, text)).rows
    assert [(row.line, row.value) for row in rows] == [(3, "a\nb"), (6, None)]


def test_the_recorder_writes_histories(tmp_path: Path) -> None:
    file = tmp_path / "clients.ndjson"
    with Recorder(str(file), "c1") as log:
        log.request("write", 3)
        log.indicate("write_return")
        log.request("read")
        log.indicate("read_return", 4)
    assert main(["judge", str(file), "--as", "Register", "-q"]) == 1


WRONG = {
    "not a format": ("hello\n", "E093", 1),
    "unknown type": ("{:process 0 :type :invoke :f :read}\n{:process 0 :type :done}", "E093", 2),
    "no type": ("{:process 0 :type :invoke :f :read}\n{:process 0 :f :read}", "E093", 2),
    "no map": ("{:process 0 :type :invoke :f :read}\n 17", "E093", 2),
    "unmatched": ("{:process 0 :type :invoke :f :read}\n]", "E093", 2),
    "unclosed inside": (
        "{:process 0 :type :invoke :f :read\n{:process 0 :type :ok}\n{:process 1 :type :ok}",
        "E093", 1,
    ),
    "odd": ("{:process 0 :type}", "E093", 1),
    "key twice": ("{:process 0 :process 1 :type :invoke}", "E093", 1),
    "some without process": (
        "{:process 0 :type :invoke :f :read}\n{:type :invoke :f :read}", "E093", 2,
    ),
    "calls again": (
        "{:process 0 :type :invoke :f :read}\n{:process 0 :type :invoke :f :read}", "E094", 2,
    ),
    "no call": ("\n{:process 0 :type :ok :f :read :value 3}", "E094", 2),
    "another operation": (
        "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :write :value 3}",
        "E094", 2,
    ),
    "unknown operation": ("{:process 0 :type :invoke :f :reed}", "E095", 1),
    "arguments": ("{:process 0 :type :invoke :f :cas :value 3}", "E095", 1),
    "JSON": ('{"process": 0, "type": "invoke", "f": "read"}\n{"process": 0, ]}\n', "E093", 2),
    "JSON without process": ('{"type": "invoke", "f": "read"}\n', "E093", 1),
    "printed": ("INFO jepsen.util - 0 :invoke :read nil\nINFO jepsen.util - :read\n", "E093", 2),
    "printed value": ("INFO jepsen.util - 0 :invoke :read [1\n", "E093", 1),
    "not UTF-8": ("{:process 0 :type :invoke :f \udcff}", "E093", 1),
}  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_is_wrong_has_a_code_and_a_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, code, line = WRONG[name]
    file = tmp_path / "history"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["judge", str(file), "--as", "CompareAndSwap"]) == 2
    said = capsys.readouterr().err
    assert f"{file}:{line}:" in said and f"[{code}]" in said


def test_a_file_that_is_cut_is_judged_up_to_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("vector", "maps", "printed", "JSON"):
        text = TEXTS[name]
        for end in range(3, len(text), 23):
            code = main(["judge", written(tmp_path, text[:end]), "--as", "CompareAndSwap"])
            said = capsys.readouterr()
            assert code in (0, 4) or "known format" in said.err, (name, end, said.err)
        assert (
            main(["judge", written(tmp_path, text[: len(text) - 9]), "--as", "CompareAndSwap"]) == 0
        )
        assert "warning[E085]" in capsys.readouterr().err


def test_damaged_files_never_end_in_an_internal_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(5)
    for name in ("vector", "tuples", "printed", "JSON"):
        for _ in range(40):
            data = bytearray(TEXTS[name].encode())
            for _ in range(draw.randint(1, 3)):
                at = draw.randrange(len(data))
                data[at : at + draw.randint(0, 2)] = draw.choice(
                    [b"", b"[", b"}", b'"', b"\\", b"\xff", b"nil", b"-", b"9" * 30, b"#", b" "]
                )
            file = tmp_path / "history"
            file.write_bytes(bytes(data))
            code = main(["judge", str(file), "--as", "CompareAndSwap", "-q"])
            assert code in (0, 1, 2, 4), bytes(data)
            capsys.readouterr()


def test_the_fast_reader_of_plain_maps_reads_what_the_other_one_reads() -> None:
    draw = random.Random(11)
    pieces = [
        "{", "}", "[", "]", "(", ")", ":a", ":type", ":nil", "nil", "true", "1", "-2", "0.5", "1e3",
        "+1", "01", "1N", "NaN", "foo", ":a/b", ":x-y", ":a:b", "null", ",", " ", "  ", "\t", "\n",
        "#{", ":", "\r\n", "99999999999999999999999", "-", "nil-x", ":nil,", "\\a",
    ]  # fmt: skip
    read = 0
    for _ in range(4000):
        row = "".join(draw.choice(pieces) for _ in range(draw.randint(0, 3)))
        rows = [
            f"{{:type :ok, :value [[:r {draw.choice(pieces)} {draw.choice(pieces)}] {row}]}}"
            for _ in range(draw.randint(1, 2))
        ]
        text = draw.choice(["\n", " ", ""]).join(rows)
        if draw.random() < 0.3:
            text = f"[{text}]"
        fast = edn_reader.plain_maps(text)
        if fast is None:
            continue
        read += 1
        assert all_forms(fast) == all_forms(edn_reader.forms(text)), text
    assert read > 100


def all_forms(forms: Iterator[tuple[int, object]]) -> list[object]:
    """The forms with their lines, and how they end."""
    found: list[object] = []
    try:
        found += [(line, frozen(form)) for line, form in forms]
    except (Unreadable, Cut) as problem:
        return [type(problem), problem.why, problem.line]
    return found


def test_the_fast_reader_goes_on_slowly_where_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    monkeypatch.setattr(edn_reader, "SAMPLE", 200)
    monkeypatch.setattr(edn_reader, "BLOCK", 60)
    rows = [
        "{:process 0 :type :ok :f :w :value 1}", "{:process 1, :type :info, :error :a, :f :w}",
        '{:process 1 :type :info :error "a {:b\\n} c" :f :w}', "#op{:process 2 :type :ok}", "",
        "{:process 0 :type :ok :value {:process 1}}", "; {:process", "{:process 0\n :type :ok}",
        '{:process "\n{:process 3}\n" :type :ok}', "{:process 0 :process 1}", "[1 :ok :w]", "#_ 1",
        "{:process 0} {:process 1}", "{:process (1 2)}", "{:process}", "{:process 0", "]",
    ]  # fmt: skip
    started = 0
    for _ in range(1000):
        odd = draw.choices(rows[1:], k=draw.randint(0, 2))
        lines = rows[:1] * 5 + draw.sample(odd + rows[:1] * 6, len(odd) + 6)
        text = "\n".join(lines)
        end = "\n" if lines[-1].startswith(";") else ""
        text = draw.choice([text, f"[{text}{end}]", f"({text}{end})\n"])
        fast = edn_reader.plain_maps(text)
        started += fast is not None
        if fast is not None:
            assert all_forms(fast) == all_forms(edn_reader.forms(text)), text
    assert started > 300


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("", ["vlaue"]),
        ('ignored = ["vlaue"]\n', []),
        ('[columns]\nvalue = "vlaue"\n', []),
        ('[columns]\nprocess = "vlaue"\n', ["process"]),
    ],
)
def test_a_field_that_is_not_read_is_told_once(names: str, told: list[str], tmp_path: Path) -> None:
    rows = [{"process": 0, "type": t, "f": "read", "vlaue": 1, "time": 3} for t in ("invoke", "ok")]
    (tmp_path / "log.ndjson").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "names.toml").write_text(names, encoding="utf-8")
    mapping = read_mapping(str(tmp_path / "names.toml")) if names else NO_MAPPING
    warnings = read_history(str(tmp_path / "log.ndjson"), mapping).warnings
    assert [(w.code, w.severity, w.message) for w in warnings] == [
        ("E084", "warning", f"unknown field `{name}`") for name in told
    ]
    assert all(w.span is not None and w.span.line == 1 for w in warnings)
