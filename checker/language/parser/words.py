"""Words syntax errors in terms of the language rather than of the grammar."""

from __future__ import annotations

import re
from difflib import get_close_matches

from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from checker.diagnostics import Diagnostic, Span
from checker.diagnostics.english import listing
from checker.language.notations import Found, notation_at
from checker.language.parser.keywords import another_name
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
        "INITIALLY",
        "CONSISTENT",
        "RECORD",
        "__ANON_1",
        "LBRACEVBAR",
        "_HOLE",
    ]
)
_OPERATORS = frozenset(
    [
        "SUM",
        "PRODUCT",
        "SETOP",
        "COMPARE",
        "_HOLE",
        "IN",
        "SUBSET",
        "PREFIX",
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
_TYPES = frozenset("BOOL NAT ENUM RECORD GENERIC MAP SEQUENCE LPAR NAME INT MINUS HASH".split())
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
        "VAR",
        "SKIP",
        "PERFORM",
        "YIELD",
        "_AWAIT",
        "_AWAIT_ALONE",
        "_SYNC",
        "_SYNC_ALL",
        "ATOMIC",
        "_START",
        "_RETURN",
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
        "WITHOUT",
        "_REPLACE",
        "_INSIDE",
        "CONST",
        "DEFINE",
        "PROCEDURE",
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
        "_MUTANT",
        "_FOR_ALL",
        "_BOUND",
        "_VIEW",
        "_AT_MOST",
        "_FAIR",
        "STRONGLY",
        "PROPERTY",
        "INVARIANT",
        "NAME",
    ]
)
_TOP = frozenset(
    ["IMPORT", "INTERFACE", "OBJECT", "PROTOCOL", "VARIANT", "CHECK", "TYPE", "CONST", "DEFINE"]
)
_OBJECT = frozenset(["OPERATION", "STATE", "TYPE", "CONST", "DEFINE"])
_MOST = 6
_TYPE = ("NAT", "GENERIC")
_VALUE = ("NAME", "INT", "LPAR", "HASH")
_NAMED = "a name and `:` come before the formula: `invariant x : e`, `property x : e`"
_GROUPS = (
    (("SEND", "SKIP"), _STATEMENTS, "a statement"),
    (("UPON", "STATE"), _DECLARATIONS, "a declaration (`state`, `message`, `upon`, …)"),
    (("OPERATION", "STATE"), _OBJECT, "`operation` or `state`"),
    (("REQUEST", "INDICATION"), _INTERFACE, "`request`, `indication` or `property`"),
    (("PROVE", "EXPECT"), _SETTINGS, "a part of a check (`n = …`, `faults`, `prove`, …)"),
    (("IMPORT", "PROTOCOL"), _TOP, "`import`, `interface`, `protocol`, `variant` or `check`"),
    (_TYPE, _TYPES, "a type"),
    (_VALUE, _EXPRESSION, "an expression"),
    (("SUM", "PRODUCT"), _OPERATORS, "an operator"),
)
_WORDS = {
    "NAME": "a name",
    "ALONE": "",
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
    "_OF_ROLE": "`of`",
    "NOISE": "`noise`",
    "DRIFT": "`drift`",
    "IDEMPOTENT": "`idempotent`",
    "SYNCED": "`synced`",
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
    "HAPPENING": "a step in words, on a separate line",
    "_FOR_ALL": "`for all`",
    "_BOUND": "`bound`",
    "_VIEW": "`view`",
    "_REPLACE": "`replace`",
    "_WITH": "`with`",
    "_INSIDE": "`inside`",
    "_MUTANT": "`mutant`",
    "_ANY_OF": "`any of`",
    "_AT_MOST": "`at most`",
    "_FAIR": "`fair`",
    "STRONGLY": "`strongly fair`",
    "_AT_LEAST": "`at least`",
    "_OVER": "`/`",
    "FOR_SOME": "`for some adversary`",
    "PER_PROCESS": "`per process`",
    "HOLDS_WITHIN": "",
    "_FOREVER": "`forever`",
    "INVARIANT": "`invariant`",
    "_THEN": "`then`",
    "_RETURN": "`return`",
    "CONSISTENT": "`linearizable as`",
}
_KEYWORDS = (
    "allow always atomic await bound cancel check choose clients condition const define detector "
    "dies disconnected either else enum eventually exists expect faults forall from ghost given "
    "idempotent implements import indication init interface invariant links may message mutant "
    "object operation perform procedure property protocol prove receive record recover replace "
    "request require requires return returns role scenario send shared skip "
    "stable start state sync synced timeout timing type union upon uses var view when while yield"
).split()
_EVENT_WORDS = ("on", "when", "def", "fun", "function")
MISSPELT = "where it says"
"""Part of the hint of an error whose cause is the word before it."""
_AROUND_NAMES = frozenset(("NAME", "LPAR", "RPAR", "COMMA", "RBRACE"))
"""What can be expected where a name is declared."""
_OPERATOR = re.compile(r"\b(?:request|indication)\s+\w+\s*$")
_NO_PAYLOAD = re.compile(r"\bclients\s*\{[^}]*\w\s*\(\s*$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SEND = re.compile(r"//[^\n]*|\b(send)\b")
_HINTS = {
    "=": "a value is assigned with `:=`, compared with `==`",
    ";": "statements need no separators; leave it out",
    "“": 'strings are written in `"…"`',
    "”": 'strings are written in `"…"`',
    "'": 'strings are written in `"…"`',
}
_NO_COMMA = re.compile(r"\b(?:links|faults|prove)[ \t][^{}\n]*?\b(\w+)[ \t]+(\w+)\s*$")
"""A list whose last two items have no comma between them."""


def is_for_a_refused_name(error: UnexpectedInput, word: str, refused: set[str]) -> bool:
    """Tells whether the ``word`` at which the parser stopped is one that was ``refused`` as a name,
    and a name can stand there."""
    return word in refused and isinstance(error, UnexpectedToken) and "NAME" in error.accepts


def whole_word(text: str, offset: int) -> str:
    """Returns the word that begins at ``offset``; an empty one where none does."""
    found = _WORD.match(text, offset)
    return found.group() if found else ""


def syntax_error(error: UnexpectedInput, text: str, file: str) -> tuple[int, Diagnostic]:
    """Returns the offset at which the parser stopped, and the diagnostic."""
    offset = error.pos_in_stream if isinstance(error.pos_in_stream, int) else len(text)
    end_of_text = isinstance(error, UnexpectedEOF)
    length = 1
    code, message = "S001", "the text ends too early"
    if isinstance(error, UnexpectedCharacters):
        found = text[offset : offset + 1]
        code, message = "S002", f"unexpected {_character(found)}"
        names = error.allowed or set()
    elif isinstance(error, UnexpectedToken):
        token = error.token
        end_of_text = token.type == "$END"
        names = error.accepts or error.expected
        if not end_of_text:
            found = whole_word(text, offset) or str(token)
            length = len(found)
            message = f"unexpected {_token_text(token.type, found)}"
    else:
        names = set(getattr(error, "expected", ()))
    if end_of_text:
        offset, found = max(len(text.rstrip()) - 1, 0), ""
    elif "_FAULT_BOUND" not in names and (foreign := notation_at(text, offset)):
        return offset, _foreign(foreign, text, file)
    span = _span(text, file, offset, length)
    if _is_for_a_name(found, set(names), text[:offset], text[offset + length :]):
        message = f"`{found}` is a reserved word"
        return offset, Diagnostic("S006", message, span, hint=another_name(found))
    if code != "S002" and "NAME" in names and _is_declared(found, text):
        message = f"after an expression, `{found}` is read as a keyword"
        return offset, Diagnostic("S006", message, span, hint=another_name(found))
    missing = _NO_COMMA.search(text[:offset])
    if missing and set(names) == {"EQUAL"} and found != "<=" and not found.isdigit():
        return offset, _no_comma(missing, text, file)
    if "TO" in names and (end_of_text or found == "}" or found[:1].isalpha()):
        return offset, _no_receivers(text, file, offset)
    expected = "" if code == "S002" else expectation(set(names))
    hint = _hint(code, found, set(names), text[: len(text) if end_of_text else offset])
    return offset, Diagnostic(code, message, span, expected, hint)


def _foreign(found: Found, text: str, file: str) -> Diagnostic:
    """Returns the diagnostic of a notation of another language."""
    message = f"`{found.text.strip()}` is a notation of {found.language}"
    span = _span(text, file, found.offset, len(found.text))
    return Diagnostic("S007", message, span, hint=found.hint)


def _is_for_a_name(found: str, names: set[str], before: str, after: str) -> bool:
    """Tells whether a word of the language stands where only a name can, on the same line."""
    line = before.rstrip(" \t")
    if found == "when" and line.endswith(",") and not after.lstrip().startswith(":"):
        return False  # the comma is too much: `for all n, when n > 1`
    only_names = "NAME" in names and names <= _AROUND_NAMES
    return only_names and found.isascii() and found.isidentifier() and line == before.rstrip()


def _is_declared(found: str, text: str) -> bool:
    """Tells whether ``text`` declares something that a statement may begin with and that is called
    ``found``."""
    kinds = "state|var|procedure|uses|indication"
    return found.isidentifier() and bool(re.search(rf"\b(?:{kinds})[ \t]+{found}\b", text))


def _no_receivers(text: str, file: str, offset: int) -> Diagnostic:
    """Returns the error of a `send` without `to` that ends at ``offset``, where it stands."""
    *_, start = (found.start() for found in _SEND.finditer(text[:offset]) if found.group(1))
    line = text[start:offset].split("\n", 1)[0].split("//", 1)[0]
    message = "this `send` has no receiver"
    wanted = "`to` and a process, a set of processes or `all`"
    return Diagnostic("S001", message, _span(text, file, start, len(line.rstrip())), wanted)


def _no_comma(items: re.Match[str], text: str, file: str) -> Diagnostic:
    """Returns the error of a list without a comma before its last item, where that stands."""
    before, last = items.groups()
    span = _span(text, file, items.start(2), len(last))
    hint = f"items are separated by commas: `{before}, {last}`"
    return Diagnostic("S001", f"unexpected name `{last}`", span, "`,`", hint)


def _hint(code: str, found: str, names: set[str], before: str) -> str:
    """Returns what is meant by ``found``, or by the word before it, where that can be told."""
    _, last = word_before(before, len(before))
    return (
        _hint_of_sign(found, names)
        or _suggest_keyword(found, names)
        or _hint_of_place(code, found, last, names)
        or _hint_of_brackets(found, names, before)
        or _hint_of_decimal(found, names, before)
        or _suggest_before(last)
    )


def _hint_of_sign(found: str, names: set[str]) -> str:
    if "_FAULT_BOUND" in names and (found == "=" or found.isdigit()):
        return "the bound of a fault is written `crash <= 1`"
    if found == "<=" and "EQUAL" in names:
        return "faults are separated by commas: `faults crash <= 1, omission <= 1`"
    if found in ("=", "==") and names == {"STRING", "COLON"}:
        return _NAMED
    if found[:1] in ("'", '"') and names.issuperset(_VALUE):
        return "there are no texts: declare labels, `enum { one, two }`, and write `one`"
    if found == "{" and names.issuperset(_TYPE):
        return "a type of labels is written `enum { a, b }`"
    if found == ":=" and "EQUAL" in names:
        return "an initial value is written with `=`: `state v : T = e`"
    return _HINTS.get(found, "") or _HINTS.get(found[:1], "")


def _hint_of_place(code: str, found: str, last: str, names: set[str]) -> str:
    if code == "S002" and found.isalpha():
        return "names consist of the letters a to z and A to Z, digits and `_`"
    if found == "if" and "WHEN" in names:
        return "a guard is written `when e`"
    if found in ("++", "--") and last:
        return f"write `{last} {found[0]}= 1`"
    if last == "to" and found == "all":
        return "a message is sent by `send M(x) to all`"
    if last == "all" and found.isidentifier():
        return f"write `forall {found} in Proc: …`"
    if last == "check" and names == {"EQUAL"}:
        return f"properties follow `prove`: `prove {found}`"
    if found == "," and "PROVE" in names:
        return "the parts of a check need no commas"
    if "STRING" in names and last == "import":
        return 'a file is named in quotes: `import "other.bcast"`'
    if last == "crash" and found == "{":
        return "crashes are declared in a check: `faults crash <= 1`"
    if found == "then" and "LBRACE" in names:
        return "blocks use braces: leave `then` out"
    if found in _EVENT_WORDS and "UPON" in names:
        return "a handler begins with `upon`"
    if last == "init" and "CHOOSE" in names:
        return "a handler begins with `upon`: `upon init { … }`"
    if last in ("init", "recover") and found == "(":
        return f"`upon {last}` has no arguments: leave out the parentheses"
    if names == {"STRING", "COLON"}:
        return _NAMED
    if last in ("either", "or") and found.isidentifier() and {"WHEN", "LBRACE"} <= names:
        return f"an alternative is named by `as`: `{last} as {found} {{ … }}`"
    if found.isidentifier() and "UPON" in names and not names & {"EQUAL", "COLON"}:
        return "statements belong in handlers: `upon … { … }`"
    return ""


_EVENT = re.compile(r"\bupon\b[^{}]*$")
"""The beginning of a handler, up to its body."""


def _hint_of_decimal(found: str, names: set[str], before: str) -> str:
    if found.isdigit() and names == {"NAME"} and re.search(r"\d\.$", before):
        return "there are no decimals; write a probability as a fraction, such as `1/2`"
    return ""


def _hint_of_brackets(found: str, names: set[str], before: str) -> str:
    """Returns the hint where nothing is written between brackets, or no brackets."""
    if names == {"LPAR"} and _OPERATOR.search(before):
        return "parentheses follow the name even if they are empty: `()`"
    if found == ":" and "RPAR" in names and _EVENT.search(before):
        return "write names without types: the event's declaration has the types"
    if found == ")" and _NO_PAYLOAD.search(before):
        return "a request without arguments is only a verb: `p1 increments`"
    return ""


def _suggest_keyword(found: str, names: set[str]) -> str:
    """Returns a keyword of ``names`` that ``found`` is a misspelling of."""
    possible = [name.lower() for name in names if name.lower() in _KEYWORDS]
    near = get_close_matches(found, possible, 1, 0.7)
    return f"did you mean `{near[0]}`?" if near else ""


def _suggest_before(last: str) -> str:
    """Returns a keyword that the word before the error is a misspelling of."""
    near = [] if last in _KEYWORDS else get_close_matches(last, _KEYWORDS, 1, 0.75)
    return f"did you mean `{near[0]}` {MISSPELT} `{last}`?" if near else ""


def _span(text: str, file: str, offset: int, length: int) -> Span:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    first = text[offset : offset + length].split("\n")[0]
    return Span(file, line, column, line, column + max(1, len(first)))


def _token_text(type_: str, text: str) -> str:
    if type_ == "INT":
        return f"number `{text[:20]}`"
    if type_ == "NAME":
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
    return f"`{name.lower().strip('_')}`"
