"""The transition system of a check, and what is known of how it was made."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checker.instantiate.sizes import Sizes
from checker.model.ir import TransitionSystem


class Instantiated(Struct, frozen=True):
    """A system with its sizes and the capacities that were guessed for it.

    ``at_once``: names of the messages that are received as soon as they are sent.
    """

    system: TransitionSystem
    sizes: Sizes
    capacities: Mapping[str, int]
    uses_shared: bool
    at_once: tuple[str, ...] = ()
