"""The relations that the plans of properties are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any

import pyarrow as pa

from checker.audit.columns import STATUS, Kind, Role
from checker.audit.engine import Engine
from checker.audit.processes import ProcessState
from checker.audit.relations import Expr, Keep, Relation, Scan, col, either

OK, FAIL, MAYBE = range(len(STATUS))
VIOLATED, PENDING, UNKNOWN = range(3)
"""What a finding says of its property: it is violated; it may be met later; or it may have been met
in a gap."""

_OF_REQUESTS = ("to_process", "partition", "offset", "seq", "epoch", "transaction")

Findings = Iterator[tuple[str, Relation | pa.Table]]
"""Kinds, each with its findings: a plan, or a table where that took more than a plan.  Rows of a
table that are equal in ``circle`` are one finding."""


class Tables:
    """What happened in a log, as relations.

    ``engine``: for the few plans that depend on what is found; ``roles``: the requests and
    indications that are meant, where the interface has others of their kind, too; ``states``: what
    is known of the processes.
    """

    def __init__(
        self,
        engine: Engine,
        roles: tuple[Role, ...] = (),
        states: Sequence[ProcessState] = (),
    ) -> None:
        self.engine = engine
        self.roles = roles
        self.states = states
        self.events: Relation = Scan("events")
        if "operator" in engine.columns:
            for kind in (Kind.REQUEST, Kind.INDICATION):
                self.events = _meant(self.events, kind, roles)
        self.processes = Scan("processes")
        self.runs = Scan("runs")

    def _of_kind(self, kind: Kind) -> Relation:
        return self.events.where(col("kind") == int(kind))

    def rows_of(self, at: int) -> Relation:
        """Returns the events of the role at that place that happened, or may have: with
        ``process``, ``pos``, ``status``, ``entry``, ``message``, and the columns of its arguments,
        which all have a value.  An event with a position is not of a role without one."""
        role = self.roles[at]
        rows = self._of_kind(role.kind).where(col("status") != FAIL)
        if "operator" in self.engine.columns:
            rows = rows.where(col("operator") == role.number)
        columns = [engine_column(name) for name in role.columns if name != "msg"]
        for name in columns:
            rows = rows.where(~col(name).is_null())
        if "offset" in self.engine.columns and role.kind is Kind.NOTICE and "offset" not in columns:
            rows = rows.where(col("offset").is_null())
        columns += [
            n for n in ("group", "transaction") if n in self.engine.columns and n not in columns
        ]
        return rows.select("process", "pos", "status", "entry", "message", *columns)

    @cached_property
    def requests(self) -> Relation:
        """Requests that were made, or may have been: ``process``, ``pos``, ``entry``, ``message``,
        and whether it is ``made`` for sure."""
        made = self._of_kind(Kind.REQUEST).where(col("status") != FAIL)
        more = [name for name in _OF_REQUESTS if name in self.engine.columns]
        return made.select(
            *("process", "pos", "entry", "message", *more), made=col("status") == OK
        ).keep()

    @cached_property
    def deliveries(self) -> Relation:
        """Indications: ``process``, ``pos``, ``entry``, ``message``, and what else the log has."""
        names = ("sender", "partition", "offset", "uncommitted")
        more = [n for n in names if n in self.engine.columns]
        happened = self._of_kind(Kind.INDICATION).where(col("status") == OK)
        return happened.select("process", "pos", "entry", "message", *more)

    @property
    def shared(self) -> tuple[Relation, ...]:
        """The relations so far that more than one plan asks for."""
        return tuple(value for value in vars(self).values() if isinstance(value, Keep))

    @cached_property
    def numbered(self) -> Relation:
        """Indications, with how often the process has had the same one (``number``, from 1), and
        where it had it last (``pos2``)."""
        return self.deliveries.window(
            ("process", "entry"), "pos", number=("number", "pos"), pos2=("previous", "pos")
        )

    @cached_property
    def firsts(self) -> Relation:
        """The first of each indication at each process."""
        more = [n for n in ("sender", "partition") if n in self.engine.columns]
        first = self.numbered.where(col("number") == 1)
        return first.select("process", "pos", "entry", "message", *more).keep()

    @cached_property
    def performed(self) -> Relation:
        """What was performed: ``process``, ``pos``, ``entry``, ``message``, and whether that had an
        ``effect`` (where the log says)."""
        more = [name for name in ("effect",) if name in self.engine.columns]
        done = self._of_kind(Kind.PERFORM).where(col("status") == OK)
        return done.select("process", "pos", "entry", "message", *more).keep()

    @property
    def effects(self) -> Relation:
        """What was performed and changed something: all of it, where the log says nothing else."""
        if "effect" not in self.engine.columns:
            return self.performed
        return self.performed.where(col("effect").otherwise(True))

    @cached_property
    def uncertain(self) -> Relation:
        """Indications that may have happened: ``process``, ``entry``."""
        maybe = self._of_kind(Kind.INDICATION).where(col("status") == MAYBE)
        return maybe.group("process", "entry", times=("count", ""))

    @cached_property
    def made(self) -> Relation:
        """Requests that were made for sure, or of which there is a delivery, the first of each:
        ``process``, ``pos``, ``entry``."""
        sure = self.requests.where(col("made"))
        seen = self.requests.where(~col("made")).join(self.firsts, "entry", how="semi")
        return sure.union(seen).group("process", "entry", pos=("min", "pos")).keep()

    def about(self, relation: Relation, *columns: str) -> Relation:
        """Returns ``relation`` with what is known of its ``process``."""
        return relation.join(self.processes.select("process", *columns), "process")

    def by_size(self, rows: Relation) -> list[list[Any]]:
        """Returns of each ``run`` its processes, those with most ``rows`` first."""
        counts = self.engine.rows(rows.group("run", "process", size=("count", ""))).to_pylist()
        found: dict[Any, list[Any]] = {}
        for row in sorted(counts, key=lambda row: (-row["size"], str(row["process"]))):
            found.setdefault(row["run"], []).append(row["process"])
        return list(found.values())


def engine_column(name: str) -> str:
    """Returns the engine's name of a column."""
    return "to_process" if name == "to" else name


def _meant(events: Relation, kind: Kind, roles: tuple[Role, ...]) -> Relation:
    """Returns ``events`` without those of ``kind`` that are of no one of ``roles``, where any of
    these has that kind."""
    wanted = [col("operator") == role.number for role in roles if role.kind is kind]
    return events if not wanted else events.where(reduce(or_, wanted, col("kind") != int(kind)))


def verdict(sure: Expr, early: Expr) -> Expr:
    """Returns what a finding says: for ``sure``, unless a gap explains it, and ``early`` enough
    before the end of the log."""
    return either(sure, either(early, VIOLATED, PENDING), UNKNOWN)
