"""Something that can happen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """``promise``: what is kept by it, where something is; ``strong``: the promise is about what is
    possible again and again; ``finite``: it happens finitely often; ``whole``: without a pause
    inside."""

    name: str
    does: Callable[[Any], None]
    promise: Hashable = None
    strong: bool = False
    finite: bool = False
    whole: bool = False
