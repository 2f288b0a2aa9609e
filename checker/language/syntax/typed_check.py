"""Defines typed checks of protocols; see :mod:`checker.language.syntax.typed`."""

from __future__ import annotations

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span
from checker.language.link_kinds import LinkKind
from checker.language.syntax.typed_code import Interface, PropertyDef, Protocol
from checker.language.syntax.typed_expr import Expr
from checker.records import replace


class Client(Struct, frozen=True):
    """``process`` makes the request ``op``.

    ``args`` are closed expressions; payloads of type ``Msg`` are :class:`Named`.  ``span``: where
    the request is written; ``process_span``: where the process is.  Of ``any of …`` there are no
    ``args``, but ``alternatives``, each with its arguments, or the set ``domain`` of them.
    """

    process: str
    op: str
    args: tuple[Expr, ...]
    span: Span
    process_span: Span
    alternatives: tuple[tuple[Expr, ...], ...] = ()
    domain: Expr | None = None

    @property
    def is_choice(self) -> bool:
        """Whether what is requested is chosen when a run starts."""
        return self.domain is not None or bool(self.alternatives)


class Expectation(Struct, frozen=True):
    """``what``: a property, ``states`` or ``trace``; ``value``: a verdict's word or a number.

    ``without``: words that no step of the counterexample fits, which is expected, too.
    """

    what: str
    value: str | int
    span: Span
    without: Happening | None = None


class Unasked(Struct, frozen=True):
    """``what``: a part of a world that no check of the file asks about; ``clause``: what asks
    it; ``excluded``: why the file leaves it out, empty where it does not say so."""

    what: str
    clause: str
    excluded: str = ""


class Setting(Struct, frozen=True):
    name: str
    value: Expr
    span: Span


class LinkRule(Struct, frozen=True):
    """Links from one role to another, of another kind than the rest: ``links a -> b lossy``."""

    sender: str
    receiver: str
    kinds: tuple[LinkKind, ...]
    capacity: int | None
    span: Span


class Cut(Struct, frozen=True):
    """``faults cut <= bound of sender -> receiver``: links that may be cut.

    ``bound``: how often, ``None``: any number of times; ``way``: the names of who sends and who
    receives (a role, ``Proc``, or a parameter) where one way is cut, ``None`` where both are.
    """

    bound: Expr | None
    way: tuple[str, str] | None
    span: Span


class RoleFault(Struct, frozen=True):
    """``faults kind <= bound of role`` (``None``: any number of times); ``alone``: no clause
    without a role is about this kind, so that nobody of a role without a clause is faulty in this
    way."""

    kind: str
    role: str
    bound: Expr | None
    alone: bool
    span: Span


class HandlerBudget(Struct, frozen=True):
    """``at most bound handler``: how often handlers of this name run, of all processes together, or
    of each; ``alternative``: how often alternatives of this name are taken."""

    handler: str
    bound: Expr
    per_process: bool
    span: Span
    alternative: bool = False


class FairHandler(Struct, frozen=True):
    """``fair handler``: the fairness of each process that the optional handlers of this name have,
    together."""

    handler: str
    strongly: bool
    span: Span


class Timing(Struct, frozen=True):
    """``kind``: ``asynchronous``, ``synchronous``, ``partial`` or ``clocks``; ``drift``: ticks by
    which two clocks may differ; ``noise``: timeouts that may come too early before a ``partial``
    system becomes synchronous (``None``: any number); ``until``: what clocks show at most."""

    kind: str
    drift: Expr | None
    noise: Expr | None
    until: Expr | None
    span: Span


class RoleNoise(Struct, frozen=True):
    """How many false outputs of a detector may be about members of a role."""

    role: str
    bound: Expr


class Detector(Struct, frozen=True):
    """``kind``: ``P``, ``S`` or ``Omega``; ``noise``: false outputs that it may make (``None``: any
    number before it settles); ``of_roles``: those about single roles, and ``alone``: no others."""

    kind: str
    eventually: bool
    noise: Expr | None
    span: Span
    of_roles: tuple[RoleNoise, ...] = ()
    alone: bool = False


class Given(Struct, frozen=True):
    """``given layer as oracle`` (``protocol`` ``None``) or ``given layer as Q``; ``layer`` is the
    name of a layer at any depth, or of the interface that it has."""

    layer: str
    protocol: Protocol | None
    span: Span


class Happening(Struct, frozen=True):
    """A step of a scenario, in words."""

    text: str
    span: Span


class Claim(Struct, frozen=True):
    """A claim about a scenario's execution: ``what`` is a property (``word``: ``violated`` or
    ``holds``), or ``it`` (``ends``, ``continues`` or ``fails``)."""

    what: str
    word: str
    span: Span


class Scenario(Struct, frozen=True):
    """An execution that must be possible: ``steps``, then ``again`` repeated forever (empty: it
    stops there)."""

    name: str
    steps: tuple[Happening, ...]
    again: tuple[Happening, ...]
    claims: tuple[Claim, ...]
    span: Span


class ViewTerm(Struct, frozen=True):
    """``value`` for each of the processes that ``names`` bind; ``roles``: theirs, or ``None``."""

    names: tuple[str, ...]
    roles: tuple[str | None, ...]
    value: Expr


class View(Struct, frozen=True):
    """What of the protocol's state makes states different; ``text``: as it is written."""

    terms: tuple[ViewTerm, ...]
    text: str
    span: Span


class ChanceQuestion(Struct, frozen=True):
    """A question about chance, by the ``name`` that it is written as.

    ``goal``: the property that is asked of runs, or, of expected steps, that the goal comes;
    ``keeps``: the invariant that holds until then; ``steps``: within so many.  ``numerator`` and
    ``denominator``: of the bound, ``None`` for ``almost surely``; ``at_least``: from below.
    ``counts``: it is about expected steps, of ``handler`` where that is one.  ``some``: for some
    adversary.  ``expected``: the verdict that the check expects.
    """

    name: str
    goal: PropertyDef
    keeps: PropertyDef | None
    steps: Expr | None
    numerator: Expr | None
    denominator: Expr | None
    at_least: bool
    counts: bool
    handler: str
    some: bool
    expected: str
    span: Span

    @property
    def bound_by_one(self) -> bool:
        """Whether it is about one event, and not about each of several."""
        return self.numerator is not None

    @property
    def formulas(self) -> tuple[PropertyDef, ...]:
        """Its properties."""
        return (self.goal,) if self.keeps is None else (self.goal, self.keeps)


class Check(Struct, frozen=True):
    """A check: a protocol, its environment, and the properties to check.

    ``crash``: the bound of ``faults crash <= e`` or ``None``, and ``recover`` whether crashed
    processes may recover (then the bound is of crashes, not of processes); ``omission``,
    ``byzantine``: bounds of processes; ``splits``: whether the network may partition, and
    ``partitions``: how often (``None``: any number of times); ``pause_span``: where it declares
    that processes may pause, and ``pauses``: how often (``None``: any number of times);
    ``kill``, ``power`` and ``wipe``: the parts of ``crash`` in which nothing else happens,
    the power fails, or the disk is lost; ``sync``: how often a ``sync`` fails; ``cuts``: the links
    that may be cut; ``resets``: how often connections break that no crash breaks (``None``: never);
    ``links``: the kinds as written, the perfect one
    where none is; ``capacity``: of ``bounded k``; ``prove``: the properties to check, each resolved
    (the protocol's own, its interface's, or by name from a shipped interface, or generated, as
    ``exactly_once over effects``); ``crash_points``: ``inside``, ``everywhere`` (also those that no
    property tells apart) or ``between_handlers``; ``allow_unused``: handlers that are never
    executed do not make a verdict vacuous. Properties that only ``expect`` names are in ``prove``
    too. ``warnings``: what is legal, but probably not intended. ``unasked``: what no check of the
    file asks. ``overridden``: clauses of the environment that settings have replaced, and by what.
    ``every``: of ``for all n, T when …``, the parameters (``n`` and ``f`` among them) that no
    setting gives a value: the check is about all natural numbers with ``when``; where that is
    ``None``, about all for which the protocol's ``requires`` holds. ``invariants``: the check's own
    lemmas. ``only``: the properties that are left of it, where not all are asked. ``bounds``: of
    ``bound e``, each as the invariant ``always e``. ``view``: states in which it is equal are taken
    for one. ``chance``: its questions about chance. ``role_faults``: bounds of single roles;
    ``crash`` and the like are those of all processes, the sum where a check bounds single roles
    only. ``recovering``: the roles whose members may recover, where that is not everybody.
    """

    name: str
    protocol: Protocol
    settings: tuple[Setting, ...]
    crash: Expr | None
    links: tuple[LinkKind, ...]
    capacity: int | None
    clients: tuple[Client, ...]
    prove: tuple[PropertyDef, ...]
    expect: tuple[Expectation, ...]
    span: Span
    crash_points: str = "inside"
    allow_unused: bool = False
    recover: bool = False
    omission: Expr | None = None
    byzantine: Expr | None = None
    partitions: Expr | None = None
    splits: bool = False
    pauses: Expr | None = None
    pause_span: Span | None = None
    kill: Expr | None = None
    power: Expr | None = None
    wipe: Expr | None = None
    sync: Expr | None = None
    cuts: tuple[Cut, ...] = ()
    resets: Expr | None = None
    link_rules: tuple[LinkRule, ...] = ()
    timing: Timing | None = None
    detector: Detector | None = None
    given: tuple[Given, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    overridden: tuple[tuple[str, str], ...] = ()
    unasked: tuple[Unasked, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    every: tuple[str, ...] = ()
    when: Expr | None = None
    every_span: Span | None = None
    invariants: tuple[PropertyDef, ...] = ()
    only: tuple[str, ...] = ()
    bounds: tuple[PropertyDef, ...] = ()
    role_faults: tuple[RoleFault, ...] = ()
    recovering: tuple[str, ...] = ()
    budgets: tuple[HandlerBudget, ...] = ()
    fair: tuple[FairHandler, ...] = ()
    view: View | None = None
    chance: tuple[ChanceQuestion, ...] = ()

    @property
    def pausing(self) -> bool:
        """Returns whether processes may pause."""
        return self.pause_span is not None

    @property
    def link_kinds(self) -> tuple[LinkKind, ...]:
        """Returns all kinds of links that it names."""
        return (*self.links, *(kind for rule in self.link_rules for kind in rule.kinds))

    @property
    def observed(self) -> tuple[PropertyDef, ...]:
        """Returns all that is asked of states and executions: the properties and the bounds."""
        return (*self.prove, *self.bounds)

    @property
    def condition(self) -> Expr | None:
        """Returns the assumption on the sizes; ``None``: nothing."""
        return self.protocol.requires if self.when is None else self.when

    @property
    def lemmas(self) -> tuple[PropertyDef, ...]:
        """Returns the invariants of the protocol and of the check that are not among the properties
        to check."""
        asked = {p.name for p in self.prove}
        return tuple(
            p for p in (*self.protocol.invariants, *self.invariants) if p.name not in asked
        )

    def with_lemmas(self) -> Check:
        """Returns the check with its lemmas as further properties, behind its own."""
        return replace(self, prove=(*self.prove, *self.lemmas))


class Module(Struct, frozen=True):
    """A file: its own protocols and checks, in order."""

    file: str
    interfaces: tuple[Interface, ...] = field(default=())
    protocols: tuple[Protocol, ...] = field(default=())
    checks: tuple[Check, ...] = field(default=())
