"""Imports all modules that work in one process, once for all processes that are forked then."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import tests.picture.clock  # noqa: F401 - before any module that keeps a function of `time`

ELSEWHERE = ("spark", "cluster", "pytest", "__main__")
"""Parts of the names of modules that are for other processes."""

_checker = import_module("checker")
for _module in pkgutil.walk_packages(_checker.__path__, "checker."):
    if not any(part in _module.name for part in ELSEWHERE):
        import_module(_module.name)
import_module("tests.picture.subjects")
