"""Groups of log lines that are one step of the spec: `[steps]` of a mapping.

A step of the spec is atomic; an implementation may write its lines one by one, in another order,
and with lines of other steps between them.  Where nobody can tell, such a group of lines is the
same as if it had happened at once, at the line that has the state: lines before it are moved behind
what stands between, lines after it to the front of that (Lipton, Reduction: a method of proving
properties of parallel programs, 1975: right movers and left movers).  Where somebody can tell, it
is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from checker.conform.handler_bodies import BEGINNINGS, HandlerBody, handler_bodies
from checker.conform.lines import MARKS, Logged, logged_of
from checker.conform.read_log import Row
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import FIRST, WRITTEN, LogMapping, StepLines
from checker.logs.mapping_places import Places
from checker.model.ir import MarkKind, TransitionSystem
from checker.records import replace

CUTS = ("crash", "recover", "gap", "start", "end")
"""The kinds of lines that end a group that is not complete."""
OUTSIDE = (MarkKind.INDICATION, MarkKind.REQUEST, MarkKind.PERFORM)
"""The kinds of events whose order clients see."""
MOST_BETWEEN = 1_000
"""The largest number of lines from the first to the last one of a group."""


class _Group:
    """A group of a mapping: the handlers that it may stand for, and where they write its lines."""

    def __init__(self, of: StepLines, file: str, bodies: tuple[HandlerBody, ...]) -> None:
        """Raises :class:`SpecError` (E097)."""
        self.of, self.file = of, file
        self.step = self._kind("is", of.step)
        self.lines = tuple(self._kind("lines", text) for text in of.lines)
        self.bodies = [body for body in bodies if body.has(self.step)]
        if not self.bodies:
            self._refuse("is", f"this check has no step `{of.step}`")
        known = {kind for body in bodies for kind in body.events}
        self.without_event = {
            kind
            for kind in self.lines
            if kind not in known and not (not kind.name and any(k.kind is kind.kind for k in known))
        }
        for kind in self.lines:
            inside = any(body.has(kind) for body in self.bodies)
            if not inside and kind not in self.without_event:
                self._refuse("lines", f"the step `{of.step}` never does `{kind.text}`")
        self.reads = {name for body in self.bodies for name in body.reads}
        self.writes = {name for body in self.bodies for name in body.writes}

    def _kind(self, key: str, text: str) -> Logged:
        try:
            return logged_of(text)
        except SpecError as error:
            self._refuse(key, error.diagnostics[0].message)
        raise AssertionError

    def _refuse(self, key: str, message: str) -> None:
        places = Places(self.file)
        raise SpecError((places.wrong(message, f"steps.{self.of.name}", key),))

    def number_of(self, kind: Logged) -> int | None:
        """Returns which line of the group this kind is, or ``None``."""
        found = (n for n, each in enumerate(self.lines) if _is_one(kind, each))
        return next(found, None)

    def comes_before(self, one: Logged, other: Logged) -> bool:
        """Returns whether all events of a kind come before those of another one in the handlers."""
        pairs = [(body.places(one), body.places(other)) for body in self.bodies]
        return all(max(a) < min(b) for a, b in pairs if a and b) and any(a and b for a, b in pairs)


def _is_one(kind: Logged, of: Logged) -> bool:
    return kind.kind is of.kind and of.name in ("", kind.name)


class StepGroups:
    """The groups of lines of a mapping, for one system.

    Raises :class:`SpecError` (E097) where the mapping names what the system has not.
    """

    def __init__(self, system: TransitionSystem, mapping: LogMapping) -> None:
        self.mapping = mapping
        self._bodies = handler_bodies(system) if mapping.steps else ()
        self.groups = [_Group(of, mapping.file, self._bodies) for of in mapping.steps]
        self._titles = {v.name: v.title or v.name for v in system.variables}

    def kind_of(self, row: Row) -> Logged | None:
        """Returns the kind of event of a row, or ``None`` if it has none."""
        kind = MARKS.get(row.kind)
        if kind is None:
            return None
        if kind in (MarkKind.CRASH, MarkKind.RECOVER, MarkKind.PERFORM):
            return Logged(kind)
        default = row.kind if row.kind in ("broadcast", "deliver") else ""
        if kind in (MarkKind.SEND, MarkKind.RECEIVE) and "message" in row.data:
            return Logged(kind, str(self.mapping.value("message", row.data["message"])))
        column = "message" if kind in (MarkKind.SEND, MarkKind.RECEIVE) else "name"
        return Logged(kind, str(self.mapping.value(column, row.data.get("name", default))))

    def begun_by(self, kind: Logged) -> _Group | None:
        """Returns the group of which a line of this kind is the first one: it is the step itself,
        or no other handler writes such lines."""
        for group in self.groups:
            number = group.number_of(kind)
            if number is None or (number > 0 and group.of.order == WRITTEN):
                continue
            others = [body for body in self._bodies if body not in group.bodies]
            if _is_one(kind, group.step) or not any(body.has(kind) for body in others):
                return group
        return None

    def may_write(self, row: Row, kind: Logged) -> bool:
        """Returns whether a step that begins with ``row`` may write a line of this kind."""
        begins = self.kind_of(row)
        if begins is None or begins.kind not in BEGINNINGS:
            return False
        return any(body.has(kind) for body in self._bodies if body.has(begins))

    def each_of(self, row: Row, kind: Logged) -> list[Row] | None:
        """Returns a row for each item of the field that a group says to be repeated; ``None`` where
        none says that of it."""
        for group in self.groups:
            if not group.of.repeat or not _is_one(kind, group.step):
                continue
            for table in ("fields", "arguments"):
                given = row.data.get(table)
                if isinstance(given, dict) and isinstance(given.get(group.of.repeat), list):
                    return _repeated(row, table, given, group.of.repeat)
        return None

    # ---- who can tell ---------------------------------------------------------------------

    def require_unseen(self, group: _Group, moved: Row, other: Row, *, later: bool) -> None:
        """Raises :class:`SpecError` (E112) where somebody can tell whether the line ``moved`` of a
        group is before or behind the line ``other``, which is none of it.

        ``later``: it was before, and is moved behind it.
        """
        why = self._seen(group, moved, other, later)
        if why:
            message = f"{other.process} was seen half way through `{group.of.name}`: {why}"
            hint = (
                f"the spec's step `{group.of.step}` is atomic: divide it, or make the"
                f" implementation's lines from {moved.file}:{moved.number} one step"
            )
            raise SpecError((Diagnostic("E112", message, other.place, hint=hint),))

    def _seen(self, group: _Group, moved: Row, other: Row, later: bool) -> str:
        one, two = self.kind_of(moved), self.kind_of(other)
        if one is None or two is None:
            return ""
        return _seen_by_others(moved, one, other, two, later) or self._seen_inside(
            group, other, two
        )

    def _seen_inside(self, group: _Group, other: Row, kind: Logged) -> str:
        """Returns why a step inside the group could notice that the group is not done: a variable
        that both use.  Empty if it could not."""
        bodies = [body for body in self._bodies if body.has(kind)]
        reads = {name for body in bodies for name in body.reads | body.writes}
        writes = {name for body in bodies for name in body.writes}
        shared = (group.writes & reads) | (writes & group.reads)
        said = other.data.get("state")
        if isinstance(said, dict):
            names = {self.mapping.value("variable", name) for name in said}
            shared |= {name for name in group.writes if self._titles.get(name) in names}
        if not shared:
            return ""
        name = min(self._titles.get(name, name) for name in shared)
        return f"this line reads or writes `{name}`, and so does the step"


def _seen_by_others(moved: Row, one: Logged, other: Row, two: Logged, later: bool) -> str:
    """Returns how other processes or clients could tell the order of two lines; empty if they could
    not."""
    first, second = (one, two) if later else (two, one)
    if first.kind is MarkKind.SEND and second.kind is MarkKind.RECEIVE:
        return "what is received here may be the answer to what was sent before"
    if one.kind is two.kind is MarkKind.SEND and _meet(_receivers(moved), _receivers(other)):
        return "both lines send to the same process"
    if one.kind is two.kind is MarkKind.RECEIVE and _meet(_senders(moved), _senders(other)):
        return "both lines receive from the same process"
    if one.kind in OUTSIDE and two.kind in OUTSIDE:
        return "clients see the order of the two lines"
    return ""


def _meet(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    return one is None or other is None or bool(one & other)


def _receivers(row: Row) -> frozenset[str] | None:
    """Returns the receivers of a row, or ``None`` if it does not name them."""
    given = row.data.get("receivers", row.data.get("to"))
    if isinstance(given, str):
        return frozenset({given})
    return frozenset(map(str, given)) if isinstance(given, list) else None


def _senders(row: Row) -> frozenset[str] | None:
    given = row.data.get("from")
    return frozenset({given}) if isinstance(given, str) else None


def _repeated(row: Row, table: str, given: dict[str, Any], name: str) -> list[Row]:
    items = given[name]
    rows = []
    for number, item in enumerate(items, 1):
        data = {**row.data, table: {**given, name: item}}
        if number < len(items):
            data.pop("state", None)
        rows.append(replace(row, data=data))
    return rows


class GroupedRows:
    """The rows of one process, with each group joined into one step.

    ``held``: rows since the first one of a group that is not complete.
    """

    def __init__(self, groups: StepGroups) -> None:
        self.groups = groups
        self.held: list[Row] = []
        self._group: _Group | None = None
        self._members: list[int] = []

    def of(self, row: Row) -> Iterator[Row]:
        """Yields the rows that are complete with the next one; raises :class:`SpecError` (E112)."""
        group, kind = self._group, self.groups.kind_of(row)
        if group is None:
            yield from self._begun(row, kind)
        elif kind is None or row.kind in CUTS:
            yield from self._finished(cut=True)
            yield from self.of(row)
        elif self._joins(group, row, kind):
            if self._is_whole(group, row, kind):
                yield from self._finished()
        elif self._may_be_between(group, kind):
            self.held.append(row)
        else:
            yield from self._finished()
            yield from self.of(row)

    def rest(self) -> Iterator[Row]:
        """Yields the rows that are held back; raises :class:`SpecError` (E112)."""
        while self._group is not None:
            yield from self._finished()

    def resume(self, held: Sequence[Row]) -> None:
        """Holds back rows that were held before."""
        for row in held:
            assert not list(self.of(row))

    def _begun(self, row: Row, kind: Logged | None) -> Iterator[Row]:
        """Yields a row outside groups, or begins a group with it."""
        if kind is None:
            yield row
            return
        again = self.groups.each_of(row, kind)
        if again is not None:
            yield from again
            return
        self._group = self.groups.begun_by(kind)
        if self._group is None:
            yield row
            return
        self.held, self._members = [row], [0]
        if self._is_whole(self._group, row, kind):
            yield from self._finished()

    def _joins(self, group: _Group, row: Row, kind: Logged) -> bool:
        """Returns whether a row is the next one of the group, which then has it; what is complete
        by it is taken when the next row comes."""
        number = group.number_of(kind)
        if number is None or len(self.held) >= MOST_BETWEEN or self._is_of_another(kind):
            return False
        known = [self._number(group, self.held[member]) for member in self._members]
        if number in known and not self._goes_on(row, kind):
            return False
        if group.of.order == WRITTEN and number < max(known):
            return False
        self._members.append(len(self.held))
        self.held.append(row)
        return True

    def _goes_on(self, row: Row, kind: Logged) -> bool:
        """Returns whether a row is the same multicast as the last one, to other receivers."""
        last = self.held[self._members[-1]]
        if kind.kind is not MarkKind.SEND or self.groups.kind_of(last) != kind:
            return False
        same = last.data.get("fields") == row.data.get("fields")
        return same and not _meet(_receivers(last), _receivers(row))

    def _is_of_another(self, kind: Logged) -> bool:
        """Returns whether a line of this kind may belong to a step that began inside the group."""
        return any(self.groups.may_write(row, kind) for row in self.held[self._members[-1] + 1 :])

    def _may_be_between(self, group: _Group, kind: Logged) -> bool:
        """Returns whether a line of this kind may stand inside the group and not belong to it."""
        is_other = group.number_of(kind) is None or self._is_of_another(kind)
        return is_other and not self._is_complete(group) and len(self.held) < MOST_BETWEEN

    def _number(self, group: _Group, row: Row) -> int:
        number = group.number_of(self._kind(row))
        assert number is not None
        return number

    def _is_complete(self, group: _Group) -> bool:
        found = {self._number(group, self.held[member]) for member in self._members}
        return len(found) == len(group.lines)

    def _is_whole(self, group: _Group, row: Row, kind: Logged) -> bool:
        """Returns whether the group is complete and no further receiver can follow."""
        one = _receivers(row)
        may_follow = kind.kind is MarkKind.SEND and one is not None and len(one) == 1
        return self._is_complete(group) and not may_follow

    # ---- a group that is complete ---------------------------------------------------------

    def _finished(self, cut: bool = False) -> Iterator[Row]:
        """Yields the rows that are held back: those of the group together, as the step that they
        are."""
        group, held, members = self._group, self.held, self._members
        self._group, self.held, self._members = None, [], []
        if group is None:
            return
        last = members[-1]
        at = self._state_at(group, held, members)
        for member in members:
            for number in range(min(member, at), max(member, at)):
                if number in members:
                    continue
                self.groups.require_unseen(group, held[member], held[number], later=member < at)
        rows = [held[member] for member in members]
        whole = {self.groups.kind_of(row) for row in rows}
        is_cut = cut and len(whole) < len(group.lines)
        yield from (row for number, row in enumerate(held[:at]) if number not in members)
        yield from self._as_step(group, rows, None if is_cut else held[at].data.get("state"))
        yield from (
            row for number, row in enumerate(held[at : last + 1], at) if number not in members
        )
        for row in held[last + 1 :]:
            yield from self.of(row)

    def _state_at(self, group: _Group, held: list[Row], members: list[int]) -> int:
        """Returns the number of the row that has the state after the step."""
        where = group.of.state
        for member in members:
            if group.of.lines[self._number(group, held[member])] == where:
                return member
        return members[0] if where == FIRST else members[-1]

    def _as_step(self, group: _Group, rows: list[Row], state: Any) -> Iterator[Row]:
        """Yields the rows of a group in the order of the handler's statements; the last one has the
        state."""
        left = [row for row in rows if self._kind(row) not in group.without_event]
        ordered: list[Row] = []
        while left:
            first = next(
                (
                    row
                    for row in left
                    if not any(
                        group.comes_before(self._kind(other), self._kind(row)) for other in left
                    )
                ),
                left[0],
            )
            left.remove(first)
            data = {name: value for name, value in first.data.items() if name != "state"}
            ordered.append(replace(first, data=data))
        if ordered and state is not None:
            ordered[-1] = replace(ordered[-1], data={**ordered[-1].data, "state": state})
        yield from ordered

    def _kind(self, row: Row) -> Logged:
        kind = self.groups.kind_of(row)
        assert kind is not None
        return kind
