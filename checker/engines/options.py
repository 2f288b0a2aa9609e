"""Options of a run of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field

from checker.engines.cluster import Cluster
from checker.extensions.tables import AUTO
from checker.results.answer import Limits

GRADUATE_AT = 1_000_000
"""A frontier of so many states is worth a cluster."""

PRECISION = Fraction(1, 10**6)
"""How wide an interval of a probability or an expected value may be."""

CHECKPOINT_EVERY = 30.0
"""Seconds between two checkpoints."""


class Options(Struct, frozen=True):
    """How a check is run; ``settings`` replace the check's own parameters.

    ``engine``: ``auto`` is native, and switches to Spark where there is a ``cluster`` and the
    frontier has grown to ``graduate_at`` states.  ``coverage``: the report states which handlers,
    branches and crash points were reached.  ``checkpoint``: a folder (or URI) in which the run is
    kept so that it can be resumed, every ``checkpoint_every`` seconds; ``resume``: one to resume
    from; ``keep``: even when it is over.  ``states_out``: a folder for tables of what was explored.
    ``explain``: seconds at most for exploring why violations happen; ``None``: they are shown as
    they were found; ``explain_expected``: also those of a check that comes out as expected.
    ``strips``: traces of a protocol that decides say what can still be decided after each step.
    ``kinds``: the maximum number of counterexamples for each property, each of
    another equivalence class.  ``whole``: the search continues when every property is decided.
    ``reduce``: the reductions that are allowed
    (:mod:`checker.reductions.choose`); ``audit``: what was found with them is compared with what is
    found without.  ``compact``: fingerprints are stored in place of states
    (:mod:`checker.engines.native.search.compact`).  ``query_timeout``: seconds at most for one
    query to a solver; ``None``: the engine's default.  ``exact``: probabilities and expected values
    are computed as fractions, and certified; ``precision``: how wide their intervals may be;
    ``drn_out``: a file for the decision process of the check; ``unfair``: the kinds of actions
    for which no fairness is assumed.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    engine: str = AUTO
    threads: int | None = None
    fine_steps: bool = False
    limits: Limits = field(default_factory=Limits)
    coverage: bool = False
    cluster: Cluster | None = None
    graduate_at: int = GRADUATE_AT
    checkpoint: str | None = None
    resume: str | None = None
    keep: bool = False
    checkpoint_every: float = CHECKPOINT_EVERY
    states_out: str | None = None
    explain: float | None = None
    explain_expected: bool = True
    strips: bool = True
    kinds: int = 1
    whole: bool = False
    reduce: str = "auto"
    audit: bool = False
    compact: bool = False
    query_timeout: float | None = None
    exact: bool = False
    precision: Fraction = PRECISION
    drn_out: str | None = None
    unfair: tuple[str, ...] = ()

    @property
    def hands_over(self) -> bool:
        """Whether the search goes on on a cluster when it has grown."""
        return self.engine == AUTO and self.cluster is not None

    @property
    def keeps_all_states(self) -> bool:
        """Whether the folder of the run has to hold all states at the end."""
        return self.keep or self.states_out is not None
