"""Analyses texts that are being written: all that can be said of one, in spite of its errors.

Files are read through a function, so that what an editor has open counts and not what is on disk;
parsed texts are kept in memory, by content.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.graphs import reached
from checker.language.library import Library, Source, prelude
from checker.language.load import sort_diagnostics
from checker.language.parser.partial import Partial, Pieces, concerns, parse_partially
from checker.language.reading import read
from checker.language.syntax import ast_items, typed
from checker.language.typecheck.scope import Reporter
from checker.language.typed_module import module_of

KEPT = 64
"""The largest number of parsed texts that are kept."""
_UNKNOWN = ("N013", "C001")
"""The codes of modules that no file declares."""


class Analysis(Struct, frozen=True):
    """What is known of one text: its declarations, typed as far as they can be, and what is wrong
    with it, sorted by location.

    ``source``: the file and its imports, as syntax trees; ``library``: the modules that it sees;
    ``library`` and ``module`` are ``None`` where it nests too deeply.
    """

    text: str
    source: Source
    diagnostics: tuple[Diagnostic, ...]
    module: typed.Module | None = None
    library: Library | None = None


class _Reading(Struct):
    """What is collected while a file and its imports are read."""

    done: dict[str, Source] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    lacks_imports: bool = False


class Analyst:
    """Analyses texts; ``open_text``: the text of a file that is open in an editor, or ``None``."""

    def __init__(self, open_text: Callable[[Path], str | None] = lambda _: None) -> None:
        self._open_text = open_text
        self._parsed: OrderedDict[tuple[str, str], Partial] = OrderedDict()
        self._pieces: dict[str, Pieces] = {}

    def analyse(self, text: str, path: Path) -> Analysis:
        """Returns the analysis of ``text``, the content of the file ``path``; raises nothing for
        what is wrong with it.

        Where all of it can be parsed the diagnostics are those of
        :func:`checker.language.load.load_text`, and the warnings of its checks.
        """
        reading = _Reading()
        source = self._source(text, path, (), reading)
        is_whole = not reading.lost and not reading.found
        library = module = None
        report = Reporter()
        try:
            library = Library(source, prelude(), report)
            module = module_of(source, library)
        except RecursionError:
            message = "the imports of this file nest too deeply"
            reading.found.append(Diagnostic("S004", message, Span(str(path), 1, 1, 1, 1)))
        lost = frozenset(reading.lost)
        errors = [
            each
            for each in report.found
            if is_whole or not self._follows(each, text, lost, reading)
        ]
        warnings = [w for check in (module.checks if module else ()) for w in check.warnings]
        warnings = [w for w in warnings if is_whole or not concerns(w, text, lost)]
        every = tuple(dict.fromkeys((*reading.found, *errors, *warnings)))
        ordered = sort_diagnostics(every, str(path))
        return Analysis(text, source, ordered, module, library)

    @staticmethod
    def _follows(found: Diagnostic, text: str, lost: frozenset[str], reading: _Reading) -> bool:
        """Tells whether an error may follow from what could not be parsed or read."""
        if reading.lacks_imports and found.code in _UNKNOWN:
            return True
        return concerns(found, text, lost)

    def partial(self, text: str, file: str) -> Partial:
        """Returns what can be parsed of ``text``, the content of ``file``."""
        key = file, text
        if key in self._parsed:
            self._parsed.move_to_end(key)
        else:
            known = self._pieces.setdefault(file, {})
            self._parsed[key] = parse_partially(text, file, known)
            if len(self._parsed) > KEPT:
                self._parsed.popitem(last=False)
        return self._parsed[key]

    def _source(
        self, text: str, path: Path, open_now: tuple[str, ...], reading: _Reading
    ) -> Source:
        parsed = self.partial(text, str(path))
        reading.found += parsed.errors
        reading.lost |= parsed.lost
        source = Source(parsed.spec, text=text)
        here = (*open_now, str(_resolved(path)))
        reading.done[here[-1]] = source
        for item in parsed.spec.items:
            if isinstance(item, ast_items.Import):
                target = Path(os.path.normpath(path.parent / item.path))
                self._import(item, target, source, here, reading)
        return source

    def _import(
        self,
        item: ast_items.Import,
        target: Path,
        source: Source,
        here: tuple[str, ...],
        reading: _Reading,
    ) -> None:
        identity = str(_resolved(target))
        if identity in here:
            message = f"`{item.path}` imports this file in turn"
            reading.found.append(Diagnostic("N015", message, item.span))
        elif identity in reading.done:
            source.imports.append(reading.done[identity])
        else:
            try:
                text = self._open_text(target)
                text = read(target, item.span) if text is None else text
            except SpecError as error:
                reading.found += error.diagnostics
                reading.lacks_imports = True
            else:
                source.imports.append(self._source(text, target, here, reading))


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path


_IMPORT = re.compile(r'^\s*import\s+"([^"\n]+)"', re.MULTILINE)


def imports_of(path: Path) -> list[Path]:
    """Returns the files that the file ``path`` imports, and those that these import, each once; it
    raises nothing where one can't be read."""

    def imported(file: Path) -> list[Path]:
        try:
            names = _IMPORT.findall(read(file))
        except SpecError:
            return []
        return [Path(os.path.normpath(file.parent / name)) for name in names]

    return reached([path], imported)[1:]
