"""Names of variables of the world that others recognise."""

from __future__ import annotations

IMMUNE = "@immune"
"""The process that a failure detector's guarantee exempts from crashes."""

TIMER = "@timer."
"""A part of the name of each timer's variable."""
