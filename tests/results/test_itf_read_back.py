"""ITF documents are read back by itf-py: the states are those of the trace."""

from __future__ import annotations

import json
import re
from typing import Any

import itf_py
import pytest

from checker.formats.itf import ABSENT, identifier, itf_value, record_names, trace_to_itf
from checker.records import replace
from checker.resources import specs
from checker.results.trace import Json, Trace
from checker.session.pipeline import Options, run_check
from tests.results.test_csv_format import MADE

NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")


def same(read: Any, data: Json) -> bool:
    """Whether what itf-py has read is the value that a trace writes as ``data``."""
    if isinstance(data, list):
        return isinstance(read, list) and _all_same(read, data)
    if not isinstance(data, dict):
        return type(read) is type(data) and bool(read == data)
    if "#bigint" in data:
        return type(read) is int and str(read) == data["#bigint"]
    if "#tup" in data:
        return type(read) is tuple and _all_same(read, data["#tup"])
    if "#set" in data:
        return _same_set(read, data["#set"])
    if "#map" in data:
        return _same_map(read, data["#map"])
    if data == ABSENT:
        return type(read).__name__ == "None_" and read == ()
    if data.get("tag") == "Some":
        return type(read).__name__ == "Some" and same(read.value, data["value"])
    if set(data) == {"tag", "value"} and isinstance(data["value"], dict):
        assert isinstance(data["tag"], str)
        return type(read).__name__ == identifier(data["tag"]) and _same_record(read, data["value"])
    return _same_record(read, data)


def _all_same(read: Any, data: Any) -> bool:
    return len(read) == len(data) and all(map(same, read, data))


def _same_set(read: Any, data: Any) -> bool:
    if not isinstance(read, frozenset) or len(read) != len(data):
        return False
    return all(any(same(one, other) for one in read) for other in data)


def _same_map(read: Any, data: Any) -> bool:
    if not isinstance(read, dict) or len(read) != len(data):
        return False
    return all(any(same(k, key) and same(read[k], value) for k in read) for key, value in data)


def _same_record(read: Any, data: dict[str, Json]) -> bool:
    return getattr(read, "_fields", None) == record_names(data) and _all_same(
        tuple(read), list(data.values())
    )


def read_back(trace: Trace) -> Any:
    return itf_py.trace_from_json(json.loads(json.dumps(trace_to_itf(trace))))


@pytest.mark.parametrize(
    ("file", "check", "fine"),
    [
        ("broadcast/eager_reliable_without_relay.bcast", "crash_one", False),
        ("broadcast/eager_reliable_without_relay.bcast", "crash_one", True),
        ("total_order/sequencer_takeover.bcast", "crash_one", False),
        ("consensus/paxos.bcast", "duel", False),
        ("exactly_once/winch.bcast", "lower_then_log", False),
        ("links/alternating_bit.bcast", None, False),
        ("time/leases.bcast", None, False),
    ],
)
def test_states_are_those_of_the_trace(file: str, check: str | None, fine: bool) -> None:
    from checker.session.pipeline import checks_in

    path = str(specs() / file)
    names = [check] if check is not None else checks_in(path)
    reports = [run_check(path, name, Options(fine_steps=fine)) for name in names]
    traces = [v.trace for report in reports for v in report.verdicts if v.trace is not None]
    assert traces
    for trace in traces:
        found = read_back(trace)
        called = trace_to_itf(trace)["#meta"]["names"]
        assert list(called.values()) == [name for name, _ in trace.variables]
        assert found.vars == list(called)
        assert all(NAME.fullmatch(name) for name in called)
        assert found.loop == trace.loop
        assert len(found.states) == len(trace.steps)
        for state, step in zip(found.states, trace.steps, strict=True):
            assert {called[name] for name in state.values} == set(step.state)
            for name, value in state.values.items():
                assert same(value, step.state[called[name]]), (step.number, name)


RECORD: Json = {"from": "p1", "to": "p2", "message": {"tag": "rb.", "value": {"_0": 1, "m": "a"}}}
VALUES: tuple[Json, ...] = (
    True,
    7,
    "a",
    {"#bigint": str(-(2**70))},
    [1, [2, 3]],
    {"#set": ["a", {"#tup": [1, "b"]}]},
    {"#map": [["p1", {"#set": []}], ["p2", {"#set": [{"#bigint": str(2**60)}]}]]},
    {"#map": [[{"#tup": ["p1", 1]}, [RECORD]]]},
    {"tag": "DATA", "value": {"origin": "p1", "m": "a"}},
    {"tag": "PING", "value": {}},
    {"tag": "class", "value": {"lambda": True}},
    {"tag": "Some", "value": {"#set": [1, 2]}},
    {"tag": "Some", "value": {"tag": "Some", "value": 5}},
    {"tag": "Some", "value": ABSENT},
    {"tag": "top", "value": {"m": {"tag": "Some", "value": RECORD}}},
    ABSENT,
    RECORD,
    {"tag": 1, "value": 2},
)


@pytest.mark.parametrize("value", VALUES)
def test_values_of_every_kind(value: Json) -> None:
    read = itf_py.value_from_json(json.loads(json.dumps(itf_value(value))))
    assert same(read, value)


def test_what_is_not_the_same_is_noticed() -> None:
    for index, value in enumerate(VALUES):
        read = itf_py.value_from_json(itf_value(value))
        others = [other for i, other in enumerate(VALUES) if i != index]
        assert not any(same(read, other) for other in others if type(other) is type(value))


def test_variables_are_identifiers_and_different() -> None:
    names = ("@history.deliver", "history_deliver", "seen['p1']", "a.b", "a_b", "a_b_2", "é", "if")
    variables = tuple((name, "state") for name in names)
    start = replace(MADE.steps[0], state={name: name for name in names})
    made = replace(MADE, variables=variables, steps=(start,), loop=None, closing=None)
    document = trace_to_itf(made)
    called = ["history_deliver_2", "history_deliver", "seen__p1__", "a_b_3", "a_b", "a_b_2"]
    called += ["m_", "if_"]
    assert document["vars"] == called
    assert document["#meta"]["names"] == dict(zip(called, names, strict=True))
    (state,) = document["states"]
    assert {k: v for k, v in state.items() if k != "#meta"} == dict(zip(called, names, strict=True))
