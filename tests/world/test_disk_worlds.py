"""Worlds in which a disk decides what is so: what is known of them, by both definitions.

The tool keeps the set of what a disk may hold; the definition settles at each write whether it
reaches the disk.  See :mod:`tests.world.disks`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.records import replace
from tests.world import spec as s
from tests.world.compare import agreed
from tests.world.protocol import (
    CONDITION,
    RECOVER,
    REQUEST,
    Handler,
    Protocol,
    Question,
    Spec,
    Variable,
    World,
)

MODES = ("native plain", "native", "reference", "native fine")
SILENT = Handler(REQUEST, "broadcast", (s.Bind("m"),), body=(s.Skip(),))
A, B = s.var("a"), s.var("b")
SET_A, SET_B = s.Assign("a", s.TRUE), s.Assign("b", s.TRUE)
FLAGS = tuple(Variable(name, "bool", s.FALSE, "stable state") for name in ("a", "b"))
DONE = Variable("done", "bool", s.FALSE)
TOLD = Variable("told", "bool", s.FALSE, "ghost state")
TELL = s.Ghost((s.Assign("told", s.TRUE),))
POWER = World(n=1, power=1, recover=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "world.bcast"


def top(*handlers: Handler, variables: tuple[Variable, ...] = FLAGS, **more: object) -> Protocol:
    return Protocol("T", "Service", (("A", ()),), (*variables, DONE, TOLD), (SILENT, *handlers),
                    **more)  # type: ignore[arg-type]  # fmt: skip


def begins(*body: s.Statement) -> Handler:
    """Runs ``body`` as long as nothing is stored."""
    return Handler(CONDITION, guard=s.no(A), body=body)


def always(conclusion: s.Expr, premise: s.Expr | None = None) -> Question:
    return Question("kept", "always", conclusion, premise)


ORDERED = always(s.of("p", "a"), s.of("p", "b"))
"""What is written later is not there without what is written earlier."""
PROMISED = always(s.of("p", "a"), s.of("p", "told"))
"""What has been told stays."""


def is_violated(
    protocol: Protocol, world: World, question: Question, file: Path, modes: tuple[str, ...] = MODES
) -> bool:
    """Whether ``question`` is violated, where all say the same of it."""
    return agreed(Spec(protocol, world, (question,)), file, modes)["kept"]


# ---- what a power failure leaves --------------------------------------------------------------


def test_two_files_reach_the_disk_in_the_other_order(file: Path) -> None:
    """Pillai et al., *All file systems are not created equal* (OSDI 2014)."""
    plain = top(begins(SET_A, SET_B))
    assert is_violated(plain, POWER, ORDERED, file)
    assert not is_violated(plain, replace(POWER, power=0, crash=1), ORDERED, file)
    assert not is_violated(top(begins(SET_A, s.Sync(("a",)), SET_B)), POWER, ORDERED, file)
    assert not is_violated(top(begins(SET_A, s.Sync(), SET_B)), POWER, ORDERED, file)
    assert is_violated(top(begins(SET_A, SET_B, s.Sync())), POWER, ORDERED, file)
    assert not is_violated(top(begins(s.Atomic((SET_A, SET_B)))), POWER, ORDERED, file)


def test_what_is_told_has_to_be_on_disk(file: Path) -> None:
    assert is_violated(top(begins(SET_A, TELL)), POWER, PROMISED, file)
    assert not is_violated(top(begins(SET_A, s.Sync(("a",)), TELL)), POWER, PROMISED, file)
    assert is_violated(top(begins(SET_A, s.Sync(("b",)), TELL)), POWER, PROMISED, file)
    synced = (Variable("a", "bool", s.FALSE, "stable synced state"), FLAGS[1])
    assert not is_violated(top(begins(SET_A, TELL), variables=synced), POWER, PROMISED, file)


def test_writes_to_one_variable_are_left_in_their_order(file: Path) -> None:
    """Of several writes any part, applied in order: the last of them that is there."""
    number = (*FLAGS, Variable("k", "0..3", s.number(0), "stable state"))
    three = [s.Assign("k", s.number(i)) for i in (1, 2, 3)]
    counts = top(begins(SET_A, s.Sync(("a",)), *three), variables=number)
    for value, violated in ((0, True), (1, True), (2, True), (3, True)):
        gone = Handler(RECOVER, body=(s.Assign("done", s.equal(s.var("k"), s.number(value))),))
        kept = replace(counts, handlers=(*counts.handlers, gone))
        assert is_violated(kept, POWER, always(s.no(s.of("p", "done"))), file) is violated
    two = top(
        begins(SET_A, s.Sync(("a",)), *three[:2], s.Sync(("k",)), TELL, three[2]),
        variables=number,
    )
    for value, violated in ((1, False), (2, True), (3, True)):
        gone = Handler(RECOVER, body=(
            s.If(A, (s.Assign("done", s.equal(s.var("k"), s.number(value))),)),
        ))  # fmt: skip
        kept = replace(two, handlers=(*two.handlers, gone))
        wanted = always(s.no(s.of("p", "done")), s.of("p", "told"))
        assert is_violated(kept, POWER, wanted, file) is violated, value


def test_a_seq_that_is_appended_to_leaves_a_prefix(file: Path) -> None:
    log = (*FLAGS, Variable("q", "seq<bool, max 2>", s.const("[]", ()), "stable state"))
    q = s.var("q")
    appends = (s.Assign("q", s.then_one(q, s.FALSE)), s.Assign("q", s.then_one(q, s.TRUE)))
    for items, violated in (((True,), False), ((False,), True), ((False, True), True)):
        text = f"[{', '.join('true' if i else 'false' for i in items)}]"
        seen = s.Assign("done", s.equal(q, s.const(text, items)))
        begun = begins(SET_A, s.Sync(("a",)), *appends)
        protocol = top(begun, Handler(RECOVER, body=(seen,)), variables=log)
        assert is_violated(protocol, POWER, always(s.no(s.of("p", "done"))), file) is violated


def test_entries_of_a_map_are_written_one_by_one(file: Path) -> None:
    entries = (*FLAGS, Variable("table", "map<Proc, bool>", s.for_each_process("x", s.FALSE),
                                "stable state"))  # fmt: skip
    q = s.name("q")
    one, other = (s.Assign("table", s.TRUE, ":=", (x,)) for x in (s.ME, q))
    found = s.both(s.at_key(s.var("table"), q), s.no(s.at_key(s.var("table"), s.ME)))
    sees = Handler(RECOVER, body=(
        s.For("q", s.minus(s.ALL, s.only(s.ME)), (s.If(found, (s.Assign("done", s.TRUE),)),)),
    ))  # fmt: skip
    both = s.For("q", s.minus(s.ALL, s.only(s.ME)), (one, other))
    whole = s.For("q", s.minus(s.ALL, s.only(s.ME)), (one, s.Sync(("table",)), other))
    wanted, world = always(s.no(s.of("p", "done"))), replace(POWER, n=2)
    for body, violated in ((both, True), (whole, False)):
        assert is_violated(top(begins(SET_A, body), sees, variables=entries), world, wanted, file) \
            is violated  # fmt: skip


# ---- what survives what -----------------------------------------------------------------------


def test_what_may_be_on_disk_survives_a_kill(file: Path) -> None:
    """A process that comes back reads what was stored, and answers; then the power fails."""
    answers = Handler(RECOVER, body=(s.If(A, (TELL,)),))
    synced = Handler(RECOVER, body=(s.If(A, (s.Sync(("a",)), TELL)),))
    world = replace(POWER, crash=1)
    assert is_violated(top(begins(SET_A), answers), world, PROMISED, file)
    assert not is_violated(top(begins(SET_A), synced), world, PROMISED, file)
    assert not is_violated(top(begins(SET_A), answers), replace(POWER, power=0, crash=2),
                           PROMISED, file)  # fmt: skip


def test_after_a_power_failure_there_is_one_image(file: Path) -> None:
    """What a process finds when it is back is on its disk: it stays, also without ``sync``."""
    answers = Handler(RECOVER, body=(s.If(A, (TELL,)),))
    assert not is_violated(top(begins(SET_A), answers), replace(POWER, power=2), PROMISED, file)


def test_what_the_power_took_does_not_come_back(file: Path) -> None:
    once = Variable("b", "bool", s.FALSE, "stable synced state")
    writes = Handler(CONDITION, guard=s.no(B), body=(SET_A, SET_B))
    sees = Handler(RECOVER, body=(s.If(s.both(B, s.no(A)), (TELL,)),))
    protocol = top(writes, sees, variables=(FLAGS[0], once))
    gone = always(s.no(s.of("p", "a")), s.of("p", "told"))
    for world in (replace(POWER, crash=1), replace(POWER, power=2)):
        assert not is_violated(protocol, world, gone, file, ("native plain", "native fine"))
        assert is_violated(protocol, world, always(s.no(s.of("p", "told"))), file)


def test_a_lost_disk_is_as_it_was_at_first(file: Path) -> None:
    told = top(begins(SET_A, s.Sync(("a",)), TELL))
    assert is_violated(told, replace(POWER, power=0, wipe=1), PROMISED, file)
    assert not is_violated(told, replace(POWER, power=0, crash=1), PROMISED, file)
    assert not is_violated(told, replace(POWER, power=1), PROMISED, file)
    chosen = (
        Variable("a", "bool", s.FALSE, "stable state", s.const("{false, true}", (False, True))),
        Variable("b", "bool", s.FALSE, "stable state"),
    )
    for guard, value in ((A, s.of("p", "a")), (s.no(A), s.no(s.of("p", "a")))):
        tells = top(Handler(CONDITION, guard=guard, body=(TELL,)), variables=chosen)
        stays = always(value, s.of("p", "told"))
        assert is_violated(tells, replace(POWER, power=0, wipe=1), stays, file)
        assert not is_violated(tells, POWER, stays, file)


# ---- syncs that fail --------------------------------------------------------------------------

AGAIN = s.Assign("done", s.TRUE)
WRITES = Handler(CONDITION, guard=s.no(A), body=(SET_A,))


def syncing(*other: s.Statement) -> Handler:
    """Tells what has been stored when a ``sync`` says that it is on disk, and does ``other`` where
    it says that it may not be."""
    told = Variable("ok", "bool", s.TRUE).name
    return Handler(CONDITION, guard=s.both(A, s.no(s.var("done"))), body=(
        s.Var(told, s.TRUE),
        s.Sync(("a",), (s.SetVar(told, s.FALSE), *other)),
        s.If(s.name(told), (AGAIN, TELL)),
    ))  # fmt: skip


def test_a_sync_that_failed_must_not_be_repeated(file: Path) -> None:
    """Rebello et al., *Can applications recover from fsync failures?* (ATC 2020); PostgreSQL's
    fsyncgate (2018): what could not be written is dropped, and the next fsync succeeds."""
    failing = replace(POWER, sync=1)
    assert is_violated(top(WRITES, syncing()), failing, PROMISED, file)
    assert not is_violated(top(WRITES, syncing()), POWER, PROMISED, file)
    assert not is_violated(top(WRITES, syncing(AGAIN)), failing, PROMISED, file)
    assert not is_violated(top(WRITES, syncing(SET_A)), failing, PROMISED, file)
    killed = replace(failing, power=0, crash=1, sync=0)
    assert not is_violated(top(WRITES, syncing()), killed, PROMISED, file)


# ---- whose power fails ------------------------------------------------------------------------


def test_the_power_of_a_role_fails(file: Path) -> None:
    roles = (("client", 1), ("server", 1))
    told = top(begins(SET_A, TELL), roles=roles)
    world = replace(POWER, n=0, power=1, alone=frozenset({"power"}), clients=(("c1", ("a",)),))
    for role, violated in (("client", False), ("server", True)):
        asked = replace(PROMISED, among=(("p", "server"),))
        of_roles = (("power", role, 1),)
        assert is_violated(told, replace(world, of_roles=of_roles), asked, file) is violated


def test_stops_are_counted_apart(file: Path) -> None:
    """Who counts how often it comes back sees as many stops as there may be of all kinds."""
    number = Variable("k", "0..3", s.number(0), "stable synced state")
    more = s.Assign("k", s.op("{} + 1", lambda x: x + 1, s.var("k")))
    protocol = top(Handler(RECOVER, body=(more,)), variables=(*FLAGS, number))
    fewer = always(s.no(s.at_least(s.of("p", "k"), s.number(2))))
    for world, violated in (
        (POWER, False),
        (replace(POWER, power=2), True),
        (replace(POWER, crash=1), True),
        (replace(POWER, power=0, crash=1, wipe=1), True),
        (replace(POWER, power=0, wipe=2), False),
    ):
        assert is_violated(protocol, world, fewer, file) is violated
