"""The condition under which a part of a variable is dead, derived from all its uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from checker.model import ir
from checker.model.build import conj, disj, equal, member, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.memo import in_an_analysis
from checker.model.names import Names, bound_in, free_in, reads_in, reads_of
from checker.model.node import Hashed, value_class
from checker.model.run_errors import fits, risky
from checker.model.tree import nodes
from checker.model.types import AtomT, BagT, IntT, MapT, SetT, TupleT, Type, universe
from checker.reductions.dead_variables.monotonicity import Trends
from checker.reductions.dead_variables.terms import conjuncts, replace_all, replacing, same, simple
from checker.reductions.dead_variables.uses import VariableUse


@value_class
class VariablePart(Hashed):
    """The parts of ``variable``: an entry for all ``keys``, and perhaps an ``item`` in it.

    ``entry``: the entry's value.
    """

    variable: str
    keys: tuple[ir.Local, ...]
    entry: Expr
    item: ir.Local | None

    @property
    def names(self) -> set[str]:
        """The local names that identify the part."""
        return {local.name for local in (*self.keys, *((self.item,) if self.item else ()))}


def cell(variable: ir.Variable, items: bool) -> VariablePart:
    """The parts of a variable; ``items``: items of sets and bags are parts of their own."""
    expr: Expr = ir.Read(variable.type, variable.name)
    keys: list[ir.Local] = []
    while isinstance(expr.type, MapT):
        keys.append(ir.Local(expr.type.key, f"{variable.name}.key{len(keys)}"))
        expr = ir.Index(expr.type.value, expr, keys[-1])
    item = None
    if items and isinstance(expr.type, SetT | BagT):
        item = ir.Local(expr.type.item, f"{variable.name}.item")
    return VariablePart(variable.name, tuple(keys), expr, item)


@value_class
class Blocker(Hashed):
    """A condition under which a reading makes no difference, now and forever.

    ``reads``: the variables that what it is derived from mentions; ``tested``: it is false of a
    condition in the reading's path.
    """

    holds: Expr
    reads: Names
    tested: bool


class Meeting(Struct):
    """A reading of a cell's variable where it reads that very cell.

    ``path``, ``around``: those of the reading, in the cell's names where these are known;
    ``apart``: conditions on the cell's names under which the reading is of another cell;
    ``blockers``: what :class:`Blockers` has found.
    """

    cell: VariablePart
    reading: VariableUse
    path: list[Expr] = field(default_factory=list)
    around: list[Expr] = field(default_factory=list)
    apart: list[Expr] = field(default_factory=list)
    blockers: list[Blocker] | None = None

    def __post_init__(self) -> None:
        self.path, self.around = list(self.reading.path), list(self.reading.around)
        pairs: list[tuple[Expr, Expr]] = list(zip(self.reading.keys, self.cell.keys, strict=False))
        if self.reading.item is not None and self.cell.item is not None:
            pairs.append((self.reading.item, self.cell.item))
        while pairs:
            self._meet(pairs)
            pairs = list(self._equations())

    def _meet(self, pairs: list[tuple[Expr, Expr]]) -> None:
        while pairs:
            theirs, ours = pairs.pop(0)
            if isinstance(theirs, Apply) and theirs.op is Op.TUPLE:
                assert isinstance(ours.type, TupleT)
                for i, arg in enumerate(theirs.args):
                    pairs.append((arg, ir.Item(ours.type.items[i], ours, i)))
            elif self._open(theirs):
                self._replace(theirs, ours, pairs)
            elif not free_in(theirs) - self.cell.names and not reads_in(theirs):
                if not same(theirs, ours):
                    self.apart.append(simple(negation(equal(ours, theirs))))

    def _open(self, expr: Expr) -> bool:
        """Whether it is a local name of the reading, or a component of one."""
        while isinstance(expr, ir.Item):
            expr = expr.base
        return isinstance(expr, ir.Local) and expr.name not in self.cell.names

    def _replace(self, theirs: Expr, ours: Expr, pairs: list[tuple[Expr, Expr]]) -> None:
        narrow, wide = theirs.type, ours.type
        if not fits(wide, narrow):
            if not (isinstance(narrow, AtomT) and isinstance(wide, AtomT) and fits(narrow, wide)):
                return
            self.apart.append(negation(within_type(ours, narrow)))
        names, replaced = free_in(theirs), replacing(theirs, ours)
        for exprs in (self.path, self.around):
            open_ = [expr for expr in exprs if bound_in(expr).isdisjoint(names)]
            exprs[:] = [replaced(e) if names <= free_in(e) else e for e in open_]
        pairs[:] = [(replaced(t), o) for t, o in pairs]

    def _equations(self) -> Iterator[tuple[Expr, Expr]]:
        """The equations for a name that the path implies."""
        for test in self.path:
            if not (isinstance(test, Apply) and test.op is Op.EQ):
                continue
            for theirs, ours in (test.args, test.args[::-1]):
                known = not free_in(ours) - self.cell.names and not reads_in(ours)
                if known and not same(theirs, ours) and self._solvable(theirs, ours):
                    yield theirs, ours
                    return

    def _solvable(self, theirs: Expr, ours: Expr) -> bool:
        if self._open(theirs):
            roles = isinstance(theirs.type, AtomT) and isinstance(ours.type, AtomT)
            return fits(ours.type, theirs.type) or (roles and fits(theirs.type, ours.type))
        return False


def within_type(expr: Expr, type_: Type) -> Expr:
    """The condition that a value is one of ``type_``."""
    return member(expr, ir.Const(SetT(expr.type), frozenset(universe(type_))))


@value_class
class _Candidate(Hashed):
    """A disjunct of what is decided: ``blocker``, unless one of ``sides`` holds."""

    blocker: Blocker
    part: Expr
    sides: tuple[Expr, ...]


class Blockers:
    """Conditions under which a reading makes no difference, now and forever.

    ``hidden``: variables that they must not mention; ``mentioned``: those of which that would have
    made a difference so far.
    """

    def __init__(self, trends: Trends) -> None:
        self.trends, self.hidden = trends, Names()
        self.mentioned: set[str] = set()
        self._known: dict[tuple[int, str, bool], tuple[Expr, tuple[_Candidate, ...]]] = {}

    def hiding(self, hidden: Names) -> Blockers:
        """The same with other hidden variables."""
        other = Blockers(self.trends)
        other.hidden, other._known = hidden, self._known
        return other

    def of(self, meeting: Meeting) -> list[Expr]:
        """Sufficient conditions, one of which has to hold."""
        if meeting.blockers is None:
            meeting.blockers = [*self._tested(meeting), *self._decided(meeting)]
        self.mentioned.update(*(one.reads for one in meeting.blockers))
        hidden = self.hidden | {meeting.cell.variable}
        found = [
            one.holds
            for one in meeting.blockers
            if one.reads.isdisjoint(hidden if one.tested else self.hidden)
        ]
        return [f for f in dict.fromkeys((*meeting.apart, *found)) if f != ir.FALSE]

    def _tested(self, meeting: Meeting) -> Iterator[Blocker]:
        """Those under which a condition in the path is false forever."""
        for test in meeting.path:
            yield from self._usable(meeting, self._candidates(meeting.cell, test, True))

    def _decided(self, meeting: Meeting) -> Iterator[Blocker]:
        """Those under which a condition around the reading has one value forever."""
        for test in meeting.around:
            for blocker in self._usable(meeting, self._candidates(meeting.cell, test, False)):
                if reads_of(blocker.holds, meeting.cell.variable) <= 1:
                    yield blocker

    def _usable(self, meeting: Meeting, found: tuple[_Candidate, ...]) -> Iterator[Blocker]:
        for one in found:
            if not one.sides or self._lasts(meeting, one):
                yield one.blocker

    def _candidates(self, cell: VariablePart, test: Expr, tested: bool) -> tuple[_Candidate, ...]:
        """The disjuncts of when ``test`` is decided that can be evaluated for the cell alone."""
        at = id(test), cell.variable, tested
        known = self._known.get(at)
        if known is None:
            found = list(self._disjuncts(cell, self.trends.never(test), tested))
            if not tested:
                found += self._disjuncts(cell, self.trends.ever(test), tested)
            known = self._known[at] = test, tuple(found)
        return known[1]

    def _disjuncts(self, cell: VariablePart, decided: Expr, tested: bool) -> Iterator[_Candidate]:
        own, names = _own(cell), cell.names
        for part in _simple_disjuncts(decided):
            if isinstance(part, ir.Const):
                if part == ir.TRUE:
                    yield _Candidate(Blocker(part, frozenset(), tested), part, ())
                continue
            if not free_in(part) <= names:
                continue
            sides = self.trends.sides(part)
            if sides is None:
                continue
            onces = self.trends.onces(part)
            if onces is None:
                continue
            begun = conj(*onces, part)
            guarded = in_range(disj(begun, *sides) if sides else begun)
            if guarded is not None and not any(same(test, own) for test in conjuncts(part)):
                yield _Candidate(Blocker(guarded, reads_in(begun), tested), part, sides)

    def _lasts(self, meeting: Meeting, one: _Candidate) -> bool:
        """Whether what a disjunct derives holds when the reading is reached, and from then on."""
        return not self._ending(meeting, one.part) and all(
            any(same(negation(test), side) for test in meeting.path) for side in one.sides
        )

    def _ending(self, meeting: Meeting, part: Expr) -> bool:
        """Whether what ``part`` derives may no longer hold when the reading is reached."""
        site = meeting.reading.site
        ends = (self.trends.variables[name].ends for name in reads_in(part))
        return site.action is None or (site.body and any(site.action in e for e in ends))


def _own(cell: VariablePart) -> Expr:
    """The condition that the part is as its reset leaves it."""
    return cell.entry if cell.item is None else member(cell.item, cell.entry)


@in_an_analysis
def _simple_disjuncts(expr: Expr) -> tuple[Expr, ...]:
    return _disjuncts(simple(expr))


def _disjuncts(expr: Expr) -> tuple[Expr, ...]:
    if isinstance(expr, Apply) and expr.op is Op.OR:
        return tuple(inner for part in expr.args for inner in _disjuncts(part))
    return (expr,)


@in_an_analysis
def in_range(expr: Expr) -> Expr | None:
    """``expr`` where no index in it can be out of its map and each field is of the right case.

    ``None`` where that is unknown.
    """
    tests: list[Expr] = []
    bare, bound = expr, bound_in(expr)
    for node in nodes(expr):
        if isinstance(node, ir.CaseField):
            if bound & free_in(node.base) or reads_in(node.base):
                return None
            tests.append(ir.IsCase(node.base, node.case))
    for node in nodes(expr):
        if isinstance(node, ir.Index) and isinstance(node.base.type, MapT):
            key, wanted = node.key, node.base.type.key
            if fits(key.type, wanted):
                continue
            ranked = isinstance(key.type, AtomT | IntT) and isinstance(wanted, AtomT | IntT)
            plain = all(isinstance(n, ir.Local | ir.Item | ir.Const) for n in nodes(key))
            if not (ranked and plain) or bound & free_in(key):
                return None
            tests.append(within_type(key, wanted))
            bare = replace_all(bare, node, ir.Local(node.type, "@there"))
    if risky(bare):
        return None
    return conj(*dict.fromkeys(tests), expr)


def simplest(clauses: Iterable[list[Expr]]) -> list[list[Expr]] | None:
    """The conjunction of clauses, without those that follow from others; ``None``: never."""
    found: list[tuple[frozenset[Expr], list[Expr]]] = []
    for clause in clauses:
        parts = frozenset(clause)
        if ir.TRUE in parts:
            continue
        if not clause:
            return None
        if not any(fewer <= parts for fewer, _ in found):
            found = [(more, other) for more, other in found if not parts <= more]
            found.append((parts, clause))
    return [clause for _, clause in found]
