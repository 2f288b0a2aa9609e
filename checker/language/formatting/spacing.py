"""How many blanks are between two tokens on a line."""

from __future__ import annotations

from checker.language.parser.tokens import Lexeme

_CALLS = frozenset(
    "apply apply_on aggregate call definition message on_indication on_receive on_request operation"
    " operator_decl parameters procedure record_display returned role role_change".split()
)
"""The rules in which a parenthesis follows a name without a blank."""
_INDEXED = frozenset(("index_of", "uses", "on_indication", "start_timer", "cancel_timer"))
_TYPES = frozenset(("collection_type", "map_type", "object"))
"""The rules with angle brackets."""
_SPACED_COLON = frozenset(
    "state stable shared ghost ghost_shared uses property invariant var".split()
)
"""The rules with a blank before their colon."""
_NAMES = frozenset(("NAME", "RECORD"))


def blanks(left: Lexeme, right: Lexeme) -> int:
    """Returns the number of blanks between two tokens that follow one another on a line: two before
    an item or a statement behind another one."""
    if right.is_head and not left.is_container:
        return 2
    if right.is_head and left.text == "}":
        return 2
    return 0 if _after(left) or _before(left, right) else 1


def _after(left: Lexeme) -> bool:
    """Tells whether nothing separates ``left`` from what follows."""
    match left.text:
        case "(" | "[" | "." | ".." | "/" | "#":
            return True
        case "-":
            return left.is_first and left.rule == "operator"
        case "<":
            return left.rule in _TYPES
        case "{":
            return left.rule == "set"
    return False


def _before(left: Lexeme, right: Lexeme) -> bool:
    """Tells whether nothing separates ``right`` from ``left``, which is before it."""
    match right.text:
        case ")" | "]" | "," | "." | ".." | "/":
            return True
        case "(":
            if right.rule == "blank":
                return left.text == "??"
            return right.rule in _CALLS and (left.kind in _NAMES or left.text == "]")
        case "[":
            return right.rule == "timer_key" or (right.rule in _INDEXED and not right.is_first)
        case ":":
            return right.rule not in _SPACED_COLON
        case "<" | ">":
            return right.rule in _TYPES
        case "}":
            return right.rule == "set"
    return False
