"""Threshold automata: locations, what is counted, guards over counts, and rules.

A configuration gives for each location how many processes are in it, and for each kind of message
how many correct and how many crashing processes have sent it.  A rule takes one process from a
location to another; it is enabled while some *receipts* that the process can have had satisfy its
guard.  Nothing is ever unsent, so that what can be received only grows and guards, once true, stay
true: an execution has as many segments as guards become true, plus one, and within a segment rules
can be taken in any order in which locations are filled before they are left, each as often at a
time as it is taken in the whole segment (acceleration).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from checker.model.ir import SourceLocation


class Linear(Struct, frozen=True):
    """``constant`` plus the sum of ``coefficient * name`` over ``terms`` (sorted by name, none 0).

    Names are those of parameters, or (in conditions of guards) of receipts.
    """

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0


class AtLeast(Struct, frozen=True):
    """``linear >= 0``."""

    linear: Linear


class Not(Struct, frozen=True):
    part: Condition


class And(Struct, frozen=True):
    """True where it has no parts."""

    parts: tuple[Condition, ...] = ()


class Or(Struct, frozen=True):
    """False where it has no parts."""

    parts: tuple[Condition, ...] = ()


Condition = AtLeast | Not | And | Or
"""A formula over parameters, and in guards over receipts."""


class Quotient(Struct, frozen=True):
    """``name`` is the parameter that is ``numerator div divisor``, rounded down; it is above 0."""

    name: str
    numerator: Linear
    divisor: int


class Kind(Struct, frozen=True):
    """A kind of message: ``name`` is unique, such as ``ECHO`` or ``PROPOSE(1)``.

    ``message`` and ``fields`` (Python values as in :mod:`checker.model.types`; a payload by its
    name): what it is in the spec.  ``sender``: the one process that can send it, where it is
    counted from that one only (``p1``), else ``None``.  ``forged``: the number of processes that
    may send it without being in any location: Byzantine ones.
    """

    name: str
    message: str
    fields: tuple[object, ...]
    sender: str | None
    forged: Linear


class Receipt(Struct, frozen=True):
    """The number of distinct senders from which a process has received some message of ``kinds``.

    ``name``: in conditions; ``kinds``: numbers of kinds, sorted.  Where there is more than one, a
    process that follows the protocol sends at most one of them.
    """

    name: str
    kinds: tuple[int, ...]


class Mode(StrEnum):
    """The fault behaviour of the processes of a group."""

    CORRECT = "correct"  # each moves on while it can
    CRASHING = "crashing"  # each may stop at any time; what it sends may be lost


class Group(Struct, frozen=True):
    """``size`` processes that begin alike; ``process``: the name of the only one (``p1``), which
    exists where ``size`` is 1, or ``None``."""

    name: str
    size: Linear
    mode: Mode
    process: str | None = None


class Location(Struct, frozen=True):
    """A location of the control of a process.

    ``values``: what the spec knows of it: ``(name, value)`` of state variables, then of histories
    (``delivered``: a tuple of what was indicated, in order) and of requests made; ``crashed``: it
    has stopped; ``known``: conditions over receipts that stay true forever, since the process has
    seen them; ``own``: kinds that it has sent to all others and not to itself.
    """

    name: str
    group: int
    values: tuple[tuple[str, object], ...]
    initial: bool = False
    crashed: bool = False
    known: tuple[Condition, ...] = ()
    own: frozenset[int] = frozenset()


class Rule(Struct, frozen=True):
    """A step of one process from ``source`` to ``target`` (numbers of locations, different ones).

    ``guard``: a condition over receipts and parameters; ``sends``: kinds, each sent for the first
    time by this process; ``label``: the handler, as written; ``place``: its position.
    A kind that is sent several times stands in ``sends`` as often.  The guard of an ``exact``
    automaton compares numbers of sent messages, by :func:`sent_name`, and no receipts.
    ``indications``: what it indicates to the layer above, in order, as shown; ``is_fair``: it has a
    justice constraint: a correct process for which it stays enabled forever eventually moves on.
    ``resets``, of an exact automaton: kinds that count as not sent by anybody from then on, but for
    what the rule itself sends.
    """

    source: int
    target: int
    guard: Condition
    sends: tuple[int, ...]
    label: str
    place: SourceLocation | None = None
    indications: tuple[str, ...] = ()
    is_fair: bool = True
    resets: tuple[int, ...] = ()


class Automaton(Struct, frozen=True):
    """A threshold automaton.

    ``parameters``: what the question is about (``n``, ``f``, …), natural numbers; ``hidden``:
    further ones, such as how many processes are faulty in an execution; ``constraints``: what holds
    of both by definition (``faulty <= f``); ``resilience``: what is assumed of ``parameters``.

    Every group's size is at least 0 by ``constraints``.  Rules make no cycle, unless it is
    ``exact``: then nothing is received, and guards compare what was sent, so that they may become
    false again.  Each comparison has numbers of sent messages of one sign.  ``begins``: conditions
    over the names of initial locations, and parameters, that hold at first.

    ``next_round``: where the automaton is one round of several, the location in which a process is
    at the beginning of the next round, for each in which it may be at the end; nothing of that has
    been sent then.  Empty where there are no rounds.  ``rounds``: the parameter that is the number
    of rounds, at least 1.
    """

    name: str
    parameters: tuple[str, ...]
    hidden: tuple[str, ...]
    quotients: tuple[Quotient, ...]
    constraints: tuple[Condition, ...]
    resilience: Condition
    groups: tuple[Group, ...]
    locations: tuple[Location, ...]
    kinds: tuple[Kind, ...]
    receipts: tuple[Receipt, ...]
    rules: tuple[Rule, ...]
    exact: bool = False
    begins: tuple[Condition, ...] = ()
    next_round: tuple[int, ...] = ()
    rounds: str | None = None


def sent_name(kind: int) -> str:
    """Returns the name of the number of processes that have sent messages of ``kind``."""
    return f"#{kind}"


# ---- questions --------------------------------------------------------------------------------


class Somebody(Struct, frozen=True):
    """At least ``least`` processes are in ``locations``."""

    locations: frozenset[int]
    least: int = 1


class NotState(Struct, frozen=True):
    part: StateFormula


class AllOf(Struct, frozen=True):
    """True where it has no parts."""

    parts: tuple[StateFormula, ...] = ()


class AnyOf(Struct, frozen=True):
    """False where it has no parts."""

    parts: tuple[StateFormula, ...] = ()


class Counts(Struct, frozen=True):
    """A condition over parameters, the names of locations (how many processes are there) and
    numbers of sent messages, of an exact automaton."""

    condition: Condition


StateFormula = Somebody | Counts | NotState | AllOf | AnyOf
"""A formula over one configuration."""


class Question(Struct, frozen=True):
    """Whether some execution violates ``property``.

    ``violated``: it does where a reachable configuration satisfies this.  ``at_end``: if the
    execution can stay there forever: no correct process has to move.  (Rules make no cycle, so
    every fair execution reaches such a configuration.)  ``premise``: the property is vacuous where
    no reachable configuration satisfies it.  ``begins``: holds of the first configuration, and
    ``before`` of earlier ones than that which is ``violated``, in this order; the property is
    vacuous where no execution begins so.
    """

    property: str
    violated: StateFormula
    at_end: bool
    premise: StateFormula | None = None
    begins: StateFormula = AllOf()
    before: tuple[StateFormula, ...] = ()


# ---- answers ----------------------------------------------------------------------------------


class Burst(Struct, frozen=True):
    """``times`` processes take rule ``rule`` one after the other."""

    rule: int
    times: int


class AcceleratedRun(Struct, frozen=True):
    """An accelerated execution: numbers for all parameters (hidden ones and quotients too), how
    many processes begin in each location, and what they do, segment by segment."""

    values: tuple[tuple[str, int], ...]
    begin: tuple[int, ...]
    segments: tuple[tuple[Burst, ...], ...]


class Outcome(StrEnum):
    PROVED = "proved"
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"


class Decision(Struct, frozen=True):
    """The answer to one question: ``run`` where it is violated; ``reason``: where it is unknown or
    vacuous; ``certificate``: where it is proved, how that was checked a second time; ``queries``,
    ``seconds``: what it took."""

    question: Question
    outcome: Outcome
    run: AcceleratedRun | None = None
    reason: str = ""
    queries: int = 0
    seconds: float = 0.0
    certificate: str = ""
