"""The language server: ``bivalence lsp``, over stdin and stdout (Language Server Protocol 3.17)."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from checker.diagnostics import SpecError
from checker.editor import answers
from checker.editor.document import Desk, Document
from checker.editor.hover import hover
from checker.editor.places import path_of, position_of, range_of, uri_of
from checker.editor.rename import Refused, references, renamable, rename
from checker.editor.runs import COMMANDS, Runs
from checker.resources import version

PAUSE = 0.15
"""Seconds without a change after which diagnostics are published."""


class Server(LanguageServer):
    """The state of a session: the open texts, what was run, what waits to be told."""

    def __init__(self) -> None:
        super().__init__("bivalence", version(), lsp.TextDocumentSyncKind.Incremental)
        self.desk = Desk()
        self.runs = Runs(self.tell_outcome)
        self.waiting: dict[Path, asyncio.Task[None]] = {}

    def document(self, uri: str) -> Document:
        """Returns the document of an open text, as it is now."""
        path = path_of(uri)
        text = self.workspace.get_text_document(uri).source
        if self.desk.is_open(path):
            self.desk.put(path, text)
        return self.desk.document(path)

    def publish(self, uri: str) -> None:
        """Tells the client what is wrong with a text."""
        found = answers.diagnostics(self.document(uri), self.runs)
        of = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, of))

    async def publish_soon(self, uri: str) -> None:
        """Does the same when nothing has changed for a moment; also for files that import it."""
        await asyncio.sleep(PAUSE)
        self.publish(uri)
        for path in self.desk.open_paths():
            other = self.desk.document(path)
            files = {source.spec.file for source in other.analysis.source.all()}
            if path != path_of(uri) and str(path_of(uri)) in files:
                self.publish(uri_of(path))

    async def tell_outcome(self, path: Path) -> None:
        """Tells the client that the outcome of a check of ``path`` has changed."""
        if self.desk.is_open(path):
            self.publish(uri_of(path))
        capabilities = self.client_capabilities.workspace
        lens = capabilities.code_lens if capabilities is not None else None
        if lens is not None and lens.refresh_support:
            self.workspace_code_lens_refresh(None)


def make_server() -> Server:
    """Returns a server that answers nothing yet but what its features say."""
    server = Server()
    for name, (answer, options) in FEATURES.items():
        server.feature(name, options)(_guarded(server, answer))
    for what in (*answers.COMMANDS, "counterexample", "cancel"):
        server.command(f"bivalence.{what}")(_command(server, what))
    return server


def _guarded(server: Server, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Returns ``answer`` such that an error of the tool is logged, and not told as a trace."""

    if inspect.iscoroutinefunction(answer):

        @functools.wraps(answer)
        async def guarded_later(params: Any) -> Any:
            try:
                return await answer(server, params)
            except Exception as problem:
                _log(server, problem)
                return None

        return _without_types(guarded_later)

    @functools.wraps(answer)
    def guarded(params: Any) -> Any:
        try:
            return answer(server, params)
        except Exception as problem:
            _log(server, problem)
            return None

    return _without_types(guarded)


def _without_types(answer: Callable[..., Any]) -> Callable[..., Any]:
    """pygls looks at the annotations of what it calls, and these are of another signature."""
    del answer.__wrapped__  # type: ignore[attr-defined]
    answer.__annotations__ = {}
    return answer


def _log(server: Server, problem: Exception) -> None:
    said = " ".join(f"{type(problem).__name__}: {problem}".split())
    if isinstance(problem, SpecError):
        said = problem.diagnostics[0].message
    server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"bivalence: {said}"))


# ---- texts --------------------------------------------------------------------------------------


def _opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    server.desk.put(path, params.text_document.text)
    server.publish(params.text_document.uri)


def _changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    """Takes the new text; diagnostics are published once its author has paused."""
    uri = params.text_document.uri
    path = path_of(uri)
    server.desk.put(path, server.workspace.get_text_document(uri).source)
    server.runs.forget(path)
    if path in server.waiting:
        server.waiting[path].cancel()
    server.waiting[path] = asyncio.ensure_future(server.publish_soon(uri))


def _closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.runs.forget(path_of(uri))
    server.desk.close(path_of(uri))
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _ended(server: Server, _: Any) -> None:
    server.runs.end()


# ---- names --------------------------------------------------------------------------------------


def _definition(server: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    document = server.document(params.text_document.uri)
    found = document.at(position_of(document.lines, params.position))
    return None if found is None else answers.location(found.of, document)


def _references(server: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    document = server.document(params.text_document.uri)
    found = document.at(position_of(document.lines, params.position))
    if found is None:
        return []
    every = references(found.of, document, server.desk)
    if not params.context.include_declaration:
        every = {path: [o for o in here if not o.is_declaration] for path, here in every.items()}
    return answers.locations(every, server.desk)


def _highlights(server: Server, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    document = server.document(params.text_document.uri)
    found = document.at(position_of(document.lines, params.position))
    same = (o for o in document.occurrences if found is not None and o.of == found.of)
    return [lsp.DocumentHighlight(range_of(document.lines, each.span)) for each in same]


def _can_rename(server: Server, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    document = server.document(params.text_document.uri)
    try:
        found = renamable(document, position_of(document.lines, params.position))
    except Refused:
        return None
    return range_of(document.lines, found.span)


def _rename(server: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    document = server.document(params.text_document.uri)
    place = position_of(document.lines, params.position)
    try:
        changes = rename(document, place, params.new_name, server.desk)
    except Refused as why:
        said = lsp.ShowMessageParams(lsp.MessageType.Warning, f"not renamed: {why}")
        server.window_show_message(said)
        return None
    return answers.workspace_edit(changes, {p: server.desk.document(p).lines for p in changes})


def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    document = server.document(params.text_document.uri)
    said, span = hover(document, position_of(document.lines, params.position))
    if not said:
        return None
    contents = lsp.MarkupContent(lsp.MarkupKind.Markdown, said)
    return lsp.Hover(contents, None if span is None else range_of(document.lines, span))


def _complete(server: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    text = server.client_capabilities.text_document
    item = text.completion.completion_item if text and text.completion else None
    found = answers.completions(
        server.document(params.text_document.uri),
        params.position,
        snippets=bool(item and item.snippet_support),
    )
    return lsp.CompletionList(False, found)


def _symbols(server: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    return answers.symbols(server.document(params.text_document.uri))


def _tokens(server: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    return answers.semantic_tokens(server.document(params.text_document.uri))


def _actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    document = server.document(params.text_document.uri)
    return answers.code_actions(document, server.desk, params.range)


def _format(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    from checker.language.formatting.layout import format_text

    document = server.document(params.text_document.uri)
    try:
        written = format_text(document.text, str(document.path))
    except SpecError:
        return []
    if written == document.text:
        return []
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines), 0))
    return [lsp.TextEdit(whole, written)]


# ---- runs ---------------------------------------------------------------------------------------


def _lenses(server: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    return answers.lenses(server.document(params.text_document.uri), server.runs)


def _command(server: Server, what: str) -> Callable[..., Any]:
    """Returns what the command of a lens does with the URI of a file and the name of a check."""

    def run(uri: str, check: str) -> dict[str, str] | None:
        path = path_of(uri)
        if what == "cancel":
            server.runs.forget(path)
            server.publish(uri)
        elif what == "counterexample":
            return _counterexample(server, path, check)
        elif what == "explore":
            said = f"in a terminal: bivalence explore {path}::{check}"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, said))
        elif what in COMMANDS:
            if not _is_saved(server, uri, path):
                said = f"{path.name} is not saved: the saved file is run"
                server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, said))
                return None
            server.runs.start(path, check, what)
        return None

    return run


def _is_saved(server: Server, uri: str, path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.read_text(encoding="utf-8") == server.workspace.get_text_document(uri).source
    return False


def _counterexample(server: Server, path: Path, check: str) -> dict[str, Any] | None:
    """Writes the page of the first violation of the last run; returns the names of the page and of
    the trace, which are where only this user reads, and of the ``files`` that the trace names."""
    from checker.formats.json_format import trace_from_json, trace_to_text
    from checker.render.html import page_of

    outcome = server.runs.of(path, check)
    if outcome is None or not outcome.traces():
        return None
    trace = trace_from_json(outcome.traces()[0])
    folder = Path(tempfile.mkdtemp(prefix="bivalence-"))
    page, document = folder / f"{check}.html", folder / f"{check}.json"
    page.write_text(page_of(trace, document=document.name), encoding="utf-8")
    document.write_text(trace_to_text(trace), encoding="utf-8")
    window = server.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        server.window_show_document(lsp.ShowDocumentParams(page.as_uri(), external=True))
    files = answers.files_of(server.desk.document(path))
    return {"page": os.fspath(page), "trace": os.fspath(document), "files": files}


FEATURES: dict[str, tuple[Callable[..., Any], Any]] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: (_opened, None),
    lsp.TEXT_DOCUMENT_DID_CHANGE: (_changed, None),
    lsp.TEXT_DOCUMENT_DID_CLOSE: (_closed, None),
    lsp.SHUTDOWN: (_ended, None),
    lsp.TEXT_DOCUMENT_DEFINITION: (_definition, None),
    lsp.TEXT_DOCUMENT_REFERENCES: (_references, None),
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (_highlights, None),
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: (_can_rename, None),
    lsp.TEXT_DOCUMENT_RENAME: (_rename, lsp.RenameOptions(prepare_provider=True)),
    lsp.TEXT_DOCUMENT_HOVER: (_hover, None),
    lsp.TEXT_DOCUMENT_COMPLETION: (_complete, lsp.CompletionOptions(trigger_characters=["."])),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_symbols, None),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (_tokens, answers.LEGEND),
    lsp.TEXT_DOCUMENT_CODE_ACTION: (
        _actions,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    ),
    lsp.TEXT_DOCUMENT_FORMATTING: (_format, None),
    lsp.TEXT_DOCUMENT_CODE_LENS: (_lenses, lsp.CodeLensOptions()),
}
"""What the server answers: each request with its function and what is told of it."""
