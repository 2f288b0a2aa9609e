"""Worlds with a detector in which everybody may crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import (
    INDICATION,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    Uses,
    World,
)
from tests.world.test_pauses import MODES, flag, put

ASKED = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
FLAGS = (flag("told"), flag("mine"))
TOLD = {
    "Omega": (
        Uses("leader", None, "LeaderDetector"),
        Handler(
            INDICATION, "leader.trust", (s.Bind("p"),),
            body=(put("told"), put("mine", s.equal(s.name("p"), s.ME))),
        ),
    ),
    "S": (
        Uses("fd", None, "FailureDetector"),
        Handler(INDICATION, "fd.suspect", (s.Bind("p"),), body=(put("told"),)),
    ),
}  # fmt: skip
TOLD |= {kind: TOLD["S"] for kind in ("P", "eventually P", "eventually S")}
APART = s.no(s.equal(s.name("p"), s.name("q")))
DOWN = Question("down", "always", s.no(s.crashed("p")), None, ("p",))
BOTH_DOWN = s.both(s.crashed("p"), s.crashed("q"))
TWO_DOWN = Question("two_down", "always", s.no(BOTH_DOWN), APART, ("p", "q"))
TOLD_AT_ALL = Question("told_at_all", "leads", s.of("p", "told"), None, ("p",), correct=("p",))
STAYS = Question("stays", "stays", s.of("p", "told"), None, ("p",))
ITSELF = Question("itself", "always", s.no(s.both(s.of("p", "mine"), s.crashed("p"))), None, ("p",))
QUESTIONS = (DOWN, TWO_DOWN, TOLD_AT_ALL, STAYS, ITSELF)


@pytest.mark.parametrize(("n", "crash"), [(1, 1), (2, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize("kind", TOLD)
def test_who_may_crash(kind: str, n: int, crash: int, tmp_path: Path) -> None:
    """All, if the detector promises nothing of a correct process; otherwise all but one."""
    uses, handler = TOLD[kind]
    top = Protocol("Top", "Service", (), FLAGS, (ASKED, handler), (uses,))
    most = crash if kind in ("P", "eventually P") else min(crash, n - 1)
    for noise in (None, 1) if kind not in ("P", "S") else (None,):
        world = World(n=n, detector=kind, crash=crash, noise=noise)
        modes = MODES[:3] if n < 3 else MODES[:1]
        found = agreed(Spec(top, world, QUESTIONS), tmp_path / "world.bcast", modes)
        assert (found["down"], found["two_down"]) == (most >= 1, most >= 2), noise


ROLES = (("client", 1), ("server", 1), ("other", 1))
AMONG = (("p", "client"), ("q", "other"))
BOTH_PROGRAMS = Question("both_programs", "always", s.no(BOTH_DOWN), None, ("p", "q"), among=AMONG)
ONE_PROGRAM = Question(
    "one_program", "always", s.no(s.crashed("p")), None, ("p",), among=(("p", "client"),)
)


@pytest.mark.every
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("kind", ["Omega", "S", "eventually S"])
def test_the_last_program_stays_correct(kind: str, together: bool, tmp_path: Path) -> None:
    """A client and a server that die together are one program: either it or the other stays."""
    uses, handler = TOLD[kind]
    top = Protocol(
        "Top", "Service", (), FLAGS, (ASKED, handler), (uses,),
        roles=ROLES, together=(("server", "client"),) * together,
    )  # fmt: skip
    world = World(n=0, clients=(("c1", ("a",)),), detector=kind, crash=2)
    asked = Spec(top, world, (BOTH_PROGRAMS, ONE_PROGRAM))
    found = agreed(asked, tmp_path / "world.bcast", MODES[:3])
    assert (found["both_programs"], found["one_program"]) == (not together, True)
