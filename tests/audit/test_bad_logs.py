"""What is wrong with a log is a diagnostic with file and row; nothing is skipped silently."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker.audit.arrow_log import _dense
from checker.audit.audit import Request, audit
from checker.audit.manifest import Manifest, Told, read_manifest
from checker.audit.processes import Grace
from checker.audit.restrict import Restriction
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from checker.logs.read_mapping import read_mapping
from tests.audit.logs import ask, rows, words, write

GOOD = "p1 0 broadcast a\np1 1 deliver a\np2 0 deliver a"


def problem(*files: Path | str, interface: str = "ReliableBroadcast") -> Diagnostic:
    with pytest.raises(SpecError) as caught:
        audit(Request(tuple(str(f) for f in files), interface))
    return caught.value.diagnostics[0]


def lines(folder: Path, *given: str, name: str = "log.ndjson") -> Path:
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in given), encoding="utf-8")
    return file


ROW = '{"process": "p1", "pos": 0, "kind": "broadcast", "msg": "a"}'


@pytest.mark.every
@pytest.mark.parametrize(
    ("second", "code", "said"),
    [
        ('{"process": "p1", "kind": "deliver", "msg": "a"}', "E081", "no `pos`"),
        ('{"pos": 1, "kind": "deliver", "msg": "a"}', "E081", "no `process`"),
        ('{"process": "p1", "pos": 1, "kind": "deliver"}', "E081", "no `msg`"),
        ('{"process": "p1", "pos": -3, "kind": "deliver", "msg": "a"}', "E082", "decrease"),
        ('{"process": "p1", "pos": 0, "kind": "deliver", "msg": "a"}', "E083", "0 twice"),
        ('{"process": "p1", "pos": "x", "kind": "deliver", "msg": "a"}', "E088", "`pos` is 'x'"),
        ('{"process": "p1", "pos": 1.5, "kind": "deliver", "msg": "a"}', "E088", "`pos` is 1.5"),
        ('{"process": "p1", "pos": 1, "kind": "deliver", "msg": ["a"]}', "E088", "`msg` is"),
        (
            '{"process": "p1", "pos": 1, "kind": "deliver", "msg": "a", "status": "late"}',
            "E088",
            "`status` is 'late'",
        ),
        ('{"process": "p1", "pos": 1, ', "E080", "not JSON"),
        ("17", "E080", "not a JSON object"),
        ("[" * 200_000, "E080", "nested too deep"),
        ('{"x": ' + "[" * 200_000 + "]" * 200_000 + "}", "E080", "nested too deep"),
    ],
)
def test_a_bad_row_is_told_with_its_line(second: str, code: str, said: str, tmp_path: Path) -> None:
    third = '{"process": "p2", "pos": 0, "kind": "deliver", "msg": "a"}'
    found = problem(lines(tmp_path, ROW, second, third))
    assert found.code == code and said in found.message, found
    assert found.span is not None and found.span.line == 2


def test_a_sender_is_named_by_all_deliveries_or_none(tmp_path: Path) -> None:
    found = problem(write(tmp_path, "p1 0 deliver a from p2\np1 1 deliver b"))
    assert found.code == "E089" and found.span is not None and found.span.line == 2


def test_two_logs_of_one_process_are_told(tmp_path: Path) -> None:
    found = problem(write(tmp_path, GOOD, "a.ndjson"), write(tmp_path, GOOD, "b.ndjson"))
    assert found.code == "E083" and "a.ndjson" in found.message
    assert found.span is not None and found.span.file.endswith("b.ndjson")


def test_a_log_may_go_on_in_another_file(tmp_path: Path) -> None:
    first = write(tmp_path, "p1 0 broadcast a\np1 1 deliver a", "p1.1.ndjson")
    second = write(tmp_path, "p1 2 deliver b", "p1.2.ndjson")
    found = audit(Request((second, first), "Queue", ()))
    assert words(found)["no_creation"] == "violated"
    assert found.report.log is not None and found.report.log.rows == 3


def test_half_a_last_line_is_a_gap(tmp_path: Path) -> None:
    file = tmp_path / "log.ndjson"
    text = "\n".join(json.dumps(row) for row in rows(GOOD.replace("p2 0 deliver a", "p2 0 start")))
    file.write_text(text + '\n{"process": "p2", "po', encoding="utf-8")
    found = audit(Request((str(file),), "ReliableBroadcast"))
    (warning,) = found.warnings
    assert warning.code == "E085" and warning.span is not None and warning.span.line == 4
    assert words(found)["agreement"] == "unknown"
    assert words(found)["no_duplication"] == "holds within what is logged"


def test_half_a_line_alone_is_a_log_of_which_nothing_is_known(tmp_path: Path) -> None:
    """Its process takes part, so nothing that needs all logs is known to hold."""
    whole = write(tmp_path, GOOD)
    half = tmp_path / "p3.ndjson"
    half.write_text('{"process": "p', encoding="utf-8")
    found = audit(Request((whole, str(half)), "ReliableBroadcast"))
    assert [w.code for w in found.warnings] == ["E085"]
    (reason,) = (v.reason for v in found.report.verdicts if v.property == "agreement")
    assert words(found)["agreement"] == "unknown" and "the last line of" in reason
    alone = words(audit(Request((str(half),), "ReliableBroadcast")))
    assert alone["agreement"] == "unknown" and alone["no_duplication"] == "vacuous"


def test_a_file_that_is_given_twice_is_told(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    (tmp_path / "link.ndjson").symlink_to(file)
    for others in ((file,), (f"{tmp_path}/./log.ndjson",), (str(tmp_path / "link.ndjson"),)):
        found = problem(file, *others)
        assert found.code == "E083" and "duplicate log" in found.message


@pytest.mark.parametrize(
    ("log", "word"),
    [
        ("p1 1 start\np1 2 broadcast a\np1 3 deliver a\np2 1 start\np2 2 deliver a", "holds"),
        ("p1 1 start\np1 2 broadcast a\np1 3 deliver a\np2 1 start\np2 3 deliver a", "unknown"),
        ("p1 0 start\np1 2 broadcast a\np1 9 deliver a\np2 5 deliver a", "holds"),
    ],
)
def test_lines_that_are_numbered_one_by_one_have_no_gaps(
    log: str, word: str, tmp_path: Path
) -> None:
    """As `conform` has it; positions that do not begin with `start` at 1 are any that increase."""
    assert words(ask(tmp_path, log, "ReliableBroadcast"))["agreement"] == word


def test_an_unknown_column_is_told_once(tmp_path: Path) -> None:
    given = [json.dumps({**row, "ofset": 1}) for row in rows(GOOD)]
    found = audit(Request((str(lines(tmp_path, *given)),), "ReliableBroadcast"))
    (warning,) = found.warnings
    assert warning.code == "E084" and "`ofset`" in warning.message and "`offset`" in warning.hint
    ignored = LogMapping(ignored=("ofset",))
    request = Request((str(tmp_path / "log.ndjson"),), "ReliableBroadcast", mapping=ignored)
    assert audit(request).warnings == []


def test_compressed_logs_and_csv_and_parquet_are_read(tmp_path: Path) -> None:
    plain = words(ask(tmp_path, GOOD, "ReliableBroadcast"))
    (tmp_path / "z").mkdir()
    with gzip.open(tmp_path / "z" / "log.ndjson.gz", "wt") as out:
        out.write((tmp_path / "log.ndjson").read_text())
    table = pa.Table.from_pylist(rows(GOOD))
    (tmp_path / "p").mkdir()
    pq.write_table(table, tmp_path / "p" / "part-0.parquet")
    names = table.column_names
    given = [",".join(str(row[n]) for n in names) for row in rows(GOOD)]
    (tmp_path / "c").mkdir()
    csv = lines(tmp_path / "c", ",".join(names), *given, name="log.csv")
    for source in (tmp_path / "z", tmp_path / "p", csv):
        assert words(audit(Request((str(source),), "ReliableBroadcast"))) == plain


def test_a_bad_value_in_a_csv_is_told_with_its_line(tmp_path: Path) -> None:
    csv = lines(
        tmp_path, "process,pos,kind,msg", "p1,0,broadcast,a", "p1,x,deliver,a", name="l.csv"
    )
    found = problem(csv)
    assert found.code == "E088" and found.span is not None and found.span.line == 3


def test_integers_may_name_messages(tmp_path: Path) -> None:
    given = [json.dumps({**row, "msg": 7}) for row in rows(GOOD)]
    found = audit(Request((str(lines(tmp_path, *given)),), "ReliableBroadcast"))
    assert found.report.exit_code == 0


def test_names_of_other_logs_are_mapped(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        '[columns]\nprocess = "@file"\npos = "@row"\nmsg = "id"\nkind = "what"\n'
        '[values.kind]\nbroadcast = "sent"\ndeliver = "got"\n',
        encoding="utf-8",
    )
    lines(tmp_path, '{"what": "sent", "id": "a"}', '{"what": "got", "id": "a"}', name="p1.ndjson")
    lines(tmp_path, '{"what": "got", "id": "a"}', '{"what": "got", "id": "a"}', name="p2.ndjson")
    files = tuple(str(tmp_path / f"{p}.ndjson") for p in ("p1", "p2"))
    request = Request(files, "ReliableBroadcast", mapping=read_mapping(str(mapping)))
    found = words(audit(request))
    assert found == {
        "validity": "holds",
        "no_duplication": "violated",
        "no_creation": "holds",
        "agreement": "holds",
    }


def test_a_bad_manifest_is_told(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text("[processes.p1]\ncrashed = 3\n", encoding="utf-8")
    with pytest.raises(SpecError, match="`crashed` of `p1` is 3"):
        read_manifest(str(file))


def test_the_lines_of_recorders_are_read(tmp_path: Path) -> None:
    from checker.record import Recorder

    for name in ("p1", "p2"):
        with Recorder(tmp_path / f"{name}.ndjson", name) as recorder:
            recorder.request("propose", "a" if name == "p1" else 7)
            recorder.send("PROPOSAL", ["p1", "p2"], {"v": "a"})
            recorder.receive(
                "PROPOSAL", "p1", {"v": "a"}, state={"seen": 1 if name == "p1" else "x"}
            )
            recorder.perform("write(a)")
            recorder.indicate("decide", "a")
    found = audit(Request((str(tmp_path),), "MessageConsensus", ("at_most_once over effects",)))
    assert words(found) == {
        "termination": "holds",
        "consensus_validity": "holds",
        "consensus_integrity": "holds",
        "consensus_agreement": "holds",
        "uniform_consensus_agreement": "holds",
        "at_most_once over effects": "violated",
    }
    assert found.warnings == []
    log = found.report.log
    assert log is not None and ("receive (not checked)", 2) in log.kinds


def test_what_is_no_log_or_interface_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path / "none.ndjson").code == "E080"
    assert problem(lines(tmp_path, "x", name="log.txt")).code == "E080"
    assert problem(write(tmp_path, GOOD), interface="Reliable").code == "E087"


def test_a_log_without_a_line_is_empty(tmp_path: Path) -> None:
    """Who has not written anything yet has done nothing that is known."""
    (tmp_path / "p1.ndjson").write_text("", encoding="utf-8")
    found = audit(Request((str(tmp_path),), "TotalOrderBroadcast", ()))
    assert set(words(found).values()) == {"vacuous"}
    assert found.warnings == []


@pytest.mark.parametrize("most", [50, 10**9])
def test_numbers_of_values_are_the_same_whatever_the_room(most: int) -> None:
    """Values far apart are numbered as those close together are."""
    keys = [np.array([7, -1, 3, 7]), np.array([-1, 49, 3])]
    numbers, known = _dense(keys, most)
    assert known.tolist() == [3, 7, 49]
    assert [found.tolist() for found in numbers] == [[1, -1, 0, 1], [-1, 2, 0]]


def test_what_goes_by_times_wants_times(tmp_path: Path) -> None:
    for more in ({"restriction": Restriction(since=5.0)}, {"grace": Grace(seconds=1.0)}):
        with pytest.raises(SpecError) as caught:
            ask(tmp_path, GOOD, "ReliableBroadcast", **more)
        (found,) = caught.value.diagnostics
        assert found.code == "E081" and "`ts`" in found.message


def test_a_log_without_its_beginning_is_a_gap(tmp_path: Path) -> None:
    """Where others have their `start`: a log that was rotated away says nothing of it itself."""
    whole = "p1 1 start\np1 2 broadcast a\np1 3 deliver a\np2 1 start\np2 2 deliver a\n"
    cut = "p1 1 start\np1 2 broadcast a\np1 3 deliver a\np2 7 deliver a\n"
    assert words(ask(tmp_path, whole, "ReliableBroadcast"))["agreement"] == "holds"
    (verdict,) = ask(tmp_path, cut, "ReliableBroadcast", only=("agreement",)).report.verdicts
    assert verdict.label() == "unknown"
    assert verdict.reason == "the log of p2 begins at position 7, without `start`"


def test_a_log_that_ends_before_its_manifest_says_is_a_gap(tmp_path: Path) -> None:
    log = "p1 1 start\np1 2 broadcast a\np1 3 deliver a\np2 1 start\np2 2 deliver a\n"
    manifest = Manifest({"p2": Told(last=9)}, Told(), "m.toml")
    (verdict,) = ask(
        tmp_path, log, "ReliableBroadcast", only=("agreement",), manifest=manifest
    ).report.verdicts
    assert verdict.label() == "unknown" and "lacks 7 lines of 9" in verdict.reason
