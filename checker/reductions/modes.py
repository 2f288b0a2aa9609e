"""The modes of reductions, and the traits that reports need; the reductions are not imported."""

from __future__ import annotations

from msgspec import Struct

from checker import kept

AUTO, NONE, ALL = "auto", "none", "all"
"""The modes that admit every reduction, none, and every one by name."""


class Traits(Struct, frozen=True):
    """What a report needs of a reduction: see :class:`checker.reductions.contract.Reduction`."""

    title: str
    keeps_lengths: bool
    shows_all: bool


def is_named(mode: str) -> bool:
    """Whether a mode explicitly requests reductions."""
    return mode not in (AUTO, NONE)


def is_mode(mode: str) -> bool:
    """Whether there is such a mode."""
    return mode in (AUTO, NONE, ALL) or mode in modes()


def modes() -> tuple[str, ...]:
    """The choices of ``--reduce``."""
    from checker.reductions import registry

    return registry.modes()


def traits() -> dict[str, Traits]:
    """The traits of all known reductions by their names, in their order."""

    def known() -> dict[str, Traits]:
        from checker.reductions import registry

        return registry.traits()

    return kept.result(known, "traits of reductions")
