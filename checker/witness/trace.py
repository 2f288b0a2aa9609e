"""A trace: one run, told in words and in data, that can be read without the spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.witness.phrases import count, listing

FORMAT = 4
"""Version of the trace document; 4 has what steps read of others, and what was chosen at first."""

ERRORS = "errors of the run"
"""The name under which an error of the run is reported where no property's verdict carries it."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class At:
    """A place in one of the header's sources; lines and columns count from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the spec as it was: ``digest`` is the SHA-256 of ``text`` in hexadecimal.

    ``file`` is the name by which places speak of it; ``shipped``: it comes with the tool.
    """

    file: str
    digest: str
    text: str
    shipped: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """Where a trace comes from: what is needed to make the run again.

    ``sources``: the spec and what it imports, then those of the tool's own files that the run or
    its property speak of.
    """

    tool: str  # version of the tool
    file: str
    check: str
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    fine_steps: bool = False
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a step.

    ``kind`` is a :class:`checker.system.ir.MarkKind`; ``sentence`` says it in words; ``process``
    is who did it; ``name`` is the handler's, request's or indication's; ``peers`` are the receivers
    of a message that is sent, or the sender of one that is received; ``arguments`` are pairs of a
    name and a rendered value; ``at``: the handler or the statement that did it.
    """

    kind: str
    sentence: str
    process: str = ""
    name: str = ""
    message: str = ""
    peers: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    at: At | None = None

    @property
    def outermost(self) -> bool:
        """Whether it is between the protocol and its client, not between two of its layers."""
        return "." not in self.name.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Change:
    """A variable (one process's entry of it, where ``process`` is named) that got another value.

    ``kind`` is a :class:`checker.system.ir.VariableKind`; ``quiet`` changes are told by events
    already: of the world, the links and the histories, and what a process that crashes forgets.
    """

    variable: str
    title: str
    process: str
    before: str
    after: str
    kind: str
    quiet: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One state of the run, and what happened on the way to it (step 0 is the start).

    ``cut``: what its handler would have gone on to do, had its process not crashed inside it; a
    multicast that was cut short has the receivers that it missed as ``peers``.  ``reads``: the
    variables that others may have written and that the step may have read: shared ones, and what
    an oracle has noted.
    """

    number: int
    action: str
    kind: str
    process: str
    headline: str
    events: tuple[Event, ...]
    changes: tuple[Change, ...]
    state: Mapping[str, Json]
    cut: tuple[Event, ...] = ()
    reads: tuple[str, ...] = ()


FAULTY = {
    "byzantine": "Byzantine",
    "omitting": "omission-faulty",
    "foreseen": "foreseen to crash",
}
"""What a process can be that is faulty without being down, in words."""


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """What became of a process: what it indicated and performed, in order.

    ``crashed``: it is down at the end; ``recovered``: it was down and is back up; ``faulty``:
    a key of ``FAULTY``, empty where it is none of these.  ``again``: what a run that goes round
    for ever repeats of ``deliveries``.
    """

    process: str
    crashed: bool
    deliveries: tuple[str, ...]
    recovered: bool = False
    faulty: str = ""
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copies:
    """What became of a message that a process sent before it crashed."""

    step: int
    sender: str
    message: str
    received: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InFlight:
    """A message that is still on its way when the run ends."""

    link: str
    text: str


@dataclass(frozen=True, slots=True)
class FairnessJustification:
    """How a run that goes on for ever honours one promise of fairness.

    ``text``: the promise in words.  ``kind`` is ``weak``, ``strong`` or ``justice``.  ``how`` is
    ``taken`` (``steps``: those of the loop in which it is), ``disabled`` (``steps``: after these
    of the loop it can't be taken), or ``holds`` (``steps``: a justice is true after these).  A step
    is known by the number of the state it leads to; the step that closes the loop has the number
    behind the last one.  Where the run stays in its last state for ever, what is ``taken`` there
    changes nothing and has no ``steps``.
    """

    text: str
    kind: str
    how: str
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of the run with which a trace ends; ``during``: the action that met it."""

    code: str
    message: str
    during: str = ""
    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A part of the property with this run's values put in, and when it is true.

    ``text``: in words (``p3 delivered a from p1``); ``formula``: as the spec says it
    (``(p1, a) in delivered(p3)``); ``truths``: its value in each state of ``Trace.steps``;
    ``role``: ``premise``, ``goal`` or empty.
    """

    text: str
    formula: str
    truths: tuple[bool, ...]
    role: str = ""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something that a property demands in the end: the step that opened it, the one that met it,
    and the first one after which nothing can meet it any more; ``None`` where there is none (or
    it is not known)."""

    text: str
    opened: int
    met: int | None = None
    impossible: int | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """How much a run takes: its faults, its messages (a multicast is one), its transitions."""

    faults: int
    messages: int
    steps: int

    def __str__(self) -> str:
        """``1 fault, 2 messages and 4 steps``."""
        parts = (self.faults, "fault"), (self.messages, "message"), (self.steps, "step")
        return listing(count(number, noun) for number, noun in parts)


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The same question without one fault or one message of the run, and no other faults than the
    run's.

    ``kind``: ``fault`` or ``message``; ``what`` in words (``the crash of p1``); ``step``: where it
    is in the run; ``outcome``: ``holds`` (no such run violates the property), ``violated`` or
    ``unknown`` (``why``); ``steps``: of the shortest run that still violates it.
    """

    kind: str
    what: str
    step: int
    outcome: str
    why: str = ""
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the run violates its property.

    ``sentences``: what is violated by whom and how it came about, in words; ``context``: numbers
    of the steps that the violation does not depend on; ``before`` and ``after``: what the run took
    as it was found, and what this one takes; ``least``: no run that violates the property has
    fewer faults, or as many and fewer messages, or as many of both and fewer steps; ``note``: why
    something is missing here.
    """

    sentences: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    context: tuple[int, ...] = ()
    before: Cost | None = None
    after: Cost | None = None
    least: bool = False
    ablations: tuple[Counterfactual, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run that an independent replay accepted.

    ``word`` is the verdict (``violated`` or ``error``), ``sentence`` says what is violated by whom,
    ``ends`` whether the run is complete: nothing that the world promises is left to do.

    ``loop``: the run goes on for ever, from the last state back to the one of that number, or,
    where that is the last one itself, by staying there.  ``closing`` is the step that leads back;
    ``ledger`` says how the loop keeps what the world promises; ``values`` are those of the
    property's parameters; ``at``: where the property is defined.
    """

    header: Header
    property_name: str
    definition: str
    word: str
    sentence: str
    processes: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]  # name and kind, in the order of the states
    steps: tuple[Step, ...]
    fates: tuple[ProcessOutcome, ...] = ()
    copies: tuple[Copies, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    ends: bool = False
    failure: Failure | None = None
    loop: int | None = None
    closing: Step | None = None
    ledger: tuple[FairnessJustification, ...] = ()
    values: tuple[tuple[str, Json], ...] = ()
    at: At | None = None
    explanation: Explanation | None = None

    @property
    def length(self) -> int:
        """Number of transitions, with that which closes a loop."""
        return len(self.steps) - 1 + (self.closing is not None)
