"""The library accepts no survivor that is no longer a mutant of its spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker import resources
from checker.language.mutation.mutants import mutants
from checker.mutate.acceptances import SUFFIX, read_acceptances

FILES = sorted(resources.specs().rglob(f"*{SUFFIX}"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_what_the_library_accepts_is_a_mutant(path: Path) -> None:
    spec = path.with_name(path.name.removesuffix(SUFFIX) + ".bcast")
    assert read_acceptances(spec, mutants(spec))
