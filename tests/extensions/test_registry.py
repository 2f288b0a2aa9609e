"""The registries: names in order, nothing imported before it is asked for, one meaning per name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.extensions.registry import Origin, Registry
from checker.extensions.tables import AUTO, DEFAULT, DEFINITION, ENGINES, EXPORTS, ON_CLUSTER
from tests.extensions.distributions import install

Patch = pytest.MonkeyPatch
THINGS = Registry("thing", "bivalence.test", {"own": "math:pi"}, reserved=("any",))


def refused(name: str) -> tuple[str, str]:
    with pytest.raises(SpecError) as why:
        THINGS.load(THINGS.origin(name))
    (diagnostic,) = why.value.diagnostics
    return diagnostic.code, diagnostic.message


@pytest.mark.parametrize("registry", [ENGINES, EXPORTS])
def test_what_travels_with_the_tool_is_there(registry: Registry) -> None:
    for name in registry.built_in:
        assert registry.load(registry.origin(name)) is not None


def test_the_engines_that_are_singled_out_are_there() -> None:
    assert {DEFAULT, DEFINITION, ON_CLUSTER} < ENGINES.built_in.keys()
    assert AUTO not in ENGINES.built_in


def test_names_are_in_order_and_nothing_is_imported_for_them(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    points = "[bivalence.test]\nzoo = thing:x\nape = thing:x\nown = thing:x\nany = thing:x\n"
    install(tmp_path, monkeypatch, "x = 1", points + "A b = thing:x\n", name="thing")
    assert THINGS.names() == ("own", "ape", "zoo")
    assert "thing" not in sys.modules
    assert THINGS.origin("ape") == Origin("ape", "thing:x", "thing 1.0")


def test_a_name_is_looked_up_through_attributes(tmp_path: Path, monkeypatch: Patch) -> None:
    module = "class Box:\n    inside = 7\n"
    install(tmp_path, monkeypatch, module, "[bivalence.test]\nx = deep:Box.inside\n", name="deep")
    assert THINGS.load(THINGS.origin("x")) == 7


def test_what_is_not_there() -> None:
    code, message = refused("nothing")
    assert (code, message) == ("E008", "unknown thing 'nothing'")


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("own", "can't be called 'own': the tool already uses that name"),
        ("any", "can't be called 'any': the tool already uses that name"),
        ("A b", "can't be called 'A b'"),
    ],
)
def test_names_that_nobody_may_have(
    claim: str, said: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    points = f"[bivalence.test]\n{claim} = claiming:x\n"
    install(tmp_path, monkeypatch, "x = 1", points, name="claiming")
    ask = THINGS.require_unclaimed if claim in ("own", "any") else THINGS.origin
    with pytest.raises(SpecError) as why:
        ask(claim)
    (diagnostic,) = why.value.diagnostics
    assert diagnostic.code == "E042"
    assert said in diagnostic.message


def test_what_is_raised_inside_the_tool_is_not_blamed_on_anybody() -> None:
    with pytest.raises(ZeroDivisionError), THINGS.blaming(Origin("own", "math:pi")):
        raise ZeroDivisionError
    with pytest.raises(SpecError), THINGS.blaming(Origin("x", "x:x", "other 1.0")):
        raise ZeroDivisionError
    with (
        pytest.raises(ZeroDivisionError),
        THINGS.blaming(Origin("x", "x:x", "other 1.0"), but=(ZeroDivisionError,)),
    ):
        raise ZeroDivisionError


def test_to_declare_engines_takes_none_of_their_libraries() -> None:
    program = (
        "import sys\n"
        "from checker.engines.registry import engine_of\n"
        "for name in ('reference', 'spark', 'symbolic'):\n"
        "    engine_of(name)\n"
        "print([m for m in ('llvmlite', 'z3', 'pyspark', 'pyarrow') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
