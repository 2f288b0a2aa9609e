"""Makes untrusted text safe for terminals and pages: control characters are only shown."""

from __future__ import annotations

import re
from functools import cache

_ACTING = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # C0 but tabs and line ends, and C1
    "|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # directions (UAX 9)
    "|[\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|[\ud800-\udfff]"  # halves of characters, which no encoding has
)
_NO_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


@cache
def acting() -> re.Pattern[str]:
    """Returns the pattern of characters that move the cursor, colour, reorder or hide what stands
    around them."""
    return re.compile(_ACTING)


def visible(text: str) -> str:
    r"""Returns ``text`` with control characters written as ``\x1b`` or ``\u202e``.

    The function is idempotent.
    """
    return text if _is_plain(text) else acting().sub(_escape, text)


def xml_text(text: str) -> str:
    """Returns ``text`` without the characters that XML 1.0 does not allow, not escaped."""
    return re.sub(_NO_XML, "\N{REPLACEMENT CHARACTER}", text)


def json_text(document: object, indent: int | None = 2) -> str:
    """Returns ``document`` as equivalent JSON that can be printed on a terminal as it is."""
    import json

    separators = (",", ":") if indent is None else None
    text = json.dumps(document, indent=indent, ensure_ascii=False, separators=separators)
    if _is_plain(text):
        return text
    return acting().sub(lambda found: json.dumps(found[0])[1:-1], text)


def _is_plain(text: str) -> bool:
    """Returns whether all characters but tabs and line ends are printable, so that none acts: it
    takes less time than to compile the pattern."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
