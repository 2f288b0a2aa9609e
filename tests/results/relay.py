"""A small system made by hand: p1 multicasts, may crash inside, and whoever receives delivers.

Two steps of p1 are possible: ``broadcast`` reaches everybody, ``crash`` reaches p2 at most.
"""

from __future__ import annotations

from checker.model import ir
from checker.model.ir import ActionKind, MarkKind, Op, Quantifier, VariableKind
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    Case,
    IntT,
    MapT,
    SetT,
    TupleT,
    Type,
    VariantT,
)
from tests.recurring import never_for_ever

PROC = AtomT("Proc", ("p1", "p2", "p3"))
MSG = AtomT("Msg", ("a",))
WIRE = VariantT("wire", (Case("DATA", (("origin", PROC), ("m", MSG))),))
FLIGHT = BagT(TupleT((PROC, PROC, WIRE), ("from", "to", "message")), 4)
DELIVERED = MapT(PROC, SetT(MSG))
PROCS = SetT(PROC)
SEEN = MapT(PROC, BOOL)

ALL = ir.Const(PROCS, frozenset({0, 1, 2}))
P1 = ir.Const(PROC, 0)
A = ir.Const(MSG, 0)
DATA = ir.Make(WIRE, 0, (P1, A))
NET = ir.Read(FLIGHT, "net")
CRASHED = ir.Read(PROCS, "crashed")
CALLED = ir.Read(BOOL, "called")


def local(name: str, type_: Type = PROC) -> ir.Local:
    return ir.Local(type_, name)


def apply(op: Op, *args: ir.Expr, type_: Type = BOOL) -> ir.Apply:
    return ir.Apply(type_, op, args)


def entry(process: ir.Expr) -> ir.Expr:
    return ir.Index(SetT(MSG), ir.Read(DELIVERED, "delivered"), process)


def put(variable: str, type_: Type, value: ir.Expr) -> ir.Assign:
    return ir.Assign(ir.Target(type_, variable, True), value)


def correct(process: ir.Expr) -> ir.Expr:
    return apply(Op.NOT, apply(Op.IN, process, CRASHED))


MARKS = (
    ir.MarkInfo(MarkKind.REQUEST, "broadcast", ("self", "m"), (PROC, MSG)),
    ir.MarkInfo(
        MarkKind.HANDLER,
        "upon request broadcast(m)",
        ("self", "m", "_k"),
        (PROC, MSG, PROC),
        True,
        ir.SourceLocation("relay.bcast", 4, 3),
    ),
    ir.MarkInfo(MarkKind.SEND, "send", ("self", "to", "message"), (PROC, PROCS, WIRE)),
    ir.MarkInfo(MarkKind.CRASH, "crash", ("self",), (PROC,)),
    ir.MarkInfo(MarkKind.RECEIVE, "receive", ("self", "from", "message"), (PROC, PROC, WIRE)),
    ir.MarkInfo(
        MarkKind.HANDLER,
        "upon receive DATA(s, m) from p",
        ("self", "p", "s", "m"),
        (PROC, PROC, PROC, MSG),
        True,
        ir.SourceLocation("relay.bcast", 6, 3),
    ),
    ir.MarkInfo(MarkKind.INDICATION, "deliver", ("self", "s", "m"), (PROC, PROC, MSG)),
    ir.MarkInfo(MarkKind.HANDLER, "upon init", ("self",), (PROC,)),
)


def request(name: str, *, crash: bool) -> ir.Action:
    send = ir.For(
        "q",
        ir.Members(ALL, PROC),
        (put("net", FLIGHT, apply(Op.BAG_ADD, NET, packet(local("q")), type_=FLIGHT)),),
    )
    body: ir.Block = (
        put("called", BOOL, ir.TRUE),
        ir.Mark(0, (P1, A)),
        ir.Mark(1, (P1, A, P1)),
        send,
        ir.Mark(2, (P1, ALL, DATA)),
    )
    if crash:
        gone = apply(Op.INSERT, CRASHED, P1, type_=PROCS)
        body = (*body, put("crashed", PROCS, gone), ir.Mark(3, (P1,)))
    return ir.Action(name, ActionKind.REQUEST, (), apply(Op.NOT, CALLED), body, ir.TRUE)


def packet(to: ir.Expr) -> ir.Expr:
    return apply(Op.TUPLE, P1, to, DATA, type_=FLIGHT.item)


def receive(limit: int) -> ir.Action:
    to = local("to")
    bag = apply(Op.BAG_REMOVE, NET, packet(to), type_=FLIGHT)
    got = ir.Target(SetT(MSG), "delivered", True, (ir.Key(to, PROC),))
    count = ir.Read(IntT(0, limit), "count")
    more = apply(Op.ADD, count, ir.Const(IntT(1, 1), 1), type_=IntT(0, limit + 1))
    body: ir.Block = (
        put("net", FLIGHT, bag),
        ir.Mark(4, (to, P1, DATA)),
        ir.Mark(5, (to, P1, P1, A)),
        ir.Assign(got, apply(Op.INSERT, entry(to), A, type_=SetT(MSG))),
        ir.Assign(
            ir.Target(IntT(0, limit), "count", True), more, ir.SourceLocation("relay.bcast", 8, 5)
        ),
        ir.Mark(6, (to, P1, A)),
    )
    ready = apply(Op.AND, apply(Op.IN, packet(to), NET), correct(to))
    params = (ir.Param("to", ir.Universe(PROC), ready),)
    return ir.Action("receive DATA", ActionKind.RECEIVE, params, ir.TRUE, body, correct(P1))


def agreement(kind: ir.PropertyKind) -> ir.Property:
    """Violated where a correct process delivered and another one did not: at once, or forever."""
    p, q = local("p.1"), local("q.2")
    body = apply(
        Op.AND,
        correct(p),
        ir.Quant(
            Quantifier.EXISTS,
            "q.2",
            ir.Universe(PROC),
            apply(
                Op.AND,
                correct(q),
                apply(Op.IN, A, entry(p)),
                apply(Op.NOT, apply(Op.IN, A, entry(q))),
            ),
            BOOL,
        ),
    )
    bad = ir.Quant(Quantifier.EXISTS, "p.1", ir.Universe(PROC), body, BOOL)
    premise = ir.Quant(
        Quantifier.EXISTS, "p", ir.Universe(PROC), apply(Op.IN, A, entry(local("p"))), BOOL
    )
    definition = "if a correct process delivers m, then every correct process delivers m"
    assumed = ("messages between correct processes arrive",)
    if kind is ir.PropertyKind.LIVENESS:
        return never_for_ever("agreement", bad, premise, definition, assumed)
    return ir.Property("agreement", kind, bad, premise, definition, assumed)


def relay(
    kind: ir.PropertyKind = ir.PropertyKind.LIVENESS, *, crash: bool = True, limit: int = 3
) -> ir.TransitionSystem:
    """``limit``: how many receptions are counted before counting leaves its range."""
    actions = (request("broadcast", crash=False), receive(limit))
    if crash:
        actions = (actions[0], request("broadcast and crash", crash=True), actions[1])
    local_, world = VariableKind.LOCAL, VariableKind.WORLD
    return ir.TransitionSystem(
        "relay",
        PROC.labels,
        (
            ir.Variable("called", BOOL, False, world),
            ir.Variable("crashed", PROCS, frozenset(), world),
            ir.Variable("net", FLIGHT, (), VariableKind.LINK),
            ir.Variable("delivered", DELIVERED, (frozenset(),) * 3, local_, "delivered"),
            ir.Variable("count", IntT(0, limit), 0, VariableKind.SHARED),
        ),
        (),
        actions,
        (),
        (agreement(kind),),
        MARKS,
    )
