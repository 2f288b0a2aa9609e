"""PySyncObj, etcd and RabbitMQ do what counterexamples say where they lack a rule, and only so."""

from __future__ import annotations

import os
import pickle
import shutil
import struct
import uuid
import zlib
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from examples.etcd import hooks as etcd_hooks
from examples.etcd.stale_read import READS
from examples.made_to_happen import HAPPENED, NOT_SEEN, Example, played
from examples.pysyncobj import hooks as pysyncobj_hooks
from examples.pysyncobj.elections import ELECTIONS
from examples.rabbitmq import hooks as rabbitmq_hooks
from examples.rabbitmq.hands_out import ACKS
from tests.harness.leftovers import MARK, running

EXAMPLES = {"elections": ELECTIONS, "reads": READS, "acks": ACKS}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_specs_say_what_each_rule_is_for(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(EXAMPLES[example].spec), "--quiet", "--no-explain"]) == 0
    assert "checks, all as expected" in capsys.readouterr().out


# ---- what the hooks read of messages --------------------------------------------------------


def on_wire(message: Any) -> bytes:
    """A message as PySyncObj sends it."""
    return framed(pickle.dumps(message, protocol=2))


def framed(pickled: bytes) -> bytes:
    data = zlib.compress(pickled, 3)
    return struct.pack("i", len(data)) + data


ASK = {"type": "request_vote", "term": 1, "last_log_index": 1, "last_log_term": 0}
VOTE = {"type": "response_vote", "term": 1}
APPEND = {"type": "append_entries", "term": 1, "entries": [(b"x", 2, 1)], "prevLogIdx": 1}


def test_messages_are_told_apart() -> None:
    data = on_wire("127.0.0.1:20001") + on_wire(ASK) + on_wire(VOTE) + on_wire(APPEND)
    found = pysyncobj_hooks.frames(data + on_wire(VOTE)[:-1])
    assert [(name, fields) for _, name, fields in found] == [
        ("", {}),
        ("ASK", {"term": 1, "last": 0}),
        ("VOTE", {"term": 1}),
        ("append_entries", {}),
    ]
    assert sum(size for size, _, _ in found) == len(data)


def test_who_dials_is_in_the_greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pysyncobj_hooks, "addresses", {"p2": "127.0.0.1:20001"})
    greeting = on_wire("127.0.0.1:20001")
    assert pysyncobj_hooks.dialer(greeting[:-1]) is None
    assert pysyncobj_hooks.dialer(greeting + b"more") == "p2"
    assert pysyncobj_hooks.dialer(on_wire("127.0.0.1:20002")) == ""


class Harm:
    """Raises an error where its pickle is loaded."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, ("raise SystemExit('the pickle was loaded')",)


def test_a_pickle_is_read_and_never_loaded() -> None:
    with pytest.raises(SystemExit):
        pickle.loads(pickle.dumps(Harm()))
    ((_, name, fields),) = pysyncobj_hooks.frames(on_wire({"type": Harm(), "term": 1}))
    assert (name, fields) != ("ASK", {"term": 1})
    assert pysyncobj_hooks.frames(framed(b"no pickle"))[0][1:] == ("", {})
    assert pysyncobj_hooks.frames(framed(b"\x80\x02X\xff\xff\xff\x7fshort"))[0][1:] == ("", {})


def test_who_dials_etcd_is_in_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://127.0.0.1:29634"
    assert etcd_hooks.number_of(url) == "e5938ba60962f6fd", "as etcd 3.4.23 has it"
    monkeypatch.setattr(etcd_hooks, "numbers", {"e5938ba60962f6fd": "p1"})
    asked = b"POST /raft HTTP/1.1\r\nX-Server-From: e5938ba60962f6fd\r\n\r\n"
    assert etcd_hooks.dialer(asked[:-1]) is None
    assert etcd_hooks.dialer(asked + b"body") == "p1"
    assert etcd_hooks.dialer(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n") == ""
    assert etcd_hooks.dialer(asked.replace(b"e593", b"0000")) == ""


def test_a_broker_and_its_clients_are_told_their_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RABBITMQ_ACKS", "automatic")
    ports = {name: 30_000 + number for number, name in enumerate(rabbitmq_hooks.nodes())}
    broker = rabbitmq_hooks.command("b1", 20_000, ports)[-1]
    for name, port in (("NODE_PORT", 20_000), ("DIST_PORT", 20_001), ("EPMD_PORT", 20_002)):
        assert f"{name}={port}; " in broker
    worker = rabbitmq_hooks.command("w2", 20_010, ports)
    assert worker[-4:] == ["30000", "w2.ndjson", "--automatic", "--after=w1"]
    rabbitmq_hooks.command("c1", 20_020, {**ports, "b1": 31_000})
    asked = rabbitmq_hooks.request("c1", 20_020, "submit", ["a"])
    assert asked[-4:] == ["31000", "a", "--log", "c1.ndjson"]


# ---- what happens ---------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts has a mark, by which it is counted."""
    monkeypatch.setenv(MARK, uuid.uuid4().hex)


def happens(example: Example, name: str, folder: Path) -> None:
    """Plays a scene with the fault and without it."""
    wrong = played(example, name, folder, True)
    assert wrong.code == HAPPENED, wrong.said
    assert f"is VIOLATED; a run of {example.scenes[name].check}" in wrong.said
    right = played(example, name, folder, False, "--tries", "1")
    assert running(os.environ[MARK]) == []
    assert right.code == NOT_SEEN, right.said
    assert f"; a run of {example.scenes[name].right}" in right.said
    assert "another way" in right.said


@pytest.mark.slow
@pytest.mark.parametrize("name", ELECTIONS.scenes)
def test_two_servers_of_pysyncobj_lead_in_one_term(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pysyncobj", reason="PySyncObj is missing: pip install pysyncobj")
    happens(ELECTIONS, name, tmp_path)


@pytest.mark.realsystems
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("etcd") is None, reason="etcd is missing: apt install etcd-server")
def test_a_member_of_etcd_that_is_cut_off_answers_with_an_old_value(tmp_path: Path) -> None:
    happens(READS, "stale_read", tmp_path)


@pytest.mark.realsystems
@pytest.mark.slow
@pytest.mark.skipif(
    not rabbitmq_hooks.PROGRAM.exists(),
    reason="RabbitMQ is missing: apt install rabbitmq-server",
)
@pytest.mark.parametrize("name", ACKS.scenes)
def test_rabbitmq_hands_out_twice_or_loses(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pika", reason="pika is not installed: pip install '.[examples]'")
    wrong = played(ACKS, name, tmp_path, True)
    assert wrong.code == HAPPENED, wrong.said
    assert f"is VIOLATED; a run of {ACKS.scenes[name].check}" in wrong.said
    right = played(ACKS, name, tmp_path, False, "--tries", "1")
    assert right.code == NOT_SEEN, right.said
    assert f"; a run of {ACKS.scenes[name].right}" in right.said
    assert running(os.environ[MARK]) == []
