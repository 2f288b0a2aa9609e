"""Finds the layers below a protocol, and what a check gives for them."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.syntax import typed


def protocols_of(
    protocol: typed.Protocol, given: tuple[typed.Given, ...]
) -> dict[str, typed.Protocol]:
    """Returns ``protocol`` and those of all layers below, by name."""
    below = (stands_for(layer, given) for layer in layers_of(protocol, given))
    return {p.name: p for p in (protocol, *below) if p is not None}


def layers_of(
    protocol: typed.Protocol, given: tuple[typed.Given, ...], depth: int = 0
) -> Iterator[typed.Layer]:
    """Returns all layers below ``protocol``, at any depth, including those of given protocols."""
    for layer in protocol.layers:
        yield layer
        below = stands_for(layer, given)
        if below is not None and depth < 20:
            yield from layers_of(below, given, depth + 1)


def given_for(layer: typed.Layer, given: tuple[typed.Given, ...]) -> typed.Given | None:
    """Returns what the check gives for ``layer``; its name takes precedence over its
    interface's."""
    by_name = {g.layer: g for g in given}
    interface = layer.interface.name if layer.interface is not None else ""
    return by_name.get(layer.name) or by_name.get(interface)


def stands_for(layer: typed.Layer, given: tuple[typed.Given, ...]) -> typed.Protocol | None:
    """Returns the protocol of ``layer`` in this check; ``None``: an oracle, a detector, or
    unclear."""
    chosen = given_for(layer, given)
    return layer.protocol if chosen is None else chosen.protocol
