"""Marks in words, and what became of messages, over runs that are written down by hand."""

from __future__ import annotations

import pytest

from checker.model import ir
from checker.model.interpreter import Event
from checker.model.ir import MarkInfo, MarkKind, VariableKind
from checker.model.types import (
    BOOL,
    BagT,
    Case,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
)
from checker.records import replace
from checker.results import violation_witnesses
from checker.results.events import named_values
from checker.results.mark_events import event_of
from checker.results.outcomes import copies_of, in_flight
from checker.results.rerun import Moment, Run
from checker.results.show_values import show
from checker.results.violation_witnesses import bindings, constant_violators
from checker.words.events import sentence
from tests.results.pingpong import FLIGHT, HAD, lasso, pingpong
from tests.results.relay import MSG, PROC, PROCS, WIRE, apply, local, relay

DATA = (0, 0, 0)
ENDS = (PROC, PROC, WIRE)
KINDS = (
    MarkInfo(MarkKind.SEND, "send", ("from", "to", "message"), (PROC, PROCS, WIRE)),
    MarkInfo(MarkKind.COPY, "copy", ("from", "to", "message"), ENDS),
    MarkInfo(MarkKind.RECEIVE, "receive", ("to", "from", "message"), ENDS),
    MarkInfo(MarkKind.LOSE, "lose", ("from", "to", "message"), ENDS),
    MarkInfo(MarkKind.INDICATION, "deliver", ("self", "s", "m"), (PROC, PROC, MSG)),
    MarkInfo(MarkKind.BRANCH, "either 2", ("self", "k.7"), (PROC, BOOL)),
    MarkInfo(MarkKind.LOSE, "lose", ("from", "to", "message", "by"), (*ENDS, PROC)),
)
SYSTEM = replace(relay(), marks=KINDS)
SEND, COPY, RECEIVE, LOSE, INDICATION, BRANCH, OMIT = range(7)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Event(SEND, (0, frozenset({1, 2}), DATA)), "p1 sends DATA(p1, a) to p2, p3"),
        (Event(SEND, (0, frozenset(), DATA)), "p1 sends DATA(p1, a) to nobody"),
        (Event(COPY, (0, 2, DATA)), "DATA(p1, a) leaves p1 for p3"),
        (Event(RECEIVE, (1, 0, DATA)), "p2 receives DATA(p1, a) from p1"),
        (Event(LOSE, (0, 1, DATA)), "the link loses DATA(p1, a) from p1 to p2"),
        (Event(OMIT, (0, 1, DATA, 1)), "p2 omits DATA(p1, a) from p1 to p2"),
        (Event(INDICATION, (1, 0, 0)), "p2 indicates deliver(p1, a)"),
        (Event(BRANCH, (1, True)), "p2: either 2"),
    ],
)
def test_events_in_words(event: Event, says: str) -> None:
    assert sentence(event_of(SYSTEM, event)) == says


def test_only_the_authors_part_of_a_name_is_shown() -> None:
    assert named_values(event_of(SYSTEM, Event(BRANCH, (1, True)))) == (("k", "true"),)


def told(system: ir.TransitionSystem, prop: ir.Property, run: Run) -> str:
    return violation_witnesses.sentence(prop, violation_witnesses.witness(system, prop, run))


def fate(*events: Event) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    run = Run(tuple(Moment((), None, (event,)) for event in events), ends=True)
    found = copies_of(run, SYSTEM, frozenset({"p1"}))
    return [(copies.received, copies.missing) for copies in found]


TO_ALL = Event(SEND, (0, frozenset({0, 1, 2}), DATA))


def test_copies_received_and_missing() -> None:
    assert fate(TO_ALL) == [((), ("p2", "p3"))]
    assert fate(TO_ALL, Event(RECEIVE, (2, 0, DATA))) == [(("p3",), ("p2",))]


def test_a_copy_is_received_once_and_in_order() -> None:
    got = Event(RECEIVE, (2, 0, DATA))
    assert fate(TO_ALL, TO_ALL, got) == [(("p3",), ("p2",)), ((), ("p2", "p3"))]
    assert fate(TO_ALL, got, got) == [(("p3",), ("p2",))]
    assert fate(got, TO_ALL) == [((), ("p2", "p3"))]


def test_copies_that_leave_one_by_one() -> None:
    two, three = Event(COPY, (0, 1, DATA)), Event(COPY, (0, 2, DATA))
    got = Event(RECEIVE, (1, 0, DATA))
    assert fate(TO_ALL, two, three, got) == [(("p2",), ("p3",))]
    assert fate(two, got, three) == [(("p2",), ("p3",))]


def test_messages_to_oneself_and_of_the_correct_are_left_out() -> None:
    assert fate(Event(SEND, (0, frozenset({0}), DATA))) == []
    assert fate(Event(SEND, (1, frozenset({0, 2}), (0, 1, 0)))) == []


@pytest.mark.parametrize(
    ("type_", "value", "texts"),
    [
        (BagT(TupleT(ENDS), 4), ((0, 1, DATA), (0, 1, DATA)), ["DATA(p1, a) from p1 to p2"] * 2),
        (SetT(TupleT(ENDS)), frozenset({(2, 1, DATA)}), ["DATA(p1, a) from p3 to p2"]),
        (
            SetT(TupleT(ENDS, ("to", "from", "message"))),
            frozenset({(2, 1, DATA)}),
            ["DATA(p1, a) from p2 to p3"],
        ),
        (
            MapT(PROC, MapT(PROC, SeqT(WIRE, 2))),
            (((), (DATA,), ()), ((), (), ()), ((), (), ())),
            ["DATA(p1, a) from p1 to p2"],
        ),
        (MapT(TupleT((PROC, PROC)), OptionT(WIRE)), (None,) * 5 + ((DATA,),) + (None,) * 3, None),
        (SetT(WIRE), frozenset({DATA}), ["DATA(p1, a)"]),
        (MapT(PROC, SetT(WIRE)), (frozenset({DATA}),) + (frozenset(),) * 2, ["DATA(p1, a) (p1)"]),
        (SeqT(MSG, 2), (0,), ["a"]),
    ],
)
def test_in_flight_whatever_the_link_is_made_of(
    type_: Type, value: object, texts: list[str] | None
) -> None:
    link = ir.Variable("net", type_, value, VariableKind.LINK, "in flight")
    run = Run((Moment((value,), None, ()),), ends=True)
    found = in_flight(replace(SYSTEM, variables=(link,)), run)
    assert [m.text for m in found] == (texts or ["DATA(p1, a) from p2 to p3"])
    assert {m.link for m in found} == {"in flight"}


def test_messages_of_layers() -> None:
    inner = VariantT("relay", (Case("ECHO", (("m", MSG),)),))
    wire = VariantT(
        "network", (Case("top", (("message", WIRE),)), Case("rb.", (("message", inner),)))
    )
    assert show(wire, (0, DATA)) == "DATA(p1, a)"
    assert show(wire, (1, (0, 0))) == "rb.ECHO(a)"


def test_witnesses_through_negations_and_lets() -> None:
    seen = ir.Comprehension(PROCS, "r", ir.Universe(PROC), ir.TRUE, local("r"))
    third = apply(ir.Op.EQ, local("q.4"), ir.Const(PROC, 2))
    inner = ir.Quant(
        ir.Quantifier.FORALL,
        "q.4",
        ir.Members(local("_all", PROCS), PROC),
        apply(ir.Op.NOT, apply(ir.Op.AND, third, ir.TRUE)),
        BOOL,
    )
    bad = ir.Let(
        BOOL,
        "_all",
        seen,
        apply(ir.Op.NOT, apply(ir.Op.OR, ir.FALSE, inner)),
    )
    state = tuple(v.initial for v in SYSTEM.variables)
    assert bindings(SYSTEM, bad, state) == (("q", PROC, 2),)
    bare = replace(SYSTEM.properties[0], bad=ir.TRUE, definition="")
    run = Run((Moment(state, None, ()),), ends=True)
    assert told(SYSTEM, bare, run) == "agreement is violated"


def test_who_a_run_that_goes_round_fails() -> None:
    system = pingpong()
    run = lasso(system)
    assert told(system, system.properties[0], run).startswith("turns is violated with p = p3:")
    had = ir.Read(HAD, "had")
    never = apply(ir.Op.NOT, ir.Index(BOOL, had, local("q.2")))
    somebody = ir.Quant(ir.Quantifier.EXISTS, "q.2", ir.Universe(PROC), never, BOOL)
    moving = apply(ir.Op.IN, ir.Const(PROC, 0), ir.Read(FLIGHT, "net"))
    asked = replace(system.properties[0], params=(), propositions=(moving, somebody))
    whom = constant_violators(system, asked, replace(run, values=()))
    assert whom == (("q", PROC, 2),)
