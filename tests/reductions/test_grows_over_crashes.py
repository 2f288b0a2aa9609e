"""What only grows although a crash inside a handler takes something back, and what follows for
messages; each rule with systems in which a wrong one would show.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate.assemble import instantiate
from checker.model import ir
from checker.model.build import below, conj, integer, negation
from checker.model.ir import FALSE, TRUE, Read, TransitionSystem
from checker.model.tree import placeless
from checker.model.types import BOOL, IntT, SetT
from checker.properties.formula import ask
from checker.reductions.dead_variables import analysis, messages, monotone_variables
from checker.reductions.dead_variables.monotonicity import Direction, Trend
from checker.reductions.dead_variables.program_points import program_points
from checker.session.pipeline import load_check
from tests.reductions.resting import disagreement
from tests.reductions.test_dead_variables import action, state, store, system_of


def system_from(text: str, folder: Path) -> TransitionSystem:
    path = folder / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    return instantiate(load_check(str(path), "c", {}), {}, ask).system


def trend(system: TransitionSystem, name: str) -> Trend:
    plain = placeless(system)
    return monotone_variables.trends(plain, program_points(plain)).variables[name]


TERMS = """
protocol P {
  message ASK(t: 0..2)
  message YES(t: 0..2)
  stable state term : 0..2 = 0
  stable state voted = false
  state led = false
  procedure enter(t: 0..2) { FIRST  SECOND }
  upon condition term < 2 { enter(term + 1)  send ASK(term) to Proc minus {self} }
  upon receive ASK(t) from p when t > term { enter(t)  send YES(t) to p }
  upon receive YES(t) when t == term { led := true }
  property few : always forall p in Proc: p.led => p.voted
}
check c of P { n = 2  faults crash <= 1, recover  links LINKS  prove few  allow unused }
"""


@pytest.mark.parametrize("links", ["persistent", "stubborn", "perfect"])
def test_who_is_behind_is_not_heard_again(links: str, tmp_path: Path) -> None:
    text = TERMS.replace("LINKS", links).replace("FIRST", "term := t")
    system = system_from(text.replace("SECOND", "voted := true"), tmp_path)
    assert trend(system, "term").way is Direction.UP
    assert trend(system, "term").undone  # by crashes between the two
    block, _ = analysis.find_dead(system)
    assert any(isinstance(stmt, ir.For) and "@network" in stmt.name for stmt in block)
    assert disagreement(system, block, 400) is None


def test_what_may_fall_is_not_taken_to_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local that has held something else may bring anything back."""
    falls = TERMS.replace("LINKS", "persistent").replace("FIRST", "var k = term  k := t")
    falls = falls.replace("SECOND", "term := k").replace("when t > term", "")
    system = system_from(falls, tmp_path)
    assert trend(system, "term").way is Direction.ANY
    block, _ = analysis.find_dead(system)
    assert disagreement(system, block, 400) is None
    monkeypatch.setattr(monotone_variables, "_was_there", lambda site, target, noted: True)
    wrong, _ = analysis.find_dead(system)
    assert disagreement(system, wrong, 400) is not None


UNTIL = """
protocol P {
  state shut = false
  state a = false
  state word : set<0..1> = {}
  upon condition not shut and word == {} { word += 0 }
  upon condition not shut and 0 in word { BODY }
  property open : always forall p in Proc: not p.shut
}
check c of P { n = 1  prove open  allow unused }
"""


@pytest.mark.parametrize(
    ("body", "lasts"),
    [
        ("if a { shut := true  word := {} }", True),
        ("shut := true  if a { word := {} }", True),
        ("if a { shut := true }  a := true  if a { word := {} }", False),
        ("var x = a  if shut { x := false }  if x { shut := true }  word := {}", False),
        ("for k in (0..1) when k in word and a { shut := true }  word := {}", False),
    ],
)
def test_a_condition_that_may_have_changed_meanwhile_is_none(
    body: str, lasts: bool, tmp_path: Path
) -> None:
    """What is set under one condition need not be where the same condition is true later."""
    system = system_from(UNTIL.replace("BODY", body), tmp_path)
    assert (trend(system, "word").until is not None) is lasts


NUMBER = IntT(0, 2)
HELD = SetT(NUMBER)


def test_every_way_to_a_flag_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that needs a flag may be taken in any way in which the flag is set."""
    held, late, done = Read(HELD, "held"), Read(BOOL, "late"), Read(BOOL, "done")
    item, flag = ir.Local(NUMBER, "item"), ir.Local(BOOL, "flag")
    up: ir.Stmt = ir.Assign(ir.Target(BOOL, "flag", False), TRUE)
    hear = action(
        "hear",
        TRUE,
        ir.Declare("flag", BOOL, FALSE),
        ir.If(conj(below(item, integer(1)), negation(late)), (up,)),
        ir.If(below(integer(0), item), (up,)),
        ir.Assume(flag),
        store("done", BOOL, TRUE),
        params=(ir.Param("item", ir.Members(held, NUMBER), TRUE),),
        promised=FALSE,
    )
    insert = ir.Apply(HELD, ir.Op.INSERT, (held, ir.Local(NUMBER, "new")))
    say = action("say", TRUE, store("held", HELD, insert), promised=FALSE,
                 params=(ir.Param("new", ir.Universe(NUMBER), TRUE),))  # fmt: skip
    tarry = action("tarry", negation(late), store("late", BOOL, TRUE), promised=FALSE)
    variables = (
        state("held", HELD, ir.VariableKind.LINK),
        state("late", BOOL),
        state("done", BOOL),
    )
    system = system_of(variables, (hear, say, tarry), negation(done))
    block, _ = analysis.find_dead(system)
    assert block and disagreement(system, block, 99) is None
    first_only = messages.MessageEffects._blocking_conditions

    def blocked(self, site, way, cell, reading):  # type: ignore[no-untyped-def]
        if site.ways and way != site.ways[0]:
            return [TRUE]
        return first_only(self, site, way, cell, reading)

    monkeypatch.setattr(messages.MessageEffects, "_blocking_conditions", blocked)
    wrong, _ = analysis.find_dead(system)
    assert disagreement(system, wrong, 99) is not None
