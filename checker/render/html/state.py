"""Represents states as cells: one for each variable and process, with the changes of each step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from checker.records import replace
from checker.render.html.values import value_text
from checker.results.trace import Change, Json, Step, Trace, VariableKind
from checker.results.values_when_down import is_reset, recovered_in

SHOWN = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
"""Kinds of variables that are shown even where they never change."""

INTERNAL = "@"
"""What is in the names of variables that the spec does not have, its own or those of a layer."""


class Cell(Struct, frozen=True):
    """The initial value of a variable (one process's entry of it, where ``process`` is named);
    ``kind`` is that of :class:`checker.results.trace.Change`; ``row``: the number of its row in a
    table with a column for each process.

    Variables of several roles with one title share a row; others with that title do not.
    """

    title: str
    kind: VariableKind
    process: str
    text: str
    row: int


class Delta(Struct, frozen=True):
    """A cell, by its place in the list, whose text a step changes; ``forgotten``: by a
    crash, from which the process comes back in this step."""

    cell: int
    before: str
    after: str
    forgotten: bool = False


class States(Struct, frozen=True):
    """States as cells: ``deltas[i]`` leads from the state before step ``i`` to that after it; the
    last one is the step that closes a cycle, if any.
    """

    cells: tuple[Cell, ...]
    deltas: tuple[tuple[Delta, ...], ...]
    places: Mapping[tuple[str, str], int]

    def deltas_of(self, step: Step) -> tuple[Delta, ...]:
        """Returns what ``step`` changes; it is one of the execution, or an alternative to one."""
        return tuple(_deltas(step, self.places))


def states_of(trace: Trace, others: Iterable[Step] = ()) -> States:
    """Returns the states of ``trace`` as cells, of variables that the spec has or that change: in
    the execution, or in ``others``, the alternatives to its steps.
    """
    steps = trace.every_step
    changed: dict[tuple[str, str], Change] = {}
    for step in (*steps, *others):
        for change in step.changes:
            changed.setdefault((change.variable, change.process), change)
    titles = {change.variable: change.title for change in changed.values()}
    roles = {name.partition(".")[0] for name, title in titles.items() if name.endswith(f".{title}")}
    places: dict[tuple[str, str], int] = {}
    cells: list[Cell] = []
    rows: list[tuple[str, VariableKind, set[str]]] = []
    for name, kind in trace.variables:
        if name not in titles and (kind not in SHOWN or INTERNAL in name):
            continue
        for process, value in _entries(trace.steps[0].state.get(name), trace.processes):
            first = changed.get((name, process))
            text = value_text(value) if first is None else first.before
            places[name, process] = len(cells)
            role, _, rest = name.partition(".")
            title = titles.get(name, rest if role in roles and rest else name)
            row = _row_of(rows, title, kind, process)
            cells.append(Cell(title, kind, process, text, row))
    cells = _with_distinct_titles(cells)
    deltas = []
    down: dict[int, Delta] = {}  # what the crash of a process resets, which shows when it is back
    for step in steps:
        back = [at for at in down if cells[at].process in recovered_in(step)]
        deltas.append((*map(down.pop, back), *_deltas(step, places)))
        for change in step.changes:
            at = places.get((change.variable, change.process))
            if at is not None and is_reset(step, change):
                down[at] = Delta(at, change.before, change.after, forgotten=True)
    return States(tuple(cells), tuple(deltas), places)


def _row_of(
    rows: list[tuple[str, VariableKind, set[str]]], title: str, kind: VariableKind, process: str
) -> int:
    """Returns the number of the first of ``rows`` of that title and kind where ``process`` has no
    cell yet; adds one to them where there is none."""
    for number, (of, sort, taken) in enumerate(rows):
        if (of, sort) == (title, kind) and process not in taken:
            taken.add(process)
            return number
    rows.append((title, kind, {process}))
    return len(rows) - 1


def _with_distinct_titles(cells: list[Cell]) -> list[Cell]:
    """Returns ``cells``, where several rows have one title with the kind in the titles of those
    that the spec does not declare."""
    rows: dict[str, set[int]] = defaultdict(set)
    for cell in cells:
        rows[cell.title].add(cell.row)
    return [
        replace(cell, title=f"{cell.title} ({cell.kind})")
        if len(rows[cell.title]) > 1 and cell.kind not in SHOWN
        else cell
        for cell in cells
    ]


def _deltas(step: Step, places: Mapping[tuple[str, str], int]) -> Iterator[Delta]:
    for change in step.changes:
        place = places.get((change.variable, change.process))
        if place is not None and not is_reset(step, change):
            yield Delta(place, change.before, change.after)


def _entries(value: Json, processes: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
    """Yields the entries of a map from processes; any other value is one entry of no process."""
    match value:
        case {"#map": list(entries)} if entries and all(
            isinstance(e, list) and len(e) == 2 and e[0] in processes for e in entries
        ):
            for entry in entries:
                assert isinstance(entry, list)
                yield str(entry[0]), entry[1]
        case _:
            yield "", value
