"""Diagnostics for what leaves the fragment of threshold automata.

``Leaves`` is raised where a construct is met that can't be extracted, and collected by
:class:`FragmentErrors` so that each construct is reported once.  :func:`survey` finds what is
visible without executing handlers.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.instantiate.protocol.walk import nodes
from checker.language.link_kinds import Delivery, LinkKind
from checker.language.syntax import typed
from checker.language.typecheck.world import STOPS

_READ_OFF = frozenset({"ordered", "keeps", "duplicates", "delivery", "authenticates"})
"""The traits with which links still deliver, sooner or later, exactly what was sent."""


class Leaves(Exception):
    """A construct leaves the fragment."""

    def __init__(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, span, hint=hint)


class FragmentErrors(Struct):
    """The constructs found to leave the fragment, each once."""

    diagnostics: dict[tuple[str, Span | None], Diagnostic] = field(default_factory=dict)

    def add(self, leaves: Leaves) -> None:
        one = leaves.diagnostic
        self.diagnostics.setdefault((one.code, one.span), one)

    def raise_if_any(self) -> None:
        """Raises :class:`SpecError` where something was found, sorted by location."""
        if self.diagnostics:
            raise SpecError(tuple(sorted(self.diagnostics.values(), key=_place)))


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    span = diagnostic.span or Span("", 0, 0, 0, 0)
    return span.file, span.line, span.column, diagnostic.code


def survey(check: typed.Check, found: FragmentErrors) -> None:
    """Adds to ``found`` what leaves the fragment by its declaration alone."""
    for leaves in (*_shape(check), *_links(check), *_faults(check), *_time(check), *_code(check)):
        found.add(leaves)


def _shape(check: typed.Check) -> Iterator[Leaves]:
    protocol = check.protocol
    for role in protocol.roles[1:]:
        message = f"`{role.name}` is a second role, in addition to `{protocol.roles[0].name}`"
        yield Leaves(
            "T001", message, role.span, "use one role, and distinguish cases in its handlers"
        )
    for state in protocol.shared:
        if state.ghost:
            continue
        message = f"`{state.name}` is a shared variable: its writers can't be counted"
        yield Leaves("T001", message, state.span, "use messages and `#received(M)`")
    for state in (*protocol.shared, *(s for role in protocol.roles for s in role.states)):
        if state.ghost:
            message = f"a property reads the ghost `{state.name}`"
            yield Leaves("T001", message, state.span, "use a `state` with the same value")
    for choice in protocol.choices:
        message = f"`{choice.name}` is a shared variable: its initial values can't be counted"
        yield Leaves("T001", message, choice.span, "use `init choose` with a variable of the role")
    for client in check.clients:
        if client.is_choice:
            message = "the request is chosen when the run starts"
            yield Leaves("T020", message, client.span, "write one value")
    for budget in check.budgets:
        message = f"a bound on how often `{budget.handler}` runs"
        yield Leaves("T020", message, budget.span, "leave out `at most`")
    for clause in check.fair:
        message = f"the fairness of `{clause.handler}` alone"
        yield Leaves("T020", message, clause.span, f"leave out `fair {clause.handler}`")
    for layer in protocol.layers:
        message = f"the layer `{layer.name}` has state"
        yield Leaves("T001", message, layer.span, "use `send M to all` instead of a layer")


def _links(check: typed.Check) -> Iterator[Leaves]:
    for rule in check.link_rules:
        message = "links that differ between pairs of processes"
        yield Leaves("T002", message, rule.span, "use the same links for all pairs")
    for kind in check.links:
        reason = why_outside(kind)
        if reason:
            hint = "use `links perfect`, or `links authenticated` for Byzantine faults"
            yield Leaves("T002", f"on `{kind.name}` links {reason}", check.span, hint)
    anonymous = not any(kind.authenticates for kind in check.links)
    if check.byzantine is not None and anonymous and not _zero(check):
        message = "links without sender authentication: one Byzantine process counts as many"
        yield Leaves("T002", message, check.byzantine.span, "use `links authenticated`")


def why_outside(kind: LinkKind) -> str:
    """Returns why what was received can't be read off from what was sent on links of ``kind``;
    empty where it can be."""
    if kind.delivery is Delivery.FAIR_LOSS:
        return "a message that is sent once can be lost"
    if kind.delivery is Delivery.NO_PROMISE:
        return (
            "messages can be lost forever" if kind.loses else "no message is guaranteed to arrive"
        )
    if kind.has_capacity:
        return "a full link stops its sender"
    if not kind.traits <= _READ_OFF:
        return "messages may not arrive as they were sent"
    return ""


def _zero(check: typed.Check) -> bool:
    return isinstance(check.byzantine, typed.Literal) and int(check.byzantine.value) == 0


def _faults(check: typed.Check) -> Iterator[Leaves]:
    for message, bound in (("power failures", check.power), ("lost disks", check.wipe)):
        if bound is not None:
            yield Leaves("T003", message, bound.span, "use `faults crash <= f`")
    if check.recover:
        span = check.crash.span if check.crash is not None else check.span
        yield Leaves("T003", "processes that recover", span, "use `faults crash <= f`")
    for clause in check.role_faults:
        kind = "crash" if clause.kind in STOPS else clause.kind
        yield Leaves("T003", "a fault bound for one role", clause.span, f"use `faults {kind} <= f`")
    if check.omission is not None:
        message = "processes that omit to send or to receive"
        yield Leaves("T003", message, check.omission.span, "use `crash` or `byzantine`")
    if check.splits:
        span = check.partitions.span if check.partitions is not None else check.span
        yield Leaves("T003", "a network that may partition", span, "leave out `partition`")
    if check.pause_span is not None:
        yield Leaves("T003", "processes that pause", check.pause_span, "leave out `pause`")
    if check.resets is not None:
        message = "connections that are reset"
        yield Leaves("T003", message, check.resets.span, "leave out `reset`")
    for cut in check.cuts:
        yield Leaves("T003", "links that may be cut", cut.span, "leave out `cut`")


def _time(check: typed.Check) -> Iterator[Leaves]:
    if check.timing is not None and check.timing.kind != "asynchronous":
        message = f"`timing {check.timing.kind}`"
        yield Leaves(
            "T004", message, check.timing.span, "use `timing asynchronous`, or leave out `timing`"
        )
    if check.detector is not None:
        yield Leaves("T004", "a failure detector", check.detector.span, "leave out `detector`")
    for role in check.protocol.roles:
        for handler in role.handlers:
            if isinstance(handler.event, typed.OnTimeout):
                message = f"`{handler.label}`: the proof has no time"
                yield Leaves("T004", message, handler.span, "use `upon condition …`")


_STATEMENTS: dict[type, tuple[str, str]] = {
    typed.While: ("a `while` loop", "use `if`, or a handler `upon condition …`"),
    typed.Perform: ("an external action", "use an indication"),
    typed.Timer: ("a timer", "use `upon condition …`"),
    typed.Yield: ("`yield`", "write a handler for each step"),
    typed.Await: ("`await`", "write a handler for each step"),
}


def _code(check: typed.Check) -> Iterator[Leaves]:
    for role in check.protocol.roles:
        for node in nodes(tuple(handler.body for handler in role.handlers)):
            said = _STATEMENTS.get(type(node))
            if said is not None and isinstance(node, typed.Stmt):
                yield Leaves("T006", f"{said[0]} can't be counted", node.span, said[1])
