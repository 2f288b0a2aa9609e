"""What a search has been spared by its plan of reductions."""

from __future__ import annotations

from checker.exploration.explored import Explored
from checker.witness.answer import Reduced


def reduced(search: Explored) -> Reduced:
    """What was used, what was not and why, and an estimate of the states without it."""
    plan = search.kernel.image.reductions
    text = () if plan.symmetry is None else (plan.symmetry.text,)
    return Reduced(
        used=tuple(kind.value for kind in plan.used),
        unused=tuple((unused.kind.value, unused.why) for unused in plan.unused),
        text=text,
    )
