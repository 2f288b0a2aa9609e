"""Tests that ask about the same run share a worker of pytest-xdist, where it is made once."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def sharing(run: str, *values: object, name: str = "", mark: str = "") -> ParameterSet:
    """Returns the parameters of a test that asks about ``run``; the test's id is ``name``, or else
    ``run``; ``mark``: `slow`, `every`, or none."""
    marks = [pytest.mark.xdist_group(run), *([getattr(pytest.mark, mark)] if mark else [])]
    return pytest.param(*values, id=name or run, marks=marks)
