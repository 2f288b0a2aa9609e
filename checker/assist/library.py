"""Finds specs, interfaces, pages and codes of the tool by words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from checker import resources
from checker.assist.answer import MOST, ROOM, Answer, Next, wrapped
from checker.assist.arguments import Library
from checker.assist.refusals import ARGUMENTS, Refused

GROWTH, SHORT = 4.0, 0.4
"""How slowly repetitions of a word count less, and how much a text's length counts (k1 and b)."""
NAME, TITLE, HEAD = 8, 2, 3
"""The weights of a name, of the first sentence of a text, and of the comment at its beginning."""
STEM = 7
"""The letters of a word that count."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_ENDING = re.compile(r"(?:ations?|ements?|ions?|ings?|ers?|ed|es|s|e|y)$")
_HEAD = re.compile(r"(?:[ \t]*//[^\n]*\n)*")
_INTERFACE = re.compile(r"^interface (\w+)", re.MULTILINE)


def answer(asked: Library) -> Answer:
    """Returns what is found; raises :class:`Refused` (A001)."""
    if (asked.query is None) == (asked.code is None):
        raise Refused(ARGUMENTS, "name a `query` or a `code`", "one of the two")
    if asked.code is not None:
        from checker.diagnostics.codes import page

        try:
            lines = tuple(page(asked.code).splitlines())
        except KeyError:
            raise Refused(ARGUMENTS, "no such code", "codes are like N003") from None
        return _page(f"What {asked.code} means.", lines, asked)
    assert asked.query is not None
    entries = entries_of(asked.kind)
    if asked.kind is not None and asked.query in entries:
        return _page(f"The {asked.kind} {asked.query}.", entries[asked.query].splitlines(), asked)
    best = ranked(entries, asked.query)
    lines = tuple(f"{name}: {_first(entries[name])}" for name in best)
    return _page(f"{len(best)} match; a whole name with its kind shows one.", lines, asked)


def _page(claim: str, text: Sequence[str], asked: Library) -> Answer:
    """Returns the lines of a text from the ``offset`` of the call on, as many as fit, with the call
    for the next ones; raises :class:`Refused` (A001)."""
    lines = [part for line in text if line.strip() for part in wrapped(line)]
    if asked.offset and asked.offset >= len(lines):
        hint = f"`offset` is below {len(lines)}"
        raise Refused(ARGUMENTS, f"there are only {len(lines)} lines", hint)
    shown = lines[asked.offset : asked.offset + MOST["lines"]]
    while len(msgspec.json.encode(shown)) > ROOM:
        shown.pop()
    end = asked.offset + len(shown)
    if end == len(lines) and not asked.offset:
        return Answer("shown", claim, lines=tuple(shown))
    claim = f"{claim} Lines {asked.offset + 1} to {end} of {len(lines)}."
    if end == len(lines):
        return Answer("shown", claim, lines=tuple(shown))
    call = {k: v for k, v in msgspec.to_builtins(asked).items() if v is not None}
    more = Next("library", {**call, "offset": end}, "the next lines")
    left = {"lines": len(lines) - end}
    return Answer("shown", claim, lines=tuple(shown), next=(more,), left_out=left)


def entries_of(kind: str | None) -> dict[str, str]:
    """Returns the texts of a kind, or of all, by name."""
    found: dict[str, str] = {}
    if kind in (None, "spec"):
        for name in resources.spec_names():
            if not name.startswith("interfaces/"):
                found[name] = _text(resources.specs() / f"{name}.bcast")
    if kind in (None, "interface"):
        for file in sorted(resources.interfaces().glob("*.bcast")):
            text = _text(file)
            found |= {name: text for name in _INTERFACE.findall(text)}
    if kind in (None, "page"):
        folder = resources.documents()
        for page in sorted(folder.rglob("*.md")):
            name = page.relative_to(folder).with_suffix("").as_posix()
            if not name.startswith("decisions/"):
                found.setdefault(name, _text(page))
    return found


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def ranked(entries: dict[str, str], query: str) -> list[str]:
    """Returns the names of the entries that match a query, the best first.

    The rank is BM25 (Robertson and Zaragoza, *The probabilistic relevance framework*, 2009): rare
    words count more, and so do those of short texts.  A name counts as several words of the text,
    and so does the comment at its beginning.
    """
    texts = {name: _terms(name, entries[name]) for name in entries}
    usual = sum(each.total() for each in texts.values()) / max(1, len(texts))
    scores = dict.fromkeys(texts, 0.0)
    for stem in {*_stems(query)}:
        having = [name for name, terms in texts.items() if stem in terms]
        rare = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for name in having:
            often, length = texts[name][stem], texts[name].total()
            scores[name] += rare * often / (often + GROWTH * (1 - SHORT + SHORT * length / usual))
    return sorted((n for n, score in scores.items() if score), key=lambda n: (-scores[n], n))


@lru_cache(maxsize=1_000)
def _terms(name: str, text: str) -> Counter[str]:
    """Returns how often each stem counts in an entry."""
    head = _HEAD.match(text)
    return Counter([
        *_stems(name) * NAME,
        *_stems(_first(text)) * TITLE,
        *_stems(head[0] if head else "") * HEAD,
        *_stems(text),
    ])  # fmt: skip


def _stems(text: str) -> list[str]:
    """Returns the words of a text without their endings: ``retransmission`` and ``retransmits`` are
    one.  Names such as ``EagerBroadcast`` are several words."""
    words = re.findall(r"[a-z0-9]+", _CAMEL.sub(" ", text).lower())
    return [(_ENDING.sub("", word) or word)[:STEM] for word in words]


def _first(text: str) -> str:
    """Returns the first sentence of a text."""
    lines = [line.lstrip("/# ").strip() for line in text.splitlines()]
    return next((line for line in lines if line), "")
