"""Matches the user's words with choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from msgspec import Struct

from checker.model.ir import CRASHING, PAUSING
from checker.simulate.choices import Choice

ANYTHING = ("...", "…")
"""The wildcards for any words of a phrase."""

Item = TypeVar("Item")

_TOKEN = re.compile(r"\.\.\.|\w+'*|\S")


class Unclear(Struct, frozen=True):
    """No choice matches, or several: ``choices`` are the candidates (the nearest first) or, where
    there are none, the choices of the process that the words begin with.  ``disabled``: no choice
    matches.
    """

    message: str
    choices: tuple[str, ...]
    disabled: bool = False


def match_choice(words: str, among: Sequence[Choice]) -> Choice | Unclear:
    """Returns the choice whose phrase is ``words`` or begins with them (whole words only).

    White space makes no difference, and ``…`` (or ``...``) stands for any words.  Where several
    phrases match, they must lead to one state; steps in which the process stops inside its handler
    are left out then, if there are others.
    """
    found = best_matches(words, [(choice, _phrases(choice)) for choice in among])
    if not found:
        return _none(words, among)
    found = [choice for choice in found if not _stops_inside(choice)] or found
    if len({choice.successor for choice in found}) > 1:
        message = f"`{words}` can mean {len(found)} different steps"
        return Unclear(message, tuple(choice.text for choice in found))
    return found[0]


def best_matches(words: str, among: Iterable[tuple[Item, Iterable[str]]]) -> list[Item]:
    """Returns the items that have ``words`` as a phrase; where none has, those that match their
    wildcards; where none does, those with a phrase that begins with them.
    """
    pattern, plain = _pattern(words), _plain(words)
    ranked: tuple[list[Item], ...] = ([], [], [])
    for item, phrases in among:
        texts = [_plain(text) for text in phrases]
        if plain in texts:
            ranked[0].append(item)
        elif any(pattern.fullmatch(text) for text in texts):
            ranked[1].append(item)
        elif any(re.match(f"(?:{pattern.pattern})(?: |$)", text) for text in texts):
            ranked[2].append(item)
    return next((found for found in ranked if found), [])


def _stops_inside(choice: Choice) -> bool:
    """Returns whether the process crashes or pauses before its handler has ended."""
    return choice.transition is not None and choice.transition.action.name.endswith(
        (CRASHING, PAUSING)
    )


def _phrases(choice: Choice) -> tuple[str, ...]:
    return (choice.text, *choice.also)


def _plain(text: str) -> str:
    """Returns the words and signs of ``text``, separated by one space."""
    return " ".join(_TOKEN.findall(text))


def _pattern(words: str) -> re.Pattern[str]:
    parts = [".*" if t in ANYTHING else re.escape(t) for t in _TOKEN.findall(words)]
    return re.compile(" ".join(parts))


def _none(words: str, among: Sequence[Choice]) -> Unclear:
    who = process_of(words, (choice.process for choice in among))
    own = [choice.text for choice in among if choice.process == who]
    message = f"`{words}` can't happen here"
    texts = [choice.text for choice in among]
    near = get_close_matches(words, texts, 3, 0.6)
    if gap := _with_gap(words, among):
        written, found = gap
        message += f"; write `…` for omitted arguments: `{written}`"
        near = [*found, *near]
    return Unclear(message, tuple(dict.fromkeys([*near, *own] if who else near)), disabled=True)


def _with_gap(words: str, among: Sequence[Choice]) -> tuple[str, list[str]] | None:
    """Returns ``words`` with an ellipsis after one of them, so that they match choices, and the
    texts of these; ``None`` where that does not help."""
    pairs = [(choice, _phrases(choice)) for choice in among]
    for token in _TOKEN.finditer(words):
        end = token.end()
        written = f"{words[:end]} …{words[end:]}"
        if end < len(words) and (found := best_matches(written, pairs)):
            return written, [choice.text for choice in found]
    return None


def process_of(words: str, processes: Iterable[str]) -> str:
    """Returns the process that ``words`` begin with, or an empty text."""
    first = re.match(r"\w+'*", words)
    return first[0] if first is not None and first[0] in set(processes) else ""
