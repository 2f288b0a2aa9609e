"""Fairness assumptions of a liveness verdict, in words."""

from __future__ import annotations

from collections.abc import Iterator

from checker.model.ir import FALSE, Fairness, Property, PropertyKind, TransitionSystem, fairness_of
from checker.model.types import AtomT, Type, VariantT

PROCESSES = "pqr"
"""Names for the processes of a fairness constraint."""


def assumptions_of(
    system: TransitionSystem, prop: Property, world: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns what the verdict on ``prop`` assumes; nothing where ``prop`` is a safety property.

    ``world``: what the check itself states, such as budgets of noise and what is not assumed.  What
    the property itself names counts only where no action has words for its fairness.
    """
    if prop.kind is PropertyKind.INVARIANT:
        return ()
    promised = [_general(system, fairness_of(a)) for a in system.actions if a.promised != FALSE]
    said = [text for text in promised if text] or prop.assumptions
    justice = [justice.text for justice in system.justice]
    return tuple(dict.fromkeys((*said, *justice, *world)))


def _general(system: TransitionSystem, fairness: Fairness) -> str:
    """Returns the fairness constraint with letters for the values of its key."""
    keys = [key.type for key in fairness.key]
    text = fairness.text
    for i, letter in enumerate(_letters(system, keys)):
        text = text.replace(f"{{{i}}}", letter)
    return text


def _letters(system: TransitionSystem, types: list[Type]) -> Iterator[str]:
    """Yields ``p``, ``q``, … for processes, ``m`` for messages, ``x`` for anything else."""
    processes = iter(PROCESSES)
    for type_ in types:
        if isinstance(type_, AtomT) and set(type_.labels) <= set(system.processes):
            yield next(processes, "s")
        elif isinstance(type_, VariantT):
            yield "m"
        else:
            yield "x"
