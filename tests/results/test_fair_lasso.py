"""A run that goes on forever is accepted only where it closes, is fair, and is a violation."""

from __future__ import annotations

import pytest

from checker.model import ir
from checker.model.build import conj, equal, integer, negation
from checker.model.types import IntT
from checker.properties.buchi_automaton import always, eventually, refuting
from checker.records import replace
from checker.results.answer import Path
from checker.results.fair_lasso import truth
from checker.results.mismatch import ReplayMismatch
from checker.results.rerun import Run, rerun

PLACES = IntT(0, 4)
HERE, TARGET = ir.Read(PLACES, "v"), ir.Target(PLACES, "v", True)
WEAK, STRONG = ir.FairnessKind.WEAK, ir.FairnessKind.STRONG


def goes(source: int, target: int, kind: ir.FairnessKind | None = None) -> ir.Action:
    """A step; with a ``kind`` it is promised, and a constraint of its own."""
    name = f"from {source} to {target}"
    key = (ir.Const(PLACES, target),)
    fairness = None if kind is None else ir.Fairness(name, key, kind, "it comes to {0}")
    body = (ir.Assign(TARGET, integer(target)),)
    promised = ir.FALSE if kind is None else ir.TRUE
    guard = equal(HERE, integer(source))
    return ir.Action(name, ir.ActionKind.STEP, (), guard, body, promised, None, fairness)


def asked(target: int) -> ir.Property:
    """It is at ``target + k`` again and again, for k = 0."""
    formula = always(eventually(ir.Holds(0)))
    k = ir.Local(IntT(0, 1), "k")
    there = conj(equal(k, integer(0)), equal(HERE, integer(target)))
    return ir.Property(
        "there",
        ir.PropertyKind.LIVENESS,
        ir.FALSE,
        ir.TRUE,
        "",
        params=(ir.Param("k", ir.Universe(IntT(0, 1)), equal(k, integer(0))),),
        propositions=(there,),
        formula=formula,
        automaton=refuting(formula),
    )


def system(*actions: ir.Action) -> ir.TransitionSystem:
    variable = ir.Variable("v", PLACES, 0, ir.VariableKind.SHARED)
    return ir.TransitionSystem("places", (), (variable,), (), actions, (), (asked(2),), ())


def made_again(
    of: ir.TransitionSystem, places: tuple[int, ...], loop: int | None, value: int = 0
) -> Run:
    path = Path(tuple((place,) for place in places), loop=loop, values=(value,))
    return rerun(of, path, of.properties[0])


ROUND = (goes(0, 1, WEAK), goes(1, 0, WEAK))


def test_a_round_with_what_is_owed_in_it() -> None:
    run = made_again(system(*ROUND, goes(1, 3)), (0, 1), 0)
    assert (run.loop, run.ends, run.values) == (0, False, (0,))
    assert run.closing is not None and run.closing.state == (0,)
    told = [(e.text, e.kind, e.how, e.steps) for e in run.ledger]
    assert told == [
        ("it comes to 1", "weak", "taken", (1,)),
        ("it comes to 0", "weak", "taken", (2,)),
    ]


def test_what_is_possible_now_and_then_only_is_not_owed() -> None:
    run = made_again(system(*ROUND, goes(1, 2, WEAK)), (0, 1), 0)
    assert [(e.text, e.how, e.steps) for e in run.ledger][-1] == ("it comes to 2", "disabled", (0,))


def test_a_round_after_a_stem() -> None:
    run = made_again(system(goes(3, 4), goes(4, 3), goes(0, 3)), (0, 3, 4), 1)
    assert run.loop == 1
    assert run.ledger == ()


def test_a_run_that_stays() -> None:
    run = made_again(system(goes(0, 3)), (0, 3), 1)
    assert run.ends
    assert run.closing is None
    assert run.ledger == ()


def test_a_run_that_stays_where_something_still_happens() -> None:
    run = made_again(system(goes(0, 3), goes(3, 3, WEAK), goes(3, 3)), (0, 3), 1)
    assert run.ends
    told = [(e.text, e.kind, e.how, e.steps) for e in run.ledger]
    assert told == [("it comes to 3", "weak", "taken", ())]


@pytest.mark.every
@pytest.mark.parametrize(
    ("of", "places", "loop", "value", "why"),
    [
        (system(*ROUND), (0, 1), None, 0, "has no loop"),
        (system(*ROUND), (0, 1), 2, 0, "has no loop"),
        (system(goes(0, 1), goes(1, 3)), (0, 1, 3), 0, 0, "no transition"),
        (system(*ROUND, goes(1, 2, STRONG)), (0, 1), 0, 0, "never done: it comes to 2"),
        (system(*ROUND, goes(0, 2, WEAK)), (0,), 0, 0, "can't stay"),
        (
            system(
                goes(0, 1),
                goes(1, 0),
                replace(goes(0, 3, WEAK), guard=negation(equal(HERE, integer(3)))),
            ),
            (0, 1),
            0,
            0,
            "forever and never done: it comes to 3",
        ),
        (system(goes(0, 2), goes(2, 0)), (0, 2), 0, 0, "does not violate"),
        (system(*ROUND), (0, 1), 0, 1, "these values"),
        (
            replace(system(*ROUND), justice=(ir.Justice(equal(HERE, integer(4)), "it is at 4"),)),
            (0, 1),
            0,
            0,
            "never true again: it is at 4",
        ),
    ],
)
def test_what_is_no_violation_is_refused(
    of: ir.TransitionSystem, places: tuple[int, ...], loop: int | None, value: int, why: str
) -> None:
    with pytest.raises(ReplayMismatch, match=why):
        made_again(of, places, loop, value)


# ---- truth of formulas -------------------------------------------------------------------------

P = ir.Holds(0)
AGAIN, FOREVER = always(eventually(P)), eventually(always(P))


@pytest.mark.parametrize(
    ("formula", "row", "loop", "wanted"),
    [
        # The last position is followed by the first of the cycle, where p holds.
        (AGAIN, [False, True, False], 1, [True, True, True]),
        (eventually(P), [False, True, False], 1, [True, True, True]),
        (FOREVER, [False, True, False], 1, [False, False, False]),
        (always(P), [False, True, True], 1, [False, True, True]),
        (FOREVER, [False, True, True], 1, [True, True, True]),
        # What holds before the cycle does not come again.
        (AGAIN, [True, False, False], 1, [False, False, False]),
        (eventually(P), [True, False, False], 1, [True, False, False]),
        # It stays in the last position.
        (AGAIN, [False, True, False], 2, [False, False, False]),
        (FOREVER, [True, False, True], 2, [True, True, True]),
    ],
)
def test_truth_at_each_position(
    formula: ir.Formula, row: list[bool], loop: int, wanted: list[bool]
) -> None:
    assert truth(formula, [row], len(row), loop) == wanted
