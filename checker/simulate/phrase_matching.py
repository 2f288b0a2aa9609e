"""Matches the user's words with choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from checker.simulate.choices import Choice

ANYTHING = ("...", "…")
"""The wildcards for any words of a phrase."""

_TOKEN = re.compile(r"\.\.\.|\w+'*|\S")


@dataclass(frozen=True, slots=True)
class Unclear:
    """No choice matches, or several: ``choices`` are the candidates (the nearest first) or, where
    there are none, the choices of the process that the words begin with.
    """

    message: str
    choices: tuple[str, ...]


def match_choice(words: str, among: Sequence[Choice]) -> Choice | Unclear:
    """Returns the choice whose phrase is ``words`` or begins with them (whole words only).

    White space makes no difference, and ``…`` (or ``...``) stands for any words.  Where several
    phrases match, they must lead to one state.
    """
    pattern = _pattern(words)
    plain = _plain(words)
    found = (
        [c for c in among if any(plain == _plain(t) for t in _phrases(c))]
        or [c for c in among if any(pattern.fullmatch(_plain(t)) for t in _phrases(c))]
        or [c for c in among if any(_begins(pattern, t) for t in _phrases(c))]
    )
    if not found:
        return _none(words, among)
    if len({choice.successor for choice in found}) > 1:
        message = f"`{words}` can mean {len(found)} different steps"
        return Unclear(message, tuple(choice.text for choice in found))
    return found[0]


def _phrases(choice: Choice) -> tuple[str, ...]:
    return (choice.text, *choice.also)


def _plain(text: str) -> str:
    """Returns the words and signs of ``text``, separated by one space."""
    return " ".join(_TOKEN.findall(text))


def _pattern(words: str) -> re.Pattern[str]:
    parts = [".*" if t in ANYTHING else re.escape(t) for t in _TOKEN.findall(words)]
    return re.compile(" ".join(parts))


def _begins(pattern: re.Pattern[str], text: str) -> bool:
    return re.match(f"(?:{pattern.pattern})(?: |$)", _plain(text)) is not None


def _none(words: str, among: Sequence[Choice]) -> Unclear:
    who = process_of(words, (choice.process for choice in among))
    own = [choice.text for choice in among if choice.process == who]
    message = f"`{words}` can't happen here"
    texts = [choice.text for choice in among]
    near = get_close_matches(words, texts, 3, 0.6)
    return Unclear(message, tuple(dict.fromkeys([*near, *own] if who else near)))


def process_of(words: str, processes: Iterable[str]) -> str:
    """Returns the process that ``words`` begin with, or an empty text."""
    first = re.match(r"\w+'*", words)
    return first[0] if first is not None and first[0] in set(processes) else ""
