"""Finds the faults that no check of a file asks about: what can happen to a protocol, but happens
in none of its checks.

A check asks about a fault if its world has it, whatever it finds.  The faults are those that the
protocol can notice: links matter where it sends, recovery where it stores something, a lie where
it receives.  Variants and mutants are made to break, so nothing is asked of them.

A comment `// not asked: lies, loss: a closed network` names faults that the author leaves out, and
a line `// Faults: …` in the first comment of a file says which ones the file is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span
from checker.language.link_kinds import Delivery
from checker.language.mutants import is_mutant
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.language.typecheck.scope import suggestion
from checker.language.typecheck.world import STOPS
from checker.records import replace

Excluded = dict[str, str]
"""Why faults are left out, by their words."""
_COMMENT = re.compile(r"//[ \t]*not asked:[ \t]*([^:\n]*)(?::[ \t]*([^\n]*))?")
_HEADER = re.compile(r"\A(?:[ \t]*//[^\n]*\n)*?[ \t]*//[ \t]*(Faults:[^\n]*)")


class Fault(Struct, frozen=True):
    """``word``: its name in comments; ``what`` and ``clause``: what nobody asks about, and what
    asks it; ``can``: whether it can happen to the protocol of a check; ``asks``: whether a check
    asks about it."""

    word: str
    what: str
    clause: str
    can: Callable[[typed.Check], bool]
    asks: Callable[[typed.Check], bool]


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
    if is_mutant(check.name) or check.protocol.variant is not None:
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
        if fault.can(check) and not any(fault.asks(other) for other in (check, *alike))
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


def _sends(check: typed.Check) -> bool:
    return bool(check.protocol.messages or check.protocol.layers)


def _stores(check: typed.Check) -> bool:
    return any(state.stable for role in check.protocol.roles for state in role.states)


def _has_several_effects(check: typed.Check) -> bool:
    """Whether a crash can fall between two effects of a handler."""
    effects = typed.Send | typed.Call | typed.Perform
    bodies = (handler.body for role in check.protocol.roles for handler in role.handlers)
    return any(
        sum(isinstance(node, effects) for node in nodes_of(body)) > 1
        or any(isinstance(n, typed.Send) and _to_several(n) for n in nodes_of(body))
        for body in bodies
    )


def _to_several(send: typed.Send) -> bool:
    return isinstance(send.receivers.type, typed.Set)


def _suspects(check: typed.Check) -> bool:
    """Whether the detector of the check is never wrong, and need not be right."""
    return check.detector is not None


def _may_lie(check: typed.Check) -> bool:
    connected = any(kind.connects for kind in check.link_kinds)
    return bool(check.protocol.messages) and check.detector is None and not connected


def _loses_nothing_by_kind(check: typed.Check) -> bool:
    """Whether a kind of link of the check can be combined with losses."""
    promised = any(
        kind.connects or kind.keeps or kind.delivery is not Delivery.RELIABLE
        for kind in check.link_kinds
    )
    return _sends(check) and not promised


# ---- what is asked ----------------------------------------------------------------------------


def _bound(bound: typed.Expr | None) -> bool:
    """Returns whether a bound of faults may be above 0."""
    return bound is not None and not (isinstance(bound, typed.Literal) and bound.value == 0)


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
    return loses or omits or _splits(check) or _bound(check.resets)


def _splits(check: typed.Check) -> bool:
    return check.splits or bool(check.cuts)


def _size(check: typed.Check) -> int | None:
    """Returns the number of processes, where the check says it as a literal."""
    found = next((s.value for s in check.settings if s.name == "n"), None)
    return int(found.value) if isinstance(found, typed.Literal) else None


def _is_untimely(check: typed.Check) -> bool:
    return check.timing is not None and check.timing.kind != "synchronous"


FAULTS = (
    Fault(
        *("processes", "more than one process", "n = 3"),
        _always,
        lambda check: _size(check) != 1,
    ),
    Fault(
        *("crash", "a process that crashes", "faults crash <= 1"),
        _always,
        lambda check: _may_crash(check) or _lies(check),
    ),
    Fault(
        *("crash points", "a crash inside a handler", "crash points inside"),
        lambda check: _may_crash(check) and _has_several_effects(check),
        lambda check: _may_crash(check) and check.crash_points != "between_handlers",
    ),
    Fault(
        *("recovery", "a process that recovers", "faults crash <= 1, recover"),
        _stores,
        lambda check: check.recover,
    ),
    Fault(
        *("mistakes", "a wrong suspicion", "detector eventually P"),
        _suspects,
        lambda check: check.detector is None or check.detector.eventually,
    ),
    Fault(
        *("timing", "a message that is late", "timing partial"),
        lambda check: check.timing is not None,
        _is_untimely,
    ),
    Fault(*("loss", "a lost message", "links lossy"), _loses_nothing_by_kind, _may_lose),
    Fault(
        *("order", "messages that overtake", "links perfect"),
        _sends,
        lambda check: not all(kind.ordered for kind in check.links),
    ),
    Fault(*("partition", "a split network", "faults partition"), _sends, _splits),
    Fault(
        *("repetition", "a message that arrives twice", "links duplicating"),
        _loses_nothing_by_kind,
        lambda check: any(kind.repeats for kind in check.link_kinds),
    ),
    Fault(*("lies", "a process that lies", "faults byzantine <= 1"), _may_lie, _lies),
)
"""All of them, what matters most first."""
