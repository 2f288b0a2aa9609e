"""What a spec declares, as JSON: its checks with their worlds, and digests of what they ask."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from checker.diagnostics import SpecError
from checker.formats.json_records import to_data
from checker.instantiate.protocol.sizes import compute
from checker.language.library import prelude
from checker.language.syntax import typed
from checker.language.typecheck.origins import normal_form
from checker.results.origin import origin_of
from checker.results.problems import problem_of
from checker.session.load import read_spec
from checker.session.world_line import world_line

DIGITS = 12
"""The length of a digest, in hexadecimal digits."""
WORLD, EXPECTED, PROTOCOL = "world", "expected", "protocol"
"""The names of the digests that are of no property."""


def print_checks(path: str) -> int:
    """Prints the document of the file ``path``; returns 0."""
    try:
        spec = read_spec(path)
        checks = [_described(check, spec.module.checks) for check in spec.module.checks]
        problems = [warning for check in spec.module.checks for warning in check.warnings]
    except SpecError as wrong:
        checks, problems = [], list(wrong.diagnostics)
    found = {"checks": checks, "diagnostics": [to_data(problem_of(each)) for each in problems]}
    sys.stdout.buffer.write(msgspec.json.encode(found))
    sys.stdout.flush()
    return 0


def _described(check: typed.Check, every: Iterable[typed.Check]) -> dict[str, Any]:
    sizes = None if check.every else compute(check, {})
    world = world_line(check, sizes)
    parameters = () if sizes is None else tuple(sorted(sizes.values.items()))
    origins = [
        (d.name, origin_of(d.origin, (d.span.file, d.span.line)))
        for d in check.prove
    ]  # fmt: skip
    expected = sorted((e.what, str(e.value)) for e in check.expect)
    return {
        "check": check.name,
        "protocol": check.protocol.name,
        "world": world,
        "properties": [definition.name for definition in check.prove],
        "origins": [f"{name}: {'' if o is None else o.source}" for name, o in origins],
        "judges": _judges(check),
        "unproved": _unproved(check, every),
        "hides": {name: o.hides for name, o in origins if o is not None and o.hides},
        "not_asked": [to_data(each) for each in check.unasked],
        "digests": {
            WORLD: _digest((world, parameters, check.allow_unused)),
            EXPECTED: _digest(expected),
            PROTOCOL: _digest(normal_form(check.protocol.roles)),  # type: ignore[arg-type]
            **{d.name: _digest(normal_form(d.formula)) for d in check.prove},
        },
    }


def _unproved(check: typed.Check, every: Iterable[typed.Check]) -> list[str]:
    """Returns the properties that the protocol of ``check`` declares, and that no check asks of
    it."""
    alike = [other for other in every if other.protocol.name == check.protocol.name]
    asked = {definition.name for other in (check, *alike) for definition in other.prove}
    return [own.name for own in check.protocol.properties if own.name not in asked]


def _judges(check: typed.Check) -> dict[str, list[str]]:
    """Returns the properties of the protocol's library interface that ``check`` leaves out, by the
    name of the interface; empty if it asks them all."""
    over = check.protocol.implements
    known = None if over is None else prelude().interfaces.get(over.name)
    if known is None:
        return {}
    asked = {definition.name for definition in check.prove}
    left = [definition.name for definition in known.properties if definition.name not in asked]
    return {known.name: left} if left else {}


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:DIGITS]
