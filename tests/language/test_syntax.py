"""Text that is no spec: every error is found and none is a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lark import Lark

import checker.language.parser.parse as parsing
from checker import diagnostics, resources
from checker.diagnostics import Diagnostic, SpecError
from checker.language.parser import cache, tables
from checker.language.parser.parse import parse
from checker.language.parser.recover import LIMIT, word_before
from checker.language.syntax import ast, ast_items, plain


def wrong(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        parse(text, "a.bcast")
    found = caught.value.diagnostics
    assert found
    places = [(d.span.line, d.span.column) for d in found if d.span]
    assert len(places) == len(found)
    assert places == sorted(places)
    return found


def places(text: str) -> list[tuple[str, int, int]]:
    return [(d.code, d.span.line, d.span.column) for d in wrong(text) if d.span]


def test_a_misspelt_word_is_told_once() -> None:
    text = "check c of P { n = 2 fault crash <= 1 clients { p1 broadcasts a } prove x }"
    (only,) = wrong(text)
    assert only.hint == "did you mean `faults` where it says `fault`?"


def test_an_empty_file_is_a_spec() -> None:
    for text in ("", "\n", "// nothing\n", "\ufeff", "\t \r\n"):
        assert parse(text, "a").items == ()


def test_declarations_in_order_with_their_places() -> None:
    text = 'import "b.bcast"\ninterface I { request go(m: Msg) }\n'
    text += "protocol P { }\ncheck c of P { n = 3 }"
    items = parse(text, "a").items
    assert [type(i).__name__ for i in items] == ["Import", "Interface", "Protocol", "Check"]
    assert [i.span.line for i in items] == [1, 2, 3, 4]
    assert isinstance(items[0], ast_items.Import) and items[0].path == "b.bcast"


def test_statements_need_no_separators() -> None:
    text = (
        "protocol P { upon receive M { send A to all send B to all r skip "
        "send C to q x := 1 deliver(x) a.go(y) } }"
    )
    (protocol,) = parse(text, "a").items
    assert isinstance(protocol, ast_items.Protocol)
    (handler,) = protocol.items
    assert isinstance(handler, ast_items.Handler)
    kinds = [type(s).__name__ for s in handler.body]
    assert kinds == ["Send", "Send", "Skip", "Send", "Assign", "Call", "Call"]
    second = handler.body[1]
    assert isinstance(second, ast.Send) and isinstance(second.receivers, ast.Name)
    assert (second.receivers.text, second.receivers.span.column) == ("r", 59)


def test_all_errors_of_a_file_are_found() -> None:
    text = """protocol P {
  state x = ;
  state ok = false
  upon receive M { x = 3 }
  upon condition x > { skip }
  upon receive N { skip }
}
check c of P { n = }
check d of { n = 3 }
"""
    assert [p[1] for p in places(text)] == [2, 4, 5, 8, 9]


def test_what_could_stand_there_is_told_in_words() -> None:
    (found,) = wrong("protocol P { state x = upon init { skip } }")
    assert "TRUE" not in found.expected and "__" not in found.expected
    (found,) = wrong("protocol P { upon init { done = true } }")
    assert "`:=`" in found.expected
    assert ":=" in found.hint
    (found,) = wrong("protocol { }")
    assert found.expected == "a name"
    (found,) = wrong("protocol P { upon init { when } }")
    assert found.expected == "a statement or `}`"


def test_not_more_than_twenty() -> None:
    text = "\n".join(f"protocol P{i} {{ state }}" for i in range(50))
    assert len(wrong(text)) == LIMIT


def test_a_missing_brace_does_not_swallow_the_rest() -> None:
    text = "protocol P {\n  upon init { skip\n}\n\nprotocol Q {\n  state = 1\n}\n"
    assert [(c, line) for c, line, _ in places(text)] == [("S003", 2), ("S001", 6)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("protocol P { state x = (1 }", "S003"),
        ("protocol P } ", "S003"),
        ('protocol P { property p "abc\n : x }', "S003"),
        ("protocol P { state x = [1) }", "S003"),
        ("protocol P { state x = 1 // never closed", "S003"),
        ("{" * 5000, "S004"),
        ("(" * 100_000, "S004"),
        ("protocol P { state x = " + "(" * 150 + "1" + " + 1)" * 150 + "}", "S004"),
        ("protocol P { state x = " + "not " * 3000 + "true }", "S004"),
        ("protocol P { state x = " + "1 + " * 3000 + "1 }", "S004"),
        ("protocol P { state x = " + "-" * 3000 + "1 }", "S004"),
        ("protocol P { state x : " + "set<" * 3000 + "bool" + ">" * 3000 + " }", "S004"),
        ("protocol P { upon init { " + "if a { " * 90 + "} " * 90 + "} }", "S004"),
        ("protocol P { upon init { x" + ".y" * 500 + " := 1 } }", "S004"),
        ("protocol P { upon init { if a {} " + "else if b {} " * 500 + "} }", "S004"),
        ("protocol P { state x = 99999999999999999999 }", "S005"),
        ("protocol P { state x = " + "9" * 100_000 + " }", "S005"),
        ("check c of P { expect states 99999999999 }", "S005"),
        ("\0", "S002"),
        ("protocol P\0 { }", "S002"),
        ("protocol P { state x = 'a' }", "S002"),
        ("protocol \u2200 { }", "S007"),
        ("protocol P { state x = \ud800 }", "S002"),
        ("protocol P { state é = 1 }", "S002"),
        ("hello", "S001"),
        ("protocol", "S001"),
        ("protocol P { state", "S003"),
        ("check c of P { crash points }", "S001"),
    ],
)
def test_odd_texts(text: str, code: str) -> None:
    assert code in {d.code for d in wrong(text)}


def test_long_but_flat_formulas_are_fine() -> None:
    chain = " and ".join(["a == b"] * 3000)
    parse(f"protocol P {{ property p: always {chain} }}", "a")


def test_line_ends_and_tabs_do_not_move_places() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"protocol P {{{end}\tstate x = ;{end}}}{end}"
        assert places(text) == [("S002", 2, 12)]


def test_labels_are_one_line_without_comments() -> None:
    text = "protocol P { upon receive M(a, // first\n    b) from p when a { skip } }"
    (protocol,) = parse(text, "a").items
    assert isinstance(protocol, ast_items.Protocol)
    (handler,) = protocol.items
    assert isinstance(handler, ast_items.Handler)
    assert handler.label == "upon receive M(a, b) from p"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the grammar without tables beside it, and an empty cache folder."""
    copy = tmp_path / "grammar" / "bivalence.lark"
    copy.parent.mkdir()
    copy.write_bytes(resources.grammar().read_bytes())
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(resources, "grammar", lambda: copy)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parsing.parser.cache_clear()
    return copy


def test_without_a_writable_cache_parsing_works(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert parse("protocol P { }", "a").items


def test_a_damaged_cache_is_replaced(alone: Path, tmp_path: Path) -> None:
    parse("protocol P { }", "a")
    (file,) = (tmp_path / "cache/bivalence").iterdir()
    for content in (b"", b"nonsense", file.read_bytes()[:100]):
        file.write_bytes(content)
        parsing.parser.cache_clear()
        assert parse("protocol P { }", "a").items


def test_tables_beside_the_grammar_are_used(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = alone.read_text("utf-8")
    computed = tables.compute(grammar)
    monkeypatch.setattr(tables, "compute", lambda grammar: computed)
    beside = alone.with_name(f"tables-{tables.key(grammar)}.marshal")
    text = (resources.specs() / "broadcast/eager_reliable.bcast").read_text("utf-8")
    for content, is_used in ((tables.dump(computed), True), (b"nonsense", False)):
        beside.write_bytes(content)
        parsing.parser.cache_clear()
        assert (parsing.parser() is computed) is not is_used
        assert parsing.parser().parse(text) == computed.parse(text)


def test_tables_of_another_grammar_are_not_used(alone: Path) -> None:
    grammar = alone.read_text("utf-8")
    other = tables.dump(tables.compute('start: "other"'))
    alone.with_name(f"tables-{tables.key(grammar)}.marshal").write_bytes(other)
    alone.write_text(f"{grammar}\n// changed\n", "utf-8")
    assert parse("protocol P { }", "a").items


def test_where_the_tree_is_cached_no_parser_is_loaded(tmp_path: Path) -> None:
    code = "import sys; from checker.language.load import load; load(sys.argv[1])"
    code += "; print('lark' in sys.modules)"
    spec = resources.specs() / "oracles" / "ping_pong.bcast"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code, str(spec)]
    texts = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    assert texts == ["True\n", "False\n"]


def test_a_cached_tree_is_of_the_same_parser() -> None:
    """Every source that determines the tree of a text is in the digest under which it is kept."""
    needed = {resources.grammar(), *Path(parsing.__file__).parent.glob("*.py")}
    needed |= {Path(str(module.__file__)) for module in (ast, ast_items, plain, diagnostics)}
    assert needed <= set(cache.sources())


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("chek c of P { n = 2 }", "did you mean `check`?"),
        ("protocol P { sate x = 0 }", "did you mean `state`?"),
        (
            "protocol P { message A  upon recieve A from p { skip } }",
            "did you mean `receive` where it says `recieve`?",
        ),
        (
            "protocol P { state x = 0  upon condition x < n/2 { skip } }",
            "integer division is written `a div b`",
        ),
    ],
)
def test_a_misspelt_keyword_is_guessed(text: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse(text, "spec.bcast")
    assert refused.value.diagnostics[0].hint == hint


def test_reading_on_after_an_error_takes_no_longer_with_more_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each item is read alone, so that the work is as much as the text is long."""
    read: list[int] = []

    class Counting:
        def __init__(self, parser: Lark) -> None:
            self._parser = parser

        def parse(self, text: str) -> Any:
            read.append(len(text))
            return self._parser.parse(text)

    counting = Counting(parsing.parser())
    monkeypatch.setattr(parsing, "parser", lambda: counting)
    good = "protocol P {\n  state x = 1\n} "
    text = f"{good * 100}protocol Q {{ state x := 1 }} {good * 99}\n"
    assert places(text) == [("S001", 201, 25)]
    assert len(read) > 200
    assert sum(read) < 3 * len(text)


@pytest.mark.parametrize(
    ("before", "at", "word"),
    [
        ("a" * 100_000, 0, "a" * 100_000),
        ("b" + " " * 100_000, 0, "b"),
        ("9" * 100_000 + "_", 100_000, "_"),
    ],
    ids=["long", "far", "number"],
)
def test_a_long_word_before_an_error(before: str, at: int, word: str) -> None:
    assert word_before(f"{before}?", len(before)) == (at, word)


def test_what_stands_before_an_error() -> None:
    assert word_before("upom x", 6) == (5, "x")
    assert word_before("a ) ?", 4) == (4, "")
    assert word_before("?", 0) == (0, "")
