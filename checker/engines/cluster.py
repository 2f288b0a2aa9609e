"""The cluster of a run, as the user configures it.  Imports nothing of PySpark."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field

HERE = "local[*]"
"""The master where none is given: all cores of this machine."""


class Exchange(Enum):
    """How states get from the task that finds them to their owner."""

    AUTO = "auto"
    SHUFFLE = "shuffle"
    BARRIER = "barrier"


class Cluster(Struct, frozen=True):
    """A cluster: ``master``: as for ``spark-submit``, or ``sc://HOST`` for Connect; ``conf``:
    Spark's own settings; ``shards``: into how many parts the states are divided (``None``: one for
    each slot).
    """

    master: str
    conf: Mapping[str, str] = field(default_factory=dict)
    exchange: Exchange = Exchange.AUTO
    shards: int | None = None
