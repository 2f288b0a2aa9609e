"""Traces and reports as JSON in which something is not what it should be."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, -1, 10**30, 1.5, "", "p1", "\x1b[31m", "\u202e", [], {}, [[]], {"": None}, 
    "x" * 5000, [1, 2, 3], "how", "COUNTED",
)  # fmt: skip


def damaged(draw: random.Random, document: Any) -> str:
    """``document`` as text, with some values replaced, removed or doubled, or the text cut."""
    changed = copy.deepcopy(document)
    for _ in range(draw.choice((1, 1, 2, 4))):
        _damage(draw, changed)
    text = json.dumps(changed)
    match draw.randrange(12):
        case 0:
            return text[: draw.randrange(len(text))]
        case 1:
            at = draw.randrange(len(text))
            return text[:at] + draw.choice(("}", "{", '"', "\0", "9" * 400, "[" * 3000)) + text[at:]
        case _:
            return text


def _damage(draw: random.Random, node: Any) -> None:
    while True:
        places = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not places:
            return
        place = draw.choice(places)
        inner = node[place]
        if isinstance(inner, dict | list) and inner and draw.random() < 0.85:
            node = inner
            continue
        match draw.randrange(4):
            case 0 if isinstance(node, dict):
                del node[place]
            case 1 if isinstance(node, list):
                node.insert(place, copy.deepcopy(inner))
            case _:
                node[place] = copy.deepcopy(draw.choice(ODD))
        return
