"""Rows have to say which request or indication they are, where a property depends on that."""

from __future__ import annotations

from checker.audit.columns import Kind, roles_of
from checker.audit.engine import Engine
from checker.audit.processes import EVENTS
from checker.audit.questions import Question
from checker.audit.relations import col
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.syntax.typed import Interface


def require_roles(engine: Engine, questions: list[Question], interface: Interface) -> None:
    """Raises :class:`SpecError` (E105) with the first row that is any request or indication, where
    one of ``questions`` is about some of the interface's and not about others."""
    if "operator" not in engine.columns:
        return
    for kind in (Kind.REQUEST, Kind.INDICATION):
        all_ = {role.name for role in roles_of(interface) if role.kind is kind}
        named = [{r.name for r in q.roles if r.kind is kind} for q in questions]
        if all(not some or some == all_ for some in named):
            continue
        unnamed = EVENTS.where((col("kind") == int(kind)) & col("operator").is_null())
        first = engine.rows(unnamed.group("process", pos=("min", "pos")))
        if first.num_rows:
            ((file, row),) = engine.places(first.slice(0, 1))
            what = "a request" if kind is Kind.REQUEST else "an indication"
            message = f"this row does not say which {kind.name.lower()} it is"
            listed = ", ".join(f"`{name}`" for name in sorted(all_))
            hint = f"{interface.name} has several: `kind` has to name {what} of it"
            place = Span(file, row, 1, row, 1) if row else None
            raise SpecError((Diagnostic("E105", message, place, listed, hint),))
