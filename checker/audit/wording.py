"""Describes findings in words: who did what, at which positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.audit.columns import Kind, Role
from checker.audit.engine import Engine
from checker.language.syntax.typed import Interface

_SENTENCES: Mapping[str, str] = {
    "duplicate": "{who} {delivers} {what} twice, at positions {at2} and {at}",
    "delivered to two": "{what} is handed to {who} and to {who2}",
    "created": "{who} {delivers} {what} at position {at}, which was never requested",
    "delivered before it was requested": (
        "{who} {delivers} {what} at position {at} and requests it only at position {at2}"
    ),
    "never delivered": "{what} is never delivered by {who}",
    "not delivered by all": "{what} is delivered, and never by {who}",
    "not delivered again": "{what} is delivered to {who} once at most",
    "lost": "{what}, requested by {who}, is delivered by nobody",
    "never performed": "{what}, requested by {who}, is never performed",
    "never decided": "{who} never {delivers}",
    "never answered": "{who} waits for an answer at the end of its log",
    "never learned": "{who} never learns {what}",
    "skipped": "{who} {delivers} {what} at position {at} and never {what2}, requested before it",
    "delivered after its successor": (
        "{who} {delivers} {what} at position {at} and {what2}, requested before it, only at"
        " position {at2}"
    ),
    "its cause was skipped": (
        "{who} {delivers} {what} at position {at} and never {what2}, which may have caused it"
    ),
    "delivered before its cause": (
        "{who} {delivers} {what} at position {at} and {what2}, which may have caused it, only at"
        " position {at2}"
    ),
    "delivered in another order": (
        "{who} {delivers} {what2}, then {what}; {who2} {what}, then {what2}"
    ),
    "another entry at one place": "{what} and {what2} are at the same place in two logs",
    "a second one": "{who} {delivers} {what2} at position {at2} and {what} at position {at}",
    "decided differently": "{who} {delivers} {what} and {who2} {what2}",
    "another value": "{who} {delivers} {what}, and all correct processes proposed {what2}",
    "aborted before it crashed": (
        "{who} aborts at position {at} and crashes only at position {at2}; nobody else crashed or"
        " voted no"
    ),
    "aborted without a reason": "{who} aborts at position {at}; nobody voted no or crashed",
    "committed against a no": "{who} commits at position {at}; {who2} voted no",
    "different entries at one position": "{what} and {what2} are both at offset {offset}",
    "learned again": "{who} learns {what} at offset {offset} twice, at positions {at2} and {at}",
    "skipped a position": (
        "{who} learns offset {offset} at position {at}, and has not learned the one before it"
    ),
    "acknowledged and never read": (
        "{what} was acknowledged to {who2} at offset {offset}, and {who}, which has read on, never"
        " read it"
    ),
    "appended out of order": (
        "{who} appends {what} at position {at}, and it is at offset {offset}, below one that it"
        " appended before"
    ),
    "appended out of order within a transaction": (
        "{who} appends {what} at position {at}, and it is at offset {offset}, below one that it"
        " appended before in the same transaction"
    ),
    "assigned to two": (
        "partition {partition} is assigned to {who} and to {who2} in generation {generation}"
    ),
    "polled without assignment": (
        "{who} polls {what} from partition {partition}, which it has not been assigned in"
        " generation {generation}"
    ),
    "at two positions": "{what} is at {place} and at offset {offset2}",
    "polled though its append failed": "{who} polls {what} at position {at}, whose append failed",
    "polled from another partition": (
        "{who} polls {what} from {place}, and it was appended to another partition"
    ),
    "polled backwards": "{who} polls {what} from {place} after offset {offset2}",
    "polled backwards within a transaction": (
        "{who} polls {what} from {place} after offset {offset2}, in one transaction"
    ),
    "passed over": (
        "{what} was acknowledged to {who2} at {place}, and {who} polls records before and behind"
        " it, and not that"
    ),
    "passed over within a transaction": (
        "{what} was acknowledged to {who2} at {place}, and {who} polls records before and behind it"
        " in one transaction, and not that"
    ),
    "polled again after its commit": (
        "{who} polls {what} from {place}, and {who2} had committed offset {offset2} in an earlier"
        " generation"
    ),
    "lost to the group": (
        "{what} was acknowledged to {who2} at {place}, the group has committed more, and nobody"
        " polled it"
    ),
    "acknowledged and passed by all": (
        "{what} was acknowledged to {who2} at {place}, the group has polled more, and nobody"
        " polls it"
    ),
    "acknowledged and polled by nobody": (
        "the append of {what} was acknowledged to {who}, and nobody polls it"
    ),
    "polled from an aborted transaction": (
        "{who} polls {what} at position {at}, whose transaction is aborted"
    ),
    "polled without a commit": (
        "{who} polls {what} at position {at}, and the commit of its transaction was never requested"
    ),
    "polled before its commit": (
        "{who} polls {what} at position {at} and commits its transaction only at position {at2}"
    ),
    "seen in part": "{what} is polled by nobody, and another record of its transaction is",
    "performed twice": "{who} performs {what} twice, at positions {at2} and {at}",
    "performed twice, by two": "{what} is performed by {who} and by {who2}",
    "had its effect twice": "{what} has its effect twice, by {who} at positions {at2} and {at}",
    "had its effect twice, by two": "{what} has its effect twice, by {who} and by {who2}",
    "another payload": "{what} does not have the same payload everywhere",
}

ALIASES: Mapping[str, str] = {
    "duplicate": "duplicate",
    "never delivered": "unseen",
    "not delivered by all": "unseen",
    "lost": "lost-write",
    "never learned": "unseen",
    "acknowledged and never read": "lost-write",
    "appended out of order": "nonmonotonic-send",
    "delivered in another order": "nonmonotonic-poll",
    "delivered after its successor": "nonmonotonic-poll",
    "skipped": "poll-skip",
    "skipped a position": "poll-skip",
    "different entries at one position": "inconsistent-offsets",
    "appended out of order within a transaction": "int-nonmonotonic-send",
    "at two positions": "duplicate",
    "polled though its append failed": "G1a",
    "polled backwards": "nonmonotonic-poll",
    "polled backwards within a transaction": "int-nonmonotonic-poll",
    "passed over": "poll-skip",
    "passed over within a transaction": "int-poll-skip",
    "polled again after its commit": "duplicate",
    "lost to the group": "lost-write",
    "acknowledged and passed by all": "lost-write",
    "acknowledged and polled by nobody": "unseen",
    "polled from an aborted transaction": "G1a",
    "polled before its commit": "precommitted-read",
    "a circle of transactions": "G1c",
}
"""What Jepsen's checkers of queues and logs call such things."""


SAID = "said"
"""The column of findings that have their own words."""


class Words:
    """Names of what findings are about; ``interface``: whose verbs are used."""

    def __init__(self, engine: Engine, interface: Interface, roles: tuple[Role, ...] = ()) -> None:
        self._engine, self._interface = engine, interface
        named = [role.name for role in roles if role.kind is Kind.INDICATION]
        named += [operator.name for operator in interface.indications]
        self.delivers = f"{named[0] if named else 'deliver'}s"

    def about(self, roles: tuple[Role, ...]) -> Words:
        """Returns the same for a question about these requests and indications."""
        return Words(self._engine, self._interface, roles)

    def who(self, value: Any) -> str:
        """Returns the name of a process, with its run where there are several."""
        if value is None:
            return "nobody"
        run, name = self._engine.process(value)
        return f"{name} (run {run})" if run else name

    def what(self, row: Mapping[str, Any], number: str = "") -> str:
        """Returns the name of what a finding is about, with its sender, if that is known."""
        entry = row.get(f"entry{number}")
        if entry is None:
            message = row.get("message")
            return "nothing" if message is None else self._engine.message(message)
        sender, message = self._engine.entry(entry)
        return message if sender is None else f"{message} from {sender}"

    def place(self, row: Mapping[str, Any]) -> str:
        """Returns an offset, with its partition, if that is known."""
        partition = row.get("partition")
        of = "" if partition is None else f" of partition {self._engine.partition(partition)}"
        return f"offset {_number(row.get('offset'))}{of}"

    def partition(self, row: Mapping[str, Any]) -> str:
        """Returns the name of a partition."""
        partition = row.get("partition")
        return "?" if partition is None else self._engine.partition(partition)

    def commits(self, rows: list[dict[str, Any]]) -> str:
        """Returns a circle of polls and commits in words."""
        said = [
            f"{self.who(row['process'])} {self.delivers} {self.what(row)} at position"
            f" {_number(row['pos'])}, then commits the transaction of"
            f" {self._engine.entry(row['entry2'])[1]} at position {_number(row['pos2'])}"
            for row in rows
        ]
        return f"{'; '.join(said)}: no execution has all of this"

    def circle(self, rows: list[dict[str, Any]]) -> str:
        """Returns a circle of deliveries and requests in words."""
        said = []
        for row in rows:
            asked = row["entry2"]
            asks = "crashes" if asked is None else f"requests {self._engine.entry(asked)[1]}"
            said.append(
                f"{self.who(row['process'])} {self.delivers} {self.what(row)} at position"
                f" {_number(row['pos'])}, then {asks} at position {_number(row['pos2'])}"
            )
        shared = any(row["shared"] for row in rows)
        also = ", as others that request the same do so too late as well" if shared else ""
        return f"{'; '.join(said)}: no execution has all of this{also}"

    def cycle(self, rows: list[dict[str, Any]]) -> str:
        """Returns a cycle of orders in words."""
        said = [
            f"{self.who(r['process'])} {self.delivers} {self.what(r, '2')} before {self.what(r)}"
            for r in rows
        ]
        return ", ".join(said)


def told(kind: str, rows: list[dict[str, Any]], words: Words) -> str:
    """Returns a finding of one row, or of several that are one circle, in words."""
    if rows[0].get(SAID) is not None:
        return str(rows[0][SAID])
    if kind == "a cycle of orders":
        return words.cycle(rows)
    if kind == "a circle":
        return words.circle(rows)
    if kind == "a circle of transactions":
        return words.commits(rows)
    return sentence(kind, rows[0], words)


def sentence(kind: str, row: Mapping[str, Any], words: Words) -> str:
    """Returns a finding in words."""
    return _SENTENCES[kind].format(
        who=words.who(row.get("process")),
        who2=words.who(row.get("process2")),
        what=words.what(row),
        what2=words.what(row, "2"),
        delivers=words.delivers,
        at=_number(row.get("pos")),
        at2=_number(row.get("pos2")),
        offset=_number(row.get("offset")),
        offset2=_number(row.get("offset2")),
        place=words.place(row),
        partition=words.partition(row),
        generation=_number(row.get("generation")),
    )


def _number(value: Any) -> str:
    return "?" if value is None else f"{value:,}"
