"""Choices of handlers: marks that note them, and their values in the lines of a log."""

from __future__ import annotations

from collections.abc import Iterable

from checker.conform.lines import Line
from checker.conform.patterns import matches
from checker.model import ir
from checker.model.build import author_of
from checker.model.interpreter import Event
from checker.model.ir import Block, Expr, MarkInfo, MarkKind, Stmt, TransitionSystem
from checker.records import replace


def noting_choices(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` with a mark behind each `choose` of a handler that has a name: the
    process, and the value."""
    noting = _Noting(system)
    actions = tuple(
        action if action.actor is None else replace(action, body=noting.block(action.body, action))
        for action in system.actions
    )
    return replace(system, actions=actions, marks=(*system.marks, *noting.found))


def choices_of(system: TransitionSystem, events: Iterable[Event]) -> tuple[Event, ...]:
    """Returns the choices among ``events``."""
    return tuple(e for e in events if system.marks[e.mark].kind is MarkKind.CHOICE)


def says_choices(lines: Iterable[Line], choices: tuple[Event, ...]) -> bool:
    """Returns whether ``choices``, made in one step, agree with ``lines``."""
    return not any(contradicted(line, choices) for line in lines if line.chosen)


def contradicted(line: Line, choices: tuple[Event, ...]) -> list[str]:
    """Returns the names in ``line`` whose values differ from every one of ``choices``."""
    return [
        name
        for name, patterns in line.chosen
        if not any(
            pattern.mark == choice.mark and all(map(matches, pattern.args, choice.args))
            for pattern in patterns
            for choice in choices
        )
    ]


class _Noting:
    """Adds marks to a system.  ``found``: the new marks; their numbers follow the system's."""

    def __init__(self, system: TransitionSystem) -> None:
        self.found: list[MarkInfo] = []
        self._system = system

    def block(self, block: Block, action: ir.Action) -> Block:
        """Returns ``block`` with marks behind its choices."""
        noted: list[Stmt] = []
        for stmt in block:
            match stmt:
                case ir.If(_, then, otherwise):
                    both = self.block(then, action), self.block(otherwise, action)
                    noted.append(replace(stmt, then=both[0], otherwise=both[1]))
                case ir.For(body=body) | ir.While(body=body):
                    noted.append(replace(stmt, body=self.block(body, action)))
                case ir.Choose(name) if author_of(name).isidentifier() and name[0] != "_":
                    noted += [stmt, self._mark(stmt, action.actor)]
                case _:
                    noted.append(stmt)
        return tuple(noted)

    def _mark(self, stmt: ir.Choose, actor: Expr | None) -> Stmt:
        assert actor is not None
        type_, name = ir.domain_item(stmt.domain), author_of(stmt.name)
        info = MarkInfo(MarkKind.CHOICE, name, ("process", name), (actor.type, type_))
        if info not in self.found:
            self.found.append(info)
        number = len(self._system.marks) + self.found.index(info)
        return ir.Mark(number, (actor, ir.Local(type_, stmt.name)))
