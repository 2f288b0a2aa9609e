"""Where on Spark a run is made, as the user says it.  Names nothing of PySpark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Exchange(Enum):
    """How states get from the task that finds them to the one that keeps them."""

    AUTO = "auto"
    SHUFFLE = "shuffle"
    BARRIER = "barrier"


@dataclass(frozen=True, slots=True)
class Cluster:
    """``master``: as for ``spark-submit``, or ``sc://HOST`` for Connect; ``conf``: Spark's own
    settings; ``shards``: into how many parts the states are divided (``None``: one for each slot).
    """

    master: str
    conf: Mapping[str, str] = field(default_factory=dict)
    exchange: Exchange = Exchange.AUTO
    shards: int | None = None
