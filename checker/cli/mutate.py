"""``bivalence mutate``: whether the checks of a spec notice that it is changed."""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from checker.cli import console
from checker.cli.cluster_options import CONF, MASTER, simple_cluster
from checker.cli.document_options import JSON_OUT, unusable_document, write_json, writing_errors
from checker.cli.errors import UNKNOWN
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.parallel import JOBS
from checker.cli.points import BUDGET, FRESH, HTML, Clock, Keeper, options_for, require_writable
from checker.cli.settings import MAX_STATES, MEMORY, TIMEOUT
from checker.formats.kinds import MUTATIONS_KIND
from checker.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from checker.engines.cluster import Cluster
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.language.mutation.mutants import Mutant
    from checker.mutate.mutant_tasks import Asked, Judged, MutantTask
    from checker.mutate.shares import Pace
    from checker.mutate.world_mutants import WorldTask
    from checker.results.mutation import MutantResult, Mutation
    from checker.results.verdict import Report
    from checker.sweep.local import Work

    _Task = TypeVar("_Task", MutantTask, WorldTask)

VACUOUS = 4
"""The exit code if there are no mutants."""
REFUSED = {
    "worlds": ("properties", "show", "score_at_least", "since", "every_check", "html_out"),
    "properties": ("worlds", "show", "score_at_least", "every_check", "html_out"),
}
"""Options that say nothing of worse worlds, and of changed properties."""


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE[::CHECK]")
@click.option("--sample", type=click.IntRange(min=1), metavar="K", help="Draw K of the mutants.")
@click.option(
    "--seed",
    "drawn_by",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of --sample.",
)
@click.option(
    "--since",
    metavar="REVISION",
    help="Make only mutants in lines that have changed since this git revision.",
)
@click.option(
    "--every-check",
    is_flag=True,
    help="Run every check on each mutant, even after one has killed it: shows which properties"
    " notice nothing, and which are enough.",
)
@click.option(
    "--world",
    "worlds",
    is_flag=True,
    help="Change the worlds of the checks instead: more crashes, losses, late messages, … Where"
    " nothing fails, no check needs what was assumed.",
)
@click.option(
    "--properties",
    is_flag=True,
    help="Change the properties instead: which stronger ones hold as well, and which parts no run"
    " of a check distinguishes.",
)
@click.option(
    "--show",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Show one mutant: how the text differs, and the runs that kill it.",
)
@click.option(
    "--score-at-least",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the score is lower.",
)
@click.option("--verbose", "-v", is_flag=True, help="List all mutants, not just survivors.")
@TIMEOUT
@MAX_STATES
@MEMORY
@BUDGET
@JOBS
@MASTER
@CONF
@FRESH
@HTML
@JSON_OUT
@quiet_option("Omit progress.")
@writing_errors(unusable_document(MUTATIONS_KIND))
def mutate(name: str, quiet: bool, **given: Any) -> int:
    """Change a spec in many places, and see which changes its checks notice.

    A mutant is the spec with one fault: without a statement or a guard, with another comparison,
    with two statements swapped, … It is killed if a check decides other than it expects. A mutant
    that survives is a fault that nobody would notice (docs/mutation.md). --timeout, --max-states
    and --memory limit each check. Exit codes: 0, 1 if the score is too low, 3 if it is not known,
    4 if there is no mutant.
    """
    from checker.cli.settings import targets

    require_writable(given)
    kinds = [kind for kind in ("worlds", "properties") if given[kind]]
    for kind in kinds:
        for option in REFUSED[kind]:
            if given[option] is not None and given[option] is not False:
                flag = option.removesuffix("_out").replace("_", "-")
                raise click.UsageError(f"--{flag} is not about {kind}")
    found = targets([name], given["timeout"], given["memory"])
    options, cluster = options_for(given), simple_cluster(given["master"], given["conf"])
    budget, seed = given["budget"], given["drawn_by"]
    how = _How(options, given["jobs"], cluster, budget, seed, quiet, Keeper(_finish, given))
    session = _Session(found[0][0], [check for _, check in found], how)
    if given["since"] is not None:
        session.restrict(given["since"])
    if given["worlds"]:
        report = session.judge_worlds(given["sample"])
    elif given["properties"]:
        report = session.judge_properties(given["sample"])
    elif given["show"] is not None:
        return session.show(given["show"])
    else:
        report = session.judge(given["sample"], every_check=given["every_check"])
    return _finish(report, given)


def _finish(report: Mutation, given: dict[str, Any]) -> int:
    """Shows and writes a report as the options ask; returns the exit code."""
    if given["json_out"] != "-":
        from checker.render.terminal.mutants import mutation_view

        console.print_view(mutation_view(report, verbose=given["verbose"]))
    if given["html_out"]:
        from checker.render.html.mutants import mutants_page

        text = Path(report.file).read_text(encoding="utf-8")
        console.write_file(given["html_out"], mutants_page(report, text))
    code = _code(report, given["score_at_least"])
    if given["json_out"] is not None:
        from checker.formats import json_format

        documents = [json_format.report_to_json(report)]
        write_json(given["json_out"], json_format.document(MUTATIONS_KIND, documents, [], code))
    return code


def _code(report: Mutation, wanted: float | None) -> int:
    if report.stopped is not None:
        return UNKNOWN
    if not report.drawn:
        lines = f"the lines that have changed since {report.since} have no mutant"
        nothing = "there is nothing to change: the file declares no protocol of its own"
        console.print_note(nothing if report.since is None else lines)
        return VACUOUS
    if wanted is None:
        return 0
    if report.score is None:
        console.print_note("no score: no mutant was killed or survived")
        return UNKNOWN
    if 100 * report.score < wanted:
        console.print_note(f"the score is below {wanted:g} %")
        return 1
    return 0


def _draw(numbers: list[int], sample: int | None, seed: int) -> tuple[list[int], int | None]:
    """Returns those of ``numbers`` that are judged, and the seed, if some are drawn."""
    if sample is None or sample >= len(numbers):
        return numbers, None
    return sorted(random.Random(seed).sample(numbers, sample)), seed


class _How(Struct, frozen=True):
    """How mutants are judged: ``jobs`` at a time, or on a ``cluster``; ``budget``: seconds for all
    of it; ``seed``: by which mutants, and their order, are drawn."""

    options: Options
    jobs: int | None
    cluster: Cluster | None
    budget: float | None
    seed: int
    quiet: bool
    keeper: Keeper


class _Session:
    """The mutants of a spec, and the checks that judge them."""

    def __init__(self, spec: Spec, checks: list[str], how: _How) -> None:
        """``checks``: those that are asked.  Where they are not all, the mutants are those of the
        protocols that they depend on."""
        from checker.language.mutants import is_mutant
        from checker.language.mutation.mutants import checks_of, mutants
        from checker.mutate.acceptances import read_acceptances
        from checker.session.load import is_parametric

        whole = len(checks) == len(spec.names)
        checks = [each for each in checks if not is_mutant(each)]
        if not checks:
            raise click.UsageError("that check is a mutant: name the check that it is in")
        self._spec, self._how = spec, how
        self._options = replace(how.options, threads=None, strips=False)
        self._clock, self._name = Clock(how.budget), os.urandom(8).hex()
        self._late: list[str] = []
        path = Path(spec.path)
        self._left_out = [each for each in checks if is_parametric(spec, each, {})]
        self._checks = [each for each in checks if each not in self._left_out]
        if not self._checks:
            raise click.UsageError(f"{spec}: all checks are for all n; mutants need one with sizes")
        every = mutants(path)
        self._accepted = read_acceptances(path, every)
        self._about = {
            protocol: {
                check: variant
                for check, variant in checks_of(path, protocol).items()
                if check in self._checks
            }
            for protocol in {mutant.protocol for mutant in every}
        }
        self._mutants = [each for each in every if whole or self._about[each.protocol]]
        self._since: str | None = None
        self._lines: frozenset[int] | None = None

    def restrict(self, revision: str) -> None:
        """Leaves the mutants in lines that have changed since a git revision; raises
        :class:`SpecError` (E157, E158)."""
        from checker.mutate.changed_lines import changed_lines

        self._lines = changed_lines(Path(self._spec.path), revision)
        self._since = revision

    def _numbers(self, mutants: Sequence[Mutant]) -> list[int]:
        """Returns the numbers of the mutants that may be judged."""
        lines = self._lines
        return [n for n, each in enumerate(mutants, 1) if lines is None or each.touches(lines)]

    def judge(self, sample: int | None, *, every_check: bool) -> Mutation:
        """Returns the report on all mutants, or on ``sample`` of them."""
        from checker.mutate.mutant_tasks import judge_mutant, lost_mutant
        from checker.results.mutation import Mutation
        from checker.sweep.local import Work

        asked, properties = self._originals(first_steps=True)
        known = self._numbers(self._mutants)
        numbers, drawn = _draw(known, sample, self._how.seed)
        tasks = self._tasks(asked, numbers, every_check=every_check)
        report = Mutation(
            self._spec.path, tuple(self._checks), len(known), len(tasks), drawn,
            every_check, properties, (), tuple(self._left_out), since=self._since,
            undecided=tuple(self._late),
            searched={each.name: each.depth for each in asked if each.depth is not None},
        )  # fmt: skip
        work = Work(judge_mutant, lost_mutant)
        return self._judged(report, tasks, work, "mutant", self._with_acceptance)

    def judge_worlds(self, sample: int | None) -> Mutation:
        """Returns the report on the worse worlds of the checks, or on ``sample`` of them."""
        from checker.mutate.world_mutants import WorldTask, judge_world, lost_world, worlds_of
        from checker.results.mutation import Mutation
        from checker.sweep.local import Work

        originals, properties = self._originals()
        asked = {each.name: each for each in originals}
        checks = [each for each in self._spec.module.checks if each.name in asked]
        every = [mutant for check in checks for mutant in worlds_of(check)]
        numbers, drawn = _draw([*range(1, len(every) + 1)], sample, self._how.seed)
        tasks = [
            WorldTask(n, every[n - 1], self._spec, asked[every[n - 1].check], self._options)
            for n in numbers
        ]
        report = Mutation(
            self._spec.path, tuple(self._checks), len(every), len(tasks), drawn, False, properties,
            (), tuple(self._left_out), worlds=True, undecided=tuple(self._late),
        )  # fmt: skip
        return self._judged(report, tasks, Work(judge_world, lost_world), "world")

    def judge_properties(self, sample: int | None) -> Mutation:
        """Returns the report on the changed properties of the checks and of their mutants, or on
        ``sample`` of them."""
        from checker.mutate.mutant_tasks import MutantTask, judge_mutant, lost_mutant
        from checker.mutate.property_mutants import property_mutants
        from checker.results.mutation import Mutation
        from checker.sweep.local import Work

        names = {name for name in self._spec.names if name.partition(".")[0] in self._checks}
        checks = [check for check in self._spec.module.checks if check.name in names]
        changed = property_mutants(Path(self._spec.path), checks)
        known = self._numbers([each.mutant for each in changed])
        numbers, drawn = _draw(known, sample, self._how.seed)
        asked, properties = self._originals([check.name for check in checks])
        tasks = [
            MutantTask(
                self._name, n, each.mutant, self._spec,
                tuple(a for a in asked if a.name in each.checks), self._options, False,
                each.mutant.protocol, unasked=tuple(c for c in self._late if c in each.checks),
            )
            for n, each in enumerate(changed, 1)
            if n in numbers
        ]  # fmt: skip
        report = Mutation(
            self._spec.path, tuple(self._checks), len(known), len(tasks), drawn, False, properties,
            (), tuple(self._left_out), since=self._since, properties=True,
            undecided=tuple(self._late),
        )  # fmt: skip
        return self._judged(report, tasks, Work(judge_mutant, lost_mutant), "change")

    def _originals(
        self, checks: Sequence[str] | None = None, *, first_steps: bool = False
    ) -> tuple[list[Asked], tuple[str, ...]]:
        """Runs the checks on the spec as it is: returns what they take, and their properties; the
        quickest check comes first, and those in which something holds before all others; with
        ``first_steps`` also what is known of those that are not decided.  Raises
        :class:`SpecError` (E127) where one is not as expected, or nothing is known."""
        from checker.mutate.mutant_tasks import Asked
        from checker.mutate.shares import Pace, ask_originals
        from checker.results.verdict import Word
        from checker.worlds.assumptions import require_green

        def ask(check: str, seconds: float | None) -> Report:
            return self._report(self._spec, check, seconds)

        wanted = self._checks if checks is None else checks
        pace = Pace()
        reports, late = ask_originals(wanted, self._how.budget, ask)
        self._late = [*late]
        searched = self._levels(pace) if first_steps else []
        for undecided in () if reports or searched else late.values():
            if undecided is not None:
                require_green(undecided, "E127", shared=self._options.limits.timeout is None)
        asked = [Asked(each.check, each.distinct_states, each.seconds) for each in reports]
        names = {verdict.property: None for each in reports for verdict in each.verdicts}
        names |= {name: None for each in searched for name in each.safe}
        broken = {r.check for r in reports if all(v.word is Word.VIOLATED for v in r.verdicts)}
        found = (*asked, *searched)
        return sorted(found, key=lambda each: (each.name in broken, each.seconds)), tuple(names)

    def _levels(self, pace: Pace) -> list[Asked]:
        """Searches the first levels of the checks that were not decided, and returns those that
        can judge mutants with them; raises :class:`SpecError` (E127)."""
        from checker.cli.progress import Meter
        from checker.mutate.levels import ask_levels

        if not self._late or self._how.budget is None:
            return []
        spec, budget = self._spec, self._how.budget
        with Meter(f"{spec}: first steps", silent=self._how.quiet) as meter:
            found = ask_levels(spec, self._late, self._options, pace, budget, meter)
        known = {each.name for each in found}
        self._late = [each for each in self._late if each not in known]
        return found

    def _report(self, spec: Spec, check: str, seconds: float | None = None) -> Report:
        from checker.cli.progress import Meter
        from checker.worlds.points import stored_report, with_less_time

        with Meter(f"{spec}::{check}", silent=self._how.quiet) as meter:
            return stored_report(spec, check, with_less_time(self._options, seconds), meter)

    def _tasks(
        self, asked: Sequence[Asked], numbers: Sequence[int], *, every_check: bool
    ) -> list[MutantTask]:
        from checker.mutate.mutant_tasks import MutantTask

        tasks = []
        for number in numbers:
            mutant = self._mutants[number - 1]
            about = self._about[mutant.protocol]
            may = tuple(replace(a, variant=about[a.name]) for a in asked if a.name in about)
            task = MutantTask(
                self._name, number, mutant, self._spec, may, self._options, every_check
            )
            tasks.append(replace(task, unasked=tuple(c for c in self._late if c in about)))
        return tasks

    def _judged(
        self,
        report: Mutation,
        tasks: Sequence[_Task],
        work: Work[_Task, Judged],
        what: str,
        accept: Callable[[MutantResult], MutantResult] = lambda result: result,
    ) -> Mutation:
        """Returns ``report`` with what becomes of each of ``tasks``, and why not all were judged,
        if so; ``accept`` adds whether a survivor is accepted."""
        from checker.cli.parallel import jobs_and_threads, run_in_order
        from checker.cli.progress import Count
        from checker.mutate.shares import judge_in_shares

        how = self._how
        at_once, threads = jobs_and_threads(how.jobs, len(tasks), None)
        ready = [replace(task, options=replace(task.options, threads=threads)) for task in tasks]
        left = self._clock.left

        def judge(some: Sequence[_Task]) -> Iterator[Judged]:
            with (
                Count("mutate", len(some), what, silent=how.quiet) as meter,
                closing(run_in_order(some, at_once, work, meter, str, how.cluster)) as outcomes,
            ):
                yield from outcomes

        found: dict[int, MutantResult] = {}

        def reached() -> str:
            return f"{len(found)} of {len(tasks)} reached"

        def so_far(stopped: str | None) -> Mutation:
            results = tuple(found[number] for number in sorted(found))
            return replace(report, mutants=results, stopped=stopped, seconds=self._clock.seconds)

        def work_through() -> None:
            for result in judge_in_shares(ready, left, how.seed, at_once, judge):
                found[result.number] = accept(result)
                how.keeper.keep(so_far, reached())

        return so_far(self._clock.run(work_through, reached))

    def _with_acceptance(self, result: MutantResult) -> MutantResult:
        from checker.mutate.acceptances import key_of
        from checker.results.mutation import Fate

        reason = self._accepted.get(key_of(self._mutants[result.number - 1]))
        if reason is None or result.fate is not Fate.SURVIVED:
            return result
        return replace(result, reason=reason, accepted=True)

    def show(self, number: int) -> int:
        """Prints how a mutant differs, and the report of each check that kills it."""
        from checker.cli.reporting import Display, print_report
        from checker.diagnostics import SpecError
        from checker.language.load import Spec
        from checker.mutate.mutant_tasks import kills_of

        if number > len(self._mutants):
            raise click.UsageError(f"there are {len(self._mutants)} mutants")
        mutant = self._mutants[number - 1]
        console.print_line(f"mutant {number}: {mutant.protocol}, {mutant.what}")
        for line in _difference(mutant):
            console.print_line(f"  {line}")
        self._options = replace(self._options, explain=10.0)
        try:
            Spec(mutant.text, self._spec.path)
        except SpecError as refused:
            console.print_line("stillborn:")
            for found in refused.diagnostics:
                console.print_line(f"  {found.code}: {found.message}")
            return 0
        for task in self._tasks(self._originals()[0], [number], every_check=True):
            for asked in task.asked:
                text = mutant.variants.get(asked.variant, mutant.text)
                try:
                    report = self._report(Spec(text, self._spec.path), asked.name)
                except SpecError:
                    console.print_line(f"{asked.name}: there is no such variant of the mutant")
                    continue
                if [*kills_of(report)]:
                    print_report(report, Display(quiet=self._how.quiet))
                else:
                    console.print_line(f"{asked.name}: as expected")
        return 0


def _difference(mutant: Mutant) -> Iterator[str]:
    """Yields the lines that differ, but for those that every mutant lacks."""
    import difflib

    from checker.language.mutation.source_text import Source

    source = Source(mutant.path)
    before = source.edited(source.kept(mutant.protocol)).splitlines()
    lines = difflib.unified_diff(before, mutant.text.splitlines(), n=0, lineterm="")
    for line in lines:
        if line[0] in "+-" and not line.startswith(("---", "+++")):
            yield line
