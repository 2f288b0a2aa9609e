"""What a harness needs for systems that were not written for it: nodes that all dial one address,
that have several ports, whose messages can't be held, and whose clients see an object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from checker.harness.runtime.acts import Cut, Message, Receive, Request, Sends
from checker.harness.runtime.judge import history
from checker.harness.runtime.plan import plan, with_cuts
from checker.harness.runtime.processes import free_ports
from examples.broadcast.faults import harness
from examples.made_to_happen import HAPPENED
from tests.harness.leftovers import HOOKS, Run

DIALER = """

def dialer(data):
    line, newline, _ = data.partition(b"\\n")
    return json.loads(line)["from"] if newline else None
"""


def with_hooks(folder: Path, more: str) -> None:
    """Gives a harness the hooks of the broadcast, and ``more``."""
    text = HOOKS.read_text("utf-8")
    home = f"Path({str(HOOKS.parent)!r})"
    text = text.replace("Path(__file__).resolve().parent", home)
    (folder / "hooks.py").write_text(text + more, "utf-8")


def test_who_dials_is_read_from_the_first_bytes(tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    one = "\n\nASKED = command\n\n\ndef command(node, port, ports):\n"
    one += "    assert ports[node] != port, 'the address of a proxy'\n"
    one += "    return ASKED(node, port, ports)\n"
    with_hooks(folder, DIALER + one)
    run = Run(folder, "--tries", "1", options="--relay --fault no_relay")
    code, said = run.end()
    assert code == HAPPENED, said
    assert "try 1: 3 of 3 steps; agreement is VIOLATED; a run of no_relay" in said
    assert run.leaves() == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('json.loads(line)["from"]', '"p9"', 'dialer() must return the name of a node, "" or None'),
        ('json.loads(line)["from"]', 'json.loads(line)["by"]', "dialer(): KeyError: 'by'"),
    ],
)
def test_a_dialer_that_is_no_node(before: str, after: str, said: str, tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    with_hooks(folder, DIALER.replace(before, after))
    run = Run(folder, "--tries", "1")
    code, printed = run.end()
    assert code == 2, printed
    assert printed.splitlines()[-1].startswith("error E135: hooks.py")
    assert said in printed
    assert run.leaves() == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("HELD = 0", "HELD has to be a bool, and is 0"),
        ("PORTS = True", "PORTS has to be a int, and is True"),
        ("PORTS = 0", "PORTS has to be from 1 to 9"),
    ],
)
def test_settings_that_are_none(line: str, said: str, tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    with_hooks(folder, f"\n\n{line}\n")
    code, printed = Run(folder, "--tries", "1").end()
    assert code == 2
    assert printed.splitlines()[-1] == f"error E135: hooks.py: {said}"


@pytest.mark.slow
def test_messages_that_are_not_held_pass_unless_a_link_is_cut(tmp_path: Path) -> None:
    folder = harness("no_relay", tmp_path)
    with_hooks(folder, "\n\nHELD = False\n")
    run = Run(folder, "--tries", "1", options="--relay --fault no_relay")
    code, said = run.end()
    assert "1  forced        the links are cut: p1 and p3" in said
    assert "p2 receives DATA(p1, a) from p1 (messages are not held)" in said
    assert "beyond" not in said
    assert code == HAPPENED, said
    assert run.leaves() == []


def sends(name: str, *to: str) -> list[Sends]:
    return [Sends(Message(name, {}), to=to)]


def receives(step: int, process: str, sender: str, sent: Sequence[Sends] = ()) -> Receive:
    return Receive(step, process, message=Message("M", {}), sender=sender, sends=sent)


def test_a_link_is_cut_before_the_first_message_of_those_that_never_arrive() -> None:
    asked = Request(1, "p1", name="write", sends=sends("M", "p1", "p2", "p3"))
    again = receives(3, "p1", "p3", sends("M", "p2", "p3"))
    acts = [asked, receives(2, "p2", "p1"), again, receives(4, "p2", "p1")]
    found = with_cuts(acts)
    cut = Cut(1, "", apart=("p1",), others=("p3",), one_way=True)  # p1 hears from p3
    assert found == [cut, *acts]
    assert with_cuts(acts[1:2]) == acts[1:2]
    lines = plan(found, 0, False, False, held=False)
    assert [line.split()[1] for line in lines] == ["forced", "forced"] + 3 * ["awaited"]


def test_ports_come_in_blocks_and_in_ascending_order() -> None:
    found = free_ports(6, 3)
    assert found == sorted(found)
    assert len({port + more for port in found for more in range(3)}) == 18


def rows(path: Path, *times: object) -> Path:
    kinds = ["start", "request", "indicate"]
    lines = [
        json.dumps({"process": path.stem, "pos": number, "kind": kind, "name": "read", "ts": ts})
        for number, (kind, ts) in enumerate(zip(kinds, times, strict=True), 1)
    ]
    path.write_text("\n".join(lines) + '\n{"half', "utf-8")
    return path


def test_a_history_has_the_calls_of_all_in_the_order_of_their_times(tmp_path: Path) -> None:
    logs = [rows(tmp_path / "p1.ndjson", 1, 4, 6), rows(tmp_path / "p2.ndjson", 0, 2, 5)]
    assert history(logs, tmp_path / "history.ndjson") == ""
    text = (tmp_path / "history.ndjson").read_text("utf-8")
    found = [json.loads(line) for line in text.splitlines()]
    assert [row["ts"] for row in found] == [2, 4, 5, 6]
    assert [row["pos"] for row in found] == [1, 2, 3, 4]


def test_a_history_without_times_is_not_judged(tmp_path: Path) -> None:
    log = rows(tmp_path / "p1.ndjson", 1, 4, None)
    why = history([log], tmp_path / "history.ndjson")
    assert why == "p1.ndjson, line 3 has no `ts`, which orders calls"
