"""A simulator of a partitioned log with consumer groups and transactions, in one process.

It is no Kafka and opens no socket: it has those rules of Kafka that the argument about exactly-once
delivery is about, and each of them can be left out (:class:`Rules`). What its clients do is logged
as clients of a real one would log it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.record import Recorder


@dataclass(frozen=True)
class Rules:
    """Which rules the log has.

    ``numbers``: it recognises a record that is sent again; ``copies``: it acknowledges what a new
    leader will have, too; ``one_owner``: a partition has one owner in a generation;
    ``keeps_commits``: a new coordinator knows what the group has committed; ``markers``: a
    transaction ends in each of its partitions; ``stable``: who reads committed records waits for
    the end of a transaction; ``drops_aborted``: and never sees those that were aborted.
    """

    numbers: bool = True
    copies: bool = True
    one_owner: bool = True
    keeps_commits: bool = True
    markers: bool = True
    stable: bool = True
    drops_aborted: bool = True


@dataclass
class Record:
    """What is at an offset; ``message``: ``None`` for the end of a transaction; ``outcome``:
    whether its transaction was committed, ``None`` while it is open."""

    message: str | None
    transaction: str | None = None
    outcome: bool | None = None


@dataclass
class Log:
    """The log: its partitions, and what it knows of producers and of the group."""

    rules: Rules
    partitions: dict[str, list[Record]] = field(default_factory=lambda: {"x": [], "y": []})
    known: dict[tuple[str, str, int], int] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)
    generation: int = 0

    def append(
        self, producer: str, number: int, partition: str, message: str, transaction: str | None
    ) -> int:
        """Appends a record; returns its offset, also where it has the record already."""
        key = producer, partition, number
        if not self.rules.numbers or key not in self.known:
            self.partitions[partition].append(Record(message, transaction))
            self.known[key] = len(self.partitions[partition]) - 1
        return self.known[key]

    def elect(self, partition: str) -> None:
        """Lets another broker lead a partition; without copies it lacks the last record."""
        if not self.rules.copies:
            self.partitions[partition].pop()

    def close(self, transaction: str, commit: bool) -> None:
        """Ends a transaction with a control record in each of its partitions."""
        for records in self.partitions.values():
            mine = [r for r in records if r.transaction == transaction and r.message is not None]
            if not mine:
                continue
            for record in mine:
                record.outcome = commit
            records.append(Record(None, transaction, commit))
            if not self.rules.markers:
                return

    def read(self, partition: str, offset: int) -> list[tuple[int, str]]:
        """Returns the committed records from ``offset`` on, with their offsets."""
        found: list[tuple[int, str]] = []
        for at, record in enumerate(self.partitions[partition]):
            is_open = record.transaction is not None and record.outcome is None
            if is_open and self.rules.stable:
                break
            aborted = record.outcome is False and self.rules.drops_aborted
            if at >= offset and record.message is not None and not aborted:
                found.append((at, record.message))
        return found


class Producer:
    """A producer: it numbers its records, and sends one again if no answer comes."""

    def __init__(self, name: str, log: Log, recorder: Recorder) -> None:
        self.name, self.log, self.recorder = name, log, recorder
        self.number = 0

    def send(
        self,
        message: str,
        partition: str,
        transaction: str | None = None,
        answer_lost: bool = False,
    ) -> None:
        """Sends a record until it is acknowledged, and logs that."""
        self.number += 1
        for _ in range(2 if answer_lost else 1):
            offset = self.log.append(self.name, self.number, partition, message, transaction)
        of = () if transaction is None else (transaction,)
        place = {"offset": offset, "seq": self.number}
        given = [*of, partition, message]
        self.recorder.record("request", name="append", arguments=given, **place)

    def end(self, transaction: str, commit: bool = True) -> None:
        """Logs that it commits or aborts a transaction, and does so."""
        self.recorder.request("commit" if commit else "abort", transaction)
        self.log.close(transaction, commit)


class Member:
    """A member of the group; without a generation it reads what it likes."""

    def __init__(self, name: str, log: Log, recorder: Recorder) -> None:
        self.name, self.log, self.recorder = name, log, recorder
        self.places: dict[str, int] = {}
        self.generation = 0

    def assign(self, *partitions: str) -> None:
        """Takes partitions over in the present generation, from what the group has committed."""
        self.generation = self.log.generation
        self.places = {name: self.log.committed.get(name, 0) for name in partitions}
        for name in partitions:
            self.recorder.indicate("assign", self.generation, name)

    def poll(self, partition: str, most: int = 100) -> list[str]:
        """Returns the next records of a partition."""
        found = self.log.read(partition, self.places[partition])[:most]
        for offset, message in found:
            within = (self.generation,) if self.generation else ()
            self.recorder.indicate("poll", *within, partition, offset, message)
            self.places[partition] = offset + 1
        return [message for _, message in found]

    def commit(self, partition: str) -> None:
        """Says that the group is done with what it has polled."""
        offset = self.places[partition]
        self.log.committed[partition] = offset
        self.recorder.indicate("commit", self.generation, partition, offset)

    def perform(self, message: str, effects: set[str] | None = None) -> None:
        """Does what a record asks for; with ``effects`` the receiver recognises a repetition."""
        is_new = effects is None or message not in effects
        self.recorder.perform(message, effect=is_new)
        if effects is not None:
            effects.add(message)


def rebalance(log: Log, *members: Member) -> None:
    """Begins a generation in which each partition has one owner, as long as the rules say so."""
    log.generation += 1
    if not log.rules.keeps_commits:
        log.committed.clear()
    for at, partition in enumerate(log.partitions):
        owners = [members[at % len(members)]] if log.rules.one_owner else members
        for owner in owners:
            others = [name for name in owner.places if owner.generation == log.generation]
            kept = {name: owner.places[name] for name in others}
            owner.assign(partition)
            owner.places |= kept
