"""Logs each of which is fine, and that are no execution all together."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.audit.arrow_engine import ArrowEngine
from checker.audit.audit import Request, audit
from checker.results.verdict import PropertyVerdict
from tests.audit import brute_force as plain
from tests.audit.brute_force import Event, Process, Run
from tests.audit.logs import ask, words
from tests.audit.test_plans import found_by_audit

TWO = """
p1 0 deliver b from p2
p1 1 broadcast a
p1 2 deliver a from p1
p2 5 deliver a from p1
p2 6 broadcast b
p2 7 deliver b from p2
"""


def verdict_on(folder: Path, log: str, interface: str, name: str) -> PropertyVerdict:
    found = ask(folder, log, interface)
    return next(v for v in found.report.verdicts if v.property == name)


def circle_of(number: int) -> str:
    """Returns logs in which each process delivers what only the next one requests, before its own
    request."""
    lines = []
    for at in range(number):
        after = (at + 1) % number
        lines += [
            f"p{at} 0 deliver m{after} from p{after}",
            f"p{at} 1 broadcast m{at}",
            f"p{at} 2 deliver m{at} from p{at}",
        ]
    return "\n".join(lines)


@pytest.mark.every
def test_logs_that_wait_for_one_another_are_no_execution(tmp_path: Path) -> None:
    found = ask(tmp_path, TWO, "UniformReliableBroadcast")
    assert words(found)["no_creation"] == "violated" and found.report.exit_code == 1
    (verdict,) = (v for v in found.report.verdicts if v.property == "no_creation")
    assert verdict.reason == (
        "p1 delivers b from p2 at position 0, then requests a at position 1;"
        " p2 delivers a from p1 at position 5, then requests b at position 6:"
        " no execution has all of this"
    ), verdict.reason
    rows = found.violations.filter(found.violations["property"].to_numpy() == "no_creation")
    said = [
        (r["process"], r["row"], r["message"], r["row2"], r["message2"]) for r in rows.to_pylist()
    ]
    assert said == [("p1", 1, "b", 2, "a"), ("p2", 4, "a", 5, "b")]
    assert verdict.trace is not None and len(verdict.trace.steps) == 7


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7])
def test_circles_of_any_length_are_found(number: int, tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, circle_of(number), "ReliableBroadcast", "no_creation")
    assert verdict.label() == "violated"
    assert verdict.reason.count("requests") == number
    first, *others = circle_of(number).splitlines()
    opened = "\n".join([*others, first.replace("p0 0", "p0 3")])
    assert verdict_on(tmp_path, opened, "ReliableBroadcast", "no_creation").label() == "holds"


def test_the_smallest_circle_is_told(tmp_path: Path) -> None:
    log = circle_of(3) + TWO.replace("p1", "q1").replace("p2", "q2")
    verdict = verdict_on(tmp_path, log, "ReliableBroadcast", "no_creation")
    assert verdict.reason.startswith("q1 delivers b from q2") and "1 more" in verdict.reason


def test_one_of_several_requests_suffices(tmp_path: Path) -> None:
    log = "p1 0 decide v\np1 1 propose v\np2 0 decide v\np2 1 propose v\n"
    verdict = verdict_on(tmp_path, log, "MessageConsensus", "consensus_validity")
    assert verdict.label() == "violated"
    assert verdict.reason.endswith("as others that request the same do so too late as well")
    right = log + "p3 0 propose v\np3 1 decide v\n"
    assert verdict_on(tmp_path, right, "MessageConsensus", "consensus_validity").label() == "holds"


def test_a_causal_order_of_circles_is_violated(tmp_path: Path) -> None:
    """Each message would be its own cause."""
    for log in (TWO, circle_of(3), circle_of(4)):
        found = ask(tmp_path, log, "CausalUniformReliableBroadcast")
        assert words(found)["causal_order"] == words(found)["no_creation"] == "violated"


@pytest.mark.parametrize("remote", [False, True])
def test_links_have_circles_by_receivers(
    remote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ArrowEngine, "is_remote", remote)
    log = """{"process": "p1", "pos": 0, "kind": "deliver", "msg": "b", "sender": "p2"}
{"process": "p1", "pos": 1, "kind": "send", "msg": "a", "to": "p2"}
{"process": "p2", "pos": 0, "kind": "deliver", "msg": "a", "sender": "p1"}
{"process": "p2", "pos": 1, "kind": "send", "msg": "b", "to": "p1"}
{"process": "p2", "pos": 2, "kind": "send", "msg": "a", "to": "p2"}
"""
    file = tmp_path / "log.ndjson"
    file.write_text(log, encoding="utf-8")
    assert words(audit(Request((str(file),), "PerfectLink")))["no_creation"] == "violated"
    lines = log.splitlines()
    file.write_text(
        "\n".join([*lines[1:], lines[0].replace('"pos": 0', '"pos": 3')]), encoding="utf-8"
    )
    assert words(audit(Request((str(file),), "PerfectLink")))["no_creation"] == "holds"


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("crash", ["", "p3 0 crash", "p1 9 crash"])
def test_aborts_before_their_only_reason(
    crash: str, remote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``remote`` only what can be on a circle is looked at."""
    monkeypatch.setattr(ArrowEngine, "is_remote", remote)
    log = "p1 0 decide 0\np1 1 propose 0\np2 0 decide 0\np2 1 propose 1\n" + crash
    found = verdict_on(tmp_path, log, "AtomicCommit", "nbac_abort_validity")
    assert found.label() == ("holds" if crash.startswith("p3") else "violated")


@pytest.mark.parametrize("remote", [False, True])
def test_who_aborts_before_it_crashes_requests_nothing(
    remote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ArrowEngine, "is_remote", remote)
    log = "p1 0 propose 1\np1 1 decide 0\np1 2 crash\np2 0 propose 1\n"
    found = verdict_on(tmp_path, log, "AtomicCommit", "nbac_abort_validity")
    assert found.label() == "violated"
    assert found.reason.startswith("p1 aborts at position 1 and crashes only at position 2")


def test_an_acknowledged_request_may_have_been_made_before(tmp_path: Path) -> None:
    """A row that has the offset was written when that was known."""
    rows = [
        '{"process": "p1", "pos": 0, "kind": "deliver", "msg": "a", "offset": 0}',
        '{"process": "p1", "pos": 1, "kind": "request", "msg": "a", "offset": 0}',
    ]
    file = tmp_path / "log.ndjson"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert words(audit(Request((str(file),), "ReplicatedLog")))["log_validity"] == "holds"


# ---- against a plain definition -----------------------------------------------------------------


def random_circles(draw: random.Random) -> Run:
    """Returns logs that are an execution of a broadcast but for a few events that have moved."""
    number = draw.randint(2, 5)
    processes = [Process(f"p{i}") for i in range(number)]
    messages = [(f"m{i}", draw.randrange(number)) for i in range(draw.randint(1, 8))]
    for message, owner in messages:
        processes[owner].events.append((0, Event("request", message)))
        for process in draw.sample(processes, draw.randint(0, number)):
            process.events.append((0, Event("deliver", message, f"p{owner}")))
    for process in processes:
        events = [event for _, event in process.events]
        for _ in range(draw.choice([0, 0, 1, 2])):
            if len(events) > 1:
                events.insert(draw.randrange(len(events)), events.pop(draw.randrange(len(events))))
        process.events = [(3 * at, event) for at, event in enumerate(events)]
    return Run([p for p in processes if p.events], True)


def compare(number: int, seed: int, folder: Path) -> dict[str, int]:
    draw = random.Random(seed)
    runs = [random_circles(draw) for _ in range(number)]
    found = found_by_audit(runs, "ReliableBroadcast", folder)
    said: dict[str, int] = {}
    for at, run in enumerate(runs):
        expected = plain.no_creation(run)
        assert found.get(("no_creation", f"r{at}"), "") == expected, run
        inside = all(not plain.delivered_before_requested(p) for p in run.processes)
        word = "circle" if expected and inside else expected
        said[word] = said.get(word, 0) + 1
    return said


@pytest.mark.parametrize("remote", [False, True])
def test_circles_are_found_where_there_is_no_execution(
    remote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``remote`` only what can be on a circle is looked at."""
    monkeypatch.setattr(ArrowEngine, "is_remote", remote)
    said = compare(1500, 1, tmp_path)
    assert min(said[word] for word in ("", "violated", "circle")) > 30, said


@pytest.mark.slow
@pytest.mark.parametrize("remote", [False, True])
def test_circles_are_found_in_many_logs(
    remote: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ArrowEngine, "is_remote", remote)
    for seed in range(2, 12):
        compare(10_000, seed, tmp_path)
