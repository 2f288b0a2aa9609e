"""What is said of the mistakes that newcomers make: one diagnostic for each, at the right place.

In the specs, what has to be underlined stands between « and ».
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load_text
from tests.instantiate.tables import run

PROTOCOL = """protocol P implements ReliableBroadcast {{
  message DATA(m: Msg)
  state seen : set<Msg> = {{}}
{items}
  upon request broadcast(m) {{ {request} }}
  upon receive DATA(m) from p {{ {receive} }}
}}
check one of P {{ n = 3  clients {{ p1 broadcasts a }}  {check} }}
"""


def spec(
    items: str = "",
    request: str = "send DATA(m) to all",
    receive: str = "deliver(p, m)",
    check: str = "prove agreement",
) -> str:
    return PROTOCOL.format(items=items, request=request, receive=receive, check=check)


@dataclass(frozen=True)
class Mistake:
    """``text`` with its marks; what is said of it, and the hint (or what was expected)."""

    text: str
    code: str
    message: str
    hint: str


def places(text: str) -> tuple[str, list[tuple[int, int, int]]]:
    """Returns ``text`` without marks, and the line and columns of what was between them."""
    found = []
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        while "«" in line:
            start = line.index("«")
            line = line.replace("«", "", 1)
            end = line.index("»")
            line = line.replace("»", "", 1)
            found.append((number, start + 1, end + 1))
        lines.append(line)
    return "\n".join(lines), found


def diagnostics(text: str, file: str = "a.bcast") -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        load_text(text, file)
    return caught.value.diagnostics


NO_RECEIVERS = "this `send` has no receiver"
TO = "`to` and a process, a set of processes or `all`"
STATEMENTS = "statements belong in handlers: `upon … { … }`"
TEXT = "there are no texts: declare labels, `enum { one, two }`, and write `one`"
CORRECT = (
    "`correct` is known to properties only; a handler keeps its own: "
    "`state correct : set<Proc> = Proc`"
)
COMPARED = "a value is assigned with `:=`, compared with `==`"


def word(name: str) -> tuple[str, str, str]:
    message = f"`{name}` is a reserved word"
    return "S006", message, f"use another name, such as `{name}_`"


MISTAKES = {
    # ---- syntax
    "on": Mistake(
        spec("  «on» receive DATA(m) { skip }"),
        "S001", "unexpected name `on`", "a handler begins with `upon`",
    ),
    "init alone": Mistake(
        spec("  init «{» seen := {} }"),
        "S001", "unexpected `{`", "a handler begins with `upon`: `upon init { … }`",
    ),
    "init with brackets": Mistake(
        spec("  upon init«(») { seen := {} }"),
        "S001", "unexpected `(`", "`upon init` has no arguments: leave out the parentheses",
    ),
    "a statement among declarations": Mistake(
        spec("  «seen» := {}"), "S001", "unexpected name `seen`", STATEMENTS,
    ),
    "send among declarations": Mistake(
        spec("  «send» DATA(m) to all"), "S001", "unexpected `send`", STATEMENTS,
    ),
    "= for ==": Mistake(
        spec(request="if seen «=» {} { skip }"), "S001", "unexpected `=`", COMPARED,
    ),
    "== for :=": Mistake(spec(request="seen «==» {}"), "S001", "unexpected `==`", COMPARED),
    "then": Mistake(
        spec(request="if m in seen «then» { skip }"),
        "S001", "unexpected `then`", "blocks use braces: leave `then` out",
    ),
    "a crash as an event": Mistake(
        spec("  upon crash «{» skip }"),
        "S001", "unexpected `{`", "crashes are declared in a check: `faults crash <= 1`",
    ),
    "a letter of another alphabet": Mistake(
        spec(receive="d«é»liver(p, m)"),
        "S002", "unexpected `é`",
        "names consist of the letters a to z and A to Z, digits and `_`",
    ),
    "curly quotes": Mistake(
        spec("  property x «“»said” : always true"),
        "S002", "unexpected `“`", 'strings are written in `"…"`',
    ),
    "behind a tab": Mistake(
        spec("\tupon init {\tseen «=» {} }"), "S001", "unexpected `=`", COMPARED,
    ),
    "an import without quotes": Mistake(
        "import «other».bcast\n",
        "S001", "unexpected name `other`", 'a file is named in quotes: `import "other.bcast"`',
    ),
    "a missing {": Mistake(
        "protocol P implements ReliableBroadcast\n  «message» DATA(m: Msg)\n}\n",
        "S001", "unexpected `message`", "`requires` or `{`",
    ),
    "a missing } of a handler": Mistake(
        spec("  upon condition seen != {} «{»\n    seen := {}\n\n  upon init { skip }"),
        "S003", "this `{` is never closed",
        "by the indentation, its `}` is missing after `seen := {}`",
    ),
    "a missing } of an if": Mistake(
        spec("  upon init {\n    if seen == {} «{»\n      skip // no more\n  }"),
        "S003", "this `{` is never closed",
        "by the indentation, its `}` is missing after `skip // no more`",
    ),
    "a missing } of a block in one line": Mistake(
        "protocol P {\n  state b = false\n  upon condition not b «{» b := true\n}\n",
        "S003", "this `{` is never closed",
        "by the indentation, its `}` is missing after `upon condition not b { b := true`",
    ),
    "a missing } of a protocol": Mistake(
        "protocol P «{»\n  state b = false\n\n\ncheck c of P { }\n",
        "S003", "this `{` is never closed",
        "by the indentation, its `}` is missing after `state b = false`",
    ),
    "send without to, at the end": Mistake(
        spec(request="«send DATA(m)»"), "S001", NO_RECEIVERS, TO,
    ),
    "send without to, before another": Mistake(
        spec(request="«send DATA(m)» // to whom?\n    send DATA(m) to all"),
        "S001", NO_RECEIVERS, TO,
    ),
    "send without to, before an assignment": Mistake(
        spec(request="«send DATA(m)»\n    seen += m"), "S001", NO_RECEIVERS, TO,
    ),
    "send all": Mistake(spec(request="«send DATA(m)» all"), "S001", NO_RECEIVERS, TO),
    "a fault without <=": Mistake(
        spec(check="faults crash «1»  prove agreement"),
        "S001", "unexpected number `1`", "the bound of a fault is written `crash <= 1`",
    ),
    "a fault with =": Mistake(
        spec(check="faults crash «=» 1  prove agreement"),
        "S001", "unexpected `=`", "the bound of a fault is written `crash <= 1`",
    ),
    "faults without a comma": Mistake(
        spec(check="faults crash <= 1 omission «<=» 1  prove agreement"),
        "S001", "unexpected `<=`",
        "faults are separated by commas: `faults crash <= 1, omission <= 1`",
    ),
    "links without a comma": Mistake(
        spec(check="links lossy «fifo»\n  faults crash <= 1  prove agreement"),
        "S001", "unexpected name `fifo`",
        "items are separated by commas: `lossy, fifo`",
    ),
    "properties without a comma": Mistake(
        spec(check="prove validity «agreement»"),
        "S001", "unexpected name `agreement`",
        "items are separated by commas: `validity, agreement`",
    ),
    "an initial value with :=": Mistake(
        spec("  state k : 0..2 «:=» 0"),
        "S001", "unexpected `:=`", "an initial value is written with `=`: `state v : T = e`",
    ),
    "an invariant without a name": Mistake(
        spec(check="invariant n «<» 5  prove agreement"),
        "S001", "unexpected `<`",
        "a name and `:` come before the formula: `invariant x : e`, `property x : e`",
    ),
    "a property without a colon": Mistake(
        spec("  property kept «always» 1 == 1"),
        "S001", "unexpected `always`",
        "a name and `:` come before the formula: `invariant x : e`, `property x : e`",
    ),
    "a property with ==": Mistake(
        spec("  property inv «==» always 1 == 1"),
        "S001", "unexpected `==`",
        "a name and `:` come before the formula: `invariant x : e`, `property x : e`",
    ),
    "a set of strings as a type": Mistake(
        spec("  state at : «{»\"idle\", \"busy\"} = idle"),
        "S001", "unexpected `{`", "a type of labels is written `enum { a, b }`",
    ),
    "a string": Mistake(
        spec(receive="if m == «\"one\"» { skip }"), "S001", 'unexpected `"one"`', TEXT,
    ),
    "a string in single quotes": Mistake(
        spec(receive="if m == «'»one' { skip }"), "S002", "unexpected `'`", TEXT,
    ),
    "a name of an alternative without as": Mistake(
        spec(request="either «yes» { skip } or { skip }"),
        "S001", "unexpected name `yes`", "an alternative is named by `as`: `either as yes { … }`",
    ),
    "a name of a second alternative without as": Mistake(
        spec(request="either { skip } or «no» { skip }"),
        "S001", "unexpected name `no`", "an alternative is named by `as`: `or as no { … }`",
    ),
    "an empty map": Mistake(
        spec("  state last : map<Proc, Msg> = «{}»"),
        "N003", "this is an empty set, not `map<Proc, Msg>`",
        "a map has a value for every key: `{ k -> e for k in Proc }`; if some keys have"
        " no value, its "
        "type is `map<Proc, option<Msg>>`",
    ),
    "state in a property of an interface": Mistake(
        "interface I {\n  request go()  indication gone()\n"
        "  property x : always forall p in Proc: «p.inside»\n}",
        "N002", "a process has no `inside`",
        "an interface has only requests and indications; a property that reads `state` belongs "
        "in the protocol",
    ),
    "a request without brackets": Mistake(
        "interface I { request go «indication» gone() }",
        "S001", "unexpected `indication`",
        "parentheses follow the name even if they are empty: `()`",
    ),
    "a client with brackets": Mistake(
        "check c of P { clients { p1 increments(«)»  p2 increments } }",
        "S001", "unexpected `)`",
        "a request without arguments is only a verb: `p1 increments`",
    ),
    # ---- words of the language as names, also where they are used afterwards
    "a parameter": Mistake("protocol P(«role»: Nat) { state r = role }", *word("role")),
    "a field": Mistake("protocol P { message M(x: Msg, «if»: Proc) }", *word("if")),
    "a message": Mistake(
        "protocol P { message «when» upon init { send when to all } upon receive when { } }",
        *word("when"),
    ),
    "a type": Mistake("protocol P { type «state» = 0..3 state s : state = 0 }", *word("state")),
    "a name of let": Mistake(
        spec(request="let «in» = m  seen += in  if in == m { skip }"), *word("in")
    ),
    "a part of a pattern": Mistake(
        spec(request="let (x, «none») = (m, m)  seen += none"), *word("none")
    ),
    "a chosen name": Mistake(
        spec(request="choose «or» in Proc  send DATA(m) to or"), *word("or")
    ),
    "a record": Mistake(spec("  message «record»(x: Nat)"), *word("record")),
    "a protocol": Mistake("protocol «protocol» { }\ncheck c of protocol { }", *word("protocol")),
    "a check": Mistake("protocol P { }\ncheck «mod» of P { }", *word("mod")),
    # ---- names and types
    "an undeclared variable": Mistake(
        "protocol P { upon init { «count» := 1 } }",
        "N002", "there is no state variable `count`", "declare it: `state count : T = …`",
    ),
    "correct processes, in a handler": Mistake(
        spec(request="for q in «correct» { skip }"),
        "N002", "nothing is called `correct`", CORRECT,
    ),
    "a correct process, in a handler": Mistake(
        spec(receive="if «correct(p)» { skip }"),
        "N018", "`correct(…)` is allowed only in properties", CORRECT,
    ),
    "a name that only a condition binds": Mistake(
        spec("  state todo : set<(Proc, Msg)> = {}\n"
             "  upon condition exists (s, x) in todo: x in seen { deliver(«s», x) }"),
        "N002", "nothing is called `s`",
        "`s` is bound inside the condition only: repeat it as `choose (s, x) in todo when …`",
    ),
    "a name that only a guard binds": Mistake(
        spec("  message GO  upon receive GO when seen != {} and (exists x in seen: true)"
             " { deliver(self, «x») }"),
        "N002", "nothing is called `x`",
        "`x` is bound inside the condition only: repeat it as `choose x in seen when …`",
    ),
    "a name that only an if binds": Mistake(
        spec(receive="if exists x, y in Proc minus {self}: x != y { deliver(«x», m) }"),
        "N002", "nothing is called `x`",
        "`x` is bound inside the condition only: repeat it as `choose x in … when …`",
    ),
    "an unknown receiver": Mistake(
        spec("  state leader : Proc = self  state peers : set<Proc> = {}",
             receive="send DATA(m) to «kafka»"),
        "N002", "nothing is called `kafka`",
        "there is `Proc`, `all`, `leader`, `p`, `peers`, `self`",
    ),
    "a misspelt receiver": Mistake(
        spec("  state leader : Proc = self", receive="send DATA(m) to «leadr»"),
        "N002", "nothing is called `leadr`", "did you mean `leader`?",
    ),
    "an unknown receiver, with roles": Mistake(
        "protocol P {\n  message GO\n  role broker(1) { upon receive GO { skip } }\n"
        "  role client(1) { upon init { send GO to «kafka» } }\n}\n",
        "N002", "nothing is called `kafka`",
        "there is `all`, `broker`, `client`, `self`",
    ),
    "a history of another interface": Mistake(
        spec("  property x : always forall p in Proc: «decided(p)» == []"),
        "N002", "no function or message `decided`",
        "the histories of `ReliableBroadcast` are `broadcast(p)` and `delivered(p)`",
    ),
    "f as a parameter": Mistake(
        "protocol P(«f»: Nat) { }",
        "N004", "`f` is already the maximum number of faulty processes",
        "leave it out: every protocol has the parameters `n` and `f`",
    ),
    "f as a variable": Mistake(
        "protocol P { state «f» = false  upon condition not f { f := true } }",
        "N004", "`f` is already the maximum number of faulty processes",
        "every protocol has the parameters `n` and `f`; choose another name",
    ),
    "f received": Mistake(
        spec("  message MORE(m: Msg)  upon receive MORE(«f») { seen += f }"),
        "N003", "`f` is the maximum number of faulty processes, not `Msg`",
        "every protocol has the parameters `n` and `f`; choose another name for what is received",
    ),
    "a misspelt interface": Mistake(
        spec().replace(" ReliableBroadcast", " «RelyableBroadcast»"),
        "N013", "no interface `RelyableBroadcast`", "did you mean `ReliableBroadcast`?",
    ),
    "a property with an error, asked for": Mistake(
        spec("  property x : always «y»", check="prove x, agreement  expect x holds"),
        "N002", "nothing is called `y`", "",
    ),
    "a request that takes an argument": Mistake(
        spec().replace("broadcasts a", "«broadcasts»"),
        "N006", "`broadcast` takes 1 argument", "`p1 broadcasts m`",
    ),
    "a part of a seq, assigned": Mistake(
        spec("  state log : seq<Msg> = []", receive="«log[0..1]» := log"),
        "N009", "a part of a seq can't be assigned",
        "assign one entry, or the whole sequence: `q := take(q, k) ++ r`",
    ),
    "a slice of a set": Mistake(
        spec(receive="seen := «seen»[0..1]"),
        "N007", "`set<Msg>` can't be indexed", "a map or a seq",
    ),
    "a slice up to no number": Mistake(
        spec("  state log : seq<Msg> = []", receive="log := log[0..«m»]"),
        "N003", "this is `Msg`, not a number", "a number",
    ),
    "a seq out of what has no order": Mistake(
        spec("  state log : seq<Msg> = []", receive="log := [x for x in «seen»]"),
        "N007", "the members of `set<Msg>` are unordered, and a seq needs an order",
        "iterate over a seq or a set of numbers, or build a set: `{ … for … }`",
    ),
    "a seq out of two": Mistake(
        spec("  state log : seq<Msg> = []", receive="log := [x for x in log, «y in log»]"),
        "N024", "a seq is built from one collection, in its order",
        "bind one name, or build a set: `{ … for x in S, y in T }`",
    ),
    "too little taken": Mistake(
        spec("  state log : seq<Msg> = []", receive="log := «take(log)»"),
        "N006", "`take` takes 2 arguments, not 1", "",
    ),
    "what a set begins with": Mistake(
        spec(receive="seen := take(«seen», 1)"),
        "N003", "`take` takes a seq, and this is `set<Msg>`", "a seq",
    ),
    "where in a set": Mistake(
        spec("  state k = 0", receive="k := index(«seen», m)"),
        "N003", "`index` takes a seq, and this is `set<Msg>`", "a seq",
    ),
    "a sum of what is no number": Mistake(
        spec("  state k = 0", receive="k := sum(«x» for x in seen)"),
        "N003", "this is `Msg`, not a number", "a number",
    ),
    "a function that goes over nothing": Mistake(
        spec("  state k = 0", receive="k := «count(x for x in seen)»"),
        "N002", "`count` doesn't take `for`",
        "use `sum`, `min` or `max`, or build a set: `{ … for … }`",
    ),
    "a prefix of a set": Mistake(
        spec(receive="require «seen» prefix seen"),
        "N003", "this is `set<Msg>`, not a seq", "a seq",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_one_diagnostic_at_its_place(name: str) -> None:
    mistake = MISTAKES[name]
    text, marked = places(mistake.text)
    (found,) = diagnostics(text)
    assert found.span is not None
    assert [(found.span.line, found.span.column, found.span.end_column)] == marked
    assert (found.code, found.message) == (mistake.code, mistake.message)
    assert not mistake.hint or mistake.hint in (found.hint, found.expected)


# ---- where several are wrong -------------------------------------------------------------------


def test_each_word_of_the_language_is_told_where_it_is_declared() -> None:
    text, marked = places(
        "protocol P(«role»: Nat, «when»: Proc) {\n  state «upon» = role\n"
        "  upon init at when { upon := role }\n}\ncheck c of P { role = 1  when = p1 }"
    )
    found = [d.span for d in diagnostics(text) if d.span]
    assert [(span.line, span.column, span.end_column) for span in found] == marked


def test_a_word_in_the_next_line_is_none_that_was_meant_as_a_name() -> None:
    (found,) = diagnostics("protocol P {\n  state\n  upon init { skip }\n}")
    assert (found.code, found.message) == ("S001", "unexpected `upon`")


def test_braces_that_are_even_are_not_judged_by_their_indentation() -> None:
    load_text("protocol P {\nstate s = 0\n upon init {\n      if s == 0 {\ns := 1\n}\n  }\n }", "a")


# ---- what another file has ---------------------------------------------------------------------


def test_what_the_library_has_is_to_be_imported(tmp_path: Path) -> None:
    text, marked = places("check c of «EagerReliableBroadcast» { n = 2 }")
    path = tmp_path / "a.bcast"
    (found,) = diagnostics(text, str(path))
    assert found.span and (found.span.line, found.span.column, found.span.end_column) == marked[0]
    before, quoted, _ = found.hint.split('"')
    assert before == "another file declares it: add `import "
    assert quoted.endswith("specs/broadcast/eager_reliable.bcast")
    (made,) = load_text(f'import "{quoted}"\n{text}', str(path)).checks
    assert made.protocol.name == "EagerReliableBroadcast"


def test_what_a_file_beside_it_has_is_to_be_imported(tmp_path: Path) -> None:
    (tmp_path / "locks.bcast").write_text("interface Lock { request go() }", encoding="utf-8")
    file = str(tmp_path / "a.bcast")
    for text in ("protocol P implements «Lock» { }", "protocol P { uses l : «Lock» }"):
        whole, marked = places(text)
        (found,) = diagnostics(whole, file)
        assert found.span and found.span.column == marked[0][1]
        assert found.hint == 'another file declares it: add `import "locks.bcast"`'


def test_what_no_file_has_is_spelt_otherwise(tmp_path: Path) -> None:
    (found,) = diagnostics("protocol P { uses b : BestBroadcast }", str(tmp_path / "a.bcast"))
    assert found.hint == "did you mean `BasicBroadcast`?"


# ---- what is seen when sizes are known ----------------------------------------------------------


def test_a_client_that_is_no_process(tmp_path: Path) -> None:
    text, marked = places(spec().replace("p1 broadcasts a", "p1 broadcasts a  «p4» broadcasts b"))
    with pytest.raises(SpecError) as caught:
        run(tmp_path, text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E003", "there is no process `p4`")
    assert found.hint == "processes: p1, p2, p3" and found.span is not None
    assert (found.span.column, found.span.end_column) == marked[0][1:]
