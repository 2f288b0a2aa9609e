"""Known models, built in the IR the way the front end does."""

from __future__ import annotations

from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Apply,
    Assign,
    Assume,
    Block,
    CaseField,
    Choose,
    Const,
    Expr,
    If,
    Index,
    IsCase,
    Key,
    Local,
    Make,
    Members,
    Op,
    Param,
    Property,
    PropertyKind,
    Quant,
    Quantifier,
    Read,
    Stmt,
    Subsets,
    Target,
    TransitionSystem,
    Universe,
    Variable,
    VariableKind,
)
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    Case,
    IntT,
    MapT,
    SeqT,
    SetT,
    Type,
    Value,
    VariantT,
)
from tests.recurring import never_for_ever


def call(type_: Type, op: Op, *args: Expr) -> Apply:
    return Apply(type_, op, args)


def both(*args: Expr) -> Expr:
    return call(BOOL, Op.AND, *args)


def either(*args: Expr) -> Expr:
    return call(BOOL, Op.OR, *args)


def negated(arg: Expr) -> Expr:
    return call(BOOL, Op.NOT, arg)


def equal(a: Expr, b: Expr) -> Expr:
    return call(BOOL, Op.EQ, a, b)


def variable(name: str, type_: Type, initial: Value) -> Variable:
    return Variable(name, type_, initial, VariableKind.SHARED)


def assign(read: Read, value: Expr) -> Stmt:
    return Assign(Target(read.type, read.variable, True), value)


def assign_at(read: Read, key: Expr, value: Expr) -> Stmt:
    assert isinstance(read.type, MapT)
    path = (Key(key, read.type.key),)
    return Assign(Target(read.type.value, read.variable, True, path), value)


def action(
    name: str, params: tuple[tuple[str, Type], ...], guard: Expr, *body: Stmt, promised: Expr = TRUE
) -> Action:
    bound = tuple(Param(n, Universe(t), TRUE) for n, t in params)
    return Action(name, ActionKind.STEP, bound, guard, body, promised)


def invariant(name: str, holds: Expr) -> Property:
    return Property(name, PropertyKind.INVARIANT, negated(holds), TRUE, "")


def system(
    name: str,
    variables: tuple[Variable, ...],
    actions: tuple[Action, ...],
    properties: tuple[Property, ...] = (),
    init: Block = (),
    processes: tuple[str, ...] = (),
) -> TransitionSystem:
    return TransitionSystem(name, processes, variables, init, actions, (), properties, ())


def two_phase(n: int) -> TransitionSystem:
    """E8: two-phase commit with a growing set of messages."""
    rm = AtomT("rm", tuple(f"r{i}" for i in range(n)))
    rm_state = AtomT("rmState", ("working", "prepared", "committed", "aborted"))
    tm_state = AtomT("tmState", ("init", "committed", "aborted"))
    message = VariantT("Message", (Case("Prepared", (("rm", rm),)), Case("Commit"), Case("Abort")))
    states = Read(MapT(rm, rm_state), "rmState")
    manager, prepared = Read(tm_state, "tmState"), Read(SetT(rm), "tmPrepared")
    messages = Read(SetT(message), "msgs")
    r = Local(rm, "r")
    mine = Index(rm_state, states, r)

    def send(case: int, *args: Expr) -> Stmt:
        made = Make(message, case, args)
        return assign(messages, call(messages.type, Op.INSERT, messages, made))

    def sent(case: int, *args: Expr) -> Expr:
        return call(BOOL, Op.IN, Make(message, case, args), messages)

    def is_(value: int) -> Expr:
        return equal(mine, Const(rm_state, value))

    def manager_is(value: int) -> Expr:
        return equal(manager, Const(tm_state, value))

    one = (("r", rm),)
    everyone = Const(SetT(rm), frozenset(range(n)))
    actions = (
        action(
            "RcvPrepared",
            one,
            both(manager_is(0), sent(0, r)),
            assign(prepared, call(SetT(rm), Op.INSERT, prepared, r)),
        ),
        action(
            "Commit",
            (),
            both(manager_is(0), equal(prepared, everyone)),
            assign(manager, Const(tm_state, 1)),
            send(1),
        ),
        action("Abort", (), manager_is(0), assign(manager, Const(tm_state, 2)), send(2)),
        action("Prepare", one, is_(0), assign_at(states, r, Const(rm_state, 1)), send(0, r)),
        action("ChooseAbort", one, is_(0), assign_at(states, r, Const(rm_state, 3))),
        action("RcvCommit", one, sent(1), assign_at(states, r, Const(rm_state, 2))),
        action("RcvAbort", one, sent(2), assign_at(states, r, Const(rm_state, 3))),
    )
    a, b = Local(rm, "a"), Local(rm, "b")
    disagree = both(
        equal(Index(rm_state, states, a), Const(rm_state, 2)),
        equal(Index(rm_state, states, b), Const(rm_state, 3)),
    )
    consistent = Quant(
        Quantifier.FORALL,
        "a",
        Universe(rm),
        Quant(Quantifier.FORALL, "b", Universe(rm), negated(disagree), BOOL),
        BOOL,
    )
    return system(
        f"TwoPhase{n}",
        (
            variable("rmState", states.type, (0,) * n),
            variable("tmState", tm_state, 0),
            variable("tmPrepared", prepared.type, frozenset()),
            variable("msgs", messages.type, frozenset()),
        ),
        actions,
        (invariant("consistent", consistent),),
    )


def bcast_folklore(n: int, f: int) -> TransitionSystem:
    """E2: reliable broadcast by diffusion; what is received is chosen in the body."""
    proc = AtomT("proc", tuple(f"p{i}" for i in range(n)))
    place = AtomT("pc", ("V0", "V1", "AC", "CR"))
    group = SetT(proc)
    pc, received = Read(MapT(proc, place), "pc"), Read(MapT(proc, group), "rcvd")
    sent, crashed = Read(group, "sent"), Read(IntT(0, n), "nCrashed")
    p, new = Local(proc, "p"), Local(group, "new")
    mine = Index(place, pc, p)

    def is_(value: int) -> Expr:
        return equal(mine, Const(place, value))

    def step(name: str, condition: Expr, *body: Stmt) -> Action:
        choose = Choose(
            "new", Subsets(sent, group), call(BOOL, Op.SUBSET, Index(group, received, p), new)
        )
        take = assign_at(received, p, new)
        guard = negated(is_(3))
        return action(name, (("p", proc),), guard, choose, Assume(condition), take, *body)

    accept = (
        assign_at(pc, p, Const(place, 2)),
        assign(sent, call(group, Op.INSERT, sent, p)),
    )
    something = negated(equal(new, Const(group, frozenset())))
    init = tuple(
        stmt
        for i in range(n)
        for stmt in (
            Choose(
                f"v{i}",
                Universe(place),
                either(
                    equal(Local(place, f"v{i}"), Const(place, 0)),
                    equal(Local(place, f"v{i}"), Const(place, 1)),
                ),
            ),
            assign_at(pc, Const(proc, i), Local(place, f"v{i}")),
        )
    )
    more = call(IntT(0, n + 1), Op.ADD, crashed, Const(IntT(1, 1), 1))
    actions = (
        step("send", is_(1), *accept),
        step("relay", both(either(is_(0), is_(1)), something), *accept),
        step(
            "crash",
            call(BOOL, Op.LT, crashed, Const(IntT(0, n), f)),
            assign_at(pc, p, Const(place, 3)),
            assign(crashed, more),
        ),
        step("receive", TRUE),
    )
    return system(
        f"bcastFolklore{n}{f}",
        (
            variable("pc", pc.type, (0,) * n),
            variable("rcvd", received.type, (frozenset(),) * n),
            variable("sent", group, frozenset()),
            variable("nCrashed", crashed.type, 0),
        ),
        actions,
        (),
        init,
    )


def inner_fifo(data: int, room: int) -> TransitionSystem:
    """E13: two channels and a queue of at most ``room`` elements."""
    datum = AtomT("datum", tuple(f"d{i}" for i in range(data)))
    queue = Read(SeqT(datum, room), "q")
    one = IntT(1, 1)

    def channel(name: str) -> tuple[Read, Read, Read]:
        return Read(datum, f"{name}.val"), Read(BOOL, f"{name}.rdy"), Read(BOOL, f"{name}.ack")

    (in_val, in_rdy, in_ack), (out_val, out_rdy, out_ack) = channel("in"), channel("out")
    d = Local(datum, "d")
    length = call(IntT(0, room), Op.LEN, queue)
    actions = (
        action(
            "SSend",
            (("d", datum),),
            equal(in_rdy, in_ack),
            assign(in_val, d),
            assign(in_rdy, negated(in_rdy)),
        ),
        action(
            "BufRcv",
            (),
            both(
                negated(equal(in_rdy, in_ack)),
                call(BOOL, Op.LT, length, Const(one, room)),
            ),
            assign(in_ack, negated(in_ack)),
            assign(queue, call(queue.type, Op.APPEND, queue, in_val)),
        ),
        action(
            "BufSend",
            (),
            both(call(BOOL, Op.LT, Const(one, 0), length), equal(out_rdy, out_ack)),
            assign(out_val, call(datum, Op.HEAD, queue)),
            assign(out_rdy, negated(out_rdy)),
            assign(queue, call(queue.type, Op.TAIL, queue)),
        ),
        action("RRcv", (), negated(equal(out_rdy, out_ack)), assign(out_ack, negated(out_ack))),
    )
    init: tuple[Stmt, ...] = tuple(
        stmt
        for val, rdy, ack in ((in_val, in_rdy, in_ack), (out_val, out_rdy, out_ack))
        for stmt in (
            Choose("v", Universe(datum), TRUE),
            assign(val, Local(datum, "v")),
            Choose("b", Universe(BOOL), TRUE),
            assign(rdy, Local(BOOL, "b")),
            assign(ack, Local(BOOL, "b")),
        )
    )
    names = (in_val, in_rdy, in_ack, out_val, out_rdy, out_ack)
    variables = tuple(variable(r.variable, r.type, 0 if r.type == datum else False) for r in names)
    return system("InnerFIFO", (*variables, variable("q", queue.type, ())), actions, (), init)


def bag_log() -> TransitionSystem:
    """S13: 2 and 1 in a bag, one receiver that logs what it gets."""
    message = VariantT("M", (Case("Num", (("n", IntT(0, 3)),)), Case("Stop")))
    bag, log = Read(BagT(message, 2), "net"), Read(SeqT(IntT(0, 3), 2), "log")
    m = Local(message, "m")
    receive = Action(
        "receive",
        ActionKind.RECEIVE,
        (Param("m", Members(bag, message), IsCase(m, 0)),),
        TRUE,
        (
            assign(log, call(log.type, Op.APPEND, log, CaseField(IntT(0, 3), m, 0, 0))),
            If(TRUE, (assign(bag, call(bag.type, Op.BAG_REMOVE, bag, m)),)),
        ),
        TRUE,
    )
    everything = equal(call(IntT(0, 2), Op.LEN, log), Const(IntT(0, 2), 2))
    done = never_for_ever("all logged", negated(everything))
    stuck = Property("nothing logged", PropertyKind.INVARIANT, everything, FALSE, "")
    return system(
        "S13",
        (variable("net", bag.type, ((0, 1), (0, 2))), variable("log", log.type, ())),
        (receive,),
        (done, stuck),
    )
