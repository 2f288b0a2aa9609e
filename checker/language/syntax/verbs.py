"""The verbs of requests, as a check writes them."""

from __future__ import annotations


def verbs(operator: str) -> tuple[str, str]:
    """Returns the verbs for a client's request: ``broadcasts``, ``pushes``."""
    return f"{operator}s", f"{operator}es"
