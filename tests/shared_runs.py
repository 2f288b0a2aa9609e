"""Tests that ask about the same run share a worker of pytest-xdist, where it is made once."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def sharing(run: str, *values: object, name: str = "", slow: bool = False) -> ParameterSet:
    """Returns the parameters of a test that asks about ``run``; the test's id is ``name``, or else
    ``run``."""
    marks = [pytest.mark.xdist_group(run), *([pytest.mark.slow] if slow else [])]
    return pytest.param(*values, id=name or run, marks=marks)
