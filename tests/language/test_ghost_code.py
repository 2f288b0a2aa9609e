"""Ghosts are read in properties and in ghost code, and nowhere else (N050)."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.language.syntax import typed
from checker.model import tree
from checker.session.pipeline import load_check

SPEC = """
define next(k: Nat): Nat = k + 1
protocol P implements Lock {
  type Item = record { at: 0..3, who: set<Proc> }
  message M(k: 0..3)
  state x : 0..3 = 0
  state y : map<0..3, bool> = false
  ghost state g : 0..3 = 0
  ghost state item : Item
  ghost shared state log : seq<0..3, max 4> = []
  define read(): 0..3 = g
  define deep(k: 0..3): Nat = if k == 0 then g else deep(k - 1)
  procedure note(k) { if k > g { g := k } }
  procedure mixed(k) { x := k  g := k }
  HANDLER
  upon request acquire() { grant() }
  upon receive M(k) { skip }
  property small : always forall p in Proc: p.g <= p.read() and #log >= 0 and #p.item.who >= 0
}
interface Lock { request acquire() indication grant() }
check c of P { n = 2  timing asynchronous  clients { p1 acquires }  prove small }
"""


def load(tmp_path: Path, handler: str) -> typed.Check:
    path = tmp_path / "spec.bcast"
    path.write_text(SPEC.replace("HANDLER", handler))
    return load_check(str(path), "c", {})


GHOST_CODE = (
    "g := x",
    "g := if g < 3 then next(g) else 3",
    "log := log + g",
    "item.at := g  item.who += self",
    "if g > 1 { g := 0 }",
    "if g > 1 and x == 1 { g := 0 } else { if #log == 0 { log := [x] } }",
    "if g > 1 { } else { g := 1 }",
    "for i in (0..3) when i > g { g := i }",
    "for i in log { if i > g { g := i } }",
    "let last = g  if last > 1 { g := 0 }",
    "if x == 1 { let last = g  g := last }  x := 2",
    "note(2)",
    "note(g)",
    "note(read())",
    "note(deep(2))",
    "g := read()  g := self.g",
    "mixed(x)",
    "choose k in (0..3)  g := k",
    "either { g := 1 } or { g := 2 }",
    "while some k in (0..3) when k > x { x := k  g := k }",
    "atomic { send M(x) to all  if g < 3 { g := g + 1 } }",
    "y[x] := true  if g == 0 { g := 1 }",
)


@pytest.mark.parametrize("code", GHOST_CODE)
def test_ghost_code_may_read_ghosts(tmp_path: Path, code: str) -> None:
    check = load(tmp_path, f"upon condition x < 1 {{ {code} }}")
    (role,) = check.protocol.roles
    assert any(isinstance(node, typed.Ghost) for node in tree.nodes(role.handlers))


OTHER = (
    ("upon condition |g > 0 { skip }", ""),
    ("upon condition x == 0 when |g > 0 { skip }", ""),
    ("upon receive M(|g + 0) { skip }", ""),
    ("upon condition x == 0 { x := |g }", ""),
    ("upon condition x == 0 { x := 1 + |read() }", ""),
    ("upon condition x == 0 { x := |deep(2) }", ""),
    ("upon condition x == 0 { y[|g] := true }", ""),
    ("upon condition x == 0 { if |g > 0 { x := 1 } }", ""),
    ("upon condition x == 0 { if |g > 0 { g := 1 } else { x := 1 } }", ""),
    ("upon condition x == 0 { if |g > 0 { skip } }", ""),
    ("upon condition x == 0 { for i in |log { x := i } }", ""),
    ("upon condition x == 0 { for i in (0..3) when i > |g { x := i } }", ""),
    ("upon condition x == 0 { while some i in (0..3) when i > |g { g := i } }", ""),
    ("upon condition x == 0 { choose k in (0..3) when k > |g  g := k }", ""),
    ("upon condition x == 0 { either when |g > 0 { g := 1 } or { x := 1 } }", ""),
    ("upon condition x == 0 { require |g == 0 }", ""),
    ("upon condition x == 0 { send M(|g) to all }", ""),
    ("upon condition x == 0 { let k = |g  x := k }", ""),
    ("upon condition x == 0 { var k = |g  x := k }", ""),
    ("upon condition x == 0 { mixed(|g) }", ""),
    ("upon condition x == 0 { start t after |g }  upon timeout t { skip }", ""),
    ("upon condition x == 0 { perform |g }", ""),
    ("upon condition x == 0 { atomic { x := |g } }", ""),
    ("procedure never() { x := |g }", ""),
    ("init choose x in (0..|g)", ""),
    ("|init choose g in (0..1)", "N051"),
    ("init choose x in (0..3) when x == |g", ""),
)


@pytest.mark.parametrize(("code", "other"), OTHER)
def test_what_happens_may_not_depend_on_a_ghost(tmp_path: Path, code: str, other: str) -> None:
    before, _, _ = SPEC.partition("HANDLER")
    line, column = before.count("\n") + 1, code.index("|") + 3
    with pytest.raises(SpecError) as caught:
        load(tmp_path, code.replace("|", ""))
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column) == (other or "N050", line, column)


def test_ghost_is_also_a_name(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text("""
protocol P {
  state ghost = false
  ghost state other = ghost_of(ghost1)
  const ghost1 = false
  define ghost_of(b: bool): bool = b
  upon condition not ghost { ghost := true  other := ghost }
  property follows : always forall p in Proc: p.ghost == p.other
}
check c of P { n = 1  prove follows }
""")
    check = load_check(str(path), "c", {})
    assert [(s.name, s.ghost) for s in check.protocol.roles[0].states] == [
        ("ghost", False),
        ("other", True),
    ]


def test_a_variant_makes_a_ghost_of_a_state_that_nothing_needs(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text("""
protocol P {
  state x = false
  state seen : 0..1 = 0
  upon condition not x { x := true  seen := 1 }
  property known : always forall p in Proc: p.x => p.seen == 1
}
variant Q of P { ghost state seen : 0..1 = 0 }
variant R of P { ghost state x = false }
check c of Q { n = 1  prove known }
""")
    with pytest.raises(SpecError) as caught:
        load_check(str(path), "c", {})
    assert [d.code for d in caught.value.diagnostics] == ["N050"]
    path.write_text(path.read_text().replace("variant R of P { ghost state x = false }\n", ""))
    states = load_check(str(path), "c", {}).protocol.roles[0].states
    assert [(s.name, s.ghost) for s in states] == [("x", False), ("seen", True)]
