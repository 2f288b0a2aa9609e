"""Dispatches a check to a search, or to a proof where it is parametric."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.engines.options import Options
    from checker.language.load import Spec
    from checker.results.answer import Listener
    from checker.results.verdict import Report


def answer_check(
    spec: Spec | str, name: str | None, options: Options, listener: Listener | None = None
) -> Report:
    """Returns the report on the check ``name`` of the file ``spec`` (``None``: its only one).

    A check ``for all n, T, …`` is proved, unless the settings of ``options`` give it sizes.  Raises
    what :func:`checker.session.pipeline.run_check` does.
    """
    from checker.engines import budgets
    from checker.session import pipeline

    with budgets.within(options.limits.timeout, options.limits.memory):
        spec = pipeline.read_spec(spec)
        about_all = pipeline.is_parametric(spec, name, options.settings)
    if not about_all:
        return pipeline.run_check(spec, name, options, listener)
    return for_every_size(spec, name, options, listener)


def for_every_size(
    spec: Spec | str,
    name: str | None,
    options: Options,
    listener: Listener | None = None,
    *,
    tight: bool = False,
    synthesize: bool = False,
) -> Report:
    """Returns the report of the proof for all sizes; raises :class:`SpecError`, also where z3 is
    missing.

    ``tight``: less is assumed of the sizes, to see what fails then; ``synthesize``: conditions and
    thresholds that are sufficient are computed.
    """
    from checker.engines.solver import require_solver

    _require_general(options)
    require_solver()
    from checker.proving.parametric import prove_every

    return prove_every(spec, name, options, listener, tight=tight, synthesize=synthesize)


def _require_general(options: Options) -> None:
    """Raises :class:`SpecError` (E007) where states are requested, of which a proof has none, or
    finer steps, of which nothing is proved."""
    from checker.diagnostics import Diagnostic, SpecError

    given = {
        "--checkpoint": options.checkpoint,
        "--resume": options.resume,
        "--states-out": options.states_out,
        "--fine-steps": options.fine_steps or None,
    }
    for option, value in given.items():
        if value is not None:
            message = f"a check for all sizes is proved, and `{option}` needs one size"
            hint = f"leave out `{option}`, or set sizes: `--set n=4`"
            raise SpecError((Diagnostic("E007", message, hint=hint),))
