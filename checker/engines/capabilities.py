"""The features of engines, and how an engine declares its support of each; what is declared is
refused, reported as ignored and put into tables by :mod:`checker.engines.registry`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Feature(Enum):
    """A feature that a user may request of an engine; the value names it in words."""

    SAFETY = "safety (what must hold in every state), with a shortest run to where it does not"
    STEADY = "liveness (`eventually`, `~>` over growing histories)"
    FOLLOWED = "any other temporal formula, monitored from the initial states"
    LARGE = "integers of more than 62 bits, any number of propositions and of nested choices"
    FINE_STEPS = "`--fine-steps`"
    COVERAGE = "`coverage`: handlers, branches and crash points that were reached"
    LIMITS = "`--max-states`, `--max-depth`, `--timeout`"
    MEMORY = "`--memory`"
    THREADS = "`--threads`"
    RUNS = "`--checkpoint`, `--resume`"
    TABLES = "`--states-out`"
    REDUCTIONS = "`--reduce`"
    COMPACT = "`--compact`"
    VIEW = "`view`: the part of the state that is compared"
    VALENCE = "`valence`: what can still be decided in each state"
    CHANCE = "`almost surely`, `chance of`, `expected steps`"


class Can(Enum):
    """Whether an engine supports a feature."""

    YES = "yes"
    PARTLY = "within limits"  # beyond them it reports so, and no wrong answer
    IGNORED = "not observed"  # the answer is the same without it, and the report says so
    NO = "no"  # refused, or a question of a check left unknown, before any work is done


class Ability(Struct, frozen=True):
    """The support of a feature.  ``note``: what the limits are, what is done instead, or why it is
    refused: the text behind the name of the engine; ``code``: of the diagnostic that refuses it.
    """

    can: Can
    note: str = ""
    code: str = "E007"


YES = Ability(Can.YES)

HARMLESS = (Feature.MEMORY, Feature.THREADS, Feature.REDUCTIONS)
"""Features without which the answer is the same."""


def undeclared(feature: Feature) -> Ability:
    """Returns the support of ``feature`` by an engine that does not declare any."""
    return Ability(
        Can.IGNORED if feature in HARMLESS else Can.NO, f"does not support {feature.value}"
    )
