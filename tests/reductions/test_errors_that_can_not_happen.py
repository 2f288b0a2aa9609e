"""Conditions that exclude a run-time error, against all lengths of a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.instantiate.assemble import instantiate
from checker.model import ir
from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.ir import Apply, Expr, Op
from checker.model.run_errors import can_fault
from checker.model.types import BOOL, IntT, SeqT
from checker.properties.formula import ask
from checker.reductions.choose import VERDICTS, choose
from checker.session.load import load_check

ITEM, MOST = IntT(0, 1), 3
SEQ = SeqT(ITEM, MOST, None)
LENGTH = Apply(IntT(0, MOST), Op.LEN, (ir.Read(SEQ, "s"),))
OTHER = Apply(IntT(0, MOST), Op.LEN, (ir.Read(SEQ, "other"),))


def number(value: int) -> Expr:
    return ir.Const(IntT(value, value), value)


def from_the_end(back: int, length: Expr = LENGTH) -> Expr:
    """The entry of `s` so many before its end."""
    index = Apply(IntT(-back, MOST - back), Op.SUB, (length, number(back)))
    return ir.Index(ITEM, ir.Read(SEQ, "s"), index)


def conditions(length: Expr) -> Iterator[Expr]:
    """Comparisons with numbers, in both orders, and their negations."""
    for value in range(MOST + 1):
        for op in (Op.EQ, Op.LT, Op.LE):
            for pair in ((length, number(value)), (number(value), length)):
                comparison = Apply(BOOL, op, pair)
                yield comparison
                yield Apply(BOOL, Op.NOT, (comparison,))


def fails(expr: Expr) -> bool:
    """Whether there are lengths of both sequences for which the evaluation is an error."""
    for length in range(MOST + 1):
        for other in range(MOST + 1):
            scope = Scope({"s": (0,) * length, "other": (0,) * other}, {})
            try:
                evaluate(expr, scope)
            except RunFault:
                return True
    return False


def guarded(condition: Expr, back: int, length: Expr = LENGTH) -> Iterator[Expr]:
    """An entry that is read only where the condition holds, or where it does not."""
    entry, nothing = from_the_end(back, length), number(0)
    yield Apply(ITEM, Op.ITE, (condition, entry, nothing))
    yield Apply(ITEM, Op.ITE, (condition, nothing, entry))
    read = Apply(BOOL, Op.EQ, (entry, number(1)))
    yield Apply(BOOL, Op.AND, (condition, read))
    yield Apply(BOOL, Op.OR, (condition, read))


def test_no_error_is_overlooked() -> None:
    """What is said to have no error has none, for any lengths; the rest may or may not."""
    known = 0
    for length in (LENGTH, OTHER):
        for condition in conditions(length):
            for back in range(MOST + 1):
                for of in (LENGTH, OTHER):
                    for expr in guarded(condition, back, of):
                        if not can_fault(expr):
                            known += 1
                            assert not fails(expr), expr
    assert known


def test_the_last_entry_of_what_is_not_empty() -> None:
    """All usual ways to say that a sequence has an entry are understood."""
    empty = Apply(BOOL, Op.EQ, (LENGTH, number(0)))
    some = (
        Apply(BOOL, Op.LT, (number(0), LENGTH)),
        Apply(BOOL, Op.LE, (number(1), LENGTH)),
        Apply(BOOL, Op.NOT, (empty,)),
        Apply(BOOL, Op.NOT, (Apply(BOOL, Op.LT, (LENGTH, number(1))),)),
    )
    for condition in some:
        there = Apply(ITEM, Op.ITE, (condition, from_the_end(1), number(0)))
        assert not can_fault(there)
    assert not can_fault(Apply(ITEM, Op.ITE, (empty, number(0), from_the_end(1))))
    assert can_fault(Apply(ITEM, Op.ITE, (empty, number(0), from_the_end(2))))


LAST = """
protocol P {
  state log : seq<0..1, max 2> = []
  define newest(): 0..1 = if #log == 0 then 0 else log[#log - 1]
  upon condition #log < 2 { log := log + 1 }
  property grows : always forall p in Proc: p.newest() == 1 or #p.log == 0
}
check c of P { n = 3  expect grows holds }
"""


def test_processes_stay_interchangeable(tmp_path: Path) -> None:
    """The order in which a quantifier evaluates its values matters only where that can fail."""
    path = tmp_path / "last.bcast"
    path.write_text(LAST, encoding="utf-8")
    system = instantiate(load_check(str(path), "c", {}), {}, ask).system
    assert choose(system, "auto", VERDICTS).symmetry is not None
