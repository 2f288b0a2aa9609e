"""What is in documents that `--json` writes."""

from __future__ import annotations

from typing import Any

from checker.formats.json_format import reports_of


def only_report(text: str) -> dict[str, Any]:
    """Returns the only report in a document."""
    (found,) = reports_of(text)
    return found
