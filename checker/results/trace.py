"""A trace: one execution, in words and in data, that can be read without the spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct, field

from checker.diagnostics.english import count, listing
from checker.extensions.views import html_of
from checker.model.ir import VariableKind as VariableKind
from checker.results.domains import Natural, OneOf, Sha256
from checker.results.events import At, Effect, Event, Forged, Received
from checker.results.origin import Origin
from checker.results.terms import head

FORMAT = 5
"""Version of the trace document; in 5 each kind of event has fields of its own."""

ERRORS = "run-time errors"
"""The name under which an error of the execution is reported where no property's verdict carries
it."""
IN_EVERY_RUN = "every fair run contains it"
"""The reason why something has no counterfactual."""

RECORD = "@received."
"""Part of the names of variables that hold the senders from which a process has received a
message."""
NO_HANDLER = "no handler takes it"

RECORDED = "recorded in"
"""The setting in the header of what a log says that happened: no spec has it as a run."""

START: Final = "start"
"""The kind of step 0."""

StepKind = Literal[
    "start", "step", "request", "receive", "lose", "crash", "effect", "recover", "timeout",
    "detect", "forge", "world",
]  # fmt: skip
FairnessWord = Literal["weak", "strong", "justice"]
Honoured = Literal["taken", "disabled", "holds"]
Role = Literal["", "premise", "goal"]
LeftOut = Literal["fault", "timeout", "message"]
Outcome = Literal["holds", "violated", "unknown"]
TraceWord = Literal["violated", "error", "run"]
"""The closed vocabularies of traces; a step's kind is ``start`` or an :class:`ActionKind`."""

LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)

FAULTY = {
    "byzantine": "Byzantine",
    "omitting": "omission-faulty",
    "foreseen": "foreseen to crash",
}
"""The ways to be faulty without being down, in words."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Source(Struct, frozen=True):
    """A file of the spec as it was: ``digest`` is the SHA-256 of ``text`` in hexadecimal.

    ``file`` is the name that source locations use; ``shipped``: it comes with the tool.
    """

    file: str
    digest: Sha256
    text: str
    shipped: bool = False


class Header(Struct, frozen=True):
    """The provenance of a trace: what is needed to replay it.

    ``sources``: the spec and what it imports, then those of the tool's own files to which the
    execution or its property refer.
    """

    tool: str  # version of the tool
    file: str
    check: str
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    fine_steps: bool = False
    sources: tuple[Source, ...] = ()


class Change(Struct, frozen=True):
    """A variable (one process's entry of it, where ``process`` is named) that got another value.

    ``quiet`` changes are reported by events
    already: of the environment, the links and the histories, and what a process that crashes
    forgets.
    """

    variable: str
    title: str
    process: str
    before: str
    after: str
    kind: VariableKind
    quiet: bool


class Step(Struct, frozen=True):
    """One state of the execution, and what happened on the way to it (step 0 is the start).

    ``state``: the values of the variables in the encoding of the Informal Trace Format.
    ``cut``: what its handler would have done next, had its process not crashed inside it; a
    multicast that was cut short has the receivers that it missed.  ``inner``: the effect with which
    a process goes on inside a handler, empty for any other step.  ``reads``: the
    variables that other processes may have written and that the step may have read: shared ones,
    and what an oracle has noted.
    """

    number: Natural
    action: str
    kind: StepKind
    process: str
    events: tuple[Event, ...]
    changes: tuple[Change, ...]
    state: Mapping[str, Json]
    cut: tuple[Effect, ...] = ()
    reads: tuple[str, ...] = ()
    inner: str = ""

    @property
    def untaken(self) -> str:
        """The process that receives a message here that no handler takes and nothing counts; empty
        where there is none."""
        if len(self.events) != 1 or not isinstance(self.events[0], Received | Forged):
            return ""
        event = self.events[0]
        record = RECORD + head(event.message)
        if any(name.endswith(record) for name in self.state):
            return ""
        if any(not change.quiet for change in self.changes):
            return ""
        return event.process if isinstance(event, Received) else event.receiver


class ProcessOutcome(Struct, frozen=True):
    """The outcome of a process: what it indicated and performed, in order.

    ``crashed``: it is down at the end; ``recovered``: it was down and is back up; ``faulty``: a key
    of ``FAULTY``, empty where it is none of these.  ``again``: those of ``deliveries`` that the
    cycle of a lasso repeats.
    """

    process: str
    crashed: bool
    deliveries: tuple[str, ...]
    recovered: bool = False
    faulty: Annotated[str, OneOf(("", *FAULTY))] = ""
    again: tuple[str, ...] = ()


class Lack(Struct, frozen=True):
    """An indication that a violated property demands of a process and that never comes, or, where
    ``process`` is empty, an act that never happens.

    ``operator``: which, or ``performed`` or ``effects`` for an act; ``indication``: with its
    arguments, as an event has it, empty where any would do; of an act its value.
    """

    process: str
    operator: str
    indication: str = ""

    @property
    def is_act(self) -> bool:
        """Whether it is an act, which no process in particular has to perform."""
        return not self.process


class Interval(Struct, frozen=True):
    """An operation of a process: ``call``, in words, in the step ``called``; it returned ``result``
    (empty: nothing) in the step ``returned``, ``None`` where it has not returned, by the indication
    ``answer``."""

    process: str
    call: str
    called: Natural
    answer: str = ""
    result: str = ""
    returned: Natural | None = None


class Copies(Struct, frozen=True):
    """The outcome of a message that a process sent before it crashed."""

    step: Natural
    sender: str
    message: str
    received: tuple[str, ...]
    missing: tuple[str, ...]


class InFlight(Struct, frozen=True):
    """A message that is still in flight when the execution ends."""

    link: str
    text: str


class FairnessJustification(Struct, frozen=True):
    """Why an infinite execution is fair to one constraint.

    ``text``: the fairness constraint in words.  ``kind`` is ``weak``, ``strong`` or ``justice``.
    ``how`` is ``taken`` (``steps``: those of the loop in which it is), ``disabled`` (``steps``:
    after these of the loop it is not enabled), or ``holds`` (``steps``: a justice condition is true
    after these).  A step is identified by the number of the state it leads to; the step that closes
    the loop has the number after the last one.  Where the execution stays in its last state
    forever, what is ``taken`` there changes nothing and has no ``steps``.
    """

    text: str
    kind: FairnessWord
    how: Honoured
    steps: tuple[Natural, ...]


class Failure(Struct, frozen=True):
    """The error of the execution with which a trace ends; ``during``: the action that met it;
    ``step``: it as a step with what happened before the error, if anything did.  Its state is the
    one before it."""

    code: str
    message: str
    during: str = ""
    file: str = ""
    line: Natural = 0
    column: Natural = 0
    step: Step | None = None


class Claim(Struct, frozen=True):
    """A part of the property with this execution's values substituted, and when it is true.

    ``text``: in words (``p3 delivered a from p1``); ``formula``: as the spec has it (``(p1, a) in
    delivered(p3)``); ``truths``: its value in each state of ``Trace.steps``; ``role``: ``premise``,
    ``goal`` or empty.
    """

    text: str
    formula: str
    truths: tuple[bool, ...]
    role: Role = ""


class Obligation(Struct, frozen=True):
    """A liveness obligation: the step that opened it, the step that met it, and the first step
    after which it can't be met any more; ``None`` if there is none (or it is not known)."""

    text: str
    opened: Natural
    met: Natural | None = None
    impossible: Natural | None = None


class Cost(Struct, frozen=True):
    """The cost of an execution: its faults, its messages (a multicast is one), its transitions."""

    faults: Natural
    messages: Natural
    steps: Natural

    def __str__(self) -> str:
        """Returns ``1 fault, 2 messages and 4 steps``."""
        parts = (self.faults, "fault"), (self.messages, "message"), (self.steps, "step")
        return listing(count(number, noun) for number, noun in parts)


class Counterfactual(Struct, frozen=True):
    """The outcome of the same check without one fault, timeout or message of the execution, and
    with no other faults than the execution's.

    ``kind``: ``fault``, ``timeout`` or ``message``; ``what`` in words (``the crash of p1``);
    ``step``: where it is in the execution; ``outcome``: ``holds`` (no such execution violates the
    property), ``violated`` or ``unknown`` (``why``); ``steps``: of the shortest one that still
    violates it.
    """

    kind: LeftOut
    what: str
    step: Natural
    outcome: Outcome
    why: str = ""
    steps: Natural | None = None


class Explanation(Struct, frozen=True):
    """Why the execution violates its property.

    ``sentences``: what is violated, by which processes, and how it came about, in words;
    ``context``: numbers of the steps on which the violation does not depend; ``before`` and
    ``after``: the cost of the execution as it was found, and of this one; ``least``: no execution
    that violates the property has fewer faults, or as many and fewer messages, or as many of both
    and fewer steps; ``note``: why something is missing here.
    """

    sentences: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    context: tuple[Natural, ...] = ()
    before: Cost | None = None
    after: Cost | None = None
    least: bool = False
    ablations: tuple[Counterfactual, ...] = ()
    note: str = ""


class StillOpen(Struct, frozen=True):
    """The values that some run from a state on decides, or has decided.

    ``perhaps_more``: perhaps others, too, as not all successors were explored.
    """

    values: tuple[str, ...]
    perhaps_more: bool = False

    def __str__(self) -> str:
        """Returns ``{0,1}``, or ``{0,?}`` where there are perhaps more."""
        return "{" + ",".join((*self.values, "?") if self.perhaps_more else self.values) + "}"


class Trace(Struct, frozen=True):
    """One execution that an independent replay accepted.

    ``word`` is the verdict (``violated`` or ``error``; ``run`` where nothing was asked),
    ``sentence`` says what is violated and for which values, ``ends`` whether the execution is
    complete: no fairness constraint is enabled any more, or only such whose steps change nothing.

    ``loop``: the execution is infinite, from the last state back to the one of that number, or,
    where that is the last one itself, by staying there.  ``closing`` is the step that leads back;
    ``ledger`` is the fairness justification of the loop; ``values`` are those of the property's
    parameters, in the encoding of the Informal Trace Format; ``at``: where the property is defined.
    ``operations``: the requests that return, in the order of their calls.  ``still_open``: where
    something is decided, the values that still can be in each state of ``steps``; empty where that
    is not known.  ``origin``: where the property comes from.
    ``witness``: the names of the spec, with the values for which the property is violated.
    ``lacking``: the indications and acts whose absence violates the property, if that is why.
    ``reads``: the variables of the spec that the property reads.
    """

    header: Header
    property_name: str
    definition: str
    word: TraceWord
    sentence: str
    processes: tuple[str, ...]
    variables: tuple[tuple[str, VariableKind], ...]  # in the order of the states
    steps: Annotated[tuple[Step, ...], Meta(min_length=1)]
    fates: tuple[ProcessOutcome, ...] = ()
    copies: tuple[Copies, ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    ends: bool = False
    failure: Failure | None = None
    loop: Natural | None = None
    closing: Step | None = None
    ledger: tuple[FairnessJustification, ...] = ()
    values: tuple[tuple[str, Json], ...] = ()
    at: At | None = None
    explanation: Explanation | None = None
    operations: tuple[Interval, ...] = ()
    still_open: tuple[StillOpen, ...] = ()
    origin: Origin | None = None
    witness: tuple[tuple[str, str], ...] = ()
    lacking: tuple[Lack, ...] = ()
    reads: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Returns what notebooks show: why it violates its property, and its picture."""
        return html_of("trace", self)

    @property
    def without_definition(self) -> str:
        """``sentence`` without the definition of the property, with which it ends."""
        definition = " ".join(self.definition.split())
        return self.sentence.removesuffix(f": {definition}") if definition else self.sentence

    @property
    def every_step(self) -> tuple[Step, ...]:
        """The steps, followed by the one that closes the loop or ends in an error, if there is
        one."""
        last = self.closing or self.failing
        return self.steps if last is None else (*self.steps, last)

    @property
    def failing(self) -> Step | None:
        """The step that ends in a run-time error, if that is known."""
        return None if self.failure is None else self.failure.step

    @property
    def is_recorded(self) -> bool:
        """Whether it is what a log says that happened; there is nothing to replay it with."""
        return RECORDED in self.header.settings

    @property
    def still_acts(self) -> bool:
        """Whether something still happens where the execution stays forever."""
        return self.closing is None and any(entry.how == "taken" for entry in self.ledger)

    @property
    def in_transit(self) -> tuple[str, ...]:
        """The messages between correct processes that are in transit at the end; others count as
        never sent, or never received."""
        faulty = {fate.process for fate in self.fates if fate.crashed or fate.faulty}
        texts = (message.text for message in self.in_flight)
        return tuple(text for text in texts if faulty.isdisjoint(text.split()[-3:]))

    @property
    def quiescent(self) -> bool:
        """Whether nothing happens any more where the execution ends, and nothing is in transit."""
        return self.ends and not self.in_transit and not self.still_acts

    @property
    def length(self) -> int:
        """Number of transitions, with the one that closes a loop."""
        return len(self.steps) - 1 + (self.closing is not None)
