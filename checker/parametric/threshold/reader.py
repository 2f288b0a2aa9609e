"""Reads threshold automata in the format of ByMC.

The format: https://github.com/konnov/bymc/blob/master/bymc/doc/ta-format.md.  Files of the
published benchmarks go beyond that grammar, and so does this: sections can be called as in older
files, ``unchanged(…)`` and the variables that an action leaves out keep their value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from checker import resources
from checker.diagnostics import Diagnostic, Span
from checker.language.reading import decoded
from checker.parametric.automaton.automaton import Condition, Linear
from checker.parametric.threshold.expressions import Expressions
from checker.parametric.threshold.tokens import Source, Token
from checker.parametric.threshold.written import Specification, Written, WrittenRule

T = TypeVar("T")

SUFFIXES = (".ta", ".eta")
LARGEST = 16_000_000
"""The largest size of a file, in bytes."""

_HEADS = ("skel", "thresholdAutomaton", "threshAuto", "TA", "ta")


def is_threshold_file(name: str) -> bool:
    """Returns whether a file of this name is a threshold automaton."""
    return name.endswith(SUFFIXES)


def read_file(path: Path) -> Written:
    """Reads the file ``path``; raises :class:`SpecError` (E001, E117 to E119)."""
    return read_text(text_of(path), str(path))


def text_of(path: Path) -> str:
    """Returns the text of the file ``path``; raises :class:`SpecError` (E001)."""
    return decoded(path, lambda each: resources.regular(each, LARGEST))


def read_text(text: str, file: str) -> Written:
    """Reads ``text``, the contents of ``file``; raises :class:`SpecError` (E117 to E119)."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _Reader(Source(file, text)).automaton()


class _Reader:
    """Reads one file, word by word."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.words = Expressions(source, source.tokens())
        self.known = self.words.known
        self.parameters: list[str] = []
        self.shared: list[str] = []
        self.locations: list[str] = []
        self.declared: set[str] = set()
        self.guards: dict[str, tuple[Condition, Span]] = {}
        self.updates: dict[str, Mapping[str, Linear]] = {}
        self.warnings: list[Diagnostic] = []

    def automaton(self) -> Written:
        words = self.words
        head = words.take_name("the name of the automaton's kind")
        if head.text not in _HEADS:
            self.fail(head, f"`{head.text}` is not how a threshold automaton begins",
                      "begin with `skel NAME {`")  # fmt: skip
        name = words.take_name("the automaton's name").text
        words.take("{")
        self._declarations()
        assumptions = self._conditions("assumptions", "assume")
        self._section("locations", self._location)
        begins = self._conditions("inits")
        rules: list[WrittenRule] = []
        self._section("rules", lambda: rules.append(self._rule()))
        specifications: dict[str, Specification] = {}
        if words.next.text in ("specifications", "spec"):
            self._section(words.next.text, lambda: self._specification(specifications))
        words.take("}")
        if words.next.kind != "end":
            self.fail(words.next, "there is more after the automaton's last `}`")
        return Written(
            self.source.file, name, tuple(self.shared), tuple(self.parameters),
            tuple(words.quotients.values()), tuple(assumptions),
            tuple(self.locations), tuple(begins), tuple(rules), tuple(specifications.values()),
            tuple(self.warnings),
        )  # fmt: skip

    def fail(self, token: Token, message: str, hint: str = "", code: str = "E117") -> NoReturn:
        raise self.source.error(code, message, token.start, max(token.end, token.start + 1), hint)

    # ---- declarations ---------------------------------------------------------------------

    def _declarations(self) -> None:
        words = self.words
        lists = {"local": list[str](), "shared": self.shared, "parameters": self.parameters}
        while True:
            token = words.next
            if token.text in lists:
                words.advance()
                for name in self._names():
                    self._declare(name, Linear(((name.text, 1),)))
                    lists[token.text].append(name.text)
                    if token.text == "local":  # its values are only said of locations
                        del self.known[name.text]
            elif token.text == "define":
                words.advance()
                name = words.take_name("the name of the definition")
                words.take("==")
                value = words.term()
                words.take(";")
                self._declare(name, value)
            elif token.text == "unknowns":
                self.fail(token, "`unknowns` are for synthesis, which is not supported",
                          "give them values, with `define`")  # fmt: skip
            else:
                return

    def _names(self) -> Iterable[Token]:
        found = [self.words.take_name("a name")]
        while self.words.skip(","):
            found.append(self.words.take_name("a name"))
        self.words.take(";")
        return found

    def _declare(self, name: Token, value: Linear) -> None:
        if name.text in self.declared:
            self.fail(name, f"`{name.text}` is declared twice", code="E118")
        self.declared.add(name.text)
        self.known[name.text] = value

    def _section(self, title: str, item: Callable[[], None]) -> None:
        words = self.words
        words.take(title)
        words.take("(")
        words.take_number()
        words.take(")")
        words.take("{")
        while not words.skip("}"):
            item()

    def _conditions(self, *titles: str) -> list[Condition]:
        """Reads a section of conditions, if one of these ``titles`` is next."""
        words = self.words
        found: list[Condition] = []

        def one() -> None:
            found.append(words.condition())
            words.take(";")

        if words.next.text in titles:
            self._section(words.next.text, one)
        return found

    # ---- items of sections ----------------------------------------------------------------

    def _location(self) -> None:
        words = self.words
        name = words.take_name("the name of a location")
        words.take(":")
        words.take("[")
        words.take_number()
        while words.skip(";"):
            words.take_number()
        words.take("]")
        words.take(";")
        self._declare(name, Linear(((name.text, 1),)))
        self.locations.append(name.text)

    def _rule(self) -> WrittenRule:
        words = self.words
        start = words.next.start
        number = words.take_number()
        words.take(":")
        source = self._known_location()
        words.take("->")
        target = self._known_location()
        words.take("when")
        guard, guard_span = self._remembered(self.guards, "do", self._guard)
        words.take("do")
        words.take("{")
        updates = self._remembered(self.updates, "}", self._actions)
        words.take("}")
        end = words.take(";").end
        span = self.source.span(start, end)
        return WrittenRule(number, source, target, guard, updates, span, guard_span)

    def _remembered(self, known: dict[str, T], until: str, read: Callable[[], T]) -> T:
        """Returns what ``read`` makes of the words up to ``until``; rules of generated files have
        few different guards and actions, so that most were read before."""
        words = self.words
        last = words.at
        while words.words[last].text not in (until, ""):
            last += 1
        text = self.source.text[words.next.start : words.words[last].start]
        if text in known:
            words.at = last
        else:
            known[text] = read()
        return known[text]

    def _guard(self) -> tuple[Condition, Span]:
        words = self.words
        opening = words.take("(")
        guard = words.condition()
        return guard, self.source.span(opening.start, words.take(")").end)

    def _actions(self) -> Mapping[str, Linear]:
        updates: dict[str, Linear] = {}
        while self.words.next.text != "}":
            self._action(updates)
        return updates

    def _known_location(self) -> str:
        name = self.words.take_name("a location")
        if name.text not in self.locations:
            self.fail(name, f"`{name.text}` is not a location", code="E118")
        return name.text

    def _action(self, updates: dict[str, Linear]) -> None:
        words = self.words
        name = words.take_name("an action")
        if name.text == "unchanged":
            words.take("(")
            self._assign(self._variable(words.take_name("a shared variable")), None, updates)
            while words.skip(","):
                self._assign(self._variable(words.take_name("a shared variable")), None, updates)
            words.take(")")
        else:
            self._variable(name)
            words.take("'")
            words.take("==")
            self._assign(name, words.term(), updates)
        if words.next.text != "}":
            words.take(";")

    def _variable(self, name: Token) -> Token:
        if name.text not in self.shared:
            self.fail(name, f"`{name.text}` is not a shared variable", code="E118")
        return name

    def _assign(self, name: Token, value: Linear | None, updates: dict[str, Linear]) -> None:
        """Notes the new ``value`` of a variable, or ``None``, by which it is unchanged."""
        same = Linear(((name.text, 1),))
        before = updates.get(name.text)
        if value is None and before not in (None, same):
            message = f"`{name.text}` is assigned, and listed as unchanged: the assignment counts"
            span = self.source.span(name.start, name.end)
            self.warnings.append(Diagnostic("E118", message, span, severity="warning"))
            return
        value = value or same
        if updates.setdefault(name.text, value) != value:
            self.fail(name, f"`{name.text}` is assigned two values", code="E118")

    def _specification(self, found: dict[str, Specification]) -> None:
        words = self.words
        name = words.take_name("the name of a specification")
        if name.text in found:
            self.fail(name, f"the specification `{name.text}` is declared twice", code="E118")
        words.take(":")
        start = words.next.start
        formula = words.formula()
        end = words.words[words.at - 1].end
        if words.next.text != "}":
            words.take(";")
        text = " ".join(self.source.text[start:end].split())
        span = self.source.span(start, end)
        found[name.text] = Specification(name.text, formula, text, span)
