"""The properties of the library get the same verdicts when they are written in other ways: with all
runs, to a depth, with a budget of states, and with effects as steps of their own."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import copy
from hashlib import sha256

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import Spec, open_spec
from checker.language.syntax import typed
from checker.language.typecheck.types import BOOL
from checker.records import replace
from checker.resources import specs
from checker.results.answer import Limits
from checker.session.pipeline import run_check
from tests.agreement.test_equivalent_formulas import alike

WAYS = 2
"""Other ways in which each formula is written."""
REFUSED = {"N212", "N213", "N022", "N211"}
"""What is said of formulas that are not in a form that properties have; the original is."""
LIMITS: tuple[dict[str, int], ...] = ({}, {"max_depth": 2}, {"max_states": 40})


def small_checks() -> list[str]:
    """The checks of the library that take an instant, in the order of a digest of their names."""
    files = json.loads((specs() / "manifest.json").read_text("utf-8"))["files"]
    names = [
        f"{file}::{name}"
        for file, entry in files.items()
        for name, check in entry["checks"].items()
        if check["seconds"] == "instant"
        and check["verdicts"]
        and 0 < (check["states"] or 0) < 20_000
    ]
    return sorted(names, key=lambda name: sha256(name.encode()).digest())


CHECKS = small_checks()


class Rewriting:
    """Writes typed formulas in other ways."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def __call__(self, formula: typed.Expr) -> typed.Expr:
        parts: typed.Expr
        match formula:
            case typed.Operation(op="not" | "and" | "or" | "=>", args=args):
                parts = replace(formula, args=tuple(map(self, args)))
            case typed.Temporal(args=args):
                parts = replace(formula, args=tuple(map(self, args)))
            case typed.Quantified(body=body):
                parts = replace(formula, body=self(body))
            case _:
                parts = formula
        ways = list(self.ways(parts))
        return self.draw.choice(ways) if ways and self.draw.random() < 0.6 else parts

    def ways(self, f: typed.Expr) -> Iterator[typed.Expr]:
        """The same at the top: De Morgan's laws, dual operators, split and joined conjunctions.

        The order of operands is kept: the first one may keep an error of the second away."""
        match f:
            case typed.Temporal(op="always", args=(a,)):
                yield no(temporal("eventually", no(a)))
                yield temporal("always", f)
                match a:
                    case typed.Operation(op="and", args=args):
                        yield operation("and", *(temporal("always", arg) for arg in args))
                    case typed.Quantified(kind="forall", body=body) if not has_conditions(a):
                        yield replace(a, body=temporal("always", body))
            case typed.Temporal(op="eventually", args=(a,)):
                yield no(temporal("always", no(a)))
            case typed.Temporal(op="initially", args=(a,)):
                yield no(temporal("initially", no(a)))
            case typed.Temporal(op="~>", args=(a, b)):
                yield temporal("always", operation("=>", a, temporal("eventually", b)))
            case typed.Operation(op="and", args=args):
                yield no(operation("or", *map(no, args)))
            case typed.Operation(op="or", args=args):
                yield no(operation("and", *map(no, args)))
            case typed.Operation(op="=>", args=(a, b)):
                yield operation("or", no(a), b)
            case typed.Quantified(kind=kind, body=body):
                other = "exists" if kind == "forall" else "forall"
                yield no(replace(f, kind=other, body=no(body)))


def has_conditions(quantified: typed.Quantified) -> bool:
    return any(
        binder.where is not None or not isinstance(binder.domain, typed.Processes | typed.All)
        for binder in quantified.binders
    )


def operation(op: str, *args: typed.Expr) -> typed.Expr:
    return typed.Operation(BOOL, op, args, args[0].span)


def temporal(op: str, *args: typed.Expr) -> typed.Expr:
    return typed.Temporal(BOOL, op, args, args[0].span)


def no(formula: typed.Expr) -> typed.Expr:
    return operation("not", formula)


def asking(spec: Spec, check: typed.Check, definitions: tuple[typed.PropertyDef, ...]) -> Spec:
    """The file with only ``check``, which asks ``definitions``."""
    other = copy(spec)
    alone = replace(check, prove=definitions, expect=(), scenarios=(), chance=())
    other.module = replace(spec.module, checks=(alone,))
    return other


def compared(name: str, draw: random.Random) -> tuple[int, int]:
    """How many properties of a check were written otherwise with the same verdicts, and how many
    in a form that properties may not have."""
    file, _, check_name = name.partition("::")
    spec = open_spec(specs() / file)
    check = next(check for check in spec.module.checks if check.name == check_name)
    limits, fine = draw.choice(LIMITS), draw.random() < 0.25
    options = Options(engine="native", limits=Limits(**limits), explain=None, fine_steps=fine)
    same = refused = 0
    for definition in check.prove:
        rewriting = Rewriting(draw)
        definitions = [definition]
        for way in range(WAYS):
            other = replace(
                definition, name=f"{definition.name}_{way}", formula=rewriting(definition.formula)
            )
            definitions.append(other)
        try:
            report = run_check(asking(spec, check, tuple(definitions)), check_name, options)
        except SpecError as error:
            assert {found.code for found in error.diagnostics} <= REFUSED, (name, error)
            refused += 1
            continue
        verdicts = [v for v in report.verdicts if v.property.startswith(definition.name)]
        assert alike(verdicts), (
            name, limits, fine, [(v.property, v.word, v.reason) for v in verdicts],
            [d.formula for d in definitions],
        )  # fmt: skip
        same += len(definitions) - 1
    return same, refused


@pytest.mark.every
def test_some_properties_have_one_verdict_however_they_are_written() -> None:
    draw = random.Random(5)
    results = [compared(name, draw) for name in CHECKS[:8]]
    assert sum(same for same, _ in results) > 20, results


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_all_properties_have_one_verdict_however_they_are_written(seed: int) -> None:
    draw = random.Random(seed)
    results = [compared(name, draw) for name in CHECKS]
    assert sum(same for same, _ in results) > 2 * sum(refused for _, refused in results), results
