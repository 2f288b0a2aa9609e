"""Names of variables of the world that others recognise."""

from __future__ import annotations

BYZANTINE = "@byzantine"
"""The processes that are Byzantine."""

DOOMED = "@doomed"
"""The processes that are foreseen to crash."""

IMMUNE = "@immune"
"""The process that a failure detector's guarantee exempts from crashes."""

TIMER = "@timer."
"""A part of the name of each timer's variable."""
