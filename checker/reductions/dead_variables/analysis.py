"""Dead-variable analysis: parts of a state that are not live are reset to one value.

A part is an entry of a map, or one item of a set or of a bag in an entry.  It is *dead* in a state
when no reading of it will ever matter again: each reading of it stands under a condition that is
false forever, or is part of a condition whose value is decided forever.  What holds forever follows
from the monotonicity of variables (:mod:`dead_monotonicity`), found from all assignments in all
actions and in the monitor (:mod:`dead_monotone_variables`); the readings and their conditions are
found by :mod:`dead_uses`; both are combined in :mod:`dead_conditions`, for each part into a
condition that mentions the state alone.  Three kinds of parts are reset:

* flags and items of sets that are only ever added to are filled: the flag is raised, the item put
  in (so a process that has heard from a quorum has heard from everybody);
* all other parts that belong to a process are cleared;
* messages whose reception has no effect (:mod:`dead_messages`) are removed; those in queues as if
  any of a queue might be received (:mod:`dead_queues`).

Let ``r`` be the function that the statements compute.  Then ``{(s, r(s))}`` is a bisimulation, with
the fairness constraints that steps take, up to receptions of dead messages.  A step that changes
dead parts only leads from ``r(s)`` to itself, and takes its constraint there as it does in the
system:

* *Deadness is stable.*  The conditions mention only what moves in one direction, so no step makes
  them false, and neither does filling.  What is cleared, and messages, are in no condition.
* *Dead parts are unobservable.*  They are read under conditions that are false, or within
  conditions that have one value, in ``s`` as in ``r(s)``.  So the same instances of actions are
  enabled, their choices are the same, they assign the same to all live parts, meet the same errors
  and belong to the same constraints; invariants, premises, propositions and justice have the same
  values.  An instance that takes a dead message may be missing in ``r(s)``: it would have removed
  the message and done nothing else.
* *The reset is idempotent.*  A variable is filled after those that its conditions
  mention; where two mention each other one of them does without
  (:meth:`DeadVariableAnalysis._in_dependency_order`).  Its own entries it mentions only in
  conditions that the part itself belongs to, and a part that is filled belongs to none that is
  still open.
* *Removed messages represent no others.*  A fairness constraint on receiving a dead message is on
  that message alone (:meth:`dead_messages.MessageEffects._own_promise`), and a message that is
  dead stays dead.  So where it has been removed no constraint is enabled that receiving it would
  take, and an execution without these receptions becomes a fair one by inserting them.
* *Ends are preserved.*  Steps of dead parts alone are finitely many: what is filled has moved up,
  what is cleared or sent is assigned only together with one of finitely many steps up
  (:func:`dead_monotone_variables.progresses`), or by an instance that is a constraint of its own
  (:func:`dead_messages.alone`), or is put into a set from which no step with a fairness constraint
  takes anything (:meth:`DeadVariableAnalysis._only_gathers`): then each such step is soon one that
  leaves the state as it is, in the system as among the reset states.  So an execution that ends
  among the reset states is shown as one that ends.

Dead variables: Bozga, Fernandez, Ghirvu, *State space reduction based on live variables analysis*,
SAS 1999; here a variable may be live for one process and dead for another.  Stuttering: Namjoshi,
*A simple characterization of stuttering bisimulation*, FSTTCS 1997.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from checker.model import ir
from checker.model.ir import Block, Expr, TransitionSystem, VariableKind
from checker.model.large_sets import adds_only, is_finite_set
from checker.model.memo import Keeping, an_analysis, in_its_object
from checker.model.names import assigned_in, reads_in
from checker.model.tree import nodes, placeless, statements
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
    VariantT,
    cardinality,
)
from checker.reductions.dead_variables.conditions import (
    Blockers,
    Meeting,
    VariablePart,
    cell,
    simplest,
)
from checker.reductions.dead_variables.messages import MessageEffects, alone
from checker.reductions.dead_variables.monotone_variables import progresses, trends
from checker.reductions.dead_variables.monotonicity import Direction, Trend, Trends
from checker.reductions.dead_variables.program_points import ProgramPoint, program_points
from checker.reductions.dead_variables.queues import with_bags, without_dead
from checker.reductions.dead_variables.reset import Reset, reset_statements
from checker.reductions.dead_variables.settled import settled
from checker.reductions.dead_variables.uses import VariableUse, now, uses_in

WIDE = 256
"""Of sets over more values no single members are dead."""


@an_analysis()
def find_dead(system: TransitionSystem) -> tuple[Block, tuple[str, ...]]:
    """The statements that reset dead parts; and what prevents more."""
    if any(isinstance(s, ir.Emit) for a in system.actions for s in statements(a.body)):
        return (), ("effects are still to be lowered",)
    return DeadVariableAnalysis(placeless(system)).block()


class DeadVariableAnalysis(Keeping):
    """Determines when the parts of one system's variables are dead."""

    def __init__(self, system: TransitionSystem) -> None:
        super().__init__()
        self.system, self.queues = with_bags(system)
        system = self.system
        self.sites = program_points(system)
        self.unused: list[str] = []
        moves = trends(system, self.sites).variables
        self.links = {
            v.name for v in system.variables
            if v.kind is VariableKind.LINK and moves[v.name].way is not Direction.STILL
        }  # fmt: skip
        known = {n: Trend(Direction.ANY) if n in self.links else t for n, t in moves.items()}
        self.trends = Trends(known)
        self.later = settled(system, self.sites, self.trends) if self.links else self.trends
        self._mentions: dict[str, list[ProgramPoint]] = {v.name: [] for v in system.variables}
        for site in self.sites:
            for name in reads_in(site.node) | assigned_in(site.node):
                self._mentions[name].append(site)
        self._assignments: dict[str, list[tuple[ProgramPoint, ir.Assign]]] = {}
        self._points: dict[int | None, list[ProgramPoint]] = {}
        for site in self.sites:
            if isinstance(site.node, ir.Assign):
                self._assignments.setdefault(site.node.target.name, []).append((site, site.node))
                self._points.setdefault(site.action, []).append(site)
        self._blockers = {False: Blockers(self.trends), True: Blockers(self.later)}
        self._plain: dict[str, tuple[list[list[Expr]] | None, set[str]]] = {}
        self._met: dict[tuple[str, int], Meeting] = {}
        self._reached: dict[object, Meeting] = {}
        self._stores: dict[str, list[Meeting]] = {}

    def block(self) -> tuple[Block, tuple[str, ...]]:
        rising, others, links = list[ir.Variable](), list[ir.Variable](), list[ir.Variable]()
        for variable in self.system.variables:
            if variable.name in self.links:
                if self._may_resend(variable):
                    links.append(variable)
            elif self._fills(variable):
                rising.append(variable)
            elif self._clears(variable):
                others.append(variable)
        found: list[Reset] = []
        for variable, hidden in self._in_dependency_order(rising):
            found += self._rest(variable, hidden, Direction.UP)
        for variable in others:
            found += self._rest(variable, frozenset(), Direction.ANY)
        for variable in links:
            found += self._rest(variable, frozenset(), Direction.DOWN)
        return tuple(s for rest in found for s in self._statements(rest)), tuple(self.unused)

    def _statements(self, rest: Reset) -> Block:
        queue = self.queues.get(rest.cell.variable)
        return reset_statements(rest) if queue is None else without_dead(queue, rest)

    # -- which variables ------------------------------------------------------------------------

    def _fills(self, variable: ir.Variable) -> bool:
        leaf = cell(variable, items=False).entry.type
        if self.trends.variables[variable.name].way is not Direction.UP:
            return False
        if isinstance(leaf, SetT):
            return cardinality(leaf.item) <= WIDE
        return isinstance(leaf, BoolT)

    def _clears(self, variable: ir.Variable) -> bool:
        """Whether it may be given any value when it is dead."""
        if self.trends.variables[variable.name].way is not Direction.ANY:
            return False
        if variable.kind is not VariableKind.LOCAL:
            return False
        leaf = cell(variable, items=False).entry.type
        return _plain(leaf) and self._finite(variable, receiving=False)

    def _may_resend(self, variable: ir.Variable) -> bool:
        leaf = cell(variable, items=False).entry.type
        if not isinstance(leaf, SetT | BagT):
            return False
        if self._only_gathers(variable) or self._finite(variable, receiving=True):
            return True
        why = f"`{variable.title or variable.name}`: messages may be sent forever"
        self.unused.append(why)
        return False

    def _only_gathers(self, variable: ir.Variable) -> bool:
        """Whether it is a set over a fixed universe from which no step with a fairness constraint
        takes anything: such steps change it finitely often.
        """
        if not (isinstance(variable.type, SetT) or is_finite_set(self.system, variable)):
            return False
        here = ir.Read(variable.type, variable.name)
        actions = self.system.actions
        stores = (
            node
            for site, node in self._assignments.get(variable.name, ())
            if site.action is None or actions[site.action].promised != ir.FALSE
        )
        return all(not stmt.target.path and adds_only(stmt.value, here) for stmt in stores)

    def _finite(self, variable: ir.Variable, receiving: bool) -> bool:
        """Whether steps with fairness constraints assign it only together with one of finitely many
        steps, or have a constraint of their own.
        """
        for site, node in self._assignments.get(variable.name, ()):
            if site.action is None:
                return False
            action = self.system.actions[site.action]
            if action.promised == ir.FALSE or self._alone(action):
                continue
            if receiving and self._consumes_parameter(site, node):
                continue
            if not progresses(self._points[site.action], self.trends, site):
                return False
        return True

    @in_its_object
    def _alone(self, action: ir.Action) -> bool:
        return alone(self.system, action)

    def _consumes_parameter(self, site: ProgramPoint, node: ir.Assign) -> bool:
        """Whether it removes the item that is the action's parameter."""
        assert site.action is not None
        names = {
            p.name
            for p in self.system.actions[site.action].params
            if isinstance(p.domain, ir.Members) and p.domain.of == now(node.target)
        }
        match node.value:
            case ir.Apply(op=ir.Op.REMOVE | ir.Op.BAG_REMOVE, args=(base, ir.Local(name=name))):
                return name in names and base == now(node.target)
            case _:
                return False

    # -- when -----------------------------------------------------------------------------------

    def _in_dependency_order(
        self, variables: list[ir.Variable]
    ) -> list[tuple[ir.Variable, frozenset[str]]]:
        """The variables, those that mention the fewest others first; each with those filled only
        later.
        """
        left = {v.name: v for v in variables}
        if len(left) == 1:
            return [(variables[0], frozenset())]
        asks = {n: self._mentioned_variables(v) & set(left) - {n} for n, v in left.items()}
        found: list[tuple[ir.Variable, frozenset[str]]] = []
        while left:
            name = min(left, key=lambda n: (len(asks[n] & set(left)), n))
            variable = left.pop(name)
            found.append((variable, frozenset(left)))
        return found

    def _mentioned_variables(self, variable: ir.Variable) -> set[str]:
        clauses = self._clauses(variable, frozenset())
        return {name for clause in clauses or () for part in clause for name in reads_in(part)}

    def _clauses(self, variable: ir.Variable, hidden: frozenset[str]) -> list[list[Expr]] | None:
        """The conditions that all have to hold for a part of the variable to be dead, each with its
        alternatives, which do without what is ``hidden``; ``None``: never.
        """
        every = self._blockers[variable.name in self.links]
        if variable.name not in self._plain:
            blockers = every.hiding(frozenset())
            found = self._find_clauses(variable, blockers)
            self._plain[variable.name] = found, blockers.mentioned
        found, mentioned = self._plain[variable.name]
        if found is None or hidden.isdisjoint(mentioned):
            return found
        return self._find_clauses(variable, every.hiding(hidden))

    def _find_clauses(self, variable: ir.Variable, blockers: Blockers) -> list[list[Expr]] | None:
        items = (
            variable.name in self.links or self.trends.variables[variable.name].way is Direction.UP
        )
        part = cell(variable, items)
        effects = MessageEffects(self.system, self.sites, blockers, self._reached)

        def clauses_of(reading: VariableUse) -> list[list[Expr]] | None:
            if reading.among is not None and part.item is not None:
                return effects.clauses(part, reading)
            return [blockers.of(self._meeting(part, reading))]

        sites = self._mentions[variable.name]
        found: dict[int, list[list[Expr]]] = {}
        for site in sorted(sites, key=lambda one: len(one.path) + len(one.beside)):
            found[id(site)] = []
            for reading in self._uses(site):
                if reading.variable == variable.name:
                    clauses = clauses_of(reading)
                    if clauses is None or not all(clauses):
                        return None  # most often where there are the fewest conditions
                    found[id(site)] += clauses
        clauses = simplest(clause for site in sites for clause in found[id(site)])
        if clauses is None:
            return None
        idle = self._freezing_conditions(part, blockers, clauses)
        return simplest([p for p in clause if p not in idle] for clause in clauses)

    @in_its_object
    def _uses(self, site: ProgramPoint) -> list[VariableUse]:
        return list(uses_in(site))

    def _meeting(self, part: VariablePart, reading: VariableUse) -> Meeting:
        """The meeting of a part of a variable with one of ``self._uses`` of that variable."""
        at = part.variable, id(reading)
        if at not in self._met:
            self._met[at] = Meeting(part, reading)
        return self._met[at]

    def _freezing_conditions(
        self, part: VariablePart, blockers: Blockers, clauses: list[list[Expr]]
    ) -> set[Expr]:
        """Conditions in ``clauses`` that never change and under which the part never does: they
        gain nothing.
        """
        common = {
            p
            for clause in clauses
            for p in clause
            if self.trends.way(p) is Direction.STILL
            and not any(isinstance(n, ir.IsCase) for n in nodes(p))
        }
        if not common:
            return common
        if part.variable not in self._stores:
            self._stores[part.variable] = list(self._stores_to(part))
        for stored in self._stores[part.variable]:
            common &= set(blockers.of(stored))
        return common if self._stores[part.variable] else set()

    def _stores_to(self, part: VariablePart) -> Iterator[Meeting]:
        """The assignments to a part, as readings of what is stored."""
        for site, node in self._assignments.get(part.variable, ()):
            keys = tuple(k.key for k in node.target.path if isinstance(k, ir.Key))
            item: ir.Local | None = None
            path = site.path
            match node.value:
                case ir.Apply(op=ir.Op.INSERT | ir.Op.BAG_ADD, args=(_, what)) if part.item:
                    item = ir.Local(what.type, "@stored")
                    path = (*path, ir.Apply(BOOL, ir.Op.EQ, (item, what)))
                case _:
                    pass
            yield Meeting(part, VariableUse(part.variable, keys, path, (), site, item))

    def _rest(self, variable: ir.Variable, hidden: frozenset[str], way: Direction) -> list[Reset]:
        clauses = self._clauses(variable, hidden)
        if clauses is None:
            return []
        if variable.name in self.queues:  # nothing asks what else is in a bag
            alone = ([p for p in one if variable.name not in reads_in(p)] for one in clauses)
            clauses = list(alone)
            if not all(clauses):
                return []
        return [Reset(cell(variable, way is not Direction.ANY), clauses, way)]


def _plain(type_: Type) -> bool:
    """Whether its reset value is the same under all renamings of processes and payloads."""
    match type_:
        case AtomT() | VariantT():
            return False
        case TupleT(items=items):
            return all(_plain(item) for item in items)
        case MapT(value=value):
            return _plain(value)
        case BoolT() | IntT() | OptionT() | SeqT() | SetT() | BagT():
            return True
        case _:
            assert_never(type_)
