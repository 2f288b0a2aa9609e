"""What an engine of the audit has to do: run plans, and say what their values stand for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

import pyarrow as pa

from checker.audit.relations import Relation


class Engine(Protocol):
    """Runs plans over the tables of a log.

    ``events``: ``process``, ``pos``, ``kind``, ``status``, ``entry`` (what is requested or
    delivered), ``message``, and, where the log has them (``columns``), ``sender``, ``to_process``,
    ``operator`` (which request or indication) and what else :data:`checker.audit.columns.READ` has.
    Values of ``process``, ``entry``, ``message``, ``partition``, ``group`` and ``transaction`` are
    the engine's own; they can be compared, and the first four shown, as with :meth:`process`.
    ``is_remote``: that :meth:`rows` brings rows here.
    """

    name: str
    is_remote: bool

    @property
    def columns(self) -> frozenset[str]:
        """The columns of ``events``."""

    def define(self, name: str, relation: Relation) -> None:
        """Makes the rows of ``relation`` known as ``name``."""

    def add(self, name: str, table: pa.Table) -> None:
        """Makes a small table known as ``name``; values of the engine's own are as it gave them."""

    def has_rows(self, relation: Relation) -> bool:
        """Returns whether there are any rows."""

    def rows(self, relation: Relation) -> pa.Table:
        """Returns the rows."""

    def findings(self, relation: Relation, most: int) -> tuple[dict[int, int], pa.Table]:
        """Returns how many rows have each ``verdict``, and at most so many of them: those that
        violate, then those that may, by their positions."""

    def forget(self, but: Collection[Relation] = ()) -> None:
        """Forgets what was kept for relations that are asked for more than once, but for these."""

    def values(self) -> list[Any]:
        """Returns all processes that the log names."""

    def add_process(self, run: str, name: str) -> Any:
        """Returns the value of a process that the log does not name."""

    def places(self, table: pa.Table) -> list[tuple[str, int | None]]:
        """Returns the file and the row of each event, named by ``process`` and ``pos``."""

    def column(self, name: str, values: list[Any]) -> Relation:
        """Returns a relation with one column of the engine's own values."""

    def processes_table(self, values: list[Any]) -> Relation:
        """Returns a relation with the column ``process``, which has these values."""

    def messages_called(self, name: str) -> Relation:
        """Returns a relation with the column ``message``: those of all runs with that name."""

    def lots(self) -> Relation:
        """Returns a relation of each ``message`` and its ``lot``, drawn by its name alone."""

    def process(self, value: Any) -> tuple[str, str]:
        """Returns the run and the name of a process."""

    def entry(self, value: Any) -> tuple[str | None, str]:
        """Returns who sent what is delivered (``None``: that is not said), and the message."""

    def run_of_entry(self, value: Any) -> str:
        """Returns the run in which something is requested or delivered."""

    def partition(self, value: Any) -> str:
        """Returns the name of a partition."""

    def message(self, value: Any) -> str:
        """Returns the name of a message."""
