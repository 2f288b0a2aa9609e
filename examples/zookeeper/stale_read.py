"""A stale read, made to happen in ZooKeeper: a server that is cut off answers with what it has.

The checker finds it in a spec (`stale_read.bcast`); it is exported as a harness, and played with
reads as they are, and with `sync` before each read.  `python examples/zookeeper/stale_read.py`
prints a line for each.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.made_to_happen import Example, Scene, tell  # noqa: E402

SYNC = Example(
    HERE / "stale_read.bcast",
    HERE / "hooks.py",
    {"stale_read": Scene("without_sync", "with_sync", {}, {"ZOOKEEPER_READS": "sync"})},
)

if __name__ == "__main__":
    sys.exit(tell(SYNC))
