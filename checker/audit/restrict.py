"""Restricts an audit to a part of the log: to messages from some time on, or to a sample of them.

All events of a message stay or go together, so that what is asked of a message that stays is
answered as in the whole log.
"""

from __future__ import annotations

from msgspec import Struct

from checker.audit.engine import Engine
from checker.audit.processes import EVENTS, require_times
from checker.audit.relations import col

LOTS = 1 << 20
"""Into how many lots messages are drawn, by their names."""


class Restriction(Struct, frozen=True):
    """``since``: messages of which nothing happened before this time of the log's clocks;
    ``sample``: the part of all messages that are looked at, 1 for all."""

    since: float | None = None
    sample: float = 1.0

    @property
    def said(self) -> str:
        """Returns what the audit is restricted to, in words; empty for nothing."""
        parts = []
        if self.sample < 1:
            parts.append(f"a sample of {100 * self.sample:g} % of the messages")
        if self.since is not None:
            parts.append(f"messages since {self.since:g}")
        return " and ".join(parts)


def restrict(engine: Engine, restriction: Restriction) -> None:
    """Leaves out the events of messages that the audit is not about; raises :class:`SpecError`
    (E081) where that goes by times, and the log has none."""
    if restriction.since is not None:
        require_times(engine, "--since")
        begun = EVENTS.where(col("ts") >= restriction.since).group("process", since=("min", "pos"))
        placed = EVENTS.select("process", "pos", "message").join(begun, "process", how="left")
        old = placed.where(col("since").is_null() | (col("pos") < col("since")))
        old = old.where(~col("message").is_null()).select("message")
        engine.define("events", EVENTS.join(old, "message", how="anti"))
    if restriction.sample < 1:
        left_out = engine.lots().where(col("lot") >= int(restriction.sample * LOTS))
        engine.define("events", EVENTS.join(left_out.select("message"), "message", how="anti"))
