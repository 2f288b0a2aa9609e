"""Reports an expression that can't be evaluated outside a step: in an initial value, or in a
property in some state.  The execution to that state is printed, where it is known."""

from __future__ import annotations

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.diagnostics.english import count
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.results.narrate import narrate
from checker.results.rerun import run_through
from checker.results.trace import Header
from checker.words.steps import headline

MOST = 40
"""The number of steps of an execution that are printed; of a longer one, the last steps are."""


def diagnosed(system: TransitionSystem, fault: RunFault) -> SpecError:
    """Returns the error ``fault``, with the state of ``system`` and the steps that lead there."""
    span = None
    message = f"{_where(fault)}: {fault.message}"
    if fault.place is not None:
        at = fault.place
        span = Span(at.file, at.line, at.column, at.line, at.column + 1)
        message += at.calls
    problem = SpecError((Diagnostic(fault.code, message, span),))
    if fault.states is not None and len(fault.states) > 1:
        run = run_through(system, fault.states)
        steps = narrate(system, run, None, Header("", system.name, "")).steps[1:]
        told = list(enumerate(map(headline, steps), start=1))[-MOST:]
        problem.add_note("\n".join(f"{number:>3}  {headline}" for number, headline in told))
    return problem


def _where(fault: RunFault) -> str:
    """Returns in which state ``fault`` occurred, in words."""
    if fault.states is None or len(fault.states) == 1:
        return "in the initial state"
    if not fault.states:
        return "in some state"
    return f"in a state after {count(len(fault.states) - 1, 'step')}"
