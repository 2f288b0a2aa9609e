"""Relations between two checks of one protocol: what recovery adds, and what `stable` changes.

For a long run, as many seconds as it says: ``BIVALENCE_LONG=600 pytest
tests/world/test_weaker_faults.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, permutations
from pathlib import Path

import pytest

from checker.records import replace
from checker.results.verdict import Word
from checker.session.load import load_check
from tests.selection import first_by_default
from tests.world import spec as s
from tests.world.asking import telling
from tests.world.compare import compared, said
from tests.world.drawing import GHOSTS, spec_of
from tests.world.features import closed, covering_sets, together
from tests.world.judge import Graph, TooMany, explore, judge
from tests.world.long_runs import LONG, while_there_is_time
from tests.world.protocol import (
    RECEIVE,
    RECOVER,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    Variable,
    World,
)
from tests.world.sorts import MSG
from tests.world.test_ghost_worlds import bare, observing

STATES = 150
MODES = ("native", "reference", "native fine", "reference plain")


def crashing(position: int, seed: int, *more: str, observed: bool = False) -> Spec | None:
    """A spec in which processes crash for ever, and could as well recover; if it is ``observed``,
    questions are about ghosts."""
    sets = covering_sets(2, 3)
    features = closed({*sets[position % len(sets)], "crash", *more})
    if not together(features | {"recover"}):
        return None
    features -= {"recovers", "power", "wipe", "failing_sync"}  # which need that they come back
    spec = spec_of(features, seed)
    if observed and not spec.protocol.roles:
        spec = observing(bare(features, seed), seed)
    handlers = tuple(h for h in spec.protocol.handlers if h.event != RECOVER)
    protocol = replace(spec.protocol, handlers=handlers)
    return replace(spec, protocol=protocol, world=replace(spec.world, recover=False, recovering=()))


def explored(spec: Spec | None, most: int = STATES) -> Graph | None:
    try:
        return None if spec is None else explore(spec, most)
    except (TooMany, RecursionError):
        return None


# ---- recovery ---------------------------------------------------------------------------------


def recovering(position: int, seed: int, file: Path, more: tuple[str, ...] = ()) -> int:
    """How many properties of single states a crash violates; each is violated if processes may
    recover, too: so says the definition, and so does the tool."""
    graph = explored(crashing(position, seed, *more, observed=position % 3 > 0))
    if graph is None:
        return 0
    spec = graph.model.spec
    safety = tuple(q for q in spec.questions if q.kind == "always")
    graph.model.spec = replace(spec, questions=safety)
    violated = [q for q, v in judge(graph).items() if v.violated and v.length]
    questions = tuple(q for q in safety if q.name in violated)
    if not questions:
        return 0
    gentle = replace(spec, questions=questions, world=replace(spec.world, recover=True))
    larger = explored(gentle, 20 * STATES)
    if larger is not None:
        assert all(v.violated for v in judge(larger).values()), gentle.text()
    file.write_text(gentle.text(), encoding="utf-8")
    words = said(file, MODES[position % len(MODES)])
    assert {word for word, _ in words.values()} <= {Word.VIOLATED, Word.UNKNOWN}, gentle.text()
    return len(questions)


CUT = ((), ("stable",), ("stable", "perform"), ("shared",), ("bounded",))
"""Beside the features of a covering, so that there is something to cut."""


@pytest.mark.parametrize("position", first_by_default(range(30), 8))
def test_recovery_hides_no_violation(position: int, tmp_path: Path) -> None:
    tries = (
        recovering(position + 7 * again, position + 1000 * again, tmp_path / "a.bcast", more)
        for again in range(5)
        for more in (CUT[position % len(CUT)],)
    )
    assert any(tries) or pytest.skip("no small world has these features: see the long run")


@LONG
def test_recovery_hides_no_violation_of_many(tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    numbers = while_there_is_time(count(1))
    assert sum(recovering(n, n, file, CUT[n % len(CUT)]) for n in numbers)


# All short handlers of a request, and what is claimed of any two things that they leave.

PARTS: dict[str, tuple[s.Statement, s.Expr]] = {
    "ghost": (s.Ghost((s.Assign("past", s.TRUE),)), s.of("p", "past")),
    "stable": (s.Assign("kept", s.TRUE), s.of("p", "kept")),
    "volatile": (s.Assign("flag", s.TRUE), s.of("p", "flag")),
    "act": (s.Perform(s.number(1)), s.done("performed", s.number(1), 1)),
    "delivery": (
        s.Tell("deliver", (s.ME, s.name("m"))),
        s.within(s.pair(s.name("p"), s.name("m")), s.history("delivered", "p")),
    ),
    "multicast": (s.Send(s.message("ONE", s.name("m")), s.ALL), s.crashed("p")),
}
REQUESTED = s.within(s.name("m"), s.history("broadcast", "p"))
BODIES = [body for k in (1, 2, 3) for body in permutations(PARTS, k)]


def requesting(body: tuple[str, ...], *, recover: bool = False) -> Spec:
    """One process, which handles a request so; of any two claims the one implies the other."""
    claims = [PARTS[name][1] for name in body] + [REQUESTED]
    asked = tuple(
        Question(f"q{i}", "always", theirs, mine, ("p",), ("m",))
        for i, (mine, theirs) in enumerate(permutations(claims, 2))
    )
    flag = Variable("flag", "bool", s.FALSE)
    variables = (flag, replace(flag, name="kept", kind="stable state"), *GHOSTS)
    handlers = (
        Handler(REQUEST, "broadcast", (s.Bind("m"),), body=tuple(PARTS[b][0] for b in body)),
        Handler(RECEIVE, "ONE", (s.Bind("m"),), s.Bind("p"), body=(s.Skip(),)),
    )
    top = Protocol("T", "Service", (("ONE", (MSG,)),), variables, handlers)
    return Spec(top, World(n=1, crash=1, recover=recover), asked)


def violated(spec: Spec) -> set[str]:
    return {name for name, verdict in judge(explore(spec)).items() if verdict.violated}


def test_recovery_hides_no_violation_of_a_request() -> None:
    for body in BODIES:
        assert violated(requesting(body)) <= violated(requesting(body, recover=True)), body


@pytest.mark.parametrize(
    "body", first_by_default([b for b in BODIES if "ghost" in b and len(b) > 1], 9), ids="-".join
)
def test_a_request_that_a_crash_cuts(body: tuple[str, ...], tmp_path: Path) -> None:
    for recover, mode in ((False, "native"), (False, "native fine"), (True, "native")):
        assert compared(requesting(body, recover=recover), tmp_path / "a.bcast", (mode,), 100) == []


# ---- stable -----------------------------------------------------------------------------------

NAMED = re.compile(r"`(\w+)`")


def without_effect(file: Path) -> Iterator[str]:
    """The stable variables of which a warning says that `stable` has no effect."""
    check = load_check(str(file), "c", {})
    for warning in check.warnings:
        if warning.code == "C017" and "`stable` of " in warning.message:
            yield from NAMED.findall(warning.message.partition("of ")[2].partition(" in ")[0])


def unstable(position: int, seed: int, file: Path) -> bool:
    """Whether there was such a warning in this world; then all is the same without `stable`."""
    graph = explored(crashing(position, seed, "stable"))
    if graph is None:
        return False
    file.write_text(telling(graph, 2)[0].model.spec.text(), encoding="utf-8")
    names, mode = set(without_effect(file)), MODES[position % len(MODES)]
    if not names:
        return False
    before = said(file, mode)
    text = file.read_text(encoding="utf-8")
    plain = re.sub(rf"stable (state (?:{'|'.join(names)}) )", r"\1", text)
    assert plain != text
    file.write_text(plain, encoding="utf-8")
    assert said(file, mode) == before, text
    return True


@pytest.mark.parametrize("position", first_by_default(range(20), 6))
def test_stable_has_no_effect_where_a_warning_says_so(position: int, tmp_path: Path) -> None:
    tries = (
        unstable(position + 7 * again, position + 1000 * again, tmp_path / "a.bcast")
        for again in range(5)
    )
    assert any(tries) or pytest.skip("no small world has these features: see the long run")


@LONG
def test_stable_has_no_effect_where_many_warnings_say_so(tmp_path: Path) -> None:
    assert sum(unstable(n, n, tmp_path / "a.bcast") for n in while_there_is_time(count(1)))
