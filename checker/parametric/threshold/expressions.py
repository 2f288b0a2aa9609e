"""Reads terms, conditions and temporal formulas of threshold automata."""

from __future__ import annotations

from typing import NoReturn, TypeAlias, TypeGuard

from checker.parametric.automaton.arithmetic import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    plus,
    times,
)
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Condition,
    Linear,
    Not,
    Or,
    Quotient,
)
from checker.parametric.threshold.tokens import Source, Token
from checker.parametric.threshold.written import (
    All,
    Any,
    Finally,
    Formula,
    Globally,
    Negation,
)

Value: TypeAlias = Linear | Formula

_STRENGTH = {
    "->": 1, "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5,
    "*": 6, "/": 6,
}  # fmt: skip
"""How strongly an operator between two operands binds."""

_COMPARED, _PRODUCT = 4, 6
DEEPEST = 400
"""At most so many expressions inside one another."""


class Expressions:
    """The words of a file from left to right; ``known``: what names stand for."""

    def __init__(self, source: Source, words: list[Token]) -> None:
        self.source = source
        self.words = words
        self.at = 0
        self.depth = 0
        self.known: dict[str, Linear] = {}
        self.quotients: dict[tuple[Linear, int], Quotient] = {}

    @property
    def next(self) -> Token:
        return self.words[self.at]

    def advance(self) -> Token:
        """Returns the next word, and goes behind it."""
        token = self.words[self.at]
        self.at = min(self.at + 1, len(self.words) - 1)
        return token

    def fail(self, token: Token, message: str, hint: str = "", code: str = "E117") -> NoReturn:
        end = max(token.end, token.start + 1)
        raise self.source.error(code, message, token.start, end, hint)

    def skip(self, text: str) -> bool:
        """Goes behind the next word, if it is ``text``, and returns whether it is."""
        if self.next.text != text:
            return False
        self.advance()
        return True

    def take(self, text: str) -> Token:
        """Goes behind the next word, which has to be ``text``."""
        if self.next.text != text:
            self.fail(self.next, f"`{text}` is expected, and not {_called(self.next)}")
        return self.advance()

    def take_name(self, what: str) -> Token:
        """Goes behind the next word, which has to be a name."""
        if self.next.kind != "name":
            self.fail(self.next, f"{what} is expected, and not {_called(self.next)}")
        return self.advance()

    def take_number(self) -> int:
        """Goes behind the next word, which has to be a number."""
        if self.next.kind != "number":
            self.fail(self.next, f"a number is expected, and not {_called(self.next)}")
        return int(self.advance().text)

    # ---- expressions ----------------------------------------------------------------------

    def term(self) -> Linear:
        """Reads a linear term."""
        first = self.next
        return self._as_term(self._expression(_COMPARED), first)

    def condition(self) -> Condition:
        """Reads a condition: a formula without temporal operators."""
        first = self.next
        found = self.formula()
        if not is_condition(found):
            last = self.words[self.at - 1]
            message = "a temporal operator can only be in a specification"
            raise self.source.error("E119", message, first.start, last.end)
        return found

    def formula(self) -> Formula:
        """Reads a temporal formula."""
        first = self.next
        return self._as_formula(self._expression(0), first)

    def _expression(self, above: int) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(self.next, f"more than {DEEPEST} expressions are inside one another")
        first = self.next
        left = self._operand()
        while _STRENGTH.get(self.next.text, 0) > above:
            operator = self.advance()
            strength = _STRENGTH[operator.text]
            right_first = self.next
            right = self._expression(strength - 1 if operator.text == "->" else strength)
            left = self._joined(operator, (left, first), (right, right_first))
        self.depth -= 1
        return left

    def _operand(self) -> Value:
        token = self.advance()
        match token.text:
            case "(":
                inside = self._expression(0)
                self.take(")")
                return inside
            case "!":
                return _negation(self._as_formula(self._expression(_COMPARED - 1), token))
            case "<>":
                return Finally(self._as_formula(self._expression(_COMPARED - 1), token))
            case "[]":
                return Globally(self._as_formula(self._expression(_COMPARED - 1), token))
            case "-":
                return times(self._as_term(self._expression(_PRODUCT), token), -1)
            case "true":
                return TRUE
            case "false":
                return FALSE
        if token.kind == "number":
            return Linear((), int(token.text))
        if token.kind != "name":
            self.fail(token, f"an expression is expected, and not {_called(token)}")
        if token.text not in self.known:
            message = f"`{token.text}` is not declared, or can't be used here"
            self.fail(token, message, code="E118")
        return self.known[token.text]

    def _joined(
        self, operator: Token, left: tuple[Value, Token], right: tuple[Value, Token]
    ) -> Value:
        match operator.text:
            case "->":
                return _either(_negation(self._as_formula(*left)), self._as_formula(*right))
            case "||":
                return _either(self._as_formula(*left), self._as_formula(*right))
            case "&&":
                return _both(self._as_formula(*left), self._as_formula(*right))
        one, other = self._as_term(*left), self._as_term(*right)
        match operator.text:
            case "+":
                return plus(one, other)
            case "-":
                return plus(one, times(other, -1))
            case "*":
                return self._product(operator, one, other)
            case "/":
                return self._quotient(operator, one, other)
        return _comparison(operator.text, plus(one, times(other, -1)))

    def _product(self, operator: Token, one: Linear, other: Linear) -> Linear:
        if one.terms and other.terms:
            message = "a product of two names is not linear"
            self.fail(operator, message, "multiply by a number", "E119")
        return times(one, other.constant) if other.terms == () else times(other, one.constant)

    def _quotient(self, operator: Token, one: Linear, other: Linear) -> Linear:
        """Returns the quotient, rounded down, as a name of its own."""
        if other.terms or other.constant <= 0:
            message = "a division by something other than a number above 0 is not linear"
            self.fail(operator, message, "divide by a number", "E119")
        if not one.terms:
            return Linear((), one.constant // other.constant)
        found = self.quotients.setdefault(
            (one, other.constant),
            Quotient(f"quotient {len(self.quotients) + 1}", one, other.constant),
        )
        return Linear(((found.name, 1),))

    def _as_term(self, value: Value, first: Token) -> Linear:
        if not isinstance(value, Linear):
            self._odd(first, "a number is expected, and this is a condition")
        return value

    def _as_formula(self, value: Value, first: Token) -> Formula:
        if not isinstance(value, Linear):
            return value
        if value.terms or value.constant not in (0, 1):
            self._odd(first, "a condition is expected, and this is a number")
        return TRUE if value.constant else FALSE

    def _odd(self, first: Token, message: str) -> NoReturn:
        last = self.words[max(self.at - 1, 0)]
        raise self.source.error("E119", message, first.start, max(last.end, first.end))


def is_condition(formula: Formula) -> TypeGuard[Condition]:
    """Returns whether the formula has no temporal operators."""
    return isinstance(formula, AtLeast | Not | And | Or)


def _called(token: Token) -> str:
    return "the end of the file" if token.kind == "end" else f"`{token.text}`"


def _comparison(operator: str, difference: Linear) -> Condition:
    """Returns that ``difference`` compares so with 0."""
    above, below = AtLeast(difference), AtLeast(times(difference, -1))
    match operator:
        case ">=":
            return above
        case "<=":
            return below
        case "<":
            return Not(above)
        case ">":
            return Not(below)
        case "==":
            return And((above, below))
        case _:
            return Or((Not(above), Not(below)))


def _negation(part: Formula) -> Formula:
    return Not(part) if is_condition(part) else Negation(part)


def _both(left: Formula, right: Formula) -> Formula:
    if is_condition(left) and is_condition(right):
        return conjunction([left, right])
    return All((left, right))


def _either(left: Formula, right: Formula) -> Formula:
    if is_condition(left) and is_condition(right):
        return disjunction([left, right])
    return Any((left, right))
