"""Words syntax errors in terms of the language rather than of the grammar."""

from __future__ import annotations

from difflib import get_close_matches

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from checker.diagnostics import Diagnostic, Span
from checker.diagnostics.english import listing
from checker.language.parser.recover import word_before

_EXPRESSION = frozenset(
    [
        "INT",
        "NAME",
        "TRUE",
        "FALSE",
        "NONE",
        "BOOL",
        "LPAR",
        "LBRACE",
        "LSQB",
        "MINUS",
        "HASH",
        "NOT",
        "QUANTIFIER",
        "IF",
        "ALWAYS",
        "EVENTUALLY",
        "RECORD",
        "__ANON_1",
        "LBRACEVBAR",
    ]
)
_OPERATORS = frozenset(
    [
        "SUM",
        "PRODUCT",
        "SETOP",
        "COMPARE",
        "IN",
        "SUBSET",
        "AND",
        "OR",
        "NOT",
        "DOT",
        "LSQB",
        "LPAR",
        "BOUND_SUM",
        "STAR",
        "__ANON_0",
        "__ANON_1",
        "__ANON_2",
    ]
)
_TYPES = frozenset(
    [
        "BOOL",
        "NAT",
        "ENUM",
        "RECORD",
        "GENERIC",
        "MAP",
        "SEQUENCE",
        "LPAR",
        "NAME",
        "INT",
        "MINUS",
        "HASH",
    ]
)
_STATEMENTS = frozenset(
    [
        "SEND",
        "IF",
        "FOR",
        "WHILE",
        "CHOOSE",
        "EITHER",
        "REQUIRE",
        "LET",
        "SKIP",
        "PERFORM",
        "YIELD",
        "ATOMIC",
        "_START",
        "_CANCEL",
        "NAME",
    ]
)
_DECLARATIONS = frozenset(
    [
        "MAY",
        "UPON",
        "STATE",
        "STABLE",
        "SHARED",
        "MESSAGE",
        "PROPERTY",
        "INVARIANT",
        "USES",
        "ROLE",
        "INIT",
        "TYPE",
    ]
)
_INTERFACE = frozenset(["REQUEST", "INDICATION", "PROPERTIES", "PROPERTY", "TYPE"])
_SETTINGS = frozenset(
    [
        "FAULTS",
        "LINKS",
        "TIMING",
        "DETECTOR",
        "GIVEN",
        "_CRASH_POINTS",
        "CLIENTS",
        "PROVE",
        "EXPECT",
        "ALLOW",
        "SCENARIO",
        "_FOR_ALL",
        "INVARIANT",
        "NAME",
    ]
)
_TOP = frozenset(["IMPORT", "INTERFACE", "PROTOCOL", "CHECK"])
_MOST = 6
_GROUPS = (
    (("SEND", "SKIP"), _STATEMENTS, "a statement"),
    (("UPON", "STATE"), _DECLARATIONS, "a declaration (`state`, `message`, `upon`, …)"),
    (("REQUEST", "INDICATION"), _INTERFACE, "`request`, `indication` or `property`"),
    (("PROVE", "EXPECT"), _SETTINGS, "a part of a check (`n = …`, `faults`, `prove`, …)"),
    (("IMPORT", "PROTOCOL"), _TOP, "`import`, `interface`, `protocol` or `check`"),
    (("NAT", "GENERIC"), _TYPES, "a type"),
    (("NAME", "INT", "LPAR", "HASH"), _EXPRESSION, "an expression"),
    (("SUM", "PRODUCT"), _OPERATORS, "an operator"),
)
_WORDS = {
    "NAME": "a name",
    "INT": "a number",
    "STRING": 'a string in `"…"`',
    "ASSIGN": "`:=`",
    "COMPARE": "a comparison",
    "SUM": "`+`",
    "BOUND_SUM": "`+`",
    "PRODUCT": "`*`",
    "SETOP": "`union`",
    "QUANTIFIER": "`forall`",
    "_FAULT_BOUND": "`<=`",
    "NOISE": "`noise`",
    "DRIFT": "`drift`",
    "IDEMPOTENT": "`idempotent`",
    "ALL_OF": "`all` and a role",
    "GENERIC": "`set`",
    "SEQUENCE": "`seq`",
    "_CRASH_POINTS": "`crash points`",
    "$END": "the end of the file",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "EQUAL": "`=`",
    "LESSTHAN": "`<`",
    "MORETHAN": "`>`",
    "HASH": "`#`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "NAT": "`Nat`",
    "HAPPENING": "a step in words, on a line of its own",
    "_FOR_ALL": "`for all`",
    "_FOREVER": "`forever`",
    "INVARIANT": "`invariant`",
    "_THEN": "`then`",
}
_KEYWORDS = (
    "allow always atomic cancel check choose clients condition detector either else enum "
    "eventually exists expect faults forall from given idempotent implements import indication "
    "init interface invariant links may message perform property protocol prove receive record "
    "recover request require requires role scenario send shared skip stable start state timeout "
    "timing type union upon uses when while yield"
).split()
MISSPELT = "where it says"
"""Part of the hint of an error whose cause is the word before it."""
_HINTS = {
    "=": "a value is assigned with `:=`, compared with `==`",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`, or `!=`",
    "∀": "write `forall`",
    "∃": "write `exists`",
    "∈": "write `in`",
    "∧": "write `and`",
    "∨": "write `or`",
    "¬": "write `not`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "/": "integer division is `div`",
    ";": "statements need no separators; leave it out",
}


def syntax_error(error: UnexpectedInput, text: str, file: str) -> tuple[int, Diagnostic]:
    """Returns the offset at which the parser stopped, and the diagnostic."""
    offset = error.pos_in_stream if isinstance(error.pos_in_stream, int) else len(text)
    end_of_text = isinstance(error, UnexpectedEOF)
    length = 1
    code, message = "S001", "the text ends too early"
    if isinstance(error, UnexpectedCharacters):
        found = text[offset : offset + 1]
        code, message = "S002", f"{_character(found)} can't stand here"
        names = error.allowed or set()
    elif isinstance(error, UnexpectedToken):
        token = error.token
        end_of_text = token.type == "$END"
        names = error.accepts or error.expected
        if not end_of_text:
            length = len(token)
            found = str(token)
            message = f"unexpected {_token_text(token)}"
    else:
        names = set(getattr(error, "expected", ()))
    if end_of_text:
        offset, found = max(len(text.rstrip()) - 1, 0), ""
    span = _span(text, file, offset, length)
    expected = "" if code == "S002" else expectation(set(names))
    hint = _HINTS.get(found[:1], "") or _suggest_keyword(found, set(names), text[:offset])
    return offset, Diagnostic(code, message, span, expected, hint)


def _suggest_keyword(found: str, names: set[str], before: str) -> str:
    """Returns a keyword that ``found``, or the word before it, is a misspelling of."""
    possible = [name.lower() for name in names if name.lower() in _KEYWORDS]
    near = get_close_matches(found, possible, 1, 0.7)
    if near:
        return f"did you mean `{near[0]}`?"
    _, last = word_before(before, len(before))
    if not last or last in _KEYWORDS:
        return ""
    near = get_close_matches(last, _KEYWORDS, 1, 0.75)
    return f"did you mean `{near[0]}` {MISSPELT} `{last}`?" if near else ""


def _span(text: str, file: str, offset: int, length: int) -> Span:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    first = text[offset : offset + length].split("\n")[0]
    return Span(file, line, column, line, column + max(1, len(first)))


def _token_text(token: Token) -> str:
    text = str(token)
    if token.type == "INT":
        return f"number `{text[:20]}`"
    if token.type == "NAME":
        return f"name `{text[:40]}`"
    return f"`{text[:40]}`"


def _character(found: str) -> str:
    if found.isprintable() and found.strip():
        return f"`{found}`"
    return f"the character U+{ord(found):04X}" if found else "the end of the text"


def expectation(names: set[str]) -> str:
    """Returns the terminals ``names`` as words, most informative first, at most six of them."""
    left = set(names)
    words: list[str] = []
    for needed, group, word in _GROUPS:
        if left.issuperset(needed):
            words.append(word)
            left -= group
    words.extend(sorted((_WORDS.get(n, _keyword(n)) for n in left), key=_telling))
    known = [w for w in words if w]
    if len(known) > _MOST:
        return ", ".join([*known[:_MOST], "…"])
    return listing(known, "or")


def _telling(word: str) -> tuple[int, str]:
    """Returns a sort key: descriptions first, then `:=` and the like, then keywords, brackets
    last."""
    if not word.startswith("`"):
        return 0, word
    if word in ("`:=`", "`=`", "`:`", "`}`"):
        return 1, word
    return (2 if word[1:2].isalpha() else 3), word


def _keyword(name: str) -> str:
    if name.startswith("__") or not name.replace("_", "").isalpha():
        return ""
    return f"`{name.lower()}`"
