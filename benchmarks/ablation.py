"""What each reduction brings and costs: checks of the library with every one alone and without it.

    python -m benchmarks.ablation                    # every fourth check, one thread
    python -m benchmarks.ablation --every 1 --json all.json --markdown docs/benchmarks.md

For each check the system is made once, with capacities that suffice.  Then it is explored under the
plan that its reductions make together, and under parts of that plan.  Violations, and errors of the
run, have to be those without reductions: another answer ends the run with an error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean

import click

from benchmarks.comparing import WrongAnswer
from benchmarks.tables import Table, into_page, number
from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.engines.search_engine import Cyclic
from checker.model import ir
from checker.model.ir import TransitionSystem
from checker.model.tree import nodes
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.reduction_plan import NOTHING, PlanPart, ReductionPlan
from checker.reductions.registry import ALL, NONE, REDUCTIONS, admitted
from checker.resources import specs
from checker.results.answer import Answer, Limits
from checker.session.attempts import explore_with_growing_capacities
from checker.session.load import load_check
from tests.finite_checks import finite_checks

BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
SECONDS, STATES = 20.0, 1_500_000
"""Checks that take longer without reductions, or have more states, are left out."""

LARGEST = 14
"""The number of checks that are shown one by one."""

Keeps = Callable[[TransitionSystem, PlanPart], PlanPart | None]
"""What is left of a part of a plan; ``None``: nothing."""


def reset_kind(system: TransitionSystem, stmt: ir.Stmt) -> str:
    """What a statement does that resets dead values, in words."""
    writes = [n for n in nodes(stmt) if isinstance(n, ir.Assign) and n.target.is_state]
    links = {v.name for v in system.variables if v.kind is ir.VariableKind.LINK}
    if any(write.target.name in links for write in writes):
        queues = any(isinstance(write.value, ir.Comprehension) for write in writes)
        return "messages removed from queues" if queues else "messages removed"
    return "values filled" if any(_fills(write.value) for write in writes) else "values cleared"


def _fills(value: ir.Expr) -> bool:
    """Whether a value is the largest of its type, or an item is put into a set."""
    match value:
        case ir.Const(value=bool() | frozenset() as stored):
            return bool(stored)
        case _:
            return not isinstance(value, ir.Const)


def is_conditional(stmt: ir.Stmt) -> bool:
    """Whether values are reset in some states only."""
    return any(isinstance(node, ir.If) for node in nodes(stmt))


def _only(name: str) -> Keeps:
    return lambda system, part: part if part.reduction == name else None


def _without(name: str) -> Keeps:
    return lambda system, part: None if part.reduction == name else part


def _without_resets(leave: Callable[[TransitionSystem, ir.Stmt], bool]) -> Keeps:
    def kept(system: TransitionSystem, part: PlanPart) -> PlanPart | None:
        if not part.resets:
            return part
        left = tuple(stmt for stmt in part.resets if not leave(system, stmt))
        return replace(part, resets=left) if left else None

    return kept


def _without_conditional_ample(system: TransitionSystem, part: PlanPart) -> PlanPart | None:
    if not part.ample_actions:
        return part
    left = tuple(one for one in part.ample_actions if one.when == ir.TRUE)
    return replace(part, ample_actions=left) if left else None


def _without_kind(kind: str) -> Keeps:
    return _without_resets(lambda system, stmt: reset_kind(system, stmt) == kind)


EVERYTHING = "all"
ALONE: Mapping[str, Keeps] = {r.title: _only(r.name) for r in REDUCTIONS.values()}
LACKING: Mapping[str, Keeps] = {
    **{r.title: _without(r.name) for r in REDUCTIONS.values()},
    **{
        f"dead values: {kind}": _without_kind(kind)
        for kind in (
            "messages removed",
            "messages removed from queues",
            "values filled",
            "values cleared",
        )
    },
    "dead values: conditional resets": _without_resets(lambda _, stmt: is_conditional(stmt)),
    "partial order: conditional ample sets": _without_conditional_ample,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One exploration; ``used``: the reductions of the plan that was followed in the end."""

    states: int
    transitions: int
    seconds: float
    used: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A check: without reductions, with all, with each ``alone``, with all but one (``lacking``).

    ``planning``: seconds of processor time for the analysis of each reduction.
    """

    check: str
    full: Run
    reduced: Run
    alone: Mapping[str, Run]
    lacking: Mapping[str, Run]
    planning: Mapping[str, float]


def part_of(plan: ReductionPlan, system: TransitionSystem, keeps: Keeps) -> ReductionPlan:
    """What ``keeps`` leaves of a plan and of its fallback."""
    parts = tuple(left for part in plan.parts if (left := keeps(system, part)) is not None)
    fallback = None if plan.fallback is None else part_of(plan.fallback, system, keeps)
    return replace(plan, parts=parts, fallback=fallback, unused=())


class Explorer:
    """Explores a system under one plan after the other, under each of them once."""

    def __init__(self, name: str, system: TransitionSystem, answer: Answer) -> None:
        self.name, self.system, self.expected = name, system, found_in(answer)
        self._known: dict[tuple[PlanPart, ...], Run] = {(): _run(answer, ())}

    def run(self, plan: ReductionPlan) -> Run:
        """Raises :class:`WrongAnswer` where something else is found than without reductions."""
        if plan.parts not in self._known:
            self._known[plan.parts] = self._explore(plan)
        return self._known[plan.parts]

    def _explore(self, plan: ReductionPlan) -> Run:
        try:
            answer = native.explore(self.system, Limits(), plan=plan, threads=1)
        except Cyclic:
            assert plan.fallback is not None
            return self.run(plan.fallback)
        if found_in(answer) != self.expected:
            found = f"{found_in(answer)} with {plan.used}, {self.expected} without"
            raise WrongAnswer(f"{self.name}: {found}")
        return _run(answer, plan.used)


def found_in(answer: Answer) -> tuple[frozenset[str], bool]:
    """The violated properties, and whether there is an error of the run, which ends a search."""
    return frozenset() if answer.fault else frozenset(answer.violations), answer.fault is not None


def _run(answer: Answer, used: tuple[str, ...]) -> Run:
    return Run(
        answer.distinct_states,
        answer.transitions,
        answer.seconds + (answer.liveness_seconds or 0.0),
        used,
    )


def measured(path: Path, name: str) -> Measured | None:
    """Measures a check; ``None`` where it has too many states."""
    title = f"{path.parent.name}/{path.stem} {name}"
    check = load_check(str(path), name, {})
    limits = Limits(max_states=STATES, timeout=SECONDS)
    options = Options(reduce=NONE, limits=limits, threads=1, engine="native")
    made, full = explore_with_growing_capacities(check, options, VERDICTS, None, None)
    if full.stopped or full.undecided or not (full.exhaustive or full.fault):
        return None
    planning = {}
    for reduction in admitted(ALL):
        begun = time.process_time()
        reduction.analyse(made.system)
        planning[reduction.title] = time.process_time() - begun
    plan, explorer = choose(made.system, ALL, VERDICTS), Explorer(title, made.system, full)

    def runs(ways: Mapping[str, Keeps]) -> dict[str, Run]:
        return {n: explorer.run(part_of(plan, made.system, keeps)) for n, keeps in ways.items()}

    everything = explorer.run(part_of(plan, made.system, lambda system, part: part))
    without = explorer.run(NOTHING)
    return Measured(title, without, everything, runs(ALONE), runs(LACKING), planning)


def mean(ratios: Iterable[float]) -> str:
    """A geometric mean."""
    return f"{geometric_mean(list(ratios)):.2f}x"


def alone(rows: Sequence[Measured]) -> Table:
    """What each reduction brings by itself, and what its analysis costs."""
    lines = []
    for name in (*ALONE, EVERYTHING):
        runs = [(row.full, row.alone.get(name, row.reduced)) for row in rows]
        fewer = [full.states / run.states for full, run in runs]
        planning = sum(row.planning.get(name, sum(row.planning.values())) for row in rows)
        if name == EVERYTHING:
            planning = sum(sum(row.planning.values()) for row in rows)
        lines.append(
            (
                name,
                f"{sum(bool(run.used) for _, run in runs)}",
                f"{sum(ratio > 1 for ratio in fewer)}",
                mean(fewer),
                f"{max(fewer):.1f}x",
                mean(max(1, full.transitions) / max(1, run.transitions) for full, run in runs),
                f"{sum(run.states for _, run in runs):,}",
                number(sum(run.seconds for _, run in runs)),
                number(planning),
            )
        )
    full_states = sum(row.full.states for row in rows)
    seconds = sum(row.full.seconds for row in rows)
    lines.append(
        ("none", "0", "0", "1.00x", "1.0x", "1.00x", f"{full_states:,}", number(seconds), "0")
    )
    headings = ("alone", "used in", "fewer in", "fewer states", "at most", "fewer transitions")
    return Table(
        f"Each reduction alone, {len(rows)} checks",
        (*headings, "states", "search s", "planning s"),
        lines,
    )


def lacking(rows: Sequence[Measured]) -> Table:
    """What would be lost with each reduction, and with each part of one."""
    lines = []
    for name in LACKING:
        runs = [(row.lacking[name], row.reduced) for row in rows]
        more = [without.states / run.states for without, run in runs]
        lines.append(
            (
                name,
                f"{sum(ratio > 1 for ratio in more)}",
                f"{sum(ratio < 1 for ratio in more)}",
                mean(more),
                f"{max(more):.1f}x",
                mean(max(1, w.transitions) / max(1, run.transitions) for w, run in runs),
                f"{sum(without.states for without, _ in runs):,}",
                number(sum(without.seconds for without, _ in runs)),
            )
        )
    headings = ("all without", "more in", "fewer in", "more states", "at most")
    return Table(
        f"All reductions but one, {len(rows)} checks",
        (*headings, "more transitions", "states", "search s"),
        lines,
    )


def largest(rows: Sequence[Measured]) -> Table:
    """The checks with the most states, under each reduction alone."""
    chosen = sorted(rows, key=lambda row: -row.full.states)[:LARGEST]
    lines = [
        (row.check, *(f"{run.states:,}" for run in (row.full, *row.alone.values(), row.reduced)))
        for row in chosen
    ]
    return Table(f"States of the largest {len(lines)}", ("check", "none", *ALONE, "all"), lines)


@click.command()
@click.option("--every", default=4, type=click.IntRange(min=1), help="One check of so many [4].")
@click.option("--seconds", default=0.0, help="Begin no further check after so long [no limit].")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all of it here.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the tables there.")
def main(every: int, seconds: float, target: Path | None, page: Path | None) -> None:
    """Measure what each reduction brings and costs on the checks of the library."""
    paths = sorted(specs().rglob("*.bcast"))
    checks = [(p, n) for p in paths for n in finite_checks(p.read_text(encoding="utf-8"))][::every]
    rows, left_out, begun = list[Measured](), list[str](), time.monotonic()
    for path, name in checks:
        if seconds and time.monotonic() - begun > seconds:
            raise click.ClickException(f"{len(checks) - len(rows) - len(left_out)} are left")
        row = measured(path, name)
        click.echo(f"  {path.stem} {name}" + ("" if row else ": too large"))
        rows += [row] if row else []
        left_out += [] if row else [f"{path.stem} {name}"]
        if target is not None:
            target.write_text(json.dumps([asdict(one) for one in rows], indent=1) + "\n")
    tables = [alone(rows), lacking(rows), largest(rows)]
    click.echo("\n".join(table.text() for table in tables))
    if page is not None:
        what = f"One check of {every} in the library" if every > 1 else "All checks of the library"
        said = f"{what}; too large without reductions: {', '.join(left_out) or 'none'}."
        text = "\n\n".join((said, *(table.markdown() for table in tables)))
        into_page(page, text, BEGIN, END)


if __name__ == "__main__":
    main()
