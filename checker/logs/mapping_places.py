"""Where the keys of a mapping are written, and what lines of the old direction are now."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from checker.diagnostics import Diagnostic, Span

CODE = "E097"
"""The code of all that is wrong with a mapping."""

OLD = {
    "fields": "columns",
    "kinds": "values.kind",
    "processes": "values.process",
    "messages": "values.message",
    "names": "values.name",
    "variables": "values.variable",
}
"""Sections that mapped the log's names to ours, and where these are now."""

_SECTION = re.compile(r"\s*\[\s*([^\]]*?)\s*\]")
_KEY = re.compile(r"""\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w.-]+))\s*=""")
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")


class Places:
    """Finds the places of keys in the text of a mapping; without the text it is read."""

    def __init__(self, file: str, text: str | None = None) -> None:
        self.file = file
        if text is None:
            try:
                text = Path(file).read_text(encoding="utf-8-sig")
            except (OSError, ValueError):
                text = ""
        self._lines = text.split("\n")

    def of(self, section: str, key: str) -> Span:
        """Returns the place of a key in a section (empty: before all sections), or of the section,
        or of the first line."""
        here, found = "", Span(self.file, 1, 1, 1, 2)
        for number, line in enumerate(self._lines, start=1):
            header = _SECTION.match(line)
            if header:
                here = header[1].replace('"', "").replace("'", "")
                if here == section or (not section and here.split(".")[0] == key):
                    found = self._span(number, header.start(1), header.end(1))
                continue
            entry = _KEY.match(line)
            if entry and here == section and _plain(entry[1]) == key:
                return self._span(number, *entry.span(1))
        return found

    def section_of(self, first: str, other: str, key: str) -> str:
        """Returns which of two sections has the key."""
        return other if self.of(other, key) != self.of(other, "") else first

    def _span(self, number: int, start: int, end: int) -> Span:
        return Span(self.file, number, start + 1, number, max(end, start + 1) + 1)

    def wrong(
        self, message: str, section: str, key: str, expected: str = "", hint: str = ""
    ) -> Diagnostic:
        """Returns a diagnostic at a key of a section."""
        return Diagnostic(CODE, message, self.of(section, key), expected, hint)

    def not_toml(self, why: str) -> Diagnostic:
        """Returns a diagnostic of a text that is not TOML."""
        found = _AT.search(why)
        line, column = (int(found[1]), int(found[2])) if found else (len(self._lines), 1)
        place = Span(self.file, line, column, line, column + 1)
        said = _AT.sub("", why).strip()
        return Diagnostic(CODE, f"the mapping is not TOML: {said[:1].lower()}{said[1:]}", place)

    # ---- the old direction ----------------------------------------------------------------

    def is_old(self, key: str) -> bool:
        """Returns whether ``key`` is one of the old direction."""
        return key in OLD or key == "ignore"

    def of_old_sections(self, document: Mapping[str, Any]) -> Iterator[Diagnostic]:
        """Yields a diagnostic for each entry in the old direction, with the line as it is now."""
        for old, now in OLD.items():
            given = document.get(old)
            if given is not None:
                yield from self._reversed(old, now, given)
        if "ignore" in document:
            hint = f"write `ignored = {_toml(document['ignore'])}`"
            yield self.wrong("`ignore` is now called `ignored`", "", "ignore", "", hint)
        values = document.get("values")
        if isinstance(values, dict):
            flat = {key: each for key, each in values.items() if not isinstance(each, dict)}
            if flat:
                yield from self._reversed("values", "values.value", flat)

    def _reversed(self, old: str, now: str, given: Any) -> Iterator[Diagnostic]:
        if not isinstance(given, dict) or not given:
            yield self.wrong(f"`{old}` is now called [{now}]", "", old)
            return
        ours: dict[Any, list[str]] = {}
        for theirs, each in given.items():
            ours.setdefault(each if isinstance(each, str) else str(each), []).append(theirs)
        for theirs, each in given.items():
            key = each if isinstance(each, str) else str(each)
            hint = as_it_is_now(now, {key: ours[key]})
            message = "a mapping has the form ours = the log's"
            yield self.wrong(message, old, theirs, "", hint)


def as_it_is_now(section: str, entries: Mapping[str, list[str]]) -> str:
    """Returns how ``entries`` are written in a section."""
    lines = (f"{_key(ours)} = {_toml(_one(theirs))}" for ours, theirs in entries.items())
    return f"write `{', '.join(lines)}` in [{section}]"


def _one(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def _key(text: str) -> str:
    return text if re.fullmatch(r"[\w-]+", text, re.ASCII) else json.dumps(text, ensure_ascii=False)


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(key: str) -> str:
    if key[:1] == '"':
        try:
            return str(json.loads(key))
        except ValueError:
            return key[1:-1]
    return key[1:-1] if key[:1] == "'" else key


def listed(names: Iterable[str]) -> str:
    """Returns what is expected where it is one of ``names``."""
    return "one of " + ", ".join(f"`{name}`" for name in names)


def near(name: str, known: list[str]) -> str:
    """Returns which of the ``known`` names may be meant by ``name``; empty if none is like it."""
    found = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{found[0]}`?" if found else ""
