"""The decided values: the indication or the set that a user names, in the system of a check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.engines.capabilities import Feature
from checker.engines.options import Options
from checker.engines.registry import require
from checker.engines.valence import MOST_VALUES, USUAL
from checker.instantiate.assemble import instantiate
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import parameters
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name
from checker.language.typecheck.scope import suggestion
from checker.language.typecheck.world_settings import world_of
from checker.model import ir
from checker.model.build import author_of
from checker.model.ir import Apply, Const, Expr, Op, Quant
from checker.model.tree import nodes, rewritten
from checker.model.types import BOOL, Type, Value, universe
from checker.properties.formula import ask
from checker.records import replace
from checker.results.show_values import show
from checker.session.load import load_check, read_spec

PROPERTY = "some_value_is_decided"
"""The property that a run violates in which nothing is ever decided."""
SENTENCE = "Some value is eventually decided."
VALUE = "decided_value"
"""The name of the value in it."""
_NAME = re.compile(r"[A-Za-z_]\w*")


class Question(Struct, frozen=True):
    """A check that asks whether anything is ever decided; ``outcome``: what, as the user says it;
    ``path``: of its file."""

    path: str
    check: typed.Check
    outcome: str
    options: Options

    def make(self, capacities: Mapping[str, int]) -> Instantiated:
        """Returns the system of the check."""
        fine = self.options.fine_steps
        return instantiate(self.check, self.options.settings, ask, capacities=capacities, fine=fine)


def question_of(
    spec: Spec | str, name: str | None, options: Options, of: str | None, *, free_inputs: bool
) -> Question:
    """Returns the question what ``of`` (an indication, or a set in the language; ``None``:
    ``decide``) may still become in a check.

    ``free_inputs``: for all inputs, not only those that the check writes.  Raises
    :class:`SpecError`: what loading does, E007 where the engine does not compute valence, E060
    where the check has no decisions, E061 where ``of`` names none of its indications.
    """
    require(options.engine, Feature.VALENCE)
    spec = read_spec(spec)
    check = load_check(spec, name, options.settings)
    outcome = of or USUAL
    where = _place(outcome) if of else check.span
    formula = _formula(check, outcome, of is None, where)
    world = world_of(options.settings, parameters(check))
    asking = spec.check_asking(
        check.name, world, (PROPERTY, SENTENCE, formula), where, free_inputs=free_inputs
    )
    return Question(spec.path, asking, outcome, options)


def _place(outcome: str) -> Span:
    text = f"--of {outcome}"
    return Span(text, 0, len("--of") + 2, 0, len(text) + 1)


def _formula(check: typed.Check, outcome: str, usual: bool, where: Span) -> str:
    """Returns the property that something is decided at some time."""
    if not _NAME.fullmatch(outcome):
        return f"eventually exists {VALUE} in ({outcome}): true"
    interface = check.protocol.implements
    indications = () if interface is None else interface.indications
    known = {i.name: i for i in indications if i.fields}
    if outcome in known:
        history = history_name(outcome)
        return f"eventually exists who in Proc, {VALUE} in {history}(who): true"
    if usual:
        message = f"`{check.protocol.name}` has no indication `{USUAL}`, so nothing is decided"
        hint = 'write `--of INDICATION`, or a set: `--of "p1.x"`'
        if known:
            names = ", ".join(f"`--of {n}`" for n in known)
            hint = f"name one of its indications: `bivalence valence` with {names}"
        raise SpecError((Diagnostic("E060", message, where, hint=hint),))
    message = f"`{check.protocol.name}` has no indication `{outcome}` with a value"
    expected = "an indication of the check's interface, or a set expression"
    raise SpecError((Diagnostic("E061", message, where, expected, suggestion(outcome, known)),))


# ---- the system -------------------------------------------------------------------------------


class Decisions(Struct, frozen=True):
    """The values that can be decided: as shown, and the condition that each is."""

    names: tuple[str, ...]
    conditions: tuple[Expr, ...]


def decisions_of(made: Instantiated, question: Question) -> Decisions:
    """Returns what can be decided in a system; raises :class:`SpecError` (E062) where that is
    nothing, or too much."""
    prop = next(p for p in made.system.properties if p.asked == PROPERTY)
    found = ((whole, n) for whole in prop.propositions for n in nodes(whole) if _binds_value(n))
    whole, inner = next(found, (None, None))
    if whole is None or inner is None:
        raise _unfit(question, f"`{question.outcome}` is the same in every run")
    item = ir.domain_item(inner.domain)
    values: list[Value] = []
    for value in universe(item):
        values.append(value)
        if len(values) > MOST_VALUES:
            shown = f"`{question.outcome}` has more than {MOST_VALUES} values"
            raise _unfit(question, shown)
    conditions = tuple(_equals(whole, inner, item, value) for value in values)
    return Decisions(tuple(show(item, value) for value in values), conditions)


def _binds_value(node: object) -> TypeGuard[Quant]:
    return isinstance(node, Quant) and author_of(node.name) == VALUE


def _equals(whole: Expr, inner: Quant, item: Type, value: Value) -> Expr:
    """Returns ``whole`` for one value of what its inner quantifier binds."""
    same = Apply(BOOL, Op.EQ, (ir.Local(item, inner.name), Const(item, value)))
    found: Expr = rewritten(whole, lambda n: replace(n, body=same) if _binds_value(n) else None)
    return found


def _unfit(question: Question, message: str) -> SpecError:
    hint = 'name a smaller set, such as `--of "{ x for p in Proc, x in decided(p) }"`'
    return SpecError((Diagnostic("E062", message, _place(question.outcome), hint=hint),))
