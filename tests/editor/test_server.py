"""The language server over stdio: diagnostics, names, fixes, formatting, runs, editing sessions."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from checker import resources
from checker.diagnostics import SpecError
from checker.language.load import load_text
from tests.editor.client import Editor
from tests.selection import first_by_default

SPEC = """\
protocol Flood implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  state seen : set<(Proc, Msg)> = {}       // with the sender

  upon request broadcast(m) { beb.broadcast(DATA(self, m)) }

  upon beb.deliver(p, DATA(s, m)) when (s, m) not in seen {
    seen += (s, m)
    deliver(s, m)
    beb.broadcast(DATA(s, m))
  }
}

check crash_one of Flood {
  n = 3
  faults crash <= 1
  clients { p1 broadcasts a }
  prove agreement
  expect uniform_agreement violated
}
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    session = Editor(tmp_path_factory.mktemp("specs"))
    yield session
    session.end()


@pytest.fixture
def spec(editor: Editor) -> Iterator[str]:
    (editor.folder / "a.bcast").write_text(SPEC, encoding="utf-8")
    assert editor.open("a.bcast", SPEC) == []
    yield "a.bcast"
    editor.close("a.bcast")
    assert editor.errors == []


def at(text: str, word: str, number: int = 0) -> lsp.Position:
    """Where the occurrence of ``word`` with this number begins."""
    offset = -1
    for _ in range(number + 1):
        offset = text.index(word, offset + 1)
    return lsp.Position(text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)


def of(editor: Editor, name: str) -> lsp.TextDocumentIdentifier:
    return lsp.TextDocumentIdentifier(editor.uri(name))


def fresh(text: str, path: Path) -> list[tuple[int, str]]:
    """The lines and codes of what a fresh check says of a text."""
    try:
        module = load_text(text, path)
        found = [w for check in module.checks for w in check.warnings]
    except SpecError as error:
        found = [*error.diagnostics]
    return sorted({(d.span.line, d.code) for d in found if d.span and d.span.file == str(path)})


def told(found: list[lsp.Diagnostic]) -> list[tuple[int, str]]:
    return sorted({(d.range.start.line + 1, str(d.code)) for d in found})


def test_an_error_has_its_code_its_page_and_its_fix(editor: Editor, spec: str) -> None:
    wrong = SPEC.replace("seen += (s, m)", "sen += (s, m)")
    (found,) = editor.replace(spec, wrong)
    assert found.code == "N002" and "did you mean `seen`?" in found.message
    assert found.code_description is not None and found.code_description.href.endswith("N002.md")
    context = lsp.CodeActionContext([found])
    (action,) = editor.ask(
        "text_document_code_action", lsp.CodeActionParams(of(editor, spec), found.range, context)
    )
    ((edit,),) = action.edit.changes.values()
    assert edit.new_text == "seen" and edit.range == found.range


def test_one_error_does_not_hide_the_others(editor: Editor, spec: str) -> None:
    wrong = SPEC.replace("uniform_agreement violated", "unform_agreement violated")
    wrong = wrong.replace("deliver(s, m)\n", "deliver(s, \n", 1)
    found = editor.replace(spec, wrong)
    assert {d.code for d in found} == {"S003", "C002"} or len({d.code for d in found}) == 2
    assert editor.replace(spec, SPEC) == []


def test_definition_references_and_rename(editor: Editor, spec: str) -> None:
    place = at(SPEC, "seen", 2)
    found = editor.ask("text_document_definition", lsp.DefinitionParams(of(editor, spec), place))
    assert found.range.start == at(SPEC, "seen")
    context = lsp.ReferenceContext(include_declaration=True)
    every = editor.ask(
        "text_document_references", lsp.ReferenceParams(context, of(editor, spec), place)
    )
    assert [each.range.start for each in every] == [at(SPEC, "seen", n) for n in range(3)]
    edit = editor.ask("text_document_rename", lsp.RenameParams(of(editor, spec), place, "known"))
    (changes,) = edit.changes.values()
    assert len(changes) == 3
    before = len(editor.messages)
    refused = lsp.RenameParams(of(editor, spec), place, "beb")
    assert editor.ask("text_document_rename", refused) is None
    assert len(editor.messages) == before + 1
    property_ = at(SPEC, "agreement")
    home = editor.ask("text_document_definition", lsp.DefinitionParams(of(editor, spec), property_))
    assert home.uri.endswith("specs/interfaces/reliable_broadcast.bcast")


def test_hover_says_type_meaning_and_the_textbooks_sentence(editor: Editor, spec: str) -> None:
    def said(word: str, number: int = 0) -> str:
        params = lsp.HoverParams(of(editor, spec), at(SPEC, word, number))
        found = editor.ask("text_document_hover", params)
        return str(found.contents.value)

    assert "set<(Proc, Msg)>" in said("seen") and "with the sender" in said("seen")
    assert "CGR 2011, Module 3.2, RB4" in said("agreement")
    assert "m : Msg" in said("m)", 1)
    assert "never recover" in said("crash <=")


def test_a_name_of_several_interfaces_is_what_the_check_takes(editor: Editor, spec: str) -> None:
    """Two modules define uniform agreement; a reliable broadcast is asked the weaker one's."""
    asked = lsp.HoverParams(of(editor, spec), at(SPEC, "uniform_agreement"))
    said = str(editor.ask("text_document_hover", asked).contents.value)
    assert said.count("CGR 2011, Module 3.3, URB4") == 1
    home = editor.ask(
        "text_document_definition",
        lsp.DefinitionParams(of(editor, spec), at(SPEC, "uniform_agreement")),
    )
    assert home.uri.endswith("specs/interfaces/uniform_reliable_broadcast.bcast")


def test_completion_by_context(editor: Editor, spec: str) -> None:
    def labels(text: str, behind: str) -> list[str]:
        editor.replace(spec, text)
        place = _place(text, text.index(behind) + len(behind))
        found = editor.ask(
            "text_document_completion", lsp.CompletionParams(of(editor, spec), place)
        )
        return [item.label for item in found.items]

    assert "fair_loss" in labels(SPEC.replace("n = 3", "links "), "links ")
    asked = labels(SPEC, "prove ")
    assert asked[0] in ("validity", "agreement") and "nbac_agreement" not in asked
    assert labels(SPEC.replace("deliver(s, m)\n", "beb.\n", 1), "  beb.") == ["broadcast"]
    statements = labels(SPEC.replace("    deliver(s, m)\n", "    \n"), "seen += (s, m)\n    ")
    assert {"send", "if", "deliver", "seen"} <= {*statements} and "links" not in statements
    assert "broadcasts" in labels(SPEC, "clients { p1 ")
    assert "faults" in labels(SPEC.replace("  n = 3\n", "  \n"), "of Flood {\n  ")
    roles = "protocol P {\n  role server(2) { state up = true }\n  role store(2) "
    assert "dies with" in labels(roles, "role store(2) ")
    assert "server" in labels(f"{roles}dies with ", "dies with ")


def test_hover_on_who_dies_with_whom(editor: Editor, spec: str) -> None:
    text = """protocol P {
  role server(2) { state up = true }
  role store(2) dies with server { state got = false }
}
"""
    editor.replace(spec, text)

    def said(word: str, number: int = 0) -> str:
        params = lsp.HoverParams(of(editor, spec), at(text, word, number))
        return str(editor.ask("text_document_hover", params).contents.value)

    assert "the i-th member stops with the i-th of `server`" in said("dies")
    assert "role server(2)" in said("server", 1)


def test_symbols_colours_and_format(editor: Editor, spec: str) -> None:
    protocol, check = editor.ask(
        "text_document_document_symbol", lsp.DocumentSymbolParams(of(editor, spec))
    )
    assert [each.name for each in protocol.children][:3] == ["beb", "DATA", "seen"]
    assert check.name == "crash_one"
    tokens = editor.ask(
        "text_document_semantic_tokens_full", lsp.SemanticTokensParams(of(editor, spec))
    )
    assert len(tokens.data) % 5 == 0 and len(tokens.data) > 100
    editor.replace(spec, SPEC.replace("  n = 3", "      n   =   3"))
    options = lsp.FormattingOptions(2, True)
    params = lsp.DocumentFormattingParams(of(editor, spec), options)
    (edit,) = editor.ask("text_document_formatting", params)
    assert edit.new_text == SPEC


def test_a_check_runs_and_its_outcome_goes_when_the_text_changes(editor: Editor, spec: str) -> None:
    def lenses() -> dict[str, lsp.Command]:
        found = editor.ask("text_document_code_lens", lsp.CodeLensParams(of(editor, spec)))
        return {each.command.title: each.command for each in found}

    assert [*lenses()] == ["Check", "Prove", "Explore", "Coverage"]
    command = lenses()["Check"]
    run = lsp.ExecuteCommandParams(command.command, command.arguments)
    assert editor.ask("workspace_execute_command", run) is None

    async def done() -> None:
        while not any(title[0] in "✓✗" for title in titles):
            await asyncio.sleep(0.05)
            found = await editor.client.text_document_code_lens_async(
                lsp.CodeLensParams(of(editor, spec))
            )
            titles[:] = [each.command.title for each in found]

    titles: list[str] = []
    editor.run(done())
    assert titles[0].startswith("✓ agreement holds, uniform_agreement violated (")
    assert titles[1] == "Show counterexample"
    shown = lenses()["Show counterexample"]
    page = editor.ask(
        "workspace_execute_command", lsp.ExecuteCommandParams(shown.command, shown.arguments)
    )
    assert "uniform_agreement" in Path(page["page"]).read_text(encoding="utf-8")
    trace = json.loads(Path(page["trace"]).read_text(encoding="utf-8"))
    places = [event["at"] for step in trace["steps"] for event in step["events"] if event["at"]]
    files = {Path(page["files"][place["file"]]).name for place in places}
    assert files == {spec, "best_effort_broadcast.bcast"}
    editor.replace(spec, SPEC + "\n")
    assert [*lenses()] == ["Check", "Prove", "Explore", "Coverage"]
    assert editor.ask("workspace_execute_command", run) is None
    assert "is not saved" in editor.messages[-1]


LIBRARY = sorted(resources.specs().rglob("*.bcast"))
SAMPLE = random.Random(2).sample(LIBRARY, len(LIBRARY))


@pytest.mark.every
@pytest.mark.parametrize("path", first_by_default(SAMPLE, 3), ids=[path.stem for path in SAMPLE])
def test_the_library(editor: Editor, path: Path) -> None:
    """Every request is answered, and what is told is what a fresh check says."""
    text = path.read_text(encoding="utf-8")
    name = str(path)
    found = editor.open(name, text)
    assert told([d for d in found if d.severity is not lsp.DiagnosticSeverity.Hint]) == fresh(
        text, path
    )
    document = of(editor, name)
    assert editor.ask("text_document_document_symbol", lsp.DocumentSymbolParams(document))
    assert editor.ask("text_document_semantic_tokens_full", lsp.SemanticTokensParams(document)).data
    lines = text.split("\n")
    rng = random.Random(path.stem)
    for _ in range(6):
        line = rng.randrange(len(lines))
        place = lsp.Position(line, rng.randrange(len(lines[line]) + 1))
        editor.ask("text_document_hover", lsp.HoverParams(document, place))
        editor.ask("text_document_definition", lsp.DefinitionParams(document, place))
        editor.ask("text_document_completion", lsp.CompletionParams(document, place))
    editor.close(name)
    assert editor.errors == []


def edits(
    text: str, rng: random.Random
) -> Iterator[tuple[str, lsp.TextDocumentContentChangeEvent]]:
    """Changes as they come from a keyboard, and the text behind each."""
    pieces = [
        "{",
        "}",
        "(",
        '"',
        "upon ",
        "  ",
        "\n",
        "//",
        "send M to all\n",
        "𝛼",
        "state x",
        ",",
        "x",
    ]
    for _ in range(25):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 0, 1, 3, 40]))
        new = rng.choice(pieces)
        wanted = lsp.Range(_place(text, start), _place(text, end))
        text = text[:start] + new + text[end:]
        yield text, lsp.TextDocumentContentChangePartial(wanted, new)


def _place(text: str, offset: int) -> lsp.Position:
    begin = text.rfind("\n", 0, offset) + 1
    column = len(text[begin:offset].encode("utf-16-le")) // 2
    return lsp.Position(text.count("\n", 0, offset), column)


@pytest.mark.every
@pytest.mark.parametrize("seed", first_by_default(range(24), 1))
def test_an_editing_session(editor: Editor, seed: int) -> None:
    """Nothing that is typed brings the server down, and in the end it says what a fresh check says
    of a text that can be parsed, and of any other at least that."""
    rng = random.Random(seed)
    path = rng.choice(LIBRARY)
    original = text = path.read_text(encoding="utf-8")
    name = str(path)
    editor.open(name, text)
    document = of(editor, name)
    for typed, change in edits(original, rng):
        text = typed
        editor.change(name, [change])
        place = change.range.start
        ask = rng.choice(
            ("text_document_hover", "text_document_completion", "text_document_definition")
        )
        kind = {"hover": lsp.HoverParams, "completion": lsp.CompletionParams}
        made = kind.get(ask.rpartition("_")[2], lsp.DefinitionParams)
        editor.ask(ask, made(document, place))
    found = told(editor.settled(name))
    wanted = fresh(text, path)
    assert {*wanted} <= {*found}
    assert any(code[0] == "S" for _, code in wanted) or found == wanted
    assert told(editor.replace(name, original)) == fresh(original, path)
    editor.close(name)
    assert editor.errors == []
