"""The symbolic engine: queries to z3 about violations within bounded depth, at every depth, and for
every number of processes.
"""

import builtins
import sys
from importlib.util import find_spec
from pathlib import Path


def _find_library() -> None:
    """Names the folders in which z3 looks for its shared library.

    By itself it would look in the current folder first, and execute a ``libz3.so`` beside a spec.
    """
    found = find_spec("z3")
    package = Path(found.origin).parent if found is not None and found.origin else Path(sys.prefix)
    folders = package, package / "lib", Path(sys.prefix, "lib")
    builtins.Z3_LIB_DIRS = [str(folder) for folder in folders]  # type: ignore[attr-defined]


_find_library()
