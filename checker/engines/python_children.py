"""Starts of Python processes: all that the tool starts import as if no file lay around them.

Python puts the current folder at the head of the import path of ``python -m`` and ``python -c``,
which is how the tool and :mod:`multiprocessing` start processes.  A ``json.py`` beside a spec would
be executed.  Here the interpreter is started without that folder (``-P``, PYTHONSAFEPATH); what
PYTHONPATH names is kept, as its user says so.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLE = "PYTHONSAFEPATH"
SAFE_PATH = {_VARIABLE: "1"}
"""The environment variable that is ``-P``, for processes that a library starts."""

_starting = threading.RLock()


def command(*words: str, module: str = "checker.cli") -> tuple[str, ...]:
    """Returns the command line that runs the tool, or another of its modules, with ``words`` in
    another process."""
    return (sys.executable, "-P", "-m", module, *words)


@contextmanager
def safe_start() -> Iterator[None]:
    """Within the block, :mod:`multiprocessing` starts its processes (workers and the resource
    tracker) without the current folder in their import path; they start theirs so, too."""
    with _starting:
        before = os.environ.get(_VARIABLE)
        os.environ |= SAFE_PATH
        try:
            yield
        finally:
            if before is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = before
