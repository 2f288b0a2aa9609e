"""A lexer for Pygments, which colours specs in terminals and documents (`bivalence`)."""

from __future__ import annotations

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from checker.render import vocabulary


def _words(of: frozenset[str]) -> words:
    return words(tuple(sorted(of)), prefix=r"\b", suffix=r"(?![\w'])")


_NAME = r"[A-Za-z_]\w*'*"


class BivalenceLexer(RegexLexer):  # type: ignore[misc]
    """Splits a spec into tokens; every text has some, and together they are the text."""

    name = "Bivalence"
    aliases = ("bivalence", "bcast")
    filenames = ("*.bcast",)
    url = ""

    tokens = {  # noqa: RUF012
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"[^"\n]*"', String.Doc),
            (
                rf"\b(protocol|interface|object|variant|check|role)(\s+)({_NAME})",
                bygroups(Keyword.Declaration, Text.Whitespace, Name.Class),
            ),
            (
                rf"\b(property|invariant|define|procedure|scenario|mutant)(\s+)({_NAME})",
                bygroups(Keyword.Declaration, Text.Whitespace, Name.Function),
            ),
            (_words(vocabulary.DECLARATIONS), Keyword.Declaration),
            (_words(vocabulary.MODIFIERS), Keyword.Reserved),
            (_words(vocabulary.CONTROL), Keyword),
            (_words(vocabulary.OPERATORS), Operator.Word),
            (_words(vocabulary.TYPES), Keyword.Type),
            (_words(vocabulary.CONSTANTS), Keyword.Constant),
            (_words(vocabulary.WORLD), Name.Builtin),
            (_words(vocabulary.CLAUSES), Keyword),
            (r"\b[A-Z][A-Z0-9_]+\b", Name.Constant),
            (_NAME, Name),
            (r"[0-9]+", Number.Integer),
            (r":=|\+=|-=|=>|~>|->|\?\?|==|!=|<=|>=|\.\.|\+\+|[-+*<>=#]", Operator),
            (r"\{\||\|\}|[][(){},.:]", Punctuation),
            (r".", Text),
        ]
    }
