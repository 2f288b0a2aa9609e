"""Assembles the transition system of a check, in a fixed order of passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checker.instantiate import world
from checker.instantiate.bounds import asked_of_states, within_bounds
from checker.instantiate.effects import between_handlers, start_order
from checker.instantiate.effects import coarse as effects_coarse
from checker.instantiate.effects import fine as effects_fine
from checker.instantiate.faults import (
    byzantine,
    crash_points,
    crashes,
    disks,
    joint_stops,
    pause_points,
    pauses,
    stable_storage,
)
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.network import connections, cuts, links, partitions
from checker.instantiate.network.counted_messages import counted_messages
from checker.instantiate.oracles import detectors, oracles
from checker.instantiate.protocol import (
    actions,
    activities,
    coverage_marks,
    ghosts,
    handler_budgets,
    initial,
    receptions,
    returns,
    stack,
    yields,
)
from checker.instantiate.protocol.sizes import compute
from checker.instantiate.protocol.unfold import unfold
from checker.instantiate.protocol.walk import expressions_of
from checker.instantiate.sizes import Sizes
from checker.instantiate.time import timing
from checker.instantiate.views import with_view
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model.build import start_numbers
from checker.model.ir import Property, TransitionSystem
from checker.model.transforms.any_order import in_any_order
from checker.model.transforms.simplify_liveness import simplify_liveness
from checker.model.verify import verify

Ask = Callable[[World, tuple[typed.PropertyDef, ...]], tuple[Property, ...]]
"""Compiles properties, declaring the histories they need; see :mod:`checker.properties`."""


def instantiate(
    check: typed.Check,
    overrides: Mapping[str, str],
    ask: Ask,
    *,
    capacities: Mapping[str, int] | None = None,
    fine: bool = False,
    coverage: bool = False,
) -> Instantiated:
    """Returns the finite system of ``check``.

    ``overrides`` replace the check's settings; ``capacities`` are those that earlier attempts found
    too small; ``fine`` makes every effect a step of its own; ``coverage`` marks branches and crash
    points.  Raises :class:`SpecError` for parameters that make no sense.
    """
    start_numbers()
    sizes = compute(check, overrides)
    check = ghosts.without_unread(unfold(check, sizes.values))
    fine = fine and not check.pausing  # a pause falls between the effects that would be steps
    made = stack.start(check, sizes, capacities or {}, fine)
    made.coverage = coverage
    if made.may_pause or (made.queues and ghosts.has_any(check)):
        first = _drafted(check, sizes, capacities or {}, fine, ask)
        made.whole = made.may_pause and not first.pauses_inside
        if made.queues:  # their type must be declared first, with the effects of ghost code
            made.effects.update((code.name, code) for code in first.ghost_code)
    properties = _declare(made, ask)
    _draft(made)
    system = effects_fine.lower_effects(made) if fine else effects_coarse.lower_effects(made)
    finished = TransitionSystem(
        name=f"{check.protocol.name}::{check.name}",
        processes=sizes.processes,
        variables=tuple(made.variables.values()),
        init=system.init,
        actions=timing.urgent(made, system.actions),
        monitor=tuple(made.monitor),
        properties=properties,
        marks=tuple(made.marks),
        justice=oracles.justice(made),
    )
    finished = within_bounds(made, finished, made.bounds)
    timing.require_safety(made, properties)
    finished = with_view(made, finished)
    finished = simplify_liveness(in_any_order(finished))
    verify(finished)
    early = (f"{i.path}{name}" for i in links.senders(made) for name in counted_messages(made, i))
    return Instantiated(finished, sizes, dict(made.grown), made.uses_shared, tuple(sorted(early)))


def _drafted(
    check: typed.Check, sizes: Sizes, capacities: Mapping[str, int], fine: bool, ask: Ask
) -> World:
    """Returns a complete draft of the world: it tells which ghost code and which pauses there are,
    before they are declared."""
    first = stack.start(check, sizes, capacities, fine)
    _declare(first, ask)
    _draft(first)
    return first


def _declare(made: World, ask: Ask) -> tuple[Property, ...]:
    """Declares all variables, effects and marks; compiles the properties over these variables."""
    formulas = tuple(e for p in made.check.observed for e in expressions_of(p.formula))
    world.register_handlers(made)
    coverage_marks.register_messages(made)
    receptions.find(made, formulas)
    initial.declare_state(made)
    handler_budgets.declare(made)
    joint_stops.declare(made)
    byzantine.declare(made)
    partitions.declare(made)
    cuts.declare(made)
    yields.declare(made)
    activities.declare(made)
    links.declare(made)
    connections.declare(made)
    timing.declare(made)
    detectors.declare(made)
    oracles.declare(made)
    if returns.returning(made):
        actions.declare_clients(made)
        returns.declare(made)
    properties = ask(made, (*made.check.prove, *asked_of_states(made.check)))
    made.bounds = tuple(p for p in properties if p.is_bound)
    crashes.declare(made)
    pauses.declare(made)
    pause_points.declare(made)
    if made.fine:
        effects_fine.declare(made)
        properties = between_handlers.properties_between_handlers(made, properties)
    return properties


def _draft(made: World) -> None:
    """Drafts the initial block and every action."""
    initial.initialise(made)
    made.init.extend(stable_storage.save_initial(made))
    made.init.extend(disks.save_initial(made))
    actions.conditions(made)
    actions.clients(made)
    links.deliveries(made)
    byzantine.forgeries(made)
    partitions.splits(made)
    cuts.draft(made)
    connections.draft(made)
    timing.draft(made)
    detectors.draft(made)
    oracles.draft(made)
    crashes.recoveries(made)
    yields.go_on(made)
    pause_points.resume(made)
    starts = list(made.starts)
    crashes.crashes(made)
    if made.check.crash_points in ("inside", "everywhere"):
        crash_points.add(made)
    pause_points.add(made, starts)
    made.init.extend(start_order.starts(made))
