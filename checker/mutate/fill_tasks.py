"""Runs one check on one filling of a spec with holes, here or in another process.

A run that has refuted a filling may be a run of another one as well: it is replayed there first,
step by step and by the interpreter, which needs no search (Solar-Lezama et al., *Combinatorial
Sketching for Finite Programs*, ASPLOS 2006).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.model.evaluate import RunFault
from checker.mutate.mutant_tasks import first_problem, kills_of, undecided
from checker.mutate.worst_run import most_messages
from checker.results.mismatch import ReplayMismatch
from checker.results.mutation import Kill
from checker.results.replay import replay_document
from checker.results.trace import Trace
from checker.session.load import is_parametric, load_check
from checker.session.small_systems import TooLarge
from checker.session.systems import instantiated
from checker.worlds.points import PointTask, run_point

if TYPE_CHECKING:
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

COUNTED = 3_000
"""The largest number of states of a check whose messages are counted."""
RUNS = 8
"""How many refuting runs of a check are kept for others."""


class FillTask(Struct, frozen=True):
    """The check ``check`` of the filled ``text`` of the spec at ``path``.  ``session``: a name that
    all tasks of a command share.  ``name``: the filling, in words."""

    session: str
    number: int
    path: str
    text: str
    check: str
    options: Options
    name: str

    def __str__(self) -> str:
        return f"{self.check} with {self.name}"

    @property
    def seconds(self) -> float | None:
        """The time limit: of the search, and of all around it."""
        limit = self.options.limits.timeout
        return None if limit is None else 3 * limit


class FillOutcome(Struct, frozen=True):
    """What a check says of a filling: ``kills``, with the run of the first; or why that is not
    known (``unknown``), or that it is no valid spec (``invalid``)."""

    number: int
    kills: tuple[Kill, ...] = ()
    trace: Trace | None = None
    states: int = 0
    messages: int | None = None
    replayed: bool = False
    unknown: str = ""
    invalid: str = ""


def run_filling(task: FillTask, listener: Listener) -> FillOutcome:
    """Returns what a check says of a filling.  Decided reports are kept for later commands."""
    try:
        spec = Spec(task.text, task.path)
        known = _replayed(task, spec)
    except SpecError as refused:
        return FillOutcome(task.number, invalid=first_problem(refused))
    if known is not None:
        return known
    found = run_point(PointTask(task.number, spec, task.check, task.options), listener)
    report = found.report
    if report is None:
        return FillOutcome(task.number, invalid=f"{task.check}: {found.reason}")
    kills = tuple(kills_of(report))
    traces = [v.trace for v in report.verdicts if kills and v.property == kills[0].property]
    trace = next(iter(traces), None)
    if trace is not None:
        _remember(task, trace)
    unknown = "" if kills else undecided(report)
    messages = None if kills or unknown else _messages(task, spec)
    return FillOutcome(task.number, kills, trace, report.distinct_states, messages, unknown=unknown)


def lost_filling(task: FillTask, status: Status, reason: str, seconds: float) -> FillOutcome:
    """Returns the outcome of a task whose process ended."""
    return FillOutcome(task.number, unknown=f"{task.check}: {status.value}: {reason}")


def _messages(task: FillTask, spec: Spec) -> int | None:
    """Returns how many messages a run of the check sends at most; ``None`` where there is no bound,
    or too many states to count them."""
    if is_parametric(spec, task.check, task.options.settings):
        return None
    system = instantiated(load_check(spec, task.check, task.options.settings), task.options).system
    try:
        return most_messages(system, COUNTED)
    except (TooLarge, RunFault):
        return None


_refuting: dict[tuple[str, str], list[Trace]] = {}
"""The refuting runs that this process has found, by session and check."""


def _remember(task: FillTask, trace: Trace) -> None:
    runs = _refuting.setdefault((task.session, task.check), [])
    runs.append(trace)
    del runs[:-RUNS]


def _replayed(task: FillTask, spec: Spec) -> FillOutcome | None:
    """Returns that the check is refuted by a run that has refuted another filling; ``None`` where
    no such run is known to be one of this filling."""
    runs = _refuting.get((task.session, task.check), [])
    if not runs or is_parametric(spec, task.check, task.options.settings):
        return None
    check = load_check(spec, task.check, task.options.settings)
    system = instantiated(check, task.options).system
    for trace in reversed(runs):
        try:
            same = replay_document(system, trace)
        except (ValueError, ReplayMismatch, RunFault):
            continue
        kill = Kill(task.check, trace.property_name, trace.word, same.length)
        return FillOutcome(task.number, (kill,), same, replayed=True)
    return None
