"""`audit` and `conform` read the same of a damaged log, and nothing of it without a word."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from checker.audit.columns import operators_of
from checker.audit.declared import interface_called
from checker.audit.files import find_files
from checker.audit.reading import Reader
from checker.cli.main import main
from checker.conform.read_log import read_logs
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from tests.logs.damage import COMPRESSIONS, PIECES, damaged, log, wrong_lines

READING = ("E075", "E077", "E080")
SPEC = """
protocol Own implements BestEffortBroadcast {
  message DATA(m: Msg)
  upon broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
check c of Own { n = 2  clients { p1 broadcasts a } expect validity holds }
"""


@dataclass
class Reading:
    """What a command reads of a log: its rows, or what is wrong; whether half a line is left."""

    rows: list[tuple[str, int, str]] = field(default_factory=list)
    wrong: tuple[Diagnostic, ...] = ()
    torn: bool = False

    @property
    def unreadable(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.wrong if each.code in READING and not _of_kind(each))


def _of_kind(each: Diagnostic) -> bool:
    return "unknown kind of line" in each.message


OPERATORS = operators_of(interface_called("BestEffortBroadcast"))


def by_audit(path: Path) -> Reading:
    reader = Reader(LogMapping(), OPERATORS)
    found = Reading()
    try:
        for file in find_files((str(path),)):
            for table in reader.tables(file):
                names = [table[name].to_pylist() for name in ("process", "pos", "kind")]
                found.rows += zip(*names, strict=True)
    except SpecError as problem:
        found.wrong = problem.diagnostics
    found.torn = bool(reader.torn)
    return found


def by_conform(path: Path) -> Reading:
    found = Reading()
    try:
        for each in read_logs([str(path)], LogMapping()):
            for rows in each.rows.values():
                said = [row for row in rows if row.data and "lost" not in row.data]
                found.rows += [(row.process, row.pos, row.kind) for row in said]
                found.torn |= any("lost" in row.data for row in rows)
    except SpecError as problem:
        found.wrong = problem.diagnostics
    return found


def require_named(reading: Reading, path: Path, lines: int) -> None:
    """Fails where what can't be read is not said with its file and, if it is text, its line."""
    for each in reading.unreadable:
        if each.span is None:
            assert str(path) in each.message and "can't be read" in each.message, each
        else:
            assert each.span.file == str(path) and 1 <= each.span.line <= lines, each


def compare(path: Path, text: bytes) -> str:
    """Compares both commands with the definition; returns what became of the log."""
    audited, conformed = by_audit(path), by_conform(path)
    lines = text.count(b"\n") + 1
    require_named(audited, path, lines)
    require_named(conformed, path, lines)
    wrong = wrong_lines(text)
    if audited.torn and wrong and wrong[-1] == lines:
        wrong.pop()
    if is_document(text):
        same = bool(audited.unreadable) == bool(conformed.unreadable)
        assert same or only_other(conformed), (text, audited, conformed)
        return "document"
    if not (conformed.wrong and not conformed.unreadable):  # which may come before what it reads
        assert bool(conformed.unreadable) == bool(wrong), (text, conformed, wrong)
        assert conformed.wrong or conformed.torn == audited.torn, (text, audited, conformed)
        if wrong and conformed.unreadable[0].span is not None:
            assert conformed.unreadable[0].span.line == wrong[0], (text, conformed, wrong)
    if not (audited.wrong and not audited.unreadable):
        assert bool(audited.unreadable) == bool(wrong), (text, audited, wrong)
    if not audited.wrong and not conformed.wrong:
        both = [sorted((str(p), pos) for p, pos, _ in each.rows) for each in (audited, conformed)]
        assert both[0] == both[1], (text, audited, conformed)
    return "unreadable" if wrong else "torn" if audited.torn else "read"


def only_other(reading: Reading) -> bool:
    return bool(reading.wrong) and not reading.unreadable


def is_document(text: bytes) -> bool:
    """Returns whether the first line is not an object but begins one, or an array."""
    first = next((b for b in text.removeprefix(b"\xef\xbb\xbf").split(b"\n") if b.strip()), b"")
    first = first.strip(b" \t\r")
    return first[:1] == b"[" or (first[:1] == b"{" and first[-1:] in (b"{", b"[", b","))


def run(number: int, seed: int, folder: Path) -> dict[str, int]:
    """Compares damaged logs; returns how often what became of one."""
    draw = random.Random(seed)
    found: dict[str, int] = {}
    path = folder / "log.ndjson"
    for _ in range(number):
        text = log(draw) if draw.random() < 0.05 else damaged(draw, log(draw))
        name = draw.choice([*COMPRESSIONS, *["plain"] * 10])
        path.write_bytes(COMPRESSIONS[name](text))
        what = compare(path, text) if not text.startswith(MAGIC) else "other"
        found[what] = found.get(what, 0) + 1
    return found


MAGIC = (b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04", b"BZh", b"\x1f\x8b")


def test_damaged_logs_are_read_alike(tmp_path: Path) -> None:
    found = run(400, 1, tmp_path)
    assert found["unreadable"] > 100 and found["read"] > 20 and found["torn"] > 5, found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_thousand_damaged_logs_are_read_alike(seed: int, tmp_path: Path) -> None:
    run(10_000, seed, tmp_path)


def test_damaged_archives_are_refused_or_what_they_were(tmp_path: Path) -> None:
    """The formats that have a checksum."""
    draw = random.Random(7)
    path = tmp_path / "log.ndjson"
    for at in range(200):
        text = log(draw)
        data = COMPRESSIONS[("gzip", "bzip2", "xz")[at % 3]](text)
        path.write_bytes(damaged(draw, data[:4]) + data[4:] if at % 9 == 0 else damaged(draw, data))
        audited, conformed = by_audit(path), by_conform(path)
        if path.read_bytes() and not audited.wrong and not conformed.wrong:
            path.write_bytes(text)
            whole = by_audit(path)
            assert (audited.rows, audited.torn) == (whole.rows, whole.torn)
        assert bool(audited.unreadable) == bool(conformed.unreadable), (audited, conformed)


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_compression_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf{"process":"p1","pos":1,"kind":"deliver","msg":"a"}\r\n'
    for file in ("p1", "p1.ndjson", "p1.log", "p1.gz"):
        path = tmp_path / file
        path.write_bytes(COMPRESSIONS[name](text))
        assert by_audit(path).rows == by_conform(path).rows == [("p1", 1, "deliver")]
        path.write_bytes(COMPRESSIONS[name](text)[:-2])
        if name != "plain":
            assert by_audit(path).wrong and by_conform(path).wrong
        path.write_bytes(COMPRESSIONS[name](text) + b"rest of it")
        assert bool(by_audit(path).wrong) == bool(by_conform(path).wrong)
        assert by_audit(path).wrong or name == "plain"


@pytest.mark.parametrize("piece", PIECES)
def test_the_exit_code_of_a_damaged_log_is_that_of_bad_input(
    piece: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a byte is not understood, and never 0 or 70."""
    (tmp_path / "own.bcast").write_text(SPEC, encoding="utf-8")
    path = tmp_path / "p1.ndjson"
    good = b'{"process":"p1","pos":%d,"kind":"%s","msg":"a"%s}\n'
    text = good % (1, b"broadcast", b"") + piece + good % (2, b"deliver", b',"sender":"p1"')
    path.write_bytes(text)
    codes = {
        main(["audit", str(path), "--as", "BestEffortBroadcast", "-q"]),
        main(["conform", f"{tmp_path}/own.bcast::c", str(path), "-q"]),
    }
    said = capsys.readouterr().err
    if wrong_lines(text):
        assert codes == {2} and f"{path}:2" in said, said
    else:
        assert codes <= {0, 1, 2}


@pytest.mark.parametrize("text", ["[\n{O},\n{O}\n]\n", "[{O},{O}]", "{\n{I}\n}\n{\n{I}\n}\n"])
def test_an_array_and_objects_over_several_lines_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p1.json"
    for pos in (1, 2):
        inner = f'"process":"p1",\n"pos":{pos},\n"kind":"deliver",\n"msg":"a"'
        text = text.replace("{O}", "{" + inner + "}", 1).replace("{I}", inner, 1)
    path.write_text(text, encoding="utf-8")
    expected = [("p1", 1, "deliver"), ("p1", 2, "deliver")]
    assert by_audit(path).rows == by_conform(path).rows == expected
    path.write_text(text.rstrip()[:-1], encoding="utf-8")
    assert by_audit(path).unreadable and by_conform(path).unreadable


def test_a_pipe_is_read_whole(tmp_path: Path) -> None:
    """Whatever has to be looked at to know what is in it."""
    line = '{"process":"p1","pos":%d,"kind":"deliver","msg":"a"}\n'
    text = "".join(line % pos for pos in range(1, 1000))
    (tmp_path / "log").write_text(text, encoding="utf-8")
    for by in (by_audit, by_conform):
        ends = os.pipe()
        with os.fdopen(ends[0], "rb"):
            os.write(ends[1], text.encode()[:60_000])
            os.close(ends[1])
            found = by(Path(f"/dev/fd/{ends[0]}"))
        assert found.rows == by(tmp_path / "log").rows and len(found.rows) == 999


def test_an_empty_name_is_no_log() -> None:
    with pytest.raises(SpecError) as of_audit:
        find_files(("",))
    with pytest.raises(SpecError) as of_conform:
        read_logs([""], LogMapping())
    assert of_audit.value.diagnostics[0].code == "E080"
    assert of_conform.value.diagnostics[0].code == "E075"


def test_a_blank_line_does_not_move_the_lines_after_it(tmp_path: Path) -> None:
    path = tmp_path / "p1.ndjson"
    good = '{"process":"p1","pos":1,"kind":"start"}\n\n\n{"process":"p1","kind":"start"}\n'
    path.write_text(good, encoding="utf-8")
    (found,) = by_audit(path).wrong
    assert found.code == "E081" and found.span is not None and found.span.line == 4
