"""What variables hold and messages carry beside payloads: records, maps, bags, sequences and so on.

Each of these features is a variable, a kind of message that carries what the variable holds, and
what may be done with either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.world import spec as s
from tests.world.protocol import Variable
from tests.world.sorts import (
    BOOL,
    MSG,
    PROC,
    Sort,
    bag_of,
    map_of,
    option_of,
    pair_of,
    record_of,
    seq_of,
    set_of,
)

M, C = s.name("m"), s.name("c")
LOG = s.var("log")
SET, ONE, TWO = s.Assign("flag", s.TRUE), s.number(1), s.number(2)


@dataclass(frozen=True)
class Carried:
    """``content``: what is sent, unless it is the variable.

    ``changes``: what a handler may do with the variable, given who is meant; ``with_payload`` the
    same where there is a payload ``m``; ``taken``: what the one that receives ``c`` does with it;
    ``seen``: what a property may ask of the process of that name.
    """

    variable: Variable
    kind: str
    sort: Sort
    changes: Callable[[s.Expr], list[s.Statement]]
    with_payload: Callable[[s.Expr], list[s.Statement]]
    taken: tuple[s.Statement, ...]
    seen: Callable[[str], list[s.Expr]]
    content: s.Expr | None = None

    @property
    def quiet(self) -> tuple[s.Statement, ...]:
        """Of ``taken``, what does not speak of the sender."""
        return tuple(t for t in self.taken if "(p," not in t.text and "[p]" not in t.text)

    @property
    def message(self) -> s.Expr:
        return s.message(self.kind, self.content or s.var(self.variable.name))


def _heard(who: s.Expr) -> s.Statement:
    return s.Assign("heard", who, "+=")


def _variable(name: str, sort: Sort, initial: s.Expr) -> Variable:
    return Variable(name, sort.text, initial)


def _record() -> Carried:
    sort, card = record_of(who=option_of(PROC), done=BOOL), s.var("card")
    who, done = s.part(card, "who"), s.part(card, "done")

    def changes(one: s.Expr) -> list[s.Statement]:
        return [
            s.Assign("card", s.TRUE, place=("done",)),
            s.Assign("card", s.some(one), place=("who",)),
            s.Assign("card", s.record(who=s.some(one), done=s.no(done))),
            s.If(s.both(done, s.is_some(who)), (_heard(s.get(who)), SET)),
        ]

    taken = (
        s.Assign("card", C),
        s.Assign("card", s.part(C, "who"), place=("who",)),
        s.If(s.part(C, "done"), (SET,), (s.Assign("card", s.TRUE, place=("done",)),)),
        s.If(s.is_some(s.part(C, "who")), (_heard(s.get(s.part(C, "who"))),)),
    )
    return Carried(
        _variable("card", sort, s.record(who=s.NONE, done=s.FALSE)), "CARD", sort, changes,
        lambda one: [], taken,
        lambda p: [s.part(s.of(p, "card"), "done"), s.is_some(s.part(s.of(p, "card"), "who"))],
    )  # fmt: skip


def _map() -> Carried:
    sort, votes = map_of(PROC, BOOL), s.var("votes")
    either = s.either_of(s.at_key(votes, s.name("w")), s.at_key(C, s.name("w")))

    def changes(one: s.Expr) -> list[s.Statement]:
        mine = s.equal(s.name("w"), one)
        return [
            s.Assign("votes", s.TRUE, place=(one,)),
            s.Assign("votes", s.no(s.at_key(votes, s.ME)), place=(one,)),
            s.Assign("votes", s.for_each_process("w", mine)),
            s.If(s.at_key(votes, one), (SET,), (s.Assign("votes", s.TRUE, place=(s.ME,)),)),
        ]

    taken = (
        s.Assign("votes", C),
        s.Assign("votes", s.for_each_process("w", either)),
        s.If(s.at_key(C, s.ME), (SET,)),
        s.Assign("votes", s.at_key(C, s.name("p")), place=(s.name("p"),)),
    )
    return Carried(
        _variable("votes", sort, s.for_each_process("w", s.FALSE)), "VOTES", sort, changes,
        lambda one: [], taken,
        lambda p: [s.at_key(s.of(p, "votes"), s.name(p)), s.at_key(s.of(p, "votes"), s.name("q"))],
    )  # fmt: skip


def _bag() -> Carried:
    sort, pile = bag_of(MSG, 2), s.var("pile")
    room = s.no(s.at_least(s.size(pile), TWO))

    def with_payload(one: s.Expr) -> list[s.Statement]:
        return [
            s.If(room, (s.Assign("pile", M, "+="),)),
            s.If(room, (s.Assign("pile", M, "+="),)),
            s.Assign("pile", M, "-="),
            s.If(s.at_least(s.count(pile, M), TWO), (_heard(one), SET)),
            s.If(s.within(M, pile), (s.Tell("deliver", (one, M)),)),
        ]

    taken = (
        s.Assign("pile", C),
        s.If(s.at_least(s.size(C), TWO), (SET,)),
        s.If(s.equal(C, pile), (SET,), (s.Assign("pile", C),)),
    )
    empty = s.const("{| |}", ())
    return Carried(
        _variable("pile", sort, empty), "PILE", sort, lambda one: [s.Assign("pile", empty)],
        with_payload, taken,
        lambda p: [s.at_least(s.size(s.of(p, "pile")), n) for n in (ONE, TWO)],
    )  # fmt: skip


def _seq() -> Carried:
    sort, line = seq_of(MSG, 2), s.var("line")
    some = s.at_least(s.size(line), ONE)

    def changes(one: s.Expr) -> list[s.Statement]:
        return [
            s.If(some, (s.Assign("line", s.tail(line)),)),
            s.If(some, (s.Assign("line", s.drop(line, 1)),), (SET,)),
            s.If(some, (s.Assign("line", s.take(line, 1)),)),
            s.If(s.at_least(s.doubled(line), TWO), (s.Tell("deliver", (one, s.head(line))),)),
            s.For("y", line, (s.Tell("deliver", (one, s.name("y"))),)),
        ]

    def with_payload(one: s.Expr) -> list[s.Statement]:
        more = s.Assign("line", s.then_one(line, M))
        again = s.equal(s.position(line, M), s.number(0))
        return [
            s.If(s.no(s.at_least(s.size(line), TWO)), (more,)),
            s.If(s.no(s.at_least(s.size(line), TWO)), (more,)),
            s.If(some, (s.Assign("line", M, place=(s.number(0),)),)),
            s.If(s.within(M, line), (s.If(again, (SET,)),)),
            s.Assign("line", s.all_but(line, M)),
        ]

    taken = (
        s.Assign("line", C),
        s.Assign("line", s.slice_to_the_end(C, 0)),
        s.If(s.begins(line, C), (s.Assign("line", C),), (SET,)),
        s.For("y", C, (s.Assign("log", s.name("y"), "+="),)),
        s.If(s.at_least(s.size(C), ONE), (s.Tell("deliver", (s.ME, s.head(C))),)),
    )
    return Carried(
        _variable("line", sort, s.const("[]", ())), "LINE", sort, changes, with_payload, taken,
        lambda p: [
            s.at_least(s.size(s.of(p, "line")), ONE),
            s.at_least(s.doubled(s.of(p, "line")), s.number(4)),
        ],
    )  # fmt: skip


def _tuple() -> Carried:
    sort, known, last = pair_of(PROC, MSG), s.var("last"), s.get(s.var("last"))
    some = s.is_some(known)

    def changes(one: s.Expr) -> list[s.Statement]:
        return [
            s.If(some, (s.Assign("last", s.NONE), _heard(one))),
            s.If(some, (SET,), (_heard(one),)),
        ]

    def with_payload(one: s.Expr) -> list[s.Statement]:
        mine = s.pair(one, M)
        return [
            s.Assign("last", s.some(mine)),
            s.Assign("last", s.some(s.pair(s.ME, M))),
            s.If(s.equal(known, s.some(mine)), (SET,)),
            s.If(s.both(some, s.equal(last, mine)), (s.Tell("deliver", (one, M)),)),
        ]

    option = option_of(sort)
    taken = (
        s.Assign("last", C),
        s.If(s.equal(C, known), (SET,)),
        s.If(s.is_some(C), (s.Assign("last", s.some(s.get(C))),)),
    )
    return Carried(
        _variable("last", option, s.NONE), "LAST", option, changes, with_payload, taken,
        lambda p: [s.is_some(s.of(p, "last"))],
    )  # fmt: skip


def _sets() -> Carried:
    known = s.var("known")

    def changes(one: s.Expr) -> list[s.Statement]:
        return [s.If(s.at_least(s.size(known), ONE), (_heard(one),))]

    def with_payload(one: s.Expr) -> list[s.Statement]:
        entry = s.pair(one, M)
        return [
            s.Assign("known", entry, "+="),
            s.Assign("known", entry, "+="),
            s.Assign("known", entry, "-="),
            s.If(s.outside(entry, known), (s.Tell("deliver", (one, M)),)),
        ]

    sort = set_of(MSG)
    taken = (
        s.Assign("log", s.union(LOG, C)),
        s.For("y", C, (s.Assign("known", s.pair(s.name("p"), s.name("y")), "+="),)),
        s.If(s.at_least(s.size(s.minus(C, LOG)), ONE), (SET,)),
    )
    pairs = set_of(pair_of(PROC, MSG))
    return Carried(
        _variable("known", pairs, s.EMPTY), "LOGGED", sort, changes, with_payload, taken,
        lambda p: [s.at_least(s.size(s.of(p, "known")), n) for n in (ONE, TWO)],
        content=LOG,
    )  # fmt: skip


CARRIED = {
    "record": _record(), "map": _map(), "bag": _bag(), "seq": _seq(), "tuple": _tuple(),
    "sets": _sets(),
}  # fmt: skip
