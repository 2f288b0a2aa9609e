"""Guesses candidates for lemmas: facts about parts of the state that no sampled state contradicts.

Atoms are small facts (a member of a set, a bound of a number, the value of an option); a candidate
is a clause of up to three literals over them, of three only where they are about one process.
Candidates are guesses: the prover has to prove them.  Learning invariants from observed states is
Ernst's (Daikon, ICSE 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Any, cast

from msgspec import Struct

from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.interpreter import State
from checker.model.ir import (
    Apply,
    Const,
    Expr,
    Index,
    IsCase,
    Item,
    Local,
    Members,
    Op,
    PropertyKind,
    Quant,
    Quantifier,
    Read,
    TransitionSystem,
)
from checker.model.tree import nodes
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    cardinality,
    sort_key,
    universe,
)

FEW = 12
"""So many values of one part of a state are distinguished one by one."""

SMALL = 64
"""The largest universe of which every value becomes an atom."""

COPIES = 3
"""So many bounds of the copies of one element are distinguished, the highest ones."""

MOST = 6000
"""The largest number of candidates; clauses of one literal come first."""

Literal = tuple[int, bool]
"""An atom's number, and whether it is positive."""

Clause = tuple[Literal, ...]


class Candidates(Struct, frozen=True):
    """``atoms`` are Boolean expressions of the state.

    Each of ``clauses`` (one or two literals) and of ``longer`` (three) held in all samples.
    """

    atoms: tuple[Expr, ...]
    clauses: tuple[Clause, ...]
    longer: tuple[Clause, ...] = ()

    def expression(self, clause: Clause) -> Expr:
        """Returns the clause as an expression."""
        return any_of([self.atoms[i] if true else negate(self.atoms[i]) for i, true in clause])


def candidates(
    system: TransitionSystem, states: Sequence[State], look: Callable[[], None] = lambda: None
) -> Candidates:
    """Returns candidates for invariants that hold in all ``states`` (all values must be of their
    types).

    They include the ``INVARIANT`` properties.  ``look`` is called now and then, and may raise.
    """
    if not states:
        return Candidates((), ())
    safe = [negate(p.bad) for p in system.properties if p.kind is PropertyKind.INVARIANT]
    atoms = tuple(dict.fromkeys((*safe, *_atoms(system, states))))
    masks = _masks(system, atoms, states, look)
    known = [i for i, mask in enumerate(masks) if mask is not None]
    guess = _Guess({i: cast(int, masks[i]) for i in known}, len(states))
    about = [about_processes(system, atom) for atom in atoms]
    short = tuple(islice(guess.short(), MOST))
    return Candidates(atoms, short, tuple(islice(guess.long(about, look), MOST)))


# ---- clauses ----------------------------------------------------------------------------------


class _Guess:
    """Clauses that hold in all samples and follow from no shorter one of them.

    ``masks``: for each atom the samples in which it holds.  Of equivalent atoms one stands for all,
    by its mask and by the mask of its negation.
    """

    def __init__(self, masks: dict[int, int], count: int) -> None:
        self.masks, self.whole = masks, (1 << count) - 1
        self.varying: dict[int, int] = {}
        self.pairs: set[tuple[int, int]] = set()  # of masks whose union is everything

    def short(self) -> Iterator[Clause]:
        """Yields clauses of one literal, equivalences of atoms, and clauses of two literals."""
        same: list[Clause] = []
        for i, mask in self.masks.items():
            if mask == self.whole:
                yield ((i, True),)
            elif mask == 0:
                yield ((i, False),)
            elif mask in self.varying:
                j = self.varying[mask]
                same += [((i, False), (j, True)), ((i, True), (j, False))]
            elif self.whole ^ mask in self.varying:
                j = self.varying[self.whole ^ mask]
                same += [((i, False), (j, False)), ((i, True), (j, True))]
            else:
                self.varying[mask] = i
        yield from same
        for one, other in combinations(self._literals(), 2):
            if one[0] | other[0] == self.whole and one[1] != other[1]:
                self.pairs.add((one[0], other[0]))
                yield ((one[1], one[2]), (other[1], other[2]))

    def _literals(self) -> Iterator[tuple[int, int, bool]]:
        for mask, i in self.varying.items():
            yield mask, i, True
            yield self.whole ^ mask, i, False

    def long(self, about: Sequence[frozenset[int]], look: Callable[[], None]) -> Iterator[Clause]:
        """Yields clauses of three literals about one process; to be called after :meth:`short`."""
        literals = list(self._literals())
        for a, b in combinations(literals, 2):
            if a[1] == b[1] or (a[0], b[0]) in self.pairs:
                continue
            missing, shared = (
                self.whole ^ (a[0] | b[0]),
                _common_processes(about[a[1]], about[b[1]]),
            )
            if not shared:
                continue
            look()
            for c in literals:
                if c[1] <= b[1] or missing & ~c[0] or not _common_processes(shared, about[c[1]]):
                    continue
                if (a[0], c[0]) not in self.pairs and (b[0], c[0]) not in self.pairs:
                    yield ((a[1], a[2]), (b[1], b[2]), (c[1], c[2]))


def _common_processes(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    """Returns the processes that both are about; an atom that is about none goes with all."""
    return one & other if one and other else one | other


def about_processes(system: TransitionSystem, expr: object) -> frozenset[int]:
    """Returns the processes that constants of ``expr`` mention."""
    found: set[int] = set()
    for part in nodes(expr):
        if isinstance(part, Const):
            _collect_mentioned(system, part.type, part.value, found)
    return frozenset(found)


def _collect_mentioned(system: TransitionSystem, type_: Type, value: Any, found: set[int]) -> None:
    match type_:
        case AtomT(labels=labels):
            if set(labels) <= set(system.processes):
                found.add(value)
        case TupleT(items):
            for item, part in zip(items, value, strict=True):
                _collect_mentioned(system, item, part, found)
        case OptionT(item) | SetT(item) | SeqT(item) | BagT(item):
            for part in value or ():
                _collect_mentioned(system, item, part, found)
        case VariantT(cases=cases):
            for (_, item), part in zip(cases[value[0]].fields, value[1:], strict=True):
                _collect_mentioned(system, item, part, found)
        case BoolT() | IntT() | MapT():
            pass


def _masks(
    system: TransitionSystem,
    atoms: Sequence[Expr],
    states: Sequence[State],
    look: Callable[[], None],
) -> list[int | None]:
    """Returns for each atom the states in which it holds as a bit mask; ``None``: it can't be
    evaluated in some state.
    """
    names = [v.name for v in system.variables]
    scopes = [Scope(dict(zip(names, state, strict=True)), {}) for state in states]
    found: list[int | None] = []
    for atom in atoms:
        look()
        try:
            bits = ("1" if evaluate(atom, scope) else "0" for scope in scopes)
            found.append(int("".join(bits) or "0", 2))
        except RunFault:
            found.append(None)
    return found


# ---- atoms ------------------------------------------------------------------------------------


def _atoms(system: TransitionSystem, states: Sequence[State]) -> Iterator[Expr]:
    numbers: list[Expr] = []
    for position, variable in enumerate(system.variables):
        read = Read(variable.type, variable.name)
        values = list(dict.fromkeys(state[position] for state in states))
        yield from _of(read, variable.type, values, numbers)
    for one, two in islice(combinations(numbers, 2), SMALL):
        yield Apply(BOOL, Op.LE, (one, two))
        yield Apply(BOOL, Op.LE, (two, one))


def _of(expr: Expr, type_: Type, seen: list[Value], numbers: list[Expr]) -> Iterator[Expr]:
    """Yields facts about ``expr``, of which ``seen`` are the values (each once)."""
    values = cast("list[Any]", seen)
    match type_:
        case BoolT():
            yield expr
        case IntT():
            numbers.append(expr)
            yield from _bounds(expr, type_, [int(v) for v in values])
        case AtomT():
            of_all = list(universe(type_)) if cardinality(type_) <= SMALL else values
            yield from (_equal(expr, type_, v) for v in of_all)
        case TupleT(items):
            for i, item in enumerate(items):
                yield from _of(Item(item, expr, i), item, _each(v[i] for v in values), numbers)
        case OptionT():
            yield Apply(BOOL, Op.IS_SOME, (expr,))
            yield from _values(expr, type_, values)
        case MapT(key, value):
            for i, k in enumerate(islice(universe(key), SMALL)):
                entry = Index(value, expr, Const(key, k))
                yield from _of(entry, value, _each(v[i] for v in values), numbers)
        case VariantT(cases=cases):
            yield from (IsCase(expr, i) for i in range(len(cases)))
            yield from _values(expr, type_, values)
        case SetT(item):
            yield from _of_set(expr, item, values)
        case SeqT(item):
            yield from _of_many(expr, item, values)
            yield from _values(expr, type_, values)
        case BagT(item, cap):
            yield from _of_many(expr, item, values)
            yield from _copies(expr, item, values, cap)


def _each(values: Iterable[Value]) -> list[Value]:
    return list(dict.fromkeys(values))


def _values(expr: Expr, type_: Type, values: list[Any]) -> Iterator[Expr]:
    if len(values) <= FEW:
        yield from (_equal(expr, type_, v) for v in sorted(values, key=sort_key))


def _bounds(expr: Expr, type_: IntT, values: list[int]) -> Iterator[Expr]:
    """Yields upper bounds at the observed values, and a lower bound at the least."""
    steps = sorted(values)
    if len(steps) > FEW:
        steps = [*steps[: FEW - 1], steps[-1]]
    for value in (steps[0] - 1, *steps):
        if type_.lo <= value <= type_.hi:
            yield Apply(BOOL, Op.LE, (expr, Const(IntT(value, value), value)))


def _of_set(expr: Expr, item: Type, values: list[Any]) -> Iterator[Expr]:
    if cardinality(item) <= SMALL:
        members = list(universe(item))
    else:
        members = _members(values)[:SMALL]
        yield _only(expr, item, members)
    yield from (Apply(BOOL, Op.IN, (Const(item, m), expr)) for m in members)
    size = Apply(IntT(0, cardinality(item)), Op.CARD, (expr,))
    most = max(len(v) for v in values)
    yield Apply(BOOL, Op.LE, (size, Const(IntT(most, most), most)))


def _of_many(expr: Expr, item: Type, values: list[Any]) -> Iterator[Expr]:
    """Yields facts about a sequence or bag: its length, and its elements."""
    size = Apply(IntT(0, max(len(v) for v in values)), Op.LEN, (expr,))
    lengths = sorted({len(v) for v in values})
    yield from (Apply(BOOL, Op.LE, (size, Const(IntT(n, n), n))) for n in {lengths[0], lengths[-1]})
    members = _members(values)
    yield _only(expr, item, members)
    yield from (Apply(BOOL, Op.IN, (Const(item, m), expr)) for m in members[:SMALL])


def _copies(expr: Expr, item: Type, values: list[Any], cap: int) -> Iterator[Expr]:
    """Yields bounds on the number of copies of each element."""
    for member in _members(values)[:SMALL]:
        most = max(v.count(member) for v in values)
        count = Apply(IntT(0, cap), Op.BAG_COUNT, (expr, Const(item, member)))
        for bound in range(max(most - COPIES, 1), most + 1):
            yield Apply(BOOL, Op.LE, (count, Const(IntT(bound, bound), bound)))


def _members(values: list[Any]) -> list[Value]:
    return sorted({m for v in values for m in v}, key=sort_key)


def _only(expr: Expr, item: Type, members: list[Value]) -> Expr:
    """Returns that every element is one of ``members``."""
    name = "_of"
    said = any_of([_equal(Local(item, name), item, m) for m in members])
    return Quant(Quantifier.FORALL, name, Members(expr, item), said, BOOL)


def _equal(expr: Expr, type_: Type, value: Value) -> Expr:
    return Apply(BOOL, Op.EQ, (expr, Const(type_, value)))


def negate(expr: Expr) -> Expr:
    """Returns ``not expr``, without a double negation."""
    match expr:
        case Apply(_, Op.NOT, (inner,)):
            return inner
        case _:
            return Apply(BOOL, Op.NOT, (expr,))


def any_of(parts: Sequence[Expr]) -> Expr:
    """Returns the disjunction of ``parts``; ``false`` where there are none."""
    if len(parts) == 1:
        return parts[0]
    return Apply(BOOL, Op.OR, tuple(parts)) if parts else Const(BOOL, False)
