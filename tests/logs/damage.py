"""Damaged logs, and a definition of what can be read of one: text that has each token that its
objects have, and no other."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import re
from collections.abc import Callable, Mapping

import pyarrow as pa

TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?[0-9][0-9.eE+-]*|[a-z]+|[][{}:,]')
WHITE = re.compile(r"[ \t\r\n]*")


def by_arrow(codec: str) -> Callable[[bytes], bytes]:
    def compress(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as out:
            out.write(data)
        found: bytes = sink.getvalue().to_pybytes()
        return found

    return compress


COMPRESSIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
}


def log(draw: random.Random) -> bytes:
    """Returns a log of a few lines that can be read."""
    lines = []
    for pos in range(1, draw.randint(2, 6)):
        row: dict[str, object] = {"process": "p1", "pos": pos}
        row["kind"] = draw.choice(["broadcast", "deliver", "perform"])
        row["msg"] = draw.choice(["a", "ü", "\U0001f600", 'q"\\', "x\ty"])
        if draw.random() < 0.3:
            row["state"] = draw.choice([{"n": [1, {"m": 2.5}]}, {"n": []}, {"b": True, "c": None}])
        if draw.random() < 0.2:
            row["ts"] = draw.choice([0, 1.5, "2024-01-01T00:00:00"])
        if draw.random() < 0.2:
            row |= {"kind": "request", "name": "broadcast", "arguments": [row.pop("msg")]}
        lines.append(json.dumps(row, ensure_ascii=draw.random() < 0.5))
    end = draw.choice(["\n", "\n", "\r\n", "\n\n"])
    text = end.join(lines) + draw.choice([end, ""])
    return draw.choice([b"", b"", b"\xef\xbb\xbf"]) + text.encode()


PIECES = (
    *(bytes([octet]) for octet in (0, 10, 13, 32, 34, 44, 58, 91, 92, 93, 123, 125, 0xC3, 0xFF)),
    *(
        b"\\ud800",
        b"\\udc80",
        b"NaN",
        b"1e999",
        b"9" * 5000,
        b"[" * 700,
        b'"pos":1,',
        b'"msg":"b",',
    ),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\n\n", b"{}", b"null", b"\x0b", b"\xc2\xa0", b"0", b"-"),
)


def damaged(draw: random.Random, data: bytes) -> bytes:
    """Returns ``data`` with some bytes inserted, deleted, replaced, or cut off."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(5):
            case 0:
                data = data[:at] + draw.choice(PIECES) + data[at:]
            case 1:
                data = data[:at] + data[at + draw.randint(1, 3) :]
            case 2:
                data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
            case 3:
                data = data[:at]
            case 4:
                other = draw.randrange(len(data) + 1)
                data = data[:at] + data[min(at, other) : max(at, other)] + data[at:]
    return data


# ---- what can be read ---------------------------------------------------------------------------


def tokens(text: str) -> list[object] | None:
    """Returns the tokens of a text, strings and numbers as values; ``None`` where there is
    something else in it."""
    found: list[object] = []
    at = 0
    while (at := WHITE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        token = TOKEN.match(text, at)
        if token is None:
            return None
        is_value = token[0][0] in '"-0123456789'
        try:
            found.append(json.loads(token[0]) if is_value else token[0])
        except ValueError:
            return None
        at = token.end()
    return found


def understood(line: str) -> bool:
    """Returns whether a line is an object that says all that is written, and nothing else."""
    try:
        value = json.loads(line)
        again = json.dumps(value, ensure_ascii=False, allow_nan=False)
        again.encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and tokens(again) == tokens(line)


def shallow(line: str) -> bool:
    """Returns whether no part of a line has more than 500 brackets open."""
    depth = deepest = 0
    for token in tokens(line) or ():
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        deepest = max(deepest, depth)
    return deepest <= 500


def wrong_lines(data: bytes) -> list[int]:
    """Returns the lines that can't be read of a log with an object in each line."""
    body = data.removeprefix(b"\xef\xbb\xbf")
    found = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        try:
            text = line.decode().strip(" \t\r\n")
        except UnicodeDecodeError:
            found.append(number)
            continue
        if text and not (understood(text) and shallow(text)):
            found.append(number)
    return found
