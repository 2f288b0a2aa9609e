"""The conditions on a renaming, read off the text of a system.

A renaming *p* of atoms acts on values (a map is renamed in its keys and in its entries) and so on
states and on the values of local names.  For every expression ``e`` that is put together from parts
that respect *p*, the value of ``e`` in the renamed state is the renamed value of ``e``: by
induction over the expression, each operation of the language being defined by equality, membership
and the order of integers, all of which *p* preserves, except for the following, which are noted
here.

* A constant has to be a *fixed* value, and the range of each type of atoms a fixed set.
* ``rank``, ``<`` and ``<=`` of atoms: the atoms that can be meant have to *stay* where they are.
* ``forall`` and ``exists`` stop at the member that decides.  Where the body can meet a runtime
  error, it depends on the order of the members whether it does: what they are made of has to
  stay.
* ``for`` runs its body in the order of the members.  Unless its iterations commute
  (:mod:`checker.model.transforms.commuting_loops`), what they are made of has to stay.

Statements then do in the renamed state what is the renaming of what they do; choices, and
parameters, are taken from renamed domains.  So a renaming that respects all of this, and takes
initial states to initial states, maps executions to executions, with as many steps, fairness
constraints satisfied or violated, the properties' conditions and runtime errors included: it is an
automorphism of the system.  (Which error is met first may differ where there are several.)

The elements of a sequence keep their order under any renaming: loops over them impose no condition.
The arguments of marks are visible in traces only, which are made from the system itself.

Sources: Ip and Dill, *Better Verification Through Symmetry* (Formal Methods in System Design 9,
1996), for types whose values may be permuted because of the operations that are used on them;
Clarke, Enders, Filkorn and Jha, *Exploiting Symmetry in Temporal Logic Model Checking*, and Emerson
and Sistla, *Symmetry and Model Checking* (both in the same volume), for why the quotient decides
invariants and what does not tell the members of an orbit apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from checker.model import ir
from checker.model import types as t
from checker.model.ir import Expr, Op, SourceLocation, TransitionSystem
from checker.model.names import locals_in
from checker.model.node import Hashed, value_class
from checker.model.run_errors import Known, can_fault, forget, known_from, known_of, same_place
from checker.model.transforms.commuting_loops import commutes
from checker.model.tree import placeless, statements
from checker.model.types import Type, Value
from checker.reductions.reduction_plan import Atom, Sorts
from checker.reductions.symmetry.renaming import atoms_of, mentioned_atoms


class Fixed(Struct, frozen=True):
    """A renaming must not change ``value``."""

    type: Type
    value: Value
    why: str


class Still(Struct, frozen=True):
    """A renaming must not change any of ``atoms``."""

    atoms: frozenset[Atom]
    why: str


@value_class
class _Here(Hashed):
    """The context of an expression: which atoms an expression over locals can denote, and which
    options hold something; ``place``, and its description.
    """

    meant: tuple[tuple[Expr, frozenset[Atom]], ...] = ()
    known: Known = frozenset()
    place: SourceLocation | None = None
    request: bool = False

    def at(self, place: SourceLocation | None) -> _Here:
        if place is None or place is self.place:
            return self
        return _Here(self.meant, self.known, place, self.request)

    def with_meant(self, expr: Expr, atoms: frozenset[Atom]) -> _Here:
        meant = (*self.meant, (placeless(expr), atoms))
        return _Here(meant, self.known, self.place, self.request)

    def knowing(self, more: Known) -> _Here:
        """The context with ``more`` facts; itself where these are known."""
        if more <= self.known:
            return self
        return _Here(self.meant, self.known | more, self.place, self.request)

    def without(self, names: frozenset[str]) -> _Here:
        """The context without knowledge of ``names``."""
        if not names or not (self.meant or self.known):
            return self
        kept = tuple((e, atoms) for e, atoms in self.meant if locals_in(e).isdisjoint(names))
        known = forget(self.known, names)
        if len(kept) == len(self.meant) and len(known) == len(self.known):
            return self
        return _Here(kept, known, self.place, self.request)

    def with_place(self, text: str) -> str:
        """``text``, with the place of the context where that is known."""
        if self.place is None:
            return text
        name = self.place.file.rsplit("/", 1)[-1]
        return f"{text} ({name}:{self.place.line}:{self.place.column})"


class Conditions:
    """All conditions on renamings of ``sorts``, except for the one on initial states."""

    def __init__(self, system: TransitionSystem, sorts: Sorts) -> None:
        self.sorts = sorts
        self.fixed: dict[tuple[Type, Value], Fixed] = {}
        self.still: dict[frozenset[Atom], Still] = {}
        self.ranges: set[tuple[int, int, int]] = set()
        self.types: dict[Type, None] = {}
        self._seen_types: dict[int, Type] = {}
        self._seen: dict[tuple[int, int, int], object] = {}
        for variable in system.variables:
            self._type(variable.type)
        for action in system.actions:
            self._action(action, system.monitor)
        for justice in system.justice:
            self._expr(justice.holds, _Here())
        for prop in system.properties:
            self._property(prop)

    # -- notes ----------------------------------------------------------------------------------

    def _fix(self, type_: Type, value: Value, here: _Here) -> None:
        if (type_, value) in self.fixed:
            return
        named = sorted(mentioned_atoms(self.sorts, type_, value))
        all_ = named or sorted(atoms_of(self.sorts, type_))
        names = ", ".join(f"`{self.sorts.labels[sort][atom]}`" for sort, atom in all_)
        where = "in a client's request" if here.request else "in the text"
        verb = "is" if len(all_) == 1 else "are"
        said = f"{names} {verb} named {where}"
        if not named:
            said = f"a value {where} distinguishes {names}"
        why = here.with_place(said)
        self.fixed[type_, value] = Fixed(type_, value, why)

    def _stay(self, atoms: frozenset[Atom], text: str, here: _Here) -> None:
        if atoms and atoms not in self.still:
            self.still[atoms] = Still(atoms, here.with_place(text))

    def _type(self, type_: Type) -> None:
        """Notes the ranges of atoms in a type: a renamed value has to be of it, too."""
        if id(type_) in self._seen_types:
            return
        self._seen_types[id(type_)] = type_
        if type_ in self.types:
            return
        self.types[type_] = None
        for part in t.parts_of(type_):
            if isinstance(part, t.AtomT) and (sort := self.sorts.of(part)) is not None:
                whole = len(self.sorts.labels[sort])
                if len(part.labels) != whole:
                    self.ranges.add((sort, part.first, part.first + len(part.labels)))

    # -- parts of the system --------------------------------------------------------------------

    def _action(self, action: ir.Action, monitor: ir.Block) -> None:
        here = _Here(place=action.place, request=action.kind is ir.ActionKind.REQUEST)
        here = self._params(action.params, here)
        self._expr(action.guard, here)
        self._expr(action.promised, here)
        for key in ir.fairness_of(action).key:
            self._expr(key, here)
        body = action.body + monitor
        changed = _reassigned_locals(body)
        self._block(body, self._assume(action.guard, here).without(changed), changed)

    def _params(self, params: tuple[ir.Param, ...], here: _Here) -> _Here:
        for param in params:
            here = self._bind(param.name, param.domain, here)
            self._expr(param.where, here)
            here = self._assume(param.where, here)
        return here

    def _property(self, prop: ir.Property) -> None:
        here = _Here(place=prop.place)
        self._expr(prop.bad, here)
        self._expr(prop.premise, here)
        here = self._params(prop.params, here)
        for proposition in prop.propositions:
            self._expr(proposition, here)
            for param in prop.params:
                if can_fault(proposition, here.known) or can_fault(param.where, here.known):
                    self._in_order(param.domain, "an assignment of parameters", here)

    # -- names ----------------------------------------------------------------------------------

    def _bind(self, name: str, domain: ir.Domain, here: _Here) -> _Here:
        """Walks ``domain`` and notes the possible values of its members."""
        item = ir.domain_item(domain)
        self._type(item)
        meant = None
        match domain:
            case ir.Members(of=of):
                self._expr(of, here)
                if isinstance(of, ir.Const) and isinstance(item, t.AtomT):
                    meant = mentioned_atoms(self.sorts, of.type, of.value)
            case ir.Subsets(of=of):
                self._expr(of, here)
            case ir.Universe():
                pass
            case _:
                assert_never(domain)
        here = here.without(frozenset({name}))
        here = here.knowing(known_of(name, domain))
        return here if meant is None else here.with_meant(ir.Local(item, name), meant)

    def _possible_atoms(self, expr: Expr, here: _Here) -> frozenset[Atom]:
        """The atoms that ``expr`` can denote."""
        if isinstance(expr, ir.Const):
            return mentioned_atoms(self.sorts, expr.type, expr.value)
        have = atoms_of(self.sorts, expr.type)
        wanted = placeless(expr)
        for other, atoms in here.meant:
            if same_place(other, wanted):
                have &= atoms
        return have

    def _assume(self, expr: Expr, here: _Here) -> _Here:
        """The additional facts where ``expr`` holds: membership in what no statement changes."""
        match expr:
            case ir.Apply(op=Op.AND, args=args):
                for arg in args:
                    here = self._assume(arg, here)
                return here
            case ir.Apply(op=Op.IN, args=(item, ir.Const() as of)) if _constant(item):
                here = here.knowing(known_from(expr, True))
                return here.with_meant(item, mentioned_atoms(self.sorts, of.type, of.value))
            case _:
                return here

    # -- statements -----------------------------------------------------------------------------

    def _block(self, block: ir.Block, here: _Here, changed: frozenset[str]) -> None:
        for stmt in block:
            here = self._statement(stmt, here, changed)

    def _statement(self, stmt: ir.Stmt, here: _Here, changed: frozenset[str]) -> _Here:
        match stmt:
            case ir.Assign(target, value, place):
                self._type(target.type)
                for step in target.path:
                    if isinstance(step, ir.Key):
                        self._expr(step.key, here.at(place))
                        if step.key_type is not None:
                            self._type(step.key_type)
                self._expr(value, here.at(place))
            case ir.Declare(name, type_, value):
                self._type(type_)
                self._expr(value, here)
                meant, here = self._possible_atoms(value, here), here.without(frozenset({name}))
                if isinstance(type_, t.AtomT) and name not in changed:
                    return here.with_meant(ir.Local(type_, name), meant)
            case ir.If(condition, then, otherwise):
                self._expr(condition, here)
                self._block(then, self._assume(condition, here).without(changed), changed)
                self._block(otherwise, here, changed)
            case ir.For(name, domain, body):
                inner = self._bind(name, domain, here)
                if not commutes(stmt):
                    self._in_order(domain, "a loop iterates over them in order", here)
                self._block(body, inner.without(changed), changed)
            case ir.While(condition, body, _, place):
                self._expr(condition, here.at(place))
                self._block(body, here.at(place), changed)
            case ir.Choose(name, domain, where):
                here = self._bind(name, domain, here)
                self._expr(where, here)
                return here.without(changed)
            case ir.Assume(condition):
                self._expr(condition, here)
            case ir.Mark(_, args):
                for arg in args:
                    if can_fault(arg):
                        self._expr(arg, here)
            case ir.Fault():
                pass
            case ir.Emit():
                raise AssertionError("an effect that is not lowered")
            case _:
                assert_never(stmt)
        return here

    def _in_order(self, domain: ir.Domain, text: str, here: _Here) -> None:
        """Notes that the order of the members of ``domain`` matters."""
        if isinstance(domain, ir.Members):
            if isinstance(domain.of.type, t.SeqT):
                return
            if isinstance(domain.of, ir.Const):
                self._stay(mentioned_atoms(self.sorts, domain.of.type, domain.of.value), text, here)
                return
        self._stay(atoms_of(self.sorts, ir.domain_item(domain)), text, here)

    # -- expressions ----------------------------------------------------------------------------

    def _all(self, parts: Iterable[Expr], here: _Here) -> None:
        for part in parts:
            self._expr(part, here)

    def _expr(self, expr: Expr, here: _Here) -> None:
        at = id(expr), id(here.meant), id(here.known)
        if at in self._seen:
            return
        self._seen[at] = expr, here.meant, here.known
        self._type(expr.type)
        match expr:
            case ir.Const(type_, value):
                if atoms_of(self.sorts, type_):
                    self._fix(type_, value, here)
            case ir.Local() | ir.Read():
                pass
            case ir.Index(_, base, key, place):
                self._all((base, key), here.at(place))
            case ir.Item(base=base) | ir.IsCase(base=base) | ir.CaseField(base=base):
                self._expr(base, here)
            case ir.Apply():
                self._apply(expr, here.at(expr.place))
            case ir.Make(args=args):
                self._all(args, here)
            case ir.Let(_, name, value, body):
                self._expr(value, here)
                meant, here = self._possible_atoms(value, here), here.without(frozenset({name}))
                if isinstance(value.type, t.AtomT):
                    here = here.with_meant(ir.Local(value.type, name), meant)
                self._expr(body, here)
            case ir.Quant(_, name, domain, body):
                inner = self._bind(name, domain, here)
                if expr.type == t.BOOL and can_fault(body, inner.known):
                    self._in_order(domain, "they are evaluated until a run-time error", here)
                self._expr(body, inner)
            case ir.Comprehension(type_, name, domain, where, item):
                if isinstance(type_, t.SeqT):
                    self._in_order(domain, "a sequence is built from them in order", here)
                inner = self._bind(name, domain, here)
                self._expr(where, inner)
                self._expr(item, self._assume(where, inner).knowing(known_from(where, True)))
            case ir.MapOf(_, name, body):
                self._expr(body, here.without(frozenset({name})))
            case _:
                assert_never(expr)

    def _apply(self, expr: ir.Apply, here: _Here) -> None:
        match expr.op, expr.args:
            case ((Op.AND | Op.OR), args):
                for arg in args:
                    self._expr(arg, here)
                    truth = expr.op is Op.AND
                    here = here.knowing(known_from(arg, truth))
                    here = self._assume(arg, here) if truth else here
            case Op.ITE, (condition, then, otherwise):
                self._expr(condition, here)
                yes, no = (known_from(condition, truth) for truth in (True, False))
                self._expr(then, self._assume(condition, here).knowing(yes))
                self._expr(otherwise, here.knowing(no))
            case ((Op.RANK | Op.LT | Op.LE), args):
                self._all(args, here)
                for arg in args:
                    if not isinstance(arg.type, t.IntT):
                        self._stay(self._possible_atoms(arg, here), _ORDERED[expr.op], here)
            case _, args:
                self._all(args, here)


_ORDERED = {
    Op.RANK: "their ranks are used",
    Op.LT: "they are compared in order",
    Op.LE: "they are compared in order",
}


def _constant(expr: Expr) -> bool:
    """Whether ``expr`` is a local or a part of one."""
    match expr:
        case ir.Local():
            return True
        case ir.Item(base=base):
            return _constant(base)
        case _:
            return False


def _reassigned_locals(block: ir.Block) -> frozenset[str]:
    """The locals that ``block`` assigns to, or declares or binds more than once."""
    seen = Counter[str]()
    for stmt in statements(block):
        match stmt:
            case ir.Assign(target) if not target.is_state:
                seen[target.name] += 2
            case ir.Declare(name=name) | ir.Choose(name=name) | ir.For(name=name):
                seen[name] += 1
            case _:
                pass
    return frozenset(name for name, times in seen.items() if times > 1)
