"""Loads the check that a user names, with the environment that the settings give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.language.syntax import typed
from checker.records import replace

if TYPE_CHECKING:
    from checker.language.load import Spec


def read_spec(spec: Spec | str) -> Spec:
    """Returns the file ``spec``, read and typed; itself where it already is.

    Raises :class:`SpecError`, and :class:`checker.engines.budgets.BudgetExhausted` where the caller
    has opened a budget.
    """
    if not isinstance(spec, str):
        return spec
    from checker.language.load import open_spec

    with _reading(spec):
        return open_spec(spec)


def checks_in(spec: Spec | str) -> list[str]:
    """Returns the names of the checks of a file, in order; raises what :func:`read_spec` does."""
    return read_spec(spec).names


def load_check(spec: Spec | str, name: str | None, settings: Mapping[str, str]) -> typed.Check:
    """Returns the check ``name`` of ``spec`` (``None``: its only one), with ``settings`` applied;
    raises what :func:`read_spec` does."""
    spec = read_spec(spec)
    check = _find(spec, name)
    spec.declare(check)
    if not settings:
        return check
    from checker.instantiate.protocol.sizes import parameters
    from checker.language.typecheck.world_settings import world_of

    world = world_of(settings, parameters(check))
    if not world:
        return check
    with _reading(spec.path):
        return spec.check_in_world(check.name, world)


def is_parametric(spec: Spec | str, name: str | None, settings: Mapping[str, str]) -> bool:
    """Returns whether the check is about all sizes, and ``settings`` give it none; raises
    :class:`SpecError`."""
    every = load_check(spec, name, settings).every
    return bool(every) and not any(size in settings for size in every)


def parametrize(check: typed.Check) -> typed.Check:
    """Returns the check that requires of the systems of all sizes what ``check`` requires of one.

    ``n``, ``f`` and the protocol's parameters that are numbers have no value any more, except where
    it follows from others (``k = f + 1``, or a default that nothing replaces); bounds of faults
    that are numbers become ``f``, unless that follows from others.  What is assumed of them is what
    the protocol ``requires``.  A check about all sizes is returned unchanged.
    """
    if check.every:
        return check
    numbers = [p.name for p in check.protocol.parameters if isinstance(p.type, typed.Int)]
    given = {s.name: s.value for s in check.settings}
    unset = {p.name for p in check.protocol.parameters if p.default is not None} - given.keys()
    follow = {name for name, value in given.items() if not isinstance(value, typed.Literal)}
    every = tuple(name for name in ("n", *numbers, "f") if name not in unset | follow)
    return replace(
        check,
        settings=tuple(s for s in check.settings if s.name not in every),
        every=every,
        every_span=check.span,
        expect=tuple(replace(e, without=None) for e in check.expect if isinstance(e.value, str)),
        scenarios=(),
        crash=_free(check.crash, every),
        omission=_free(check.omission, every),
        byzantine=_free(check.byzantine, every),
    )


def _free(bound: typed.Expr | None, every: tuple[str, ...]) -> typed.Expr | None:
    """Returns ``f`` for a bound of faults that is a number, where ``f`` is one of ``every``."""
    if "f" not in every or not isinstance(bound, typed.Literal):
        return bound
    return typed.Param(bound.type, "f", bound.span)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Enforces budgets within the block, with some seconds of grace, since a short one is meant for
    what follows the reading; the error of a budget names ``path``, too."""
    try:
        with budgets.raising_when_exhausted(spare=budgets.GRACE):
            yield
    except budgets.BudgetExhausted as reached:
        reached.add_note(f"{path} was not read completely, so its checks are unknown")
        raise


def _find(spec: Spec, name: str | None) -> typed.Check:
    checks = spec.module.checks
    if name is None and len(checks) == 1:
        return checks[0]
    for check in checks:
        if check.name == name:
            return check
    raise no_such_check(spec.path, name, spec.names)


def no_such_check(path: str, name: str | None, known: list[str]) -> SpecError:
    """Returns the diagnostic (E002) for a check ``name`` that ``path``, with checks ``known``,
    lacks."""
    if not known:
        message, hint = f"{path} has no check", "add `check NAME of PROTOCOL { … }`"
    elif name is None:
        message, hint = f"{path} has several checks", f"name one: {', '.join(known)}"
    else:
        import difflib

        near = difflib.get_close_matches(name, known, 1)
        message = f"{path} has no check `{name}`"
        hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(known)}"
    return SpecError((Diagnostic("E002", message, hint=hint),))
