"""Records what a process does, for ``bivalence audit``, ``conform``, ``judge`` (docs/logs.md).

It imports nothing but Python's standard library, so an implementation can use it as it is.
"""

from checker.record.recorder import Recorder as Recorder
