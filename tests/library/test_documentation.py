"""The examples of the pages on the language run as they say, and so do the rows of their tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.language.library import prelude
from checker.proving.dispatch_check import answer_check
from checker.resources import language_reference, specs
from checker.session.pipeline import Options, checks_in, run_check

DOCS = specs().parent / "docs"
GUIDE = (DOCS / "language.md").read_text(encoding="utf-8")
REFERENCE = [page.read_text(encoding="utf-8") for page in language_reference()]
PAGE = "\n".join([GUIDE, *REFERENCE])
FENCED = re.findall(r"^```bivalence\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

# What a fragment needs around it, by the word it starts with.
AROUND = {
    "upon condition": """
protocol P(sender: Proc) implements ReliableBroadcast {{
  message ECHO(m: Msg)
  state done = false
  upon request broadcast(m) {{ send ECHO(m) to all }}
{fragment}
}}
check c of P {{ n = 1  clients {{ p1 broadcasts a }}  expect no_duplication holds }}
""",
    "property": """
protocol P {{
  role participant(n) {{
    state vote : enum {{ working, committed, aborted }} = working
    upon condition vote == working {{ vote := committed }}
  }}
{fragment}
}}
check c of P {{ n = 2  expect {name} holds }}
""",
}

# One or more uses of each row of the page's tables that no fenced example has.
EVERYTHING = """
protocol Everything(k: Small = 2, leader: Proc, eager: bool) requires n > 2 * f {
  type Pair = (Proc, 0..k + 1)
  type Small = 1..3
  message M(x: 0..9, q: Proc)
  message HELLO
  shared state total : 0..9 = 0
  state number : Nat = 0
  state small : Nat max 5 = 1
  state mode : enum { idle, busy } = idle
  state start : 0..3 = 0
  init choose start in (0..3) when start > 1
  state second : 0..3 = 0
  init choose second when second == start
  state r : record { x: 0..9, y: bool } = record(x = 1, y = true)
  state o : option<0..9> = none
  state s : set<0..9> = {1, 2}
  state pairs : set<Pair> = {}
  state w : map<Proc, Nat> = 0
  state places : map<Proc, Nat> = { p -> rank(p) for p in Proc }
  state q : seq<0..9, max 6> = [1]
  state b : bag<0..9, max 6> = {| 1, 1 |}
  state asked = false

  upon init { number := 3  send HELLO to all }

  upon receive HELLO from p at leader when p == self {
    number += 1
    number -= 2
    small := 7 mod 3 + 7 div 3
    mode := if total < 1 then busy else idle
    r.x := 2
    o := some(get(some(4)))
    s += 5
    s -= 1
    s := (s union {6}) minus ({7} intersect (0..9))
    pairs += (self, k)
    w[self] += 1
    q := (q + 2) ++ [3]
    b += 4
    b -= 1
    b := b + 4
    for x in q when x > 1 { total += 1 }
    for (z, i) in pairs { require i == k }
    choose (who, level) in pairs when level == k and who == self and eager
    let (owner, (height, _)) = (who, (level, 0))
    require owner == who and height == level
    while some x in s when x > 5 { s -= x }
    choose T in subsets({1, 2}) when #T == 1
    either when #T == 1 { skip } or when #T == 2 { skip }
    let y = head(q) + last(q) + q[0] + #tail(q)
    asked := y == 7 and count(b, 4) == 2 and 1 in b and #b == 3 and is_some(o)
      and (forall i in (1..2), z in Proc: places[z] >= 0 and i > 0)
      and (exists x in s when x > 4: x not in {9})
      and min(s) == 2 and max(s) == 5 and s subset (0..9) and { x + 1 for x in s when x > 2 } == {6}
      and r == record(x = 2, y = true) and (T == {} => false)
    send M(1, self) to leader
    send HELLO to Proc minus {self}
  }

  property counted "All of it came out." :
    always forall p in Proc: p.mode == busy => p.asked and p.number == 2 and p.small == 3
  property chosen "Values chosen at the start." :
    always forall p in Proc: p.start > 1 and p.second == p.start
  property comes "The handler runs." : eventually exists p in Proc: p.mode == busy
  property follows "One thing leads to another." :
    forall p in Proc: p.mode == busy ~> p.asked
}

check all_of_it of Everything {
  n = 2
  k = 2
  leader = p2
  eager = true
  expect counted holds
  expect chosen holds
  expect comes holds
  expect follows holds
}
"""


def test_each_page_has_examples() -> None:
    without = [page.splitlines()[0] for page in (GUIDE, *REFERENCE) if "```bivalence\n" not in page]
    assert without == ["# Semantics"]
    assert {*language_reference()} == {*(DOCS / "language").glob("*.md")}


def test_the_guide_shows_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    (shown,) = re.findall(r"^```text\n(.*?)```$", GUIDE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "first.bcast"
    path.write_text(FENCED[0], encoding="utf-8")
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert all(any(line.startswith(each) for line in printed) for each in shown.splitlines())


@pytest.mark.parametrize("example", FENCED, ids=[t.split("\n", 1)[0][:40] for t in FENCED])
def test_fenced_examples(example: str, tmp_path: Path) -> None:
    if not example.startswith(("protocol", "interface", "const")):
        around = [text for start, text in AROUND.items() if example.startswith(start)]
        assert around, "say in AROUND what this fragment needs around it"
        example = around[0].format(fragment=example, name=example.split()[1])
    path = tmp_path / "example.bcast"
    path.write_text(example, encoding="utf-8")
    names = checks_in(str(path))
    assert names
    for name in names:
        assert answer_check(str(path), name, Options()).exit_code == 0


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_rows_of_the_tables(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "everything.bcast"
    path.write_text(EVERYTHING, encoding="utf-8")
    report = run_check(str(path), None, Options(engine=engine))
    assert {v.property: v.word.value for v in report.verdicts} == {
        "counted": "holds",
        "chosen": "holds",
        "comes": "holds",
        "follows": "holds",
    }
    assert report.exit_code == 0


def test_every_interface_and_object_of_the_tool_is_named() -> None:
    known = prelude()
    assert {
        name for name in (*known.interfaces, *known.objects) if f"`{name}`" not in PAGE
    } == set()
    sentence = PAGE[PAGE.index("The tool has `Register`") :].partition("\n\n")[0]
    assert {name for name in known.objects if f"`{name}`" not in sentence} == set()
