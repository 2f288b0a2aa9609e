"""The text of a spec in colours, line by line."""

from __future__ import annotations

from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from rich.text import Text

from checker.render.lexer import BivalenceLexer

_STYLES: dict[_TokenType, str] = {
    Comment: "dim",
    String: "green",
    Keyword.Type: "cyan",
    Keyword.Constant: "magenta",
    Keyword: "bold",
    Operator.Word: "bold",
    Name.Class: "bold cyan",
    Name.Function: "cyan",
    Name.Constant: "yellow",
    Name.Builtin: "magenta",
    Number: "magenta",
}
"""The first of these that a token is of says how it is drawn."""


def coloured_lines(text: str) -> list[Text]:
    """Returns the lines of ``text`` in the colours of the language, tabs as two blanks."""
    whole = Text()
    for kind, word in BivalenceLexer(stripnl=False, ensurenl=False).get_tokens(text.expandtabs(2)):
        style = next((style for of, style in _STYLES.items() if kind in of), "")
        whole.append(word, style)
    return [*whole.split("\n", allow_blank=False)]
