"""Formatting: tokens, comments and meaning stay, once is enough, and the library is formatted."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from lark import Tree

from checker import resources
from checker.diagnostics import SpecError
from checker.language.formatting.layout import format_text
from checker.language.parser.parse import parse, parser
from checker.language.parser.tokens import comments, lexemes
from tests.agreement.specs import random_spec
from tests.fuzz.specs import mutant

LIBRARY = sorted(resources.specs().rglob("*.bcast"))


def words(text: str) -> list[str]:
    """The tokens and comments of a text, inner blanks aside, in their order."""
    tokens = lexemes(text, "a")
    found = [(t.start, " ".join(t.text.split())) for t in tokens] + [*comments(text, tokens)]
    return [word for _, word in sorted(found)]


def shape(text: str) -> object:
    """The parser's tree of a text without places."""

    def without(node: object) -> object:
        if isinstance(node, Tree):
            return node.data, [without(child) for child in node.children]
        return node and " ".join(str(node).split())

    return without(parser().parse(text))


def scrambled(text: str, rng: random.Random) -> str:
    """The same tokens with other blanks between those on one line, and none or more lines."""
    tokens = lexemes(text, "a")
    out, position = [], 0
    for token in tokens:
        between = text[position : token.start]
        if "\n" in between or "//" in between:
            between = re.sub(r"\n{2,}", lambda found: "\n" * rng.randint(2, 4), between)
        elif between:
            between = rng.choice([" ", "  ", "\t", "    "])
        out += [between, text[token.start : token.end]]
        position = token.end
    return "".join(out) + text[position:] + "\n" * rng.randint(0, 3)


def without_columns(text: str) -> str:
    """The text without the blanks before its comments, whose columns depend on the original."""
    return re.sub(" *//", "//", text)


def require_faithful(text: str) -> str:
    once = format_text(text, "a")
    assert format_text(once, "a") == once
    assert words(once) == words(text)
    assert shape(once) == shape(text)
    assert not re.search(r"[ \t]$", once, re.MULTILINE)
    return once


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_the_library_is_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_text(text, path.name) == text
    again = format_text(scrambled(text, random.Random(path.stem)), path.name)
    assert without_columns(again) == without_columns(text)


@pytest.mark.parametrize("seed", range(12))
def test_random_specs(seed: int) -> None:
    require_faithful(random_spec(seed))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(5))
def test_many_specs(shard: int) -> None:
    """Random specs, scrambled ones of the library, and mutants of it where they can be parsed."""
    rng = random.Random(shard)
    for _ in range(12):
        require_faithful(random_spec(rng.randrange(10**6)))
        require_faithful(scrambled(rng.choice(LIBRARY).read_text(encoding="utf-8"), rng))
        text = mutant(rng)
        try:
            parse(text, "a")
        except SpecError:
            with pytest.raises(SpecError):
                format_text(text, "a")
        else:
            require_faithful(text)


MESSY = """\
// about   this file


protocol   P ( k :Nat=2 )   implements  Q
{
      state x:set< Proc >={ }    // the first
      message M( a :Proc,b:Msg )   // the second
    state longer_than_that : map<Proc,Nat max 3>=0 // the third
                                                   // and more of it
  upon receive M(a,b) from p when a==p
  and   b in{ b } { x+=a   skip }


  upon init {

    if x=={}  { send M( self,a )to all }
    else{ x-=self
      // a comment at the end
    }
  }
}
check c of P {n=3 faults crash<=1,omission<=1
 at most 1 a,2   b  per process
 fair a,b   strongly   fair  c
  clients{ p1 asks (p2,a)  p2 asks b,c }
  }
"""
NEAT = """\
// about   this file

protocol P(k: Nat = 2) implements Q {
  state x : set<Proc> = {}       // the first
  message M(a: Proc, b: Msg)       // the second
  state longer_than_that : map<Proc, Nat max 3> = 0  // the third
                                                     // and more of it
  upon receive M(a, b) from p when a == p
    and b in {b} { x += a  skip }

  upon init {
    if x == {} { send M(self, a) to all }
    else {
      x -= self
      // a comment at the end
    }
  }
}
check c of P {
  n = 3  faults crash <= 1, omission <= 1
  at most 1 a, 2 b per process
  fair a, b  strongly fair c
  clients { p1 asks (p2, a)  p2 asks b, c }
}
"""


def test_a_messy_file() -> None:
    assert format_text(MESSY, "a") == NEAT


@pytest.mark.parametrize("text", ["", "\n\n", "// only this", "\ufeff// a\r\n\r\n\r\n// b\r\n"])
def test_files_without_items(text: str) -> None:
    once = require_faithful(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    assert format_text(text, "a") == once
    assert not once or (once[0] != "\n" and once[-1] == "\n")


def test_holes() -> None:
    text = "protocol P {\n  upon condition x??( n-1 ) when x<?? { y := ?? (1,  n) }\n}\n"
    wanted = "protocol P {\n  upon condition x ?? (n - 1) when x < ?? { y := ??(1, n) }\n}\n"
    assert format_text(text, "a") == wanted == format_text(wanted, "a")


def test_what_cannot_be_parsed_is_refused_with_all_its_errors() -> None:
    with pytest.raises(SpecError) as refused:
        format_text("protocol P { state }\nprotocol Q { upon }\n", "a")
    assert len(refused.value.diagnostics) == 2


def test_a_step_of_a_scenario_keeps_its_words() -> None:
    step = " p1   receives  M(1,2) from p2   \n"
    text = f"check c of P {{\n  n = 2\n scenario s {{\n{step}  then   a   holds }} }}\n"
    assert "    p1   receives  M(1,2) from p2\n    then a holds\n  }\n" in require_faithful(text)
