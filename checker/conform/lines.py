"""What the lines of a log say in terms of a system: the events that each may be, and the values of
variables after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker.conform.patterns import (
    ANYTHING,
    Exactly,
    NoValue,
    Parts,
    Pattern,
    TooSmall,
    field_names,
    message_names,
    messages,
    parse,
)
from checker.conform.read_log import Log, Row
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.mapping import LogMapping
from checker.model import types as t
from checker.model.build import author_of
from checker.model.ir import STOPS, Mark, MarkInfo, MarkKind, TransitionSystem, VariableKind
from checker.model.tree import statements
from checker.record.kinds import GAP
from checker.records import replace

if TYPE_CHECKING:
    from checker.conform.step_groups import StepGroups

MARKS: Mapping[str, MarkKind] = {
    "request": MarkKind.REQUEST,
    "broadcast": MarkKind.REQUEST,
    "indicate": MarkKind.INDICATION,
    "deliver": MarkKind.INDICATION,
    "perform": MarkKind.PERFORM,
    "send": MarkKind.SEND,
    "receive": MarkKind.RECEIVE,
    "handler": MarkKind.HANDLER,
    "timeout": MarkKind.TIMEOUT,
    "crash": MarkKind.CRASH,
    "recover": MarkKind.RECOVER,
}
"""The kinds of lines that say that an event has happened, and of which kind its mark is."""

MOST_KEPT = 50_000
"""The largest number of lines whose meaning is remembered."""

MESSAGES = (MarkKind.SEND, MarkKind.RECEIVE)


class EventPattern(Struct, frozen=True):
    """An event that a line may be: ``args`` are patterns of its mark's arguments.

    ``to``: of a line about sending, the processes of which it says that it is sent to them
    (``None``: it does not say).
    """

    mark: int
    args: tuple[Pattern, ...]
    to: frozenset[int] | None = None


class Line(Struct, frozen=True):
    """What a row says.

    ``logged``: what kind of event it is, with its name; ``patterns``: the events that it may be;
    ``state``: the numbers of variables, and patterns of their values after the step; ``chosen``:
    names of choices, each with the marks that note it.
    """

    row: Row
    logged: Logged
    patterns: tuple[EventPattern, ...]
    state: tuple[tuple[int, Pattern], ...] = ()
    chosen: tuple[tuple[str, tuple[EventPattern, ...]], ...] = ()


class Gap(Struct, frozen=True):
    """A place in a log where any number of lines may be missing; ``row``: the one behind it."""

    row: Row | None = None


class NotYet(Struct, frozen=True):
    """The end of a log that is still being written: more lines may follow."""


NOT_YET = NotYet()

Item = Line | Gap | NotYet


class Logged(Struct, frozen=True):
    """A kind of event, and the name of the message, handler, request, indication or timer; an empty
    name stands for all of them."""

    kind: MarkKind
    name: str = ""

    @property
    def text(self) -> str:
        """It in words: ``receive ASK``."""
        return f"{self.kind.value} {self.name}".rstrip()


def logged_of(text: str) -> Logged:
    """Returns the kind of event that a mapping writes as ``text``, such as ``receive ASK``.

    Raises :class:`SpecError` (E097) where there is none.
    """
    kind, _, name = text.partition(" ")
    if kind not in MARKS:
        message = f"`{text}` is not a kind of event: write one of {', '.join(MARKS)}, and a name"
        raise SpecError((Diagnostic("E097", message),))
    return Logged(MARKS[kind], name.strip())


class Timeline(Struct, frozen=True):
    """What is known of one process: ``items`` in order."""

    process: str
    items: Sequence[Item]

    @property
    def lines(self) -> int:
        """The number of lines that say that something has happened."""
        return sum(isinstance(item, Line) for item in self.items)


def passed_marks(system: TransitionSystem) -> list[int]:
    """Returns the numbers of the marks that some action passes."""
    code = (action.body for action in system.actions)
    return sorted({s.mark for body in code for s in statements(body) if isinstance(s, Mark)})


class NeedsRoom(SpecError):
    """The error (E074) of a line with a value that needs a ``capacity`` of at least ``size``, where
    a smaller one was guessed."""

    def __init__(self, diagnostic: Diagnostic, capacity: str, size: int) -> None:
        super().__init__((diagnostic,))
        self.capacity, self.size = capacity, size


class Resolver:
    """Resolves rows by a system and a mapping."""

    def __init__(self, system: TransitionSystem, mapping: LogMapping) -> None:
        self.system, self.mapping = system, mapping
        self._processes = {name: rank for rank, name in enumerate(system.processes)}
        self._of_kind: dict[MarkKind, list[int]] = {}
        self._known: dict[int, Line] = {}
        for number in passed_marks(system):
            self._of_kind.setdefault(system.marks[number].kind, []).append(number)
        self._variables: dict[str, list[int]] = {}
        for number, variable in enumerate(system.variables):
            kinds = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
            if variable.kind in kinds and not variable.name.startswith("@"):
                self._variables.setdefault(variable.title or variable.name, []).append(number)

    @cached_property
    def groups(self) -> StepGroups:
        """The groups of lines that the mapping takes for steps; raises :class:`SpecError`
        (E097)."""
        from checker.conform.step_groups import StepGroups

        return StepGroups(self.system, self.mapping)

    def timelines(self, log: Log) -> tuple[Timeline, ...]:
        """Returns what ``log`` says of each process, in the order of the system's.

        Raises :class:`SpecError` (E074) where it names what there is not in the system;
        :class:`NeedsRoom` where the system need only be larger.
        """
        unknown = [name for name, rows in log.rows.items() if rows and name not in self._processes]
        if unknown:
            raise self.unknown_process(log.rows[unknown[0]][0])
        return tuple(
            Timeline(name, tuple(self._items(log.rows[name])))
            for name in self.system.processes
            if name in log.rows
        )

    def unknown_process(self, row: Row) -> SpecError:
        """Returns the error for a row whose process the system does not have."""
        return self._wrong(row, _nearest("process", row.process, list(self._processes)))

    def _items(self, rows: list[Row]) -> Iterator[Item]:
        items = Items(self)
        for row in rows:
            yield from items.of(row)
        yield from items.rest()
        if not items.ended:
            yield Gap()

    # ---- one line -------------------------------------------------------------------------

    def line(self, row: Row) -> Line:
        """Returns what ``row`` says; raises :class:`SpecError` (E074, or :class:`NeedsRoom`)."""
        known = self._known.get(id(row.data))
        if known is not None:  # lines that say the same share what they say
            return replace(known, row=row)
        found = self._resolved(row, MARKS[row.kind])
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        self._known[id(row.data)] = found
        return found

    def _resolved(self, row: Row, kind: MarkKind) -> Line:
        try:
            if kind in MESSAGES:
                name, patterns = self._message(row, kind)
            elif kind in (MarkKind.CRASH, MarkKind.RECOVER):
                name, patterns = "", self._crash_or_recovery(row, kind)
            elif kind is MarkKind.PERFORM:
                name, patterns = "", tuple(self._act(row))
            else:
                name, patterns = self._operator(row, kind)
            state, chosen = tuple(self._state(row)), tuple(self._chosen(row))
            return Line(row, Logged(kind, name), patterns, state, chosen)
        except TooSmall as small:
            hint = f"write a bound where the spec or its interface declares it: `max {small.size}`"
            found = Diagnostic("E074", str(small), row.place, hint=hint)
            raise NeedsRoom(found, small.capacity, small.size) from None
        except NoValue as problem:
            raise self._wrong(row, str(problem), self._repeat(row, kind)) from None

    def _repeat(self, row: Row, kind: MarkKind) -> str:
        """Returns the `[steps]` with which a line could be read as a step for each item of a field
        that has a list; empty if there is no such field."""
        name = str(row.data.get("message", row.data.get("name", "")))
        table = "fields" if kind in MESSAGES else "arguments"
        given = row.data.get(table)
        if not isinstance(given, Mapping) or kind not in (MarkKind.RECEIVE, MarkKind.REQUEST):
            return ""
        for field, items in given.items():
            if isinstance(items, list) and items:
                each = replace(row, data={**row.data, table: {**given, field: items[0]}})
                try:
                    step = self._resolved(each, kind).logged
                except SpecError:
                    continue
                return (
                    f"if each item is a step, write in a mapping: [steps.{name.lower()}]"
                    f" is = {json.dumps(step.text)}, repeat = {json.dumps(field)}"
                )
        return ""

    def _crash_or_recovery(self, row: Row, kind: MarkKind) -> tuple[EventPattern, ...]:
        kinds = STOPS if kind is MarkKind.CRASH else {kind}
        marks = [mark for each in sorted(kinds) for mark in self._of_kind.get(each, [])]
        if not marks:
            never = "crashes" if kind is MarkKind.CRASH else "comes back up"
            several = "; are these two runs in one file?" if kind is MarkKind.RECOVER else ""
            raise NoValue(
                f"in this check no process {never}: its `faults` clause does not allow it{several}"
            )
        return tuple(EventPattern(mark, (self._self(row),)) for mark in marks)

    def _message(self, row: Row, kind: MarkKind) -> tuple[str, tuple[EventPattern, ...]]:
        said = row.data.get("message", row.data.get("name"))
        if not isinstance(said, str):
            raise NoValue("this line has no `message`")
        name = self.mapping.value("message", said)
        found: list[EventPattern] = []
        known: dict[str, None] = {}
        for mark in self._of_kind.get(kind, []):
            info = self.system.marks[mark]
            assert isinstance(info.types[2], t.VariantT)
            known |= dict.fromkeys(message_names(info.types[2]))
            own = field_names(info.types[2], name) if self._mapped_parts["fields"] else set()
            fields = self._applicable("fields", row, own)
            for pattern in messages(info.types[2], name, fields, self._rename):
                found += self._sent(row, mark, info, pattern)
        if not found:
            raise NoValue(_nearest("message", name, list(known)))
        return name, tuple(found)

    def _sent(
        self, row: Row, mark: int, info: MarkInfo, message: Pattern
    ) -> Iterator[EventPattern]:
        if info.kind is MarkKind.RECEIVE:
            sender = parse(info.types[1], row.data.get("from", "_"), self._rename)
            yield EventPattern(mark, (self._self(row), sender, message))
            return
        to = row.data.get("receivers", row.data.get("to"))
        if isinstance(to, str):
            to = [to]
        receivers = None
        if to is not None:
            found = parse(t.SetT(_item(info.types[1])), to, self._rename)
            assert isinstance(found, Exactly)
            assert isinstance(found.value, frozenset)
            receivers = found.value
        yield EventPattern(mark, (self._self(row), ANYTHING, message), receivers)

    def _act(self, row: Row) -> Iterator[EventPattern]:
        for mark in self._of_kind.get(MarkKind.PERFORM, []):
            info = self.system.marks[mark]
            act = parse(info.types[1], row.data.get("name", "_"), self._rename)
            yield EventPattern(mark, (self._self(row), act))
        if MarkKind.PERFORM not in self._of_kind:
            raise NoValue("no process performs anything in this check")

    def _operator(self, row: Row, kind: MarkKind) -> tuple[str, tuple[EventPattern, ...]]:
        said = str(row.data.get("name", row.kind if row.kind in ("broadcast", "deliver") else ""))
        name = self.mapping.value("name", said)
        marks = self._of_kind.get(kind, [])
        named = [mark for mark in marks if self.system.marks[mark].text == name]
        if not named:
            texts = dict.fromkeys(self.system.marks[mark].text for mark in marks)
            raise NoValue(_nearest(kind.value, name, list(texts)))
        return name, tuple(self._called(row, mark) for mark in named)

    def _called(self, row: Row, mark: int) -> EventPattern:
        info = self.system.marks[mark]
        types, names = info.types[1:], [author_of(name) for name in info.names[1:]]
        given = self._applicable("arguments", row, names)
        if row.kind in ("broadcast", "deliver") and given is None:
            given = _shorthand(row, types)
        if given is None:
            args: list[Pattern] = [ANYTHING] * len(types)
        elif isinstance(given, Mapping):
            for name in given:
                if name not in names:
                    raise NoValue(_nearest("argument", str(name), names))
            args = [
                parse(type_, given.get(name, "_"), self._rename)
                for name, type_ in zip(names, types, strict=True)
            ]
        elif isinstance(given, list) and len(given) == len(types):
            args = [
                parse(type_, each, self._rename) for type_, each in zip(types, given, strict=True)
            ]
        else:
            raise NoValue(f"`{info.text}` has {len(types)} arguments: {', '.join(names)}")
        return EventPattern(mark, (self._self(row), *args))

    def _state(self, row: Row) -> Iterator[tuple[int, Pattern]]:
        given = row.data.get("state")
        if given is None:
            return
        if not isinstance(given, Mapping):
            raise NoValue("`state` must be an object that maps names of variables to values")
        for said, data in given.items():
            name = str(self.mapping.value("variable", said))
            if name not in self._variables:
                raise NoValue(_nearest("variable", name, list(self._variables)))
            number, keys = self._variable_of(row.process, name)
            type_ = self.system.variables[number].type
            if not keys:
                yield number, parse(type_, data, self._rename)
                continue
            assert isinstance(type_, t.MapT)
            own = parse(type_.value, data, self._rename)
            rank = self._processes[row.process]
            yield number, Parts(tuple(own if key == rank else ANYTHING for key in keys))

    def _chosen(self, row: Row) -> Iterator[tuple[str, tuple[EventPattern, ...]]]:
        given = row.data.get("chosen")
        if given is None:
            return
        if not isinstance(given, Mapping):
            raise NoValue("`chosen` must be an object that maps names of `choose` to values")
        known: dict[str, list[int]] = {}
        for mark in self._of_kind.get(MarkKind.CHOICE, []):
            known.setdefault(self.system.marks[mark].text, []).append(mark)
        for name, data in given.items():
            if name not in known:
                raise NoValue(_nearest("choice", str(name), list(known)))
            yield name, self._choice(row, known[name], data)

    def _choice(self, row: Row, marks: list[int], data: Any) -> tuple[EventPattern, ...]:
        """Returns the choices that have the value ``data``; several handlers may have one of the
        name, with values of other types."""
        found, problem = [], NoValue("")
        for mark in marks:
            try:
                value = parse(self.system.marks[mark].types[1], data, self._rename)
                found.append(EventPattern(mark, (self._self(row), value)))
            except NoValue as wrong:
                problem = wrong
        if not found:
            raise problem
        return tuple(found)

    def _variable_of(self, process: str, name: str) -> tuple[int, list[t.Value]]:
        """Returns the number of the variable ``name`` of a process, several roles may have one, and
        the keys of its map; none where it is shared."""
        for number in self._variables[name]:
            variable = self.system.variables[number]
            if variable.kind is VariableKind.SHARED:
                return number, []
            assert isinstance(variable.type, t.MapT)
            keys = list(t.universe(variable.type.key))
            if self._processes[process] in keys:
                return number, keys
        raise NoValue(f"{process} has no variable `{name}`")

    @cached_property
    def _mapped_parts(self) -> Mapping[str, set[str]]:
        """The fields and arguments that the mapping names and some event has."""
        marks = [self.system.marks[mark] for marks in self._of_kind.values() for mark in marks]
        known = {
            "fields": {
                name for info in marks for type_ in info.types for name in field_names(type_)
            },
            "arguments": {author_of(name) for info in marks for name in info.names[1:]},
        }
        columns = [name.split(".") for name in self.mapping.columns]
        mapped = {whole: {n[1] for n in columns if n[0] == whole and n[1:]} for whole in known}
        return {whole: mapped[whole] & known[whole] for whole in known}

    def _applicable(self, column: str, row: Row, own: Iterable[str]) -> Any:
        """Returns what a line says in ``column``.  A part that the mapping names is left out if the
        event lacks it (its ``own`` parts) and another one has it."""
        given = row.data.get(column)
        elsewhere = self._mapped_parts[column].difference(own)
        if not elsewhere or not isinstance(given, Mapping):
            return given
        return {name: value for name, value in given.items() if name not in elsewhere}

    def _self(self, row: Row) -> Pattern:
        return Exactly(self._processes[row.process])

    def _rename(self, text: str) -> str:
        """Returns what a text of the log is in the spec: a process, a message or any other
        value."""
        for column in ("value", "process", "message"):
            if text in self.mapping.values.get(column, {}):
                return str(self.mapping.value(column, text))
        return text

    def _wrong(self, row: Row, message: str, hint: str = "") -> SpecError:
        return SpecError((Diagnostic("E074", message, row.place, hint=hint),))


class Items:
    """Turns the rows of one process into items of its log.

    ``ended``: whether the last row says that no more follow; ``before``: its kind; ``grouped``: the
    rows by steps.
    """

    def __init__(self, resolver: Resolver) -> None:
        from checker.conform.step_groups import GroupedRows

        self.resolver, self.ended, self.before = resolver, False, ""
        self.grouped = GroupedRows(resolver.groups) if resolver.groups.groups else None

    def of(self, row: Row) -> Iterator[Item]:
        """Yields the items that are complete with the next row; raises :class:`SpecError`
        (E074, E112)."""
        for each in (row,) if self.grouped is None else self.grouped.of(row):
            yield from self._of(each)

    def rest(self) -> Iterator[Item]:
        """Yields the items that more rows might change; raises :class:`SpecError` (E112)."""
        for each in () if self.grouped is None else self.grouped.rest():
            yield from self._of(each)

    def _of(self, row: Row) -> Iterator[Item]:
        before, self.before, self.ended = self.before, row.kind, row.kind == "end"
        if row.kind == GAP or (row.kind == "recover" and before not in ("crash", GAP)):
            yield Gap(row)
        if row.kind in MARKS:
            yield self.resolver.line(row)

    @property
    def place(self) -> tuple[str, bool, list[Row]]:
        """Where in the log it is: ``before``, ``ended``, and the rows that are held back."""
        held = [] if self.grouped is None else [*self.grouped.held]
        return self.before, self.ended, held

    def resume(self, before: str, ended: bool, held: Sequence[Row]) -> None:
        """Goes on at another place, if nothing has come so far."""
        self.before, self.ended = before, ended
        if self.grouped is not None:
            self.grouped.resume(held)


def _shorthand(row: Row, types: tuple[t.Type, ...]) -> list[Any] | None:
    """Returns the arguments of a line ``broadcast`` or ``deliver``, which has them as ``msg`` and
    ``sender``."""
    given = [row.data.get("sender", "_"), row.data.get("msg", "_")]
    return given[-len(types) :] if 0 < len(types) <= len(given) else None


def _nearest(what: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known) or 'none'}"
    return f"this check has no {what} `{name}`: {hint}"


def _item(type_: t.Type) -> t.Type:
    return type_.item if isinstance(type_, t.SetT) else type_
