"""Plans a sweep: a task for each cell that can be run, and the reason why the others can't."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from checker.diagnostics import SpecError, option_span
from checker.engines import budgets
from checker.instantiate.protocol.sizes import (
    compute,
    describe_sizes,
    evaluate_size,
    given_value,
    number_or_text,
    parameters,
    require_effect_of_n,
    require_sizes,
)
from checker.instantiate.protocol.walk import nodes
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.language.syntax.stack import layers_of, stands_for
from checker.language.typecheck.world_settings import BOUNDS, WORDS, world_of
from checker.records import replace
from checker.session import pipeline
from checker.session.pipeline import Options
from checker.sweep.grid import Grid, wrong

NEVER_MEANT = ("E030", "C004", "C010", "N002")
"""Codes of errors that are mistakes at all values of the other axes, not in a single cell."""


class CellTask(Struct, frozen=True):
    """One cell, ready to be run anywhere: ``check`` is loaded already, and needs no file."""

    cell: int
    path: str
    check: typed.Check
    options: Options

    @property
    def number(self) -> int:
        """The number of the cell."""
        return self.cell

    @property
    def seconds(self) -> float | None:
        """Its time limit."""
        return self.options.limits.timeout


class Cell(Struct, frozen=True):
    """A point of the grid.

    ``parameters``: those of the check there, as a report shows them, or those that are set where it
    is ``impossible`` (a reason); ``within``: whether the protocol's ``requires`` condition holds
    (``None`` where there is none, or it can't be evaluated).
    """

    number: int
    settings: Mapping[str, str]
    parameters: Mapping[str, str | int]
    within: bool | None = None
    impossible: str = ""


class SweepPlan(Struct, frozen=True):
    """All cells of ``grid`` for one check; ``tasks`` has those that can be run.

    ``named``: the names of all parameters that a cell can have; ``properties``: the names of the
    properties checked.  ``notes``: remarks on what is likely a mistake.
    """

    path: str
    check: typed.Check
    options: Options
    grid: Grid
    cells: tuple[Cell, ...]
    tasks: tuple[CellTask, ...]
    notes: tuple[str, ...] = ()

    @property
    def parameter_names(self) -> tuple[str, ...]:
        given = (*self.grid.names, *self.options.settings)
        more = (name for cell in self.cells if not cell.impossible for name in cell.parameters)
        return tuple(dict.fromkeys((*given, *more)))

    @property
    def properties(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.check.prove)


def plan(spec: Spec | str, name: str | None, grid: Grid, options: Options) -> SweepPlan:
    """Makes the tasks of all cells of the check ``name`` of ``spec`` (``None``: its only one).

    ``options.settings`` hold for all cells, ``options.limits`` for each.  Raises :class:`SpecError`
    for mistakes that no cell can intend: an unknown parameter or kind of link.
    """
    with budgets.within(options.limits.timeout, options.limits.memory):
        spec = pipeline.read_spec(spec)
    base = _loaded(spec, name, options, options.settings)
    _require_known(base, grid, options)
    worlds = _worlds(spec, base, grid, options)
    cells, tasks = [], []
    for number, values in enumerate(grid.settings(), 1):
        settings = {**options.settings, **values}
        loaded = worlds[_key(base, settings)]
        cell, check = _cell(number, values, settings, loaded)
        cells.append(cell)
        if check is not None:
            asked = replace(options, settings=settings, strips=False)
            tasks.append(CellTask(number, spec.path, check, asked))
    return SweepPlan(
        spec.path, base, options, grid, tuple(cells), tuple(tasks), tuple(_idle(base, grid))
    )


def _loaded(
    spec: Spec, name: str | None, options: Options, settings: Mapping[str, str]
) -> typed.Check:
    """Loads the check with ``settings``, within the limits of one cell."""
    with budgets.within(options.limits.timeout, options.limits.memory):
        return pipeline.load_check(spec, name, settings)


def _require_known(check: typed.Check, grid: Grid, options: Options) -> None:
    both = sorted(set(grid.names) & set(options.settings))
    if both:
        raise wrong(f"`{both[0]}` is an axis, and --set gives it a value")
    require_sizes(check, {*grid.names, *options.settings})
    if "n" in grid.names:
        require_effect_of_n(check)
    world = WORDS.keys() - parameters(check)
    for name in grid.names:
        for value in grid.values(name):
            if name not in world:
                given_value(check, name, value, "--grid")


_Key = tuple[tuple[str, str], ...]


def _key(check: typed.Check, settings: Mapping[str, str]) -> _Key:
    return tuple(world_of(settings, parameters(check)).items())


def _worlds(
    spec: Spec, check: typed.Check, grid: Grid, options: Options
) -> dict[_Key, typed.Check | SpecError]:
    """Returns the check for each point of the grid, or the reason why there is no such system."""
    worlds: dict[_Key, typed.Check | SpecError] = {}
    for values in grid.settings():
        settings = {**options.settings, **values}
        key = _key(check, settings)
        if key in worlds:
            continue
        try:
            worlds[key] = _loaded(spec, check.name, options, settings)
        except SpecError as problem:
            if any(d.code in NEVER_MEANT for d in problem.diagnostics):
                raise _at_grid(problem, values) from None
            worlds[key] = problem
    return worlds


def _at_grid(problem: SpecError, values: Mapping[str, str]) -> SpecError:
    """Returns ``problem`` with what is wrong with one of the grid's ``values`` located there."""
    from_options = {
        option_span("--set", n, v): option_span("--grid", n, v) for n, v in values.items()
    }
    return SpecError(
        tuple(
            replace(d, span=from_options[d.span]) if d.span in from_options else d
            for d in problem.diagnostics
        )
    )


def _cell(
    number: int,
    values: Mapping[str, str],
    settings: Mapping[str, str],
    loaded: typed.Check | SpecError,
) -> tuple[Cell, typed.Check | None]:
    """Returns a cell, and its check where it can be run."""
    given = {name: number_or_text(value) for name, value in settings.items()}
    try:
        if isinstance(loaded, SpecError):
            raise loaded
        sizes = compute(loaded, settings)
        requires = loaded.protocol.requires
        within = None if requires is None else bool(evaluate_size(requires, sizes.values))
    except SpecError as problem:
        return Cell(number, values, given, impossible=reason_of(problem)), None
    return Cell(number, values, given | describe_sizes(loaded, sizes), within), loaded


def reason_of(problem: SpecError) -> str:
    """Returns the error message in one line."""
    return problem.diagnostics[0].message


def _idle(check: typed.Check, grid: Grid) -> Iterator[str]:
    """Yields remarks where ``f`` is an axis and changes nothing."""
    if "f" not in grid.names or set(BOUNDS) & set(grid.names):
        return
    below = (stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given))
    protocols = [replace(p, requires=None) for p in (check.protocol, *below) if p is not None]
    asked = replace(check, protocol=protocols[0], given=())
    if not any(isinstance(n, typed.Param) and n.name == "f" for n in nodes((asked, *protocols))):
        yield (
            f"`f` has no effect in `{check.name}`: use the axis `crash={'..'.join(_ends(grid))}` to"
            " bound crashes"
        )


def _ends(grid: Grid) -> tuple[str, str]:
    numbers = sorted(int(value) for value in grid.values("f"))
    return str(numbers[0]), str(numbers[-1])
