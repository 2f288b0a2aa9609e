"""Makes the system of a check, or takes the one that was made of the same check before."""

from __future__ import annotations

from collections.abc import Mapping

from checker import kept
from checker.engines import budgets
from checker.engines.options import Options
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model.transforms.drop_fairness import without_fairness
from checker.records import replace


def instantiated(
    check: typed.Check, options: Options, capacities: Mapping[str, int] | None = None
) -> Instantiated:
    """Returns the system of ``check`` with these ``capacities``; with estimated ones where there
    are none."""

    def make(capacities: Mapping[str, int]) -> Instantiated:
        from checker.instantiate.assemble import instantiate
        from checker.properties.formula import ask

        with budgets.raising_when_exhausted():
            made = instantiate(
                check,
                options.settings,
                ask,
                capacities=capacities,
                fine=options.fine_steps,
                coverage=options.coverage,
            )
        system = without_fairness(made.system, options.unfair)
        return made if system is made.system else replace(made, system=system)

    def made() -> Instantiated:
        if capacities is not None:
            return make(capacities)
        from checker.instantiate.capacity_estimation import estimate_capacities

        return estimate_capacities(make)

    settings = sorted(options.settings.items())
    sizes = None if capacities is None else sorted(capacities.items())
    how = (settings, options.fine_steps, options.coverage, sizes, options.unfair)
    return kept.result(made, "system", check, how, of="system")
