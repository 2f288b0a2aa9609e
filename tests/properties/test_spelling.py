"""A formula that is printed is the one that was written: read again, it is the same."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from checker.instantiate.protocol import stack
from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.sizes import compute
from checker.instantiate.protocol.spelling import spell_named
from checker.language.syntax import typed
from checker.session.load import load_check

SPEC = """
protocol P {{
  state i : 0..9 = 1
  state j : 0..9 = 1
  state k : 0..9 = 1
  state a : set<0..3> = {{}}
  state b : set<0..3> = {{}}
  state c : set<0..3> = {{}}
  state x = false
  state y = false
  state z = false
  upon condition i < 3 {{ i := i + 1 }}
  property q : always forall p in Proc: {formula}
}}
check c of P {{ n = 1  prove q }}
"""
KINDS = {
    "p.i p.j p.k": ("+", "-", "*", "div", "mod"),
    "p.a p.b p.c": ("union", "intersect", "minus"),
    "p.x p.y p.z": ("and", "or", "=>", "=="),
}
NESTED = [
    form.format(*names.split(), one=one, other=other)
    for names, signs in KINDS.items()
    for one, other in product(signs, repeat=2)
    for form in ("({} {one} {}) {other} {}", "{} {one} ({} {other} {})")
    if not one == other in ("and", "or")
]
FORMULAS = [text if "x" in text else f"({text}) == ({text})" for text in NESTED]
OTHERS = [
    "not (p.x and p.y)", "(not p.x) == p.y", "not (p.x == p.y)", "-(p.i - p.j) < -p.k",
    "#(p.a union p.b) - (#p.a - 1) < 3", "(if p.x then p.i else p.j) + 1 < 4",
    "p.i < 3 and (p.x => p.y => p.z)", "(p.i in p.a) == (p.j in p.b)",
    "(forall r in Proc: r.x) and p.y", "(exists r in Proc: r.x and p.y) => p.z",
    "p.i - 1 in p.a minus (p.b minus p.c)",
]  # fmt: skip


def read(formula: str, folder: Path) -> tuple[typed.Check, typed.Expr]:
    path = folder / "p.bcast"
    path.write_text(SPEC.format(formula=formula), encoding="utf-8")
    check = load_check(str(path), "c", {})
    (asked,) = check.prove
    assert isinstance(asked.formula, typed.Temporal)
    (inner,) = asked.formula.args
    assert isinstance(inner, typed.Quantified)
    return check, inner.body


def same(expr: typed.Expr) -> str:
    """What two expressions have in common that are the same, wherever they stand."""
    return re.sub(r"Span\((?:[^()]|\([^()]*\))*\)", "", repr(expr))


@pytest.mark.every
def test_what_is_printed_is_read_as_the_same(tmp_path: Path) -> None:
    wrong = {}
    for formula in (*FORMULAS, *OTHERS):
        check, expr = read(formula, tmp_path)
        world = stack.start(check, compute(check, {}), {}, False)
        printed = spell_named(expr, Env(world, world.instances[0], None))
        if same(read(printed, tmp_path)[1]) != same(expr):
            wrong[formula] = printed
    assert wrong == {}
