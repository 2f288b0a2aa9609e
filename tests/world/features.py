"""Which features there are, which go together, and sets of them that cover all pairs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from itertools import combinations

FAULTS = (
    "crash", "recover", "byzantine", "omission", "partition", "cut", "one_way_cut", "pause",
    "between_handlers", "power", "wipe", "failing_sync", "reset",
)  # fmt: skip
LINKS = (
    "fifo", "lossy", "fair_loss", "duplicating", "stubborn", "persistent", "bounded", "connected",
)  # fmt: skip
GUESSES = ("P", "eventually P", "S", "eventually S", "Omega", "oracle")
STACK = ("layer", "two_layers", "family", "told_at_once", "yield_below", "choices_below")
EVENTS = (
    "synchronous", "partial", "clocks", "timeout", "named_timer", "keyed_timer", "init", "recovers",
    "condition", "counted", "quorum", "may", "fair", "now", "disconnected",
)  # fmt: skip
STATE = ("stable", "sync", "synced", "shared", "chosen", "two_clients")
ORACLES = ("reliable", "uniform", "consensus", "uniform_consensus")
ROLES = ("roles", "link_rules", "dies_with")
LIMITS = ("bound", "role_faults", "inputs", "budget", "taken")
CARRIED = ("record", "map", "bag", "seq", "tuple", "sets")
STATEMENTS = (
    "atomic", "yield", "await", "for", "while", "choose", "either", "flip", "require", "perform",
    "idempotent",
)  # fmt: skip
FEATURES = (
    *FAULTS,
    *LINKS,
    *GUESSES,
    *STACK,
    *EVENTS,
    *STATE,
    *ORACLES,
    *ROLES,
    *LIMITS,
    *CARRIED,
    *STATEMENTS,
)

NEEDS = {
    "recover": ("crash",),
    "recovers": ("recover",),
    "stable": ("recover",),
    "power": ("stable",),
    "wipe": ("stable",),
    "sync": ("power",),
    "synced": ("power",),
    "failing_sync": ("sync",),
    "between_handlers": ("crash",),
    "P": ("crash",),
    "eventually P": ("crash",),
    "S": ("crash",),
    "eventually S": ("crash",),
    "Omega": ("crash",),
    "oracle": ("layer",),
    "reliable": ("oracle",),
    "uniform": ("oracle",),
    "two_layers": ("layer",),
    "family": ("layer",),
    "told_at_once": ("layer",),
    "yield_below": ("layer",),
    "choices_below": ("layer",),
    "may": ("condition",),
    "fair": ("may",),
    "clocks": ("named_timer",),
    "now": ("clocks",),
    "reset": ("connected",),
    "disconnected": ("connected",),
    "link_rules": ("roles",),
    "role_faults": ("roles",),
    "dies_with": ("roles",),
    "budget": ("condition",),
    "taken": ("either",),
}
"""What a feature can't be had without."""

_NO_ORACLE = ("byzantine", "yield")
APART = (
    {"lossy", "fair_loss", "stubborn", "persistent"},
    {"duplicating", "stubborn", "persistent"},
    {"fifo", "stubborn", "persistent", "duplicating"},
    {"P", "eventually P", "S", "eventually S", "Omega"},
    {"oracle", "two_layers"},
    {"oracle", "told_at_once"},
    {"oracle", "byzantine"},
    {"oracle", "yield_below"},
    {"oracle", "choices_below"},
    {"oracle", "yield"},  # who is called at once by an oracle yields at the top level only
    {"reliable", "uniform"},
    {"consensus", "uniform_consensus"},
    {"consensus", "recover"},  # who is correct may crash then, so what is foreseen is not a crash
    *({consensus, other} for consensus in ORACLES[2:] for other in _NO_ORACLE),
    {"synchronous", "partial", "clocks"},
    {"clocks", "timeout"},
    *({"pause", other} for other in ("synchronous", "partial")),  # rounds wait for every process
    *({"pause", other} for other in ("shared", "taken", "oracle", *ORACLES)),  # it is one step
    {"pause", "failing_sync"},  # such a handler is one step
    *({"partial", other} for other in (*LINKS[3:], *GUESSES[:5])),
    {"dies_with", "byzantine"},
    *({"dies_with", oracle} for oracle in ("oracle", *ORACLES[2:])),
    {"perform", "idempotent"},
    {"bag", "byzantine"},  # of messages that carry bags there are too many to forge any
    *({"byzantine", guess} for guess in GUESSES[:5]),
    *({"recover", guess} for guess in GUESSES[:5]),
    *({"synchronous", other} for other in (*LINKS[3:], *GUESSES[:5])),
    *({"connected", link} for link in LINKS[1:]),
    *({"connected", other} for other in ("byzantine", "omission", "synchronous", "partial")),
    *({"bounded", link} for link in ("stubborn", "persistent", "duplicating")),
)
"""Of each of these at most one."""


LARGE = {
    *GUESSES, *ORACLES[2:], "keyed_timer", "partition", "cut", "one_way_cut", "pause", "power",
    "byzantine", "family", "reset", "connected",
}  # fmt: skip
"""Features that make many states, which are to have few others beside them."""


def closed(features: Iterable[str]) -> frozenset[str]:
    """``features`` with what they need."""
    found = set(features)
    while more := {n for f in found for n in NEEDS.get(f, ())} - found:
        found |= more
    if "role_faults" in found and not {"crash", "byzantine", "omission"} & found:
        found.add("crash")
    if "bounded" in found and not {"lossy", "fair_loss"} & found:
        found.add("fair_loss")
    return frozenset(found)


CONFLICTS = {
    feature: frozenset().union(*(apart for apart in APART if feature in apart)) - {feature}
    for feature in FEATURES
}
"""What a feature can't stand beside."""


def together(features: Iterable[str]) -> bool:
    """Whether they can stand in one spec."""
    return fits(closed(features))


def fits(found: frozenset[str]) -> bool:
    """Whether ``found``, which has all that it needs, can stand in one spec."""
    return all(found.isdisjoint(CONFLICTS[f]) for f in found)


def pairs() -> list[frozenset[str]]:
    """All pairs of features that go together."""
    return [frozenset(pair) for pair in combinations(FEATURES, 2) if together(pair)]


def covered(features: Iterable[str]) -> set[frozenset[str]]:
    """The pairs in a set of features."""
    return {frozenset(pair) for pair in combinations(sorted(features), 2)}


@cache
def covering_sets(seed: int, most: int) -> list[frozenset[str]]:
    """One of many coverings, drawn when it is first asked for: half a second is a lot while tests
    are collected."""
    return covering(random.Random(seed), most)


def covering(draw: random.Random, most: int) -> list[frozenset[str]]:
    """Sets of at most about ``most`` features that have all pairs among them, greedily."""
    found = list[frozenset[str]]()
    remaining = sorted(sorted(pair) for pair in pairs())
    left = {f: {g for pair in remaining for g in pair if f in pair and f != g} for f in FEATURES}
    while remaining := [(f, g) for f, g in remaining if g in left[f]]:
        chosen = closed(draw.choice(remaining))
        while len(chosen) < most - 3 * bool(LARGE & chosen):
            beside = chosen.union(*(CONFLICTS[f] for f in chosen))
            wider = {f: closed({*chosen, f}) for f in FEATURES if f not in beside}
            options = [f for f, features in wider.items() if fits(features)]
            draw.shuffle(options)
            if not options:
                break
            best = wider[max(options, key=lambda f: sum(len(left[g] & wider[f]) for g in wider[f]))]
            if len(best) > most or not any(left[g] & best for g in best - chosen):
                break
            chosen = best
        found.append(chosen)
        for f in chosen:
            left[f] -= chosen
    return found
