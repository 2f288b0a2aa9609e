"""Which check a user means, in the world that their settings say."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from checker.diagnostics import Diagnostic, SpecError
from checker.lang import typed
from checker.lang.world_settings import world_of
from checker.system.instantiate.sizes import parameters


def checks_in(path: str) -> list[str]:
    """Names of the checks of a file, in order; raises :class:`SpecError`."""
    return [check.name for check in _module(path).checks]


def load_check(path: str, name: str | None, settings: Mapping[str, str]) -> typed.Check:
    """The check ``name`` of ``path`` (``None``: its only one), in the world that ``settings`` say.

    Raises :class:`SpecError`.
    """
    check = _find(path, name)
    world = world_of(settings, parameters(check))
    if not world:
        return check
    from checker.lang.load import load_in_world

    return load_in_world(path, check.name, world)


def _module(path: str) -> typed.Module:
    from checker.lang.load import load

    return load(path)


def _find(path: str, name: str | None) -> typed.Check:
    checks = _module(path).checks
    if name is None and len(checks) == 1:
        return checks[0]
    for check in checks:
        if check.name == name:
            return check
    raise no_such_check(path, name, [c.name for c in checks])


def no_such_check(path: str, name: str | None, known: list[str]) -> SpecError:
    """The diagnostic (E002) for a check ``name`` that ``path``, with checks ``known``, lacks."""
    if not known:
        message, hint = f"{path} has no check", "add `check NAME of PROTOCOL { … }`"
    elif name is None:
        message, hint = f"{path} has several checks", f"name one: {', '.join(known)}"
    else:
        near = difflib.get_close_matches(name, known, 1)
        message = f"{path} has no check `{name}`"
        hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(known)}"
    return SpecError((Diagnostic("E002", message, hint=hint),))
