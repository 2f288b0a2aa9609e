"""A small system made by hand that repeats forever: p1 and p2 pass a ball, p3 never gets it.

p1 starts with the ball and may crash; p3 waits for the ball in vain.
"""

from __future__ import annotations

from checker.model import ir
from checker.model.interpreter import State, initial_states, successors
from checker.model.ir import ActionKind, Fairness, MarkKind, VariableKind
from checker.model.types import BOOL, Case, MapT, SetT, VariantT, default
from checker.results.rerun import Moment, Run
from checker.results.trace import FairnessJustification
from tests.results.relay import PROC, PROCS, apply, local, put

BALL = VariantT("wire", (Case("BALL", ()),))
FLIGHT = SetT(PROC)
NET = ir.Read(FLIGHT, "net")
HAD = MapT(PROC, BOOL)
SELF = local("self")
TO = local("to")

MARKS = (
    ir.MarkInfo(
        MarkKind.HANDLER,
        "upon receive BALL",
        ("self",),
        (PROC,),
        True,
        ir.SourceLocation("pp.bcast", 7, 3),
    ),
    ir.MarkInfo(MarkKind.SEND, "send", ("self", "to", "message"), (PROC, PROCS, BALL)),
    ir.MarkInfo(MarkKind.RECEIVE, "receive", ("self", "from", "message"), (PROC, PROC, BALL)),
    ir.MarkInfo(MarkKind.PERFORM, "perform", ("self", "what"), (PROC, BALL)),
    ir.MarkInfo(
        MarkKind.BRANCH, "if had: then", (), (), False, ir.SourceLocation("pp.bcast", 8, 5)
    ),
    ir.MarkInfo(
        MarkKind.BRANCH, "if had: else", (), (), False, ir.SourceLocation("pp.bcast", 8, 5)
    ),
    ir.MarkInfo(MarkKind.POINT, "between perform and send", (), (), False, None),
    ir.MarkInfo(MarkKind.MESSAGE, "BALL", (), (), True, ir.SourceLocation("pp.bcast", 3, 3)),
)
ball = ir.Make(BALL, 0, ())


def const(process: int) -> ir.Const:
    return ir.Const(PROC, process)


def bounce(to: int) -> ir.Action:
    """``to`` has the ball and throws it to the other one of p1 and p2."""
    back = 1 - to
    thrown = ir.Const(PROCS, frozenset({back}))
    had = ir.Target(BOOL, "had", True, (ir.Key(const(to), PROC),))
    body: ir.Block = (
        ir.Mark(2, (const(to), const(back), ball)),
        ir.Mark(0, (const(to),)),
        ir.Mark(4, ()),
        ir.Assign(had, ir.TRUE),
        ir.Mark(3, (const(to), ball)),
        put("net", FLIGHT, thrown),
        ir.Mark(7, ()),
        ir.Mark(1, (const(to), thrown, ball)),
    )
    here = apply(ir.Op.IN, const(to), NET)
    fair = Fairness(
        "receive",
        (const(to), const(back)),
        text="what {1} sends to {0} eventually arrives: both are correct",
    )
    return ir.Action(f"receive BALL {to}", ActionKind.RECEIVE, (), here, body, ir.TRUE, None, fair)


def pingpong() -> ir.TransitionSystem:
    """The property is made by hand too: ``eventually p.had`` for every process."""
    had = ir.Index(BOOL, ir.Read(HAD, "had"), local("p.1"))
    automaton = ir.Automaton(
        2,
        (
            ir.AutomatonEdge(0, 1, frozenset(), frozenset({0})),
            ir.AutomatonEdge(1, 1, frozenset(), frozenset({0})),
        ),
        (frozenset({1}),),
    )
    asked = ir.Property(
        "turns",
        ir.PropertyKind.LIVENESS,
        ir.FALSE,
        ir.TRUE,
        "everybody has the ball at some time",
        ("what is sent eventually arrives",),
        None,
        (ir.Param("p.1", ir.Universe(PROC), ir.TRUE),),
        (had,),
        ir.Modal("eventually", ir.Holds(0)),
        automaton,
    )
    return ir.TransitionSystem(
        "pingpong",
        PROC.labels,
        (
            ir.Variable("net", FLIGHT, frozenset({0}), VariableKind.LINK),
            ir.Variable("had", HAD, default(HAD), VariableKind.LOCAL, "had"),
        ),
        (),
        (bounce(0), bounce(1)),
        (),
        (asked,),
        MARKS,
    )


def step(system: ir.TransitionSystem, state: State) -> Moment:
    (transition,) = successors(system, state)
    assert transition.successor is not None
    return Moment(transition.successor, transition, transition.events)


def lasso(system: ir.TransitionSystem) -> Run:
    """p1 and p2 each had the ball; then it goes round, and p3 never has it."""
    moments = [Moment(initial_states(system)[0], None, ())]
    for _ in range(3):
        moments.append(step(system, moments[-1].state))
    ledger = (
        FairnessJustification("what p1 sends to p2 eventually arrives", "weak", "taken", (4,)),
        FairnessJustification("what p2 sends to p1 eventually arrives", "weak", "taken", (3,)),
        FairnessJustification("p3, which is correct, takes a step", "weak", "disabled", (3, 4)),
        FairnessJustification(
            "messages that come again and again arrive", "strong", "disabled", (3, 4)
        ),
        FairnessJustification("the detector tells the truth", "justice", "holds", (3, 4)),
    )
    return Run(
        tuple(moments),
        False,
        loop=2,
        closing=step(system, moments[-1].state),
        ledger=ledger,
        values=(2,),
    )
