"""Reads the JSON objects of a log: one a line, or pretty-printed, or in an array.

Each byte is part of an object that is returned, or of white space, or an error names its line.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from checker.logs.content import Content, Unreadable, beginning
from checker.polling import poll

WHITE = " \t\r\n"
DEEPEST = 500
"""How deep a value may be nested."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BEGUN = re.compile(r"\.|[eE][-+]?|-|tr?u?|fa?l?s?|nu?l?|\\u[\da-fA-F]{0,4}|\\|")
"""The beginning of a number, a word or an escape that is cut short."""


class Cut(Unreadable):
    """A text is the beginning of a JSON object."""


def decoded(line: bytes, number: int) -> str:
    """Returns the text of a line; raises :class:`Unreadable` where it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as problem:
        where = f"byte {problem.start + 1} of the line, 0x{line[problem.start]:02X}"
        raise Unreadable(
            f"this line is not UTF-8: {where}", number, "convert it to UTF-8"
        ) from None


def lines(data: Content, at: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of ``data`` from the byte ``at``, with their ends, and their numbers."""
    number, size = 1, len(data)
    while at < size:
        poll()
        end = data.find(b"\n", at) + 1 or size
        yield number, bytes(data[at:end])
        number, at = number + 1, end


def texts(data: Content) -> Iterator[tuple[int, str, bool]]:
    """Yields the text of each object of ``data``, the number of its line, and whether a line end
    or an object follows; raises :class:`Unreadable`.

    Where the first line that is not blank ends within an object or begins an array, objects may
    extend over lines.  Otherwise each line is one.
    """
    is_first = True
    for number, line in lines(data, beginning(data)):
        is_whole = line.endswith(b"\n")
        text = decoded(line, number) if is_whole else _last(line, number)
        bare = text.strip(WHITE)
        if not bare:
            continue
        if is_first and is_whole and (bare[0] == "[" or (bare[0] == "{" and bare[-1] in "{[,")):
            yield from _document(_decoded(data))
            return
        if is_first and bare[0] == "[":
            yield from _document(text)
            return
        is_first = False
        yield number, text, is_whole


def _last(line: bytes, number: int) -> str:
    """Returns the text of a last line without an end, which may be cut within a character."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as problem:
        if problem.reason == "unexpected end of data":
            return line.decode("utf-8", "replace")
    return decoded(line, number)


def _decoded(data: Content) -> str:
    return "".join(decoded(line, number) for number, line in lines(data, beginning(data)))


def _document(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yields the objects of a text, one after the other or the items of one array."""
    at, line, before = _white(text, 0), 1, 0
    is_array = text[at] == "["
    at += is_array
    decoder = json.JSONDecoder()
    is_open = is_array
    while (at := _white(text, at)) < len(text):
        line += text.count("\n", before, at)
        before = at
        if is_array and not is_open:
            raise Unreadable("the array is followed by other text", line)
        if is_array and text[at] == "]":
            is_open, at = False, at + 1
            continue
        try:
            _, end = decoder.raw_decode(text, at)
        except RecursionError:
            raise Unreadable("this object is nested too deeply", line) from None
        except json.JSONDecodeError as problem:
            raise Unreadable(f"no JSON: {_said(problem)}", problem.lineno) from None
        except ValueError:
            raise Unreadable("a number in this object is too long", line) from None
        yield line, text[at:end], True
        at = _separated(text, end, line) if is_array else end
    if is_open:
        raise Unreadable("the array is not closed", text.count("\n") + 1)


def _separated(text: str, at: int, line: int) -> int:
    """Returns where the next item of an array, or its end, is."""
    at = _white(text, at)
    if text[at : at + 1] == "]":
        return at
    if text[at : at + 1] == "," and text[_white(text, at + 1) :][:1] not in ("]", ""):
        return at + 1
    raise Unreadable("this object must be followed by `,` and another object, or by `]`", line)


def _white(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITE:
        at += 1
    return at


# ---- one object ---------------------------------------------------------------------------------


class _Wrong(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise _Wrong(f"duplicate key {json.dumps(twice)} in an object")
    return found


def _no_number(text: str) -> float:
    raise _Wrong(f"invalid JSON: {text} is not a number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Wrong(f"the number {text[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)


class Placed(dict[str, Any]):
    """An object that begins on a line of its own."""

    line: int


def _placing(text: str, number: int) -> json.JSONDecoder:
    """Returns a decoder of ``text``, which begins on the line ``number``, that makes each object in
    it a :class:`Placed` one.  It is slower by far than one that does not."""
    decoder: Any = json.JSONDecoder(
        object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
    )
    ends = [found.start() for found in re.finditer("\n", text)]

    def placed(where: tuple[str, int], *more: Any) -> tuple[Placed, int]:
        value, end = JSONObject(where, *more)
        found = Placed(value)
        found.line = number + bisect_left(ends, where[1])
        return found, end

    decoder.parse_object = placed
    decoder.scan_once = py_make_scanner(decoder)  # the other one has its own way with objects
    return decoder  # type: ignore[no-any-return]


def parse(text: str, number: int, *, has_rows: bool = False) -> dict[str, Any]:
    """Returns the object that ``text``, in the line ``number``, is; if it ``has_rows`` and several
    lines, each object in it is a :class:`Placed` one.

    Raises :class:`Unreadable` where it is no JSON object, has a key twice, half of a surrogate
    pair, a number too large or too long, or is nested too deeply; :class:`Cut` where it is the
    beginning of one.
    """
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise Unreadable("this line is nested too deeply", number)
    try:
        decoder = _placing(text, number) if has_rows and "\n" in text.strip(WHITE) else _DECODER
        found = decoder.decode(text)
    except json.JSONDecodeError as problem:
        kind = Cut if _is_cut(text, problem) else Unreadable
        raise kind(f"this line is not JSON: {_said(problem)}", number) from None
    except RecursionError:
        raise Unreadable("this line is nested too deeply", number) from None
    except _Wrong as problem:
        raise Unreadable(str(problem), number) from None
    except ValueError:
        raise Unreadable("a number in this line is too long", number) from None
    if not isinstance(found, dict):
        raise Unreadable("this line is not a JSON object", number)
    if _SURROGATE.search(text):
        _require_characters(found, number)
    return found


def _said(problem: json.JSONDecodeError) -> str:
    return f"{problem.msg[0].lower()}{problem.msg[1:]} (column {problem.colno})"


def _require_characters(found: dict[str, Any], number: int) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as problem:
        half = problem.object[problem.start]
        message = f"a string has an unpaired surrogate, U+{ord(half):04X}"
        raise Unreadable(message, number) from None


def _is_cut(text: str, problem: json.JSONDecodeError) -> bool:
    """Returns whether ``text``, which is no JSON for that reason, is the beginning of an object."""
    if not text.lstrip(WHITE).startswith("{"):
        return False
    if problem.msg.startswith("Unterminated string"):
        return True
    rest = text[problem.pos :].strip(WHITE)
    if problem.msg.startswith("Invalid"):  # an escape, of which the position is the first digit
        rest = text[text.rfind("\\") :]
    return problem.msg != "Extra data" and _BEGUN.fullmatch(rest) is not None


def _depth(text: str) -> int:
    """Returns how deep brackets outside of strings are nested."""
    deepest = depth = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[][{}]', text):
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        deepest = max(deepest, depth)
    return deepest
