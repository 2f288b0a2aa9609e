"""Loops in checks for all n: the automaton does what the finite system does, order included."""

from __future__ import annotations

import pytest

from checker.diagnostics import SpecError
from checker.parametric.extract.extract import extract
from tests.parametric.test_extract import agree, of_text

SPEC = """
protocol Example {{
  type Kind = enum {{ red, green, blue }}
  message GO
  message SEEN(k: Kind)
  state wants = false
  init choose wants
  state asked = false
  state took : enum {{ nothing, one, two }} = nothing
  state first : option<Kind> = none
  state count : 0..12 = 0
  upon condition wants and not asked {{ asked := true  send GO to all }}
  upon condition #received(GO) >= 1 and took == nothing {{ took := one  {body} }}
  property sound: always forall p in Proc: p.took != two and (p.first == none or p.count < 12)
    and (p.wants or not p.asked)
}}
check every of Example {{
  for all n, f
  faults crash <= f
  prove sound
}}
"""

BODIES = {
    "a condition that the loop changes": "for k in Kind when first == none { first := some(k) }",
    "the last one stays": "for k in Kind { first := some(k) }",
    "each adds": "for k in Kind { count += 1 }",
    "numbers go up": "for i in (9..11) { count := i }",
    "a seq has an order": "for k in [blue, red] { first := some(k) }",
    "what is sent": "for k in Kind when k != blue { send SEEN(k) to all }",
    "a choice in each": "for k in Kind when k != red { either { first := some(k) } or { skip } }",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_loop_goes_in_every_order(name: str) -> None:
    check = of_text(SPEC.format(body=BODIES[name]))
    agree(check, {"n": 2, "f": 1}, {"wants", "asked", "took", "first", "count"})


def test_a_loop_over_too_much_is_told() -> None:
    members = ", ".join(f"k{i}" for i in range(6))
    text = SPEC.replace("red, green, blue", members).format(body=BODIES["the last one stays"])
    with pytest.raises(SpecError) as raised:
        extract(of_text(text))
    assert [d.code for d in raised.value.diagnostics] == ["T006"]
