"""A client for the language server, over stdin and stdout, from tests that are not asynchronous."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

T = TypeVar("T")
MARKDOWN = [lsp.MarkupKind.Markdown]
PATIENCE = 60.0
"""Seconds for one answer, however busy the machine is."""


class Editor:
    """One session: a server of its own, whose diagnostics, logs and messages are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.errors: list[str] = []
        self.messages: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client: LanguageClient = self.run(self._start())
        self._versions: dict[str, int] = {}

    async def _start(self) -> LanguageClient:
        client = LanguageClient()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = params

        @client.feature(lsp.WINDOW_LOG_MESSAGE)
        def logged(params: lsp.LogMessageParams) -> None:
            self.errors.append(params.message)

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        await client.start_io(sys.executable, "-m", "checker.cli", "lsp")
        await client.initialize_session(
            lsp.InitializeParams(
                capabilities=lsp.ClientCapabilities(
                    general=lsp.GeneralClientCapabilities(),
                    text_document=lsp.TextDocumentClientCapabilities(
                        completion=lsp.CompletionClientCapabilities(
                            completion_item=lsp.ClientCompletionItemOptions(
                                snippet_support=True, documentation_format=MARKDOWN
                            )
                        ),
                        hover=lsp.HoverClientCapabilities(content_format=MARKDOWN),
                        document_symbol=lsp.DocumentSymbolClientCapabilities(
                            hierarchical_document_symbol_support=True
                        ),
                    ),
                ),
                root_uri=self.folder.as_uri(),
            )
        )
        return client

    def run(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE)

    def end(self) -> None:
        self.run(self.client.shutdown_session())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[lsp.Diagnostic]:
        uri = self.uri(name)
        self._versions[uri] = 1
        item = lsp.TextDocumentItem(uri, "bivalence", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return self.settled(name)

    def change(self, name: str, changes: list[lsp.TextDocumentContentChangeEvent]) -> None:
        uri = self.uri(name)
        self._versions[uri] += 1
        of = lsp.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(of, changes))

    def replace(self, name: str, text: str) -> list[lsp.Diagnostic]:
        self.change(name, [lsp.TextDocumentContentChangeWholeDocument(text)])
        return self.settled(name)

    def close(self, name: str) -> None:
        of = lsp.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(of))

    def settled(self, name: str) -> list[lsp.Diagnostic]:
        """The diagnostics of the last version of a text, once they are told."""
        return self.run(self._settled(self.uri(name)))

    async def _settled(self, uri: str) -> list[lsp.Diagnostic]:
        while uri not in self.told or self.told[uri].version != self._versions[uri]:
            await asyncio.sleep(0.01)
        return [*self.told[uri].diagnostics]

    def ask(self, method: str, params: Any) -> Any:
        return self.run(getattr(self.client, f"{method}_async")(params))
