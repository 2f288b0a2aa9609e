"""Each anomaly of Jepsen's workload for Kafka in a small log, and the log next to it without.

K. Kingsbury's checker (`jepsen.tests.kafka`) names them; what each means there is in docs/kafka.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.audit.audit import Audit, Request, audit
from checker.audit.manifest import Manifest, Told
from checker.words.steps import headline

Row = dict[str, Any]
CLIENTS = Manifest({"w*": Told(delivers=False)}, Told(), "m.toml")


def rows_of(text: str) -> list[Row]:
    """Returns rows: `w append a k0 o3 t1 s5`, `c assign k0 g1`, `c poll a k0 o3 g1 t1`."""
    columns = {"k": "partition", "o": "offset", "g": "generation", "t": "transaction", "s": "seq"}
    found: list[Row] = []
    places: dict[str, int] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        process, kind, *more = line.split()
        places[process] = places.get(process, 0) + 1
        row: Row = {"process": process, "pos": places[process], "kind": kind}
        for word in more:
            if word in ("maybe", "fail"):
                row["status"] = word
            elif word[0] in columns and word[1:].isdigit():
                value = word if word[0] in "kt" else int(word[1:])
                row[columns[word[0]]] = value
            else:
                row["msg"] = word
        found.append(row)
    return found


def asked(folder: Path, text: str, interface: str, **more: Any) -> Audit:
    file = folder / "log.ndjson"
    lines = "".join(json.dumps(row) + "\n" for row in rows_of(text))
    file.write_text(lines, encoding="utf-8")
    return audit(Request((str(file),), interface, manifest=CLIENTS, **more))


def found_in(folder: Path, text: str, interface: str) -> set[tuple[str, str]]:
    """Returns the properties that are violated, with the names that Jepsen has for the findings."""
    rows = asked(folder, text, interface).violations.to_pylist()
    return {(row["property"], row["alias"]) for row in rows if row["verdict"] == "violated"}


def held(folder: Path, text: str, interface: str) -> set[str]:
    return {v.label() for v in asked(folder, text, interface).report.verdicts} - {"vacuous"}


FINE = """
    w append a k0 o0
    w append b k0 o1
    w append c k0 o2
    w append d k1 o0
    c assign k0 g1
    c assign k1 g1
    c poll a k0 o0 g1
    c poll b k0 o1 g1
    c poll d k1 o0 g1
    c commit k0 o2 g1
    e assign k0 g2
    e poll c k0 o2 g2
    e commit k0 o3 g2
"""


def changed(old: str, new: str, text: str = FINE) -> str:
    assert old in text
    return text.replace(old, new)


GROUPS = {
    "duplicate": (
        changed("w append d k1 o0", "w append d k1 o0\nw append b k0 o3\n").replace(
            "e commit", "e poll b k0 o3 g2\ne commit"
        ),
        {("one_position_per_record", "duplicate")},
    ),
    "duplicate, polled again after its commit": (
        changed("e poll c k0 o2 g2", "e poll b k0 o1 g2\ne poll c k0 o2 g2"),
        {("resumes_at_commit", "duplicate")},
    ),
    "polled again without a commit": (
        changed("c commit k0 o2 g1", "").replace(
            "e poll c", "e poll a k0 o0 g2\ne poll b k0 o1 g2\ne poll c"
        ),
        set(),  # at least once: the group had not said that it was done
    ),
    "inconsistent-offsets": (
        changed("w append d k1 o0", "w append d k1 o0\nw append x k0 o2"),
        {
            ("one_record_per_position", "inconsistent-offsets"),
            ("nothing_lost_to_the_group", "lost-write"),
            ("all_are_polled", "unseen"),
        },
    ),
    "lost-write": (
        changed("c poll a k0 o0 g1", ""),
        {("no_lost_writes", "lost-write"), ("all_are_polled", "unseen")},
    ),
    "lost to the group": (
        changed("c poll b k0 o1 g1", "").replace(
            "c commit k0 o2", "c commit k0 o1 g1\nc commit k0 o2"
        ),
        {
            ("nothing_lost_to_the_group", "lost-write"),
            ("no_lost_writes", "lost-write"),
            ("all_are_polled", "unseen"),
        },
    ),
    "unseen": (
        changed("w append d k1 o0", "w append d k1 o0\nw append x k0 o9"),
        {("all_are_polled", "unseen")},
    ),
    "poll-skip": (
        changed("c poll b k0 o1 g1", "c poll c k0 o2 g1")
        .replace("c commit k0 o2 g1", "c commit k0 o1 g1")
        .replace("e poll c", "e poll b k0 o1 g2\ne poll c"),
        {("polls_without_gaps", "poll-skip")},
    ),
    "poll-skip at a new generation": (
        # what Jepsen allows of subscribed consumers: a rebalance is between
        changed("c poll b k0 o1 g1", "c assign k0 g3\nc poll c k0 o2 g3\nc poll b k0 o1 g4")
        .replace("c assign k1 g1", "c assign k1 g1\nc assign k0 g4")
        .replace("c commit k0 o2 g1", "")
        .replace("e commit k0 o3 g2", ""),
        set(),
    ),
    "nonmonotonic-poll": (
        changed(
            "c poll a k0 o0 g1\n    c poll b k0 o1 g1", "c poll b k0 o1 g1\n c poll a k0 o0 g1"
        ),
        {("polls_in_order", "nonmonotonic-poll")},
    ),
    "nonmonotonic-poll, the same again": (
        changed("c poll b k0 o1 g1", "c poll b k0 o1 g1\nc poll b k0 o1 g1"),
        {("polls_in_order", "nonmonotonic-poll")},
    ),
    "int-nonmonotonic-poll": (
        changed(
            "c poll a k0 o0 g1\n    c poll b k0 o1 g1",
            "c poll b k0 o1 g1 t1\n c poll a k0 o0 g1 t1",
        ),
        {("polls_in_order", "int-nonmonotonic-poll")},
    ),
    "between two transactions": (
        changed(
            "c poll a k0 o0 g1\n    c poll b k0 o1 g1",
            "c poll b k0 o1 g1 t1\n c poll a k0 o0 g1 t2",
        ),
        {("polls_in_order", "nonmonotonic-poll")},
    ),
    "int-poll-skip": (
        changed("c poll a k0 o0 g1", "c poll a k0 o0 g1 t1")
        .replace("c poll b k0 o1 g1", "c poll c k0 o2 g1 t1")
        .replace("c commit k0 o2 g1", "c commit k0 o1 g1")
        .replace("e poll c", "e poll b k0 o1 g2\ne poll c"),
        {("polls_without_gaps", "int-poll-skip")},
    ),
    "nonmonotonic-send": (
        changed("w append a k0 o0\n    w append b k0 o1", "w append b k0 o1\n w append a k0 o0"),
        {("appends_in_order", "nonmonotonic-send")},
    ),
    "two partitions have no order": (
        changed("w append d k1 o0", "w append x k1 o1\nw append d k1 o2").replace(
            "c poll d k1 o0 g1", "c poll x k1 o1 g1\nc poll d k1 o2 g1"
        ),
        set(),
    ),
    "int-nonmonotonic-send": (
        changed(
            "w append a k0 o0\n    w append b k0 o1",
            "w append b k0 o1 t1\n w append a k0 o0 t1\nw commit t1",
        ),
        {("appends_in_order", "int-nonmonotonic-send")},
    ),
    "nonmonotonic-send by sequence numbers": (
        changed(
            "w append a k0 o0\n    w append b k0 o1",
            "w append a k0 o0 s2\n w append b k0 o1 s1",
        ),
        {("appends_in_order", "nonmonotonic-send")},
    ),
    "acknowledgements in another order than the sequence": (
        changed(
            "w append a k0 o0\n    w append b k0 o1",
            "w append b k0 o1 s2\n w append a k0 o0 s1",
        ),
        set(),
    ),
    "sequence numbers of a new session begin anew": (
        changed(
            "w append a k0 o0\n    w append b k0 o1",
            "w append a k0 o0 s7\n w recover\n w append b k0 o1 s1",
        ),
        set(),
    ),
    "G1a": (
        changed("w append c k0 o2", "w append c k0 fail"),
        {("polled_was_appended", "G1a")},
    ),
    "a failed append that nobody polls": (
        changed("w append d k1 o0", "w append d k1 o0\nw append x k0 fail"),
        set(),
    ),
    "polled from nowhere": (
        changed("w append c k0 o2", ""),
        {("polled_was_appended", None)},
    ),
    "polled from another partition": (
        changed("w append c k0 o2\n    w append d k1 o0", "w append d k1 o0\nw append c k1 o2"),
        {("polled_was_appended", None)},
    ),
    "two owners": (
        changed("e assign k0 g2", "e assign k0 g1\ne assign k0 g2"),
        {("one_owner", None)},
    ),
    "one owner after another": (
        changed("e assign k0 g2", "e assign k0 g2\ne assign k1 g2"),
        set(),
    ),
    "polled without assignment": (
        changed("e assign k0 g2", "e assign k1 g2"),
        {("polls_assigned", None)},
    ),
    "polled before assignment": (
        changed("e assign k0 g2\n    e poll c k0 o2 g2", "e poll c k0 o2 g2\ne assign k0 g2"),
        {("polls_assigned", None)},
    ),
    "a record of an aborted transaction is passed over": (
        changed("w append b k0 o1", "w append b k0 o1\nw append x k0 o5 t1")
        .replace("w append c k0 o2", "w append c k0 o6")
        .replace("e poll c k0 o2", "e poll c k0 o6")
        .replace("e commit k0 o3", "e commit k0 o7"),
        set(),
    ),
    "a record of a committed transaction is passed over": (
        changed("w append b k0 o1", "w append b k0 o1\nw append x k0 o5 t1\nw commit t1")
        .replace("w append c k0 o2", "w append c k0 o6")
        .replace("e poll c k0 o2", "e poll c k0 o6")
        .replace("e commit k0 o3", "e commit k0 o7"),
        {
            ("no_lost_writes", "lost-write"),
            ("nothing_lost_to_the_group", "lost-write"),
            ("all_are_polled", "unseen"),
        },
    ),
}


@pytest.mark.every
@pytest.mark.parametrize("name", GROUPS)
def test_an_anomaly_of_groups_is_found(name: str, tmp_path: Path) -> None:
    text, expected = GROUPS[name]
    assert found_in(tmp_path, text, "ConsumerGroup") == expected


def test_a_group_without_anomalies(tmp_path: Path) -> None:
    assert held(tmp_path, FINE, "ConsumerGroup") == {"holds"}


def test_an_acknowledgement_may_be_a_row_of_its_own(tmp_path: Path) -> None:
    apart = FINE.replace("append a k0 o0", "append a k0\nw acknowledge a k0 o0")
    assert held(tmp_path, apart, "ConsumerGroup") == {"holds"}
    late = apart.replace("w acknowledge a k0 o0", "").replace(
        "w append d", "w acknowledge a k0 o9\nw append d"
    )
    assert ("appends_in_order", "nonmonotonic-send") in found_in(tmp_path, late, "ConsumerGroup")


def test_records_of_open_transactions_alone_show_nothing(tmp_path: Path) -> None:
    """Nobody has to poll them, so whether any is lost is not known."""
    open_ = FINE.replace(" o0\n    w append", " o0 t1\n    w append").replace(
        " o1\n    w append", " o1 t1\n    w append"
    )
    open_ = open_.replace("w append c k0 o2", "w append c k0 o2 t1").replace(
        "w append d k1 o0", "w append d k1 o0 t1"
    )
    found = asked(tmp_path, open_, "ConsumerGroup").report.verdicts
    said = {v.property: v.label() for v in found}
    lost = ("no_lost_writes", "nothing_lost_to_the_group", "polls_without_gaps", "all_are_polled")
    assert {said[name] for name in lost} == {"vacuous"} and said["one_owner"] == "holds"


def test_a_gap_of_a_member_may_be_where_it_polled(tmp_path: Path) -> None:
    lost = GROUPS["lost-write"][0] + "e gap\n"
    found = asked(tmp_path, lost, "ConsumerGroup")
    said = {v.property: v.label() for v in found.report.verdicts}
    assert said["no_lost_writes"] == said["all_are_polled"] == "unknown"
    assert said["one_owner"] == "holds within what is logged"


COMMITTED = """
    w append a k0 o0 t1
    w append b k1 o0 t1
    w commit t1
    w append x k0 o2 t2
    w abort t2
    w append y k0 o5
    c poll a k0 o0
    c poll y k0 o5
    e poll b k1 o0
"""
TRANSACTIONS = {
    "G1a": (
        changed("c poll y", "c poll x k0 o2\nc poll y", COMMITTED),
        {("no_aborted_reads", "G1a"), ("no_early_reads", None)},
    ),
    "of two attempts one was committed": (
        changed("w abort t2", "w abort t2\nw append x k0 o3 t3\nw commit t3", COMMITTED).replace(
            "c poll y", "c poll x k0 o3\nc poll y"
        ),
        set(),
    ),
    "precommitted-read": (
        changed("w commit t1", "w poll b k1 o0\nw commit t1", COMMITTED),
        {("no_early_reads", "precommitted-read")},
    ),
    "a transaction polls what was committed before": (
        changed("w append x", "w poll b k1 o0\nw append x", COMMITTED),
        set(),
    ),
    "G1c": (
        """
        w append a k0 o0 t1
        w poll b k1 o0
        w commit t1
        v append b k1 o0 t2
        v poll a k0 o0
        v commit t2
        """,
        {("no_early_reads", "G1c")},
    ),
    "one after another": (
        """
        w append a k0 o0 t1
        w commit t1
        w poll b k1 o0
        v append b k1 o0 t2
        v poll a k0 o0
        v commit t2
        """,
        set(),
    ),
    "polled, and never committed": (
        changed("w commit t1", "", COMMITTED),
        {("no_early_reads", None)},
    ),
    "seen in part": (
        changed("e poll b k1 o0", "", COMMITTED),
        {("committed_is_seen_whole", None)},
    ),
    "not seen at all": (
        changed("e poll b k1 o0", "", COMMITTED).replace("c poll a k0 o0", ""),
        set(),
    ),
}


@pytest.mark.every
@pytest.mark.parametrize("name", TRANSACTIONS)
def test_an_anomaly_of_transactions_is_found(name: str, tmp_path: Path) -> None:
    text, expected = TRANSACTIONS[name]
    assert found_in(tmp_path, text, "TransactionalLog") == expected


def test_transactions_without_anomalies(tmp_path: Path) -> None:
    assert held(tmp_path, COMMITTED, "TransactionalLog") == {"holds"}
    assert held(
        tmp_path, COMMITTED.replace("commit t1", "commit t1 maybe"), "TransactionalLog"
    ) == {"holds"}


@pytest.mark.parametrize(("control", "word"), [("b control k0 o1", "holds"), ("", "unknown")])
def test_a_control_record_is_no_gap(control: str, word: str, tmp_path: Path) -> None:
    """A marker ends a transaction; nobody reads it, and it has an offset."""
    log = f"w append a k0 o0\nw append c k0 o2\n{control}\nr commit a k0 o0\nr commit c k0 o2"
    only = ("log_without_gaps",)
    (verdict,) = asked(tmp_path, log, "ReplicatedLog", only=only).report.verdicts
    assert verdict.label() == word


@pytest.mark.parametrize(
    ("sent", "word"),
    [
        ("w append a k0 o0 s2\nw append b k0 o1 s1", "violated"),
        ("w append b k0 o1 s2\nw append a k0 o0 s1", "holds"),
        ("w append a k0 o0 s1\nw append b k0 o1 s2\nw append b k0 o1 s2", "holds"),
    ],
)
def test_a_producer_with_numbers_is_ordered_by_them(sent: str, word: str, tmp_path: Path) -> None:
    only = ("appends_in_order",)
    (verdict,) = asked(tmp_path, sent, "ReplicatedLog", only=only).report.verdicts
    assert verdict.label() == word


def test_a_picture_has_what_a_finding_names(tmp_path: Path) -> None:
    """The assignments, which have no message, and each indication by its own name."""
    found = asked(tmp_path, GROUPS["two owners"][0], "ConsumerGroup", only=("one_owner",))
    (verdict,) = found.report.verdicts
    assert verdict.reason == "partition k0 is assigned to c and to e in generation 1"
    assert verdict.trace is not None
    drawn = [headline(step) for step in verdict.trace.steps[1:]]
    assert sorted(drawn) == ["c indicates assign(1, k0)", "e indicates assign(1, k0)"]
    back = asked(
        tmp_path, GROUPS["nonmonotonic-poll"][0], "ConsumerGroup", only=("polls_in_order",)
    )
    (verdict,) = back.report.verdicts
    assert verdict.reason == "c polls a from offset 0 of partition k0 after offset 1"
    assert verdict.trace is not None
    assert "poll(1, k0, 0, a)" in " ".join(map(headline, verdict.trace.steps[1:]))
