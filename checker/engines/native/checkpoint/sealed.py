"""JSON documents with a checksum of their contents."""

from __future__ import annotations

import json
import zlib
from typing import Any


def seal(document: dict[str, Any]) -> bytes:
    """``document`` with its checksum, as bytes."""
    return json.dumps({"checksum": _checksum(document), "document": document}).encode()


def unseal(data: bytes) -> dict[str, Any] | None:
    """The document that :func:`seal` was given; ``None`` where ``data`` is not its result."""
    try:
        said = json.loads(data)
        document = said["document"]
        whole = isinstance(document, dict) and said["checksum"] == _checksum(document)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return document if whole else None


def _checksum(document: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(document, sort_keys=True).encode())
