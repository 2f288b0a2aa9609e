"""One text in an editor with all that is known of it, and the texts beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Span, SpecError
from checker.editor.declarations import Declaration, Visible
from checker.editor.index import Occurrence, index
from checker.language.analysis import Analysis, Analyst
from checker.language.mutants import with_mutants
from checker.language.reading import LARGEST, SUFFIX, read
from checker.language.syntax import ast_items

NEIGHBOURS = 500
"""The largest number of files of a folder that are searched for references."""


class Position(Struct, frozen=True):
    """A place in a text: line and column count from 1, columns in characters."""

    line: int
    column: int

    def is_in(self, span: Span) -> bool:
        """Returns whether it is inside of ``span``, or right behind it."""
        begin, end = (span.line, span.column), (span.end_line, span.end_column)
        return begin <= (self.line, self.column) <= end


class Document:
    """The analysis of one version of a text."""

    def __init__(self, path: Path, analysis: Analysis) -> None:
        self.path = path
        self.analysis = analysis
        self.text = analysis.text
        self.lines = self.text.replace("\r\n", " \n").replace("\r", "\n").split("\n")

    @property
    def spec(self) -> ast_items.Spec:
        """The syntax tree of what could be parsed."""
        return self.analysis.source.spec

    @cached_property
    def visible(self) -> Visible:
        """The modules that the file sees."""
        every = (source.spec for source in self.analysis.source.all())
        return Visible(every, self.analysis.library)

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """All names that are declared anywhere."""
        return index(self.spec, self.text, self.visible)

    def at(self, place: Position) -> Occurrence | None:
        """Returns the name at ``place``."""
        return next((each for each in self.occurrences if place.is_in(each.span)), None)

    def item_at(self, place: Position) -> ast_items.Item | None:
        """Returns the item at the top of the file that ``place`` is in."""
        found = (item for item in self.spec.items if place.is_in(item.span))
        return next(found, None)

    def checks(self) -> Iterator[ast_items.Check]:
        """Yields the checks in order, each followed by its mutants."""
        items = with_mutants(self.spec).items
        yield from (item for item in items if isinstance(item, ast_items.Check))

    def word_at(self, place: Position) -> str:
        """Returns the word that ``place`` is in; empty where there is none."""
        line = self.lines[place.line - 1] if place.line <= len(self.lines) else ""
        start = end = place.column - 1
        while start > 0 and _is_of_a_word(line[start - 1]):
            start -= 1
        while end < len(line) and _is_of_a_word(line[end]):
            end += 1
        return line[start:end]


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or character in "_'"


class Desk:
    """The texts that are open, and the analyses of these and of the files beside them."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}
        self._documents: dict[Path, Document] = {}
        self._analyst = Analyst(self._texts.get)

    def put(self, path: Path, text: str) -> None:
        """Opens a text, or replaces it; what depends on it is analysed again when it is asked."""
        if self._texts.get(path) != text:
            self._texts[path] = text
            self._forget(path)

    def close(self, path: Path) -> None:
        """Closes a text: the file on disk counts again."""
        self._texts.pop(path, None)
        self._forget(path)

    def _forget(self, path: Path) -> None:
        for each in [*self._documents]:
            files = {s.spec.file for s in self._documents[each].analysis.source.all()}
            imports = any(isinstance(i, ast_items.Import) for i in self._documents[each].spec.items)
            if each == path or str(path) in files or imports:
                del self._documents[each]

    def is_open(self, path: Path) -> bool:
        """Returns whether the text of ``path`` is open."""
        return path in self._texts

    def open_paths(self) -> list[Path]:
        """Returns the open files."""
        return [*self._texts]

    def document(self, path: Path) -> Document:
        """Returns the document of an open text, or of a file; raises :class:`SpecError` where that
        can't be read."""
        if path not in self._documents:
            text = self._texts[path] if path in self._texts else read(path)
            found = Document(path, self._analyst.analyse(text, path))
            if path not in self._texts:
                return found
            self._documents[path] = found
        return self._documents[path]

    def changed(self, path: Path, text: str) -> Document:
        """Returns the document that ``path`` would be with another text."""
        return Document(path, self._analyst.analyse(text, path))

    def sharing(self, declared: Declaration, document: Document) -> list[Document]:
        """Returns the documents in which a name may be that is declared so: of the declaring file
        and of all open files and files beside those that import it; ``document`` is among them."""
        home = Path(declared.span.file)
        found = {document.path: document}
        if declared.kind == "local":
            return [document]
        for path in self._candidates(home, document.path):
            if path in found:
                continue
            other = self._try(path)
            if other is None:
                continue
            if path == home or str(home) in {s.spec.file for s in other.analysis.source.all()}:
                found[path] = other
        return [*found.values()]

    def _candidates(self, home: Path, here: Path) -> list[Path]:
        folders = dict.fromkeys((home.parent, here.parent))
        beside = [file for folder in folders for file in sorted(folder.glob(f"*{SUFFIX}"))]
        return list(dict.fromkeys((home, *self._texts, *beside[:NEIGHBOURS])))

    def _try(self, path: Path) -> Document | None:
        try:
            if not self.is_open(path) and path.stat().st_size > LARGEST:
                return None
            return self.document(path)
        except (SpecError, OSError):
            return None
