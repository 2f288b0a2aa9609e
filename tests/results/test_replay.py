"""Replay accepts what the interpreter can do, and nothing else."""

from __future__ import annotations

import pytest

from checker.engines.reference.engine import explore
from checker.formats.json_format import trace_from_json, trace_to_json
from checker.model.ir import PropertyKind
from checker.records import replace as changed
from checker.results.answer import Limits, Path
from checker.results.events import Handled
from checker.results.mismatch import ReplayMismatch
from checker.results.replay import path_of, replay, replay_document
from checker.results.trace import ERRORS, Header
from checker.words.steps import headline
from tests.results.relay import relay

SYSTEM = relay()
ANSWER = explore(SYSTEM, Limits())
PATH = ANSWER.violations["agreement"]
AGREEMENT = SYSTEM.properties[0]


def test_an_engines_run_becomes_a_trace() -> None:
    trace = replay(SYSTEM, PATH, AGREEMENT, Header("1", "relay.bcast", "three"))
    assert trace.length == len(PATH.states) - 1 == 2
    assert [s.kind for s in trace.steps] == ["start", "request", "receive"]
    assert headline(trace.steps[1]) == "p1 is asked: broadcast(a), and crashes"
    assert headline(trace.steps[2]) == "p2 receives DATA(p1, a) from p1"
    assert trace.ends
    assert trace.failure is None
    assert trace.sentence == (
        "agreement is violated with p = p2, q = p3: "
        "if a correct process delivers m, then every correct process delivers m"
    )


def test_names_that_the_tool_made_up_are_hidden() -> None:
    trace = replay(SYSTEM, PATH, AGREEMENT)
    handler = next(e for e in trace.steps[1].events if isinstance(e, Handled))
    assert handler.arguments == (("m", "a"),)


def test_changes_are_per_process_and_the_world_is_quiet() -> None:
    changes = replay(SYSTEM, PATH, AGREEMENT).steps[2].changes
    told = [(c.variable, c.process, c.before, c.after, c.quiet) for c in changes]
    assert ("delivered", "p2", "{}", "{a}", False) in told
    assert ("count", "", "0", "1", False) in told
    assert [quiet for name, *_, quiet in told if name == "net"] == [True]


def test_fates_copies_and_messages_in_flight() -> None:
    trace = replay(SYSTEM, PATH, AGREEMENT)
    assert [(f.process, f.crashed, f.deliveries) for f in trace.fates] == [
        ("p1", True, ()),
        ("p2", False, ("deliver(p1, a)",)),
        ("p3", False, ()),
    ]
    (copies,) = trace.copies
    assert (copies.sender, copies.received, copies.missing) == ("p1", ("p2",), ("p3",))
    assert "DATA(p1, a) from p1 to p3" in [m.text for m in trace.in_flight]


@pytest.mark.every
@pytest.mark.parametrize(
    ("path", "says"),
    [
        (Path(()), "no states"),
        (Path(PATH.states[1:]), "initial state"),
        (Path((PATH.states[0], PATH.states[2])), "step 1"),
        (Path((*PATH.states, PATH.states[0])), "step 3"),
        (Path(PATH.states[:-1], loop=1), "does not violate"),
        (Path(PATH.states), "has no loop"),
        (Path(PATH.states, loop=3), "has no loop"),
        (Path(PATH.states, loop=0), "step 3"),
    ],
    ids=[
        "empty",
        "headless",
        "skipping",
        "returning",
        "too short",
        "open",
        "beyond",
        "no way back",
    ],
)
def test_tampered_runs_are_refused(path: Path, says: str) -> None:
    with pytest.raises(ReplayMismatch, match=says):
        replay(SYSTEM, path, AGREEMENT)


def test_every_changed_variable_is_noticed() -> None:
    last = PATH.states[-1]
    for index, other in enumerate((False, frozenset({1}), (), (frozenset(),) * 3, 3)):
        forged = (*last[:index], other, *last[index + 1 :])
        with pytest.raises(ReplayMismatch, match="step 2"):
            replay(SYSTEM, Path((*PATH.states[:-1], forged)), AGREEMENT)


def test_what_may_still_become_good_is_not_violated_on_the_way() -> None:
    on_the_way = relay(PropertyKind.INVARIANT, crash=False)
    path = explore(on_the_way, Limits()).violations["agreement"]
    assert replay(on_the_way, path, on_the_way.properties[0]).length == 2
    system = relay(crash=False)
    with pytest.raises(ReplayMismatch, match="does not admit"):
        replay(system, changed(path, loop=2), system.properties[0])


@pytest.mark.parametrize(
    ("cut", "then_fault", "says"),
    [(1, False, "does not violate"), (0, True, "meets an error")],
)
def test_states_that_are_not_bad_are_refused(cut: int, then_fault: bool, says: str) -> None:
    system = relay(PropertyKind.INVARIANT)
    path = explore(system, Limits()).violations["agreement"]
    forged = Path(path.states[: len(path.states) - cut], then_fault)
    with pytest.raises(ReplayMismatch, match=says):
        replay(system, forged, system.properties[0])


def test_an_error_of_the_run_ends_the_trace() -> None:
    system = relay(limit=1)
    fault = explore(system, Limits()).fault
    assert fault is not None
    trace = replay(system, fault, None)
    assert (trace.property_name, trace.word) == (ERRORS, "error")
    assert trace.failure is not None
    assert (trace.failure.code, trace.failure.during) == ("R001", "receive DATA(p2)")
    assert (trace.failure.file, trace.failure.line) == ("relay.bcast", 8)
    assert trace.failure.message == "2 is outside 0..1"
    with pytest.raises(ReplayMismatch, match="neither"):
        replay(system, Path(fault.states), None)


def test_a_document_is_replayed_from_its_states() -> None:
    header = Header("1", "relay.bcast", "three", {"n": 3}, {"n": "3"})
    trace = replay(SYSTEM, PATH, AGREEMENT, header)
    read = trace_from_json(trace_to_json(trace))
    assert path_of(SYSTEM, read) == PATH
    assert replay_document(SYSTEM, read) == trace
    forged = changed(read, steps=(read.steps[0], read.steps[2]))
    with pytest.raises(ReplayMismatch):
        replay_document(SYSTEM, forged)
    with pytest.raises(ValueError, match="no property"):
        replay_document(SYSTEM, changed(read, property_name="validity"))
