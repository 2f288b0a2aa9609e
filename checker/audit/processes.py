"""What is known of each process of a log: whether it is correct, whether its log is complete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from msgspec import Struct, field

from checker.audit.columns import STATUS, Kind
from checker.audit.engine import Engine
from checker.audit.manifest import Manifest, Told
from checker.audit.relations import Relation, Scan, col
from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count

EVENTS = Scan("events")
FIRST_POSITIONS = (0, 1)
"""Where positions begin."""
FIRST_LINE = 1
"""The position of the `start` of a log whose lines are numbered one by one (docs/logs.md)."""
NEVER = (1 << 62) - 1
"""A position that no event has."""


class ProcessState(Struct):
    """A process and its log.

    ``value``: the engine's value of it; ``rows``, ``first``, ``last``: how many rows its log has,
    and their positions; ``indications``: how many of them are such; ``correct``: it has not
    crashed and is not Byzantine, for all that is known; ``sure``: that is known; ``delivers``:
    messages are for it; ``late_from``: the position from which on the log may be too short for what
    is to come; ``gaps``: why its log is not complete, if so.
    """

    value: Any
    run: str
    name: str
    rows: int = 0
    first: int = 0
    last: int = -1
    correct: bool = True
    sure: bool = True
    delivers: bool = True
    crashed: bool = False
    indications: int = 0
    late_from: int = NEVER
    gaps: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether its log is complete."""
        return not self.gaps


class Grace(Struct, frozen=True):
    """How much at the end of a log may be too late: the last ``rows`` of each process, or the last
    ``seconds``, by the clocks of the log."""

    rows: int = 0
    seconds: float = 0.0


def process_states(
    engine: Engine, values: Iterable[Any], manifest: Manifest, torn: dict[Any, str], grace: Grace
) -> list[ProcessState]:
    """Returns what is known of each process of ``values``; ``torn``: processes of files whose last
    line is cut short."""
    states = {value: ProcessState(value, *engine.process(value)) for value in values}
    seen = _seen(engine)
    _extent(seen, states)
    ended = _last(seen, Kind.END)
    up = _later(_last(seen, Kind.START), _last(seen, Kind.RECOVER))
    down = _last(seen, Kind.CRASH)
    gaps = _gaps(seen, states)
    _missing_lines(seen, states, gaps, manifest)
    starts = [row for row in seen if row["kind"] == Kind.START]
    started = {row["process"] for row in starts}
    begun = {states[row["process"]].run for row in starts if row["first"] == FIRST_LINE}
    for value, state in states.items():
        told = manifest.of(state.name)
        if not state.rows and value not in torn and state.name not in manifest.processes:
            state.gaps.append(f"there is no log of {state.name}")
        state.delivers = told.delivers
        _say_gaps(state, told, manifest.file)
        behind = state.rows > 0 and state.first > FIRST_LINE and told.first is None
        if behind and value not in started and state.run in begun:
            where = f"begins at position {state.first:,}, without `start`"
            state.gaps.append(f"the log of {state.name} {where}")
        state.gaps += gaps.get(value, [])
        if value in torn:
            state.gaps.append(f"the last line of {torn[value]} is truncated")
        state.crashed = down.get(value, -1) > up.get(value, -1)
        if told.crashed is not None:
            state.crashed = told.crashed
        state.correct = not (state.crashed or told.byzantine)
        silent = bool(ended) and ended.get(value, -1) < up.get(value, 0)
        if silent and state.correct and told.crashed is None:
            state.sure = False
            state.gaps.append(f"the log of {state.name} ends without `end` or `crash`")
    _late(engine, states, grace)
    return list(states.values())


def table_of(states: list[ProcessState], kind: pa.DataType | None) -> pa.Table:
    """Returns the table ``processes`` that plans join with; ``had_time``: the log of the process
    begins before its grace window."""
    runs = {run: at for at, run in enumerate(dict.fromkeys(state.run for state in states))}
    values = pa.array([s.value for s in states], kind)
    return pa.table(
        {
            "process": values,
            "run": pa.array([runs[s.run] for s in states], pa.int32()),
            "correct": pa.array([s.correct for s in states], pa.bool_()),
            "sure": pa.array([s.correct and s.sure for s in states], pa.bool_()),
            "crashed": pa.array([s.crashed for s in states], pa.bool_()),
            "complete": pa.array([s.complete for s in states], pa.bool_()),
            "delivers": pa.array([s.delivers for s in states], pa.bool_()),
            "had_time": pa.array([s.late_from > s.first for s in states], pa.bool_()),
            "late_from": pa.array([s.late_from for s in states], pa.int64()),
        }
    )


def runs_of(states: list[ProcessState]) -> pa.Table:
    """Returns the table ``runs``: of each run how many processes messages are for, how many are
    correct, and whether all its logs are complete."""
    runs = list(dict.fromkeys(state.run for state in states))
    inside = [[s for s in states if s.run == run] for run in runs]
    return pa.table(
        {
            "run": pa.array(range(len(runs)), pa.int32()),
            "wanted": pa.array(
                [sum(s.correct and s.delivers for s in of) for of in inside], pa.int64()
            ),
            "right": pa.array([sum(s.correct for s in of) for of in inside], pa.int64()),
            "whole": pa.array([all(s.complete for s in of) for of in inside], pa.bool_()),
        }
    )


def _seen(engine: Engine) -> list[dict[str, Any]]:
    """Returns of each process, and each kind and status of events, how many ``rows`` there are, and
    the ``first`` and ``last`` of their positions."""
    found = EVENTS.group(
        *("process", "kind", "status"),
        rows=("count", ""),
        first=("min", "pos"),
        last=("max", "pos"),
    )
    rows: list[dict[str, Any]] = engine.rows(found).to_pylist()
    return sorted(rows, key=lambda row: row["first"])


def _extent(seen: list[dict[str, Any]], states: dict[Any, ProcessState]) -> None:
    for row in seen:
        state = states[row["process"]]
        state.first = min(state.first, row["first"]) if state.rows else row["first"]
        state.last = max(state.last, row["last"]) if state.rows else row["last"]
        state.rows += row["rows"]
        if row["kind"] == Kind.INDICATION:
            state.indications += row["rows"]


def _last(seen: list[dict[str, Any]], kind: Kind) -> dict[Any, int]:
    """Returns the last position of an event of ``kind`` of each process that has one."""
    found: dict[Any, int] = {}
    for row in seen:
        if row["kind"] == kind:
            found[row["process"]] = max(row["last"], found.get(row["process"], -1))
    return found


def _later(one: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
    return {key: max(one.get(key, -1), other.get(key, -1)) for key in {**one, **other}}


def _gaps(seen: list[dict[str, Any]], states: dict[Any, ProcessState]) -> dict[Any, list[str]]:
    """Returns what the rows say that are gaps, or indications that may have happened."""
    found: dict[Any, list[str]] = {}
    for row in seen:
        maybe = row["status"] == STATUS.index("maybe")
        if row["kind"] == Kind.GAP:
            said = "a gap"
        elif maybe and row["kind"] in (Kind.INDICATION, Kind.PERFORM):
            said = "an event that may have happened"
        else:
            continue
        more = f" and {row['rows'] - 1:,} more" if row["rows"] > 1 else ""
        name = states[row["process"]].name
        text = f"the log of {name} has {said} at position {row['first']:,}{more}"
        found.setdefault(row["process"], []).append(text)
    return found


def _missing_lines(
    seen: list[dict[str, Any]],
    states: dict[Any, ProcessState],
    gaps: dict[Any, list[str]],
    manifest: Manifest,
) -> None:
    """Adds to ``gaps`` the processes that number their lines one by one, and lack some, also at the
    end that ``manifest`` says they have."""
    for row in seen:
        state = states[row["process"]]
        last = max(state.last, manifest.of(state.name).last or 0)
        missing = last - FIRST_LINE + 1 - state.rows
        if row["kind"] == Kind.START and row["first"] == FIRST_LINE and missing > 0:
            text = f"the log of {state.name} lacks {count(missing, 'line')} of {last:,}"
            gaps.setdefault(row["process"], []).append(text)


def _say_gaps(state: ProcessState, told: Told, file: str) -> None:
    said = f"{file} declares that the log of {state.name}"
    if not told.complete:
        state.gaps.append(f"{said} is not complete")
    if told.sampled:
        state.gaps.append(f"{said} is a sample")
    if told.first is not None and told.first > max(FIRST_POSITIONS):
        state.gaps.append(f"{said} is complete only from position {told.first:,}")
    if told.last is not None and told.last < state.last:
        state.gaps.append(f"{said} is complete only up to position {told.last:,}")


def require_times(engine: Engine, asked: str) -> None:
    """Raises :class:`SpecError` (E081) where the log has no times, for which is ``asked``."""
    if "ts" not in engine.columns:
        hint = "--grace also counts rows: --grace 1000rows" if "--grace" in asked else ""
        said = f"the log has no column `ts`, which {asked} needs"
        raise SpecError((Diagnostic("E081", said, None, "seconds or times", hint),))


def _late(engine: Engine, states: dict[Any, ProcessState], grace: Grace) -> None:
    """Finds from which position on the end of each log is within the grace window."""
    found: Relation | None = None
    if grace.seconds:
        require_times(engine, "--grace in seconds")
        newest = engine.rows(
            EVENTS.select("ts", one=1).group("one", newest=("max", "ts"))
        ).to_pylist()
        limit = newest[0]["newest"] - grace.seconds
        found = EVENTS.where(col("ts") < limit).group("process", last=("max", "pos"))
        for state in states.values():
            state.late_from = state.first
        for row in engine.rows(found).to_pylist():
            states[row["process"]].late_from = row["last"] + 1
    elif grace.rows:
        sizes = EVENTS.group("process", size=("count", ""))
        numbered = EVENTS.select("process", "pos").window(
            ("process",), "pos", number=("number", "pos")
        )
        late = numbered.join(sizes, "process").where(col("number") + grace.rows > col("size"))
        for row in engine.rows(late.group("process", first=("min", "pos"))).to_pylist():
            states[row["process"]].late_from = row["first"]
