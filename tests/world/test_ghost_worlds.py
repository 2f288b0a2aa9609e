"""Small worlds with ghosts: the tool says of them what the definition says.

For a long run, as many seconds as it says: ``BIVALENCE_LONG=600 pytest
tests/world/test_ghost_worlds.py``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path

import pytest

from checker.records import replace
from tests.agreement.ghostly import observed
from tests.selection import first_by_default
from tests.world import spec as s
from tests.world.compare import compared
from tests.world.drawing import GHOSTS, spec_of
from tests.world.features import closed, covering_sets, together
from tests.world.judge import TooMany
from tests.world.long_runs import LONG, while_there_is_time
from tests.world.protocol import Question, Spec

CUTS = (("crash",), ("crash", "perform"), ("recover",), ("stable",), ("bounded", "crash"), ())
"""Beside ghosts and the features of a covering, so that handlers are cut."""
MODES = (("native",), ("reference",), ("native fine",), ("native plain",))
BY_DEFAULT = 16


def bare(features: frozenset[str], seed: int) -> Spec:
    """A spec with ghosts that nothing writes."""
    spec = spec_of(features, seed)
    top = replace(spec.protocol, variables=(*spec.protocol.variables, *GHOSTS))
    return replace(spec, protocol=top)


def observing(spec: Spec, seed: int) -> Spec:
    """``spec`` with one mark more, somewhere in a handler that does a lot, and claims about it."""
    draw, handlers = random.Random(seed), spec.protocol.handlers
    mark = s.Ghost((s.Assign("past", s.TRUE),))
    marked = max(handlers, key=lambda handler: len(handler.text) + draw.randrange(60))
    found = marked
    while found.text.count(mark.text) != marked.text.count(mark.text) + 1:
        found = observed(marked, draw, [mark])
    top = replace(spec.protocol, handlers=tuple(found if h is marked else h for h in handlers))
    return replace(spec, protocol=top, questions=tuple(claims(spec)))


def claims(spec: Spec) -> Iterator[Question]:
    """What a ghost says of what has happened, and the other way round."""
    entry, acts = s.pair(s.name("p"), s.name("m")), "perform " in spec.text()
    happened = [
        (s.within(entry, s.history("delivered", "q")), ("m",)),
        (s.within(s.name("p"), s.of("q", "heard")), ()),
        (s.within(s.name("m"), s.of("q", "log")), ("m",)),
        *((s.done("performed", s.number(k), 1), ()) for k in (1, 2) if acts),
    ]
    ghosts = [s.of(p, "past") for p in "pq"]
    ghosts += [s.no(ghost) for ghost in ghosts]
    for number, (ghost, (seen, payloads)) in enumerate(product(ghosts, happened)):
        for name, premise, conclusion in (("g", ghost, seen), ("h", seen, ghost)):
            text = f"{name}{number}"
            yield Question(text, "always", conclusion, premise, ("p", "q"), payloads)


def decided(position: int, seed: int, path: Path, most: int = 300) -> bool:
    """Whether there was such a world, of which both say the same."""
    sets = covering_sets(1, 3)
    features = closed({*sets[position % len(sets)], *CUTS[position % len(CUTS)]})
    if not together(features):
        return False
    try:
        spec = spec_of(features | {"ghosts"}, seed) if position % 3 == 0 else bare(features, seed)
        if position % 3 and not spec.protocol.roles:
            spec = observing(spec, seed)
        found = compared(spec, path, MODES[position % len(MODES)], most)
    except (TooMany, RecursionError):
        return False
    assert found == [], path.read_text()
    return True


@pytest.mark.parametrize("position", first_by_default(range(2 * BY_DEFAULT), BY_DEFAULT))
def test_both_say_the_same_of_ghosts(position: int, tmp_path: Path) -> None:
    path = tmp_path / "ghosts.bcast"
    if not any(decided(position + 7 * again, position + 1000 * again, path) for again in range(8)):
        pytest.skip("no small world has these features: see the long run")


@LONG
def test_many_worlds_with_ghosts(tmp_path: Path) -> None:
    path = tmp_path / "ghosts.bcast"
    assert sum(decided(seed, seed, path, 1500) for seed in while_there_is_time(count(1)))
