"""PySyncObj, etcd, RabbitMQ and ZooKeeper do what counterexamples say where they lack a rule, and
only so."""

from __future__ import annotations

import os
import pickle
import shutil
import struct
import sys
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
from examples.zookeeper import hooks as zookeeper_hooks
from examples.zookeeper import member
from examples.zookeeper.server import zookeeper
from examples.zookeeper.stale_read import SYNC
from tests.harness.leftovers import MARK, changed, running

EXAMPLES = {"elections": ELECTIONS, "reads": READS, "acks": ACKS, "sync": SYNC}


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


def test_a_server_of_zookeeper_reaches_leaders_through_proxies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begun = list[list[str]]()
    monkeypatch.setattr(os, "execvp", lambda _, command: begun.append(command))
    monkeypatch.setattr(member, "mode_of", {20_002: "leader"}.get)
    monkeypatch.setattr(member, "zookeeper", lambda: True)
    monkeypatch.setattr(member, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="kazoo, for the clients, is missing"):
        member.main()
    monkeypatch.setattr(member, "find_spec", lambda name: name)
    for name, port in (("p1", 20_000), ("p2", 20_010)):
        (tmp_path / f"{name}.port").write_text(str(port), "utf-8")
    asked = zookeeper_hooks.command("p3", 20_020, {"p1": 30_001, "p2": 30_002, "p3": 30_003})
    monkeypatch.setattr(sys, "argv", asked[1:])
    member.main()
    config = Path(begun[0][-1])
    lines = config.read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("server.")] == [
        "server.3=127.0.0.1:30001:20001",  # the greatest number leads
        "server.2=127.0.0.1:30002:20011",
        "server.1=127.0.0.1:20020:20021",
    ]
    assert "clientPort=20022" in lines
    assert (config.parent / "myid").read_text("utf-8") == "1\n"


def test_a_system_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("nice", "env", "sh"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / "bin" / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for example, said in ((SYNC, "ZooKeeper or a Java is missing: apt install zookeeper"),
                          (READS, "etcd")):  # fmt: skip
        (name,) = example.scenes
        found = played(example, name, tmp_path, True)
        assert found.code == 2, found.said
        *_, last = found.said.splitlines()
        assert last.startswith("error E137: p"), last
        assert "ended at its start: exit code" in last
        assert said in last
        assert running(os.environ[MARK]) == []


def test_reads_are_synced_if_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for reads, synced in (("", False), ("sync", True)):
        monkeypatch.setenv("ZOOKEEPER_READS", reads)
        words = zookeeper_hooks.request("p3", 20_000, "read", [])
        assert words[2:4] == ["read", "20002"]
        assert ("--sync" in words) == synced


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
@pytest.mark.skipif(not zookeeper(), reason="ZooKeeper is missing: apt install zookeeper")
def test_a_server_of_zookeeper_that_is_cut_off_answers_with_an_old_value(tmp_path: Path) -> None:
    pytest.importorskip("kazoo", reason="kazoo is not installed: pip install '.[examples]'")
    happens(SYNC, "stale_read", tmp_path)
    # where the link is whole, `sync` has an answer, and the read the new value
    folder = tmp_path / SYNC.scenes["stale_read"].check
    text = (folder / "schedule.py").read_text("utf-8")
    (folder / "schedule.py").write_text(text.replace('to=["p2", "p3"]', 'to=["p2"]'), "utf-8")
    changed(folder, "schedule.py", '"read_return", ["none"]', '"read_return", ["a"]')
    whole = played(SYNC, "stale_read", tmp_path, False, "--tries", "1")
    assert "4 of 4 steps; atomicity holds; a run of with_sync" in whole.said, whole.said


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
