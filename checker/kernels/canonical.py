"""Of the states that differ by a renaming, the one that stands for all of them."""

from __future__ import annotations

from checker.kernels.emit import Fn
from checker.kernels.layout import Layout
from checker.reductions.plan import Symmetry


def canonical(layout: Layout, symmetry: Symmetry) -> list[Fn]:
    """``canonical(worker, row)``: replaces a row by the least one that a renaming makes of it."""
    raise NotImplementedError
