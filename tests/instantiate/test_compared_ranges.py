"""Values are compared whatever their ranges: what is in none of the other side is another value.

Each comparison is true; ``w`` is 9, which is in no range of the other variables.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import checker
from checker.results.verdict import Word
from tests.selection import by_turns

VARIABLES = {
    "w": "0..9 = 9",
    "s": "set<0..1> = {0, 1}",
    "q": "seq<0..1, max 2> = [0, 1]",
    "g": "bag<0..1, max 2> = {|0, 1|}",
    "st": "set<(0..1, bool)> = {(1, true), (0, true)}",
    "so": "set<option<0..1>> = {some(1), none}",
    "sq": "set<seq<0..1, max 2>> = {[1], []}",
    "ss": "set<set<0..1>> = {{1}, {}}",
    "sr": "set<record { a: 0..1, b: bool }> = {record(a = 1, b = true)}",
    "big": "set<(0..1, 0..9, 0..9, 0..9, 0..9)> = {(1, 0, 0, 0, 0)}",
    "qt": "seq<(0..1, bool), max 2> = [(1, true), (0, true)]",
    "gt": "bag<(0..1, bool), max 2> = {|(1, true), (0, true)|}",
    "m": "map<0..1, (0..1, bool)> = { k -> (1, true) for k in (0..1) }",
    "o": "option<(0..1, bool)> = some((1, true))",
    "s9": "set<0..9> = {0, 1, 9}",
    "g9": "bag<0..9, max 3> = {|9, 1, 0|}",
    "og": "option<bag<0..1, max 2>> = some({|1, 0|})",
    "qg": "seq<bag<0..1, max 2>, max 2> = [{|1, 0|}]",
    "mg": "map<0..1, bag<0..1, max 2>> = { k -> {|1, k|} for k in (0..1) }",
    "big3": "set<(0..3, 0..9, 0..9, 0..9, 0..9)> = {(1, 0, 0, 0, 0)}",
}
TRUE = (
    "(w, true) not in st",
    "some(w) not in so",
    "[w] not in sq",
    "{w} not in ss",
    "record(a = w, b = true) not in sr",
    "(w, 0, 0, 0, 0) not in big",
    "(w - 8, 0, 0, 0, 0) in big",
    "(w, true) not in qt and (w - 8, true) in qt",
    "(w, true) not in gt and (w - 8, true) in gt",
    "count(qt, (w, true)) == 0 and count(qt, (w - 8, true)) == 1",
    "count(gt, (w, true)) == 0 and count(gt, (w - 9, true)) == 1",
    "{w} not in subsets(s) and {w - 8} in subsets(s)",
    "(w, true) not in { (k, true) for k in s }",
    "w not in s and w not in q and w not in g",
    "o != some((w, true))",
    "m != { k -> (w, true) for k in (0..1) }",
    "{ k -> (w, true) for k in (0..1) } != m",
    "{ k -> (1, true) for k in (0..1) } == m",
    "{ k -> (0, true) for k in (0..1) } != m",
    "{ k -> (w - 8, true) for k in (0..1) } in {m}",
    "[m] == [{ k -> (1, true) for k in (0..1) }]",
    "some(m) != some({ k -> (w, true) for k in (0..1) })",
    "(if w > 1 then m else { k -> (w, true) for k in (0..1) }) == m",
    "(if w < 1 then m else { k -> (w, true) for k in (0..1) })[1] == (w, true)",
    "last(q + w) == w and #(q + w) == 3",
    "(q ++ [w])[2] == w and ([w] ++ q)[1] == 0",
    "(qt + (w, true))[2] == (w, true)",
    "index(q ++ [w], w) == 2",
    "(gt - (w, true)) == gt and #(gt - (w - 8, true)) == 1",
    "(g - w) == g",
    "g9 != g and g != g9 and (g9 - w) == g",
    "{|w|} != g and {|w - 8, w - 9|} == g and g == {|w - 8, w - 9|}",
    "(if w > 1 then g else g9) == g and (if w < 1 then g else g9) == g9",
    "(if w > 1 then {|w, 0|} else g) == {|0, 9|}",
    "(g + w) == g9 and w in g + w and #(g + 0) == 3 and count(g + 0, 0) == 2",
    "sum(x for x in (g + w)) == 10",
    "og == some(g) and og != some(g9) and (if w < 1 then og else some(g9)) == some(g9)",
    "{|0, 1|} in qg and g9 not in qg and qg[0] == (g9 - w) and (qg + g9)[1] == g9",
    "mg[0] == {|0, 1|} and { k -> {|1, k|} for k in (0..1) } == mg",
    "(if w < 1 then mg else { k -> {|w, k|} for k in (0..1) })[1] == {|1, w|}",
    "(s + w) == s9 and w in s + w and #(s + w) == 3 and (s + (w - 9)) == s",
    "(3, 0, 0, 0, 0) in big + (3, 0, 0, 0, 0) and (big + (1, 0, 0, 0, 0)) == big3",
    "(big + (3, 0, 0, 0, 0)) == {(3, 0, 0, 0, 0), (w - 8, 0, 0, 0, 0)}",
)


def assert_it_holds(path: Path, about: str) -> None:
    """The only property of the check ``c`` holds, by the engines whose turn it is."""
    for engine in by_turns(("reference", "native", "symbolic"), about):
        (found,) = checker.check(str(path), "c", engine=engine).verdicts
        assert found.word in (Word.HOLDS, Word.BOUNDED), found.reason


@pytest.mark.parametrize("expression", TRUE)
@pytest.mark.parametrize("place", ["handler", "property"])
def test_it_is_true(expression: str, place: str, tmp_path: Path) -> None:
    names = "|".join(VARIABLES)
    of_p = re.sub(rf"\b({names})\b", r"p.\1", expression)
    asked = f"if not ({expression}) {{ wrong := true }}" if place == "handler" else ""
    known = "p.wrong == false" if place == "handler" else of_p
    states = "\n".join(f"  state {name} : {value}" for name, value in VARIABLES.items())
    path = tmp_path / "a.bcast"
    path.write_text(
        f"protocol A {{\n{states}\n  state wrong = false\n  state over = false\n"
        f"  upon condition not over {{ over := true  {asked} }}\n"
        f"  property known : always forall p in Proc: p.over => ({known})\n}}\n"
        "check c of A { n = 1  prove known }\n",
        encoding="utf-8",
    )
    assert_it_holds(path, expression)


BAGS = {
    "g": "bag<0..9, max 3> = {||}",
    "t": "(bag<0..9, max 3>, 0..3) = ({||}, 0)",
    "r": "record { a: bag<0..9, max 3>, b: bool } = record(a = {||}, b = false)",
    "m": "map<0..1, bag<0..9, max 3>> = {||}",
    "q": "seq<bag<0..9, max 3>, max 2> = []",
    "gg": "bag<bag<0..9, max 3>, max 2> = {||}",
}
KEPT = (
    ("let x = {|w, 0|}  g := x", "p.g == {|0, 9|}"),
    ("let x = ({|w, 0|}, 1)  t := x", "p.t == ({|0, 9|}, 1)"),
    ("let x = {|w, 0|}  r.a := x", "p.r.a == {|0, 9|}"),
    ("g := get(some({|w, 0|}))", "p.g == {|0, 9|}"),
    ("m := { k -> {|w, k|} for k in (0..1) }", "p.m[1] == {|1, 9|}"),
    ("q += {|w, 0|}", "p.q == [{|0, 9|}]"),
    ("gg := {|{|w, 0|}|}", "{|0, 9|} in p.gg and count(p.gg, {|9, 0|}) == 1"),
    ("g := {|w, 0, 1, 2|} - 1", "p.g == {|0, 2, 9|}"),
)


@pytest.mark.parametrize(("statement", "known"), KEPT)
def test_the_order_in_which_a_bag_is_written_does_not_matter(
    statement: str, known: str, tmp_path: Path
) -> None:
    states = "\n".join(f"  state {name} : {value}" for name, value in BAGS.items())
    path = tmp_path / "a.bcast"
    path.write_text(
        f"protocol A {{\n{states}\n  state w : 0..9 = 9\n  state over = false\n"
        f"  upon condition not over {{ over := true  {statement} }}\n"
        f"  property known : always forall p in Proc: p.over => {known}\n}}\n"
        "check c of A { n = 1  prove known }\n",
        encoding="utf-8",
    )
    assert_it_holds(path, statement)
