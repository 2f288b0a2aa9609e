"""The answers to a client's requests, as the Language Server Protocol has them."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from checker import resources
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.editor import colours, completion
from checker.editor.declarations import Declaration, of_item
from checker.editor.document import Desk, Document
from checker.editor.fixes import Fix, fixes
from checker.editor.index import Occurrence
from checker.editor.places import position_of, range_of, units, uri_of
from checker.editor.runs import DONE, RUNNING, Outcome, Runs
from checker.language.sources import shipped_texts
from checker.language.syntax import ast_items

SOURCE = "bivalence"


def diagnostics(document: Document, runs: Runs) -> list[lsp.Diagnostic]:
    """Returns what is wrong with a text, and what its runs have found."""
    found = [_diagnostic(each, document) for each in document.analysis.diagnostics]
    for check in document.checks():
        outcome = runs.of(document.path, check.name.text)
        if outcome is not None and outcome.state == DONE:
            found += _of_run(outcome, check, document)
    return found


def _diagnostic(found: Diagnostic, document: Document) -> lsp.Diagnostic:
    lines, span, message = document.lines, found.span, found.message
    if span is None or span.file != str(document.path) or span.line < 1:
        where = f"{Path(span.file).name}:{span.line}: " if span is not None else ""
        message = f"{where}{message}"
        span = _import_of(span, document)
    said = [message, found.expected and f"expected: {found.expected}", found.hint]
    severity = lsp.DiagnosticSeverity.Error
    if found.severity == "warning":
        severity = lsp.DiagnosticSeverity.Warning
    page = resources.pages() / f"{found.code}.md"
    return lsp.Diagnostic(
        range_of(lines, span),
        "\n".join(part for part in said if part),
        severity,
        code=found.code,
        code_description=lsp.CodeDescription(page.as_uri()) if page.is_file() else None,
        source=SOURCE,
    )


def _import_of(span: Span | None, document: Document) -> Span:
    """Returns the import through which an error of another file comes, or the first line."""
    for item in document.spec.items:
        if isinstance(item, ast_items.Import) and span is not None:
            if Path(item.path).name == Path(span.file).name:
                return item.span
    return Span(str(document.path), 1, 1, 1, 2)


def _of_run(outcome: Outcome, check: ast_items.Check, document: Document) -> list[lsp.Diagnostic]:
    """Returns what a run has found: at the check what is not as expected, as hints what was never
    reached."""
    found = []
    name = check.name.text
    if not outcome.is_as_expected:
        said = outcome.line()
        reasons = [v["reason"] for v in outcome.report["verdicts"] if v["verdict"] == "violated"]
        at = range_of(document.lines, check.name.span)
        message = "\n".join([said, *reasons])
        found.append(lsp.Diagnostic(at, message, lsp.DiagnosticSeverity.Error, source=SOURCE))
    for place in outcome.report.get("coverage") or ():
        if not place["reached"] and Path(place["file"]).absolute() == document.path.absolute():
            span = Span("", place["line"], place["column"], place["line"], 10**6)
            found.append(
                lsp.Diagnostic(
                    range_of(document.lines, span),
                    f"no run of `{name}` reaches this {place['kind']}",
                    lsp.DiagnosticSeverity.Hint,
                    source=SOURCE,
                    tags=[lsp.DiagnosticTag.Unnecessary],
                )
            )
    for said in outcome.report.get("never", ()):
        at = range_of(document.lines, check.name.span)
        message = f"in `{name}`: {said}"
        found.append(lsp.Diagnostic(at, message, lsp.DiagnosticSeverity.Hint, source=SOURCE))
    return found


def code_actions(document: Document, desk: Desk, wanted: lsp.Range) -> list[lsp.CodeAction]:
    """Returns the corrections of the errors in a range."""
    found = []
    for each in document.analysis.diagnostics:
        shown = _diagnostic(each, document)
        if not _overlap(shown.range, wanted):
            continue
        for fix in fixes(each, document, desk):
            found.append(
                lsp.CodeAction(
                    fix.title,
                    lsp.CodeActionKind.QuickFix,
                    diagnostics=[shown],
                    edit=workspace_edit({document.path: [fix]}, {document.path: document.lines}),
                )
            )
    return found


def _overlap(one: lsp.Range, other: lsp.Range) -> bool:
    ends = [
        ((r.start.line, r.start.character), (r.end.line, r.end.character)) for r in (one, other)
    ]
    return ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]


def workspace_edit(
    changes: dict[Path, list[Fix]], lines: dict[Path, list[str]]
) -> lsp.WorkspaceEdit:
    """Returns the changes of several files; ``lines``: those of each of them."""
    return lsp.WorkspaceEdit(
        changes={
            uri_of(path): [lsp.TextEdit(range_of(lines[path], f.span), f.text) for f in here]
            for path, here in changes.items()
        }
    )


def location(declared: Declaration, document: Document) -> lsp.Location:
    """Returns where something is declared."""
    file = declared.span.file
    if file == str(document.path):
        return lsp.Location(uri_of(file), range_of(document.lines, declared.span))
    return lsp.Location(uri_of(file), range_of(_lines(file), declared.span))


def _lines(file: str) -> list[str]:
    from checker.language.reading import read

    try:
        return read(Path(file)).split("\n")
    except SpecError:
        return []


def locations(found: dict[Path, list[Occurrence]], desk: Desk) -> list[lsp.Location]:
    """Returns where names are in several files."""
    return [
        lsp.Location(uri_of(path), range_of(desk.document(path).lines, each.span))
        for path, here in found.items()
        for each in here
    ]


_SYMBOLS = {
    "interface": lsp.SymbolKind.Interface,
    "object": lsp.SymbolKind.Interface,
    "protocol": lsp.SymbolKind.Class,
    "variant": lsp.SymbolKind.Class,
    "check": lsp.SymbolKind.Event,
    "role": lsp.SymbolKind.Module,
    "message": lsp.SymbolKind.Struct,
    "layer": lsp.SymbolKind.Package,
    "property": lsp.SymbolKind.Property,
    "invariant": lsp.SymbolKind.Property,
    "type": lsp.SymbolKind.TypeParameter,
    "constant": lsp.SymbolKind.Constant,
}


def symbols(document: Document) -> list[lsp.DocumentSymbol]:
    """Returns the outline of a text."""
    return [found for item in document.spec.items for found in _symbols(item, document)]


def _symbols(item: object, document: Document) -> list[lsp.DocumentSymbol]:
    inner = [s for each in getattr(item, "items", ()) for s in _symbols(each, document)]
    if isinstance(item, ast_items.Handler):
        whole = range_of(document.lines, item.span)
        head = range_of(document.lines, item.head)
        return [lsp.DocumentSymbol(item.label, lsp.SymbolKind.Method, whole, head)]
    found = []
    for each in of_item(item):
        if each.kind in ("label", "parameter"):
            continue
        kind = _SYMBOLS.get(each.kind, lsp.SymbolKind.Variable)
        if each.kind in ("request", "indication", "definition", "procedure", "operation"):
            kind = lsp.SymbolKind.Function
        whole = range_of(document.lines, each.whole)
        at = range_of(document.lines, each.span)
        found.append(lsp.DocumentSymbol(each.name, kind, whole, at, each.kind, children=inner))
    return found


_ITEMS = {
    "word": lsp.CompletionItemKind.Keyword,
    "snippet": lsp.CompletionItemKind.Snippet,
    "local": lsp.CompletionItemKind.Variable,
    "message": lsp.CompletionItemKind.Struct,
    "property": lsp.CompletionItemKind.Property,
    "label": lsp.CompletionItemKind.EnumMember,
    "layer": lsp.CompletionItemKind.Module,
    "type": lsp.CompletionItemKind.TypeParameter,
    "request": lsp.CompletionItemKind.Method,
    "indication": lsp.CompletionItemKind.Method,
    "definition": lsp.CompletionItemKind.Function,
    "procedure": lsp.CompletionItemKind.Function,
}


def completions(
    document: Document, place: lsp.Position, *, snippets: bool
) -> list[lsp.CompletionItem]:
    """Returns what may be written at a place; ``snippets``: the client can fill in places."""
    proposals = completion.complete(document, position_of(document.lines, place))
    found = []
    for number, each in enumerate(proposals):
        is_snippet = bool(each.insert) and snippets
        item = lsp.CompletionItem(
            each.label,
            kind=_ITEMS.get(each.kind, lsp.CompletionItemKind.Variable),
            detail=each.detail or None,
            sort_text=f"{number:04}",
            insert_text=each.insert if is_snippet else None,
            insert_text_format=lsp.InsertTextFormat.Snippet if is_snippet else None,
        )
        if each.document:
            item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, each.document)
        found.append(item)
    return found


LEGEND = lsp.SemanticTokensLegend([*colours.TYPES], [*colours.MODIFIERS])


def semantic_tokens(document: Document) -> lsp.SemanticTokens:
    """Returns the kind of each name, in the relative encoding of the Language Server Protocol."""
    data: list[int] = []
    line = column = 0
    for at, begin, length, type_, modifiers in colours.coloured(document):
        text = document.lines[at]
        start, size = units(text[:begin]), units(text[begin : begin + length])
        bits = sum(1 << colours.MODIFIERS.index(each) for each in modifiers)
        data += [
            at - line,
            start - column if at == line else start,
            size,
            colours.TYPES.index(type_),
            bits,
        ]
        line, column = at, start
    return lsp.SemanticTokens(data)


COMMANDS = {
    "check": "Check",
    "prove": "Prove",
    "explore": "Explore",
    "coverage": "Coverage",
}


def lenses(document: Document, runs: Runs) -> list[lsp.CodeLens]:
    """Returns the lenses above each check: what can be done with it, and what its run has found."""
    found = []
    for check in document.checks():
        at = range_of(document.lines, check.name.span)
        name = check.name.text
        outcome = runs.of(document.path, name)
        arguments = [uri_of(document.path), name]

        def lens(
            title: str, what: str, at: lsp.Range = at, arguments: list[str] = arguments
        ) -> None:
            command = lsp.Command(title, f"bivalence.{what}", arguments=[*arguments])
            found.append(lsp.CodeLens(at, command))

        if outcome is not None:
            lens(outcome.line(), "cancel" if outcome.state == RUNNING else "check")
            if outcome.traces():
                lens("Show counterexample", "counterexample")
        for what, title in COMMANDS.items():
            lens(title, what)
    return found


def files_of(document: Document) -> dict[str, str]:
    """Returns where each file is that a trace of one of the text's checks may name, by the name
    that the trace has for it."""
    own = (source.spec.file for source in document.analysis.source.all())
    shipped = (text.file for text in shipped_texts())
    return {resources.display_name(file): file for file in (*own, *shipped)}
