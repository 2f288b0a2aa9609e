"""Steps in machine code.

The system that is compiled notes in a variable of its own which logged events a step has; it is
read, and emptied, between steps.  So a state is the number that its row is, and the lines that a
step explains are found by the same code as for the interpreter.
"""

from __future__ import annotations

from checker.conform.choices import choices_of
from checker.conform.explain_events import OBSERVABLE, Cursors, EventExplainer
from checker.conform.lines import Item, Line, passed_marks
from checker.conform.pattern_bits import Bits, bits_in_state
from checker.conform.reference_steps import ReferenceSteps, count_faults
from checker.conform.search import Way
from checker.engines.native.codegen.layout import Leaf, Wide
from checker.engines.native.codegen.packing import decode, width
from checker.engines.native.steps.stepper import NativeStepper
from checker.instantiate.faults.fault_marks import fault_kind
from checker.model import ir
from checker.model.interpreter import Event, State
from checker.model.ir import Apply, Assign, Make, Mark, MarkKind, Op, Read, Target, TransitionSystem
from checker.model.tree import rewritten
from checker.model.types import Case, SeqT, VariantT
from checker.records import replace
from checker.results.answer import Unsupported

EVENTS = "@events"
"""The variable that has the events of the step that led to a state."""

MOST = 16
"""The largest number of events of a step; states that have larger steps are the interpreter's."""


def noting_events(system: TransitionSystem, marks: list[int]) -> TransitionSystem:
    """Returns ``system`` with a last variable to which each step appends its events of ``marks``:
    a case for each of them, with the mark's arguments, and a last case, without arguments, for each
    other fault; without properties and fairness."""
    cases = tuple(
        Case(
            f"mark {mark}", tuple((str(i), kind) for i, kind in enumerate(system.marks[mark].types))
        )
        for mark in marks
    )
    faults = {n for n, info in enumerate(system.marks) if fault_kind(info)} - set(marks)
    cases += (Case("a fault", ()),) if faults else ()
    event = VariantT("Event", cases)
    type_ = SeqT(event, MOST)

    def note(node: object) -> object:
        if not isinstance(node, Mark):
            return None
        if node.mark in marks:
            new = Make(event, marks.index(node.mark), node.args)
        elif node.mark in faults:
            new = Make(event, len(marks), ())
        else:
            return None
        now = Read(type_, EVENTS)
        return Assign(Target(type_, EVENTS, True), Apply(type_, Op.APPEND, (now, new)))

    actions = tuple(
        replace(a, body=rewritten(a.body, note), promised=ir.FALSE, fairness=None)
        for a in system.actions
    )
    variable = ir.Variable(EVENTS, type_, (), ir.VariableKind.WORLD)
    variables = (*system.variables, variable)
    return replace(
        system, variables=variables, actions=actions, properties=(), justice=(), view=None
    )


MOST_KEPT = 100_000
"""The largest number of different steps, and of lines, that are remembered."""


class NativeSteps:
    """The steps that the log of ``explainer`` admits, in machine code.

    Raises :class:`Unsupported` where native code can't take the system.
    """

    def __init__(self, system: TransitionSystem, explainer: EventExplainer) -> None:
        self.system, self.explainer = system, explainer
        noted = (*OBSERVABLE, MarkKind.FORGE, MarkKind.CHOICE)
        self._marks = [m for m in passed_marks(system) if system.marks[m].kind in noted]
        noting = noting_events(system, self._marks)
        self._stepper = NativeStepper(noting)
        self._reference = ReferenceSteps(system, explainer)
        self._type = noting.variables[-1].type
        node = self._stepper.layout.nodes[-1]
        if not isinstance(node, Leaf | Wide):
            raise Unsupported("the events of a step have no place of their own")
        self._shift = 64 * node.word + (node.shift if isinstance(node, Leaf) else 0)
        self._mask = (1 << width(self._type)) - 1
        self._rest = ~(self._mask << self._shift)
        self._events: dict[int, tuple[Event, ...]] = {}
        self._faults: dict[int, int] = {}
        self._choices: dict[int, tuple[Event, ...]] = {}
        self._said: dict[int, tuple[Line, tuple[Bits, ...]]] = {}
        self._items = [timeline.items for timeline in explainer.observation.timelines]
        self._first: dict[int, int | None] = {}
        self._begins: dict[tuple[int, int], tuple[Line, bool]] = {}

    def starts(self) -> list[int]:
        """Returns the initial states; may raise ``RunFault``."""
        return [self.packed(state) for state in self._reference.starts()]

    def ways(self, state: int, cursors: Cursors) -> list[Way[int]]:
        """Returns the steps of ``state`` that what is logged admits.

        Raises :class:`checker.conform.reference_steps.Outgrown`.
        """
        if max(len(self._events), len(self._begins), len(self._said)) >= MOST_KEPT:
            self._forget()
        rows, faulted = self._stepper.successors(state)
        if faulted:
            return self._interpreted(state, cursors)
        found = []
        shift, mask, rest, known = self._shift, self._mask, self._rest, self._events
        for row in rows:
            code, successor = row >> shift & mask, row & rest
            if not code:
                found.append(Way(successor, cursors, 0))
                continue
            events = known.get(code)
            if events is None:
                events = self._decode_step(code)
            who = self._first[code]
            if who is not None:
                at, items = cursors[who], self._items[who]
                if at < len(items) and not self._may_begin(code, events, items[at]):
                    continue
            for now, lines in self.explainer.after(cursors, events, self._choices[code]):
                if not lines or self._says(lines, successor):
                    found.append(Way(successor, now, len(lines), self._faults[code]))
        return found

    def _may_begin(self, code: int, events: tuple[Event, ...], item: Item) -> bool:
        """Returns whether the first event of a step may be what the log of its process says next;
        lines that say the same share the answer."""
        if not isinstance(item, Line):
            return True
        key = (code, id(item.patterns))
        known = self._begins.get(key)
        if known is None:
            known = self._begins[key] = (item, self.explainer.may_be(item, events[0]))
        return known[1]

    def _forget(self) -> None:
        """Forgets what is kept of steps and lines."""
        for kept in (self._events, self._choices, self._faults, self._first):
            kept.clear()
        self._begins.clear()
        self._said.clear()

    def _interpreted(self, state: int, cursors: Cursors) -> list[Way[int]]:
        """Returns the same by the interpreter, which knows what an error is about."""
        ways = self._reference.ways(self.shown(state), cursors)
        return [Way(self.packed(way.state), *way[1:]) for way in ways]

    def packed(self, state: State) -> int:
        """Returns the number that a state of the interpreter is."""
        return self._stepper.pack((*state, ()))

    def shown(self, state: int) -> State:
        """Returns a state as the interpreter has it."""
        return self._stepper.unpack(state)[:-1]

    def _decode_step(self, code: int) -> tuple[Event, ...]:
        """Returns the events of a step, and keeps of it the number of its faults, the events that
        logs may have, and the timeline that must say its first event next, if one must."""
        value = decode(self._type, code)
        assert isinstance(value, tuple)
        events = [
            Event(self._marks[case], tuple(given))
            for case, *given in value
            if case < len(self._marks)
        ]
        unnamed = len(value) - len(events)
        self._faults[code] = unnamed + count_faults(self.system, events)
        self._choices[code] = choices_of(self.system, events)
        found = self._events[code] = self.explainer.relevant(events)
        free = not found or self.explainer.need_not_be_logged(found[0])
        self._first[code] = None if free else self.explainer.number_of(found[0])
        return found

    def _says(self, lines: list[Line], state: int) -> bool:
        for line in lines:
            if not line.state:
                continue
            said = self._said.get(id(line.state))
            if said is None:
                layout = self._stepper.layout
                bits = tuple(bits_in_state(layout, n, pattern) for n, pattern in line.state)
                said = self._said[id(line.state)] = (line, bits)
            if any(state & mask != value for mask, value in said[1]):
                return False
        return True

    def close(self) -> None:
        """Ends what is still being compiled."""
        self._stepper.close()
