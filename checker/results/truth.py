"""The truth of a property's reading along an execution, and the values that make it false.

Truth in infinite executions is that of linear temporal logic over lassos (A. Pnueli: The Temporal
Logic of Programs, 1977); a finite execution counts as one that stays in its last state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, assert_never

from msgspec import Struct, field

from checker.model import ir
from checker.model.build import author_of
from checker.model.evaluate import RunFault, Scope, elements, evaluate
from checker.model.interpreter import name_values
from checker.model.ir import Expr, Property, PropertyKind, TransitionSystem
from checker.model.reading import Atom, Join, Node, Range, Reading, Timed
from checker.model.types import Value
from checker.records import replace
from checker.results.rerun import Run
from checker.results.trace import Role

Names = Mapping[str, Value]

FEW = 3
"""The largest number of candidates that are named one by one when none is a witness."""


Mode = Literal["now", "never", "always", "again", "lasting"]


class Fact(Struct, frozen=True):
    """An atom that is true or false of ``names`` at position ``at`` of the word.

    ``mode``: ``now``; ``never`` (false from there on forever); ``always`` (true from there on);
    ``again`` (true, or false, infinitely often, but not all the time).  ``role`` is ``premise`` or
    ``goal``; ``unknown``: names that may be anything, and what such a thing is called (a fact that
    is false is so for all of them), in ``range``; ``only``: a kind of process of which the subject
    is any.
    """

    atom: Atom
    names: Names
    true: bool
    mode: Mode
    at: int
    role: Role = ""
    unknown: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    range: Range | None = None


class LassoWord(Struct):
    """The states that a property observes, from the last one back to number ``loop`` forever.

    ``hints``: values that the author's names have in the violation, where these are known.
    """

    states: tuple[dict[str, Value], ...]
    loop: int
    hints: Mapping[str, Value] = field(default_factory=dict)

    # ---- truth --------------------------------------------------------------------------------

    def value(self, expr: Expr, at: int, names: Names) -> bool:
        """Returns ``expr`` at a position; false where it has no value (its guard is false then)."""
        try:
            return bool(evaluate(expr, Scope(self.states[at], dict(names))))
        except RunFault:
            return False

    def atom(self, atom: Atom, names: Names) -> list[bool]:
        """Returns ``atom`` at each position; a correct process is correct in the whole
        execution."""
        row = [self.value(atom.expr, at, names) for at in range(len(self.states))]
        if atom.kind == "standing" and atom.op == "correct":
            return [all(row[self.loop :])] * len(row)
        return row

    def truth(self, node: Node, names: Names) -> list[bool]:
        """Returns the truth of ``node`` at each position."""
        match node:
            case Atom():
                return self.atom(node, names)
            case Join(op, parts):
                return _connective_truth(op, [self.truth(part, names) for part in parts])
            case Timed("~>", (premise, goal)):
                required = self.truth(premise, names)
                met = self.ahead(self.truth(goal, names), any)
                return self.ahead([not o or m for o, m in zip(required, met, strict=True)], all)
            case Timed(op, parts):
                return self.ahead(self.truth(parts[0], names), all if op == "always" else any)
            case Range(kind):
                found = any if kind == "exists" else all
                rows = [self.member(node, value, names) for value in self.values(node, names)]
                return [found(row[at] for row in rows) for at in range(len(self.states))]
            case _:
                assert_never(node)

    def ahead(self, row: list[bool], join: object) -> list[bool]:
        """Returns for each position ``all``, or ``any``, of all positions from there on."""
        both = all if join is all else any
        return [both(row[min(at, self.loop) :]) for at in range(len(row))]

    def values(self, node: Range, names: Names) -> list[Value]:
        """Returns the members of the domain at any position, in order; hinted ones first."""
        found: dict[Value, None] = {}
        changing = node.among is not None or not isinstance(node.domain, ir.Universe)
        for state in self.states if changing else self.states[:1]:
            try:
                found.update(dict.fromkeys(elements(node.domain, Scope(state, dict(names)))))
            except RunFault:
                continue
        hint = self.hints.get(node.author)
        return sorted(found, key=lambda value: value != hint) if node.author else list(found)

    def inside(self, node: Range, value: Value, names: Names) -> list[bool]:
        """Returns at which positions ``value`` is one over which ``node`` ranges."""
        inner = {**names, node.name: value}
        if isinstance(node.domain, ir.Universe) and node.condition == ir.TRUE and not node.where:
            return [True] * len(self.states)
        row = []
        for at, state in enumerate(self.states):
            try:
                among = value in list(elements(node.domain, Scope(state, dict(names))))
            except RunFault:
                among = False
            row.append(among and self.value(node.condition, at, inner))
        if node.where is not None:
            row = _connective_truth("and", [row, self.truth(node.where, inner)])
        return row

    def member(self, node: Range, value: Value, names: Names) -> list[bool]:
        """Returns what one value contributes to a quantifier."""
        here = self.inside(node, value, names)
        if not any(here):
            return [node.kind == "forall"] * len(here)
        body = self.truth(node.body, {**names, node.name: value})
        return _connective_truth("and" if node.kind == "exists" else "=>", [here, body])

    # ---- witnesses ----------------------------------------------------------------------------

    def why(self, node: Node, names: Names, wanted: bool, at: int, mode: Mode) -> Iterator[Fact]:
        """Yields facts for which ``node`` is ``wanted`` at ``at``, which it is (``mode``: and
        stays)."""
        match node:
            case Atom():
                yield Fact(node, names, wanted, mode, at)
            case Join("not", (part,)):
                yield from self.why(part, names, not wanted, at, _other(mode))
            case Join("=>", (premise, goal)) if not wanted:
                yield from _as("premise", self.why(premise, names, True, at, _other(mode)))
                yield from _as("goal", self.why(goal, names, False, at, mode))
            case Join("=>", (premise, goal)):
                said = goal if self.truth(goal, names)[at] else premise
                yield from self.why(said, names, said is goal, at, mode)
            case Join("==", parts):
                for part in parts:
                    yield from self.why(part, names, self.truth(part, names)[at], at, mode)
            case Join(op, parts):
                every = (op == "and") is wanted
                told = [part for part in parts if self.truth(part, names)[at] is wanted]
                for part in parts if every else told[:1]:
                    yield from self.why(part, names, wanted, at, mode)
            case Timed():
                yield from self.in_time(node, names, wanted, at, mode)
            case Range():
                yield from self.of_range(node, names, wanted, at, mode)

    def in_time(
        self, node: Timed, names: Names, wanted: bool, at: int, mode: Mode
    ) -> Iterator[Fact]:
        """Does the same as :meth:`why`, of a temporal formula."""
        later = [*range(at, len(self.states)), *range(self.loop, at)]
        match node.op, node.parts:
            case "~>", (premise, goal) if not wanted:
                required = self.truth(premise, names)
                met = self.ahead(self.truth(goal, names), any)
                when = next(j for j in later if required[j] and not met[j])
                yield from _as("premise", self.why(premise, names, True, when, "now"))
                last = len(self.states) - 1
                yield from _as("goal", self.why(goal, names, False, last, "never"))
            case "always", (part,) if not wanted:
                row = self.truth(part, names)
                when = next(j for j in later if not row[j])
                yield from self.why(part, names, False, when, mode)
            case "eventually", (Timed("always", (part,)),) if not wanted:
                row = self.truth(part, names)
                lasting = not any(row[self.loop :])
                when = next(j for j in range(self.loop, len(row)) if not row[j])
                yield from self.why(part, names, False, when, "never" if lasting else "again")
            case "eventually", (part,):
                row = self.truth(part, names)
                when = next((j for j in later if row[j]), len(row) - 1)
                yield from self.why(part, names, wanted, when, "now" if wanted else "never")
            case "always", (part,):
                yield from self.why(part, names, True, at, "always")
            case _:
                return

    def of_range(
        self, node: Range, names: Names, wanted: bool, at: int, mode: Mode
    ) -> Iterator[Fact]:
        """Does the same as :meth:`why`, of a quantifier: one witness, or that there is none."""
        if (node.kind == "exists") is not wanted:
            yield from self.nobody(node, names, wanted, at, mode)
            return
        for value in self.values(node, names):
            inner = {**names, node.name: value}
            if not self.inside(node, value, names)[at]:
                continue
            if self.truth(node.body, inner)[at] is not wanted:
                continue
            given: Role = "premise" if node.kind == "forall" else ""
            if node.among is not None:
                yield Fact(node.among, inner, True, "now", at, given)
            if node.where is not None:
                yield from _as(given, self.why(node.where, inner, True, at, "now"))
            goal: Role = "goal" if node.kind == "forall" and not _has_premise(node.body) else ""
            yield from _as(goal, self.why(node.body, inner, wanted, at, mode))
            return

    def nobody(
        self, node: Range, names: Names, wanted: bool, at: int, mode: Mode
    ) -> Iterator[Fact]:
        """Yields facts for which no value makes the quantifier's body what it would have to be."""
        if not wanted:
            simple = list(self.simple(node, node.body, names, at, mode))
            if simple:
                yield from simple
                return
        told = [v for v in self.values(node, names) if self.inside(node, v, names)[at]]
        guard, rest = _split_guard(node.body)
        if guard is not None:
            standing = [v for v in told if self.truth(guard, {**names, node.name: v})[at]]
            if standing:
                told = standing
        found: list[Fact] = []
        for value in told if len(told) <= FEW else ():
            inner = {**names, node.name: value}
            about = rest if guard is not None and rest is not None else node.body
            if self.truth(about, inner)[at] is wanted:
                found += self.why(about, inner, wanted, at, mode)
        if all(fact.atom.kind == "values" or _trivial(fact.atom) for fact in found):
            found = [Fact(_whole(node), names, wanted, mode, at, range=node)]
        yield from found

    def simple(self, node: Range, body: Node, names: Names, at: int, mode: Mode) -> Iterator[Fact]:
        """Yields ``no process delivered a``, where it can be put like that."""
        unknown = {node.name: node.noun}
        if node.among is not None:
            if _trivial(body):
                yield Fact(node.among, names, False, mode, at, "", unknown, "", node)
            return
        if node.where is not None:
            return
        guard, rest = _split_guard(body)
        only = ""
        if guard is not None and rest is not None:
            body, only = rest, "correct"
        how: Mode = mode
        match body:
            case Timed("eventually", (Timed("always", (part,)),)):
                body, how = part, "lasting"
            case Timed("eventually", (part,)):
                body, how = part, "never"
        match body:
            case Join("or", parts) if not only and all(_of_somebody(part) for part in parts):
                told, unknowns = parts, unknown
            case Range("exists", among=Atom() as among, where=None) if _trivial(body.body):
                told, unknowns = (among,), {**unknown, body.name: body.noun}
            case _ if _of_somebody(body):
                told, unknowns = (body,), unknown
            case _:
                return
        for atom in told:
            if isinstance(atom, Atom):
                yield Fact(atom, names, False, how, at, "", unknowns, only, node)


def _connective_truth(op: str, rows: list[list[bool]]) -> list[bool]:
    columns = list(zip(*rows, strict=True))
    match op:
        case "not":
            return [not column[0] for column in columns]
        case "=>":
            return [not premise or goal for premise, goal in columns]
        case "==":
            return [left == right for left, right in columns]
        case _:
            both = all if op == "and" else any
            return [both(column) for column in columns]


def _other(mode: Mode) -> Mode:
    """Returns the mode of what is denied."""
    opposite: dict[Mode, Mode] = {"never": "always", "always": "never"}
    return opposite.get(mode, mode)


def _as(role: Role, facts: Iterator[Fact]) -> Iterator[Fact]:
    """Yields ``facts`` with a role, where they have none yet."""
    for fact in facts:
        yield fact if fact.role or not role else replace(fact, role=role)


def _has_premise(node: Node) -> bool:
    """Returns whether ``node`` separates premises from goals itself."""
    match node:
        case Timed("~>") | Join("=>"):
            return True
        case Timed(_, (part,)):
            return _has_premise(part)
        case Range(kind):
            return kind == "forall"
        case _:
            return False


def _of_somebody(node: Node) -> bool:
    """Returns whether ``node`` is a clause that can be negated by the subject ``no process``."""
    return isinstance(node, Atom) and (
        node.kind in ("history", "opinion", "twice")
        or (node.kind == "standing" and node.op != "correct")
    )


def _whole(node: Range) -> Atom:
    """Returns a quantifier as an atom that can only be written as in the spec."""
    ways = ("holds", "does not hold", "{} holds")
    return Atom(ir.FALSE, "state", ("`", *node.formula, "`"), *ways, (), node.formula)


def _trivial(node: Node) -> bool:
    return isinstance(node, Atom) and node.expr == ir.TRUE


def _split_guard(node: Node) -> tuple[Node | None, Node | None]:
    """Returns `correct(p)` and the rest of a conjunction of two."""
    match node:
        case Join("and", (Atom(kind="standing", op="correct") as guard, rest)):
            return guard, rest
        case _:
            return None, None


def word_of(system: TransitionSystem, prop: Property, run: Run) -> LassoWord:
    """Returns what ``prop`` observes of ``run``: the last state where that decides, or else all of
    it."""
    assert prop.reading is not None
    hints = {
        author_of(param.name): value for param, value in zip(prop.params, run.values, strict=True)
    }
    last = prop.kind is PropertyKind.INVARIANT or run.loop is None
    if last and not prop.reading.of_runs:
        return LassoWord((name_values(system, run.last),), 0, hints)
    numbers = observed_states(system, prop.reading, run)
    return _word(system, run, numbers, hints)


def whole_word(system: TransitionSystem, run: Run) -> LassoWord:
    """Returns all states of ``run``; where it is finite it stays in the last one."""
    return _word(system, run, list(range(len(run.moments))), {})


def _word(
    system: TransitionSystem, run: Run, numbers: list[int], hints: Mapping[str, Value]
) -> LassoWord:
    start = len(run.moments) - 1 if run.loop is None else run.loop
    loop = next((i for i, number in enumerate(numbers) if number >= start), len(numbers) - 1)
    states = tuple(name_values(system, run.moments[number].state) for number in numbers)
    return LassoWord(states, loop, hints)


def observed_states(system: TransitionSystem, reading: Reading, run: Run) -> list[int]:
    """Returns the numbers of the states of ``run`` that a property observes."""
    whole = range(len(run.moments))
    if not reading.looking:
        return list(whole)
    found = []
    for number in whole:
        scope = Scope(name_values(system, run.moments[number].state), {})
        if all(bool(evaluate(looking, scope)) for looking in reading.looking):
            found.append(number)
    return found or list(whole)


def facts(system: TransitionSystem, prop: Property, run: Run) -> tuple[Fact, ...]:
    """Returns the facts for which ``prop`` is false in ``run``, premises first; empty where that is
    unknown."""
    if prop.reading is None:
        return ()
    word = word_of(system, prop, run)
    root = prop.reading.root
    for_all = isinstance(root, Range) and root.kind == "forall"
    if not for_all and word.truth(root, {})[0]:
        return ()
    return tuple(word.why(root, {}, False, 0, "now"))
