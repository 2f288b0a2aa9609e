"""Finds the faults that no check of a file asks about: what can happen to a protocol, but happens
in none of its checks.

A check asks about a fault if its world has it, whatever it finds.  The faults are those that the
protocol can notice: links matter where it sends, a power failure where it stores something, a lie
where it receives, a pause where clocks go on meanwhile.  A variant is a protocol of its own: the
checks of the original say nothing about it.  Mutants are made to break, so
nothing is asked of them.

A comment `// not asked: lies, loss: a closed network` names faults that the author leaves out, and
a line `// Faults: …` in the first comment of a file says which ones the file is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.language.link_kinds import Delivery, LinkKind
from checker.language.mutants import is_mutant
from checker.language.syntax import typed
from checker.language.syntax.stack import protocols_of
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.scope import suggestion
from checker.language.typecheck.world import STOPS
from checker.records import replace

Excluded = dict[str, str]
"""Why faults are left out, by their words."""
_COMMENT = re.compile(r"//[ \t]*not asked:[ \t]*([^:\n]*)(?::[ \t]*([^\n]*))?")
_HEADER = re.compile(r"\A(?:[ \t]*//[^\n]*\n)*?[ \t]*//[ \t]*(Faults:[^\n]*)")


class Fault(Struct, frozen=True):
    """``word``: its name in comments; ``what``: its name in reports; ``clause``: the clause of a
    check that declares it; ``can``: whether it can happen to the protocol of a check; ``asks``:
    whether a check asks about it; ``covers``: the faults, kinds of timing and traits of links that
    it is about."""

    word: str
    what: str
    clause: str
    can: Callable[[typed.Check], bool]
    asks: Callable[[typed.Check], bool]
    covers: tuple[str, ...]


def with_unasked(checks: Iterable[typed.Check], text: str | None) -> tuple[typed.Check, ...]:
    """Returns the checks of a file, each with what neither it nor another one asks; ``text``: of
    the file."""
    every = tuple(checks)
    return tuple(replace(check, unasked=unasked(check, every, text)) for check in every)


def unasked(
    check: typed.Check, every: Iterable[typed.Check], text: str | None
) -> tuple[typed.Unasked, ...]:
    """Returns what ``check`` leaves out, and each of the checks ``every`` that asks one of its
    properties of the same protocol does, too; what matters most comes first."""
    if is_mutant(check.name):
        return ()
    names = {p.name for p in check.prove}
    alike = [
        other
        for other in every
        if other.protocol.name == check.protocol.name and names & {p.name for p in other.prove}
    ]
    excluded = _excluded(text or "")
    return tuple(
        typed.Unasked(fault.what, fault.clause, excluded.get(fault.word, ""))
        for fault in _in_order(check)
        if not any(fault.asks(other) for other in (check, *alike)) and fault.can(check)
    )


def _in_order(check: typed.Check) -> list[Fault]:
    """Returns the faults, those first that the properties of the interface are about."""
    over = check.protocol.implements
    lies_first = over is not None and over.name.startswith("Byzantine")
    return sorted(FAULTS, key=lambda fault: not (lies_first and fault.word == "lies"))


# ---- what the file says -----------------------------------------------------------------------


def unknown_words(text: str, file: str) -> Iterator[Diagnostic]:
    """Yields the words of comments `not asked: …` that are no faults (E140)."""
    words = [fault.word for fault in FAULTS]
    for match in _COMMENT.finditer(text):
        for word in re.finditer(r"[^\s,][^,]*", match[1]):
            if (name := word.group().strip()) not in words:
                start = match.start(1) + word.start()
                line = text.count("\n", 0, start) + 1
                column = start - text.rfind("\n", 0, start)
                span = Span(file, line, column, line, column + len(name))
                hint = suggestion(name, words) or f"the faults are {', '.join(words)}"
                yield Diagnostic(
                    "E140", f"`{name}` is no fault that can be left out", span, hint=hint
                )


def _excluded(text: str) -> Excluded:
    header = _HEADER.match(text)
    found = {fault.word: " ".join(header[1].split()) for fault in FAULTS} if header else {}
    for match in _COMMENT.finditer(text):
        reason = (match[2] or "").strip() or "as a comment says"
        found.update({word.strip(): reason for word in match[1].split(",")})
    return found


# ---- what can happen --------------------------------------------------------------------------


def _always(_: typed.Check) -> bool:
    return True


def _roles(check: typed.Check) -> Iterator[typed.Role]:
    """Yields the roles of the protocol and of the layers below it."""
    for protocol in protocols_of(check.protocol, check.given).values():
        yield from protocol.roles


def _has_in_a_handler(check: typed.Check, kind: type) -> bool:
    bodies = (handler.body for role in _roles(check) for handler in role.handlers)
    return any(isinstance(node, kind) for body in bodies for node in nodes_of(body))


def _sends(check: typed.Check) -> bool:
    return bool(check.protocol.messages or check.protocol.layers)


def _stores(check: typed.Check) -> bool:
    return any(state.stable for role in _roles(check) for state in role.states)


def _remembers(check: typed.Check) -> bool:
    """Whether a process that recovers has lost something, or stored it."""
    return any(not state.ghost for role in _roles(check) for state in role.states)


def _has_several_effects(check: typed.Check) -> bool:
    """Whether a crash can fall between two effects of a handler."""
    effects = typed.Send | typed.Call | typed.Perform
    bodies = (handler.body for role in _roles(check) for handler in role.handlers)
    return any(
        sum(isinstance(node, effects) for node in nodes_of(body)) > 1
        or any(isinstance(n, typed.Send) and _to_several(n) for n in nodes_of(body))
        for body in bodies
    )


def _to_several(send: typed.Send) -> bool:
    return isinstance(send.receivers.type, typed.Set)


def _suspects(check: typed.Check) -> bool:
    return check.detector is not None


def _connects(check: typed.Check) -> bool:
    return any(kind.connects for kind in check.link_kinds)


def _has_clocks(check: typed.Check) -> bool:
    return check.timing is not None and check.timing.kind == "clocks"


def _may_lie(check: typed.Check) -> bool:
    leads = any(role.lead for role in _roles(check))
    oracle = any(given.protocol is None for given in check.given)
    calls = any(isinstance(node, typed.Consistent) for node in nodes_of(check.prove))
    undefined = check.detector is not None or _connects(check) or leads or oracle or calls
    return bool(check.protocol.messages) and not undefined


def _loses_nothing_by_kind(check: typed.Check) -> bool:
    """Whether a kind of link of the check can be combined with losses."""
    promised = any(
        kind.connects or kind.keeps or kind.delivery is not Delivery.RELIABLE
        for kind in check.link_kinds
    )
    return _sends(check) and not promised


def _only_processes_lose(check: typed.Check) -> bool:
    """Whether links lose nothing because of their kind, but processes can."""
    return _sends(check) and not _loses_nothing_by_kind(check) and not _connects(check)


def _may_overtake(check: typed.Check) -> bool:
    return _sends(check) and not _connects(check)


# ---- what is asked ----------------------------------------------------------------------------


def _bound(bound: typed.Expr | None) -> bool:
    """Returns whether a bound of faults may be above 0."""
    return bound is not None and not (isinstance(bound, typed.Literal) and bound.value == 0)


def _often(declared: bool, bound: typed.Expr | None) -> bool:
    """Returns whether a declared fault may happen; ``bound``: ``None`` for any number of times."""
    return declared and (bound is None or _bound(bound))


def _of_role(check: typed.Check, *kinds: str) -> bool:
    return any(clause.kind in kinds for clause in check.role_faults)


def _may_crash(check: typed.Check) -> bool:
    return _bound(check.crash) or _of_role(check, *STOPS)


def _lies(check: typed.Check) -> bool:
    return _bound(check.byzantine) or _of_role(check, "byzantine")


def _may_lose(check: typed.Check) -> bool:
    kinds = check.link_kinds
    loses = any(kind.loses or kind.delivery is Delivery.NO_PROMISE for kind in kinds)
    omits = _bound(check.omission) or _of_role(check, "omission")
    return loses or omits or _splits(check) or bool(check.cuts) or _bound(check.resets)


def _splits(check: typed.Check) -> bool:
    return _often(check.splits, check.partitions) or any(
        cut.bound is None and cut.way is None for cut in check.cuts
    )


def _cuts(check: typed.Check) -> bool:
    return bool(check.cuts) or (_splits(check) and _size(check) == 2)


def _links(check: typed.Check) -> Iterator[tuple[LinkKind, ...]]:
    """Yields the kinds of the links, and the kinds of each rule for a link."""
    yield check.links
    yield from (rule.kinds for rule in check.link_rules)


def _size(check: typed.Check) -> int | None:
    """Returns the number of processes, where the check says it as a literal."""
    found = next((s.value for s in check.settings if s.name == "n"), None)
    return int(found.value) if isinstance(found, typed.Literal) else None


def _is_untimely(check: typed.Check) -> bool:
    timing = check.timing
    if timing is None or timing.kind == "synchronous":
        return False
    return timing.kind != "partial" or timing.noise is None or _bound(timing.noise)


def _drifts(check: typed.Check) -> bool:
    return check.timing is not None and _bound(check.timing.drift)


def _is_mistaken(check: typed.Check) -> bool:
    """Whether the detector of the check may be wrong for some time."""
    detector = check.detector
    if detector is None:
        return True
    return detector.eventually and (detector.noise is None or _bound(detector.noise))


FAULTS = (
    Fault(
        *("processes", "more than one process", "n = 3"),
        _always,
        lambda check: _size(check) != 1,
        ("n",),
    ),
    Fault(
        *("crash", "a process that crashes", "faults crash <= 1"),
        _always,
        lambda check: _may_crash(check) or _lies(check),
        ("crash",),
    ),
    Fault(
        *("pauses", "a process that pauses while clocks go on", "faults pause <= 1"),
        _has_clocks,
        lambda check: _often(check.pausing, check.pauses) or _of_role(check, "pause"),
        ("pause",),
    ),
    Fault(
        *("crash points", "a crash inside a handler", "crash points inside"),
        lambda check: _may_crash(check) and _has_several_effects(check),
        lambda check: _may_crash(check) and check.crash_points != "between_handlers",
        ("crash points",),
    ),
    Fault(
        *("recovery", "a process that recovers", "faults crash <= 1, recover"),
        _remembers,
        lambda check: check.recover,
        ("recover",),
    ),
    Fault(
        *("power", "a power failure", "faults power <= 1, recover"),
        _stores,
        lambda check: _bound(check.power) or _of_role(check, "power"),
        ("power",),
    ),
    Fault(
        *("syncs", "a `sync` that fails", "faults sync <= 1, power <= 1, recover"),
        lambda check: _stores(check) and _has_in_a_handler(check, typed.Sync),
        lambda check: _bound(check.sync),
        ("sync",),
    ),
    Fault(
        *("mistakes", "a wrong suspicion", "detector eventually P"),
        _suspects,
        _is_mistaken,
        ("detector",),
    ),
    Fault(
        *("timing", "a message that is late", "timing partial"),
        lambda check: check.timing is not None,
        _is_untimely,
        ("asynchronous", "partial", "synchronous"),
    ),
    Fault(
        *("drift", "clocks that drift", "timing clocks drift 1"),
        _has_clocks,
        _drifts,
        ("clocks",),
    ),
    Fault(
        *("loss", "a lost message", "links lossy"),
        _loses_nothing_by_kind,
        _may_lose,
        ("loses", "delivery"),
    ),
    Fault(
        *("omission", "a process that omits messages", "faults omission <= 1"),
        _only_processes_lose,
        lambda check: _may_lose(check) or _lies(check),
        ("omission",),
    ),
    Fault(
        *("resets", "a connection that breaks", "faults reset <= 1"),
        _connects,
        lambda check: _bound(check.resets),
        ("reset", "connects"),
    ),
    Fault(
        *("order", "messages that overtake", "links perfect"),
        _may_overtake,
        lambda check: any(not any(kind.ordered for kind in kinds) for kinds in _links(check)),
        ("ordered",),
    ),
    Fault(
        *("partition", "a split network", "faults partition"),
        _sends,
        _splits,
        ("partition",),
    ),
    Fault(*("cuts", "a link that is cut", "faults cut <= 1"), _sends, _cuts, ("cut",)),
    Fault(
        *("repetition", "a message that arrives twice", "links duplicating"),
        _loses_nothing_by_kind,
        lambda check: any(kind.repeats for kind in check.link_kinds),
        ("keeps", "duplicates"),
    ),
    Fault(
        *("lies", "a process that lies", "faults byzantine <= 1"),
        _may_lie,
        _lies,
        ("byzantine",),
    ),
    Fault(
        *("names", "a lie in the name of another process", "links perfect"),
        _lies,
        lambda check: any(not any(kind.authenticates for kind in kinds) for kinds in _links(check)),
        ("authenticates",),
    ),
    Fault(
        *("disks", "a process that loses its disk", "faults wipe <= 1, recover"),
        _stores,
        lambda check: _bound(check.wipe) or _of_role(check, "wipe"),
        ("wipe",),
    ),
)
"""All of them, what matters most first."""
