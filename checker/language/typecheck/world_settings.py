"""Replaces clauses of a check's environment by settings: ``--set links=fifo``, ``--set
crash=2``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from checker.diagnostics import Diagnostic, Span, SpecError, option_span
from checker.language.parser.cache import parse
from checker.language.syntax import ast_clauses, ast_items
from checker.language.syntax.walk import relocate
from checker.language.typecheck.world import UNBOUNDED
from checker.records import replace

BOUNDS = (
    "crash", "power", "wipe", "sync", "omission", "byzantine", "partition", "pause", "cut", "reset"
)  # fmt: skip
WORDS = {
    "links": "kinds of links, such as fifo, fair_loss+fifo or `bounded 2`",
    "crash": "a bound, such as 1, or none",
    "power": "a bound, such as 1, or none",
    "wipe": "a bound, such as 1, or none",
    "sync": "a bound, such as 1, or none",
    "recover": "yes or no",
    "omission": "a bound, such as 1, or none",
    "byzantine": "a bound, such as 1, or none",
    "partition": "a bound, such as 1, or any, or none",
    "pause": "a bound, such as 1, or any, or none",
    "cut": "a bound, such as 1, or any, or none; or of one way, such as `1 of Proc -> Proc`",
    "reset": "a bound, such as 1, or none",
    "timing": "asynchronous, synchronous, `partial noise 1`, `clocks drift 1`,"
    " `clocks drift 1 until 10` or none",
    "detector": "P, S, `eventually P`, `eventually S noise 2`, Omega or none",
    "given": "the implementation of a layer, such as `cons as oracle`",
    "crash_points": "inside or between_handlers",
    "fair": "names of optional handlers, such as takes+leaves or `strongly takes`, or none",
}
"""The clauses that can be set, and their values, in words."""

NONE = "none"
YES, NO = ("yes", "true"), ("no", "false")
_PLAIN = re.compile(r"[\w\s,+*()>-]+")


def world_of(settings: Mapping[str, str], parameters: set[str]) -> dict[str, str]:
    """Returns those of ``settings`` that are about the environment; parameters of the protocol take
    precedence."""
    return {k: " ".join(v.split()) for k, v in settings.items() if k in WORDS.keys() - parameters}


def in_world(decl: ast_items.Check, world: Mapping[str, str]) -> ast_items.Check:
    """Returns the check ``decl`` with the clauses that ``world`` names replaced.

    New clauses are located at the option that sets them.  Raises :class:`SpecError` (E030) for a
    value that no clause can have; whether the clauses are compatible is determined when the check
    is typed.
    """
    items = list(decl.items)
    for word, value in world.items():
        span = option_span("--set", word, value)
        new = relocate(tuple(_items(word, value, span)), span)
        items = [item for item in items if not _is_replaced(item, word, new)]
        items.extend(new)
    return replace(decl, items=tuple(items))


def _items(word: str, value: str, span: Span) -> Iterator[ast_items.CheckItem]:
    """Yields the clauses that ``word`` set to ``value`` stands for."""
    text = _text(word, value)
    if text is None or not _PLAIN.fullmatch(value):
        raise _impossible(word, value, span)
    try:
        found = parse(f"check a of b {{ {text} }}", f"{word}={value}").items
    except SpecError:
        raise _impossible(word, value, span) from None
    if len(found) != 1 or not isinstance(found[0], ast_items.Check):
        raise _impossible(word, value, span)
    for item in found[0].items:
        if not _about(item, word):
            raise _impossible(word, value, span)
        yield item


def _text(word: str, value: str) -> str | None:
    """Returns the clause in the syntax of a check; ``None`` where it has none."""
    parts = [part.strip() for part in re.split("[+,]", value)]
    if word == "recover":
        return {**dict.fromkeys(YES, "faults recover"), **dict.fromkeys(NO, "")}.get(value)
    if word == "links":
        return f"links {', '.join(parts)}"
    if word == "given":
        return " ".join(f"given {part}" for part in parts)
    if word == "crash_points":
        return f"crash points {value}"
    if value == NONE:
        return ""
    if word == "fair":
        return " ".join(re.sub(r"^(strongly )?", r"\1fair ", part) for part in parts)
    if word in BOUNDS:
        clauses = value.split(",") if word == "cut" else [value]
        return f"faults {', '.join(_bounded(word, clause.strip()) for clause in clauses)}"
    return f"{word} {value}"


def _bounded(word: str, value: str) -> str:
    """Returns a clause about faults, such as ``cut of a -> b`` for ``any of a -> b``."""
    bound, _, rest = value.partition(" ")
    if word in UNBOUNDED and bound == "any":
        return f"{word} {rest}".rstrip()
    return f"{word} <= {value}"


def _about(item: ast_items.CheckItem, word: str) -> bool:
    """Tells whether ``item`` is what ``word`` sets."""
    match item:
        case ast_items.Fault():
            return item.kind.text == word
        case ast_items.Link():
            return word == "links"
        case ast_items.Timing():
            return word == "timing"
        case ast_items.Detector():
            return word == "detector"
        case ast_items.Given():
            return word == "given"
        case ast_items.CrashPoints():
            return word == "crash_points"
        case ast_clauses.FairHandlers():
            return word == "fair"
        case _:
            return False


def _is_replaced(
    item: ast_items.CheckItem, word: str, new: tuple[ast_items.CheckItem, ...]
) -> bool:
    """Tells whether ``new`` replaces ``item``: of given layers, only the same layer."""
    if isinstance(item, ast_items.Given):
        return any(isinstance(n, ast_items.Given) and n.layer.text == item.layer.text for n in new)
    return _about(item, word)


def _impossible(word: str, value: str, span: Span) -> SpecError:
    message = f"`{word}` can't be set to `{value}`"
    return SpecError((Diagnostic("E030", message, span, WORDS[word]),))
