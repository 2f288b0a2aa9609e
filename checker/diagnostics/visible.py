"""Makes untrusted text safe for terminals and pages: control characters are only shown."""

from __future__ import annotations

import json
import re

ACTING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # C0 but tabs and line ends, and C1
    "|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # directions (UAX 9)
    "|[\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|[\ud800-\udfff]"  # halves of characters, which no encoding has
)
"""Characters that move the cursor, colour, reorder or hide what stands around them."""

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    r"""Returns ``text`` with control characters written as ``\x1b`` or ``\u202e``.

    The function is idempotent.
    """
    return ACTING.sub(_escape, text)


def xml_text(text: str) -> str:
    """Returns ``text`` without the characters that XML 1.0 does not allow, not escaped."""
    return NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def json_text(document: object, indent: int | None = 2) -> str:
    """Returns ``document`` as equivalent JSON that can be printed on a terminal as it is."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(document, indent=indent, ensure_ascii=False, separators=separators)
    return ACTING.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
