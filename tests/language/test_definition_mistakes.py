"""What is said of mistakes in constants, definitions, procedures and `var`.

In the specs, what has to be underlined stands between « and ».
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load_text
from tests.language.test_common_mistakes import places

PROTOCOL = """{top}
protocol P(k: Nat) {{
  message GO(m: Nat)
  state log : seq<Nat, max 3> = []
  state term : 0..2 = 0
{items}
  upon receive GO(x) from p {{ {body} }}
}}
"""

MISTAKES = [
    # constants
    ("", "const LIMIT = «term» + 1", "skip", "N023"),
    ("", "const here = «self»", "skip", "N021"),
    ("const K = 2", "state «K» : 0..2 = 0", "skip", "N004"),
    ("const K = 2\nconst «K» = 3", "", "skip", "N004"),
    ("const K = 2", "", "let «K» = 3", "N004"),
    ("const K = 2", "", "«K» := 3", "N009"),
    ("const K : bool = «2»", "", "skip", "N003"),
    ("const «A» = B + 1\nconst B = A", "", "skip", "N015"),
    ("const «A» = A", "", "skip", "N015"),
    ("type «A» = set<B>\ntype B = record { A: Nat, b: A }", "", "skip", "N015"),
    ("", "const «c» = d\n  const d = #e\n  const e = {c}", "skip", "N015"),
    # definitions
    ("", "define d(x: Nat): bool = «x + 1»", "skip", "N003"),
    ("", "define «head»(x: Nat): Nat = x", "skip", "N004"),
    ("", "define «GO»(x: Nat): Nat = x", "skip", "N004"),
    ("", "define d(«term»: Nat): Nat = term", "skip", "N004"),
    ("", "define d(a: Nat, «a»: Nat): Nat = a", "skip", "N004"),
    ("", "define d(a: «Term»): Nat = 1", "skip", "N011"),
    ("", "define d(): Nat = «trem»", "skip", "N002"),
    ("define d(): Nat = «term»", "", "skip", "N002"),
    ("", "define d(a: Nat): Nat = a", "term := «d()»", "N006"),
    ("", "define d(a: Nat): Nat = a", "term := d(«log»)", "N003"),
    ("", "define d(a: Nat): Nat = a", "log := «d(1)»", "N003"),
    ("", "define mine(): Nat = term", "term := «mien()»", "N002"),
    ("", "define mine(): Nat = term\n  state u : 0..2 = «mine()»", "skip", "N023"),
    ("", "define mine(): Nat = term\n  const c = «mine()»", "skip", "N002"),
    ("", "define mine(): Nat = term\n  property r : always «mine()» == 0", "skip", "N010"),
    (
        "",
        "define all_at(t: Nat): bool = forall p in Proc: p.term == t",
        "require «all_at(1)»",
        "N010",
    ),
    ("", "define d(t: Nat): bool = t == 0", "let «d» = 1", "N004"),
    ("", "define d(t: Nat): bool = t == 0", "«d»(1)", "N022"),
    (
        "",
        "define d(q: Proc): bool = crashed(q)\n  property r : always forall q in Proc: «q.d(q)»",
        "skip",
        "N010",
    ),
    # procedures
    ("", "procedure go(t) { «tern» := t }", "go(x)", "N002"),
    ("", "procedure go(t) { term := t }", "«go()»", "N006"),
    ("", "procedure go(t: Nat) { term := t }", "go(«log»)", "N003"),
    ("", "procedure go(t) { term := «x» }", "go(x)", "N002"),
    ("", "procedure go(«term») { skip }", "go(x)", "N004"),
    ("", "procedure go(t, «t») { skip }", "go(x, x)", "N004"),
    ("", "procedure go(t) { «yield» }", "go(x)", "N028"),
    ("", "procedure go(t) { «await» }", "go(x)", "N028"),
    ("", "procedure go(t) { term := t }", "await «go(x)»", "N028"),
    ("", "procedure a() { b() }\n  procedure b() { «a»() }", "a()", "N033"),
    ("", "procedure «GO»() { skip }", "skip", "N004"),
    ("", "procedure go() { «trem» := 1 }", "skip", "N002"),
    # var
    ("", "", "var «term» = 1", "N004"),
    ("", "", "var y = 1  var «y» = 2", "N004"),
    ("", "", "var «y» = -1", "N005"),
    ("", "", "var y = «{}»", "N005"),
    ("", "", "var y : bool = «1»", "N003"),
    ("", "", "var y = 1  y := «true»", "N003"),
    ("", "", "if true { var y = 1 }  «y» := 2", "N002"),
    ("", "", "let y = 1  «y» := 2", "N009"),
]


@pytest.mark.parametrize(("top", "items", "body", "code"), MISTAKES)
def test_what_is_said(top: str, items: str, body: str, code: str) -> None:
    text, marked = places(PROTOCOL.format(top=top, items=f"  {items}", body=body))
    with pytest.raises(SpecError) as caught:
        load_text(text, "a.bcast")
    found = caught.value.diagnostics
    spans = [each.span for each in found if each.span is not None]
    assert [(each.code, s.line, s.column) for each, s in zip(found, spans, strict=True)] == [
        (code, line, column) for line, column, _ in marked
    ]
    assert [s.end_column for s in spans] == [end for _, _, end in marked]


def test_a_name_of_the_file_is_not_hidden_by_an_import(tmp_path: Path) -> None:
    (tmp_path / "a.bcast").write_text("const LIMIT = 2", encoding="utf-8")
    text = 'import "a.bcast"\nconst LIMIT = 3\nprotocol P { }'
    with pytest.raises(SpecError) as caught:
        load_text(text, tmp_path / "b.bcast")
    (found,) = caught.value.diagnostics
    assert found.code == "N004" and found.span is not None and found.span.line == 2


@pytest.mark.parametrize("word", ["const", "define", "procedure", "var"])
def test_the_words_may_be_names(word: str) -> None:
    text = f"protocol P {{ message {word}\n upon receive {word} {{ let {word}' = 1 }} }}"
    load_text(text, "a.bcast")


def test_definitions_stand_in_roles_too() -> None:
    text = """protocol P {
      role server(1) {
        state log : seq<Nat, max 2> = []
        define newest(): Nat = if log == [] then 0 else last(log)
        procedure add(k) { log := log + k }
        upon condition newest() < 1 { add(1) }
      }
      role client(1) { state x = 0 }
      define small(k: Nat): bool = k < 3
      property fine : always forall p in server: small(p.newest())
      property also : always forall p in client: p.«newest»() == 0
    }"""
    load_text(text.replace("property also : always forall p in client: p.«newest»() == 0", ""), "a")
    text, _ = places(text)
    with pytest.raises(SpecError):
        load_text(text, "a.bcast")


def test_constants_and_types_stand_in_any_order() -> None:
    """A label stands behind what it is a value of; a field may be called as a type is."""
    top = "const K = red\nconst A = B + 1\ntype R = record { S: C, t: S }\ntype S = 0..A\n"
    top += "const B = 1\ntype C = enum { red, green }"
    load_text(PROTOCOL.format(top=top, items="  state r : C = K", body="skip"), "spec.bcast")


@pytest.mark.parametrize(
    ("items", "body"),
    [
        ("procedure «count»() { term := 1 }", "count()"),
        ("define «count»(): Nat = 1", "term := count()"),
        ("define d(): Nat = 1\n  state «d» : 0..2 = 0", "d := d + 1"),
    ],
)
def test_a_name_that_is_refused_is_reported_once(items: str, body: str) -> None:
    marked = PROTOCOL.format(top="", items=items, body=body)
    text, wanted = places(marked)
    with pytest.raises(SpecError) as raised:
        load_text(text, "spec.bcast")
    found = [(d.code, d.span.line, d.span.column) for d in raised.value.diagnostics if d.span]
    assert found == [("N004", *wanted[0][:2])]
