"""The records of one run, as events on which formulas of the language are evaluated.

A request or an indication extends the histories as the effects of
:mod:`checker.properties.histories` do in a check (a test compares both).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from checker.audit.columns import Kind, Role
from checker.audit.formulas import CRASHES
from checker.audit.growing import WholeHistory, grown
from checker.audit.processes import EVENTS, NEVER, ProcessState
from checker.audit.relations import Expr, col
from checker.audit.tables import OK, Tables
from checker.instantiate.no_protocol import world_without_code
from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.language.syntax.walk import nodes_of
from checker.model import build, ir
from checker.model.build import conj, disj, member
from checker.model.evaluate import Scope, misfit
from checker.model.types import IntT, MapT, SetT, Type
from checker.polling import poll
from checker.properties.histories import Histories
from checker.properties.reader import Reader

DOWN = "@down"
_FATES = (Kind.CRASH, Kind.RECOVER)


class Misfit(ValueError):
    """A recorded value is not of the type that an argument has; its text says so."""


class Event(Struct, frozen=True):
    """Something that a process did: the ``op`` of the interface with its arguments (as values of
    the language), or :data:`CRASHES`.

    ``row``: the process, position and entry as findings have them; ``sure``: it happened, and not
    only perhaps; ``is_late``: it is within the grace window; ``is_placed``: it happened where its
    row stands, and not perhaps earlier.
    """

    op: str
    arguments: tuple[Any, ...]
    row: Mapping[str, Any]
    sure: bool = True
    is_late: bool = False
    is_placed: bool = True


class RecordedRun(Struct):
    """A run of a log.

    ``processes``: their names; ``values``: their values in the engine; ``correct``, ``byzantine``:
    their numbers; ``events``: the events of each process, in order; ``payloads``: the names of
    messages, numbered; ``gaps``: why the logs are not complete; ``unsure``: why it is not known
    which processes are correct.
    """

    processes: list[str]
    values: list[Any]
    correct: frozenset[int]
    byzantine: frozenset[int]
    events: list[list[Event]]
    payloads: dict[str, int]
    gaps: list[str] = field(default_factory=list)
    unsure: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether no event is missing, and none only may have happened."""
        return not self.gaps and all(each.sure for line in self.events for each in line)

    @property
    def is_placed(self) -> bool:
        """Whether every event happened where its row stands."""
        return all(each.is_placed for line in self.events for each in line)


def recorded_runs(tables: Tables, interface: typed.Interface) -> Iterator[RecordedRun]:
    """Yields the runs of a log, one after another; raises :class:`Misfit`."""
    by_run: dict[str, list[ProcessState]] = {}
    for state in tables.states:
        by_run.setdefault(state.run, []).append(state)
    rows = _rows(tables)
    operators = {o.name: o for o in (*interface.requests, *interface.indications)}
    for of in by_run.values():
        of.sort(key=lambda state: state.name)
        numbers = {state.name: at for at, state in enumerate(of)}
        payloads: dict[str, int] = {}
        reads = _Values(tables, numbers, payloads)
        lines = [
            [reads.event(row, operators, state.late_from) for row in rows.get(state.value, ())]
            for state in of
        ]
        for state, line in zip(of, lines, strict=True):
            if state.crashed and not any(e.op == CRASHES and e.arguments[0] for e in line):
                line.append(Event(CRASHES, (True,), {"process": state.value}))
        yield RecordedRun(
            [state.name for state in of],
            [state.value for state in of],
            frozenset(at for at, state in enumerate(of) if state.correct),
            frozenset(at for at, s in enumerate(of) if not s.correct and not s.crashed),
            lines,
            payloads,
            [gap for state in of for gap in state.gaps],
            next((state.gaps[-1] for state in of if not state.sure), ""),
        )


def _rows(tables: Tables) -> dict[Any, list[dict[str, Any]]]:
    """Returns the events of each process, in order, with the role of each (``None``: a fate)."""
    found: list[dict[str, Any]] = []
    fates = EVENTS.where(_is_fate()).select("process", "pos", "kind", "status")
    for role, relation in [(None, fates)] + [
        (role, tables.rows_of(at)) for at, role in enumerate(tables.roles)
    ]:
        found += ({**row, "role": role} for row in tables.engine.rows(relation).to_pylist())
    written_later = _acknowledged(tables)
    lines: dict[Any, list[dict[str, Any]]] = {}
    for row in sorted(found, key=lambda row: row["pos"]):
        is_position = row["role"] is not None and "offset" in row["role"].columns
        row["placed"] = is_position or (row["process"], row["pos"]) not in written_later
        lines.setdefault(row["process"], []).append(row)
    return lines


def _acknowledged(tables: Tables) -> set[tuple[Any, int]]:
    """Returns the requests that were written when they were acknowledged: they have an offset."""
    if "offset" not in tables.engine.columns:
        return set()
    of_requests = tables.events.where((col("kind") == int(Kind.REQUEST)) & ~col("offset").is_null())
    rows = tables.engine.rows(of_requests.select("process", "pos")).to_pylist()
    return {(row["process"], row["pos"]) for row in rows}


def _is_fate() -> Expr:
    crash, recover = (col("kind") == int(kind) for kind in _FATES)
    return crash | recover


class _Values:
    """Reads the arguments of recorded events."""

    def __init__(self, tables: Tables, numbers: dict[str, int], payloads: dict[str, int]) -> None:
        self._engine, self._numbers, self._payloads = tables.engine, numbers, payloads

    def event(
        self, row: dict[str, Any], operators: Mapping[str, typed.Operator], late_from: int
    ) -> Event:
        """Returns the event of a row."""
        role: Role | None = row["role"]
        shown = {name: row.get(name) for name in ("process", "pos", "entry")}
        sure, late = row["status"] == OK, late_from != NEVER and row["pos"] >= late_from
        if role is None:
            return Event(CRASHES, (row["kind"] == Kind.CRASH,), shown, sure, late)
        operator = operators[role.name]
        given = self._given(row, role)
        values = tuple(
            self._value(type_, text, f"`{name}` of `{role.name}`")
            for (name, type_), text in zip(operator.fields, given, strict=True)
        )
        return Event(role.name, values, shown, sure, late, row["placed"])

    def _given(self, row: dict[str, Any], role: Role) -> list[Any]:
        """Returns the values of the arguments in a row; names are texts."""
        sender, message = self._named(row)
        several = role.columns.count("msg") > 1
        parts = _parts(message) if several else [message]
        if len(parts) != role.columns.count("msg") and "msg" in role.columns:
            raise Misfit(f"`msg` of `{role.name}` is `{message}`: it has another number of values")
        found: list[Any] = []
        for name in role.columns:
            match name:
                case "msg":
                    found.append(parts.pop(0))
                case "sender":
                    found.append(sender)
                case "to":
                    found.append(self._engine.process(row["to_process"])[1])
                case "partition":
                    found.append(self._engine.partition(row[name]))
                case _:
                    found.append(str(row[name]))
        return found

    def _named(self, row: dict[str, Any]) -> tuple[str | None, str]:
        if row.get("entry") is not None:
            return self._engine.entry(row["entry"])
        message = row.get("message")
        return None, "" if message is None else self._engine.message(message)

    def _value(self, type_: typed.Type, text: Any, what: str) -> Any:
        """Returns the value of the language that a log writes as ``text``."""
        match type_:
            case typed.Msg() if text is not None:
                return self._payloads.setdefault(str(text), len(self._payloads))
            case typed.Proc() if text in self._numbers:
                return self._numbers[text]
            case typed.Bool() if text in ("true", "false", True, False):
                return text in ("true", True)
            case typed.Enum(_, labels) if text in labels:
                return labels.index(text)
            case typed.Int():
                try:
                    return int(text)
                except (TypeError, ValueError):
                    pass
            case typed.Tuple(items):
                parts = _parts(text)
                if len(parts) == len(items):
                    both = zip(items, parts, strict=True)
                    return tuple(self._value(item, part, what) for item, part in both)
            case typed.Seq(item):
                return tuple(self._value(item, part, what) for part in _parts(text))
            case typed.Set(item):
                return frozenset(self._value(item, part, what) for part in _parts(text))
        raise Misfit(f"{what} is `{text}` in the log, which is no value of its type")


def _parts(text: Any) -> list[Any]:
    """Returns the items of a list, which a log has as JSON."""
    if isinstance(text, list):
        return list(text)
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return [text]
    return found if isinstance(found, list) else [text]


# ---- formulas in a run ------------------------------------------------------------------------


class _Capacities(dict[str, int]):
    """Guessed capacities: all are large enough."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def get(self, name: str, guess: Any = None) -> Any:
        """Returns the capacity called ``name``."""
        return self._size


class Meaning:
    """The histories of a run, and what ``formula`` and its parts mean in its states."""

    def __init__(self, run: RecordedRun, interface: typed.Interface, formula: typed.Expr) -> None:
        _require_names(run, formula)
        self.run = run
        self.world = _world(run, interface)
        self._histories = Histories(self.world)
        self._histories.need(formula)
        self._histories.declare()
        self.world.add(DOWN, SetT(self.world.proc), frozenset(), ir.VariableKind.WORLD, "down")
        reader = Reader(self.world, lambda process: process)
        self._read = reader.read
        self.env = Env(self.world, self.world.instances[0], None, {}, self._read_standing)
        self._first = self._state(run.events, lambda items: 0)

    def first(self) -> Scope:
        """Returns the state in which nothing has happened."""
        return Scope(self._first, {})

    def after(self, scope: Scope, process: int, event: Event) -> Scope:
        """Returns the state after ``event``, which is the next one of ``process``."""
        if event.op == CRASHES:
            down = _with_fate(scope.state[DOWN], process, event)
            return Scope({**scope.state, DOWN: down}, {})
        state = dict(scope.state)
        for name in (f"@history.{event.op}", f"@repeated.{event.op}"):
            if name in state:
                entries = list(state[name])
                entries[process] = entries[process].longer()
                state[name] = tuple(entries)
        return Scope(state, {})

    def after_all(self, lines: Sequence[Sequence[Event]]) -> Scope:
        """Returns the state after these events of each process."""
        state = self._state(lines, len)
        for process, line in enumerate(lines):
            for event in line:
                poll()
                if event.op == CRASHES:
                    state[DOWN] = _with_fate(state[DOWN], process, event)
        return Scope(state, {})

    def _state(
        self, lines: Sequence[Sequence[Event]], length: Callable[[list[Any]], int]
    ) -> dict[str, Any]:
        """Returns the histories of ``lines``, each up to a length; raises :class:`Misfit` for a
        value that they can't have."""
        state = {name: v.initial for name, v in self.world.variables.items()}
        for (_, op), fields in self._histories.operators():
            items = [[_item(e, fields) for e in line if e.op == op] for line in lines]
            for name, times in ((f"@history.{op}", 1), (f"@repeated.{op}", 2)):
                if name in state:
                    type_ = self.world.variables[name].type
                    assert isinstance(type_, MapT)
                    of = build.element(type_.value)
                    state[name] = tuple(
                        grown(WholeHistory(each, of, times), type_.value, length(each))
                        for each in items
                    )
        return state

    def _read_standing(self, env: Env, expr: typed.Expr) -> ir.Expr:
        """Lowers what only properties read: who is correct is known from the whole log."""
        if isinstance(expr, typed.HistoryOrder):
            return self._before(env, expr)
        if not isinstance(expr, typed.Correct):
            return self._read(env, expr)
        process = lower(expr.process, env)
        processes = SetT(self.world.proc)
        down = member(process, self.world.read(DOWN))
        if expr.kind == "correct":
            return member(process, ir.Const(processes, self.run.correct))
        if expr.kind == "faulty":
            return disj(down, member(process, ir.Const(processes, self.run.byzantine)))
        return down

    def _before(self, env: Env, expr: typed.HistoryOrder) -> ir.Expr:
        """Lowers the order of two items in a history by their positions there."""
        history = self._read(
            env, typed.History(expr.type, expr.kind, expr.op, expr.owner, expr.span)
        )
        of = build.element(history.type)
        items = [lower(each, env, of) for each in (expr.first, expr.second)]
        place = IntT(0, max(sum(len(line) for line in self.run.events), 1))
        at = [ir.Apply(place, ir.Op.INDEX_OF, (history, item)) for item in items]
        return conj(*(member(item, history) for item in items), build.below(*at))


def _with_fate(down: frozenset[int], process: int, event: Event) -> frozenset[int]:
    return down | {process} if event.arguments[0] else down - {process}


def _item(event: Event, fields: tuple[tuple[str, Type], ...]) -> Any:
    """Returns the entry that a history has for ``event``."""
    for (name, type_), value in zip(fields, event.arguments, strict=True):
        if misfit(type_, value, None) is not None:
            raise Misfit(f"`{name}` of `{event.op}` is {value} in the log: not of its type")
    return event.arguments[0] if len(fields) == 1 else event.arguments


def _world(run: RecordedRun, interface: typed.Interface) -> World:
    numbers = [
        value
        for line in run.events
        for event in line
        for value in event.arguments
        if isinstance(value, int)
    ]
    most = max([sum(len(line) for line in run.events), *numbers], default=0) + 1
    payloads = tuple(run.payloads) or ("no message",)
    return world_without_code(tuple(run.processes), payloads, _Capacities(most), interface)


def _require_names(run: RecordedRun, formula: typed.Expr) -> None:
    for node in nodes_of(formula):
        if isinstance(node, typed.Named) and node.name not in run.processes:
            raise Misfit(f"it names `{node.name}`, and the log has no such process")
