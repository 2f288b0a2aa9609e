"""A process may crash at any point of a step, also where no property could tell the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.cli.main import main
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.results.verdict import Word

RAFT = str(resources.specs() / "replication" / "raft.bcast")
STANDS = {"kind": "handler", "name": "stands"}
CRASH = {"kind": "crash"}


def asks(*receivers: str) -> dict[str, Any]:
    fields = {"term": 1, "last": 0, "length": 0}
    return {"kind": "send", "message": "ASK", "fields": fields, "receivers": list(receivers)}


def back(term: int) -> dict[str, Any]:
    return {"kind": "recover", "state": {"term": term, "phase": "follower"}}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([STANDS, CRASH, back(1)], Word.HOLDS),  # stored, and nothing sent
        ([STANDS, CRASH, back(0)], Word.HOLDS),  # nothing stored
        ([STANDS, asks("p2"), CRASH, back(1)], Word.HOLDS),
        ([STANDS, asks("p2", "p3"), CRASH, back(1)], Word.HOLDS),
        ([STANDS, asks("p2"), CRASH, back(0)], Word.VIOLATED),  # stored before it is sent
        ([STANDS, asks("p2"), STANDS], Word.VIOLATED),
        ([STANDS, asks("p2")], Word.VIOLATED),  # its log has an end: it has not crashed
    ],
)
def test_what_is_logged_before_a_crash(
    rows: list[dict[str, Any]], word: Word, engine: str, tmp_path: Path
) -> None:
    files = []
    for process, own in (("p1", rows), ("p2", []), ("p3", [])):
        ended = [*own, {"kind": "end"}]
        lines = [{"process": process, "pos": n, **row} for n, row in enumerate(ended, 1)]
        file = tmp_path / process
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        files.append(str(file))
    found = conform(Asked(RAFT, "one_term", Options(engine=engine)), files)
    assert found.word is word, found.obstacles


def test_a_run_with_a_crash_that_no_property_could_tell_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = [{"process": "p1", "pos": n, **row} for n, row in enumerate([STANDS, CRASH, back(1)], 1)]
    (tmp_path / "p1").write_text("".join(json.dumps(row) + "\n" for row in log), encoding="utf-8")
    trace = str(tmp_path / "trace.json")
    said = ["conform", f"{RAFT}::one_term", str(tmp_path / "p1"), "--trace-out", trace]
    assert main([*said, "-q"]) == 0
    capsys.readouterr()
    assert main(["replay", trace]) == 0
    said_again = capsys.readouterr().out
    assert "p1 comes back up" in said_again and "the check has no property" in said_again
    document = json.loads(Path(trace).read_text(encoding="utf-8"))
    del document["steps"][1:2]
    Path(trace).write_text(json.dumps(document), encoding="utf-8")
    assert main(["replay", trace]) != 0


THREADS = """
protocol Threads {
  message FLUSH
  role broker(1) {
    state asked : 0..2 = 0
    upon condition asked < 2 as asks { asked += 1  send FLUSH to flusher }
  }
  role flusher(1) DIES {
    stable state flushed : 0..4 = 0
    upon receive FLUSH as flushes { if flushed < 4 { flushed += 1 } }
  }
  property few : always forall l in flusher: l.flushed <= 4
}
check c of Threads { faults crash <= 1, recover  prove few }
"""
ASKS, FLUSHES = {"kind": "handler", "name": "asks"}, {"kind": "handler", "name": "flushes"}
BACK = {"kind": "recover"}


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(
    ("broker", "flusher", "together", "apart"),
    [
        ([ASKS, CRASH, BACK, ASKS], [CRASH, BACK, FLUSHES], True, False),
        ([ASKS, CRASH, BACK], [FLUSHES, CRASH, BACK], True, False),
        ([ASKS, ASKS], [FLUSHES, CRASH, BACK, FLUSHES], False, True),  # the flusher alone
        ([ASKS, CRASH, BACK, ASKS], [FLUSHES, FLUSHES], False, True),
        ([ASKS, CRASH, BACK], [CRASH, BACK, FLUSHES], False, False),  # what died with them
    ],
)
def test_who_stops_together(
    broker: list[dict[str, Any]],
    flusher: list[dict[str, Any]],
    together: bool,
    apart: bool,
    engine: str,
    tmp_path: Path,
) -> None:
    for dies, conforms in (("dies with broker", together), ("", apart)):
        spec = tmp_path / "threads.bcast"
        spec.write_text(THREADS.replace("DIES", dies), encoding="utf-8")
        files = []
        for process, own in (("b1", broker), ("f1", flusher)):
            lines = [
                {"process": process, "pos": n, **row}
                for n, row in enumerate([*own, {"kind": "end"}], 1)
            ]
            file = tmp_path / process
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            files.append(str(file))
        found = conform(Asked(str(spec), "c", Options(engine=engine)), files)
        assert (found.word is Word.HOLDS) is conforms, found.obstacles


PARTS = """
protocol Parts {
  message GO(k: 1..2)
  role sender(1) {
    state sent = false
    upon condition not sent as goes {
      sent := true
      send GO(1) to all taker
      send GO(2) to all taker
    }
  }
  role taker(1) { upon receive GO(k) { skip } }
  property fine "" : always true
}
check c of Parts { faults crash <= 9, recover  allow unused  prove fine }
"""


def test_a_step_that_a_crash_cuts_off_is_explained_only_before_a_crash(tmp_path: Path) -> None:
    """Equal lines after an equal state: the next line makes the difference."""
    goes = {"kind": "handler", "name": "goes"}
    first = {"kind": "send", "message": "GO", "fields": {"k": 1}}
    cut = [goes, first, CRASH, BACK]
    (tmp_path / "parts.bcast").write_text(PARTS, encoding="utf-8")
    for rows, red in (([*cut, *cut], 0), ([*cut, goes, first, goes, first, CRASH], 1)):
        ended = [*rows, {"kind": "end"}]
        lines = [{"process": "s1", "pos": n, **row} for n, row in enumerate(ended, 1)]
        file = tmp_path / "s1"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        asked = Asked(str(tmp_path / "parts.bcast"), "c", Options(engine="reference"), windows=True)
        found = conform(asked, [str(file)]).windows
        assert found is not None
        assert sum(each.red for each in found.handlers) == red
