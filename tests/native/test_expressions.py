"""Every kind of expression and statement, against the interpreter, one transition deep."""

from __future__ import annotations

import random

import pytest

from checker.engines.native.codegen.fields import Mode
from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.search.search import Search
from checker.model import interpreter, ir
from checker.model.types import Type
from checker.results.answer import Limits, State
from tests.agreement.expressions import STATE_TYPES, WIDE_TYPES
from tests.agreement.generator import Generator

ROUNDS = 12


def _assigns(seed: int) -> ir.TransitionSystem:
    """One action for each type: its variable gets the value of a random expression."""
    draw = random.Random(seed)
    generator = Generator(lambda count: draw.randrange(count), safe=seed % 3 == 0)
    types: tuple[Type, ...] = (*STATE_TYPES, *WIDE_TYPES[:4])
    generator.variables = tuple(generator.variable(i, type_) for i, type_ in enumerate(types))
    actions = []
    for variable in generator.variables:
        target = ir.Target(variable.type, variable.name, True)
        body = (ir.Assign(target, generator.expr(variable.type, 3)),)
        actions.append(ir.Action(variable.name, ir.ActionKind.STEP, (), ir.TRUE, body, ir.TRUE))
    return ir.TransitionSystem(
        "expressions", (), generator.variables, (), tuple(actions), (), (), ()
    )


def _native_successors(system: ir.TransitionSystem, state: State, effort: Effort) -> set[State]:
    kernel = compile_image(build(system), effort, cache=False)
    search = Search(system, kernel, None, Limits(), 1, None)
    layout = kernel.image.layout
    search.store.add(layout.pack(state))
    search.store.open_level(1)
    search.sweep(0, Mode.SEARCH)
    crew, width = search.store.workers[0], layout.words
    words = crew.rows.words()
    rows = [words[i * width : (i + 1) * width] for i in range(crew.count)]
    return {layout.unpack(row) for row in rows}


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_expressions_have_the_values_that_the_interpreter_gives(seed: int, effort: Effort) -> None:
    system = _assigns(seed)
    (state,) = interpreter.initial_states(system)
    expected = {t.successor for t in interpreter.successors(system, state)} - {None}
    assert _native_successors(system, state, effort) == expected | {state}
