"""Liveness formulas over more propositions than a letter of 16 bits has room for: the native engine
numbers the combinations that occur, and answers as the reference engine does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checker.engines.native import engine as native
from checker.engines.native.codegen.letters import FEW, WORD
from checker.engines.native.search import states
from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.model.evaluate import RunFault
from checker.model.ir import (
    Apply,
    Connective,
    Formula,
    Holds,
    Op,
    Property,
    PropertyKind,
    TransitionSystem,
)
from checker.model.types import BOOL
from checker.properties.buchi_automaton import refuting
from checker.records import replace
from checker.results.answer import Limits, Unsupported
from checker.session.pipeline import run_check
from tests.agreement.test_random_systems import judged, whole

STATES = 400
FORMULAS = """\
protocol P {
  state x : 0..2 = 0
  upon condition x < 2 as rises { x := x + 1 }
  upon condition x == 2 as falls { x := 0 }
  property met "Where all meet again and again, all rise." :
    (forall p in Proc: always eventually (p.x == 1))
      and (forall p in Proc, q in Proc: always eventually (q.x == 0 and p.x != 1))
    => forall p in Proc, q in Proc: always eventually (p.x == 2 or q.x == 1)
  property too_much "Then some two are far apart, again and again." :
    (forall p in Proc: always eventually (p.x == 1))
      and (forall p in Proc, q in Proc: always eventually (q.x == 0 and p.x != 1))
    => forall p in Proc, q in Proc: always eventually (p.x == 2 and (q.x == 1 or p == q))
}
check c of P { n = 3  prove met, too_much }
"""


def widened(prop: Property, count: int) -> Property:
    """``prop`` over ``count`` propositions, of which its own two are the first and the last, and
    the others are these again, or what they are not."""
    first, last = prop.propositions
    denied = [Apply(BOOL, Op.NOT, (each,)) for each in (first, last)]
    between = [(first, last, *denied)[i % 4] for i in range(count - 2)]
    assert prop.formula is not None
    formula = _renamed(prop.formula, count)
    return replace(
        prop,
        propositions=(first, *between, last),
        formula=formula,
        automaton=refuting(formula),
    )


def _renamed(formula: Formula, count: int) -> Formula:
    """``formula`` with its second proposition as the last, each together with its other copies."""
    match formula:
        case Holds(prop):
            at = 0 if prop == 0 else count - 1
            copies = [i for i in range(1, count - 1) if (i - 1) % 4 == prop]
            return Connective("and", (Holds(at), *(Holds(i) for i in copies[-2:])))
        case Connective(op, parts):
            return Connective(op, tuple(_renamed(part, count) for part in parts))
        case _:
            return replace(formula, part=_renamed(formula.part, count))


def wide(system: TransitionSystem, count: int) -> TransitionSystem:
    *others, prop = system.properties
    assert prop.kind is PropertyKind.LIVENESS
    return replace(system, properties=(*others, widened(prop, count)))


@pytest.mark.parametrize("count", [FEW + 1, WORD, 2 * WORD + 3])
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_engines_agree_about_many_propositions(count: int, seed: int) -> None:
    try:
        few = reference.explore(whole(seed), Limits(max_states=STATES))
        system = wide(whole(seed), count)
        found = native.explore(system, Limits(), threads=1)
    except (RunFault, Unsupported):
        assume(False)
        return
    assume(few.exhaustive)
    expected = reference.explore(system, Limits())
    assert not found.undecided
    assert judged(system, found) == judged(system, expected) == judged(whole(seed), few)


@pytest.mark.slow
def test_a_premise_about_all_pairs_of_three_processes(tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(FORMULAS)
    options = [Options(engine=name, explain=0.0) for name in ("native", "reference")]
    asked = [run_check(str(path), "c", each) for each in options]
    verdicts = [{v.property: v.word.value for v in report.verdicts} for report in asked]
    assert verdicts[0] == verdicts[1] == {"met": "holds", "too_much": "violated"}


def test_more_combinations_than_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_LETTERS", 1)
    answers = (native.explore(wide(whole(n), FEW + 1), Limits(), threads=1) for n in range(20))
    said = [why for answer in answers for why in answer.undecided.values()]
    assert said
    assert {*said} == {"more than 1 combinations of its propositions occur"}
