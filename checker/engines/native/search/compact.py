"""Compact mode: the probability that a state was omitted, and what such a search may not use.

The visited set holds fingerprints in place of states, so that a state may be taken for another one.
"""

from __future__ import annotations

from checker.records import replace
from checker.reductions.reduction_plan import ReductionPlan, Unused
from checker.results.phrases import at_most

NO_GRAPH = "compact mode stores no states to build a graph from"
"""The reason why liveness is undecided where the system may have cycles."""

NO_ROUND = "it is proven only for acyclic state graphs, and compact mode can't detect cycles"

COMPARED = 92
"""The mean number of slots that a new state is compared with, at most.

Where at most 7/8 of the slots are in use, 7 states on average begin at a line of 8.  What a line
can't hold goes on to the next, which is a queue with 7 arrivals, of variance 7 at most, and 8
services for each line: Kingman's bound (1962) gives 7/2 states on average that wait.  A new state
waits behind these until a line has room.  The number in front of it, itself included, falls by 1 a
line in the mean, and ends at -7 or more; so by Wald's equation it reads 7/2 + 1 + 7 lines.
"""


def omission_probability(states: int, bits: int) -> float:
    """An upper bound on the probability that any state was omitted by a search that found
    ``states`` states, with slots that hold ``bits`` bits of a fingerprint.

    Fingerprints are taken for random ones (as in Wolper and Leroy 1993).  Take the states in the
    order of their levels: those before the first that is omitted were all found, so it is one of
    the first ``states + 1``.  It has the fingerprint of a state that it was compared with: of one
    of those before it, and, in the mean, of one of ``COMPARED`` (Stern and Dill 1995).  The bound
    is the sum over all these comparisons.
    """
    each = min(states / 2, COMPARED)
    return min(1.0, (states + 1) * each / 2.0**bits)


def omission_text(probability: float, bits: int) -> str:
    """The report's text on a search with slots that hold so many bits of a fingerprint."""
    return (
        f"compact mode distinguishes states by {bits} bits of a fingerprint and by its"
        " table position:"
        f" with a probability of at most {at_most(probability)} some state was omitted, if"
        " fingerprints behave like random numbers"
    )


def without_rounds(plan: ReductionPlan) -> ReductionPlan:
    """``plan``, or what is left of it where it must not rely on the absence of cycles."""
    careful = plan.careful
    if not plan.acyclic:
        return plan if plan.larger is None else replace(plan, larger=None)
    lost = [Unused(kind, NO_ROUND) for kind in plan.used if kind not in careful.used]
    return replace(careful, unused=(*plan.unused, *lost))
