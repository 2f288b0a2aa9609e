"""Requests that return: clients wait, crashes leave operations pending, wrong returns are errors;
and what is said and drawn of a violation."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.formats.json_format import trace_from_text, trace_to_text
from checker.language.load import load_text
from checker.render.diagram.svg import svg_of_trace
from checker.results.trace import Interval, Trace
from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check

LOCAL = """
protocol Local implements Register {
  state value : option<Msg> = none
  upon request read() { READ }
  upon request write(v) { WRITE }
}
check c of Local { n = 1  FAULTS  clients { CLIENTS }  prove ASK  allow unused }
"""
ASK = "linearizable as Register"


def report(
    folder: Path, ask: str = ASK, read: str = "read_return(value)",
    write: str = "value := some(v)  write_return()", clients: str = "p1 writes a  p1 reads",
    faults: str = "", engine: str = "native", fine: bool = False,
) -> Report:  # fmt: skip
    text = LOCAL
    parts = {"READ": read, "WRITE": write, "FAULTS": faults, "CLIENTS": clients, "ASK": ask}
    for name, said in parts.items():
        text = text.replace(name, said)
    path = folder / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    options = Options(engine=engine, fine_steps=fine, explain=2.0)
    return run_check(str(path), None, options)


def word(found: Report) -> str:
    (verdict,) = found.verdicts
    return str(verdict.word)


ENGINES = pytest.mark.parametrize(
    ("engine", "fine"), [("reference", False), ("native", False), ("native", True)]
)


@ENGINES
def test_what_a_process_does_alone(tmp_path: Path, engine: str, fine: bool) -> None:
    assert word(report(tmp_path, engine=engine, fine=fine)) == "holds"
    forgets = report(tmp_path, write="write_return()", engine=engine, fine=fine)
    assert word(forgets) == "violated"


@ENGINES
def test_where_nothing_returns_it_is_vacuous(tmp_path: Path, engine: str, fine: bool) -> None:
    found = report(tmp_path, write="value := some(v)", engine=engine, fine=fine)
    assert word(found) == "vacuous"


@ENGINES
@pytest.mark.parametrize(
    "write",
    ["write_return()  write_return()", "read_return(none)", "write_return()  read_return(none)"],
)
def test_a_return_that_nobody_waits_for(
    tmp_path: Path, engine: str, fine: bool, write: str
) -> None:
    found = report(tmp_path, write=write, engine=engine, fine=fine)
    assert word(found) == "error"
    (verdict,) = found.verdicts
    assert "R007" in verdict.reason


@ENGINES
@pytest.mark.parametrize(
    ("kept", "write", "expected"),
    [
        # The write that a crash has cut took effect, which is seen after the crash, or it did not.
        ("stable ", "value := some(v)  write_return()", "holds"),
        # What had returned before the crash is forgotten.
        ("", "value := some(v)  write_return()", "violated"),
        # It returns before it is stored.
        ("stable ", "write_return()  value := some(v)", "violated"),
    ],
)
def test_crashes(
    tmp_path: Path, engine: str, fine: bool, kept: str, write: str, expected: str
) -> None:
    text = LOCAL.replace("  state value", f"  {kept}state value")
    parts = {
        "READ": "read_return(value)", "WRITE": write, "FAULTS": "faults crash <= 1, recover",
        "CLIENTS": "p1 writes a  p1 reads  p1 reads", "ASK": ASK,
    }  # fmt: skip
    for name, said in parts.items():
        text = text.replace(name, said)
    path = tmp_path / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    found = run_check(str(path), None, Options(engine=engine, fine_steps=fine))
    assert word(found) == expected


def test_an_operation_that_no_client_calls_is_a_warning() -> None:
    text = LOCAL.replace("READ", "read_return(value)").replace("WRITE", "write_return()")
    text = text.replace("FAULTS", "").replace("CLIENTS", "p1 reads").replace("ASK", ASK)
    assert load_text(text, "spec.bcast").checks[0].warnings == ()
    (check,) = load_text(text.replace("allow unused", ""), "spec.bcast").checks
    assert [(w.code, "`write`" in w.message) for w in check.warnings] == [("C041", True)]


INVERSION = """
protocol Copies implements Register {
  message NEW(v: Msg)
  state value : option<Msg> = none
  upon request write(v) { send NEW(v) to all }
  upon request read() { read_return(value) }
  upon receive NEW(v) { value := some(v) }
}
check c of Copies {
  n = 3
  clients { p1 writes a  p2 reads  p3 reads }
  prove regular as Register
  expect linearizable as Register violated
}
"""


@pytest.fixture(scope="module")
def inversion(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("inversion") / "spec.bcast"
    path.write_text(INVERSION, encoding="utf-8")
    found = run_check(str(path), None, Options(explain=5.0))
    traces = {v.property: v.trace for v in found.verdicts}
    trace = traces[ASK]
    assert trace is not None
    return trace


def test_the_sentence_names_the_return_that_has_no_place(inversion: Trace) -> None:
    assert inversion.explanation is not None
    said = " ".join(inversion.explanation.sentences)
    reads = [one for one in inversion.operations if one.call == "read()"]
    first = next(one for one in reads if one.result == "a")
    second = next(one for one in reads if one.result == "none")
    expected = (
        f"read() of {second.process} returned none after read() of {first.process} had returned a"
    )
    assert expected in said


def test_intervals(inversion: Trace) -> None:
    (write,) = (one for one in inversion.operations if one.call == "write(a)")
    assert write == Interval("p1", "write(a)", write.called)
    svg = svg_of_trace(inversion)
    assert svg.count('class="operation') == len(inversion.operations) + 1  # one is in the legend
    assert 'class="operation open"' in svg and "read() returns none" in svg


def test_operations_are_in_the_document(inversion: Trace) -> None:
    assert trace_from_text(trace_to_text(inversion)) == inversion


def test_what_is_called_has_to_be_known(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        report(tmp_path, clients="p1 writes any of {a, b}  p1 reads")
    (found,) = caught.value.diagnostics
    assert found.code == "C042"


SILENT = """
interface Memory { request read() returns read_return() }
protocol Silent implements Memory {
  shared state asked : 0..2 = 0
  upon request read() { if asked < 2 { asked := asked + 1 } }
  property once : always asked <= 1
}
check c of Silent { n = 1  FAULTS  clients { p1 reads  p1 reads }  prove once  allow unused }
"""


@ENGINES
@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ("", "holds"),
        ("faults crash <= 1", "holds"),
        pytest.param("faults crash <= 1, recover", "violated", marks=pytest.mark.every),
    ],
)
def test_who_comes_back_makes_its_next_request(
    tmp_path: Path, engine: str, fine: bool, faults: str, expected: str
) -> None:
    """No read returns here: only a crash ends one, so that the second is asked."""
    path = tmp_path / "silent.bcast"
    path.write_text(SILENT.replace("FAULTS", faults), encoding="utf-8")
    assert word(run_check(str(path), None, Options(engine=engine, fine_steps=fine))) == expected


LOCK = """
interface Locking {
  request acquire() returns locked()
  request release() returns free()
}
protocol Central(server: Proc) implements Locking {
  message WANT
  message YOURS
  message FREE
  message DONE
  stable state holder : option<Proc> = none
  stable state queue : seq<Proc> = []
  state acquires = false
  state releases = false

  upon request acquire() { acquires := true  send WANT to server }
  upon request release() { releases := true  send FREE to server }
  upon receive WANT from p { queue := queue + p }
  upon condition holder == none and queue != [] {
    atomic {
      let p = head(queue)
      holder := some(p)
      queue := tail(queue)
      send YOURS to p
    }
  }
  upon receive FREE from p when holder == some(p) { atomic { holder := none  send DONE to p } }
  upon receive YOURS when acquires { acquires := false  locked() }
  upon receive DONE when releases { releases := false  free() }
}
check c of Central {
  n = 3  server = p3
  faults crash <= 1, recover
  clients { p1 acquires  p1 releases  p2 acquires }
  prove linearizable as Lock
}
"""


@ENGINES
@pytest.mark.parametrize(
    ("written", "instead", "expected"),
    [
        ("", "", "holds"),
        ("stable state holder", "state holder", "violated"),  # it gives away what somebody has
        (" when acquires", "", "error"),  # of a request that it has forgotten
    ],
)
def test_a_lock_whose_processes_come_back(
    tmp_path: Path, engine: str, fine: bool, written: str, instead: str, expected: str
) -> None:
    path = tmp_path / "lock.bcast"
    path.write_text(LOCK.replace(written, instead, 1) if written else LOCK, encoding="utf-8")
    found = run_check(str(path), None, Options(engine=engine, fine_steps=fine))
    assert word(found) == expected
    if expected == "error":
        assert "a crash has ended it" in found.verdicts[0].reason
