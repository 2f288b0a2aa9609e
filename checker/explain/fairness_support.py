"""The fairness on which a liveness verdict depends: handlers without whose fairness it changes.

A handler whose fairness constraint stays enabled is eventually taken.  Where that is intended it is
progress; where it is an accident, such as a death written as `upon condition alive`, the accident
happens to every process, and what it excuses holds.  Nearly every handler of a protocol is needed
for something, so nothing is queried unless some handler sets what one of several alternatives of
the goal reads, and sends nothing; such handlers come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.explain.counterfactual_queries import ExplainingBudget, explore_in_time
from checker.model import ir
from checker.model.ir import Action, ActionKind, MarkKind, Property, TransitionSystem, VariableKind
from checker.model.transforms.drop_fairness import drop_fairness
from checker.model.tree import nodes
from checker.records import replace
from checker.resources import display_name
from checker.results.answer import Answer
from checker.results.events import At
from checker.results.rerun import rerun
from checker.results.verdict import Report, RestsOn, Support, Word

_OWN = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
_HEARD = (MarkKind.SEND, MarkKind.INDICATION, MarkKind.PERFORM, MarkKind.REQUEST)


class _Handler(Struct, frozen=True):
    """The actions of one handler, those of all instances of a layer."""

    text: str
    at: At
    actions: tuple[Action, ...]


def with_supports(report: Report, system: TransitionSystem, clock: ExplainingBudget) -> Report:
    """Returns ``report``, in which liveness verdicts that hold name the handlers on whose fairness
    they depend, as far as there is time: not where one query takes longer than what is left."""
    names = {v.property for v in report.verdicts if v.word is Word.HOLDS}
    props = tuple(
        p for p in system.properties if p.kind is ir.PropertyKind.LIVENESS and p.asked in names
    )
    handlers = _handlers(system)
    excusing = [h for h in handlers if any(_excuse(system, h, p) for p in props)]
    if not excusing or report.seconds + report.liveness_seconds > clock.seconds_left:
        return report
    handlers.sort(key=lambda handler: handler not in excusing)
    found = _find_rests(system, props, handlers, clock)
    verdicts = tuple(
        replace(verdict, rests_on=found[verdict.property]) if verdict.property in found else verdict
        for verdict in report.verdicts
    )
    return replace(report, verdicts=verdicts)


def _handlers(system: TransitionSystem) -> list[_Handler]:
    """Returns the handlers of processes that have a fairness constraint, in the order of the
    source."""
    found: dict[ir.SourceLocation, list[Action]] = {}
    for action in system.actions:
        own = action.kind in (ActionKind.STEP, ActionKind.TIMEOUT)
        if own and action.place is not None and action.promised != ir.FALSE:
            found.setdefault(action.place, []).append(action)
    return [
        _Handler(
            _text(system, actions[0]), At(display_name(p.file), p.line, p.column), tuple(actions)
        )
        for p, actions in sorted(found.items(), key=lambda each: (each[0].line, each[0].column))
    ]


def _text(system: TransitionSystem, action: Action) -> str:
    """Returns the handler as written; a timer by its name, for several may wait for it."""
    for node in nodes(action.body):
        if isinstance(node, ir.Mark) and action.kind is ActionKind.STEP:
            info = system.marks[node.mark]
            if info.kind is MarkKind.HANDLER:
                return info.text
    return action.name


def _find_rests(
    system: TransitionSystem,
    props: tuple[Property, ...],
    handlers: list[_Handler],
    clock: ExplainingBudget,
) -> dict[str, RestsOn]:
    """Returns for each property the handlers without whose fairness some execution violates it."""
    twin = drop_fairness(
        system, props, tuple(frozenset(a.name for a in handler.actions) for handler in handlers)
    )
    supports: dict[str, list[Support]] = {prop.name: [] for prop in props}
    complete = True
    for number, handler in enumerate(handlers):
        without = twin.without(number)
        answer = explore_in_time(without, clock)
        if isinstance(answer, str):
            complete = False
            break
        for prop in without.properties:
            if prop.name in answer.violations:
                rerun(without, answer.violations[prop.name], prop)
                excuse = _excuse(system, handler, _property_named(props, prop.name))
                supports[prop.name].append(Support(handler.text, handler.at, excuse))
            elif not _says_so(answer, prop):
                complete = False
    return {prop.asked: RestsOn(tuple(supports[prop.name]), complete) for prop in props}


def _says_so(answer: Answer, prop: Property) -> bool:
    """Returns whether no execution violates ``prop``, and not only none was found."""
    return answer.exhaustive and prop.name not in answer.undecided


def _property_named(props: tuple[Property, ...], name: str) -> Property:
    return next(prop for prop in props if prop.name == name)


def _excuse(system: TransitionSystem, handler: _Handler, prop: Property) -> str:
    """Returns the alternative of the property's goal of which the handler sets what it reads, where
    it sends nothing."""
    if not all(_quiet(system, action) for action in handler.actions):
        return ""
    changed = {name for action in handler.actions for name in _assigned_variables(action)}
    ways = (way.text for way in prop.ways if changed & {n.variable for n in _reads(way.holds)})
    return next(ways, "")


def _quiet(system: TransitionSystem, action: Action) -> bool:
    """Returns whether all that ``action`` does is to change state of the protocol."""
    marks = (system.marks[n.mark].kind for n in nodes(action.body) if isinstance(n, ir.Mark))
    kinds = {v.name: v.kind for v in system.variables}
    return not any(kind in _HEARD for kind in marks) and all(
        kinds[name] in _OWN for name in _assigned_variables(action)
    )


def _assigned_variables(action: Action) -> Iterator[str]:
    for node in nodes(action.body):
        if isinstance(node, ir.Assign) and node.target.is_state:
            yield node.target.name


def _reads(expr: ir.Expr) -> Iterator[ir.Read]:
    return (node for node in nodes(expr) if isinstance(node, ir.Read))
