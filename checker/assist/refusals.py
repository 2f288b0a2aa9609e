"""The reasons for refusing a call, with their codes (``docs/assistants.md`` lists them)."""

from __future__ import annotations

ARGUMENTS, PATH, FILE, HANDLE, BUSY, TOOL, INTERNAL = (
    "A001", "A002", "A003", "A004", "A005", "A006", "A007",
)  # fmt: skip
BASELINE = "A008"
"""The code of what differs from a baseline; nothing is refused then."""


class Refused(Exception):
    """A call can't be answered: ``code``, ``message``, and in ``hint`` what would be right."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint
