"""What acts on a terminal or a page is shown instead."""

from __future__ import annotations

import json

import pytest

from checker.diagnostics.visible import json_text, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("\x9b31m \x85 \x7f \x00", r"\x9b31m \x85 \x7f \x00"),
        ("a\u202eb\u2066c\u200fd\u061c", r"a\u202eb\u2066c\u200fd\u061c"),
        ("a\u2028b\ufeff\u200b", r"a\u2028b\ufeff\u200b"),
        ("a\U000e0041", r"a\U000e0041"),
        ("\ud800", r"\ud800"),
        ("over\rwritten", r"over\x0dwritten"),
        ("\ta\n b\r\n", "\ta\n b\r\n"),
        ("∀ é 中 👩\u200d🚀 e\u0301 \\x1b", "∀ é 中 👩\u200d🚀 e\u0301 \\x1b"),
    ],
)
def test_signs_that_act(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


@pytest.mark.parametrize("indent", [None, 2])
def test_json_keeps_its_meaning(indent: int | None) -> None:
    document = {"a\x9b\u202e": ["\x1b\U000e0041\x7f\ud800é", "\u2028 \\"]}
    text = json_text(document, indent)
    assert json.loads(text) == document
    assert visible(text) == text
    assert "é" in text
