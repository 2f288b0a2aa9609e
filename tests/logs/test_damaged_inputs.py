"""Every reader of `judge`, `audit` and `conform` on damaged inputs: each ends in diagnostics with
their places, or in a report that has all rows that are there."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import Struct

from checker.audit.audit import Request as Audited
from checker.audit.audit import audit
from checker.cli import console
from checker.cli.reporting import Display, print_report
from checker.conform.read_log import read_logs
from checker.diagnostics import Diagnostic, SpecError
from checker.formats import json_format
from checker.histories.judging import LINEARIZABLE, Judge, Request, judge_of
from checker.histories.pairing import shape_of
from checker.logs.mapping import LogMapping
from checker.logs.read_mapping import read_mapping
from checker.render.terminal.judgement import judgement_view
from tests.logs.damage import COMPRESSIONS, damaged
from tests.logs.test_damaged_mappings import DUMP, NAMED, OTLP, TEXT

# ---- inputs that are whole ----------------------------------------------------------------------

EVENTS = [
    {"process": p, "pos": pos, "kind": kind, "msg": msg}
    for p, pos, kind, msg in [
        ("p1", 1, "broadcast", "a"), ("p1", 2, "deliver", "a"), ("p2", 1, "deliver", "a"),
        ("p2", 2, "broadcast", "ü"), ("p1", 3, "deliver", "ü"),
    ]
]  # fmt: skip
CALLS = [
    (0, "invoke", "write", 3), (1, "invoke", "read", None), (0, "ok", "write", 3),
    (1, "ok", "read", 3), (0, "invoke", "cas", [3, 4]), (0, "info", "cas", [3, 4]),
]  # fmt: skip
TRANSACTIONS = [
    (0, "invoke", [["append", 1, 1], ["r", 2, None]]), (0, "ok", [["append", 1, 1], ["r", 2, []]]),
    (1, "invoke", [["r", 1, None]]), (1, "ok", [["r", 1, [1]]]),
]  # fmt: skip
ROWS = [dict(zip(("process", "type", "f", "value"), call, strict=True)) for call in CALLS]
TIMED = [
    {"process": n % 2, "f": f, "value": v, "result": r, "call_time": n, "return_time": n + 3}
    for n, (f, v, r) in enumerate([("write", 3, None), ("read", None, 3), ("write", "ü", None)])
]
RECORDED = [
    {"process": "c1", "pos": 1, "kind": "request", "name": "write", "arguments": [3], "call": 1},
    {"process": "c1", "pos": 2, "kind": "indicate", "name": "write", "arguments": [], "call": 1},
    {"process": "c1", "pos": 3, "kind": "crash"},
]


def ndjson(rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def pretty(rows: Sequence[object]) -> bytes:
    return json.dumps(rows, indent=1, ensure_ascii=False).encode()


def edn_of(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(edn_of, value))}]"
    return {None: "nil"}.get(value, f":{value}" if isinstance(value, str) else str(value))  # type: ignore[call-overload]


def edn(rows: Sequence[dict[str, object]]) -> str:
    maps = [", ".join(f":{name} {edn_of(v)}" for name, v in row.items()) for row in rows]
    return "".join(f"{{{each}}}\n" for each in maps)


def transactions() -> list[dict[str, object]]:
    return [{"process": p, "type": t, "f": "txn", "value": v} for p, t, v in TRANSACTIONS]


def printed() -> bytes:
    line = "INFO  jepsen.util - {}\t:{}\t:{}\t{}\n"
    return "".join(line.format(p, t, f, edn_of(v)) for p, t, f, v in CALLS).encode()


def csv_of(rows: Sequence[dict[str, object]]) -> bytes:
    lines = [",".join(map(str, rows[0])), *(",".join(map(str, row.values())) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(EVENTS), sink)
    return sink.getvalue()


HISTORY_TEXT = "c1 > write 3\nc1 < write 3\nc2 > read nil\nc2 < read 3\n# ü\n"
HISTORY_NAMES = (
    "lines = '^(?P<process>c\\d) (?P<way>[<>]) (?P<f>\\w+) (?P<value>.*)$'\n"
    '[columns]\ntype = "way"\n[values.type]\ninvoke = ">"\nok = "<"\n'
)


class Input(Struct, frozen=True):
    """What a command reads: ``names`` is the mapping; ``suffix`` that of the file; ``rows``: the
    number of rows that a text has, where it is known without reading it."""

    command: str
    format: str
    data: bytes
    names: str = ""
    suffix: str = ""
    asked: str = "CompareAndSwap"
    rows: Callable[[bytes], int | None] = lambda data: None


def by_lines(data: bytes) -> int:
    """Returns the number of lines that are not blank; a byte order mark is not a line."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return sum(bool(line.decode(errors="replace").strip()) for line in lines)


def but_first(data: bytes) -> int | None:
    """Where a value in quotation marks may have line ends, nobody knows."""
    return None if b'"' in data or b"\r" in data or b"\x0b" in data else max(by_lines(data) - 1, 0)


def parsed(data: bytes) -> object:
    """Returns the value that a text is; ``None`` where it is cut, or several."""
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None


def in_array(data: bytes) -> int | None:
    found = parsed(data)
    return len(found) if isinstance(found, list) else None


def spans(data: bytes) -> int | None:
    found = parsed(data)
    if not isinstance(found, dict):
        return None
    scopes = [scope for r in found.get("resourceSpans", ()) for scope in r.get("scopeSpans", ())]
    return sum(len(scope.get("spans", ())) for scope in scopes)


def maps_at_top(data: bytes) -> int | None:
    """Returns the number of maps in EDN, all of which are rows."""
    return None if re.search(rb'[;"\\#]', data) else len(re.findall(rb"\{[^{}]*\}", data))


def records(data: bytes) -> int | None:
    return None if b"isvalid: true" not in data else len(re.findall(rb"(?m)^\| offset: \d+ ", data))


INPUTS = [
    Input("judge", "NDJSON", ndjson(ROWS), rows=by_lines),
    Input("judge", "times", ndjson(TIMED), asked="Register", rows=by_lines),
    Input("judge", "recorder", ndjson(RECORDED), asked="Register"),
    Input("judge", "pretty JSON", pretty(ROWS), rows=in_array),
    Input("judge", "OTLP", OTLP.encode(), rows=spans, asked="Register"),
    Input("judge", "EDN", edn(ROWS).encode(), rows=maps_at_top),
    Input("judge", "EDN in a vector", f"[{edn(ROWS)}]".encode(), rows=maps_at_top),
    Input("judge", "EDN transactions", edn(transactions()).encode(), "", "", "ListAppend"),
    Input("judge", "JSON transactions", ndjson(transactions()), "", "", "ListAppend", by_lines),
    Input("judge", "printed log", printed(), rows=by_lines),
    Input("judge", "text", HISTORY_TEXT.encode(), HISTORY_NAMES, "", "Register", by_lines),
    Input("audit", "NDJSON", ndjson(EVENTS), suffix=".ndjson", rows=by_lines),
    Input("audit", "pretty JSON", pretty(EVENTS), suffix=".json", rows=in_array),
    Input("audit", "OTLP", OTLP.encode(), NAMED, ".json", rows=spans),
    Input("audit", "CSV", csv_of(EVENTS), suffix=".csv", rows=but_first),
    Input("audit", "Parquet", parquet(), suffix=".parquet"),
    Input("audit", "text", b"p1 1 deliver a\np2 1 deliver b 3.5\n", TEXT, rows=by_lines),
    Input("audit", "dump", DUMP.encode(), suffix=".log"),
    Input("conform", "NDJSON", ndjson(EVENTS), rows=by_lines),
    Input("conform", "pretty JSON", pretty(EVENTS), rows=in_array),
    Input("conform", "OTLP", OTLP.encode(), NAMED, rows=spans),
    Input("conform", "text", b"p1 1 deliver a\np2 1 deliver b 3.5\n", TEXT, rows=by_lines),
]


# ---- damage -------------------------------------------------------------------------------------

TOKEN = re.compile(rb'"[^"\n]*"|:[a-z]+|-?\d+|nil|null|true|\[[^\[\]\n]*\]|\{[^{}\n]*\}')
VALUES = (
    *(b'"x"', b'""', b"7", b"-1", b"1.5", b"true", b"null", b"nil", b":x", b"{}", b"[]", b"[[1]]"),
    *(b"1e999", b"-0.0", b"9" * 30, b"9" * 5000, b"18446744073709551616", b"1/2", b"#{1}"),
    *(b"[" * 900 + b"]" * 900, b"{:a " * 900 + b"}" * 900, b'{"a":' * 900 + b"}" * 900),
    *(b'"\\ud800"', b'"\\u0000"', b'"\xff"', b"\\a", b"##NaN", b'#inst "x"', b"#_", b"NaN"),
)


def of_other_type(draw: random.Random, data: bytes) -> bytes:
    """Puts a value in the place of another one."""
    found = [*TOKEN.finditer(data)]
    if not found:
        return data
    at = draw.choice(found)
    return data[: at.start()] + draw.choice(VALUES) + data[at.end() :]


def of_other_lines(draw: random.Random, data: bytes) -> bytes:
    """Swaps, repeats or leaves out lines."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(3):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case _:
            del lines[one]
    return b"".join(lines)


def flipped(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) or 1)
    return data[:at] + bytes(b ^ 1 << draw.randrange(8) for b in data[at : at + 1]) + data[at + 1 :]


DAMAGES = (damaged, of_other_type, of_other_type, of_other_lines, flipped)


# ---- what the commands make of it ---------------------------------------------------------------


class Outcome(Struct):
    """What became of an input: ``wrong`` is what it was refused for; else the number of its
    ``rows``, also those that are said to be left out, and whether ``cut`` says that the last one
    is incomplete."""

    wrong: tuple[Diagnostic, ...] = ()
    rows: int = 0
    cut: bool = False


def require_shown(show: Callable[[], None]) -> None:
    """Fails where what is shown has characters that no terminal can be sent."""
    said = io.StringIO()
    with redirect_stdout(said):
        show()
    said.getvalue().encode()


def judged(path: Path, mapping: LogMapping, asked: str) -> Outcome:
    shape, model = shape_of(mapping, False), LINEARIZABLE
    if asked == "ListAppend":
        model = "strict-serializable"
    known = MACHINES.setdefault(asked, judge_of(Request(asked, model)))
    request = Request(asked, model, shape, mapping)
    report = Judge(request, known.machines).judge(str(path))
    require_shown(lambda: console.print_view(judgement_view(report, pictures=True)))
    json.dumps(json_format.report_to_json(report), allow_nan=False, ensure_ascii=False).encode()
    return Outcome((), report.rows, any(each.code == "E085" for each in report.warnings))


MACHINES: dict[str, Judge] = {}


def audited(path: Path, mapping: LogMapping, asked: str) -> Outcome:
    found = audit(Audited((str(path),), "BestEffortBroadcast", mapping=mapping))
    require_shown(lambda: print_report(found.report, Display(quiet=False)))
    json.dumps(json_format.report_to_json(found.report), allow_nan=False).encode()
    assert found.report.log is not None
    skipped = sum(_skipped(each.message) for each in found.warnings if each.code == "E098")
    cut = any(each.code == "E085" for each in found.warnings)
    return Outcome((), found.report.log.rows + skipped, cut)


def _skipped(message: str) -> int:
    more = re.search(r"; ([\d,]+) lines", message)
    return int(more[1].replace(",", "")) if more else 1


def conformed(path: Path, mapping: LogMapping, asked: str) -> Outcome:
    logs = read_logs([str(path)], mapping)
    skipped = sum(map(_skipped, logs[0].skipped))
    lost = sum("lost" in row.data for log in logs for rows in log.rows.values() for row in rows)
    return Outcome((), sum(log.read for log in logs) + skipped - lost, bool(lost))


COMMANDS = {"judge": judged, "audit": audited, "conform": conformed}


def outcome_of(given: Input, path: Path, mapping: LogMapping) -> Outcome:
    try:
        return COMMANDS[given.command](path, mapping, given.asked)
    except SpecError as problem:
        return Outcome(problem.diagnostics)


def require_told(given: Input, path: Path, found: Outcome, text: bytes | None) -> None:
    """Fails where a diagnostic has no place, or a row is left out that nothing is said of.
    ``text``: what is in the file, where that is known."""
    for each in found.wrong:
        assert each.code.startswith("E") and each.message, each
        if each.span is None:
            assert str(path) in each.message, each
            whole = re.search("can't be read: it is|is not a log", each.message)
            assert (
                whole or each.code in ("E075", "E081") or text is None or given.format == "Parquet"
            ), each
        else:
            assert each.span.file == str(path), each
            most = 1 + (text or b"").count(b"\n") if text is not None else 1 << 30
            assert 1 <= each.span.line <= most, each
    if found.wrong or text is None:
        return
    expected = given.rows(text)
    if expected is not None:
        assert expected in (found.rows, found.rows + found.cut), (found, expected, text)


def run(given: Input, number: int, seed: int, folder: Path) -> tuple[int, int]:
    """Reads damaged inputs; returns how many are refused, and how many are not."""
    draw = random.Random(f"{given.command} {given.format} {seed}")
    names = folder / "names.toml"
    names.write_text(given.names, encoding="utf-8")
    mapping = read_mapping(str(names) if given.names else None)
    path, refused = folder / f"p1{given.suffix}", 0
    for _ in range(number):
        text: bytes | None = given.data
        for _ in range(draw.choice([1, 1, 2, 3])):
            text = draw.choice(DAMAGES)(draw, text or b"")
        assert text is not None
        data = text
        if given.format != "Parquet" and draw.random() < 0.2:
            name = draw.choice([each for each in COMPRESSIONS if each != "plain"])
            data = COMPRESSIONS[name](text)
            if draw.random() < 0.5:
                data, text = draw.choice([flipped, damaged])(draw, data), None
        path.write_bytes(data)
        try:
            found = outcome_of(given, path, mapping)
            require_told(given, path, found, text)
        except Exception as problem:
            problem.add_note(f"{given.command}, {given.format}: {data[:3000]!r}")
            raise
        refused += bool(found.wrong)
    return refused, number - refused


@pytest.mark.parametrize("given", INPUTS, ids=lambda each: f"{each.command} {each.format}")
def test_whole_inputs_are_read(given: Input, tmp_path: Path) -> None:
    (tmp_path / "names.toml").write_text(given.names, encoding="utf-8")
    mapping = read_mapping(str(tmp_path / "names.toml") if given.names else None)
    path = tmp_path / f"p1{given.suffix}"
    path.write_bytes(given.data)
    found = outcome_of(given, path, mapping)
    require_told(given, path, found, given.data)
    assert not found.wrong and found.rows > 1 and not found.cut


@pytest.mark.every
@pytest.mark.parametrize("given", INPUTS, ids=lambda each: f"{each.command} {each.format}")
def test_damaged_inputs_are_refused_or_read_to_the_last_row(given: Input, tmp_path: Path) -> None:
    refused, _ = run(given, 16, 1, tmp_path)
    assert refused > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("given", INPUTS, ids=lambda each: f"{each.command} {each.format}")
def test_many_damaged_inputs(given: Input, seed: int, tmp_path: Path) -> None:
    run(given, 500, seed, tmp_path)
