"""The HTML that notebooks show in place of an object, made by a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from checker.extensions.tables import VIEWS


def html_of(name: str, shown: object) -> str:
    """Returns the HTML of ``shown`` by the view called ``name``."""
    return cast(Callable[[object], str], VIEWS.load(VIEWS.origin(name)))(shown)
