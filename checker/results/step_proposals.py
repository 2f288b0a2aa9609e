"""Proposals for a mapping, with which a log that was rejected would be explained."""

from __future__ import annotations

from msgspec import Struct

from checker.results.domains import Natural


class StepProposal(Struct, frozen=True):
    """``toml``: what to add to the mapping, so that no window of the step ``step`` is red any more;
    ``reds``: how many were.

    ``rejected``: how many of ``changes`` logs with one value changed would still have a red window.
    ``left``: how many windows, of other steps, would still be red; ``conforms``: whether the whole
    log would then be explained, as far as that was found out.
    """

    step: str
    toml: str
    reds: Natural
    rejected: Natural
    changes: Natural
    left: Natural = 0
    conforms: bool = False
