"""A number that leaves its range is an error wherever it is stored, and whatever holds it before.

`decide` of `AtomicCommit` takes 0 or 1, and so do all places here; the number is 2.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import checker
from checker.results.verdict import Word

NUMBERS = {
    "a constant": "{0}",
    "a sum": "{1}",
    "a let": "let y = w - 1  {2}",
    "a choice": "choose y in 1..2 when y == w - 1  {2}",
    "a loop": "for y in {{2}} {{ {2} }}",
    "a parameter": "stores(w - 1)",
}
"""What comes before the statement, and the statement with 2, ``w - 1``, or ``y``."""
TOLD = "uses below : Below  upon below.tell(x) {}"
LAYER = """
interface Below { request ask(x: 0..1)  request pass(x: 0..3)  indication tell(x: 0..1) }
protocol Layer implements Below {
  upon request ask(x) {}
  upon request pass(x) { tell(x) }
}
"""
PLACES = {
    "an indication": ("", "decide(#)"),
    "a variable": ("state t : 0..1 = 0", "t := #"),
    "a new variable": ("", "var z : 0..1 = #"),
    "a member": ("state t : set<0..1> = {}", "t += #"),
    "a set": ("state t : set<0..1> = {}", "t := {#}"),
    "a union": ("state t : set<0..1> = {}", "t := t union {#}"),
    "an entry": ("state t : map<Proc, 0..1> = 0", "t[self] := #"),
    "a part of a tuple": ("state t : set<(Proc, 0..1)> = {}", "t += (self, #)"),
    "an option": ("state t : option<0..1> = none", "t := some(#)"),
    "an option of a set": ("state t : option<set<0..1>> = none", "t := some({#})"),
    "an item": ("state t : seq<0..1> = []", "t := t ++ [#]"),
    "an item that is a set": ("state t : seq<set<0..1>> = []", "t := t ++ [{#}]"),
    "a message": ("message M(x: 0..1)  upon receive M(x) {}", "send M(#) to self"),
    "a disk": ("stable state t : set<0..1> = {}", "t += #"),
    "a request to a layer": (TOLD, "below.ask(#)"),
    "an indication of a layer": (TOLD, "below.pass(#)"),
    "a member of a family": ("uses each[Nat] : Below  upon each[k].tell(x) {}", "each[1].ask(#)"),
    "a parameter with a type": ("procedure takes(x: 0..1) {}", "takes(#)"),
    "a parameter that is a set": ("procedure takes(x: set<0..1>) {}", "takes({#})"),
    "a parameter that is a seq": ("procedure takes(x: seq<0..1>) {}", "takes([#])"),
}


def spec(place: str, number: str) -> str:
    """Returns a protocol that stores 2 in its second step."""
    declared, stores = PLACES[place]
    ways = [stores.replace("#", value) for value in ("2", "w - 1", "y")]
    return f"""{LAYER}
protocol A implements AtomicCommit {{
  state w : 0..3 = 0
  {declared}
  procedure stores(y) {{ {ways[2]} }}
  upon request propose(v) {{ w := 2 }}
  upon condition w == 2 {{
    w := 3
    {NUMBERS[number].format(*ways)}
  }}
}}
check c of A {{ n = 1  clients {{ p1 proposes 1 }}  prove nbac_agreement }}
"""


def error_of(path: Path, place: str, number: str, engine: str) -> str:
    """Returns the error of the only run."""
    path.write_text(spec(place, number), encoding="utf-8")
    (found,) = checker.check(str(path), "c", engine=engine).verdicts
    assert found.word is Word.ERROR, found
    return found.reason


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", NUMBERS)
def test_it_is_an_error(tmp_path: Path, number: str, place: str) -> None:
    assert "2 is outside 0..1" in error_of(tmp_path / "a.bcast", place, number, "reference")


def test_a_bound_that_is_guessed_is_not_one_of_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(spec("a parameter with a type", "a let").replace("x: 0..1", "x: Nat"))
    (found,) = checker.check(str(path), "c", engine="reference").verdicts
    assert found.word is Word.VACUOUS  # nothing is decided
    path.write_text(path.read_text().replace("takes(y)", "takes(y - 3)"))
    (found,) = checker.check(str(path), "c", engine="reference").verdicts
    assert found.word is Word.ERROR
    assert "-1 is below 0" in found.reason


@pytest.mark.parametrize("place", PLACES)
def test_it_is_one_of_native_code(tmp_path: Path, place: str) -> None:
    assert "2 is outside 0..1" in error_of(tmp_path / "a.bcast", place, "a let", "native")
