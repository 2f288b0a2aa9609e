"""No function, class or constant of a module is left over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_FOR_THE_TOOL = {
    "checker.engines.registry.table": "docs/engines.md has what it prints",
    "checker.editor.pytest_plugin.pytest_addoption": "pytest calls it",
    "checker.editor.pytest_plugin.pytest_collect_file": "pytest calls it",
    **{
        f"checker.harness.template_of_hooks.{name}": "a harness's user fills it in"
        for name in (
            "OWN_COPIES",
            "LOGGED",
            "HELD",
            "PORTS",
            "START",
            "nodes",
            "command",
            "ready",
            "log",
            "request",
        )
    },
    "checker.harness.runtime.run.main": "an exported `run.py` calls it",
    "checker.language.load.load": "tests read specs with it",
    "checker.language.load.load_text": "tests read specs with it",
    "checker.api.audit": "users of Python call it",
    "checker.api.simulate": "users of Python call it",
    "checker.api.state_graph": "users of Python call it",
    "checker.api.sweep": "users of Python call it",
    "checker.language.notations.markdown": "docs/notations.md has what it prints",
    "checker.properties.buchi_automaton.refuting": "tests make properties with it",
    "checker.reductions.registry.register": "another module enters a reduction with it",
    "checker.reductions.table.markdown": "docs/reductions.md has what it prints",
    "scripts.build_tables.BuildTables": "hatchling calls it",
    "scripts.reference_pages.write_commands": "the site",
    "scripts.reference_pages.write_formats": "the site",
}
"""Names that only documents and tests have a use for."""

Name = tuple[str, str]


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def defined(statement: ast.stmt) -> set[str]:
    """What a statement at the top of a module defines, but what a decorator takes over."""
    match statement:
        case ast.FunctionDef(name=name, decorator_list=[]) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            found = [node for target in targets for node in ast.walk(target)]
            return {node.id for node in found if isinstance(node, ast.Name)}
        case ast.AnnAssign(target=ast.Name(name)):
            return {name}
    return set()


def used(module: str, tree: ast.Module) -> Iterator[Name]:
    """The names that a module uses outside of their definitions, each with where it is from."""
    origins: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package = f"{module.rpartition('.')[0]}." if node.level else ""
            whole = package + node.module
            yield from ((whole, alias.name) for alias in node.names)
            origins |= {a.asname or a.name: f"{whole}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            origins |= {a.asname or a.name: a.name for a in node.names}
    for statement in tree.body:
        own = defined(statement)
        for node in ast.walk(statement):
            match node:
                case ast.Name(name, ast.Load()) if name not in own:
                    yield module, name
                case ast.Attribute(ast.Name(base), name) if base in origins:
                    yield origins[base], name
                case ast.Constant(str(text)) if text.startswith("checker.") and ":" in text:
                    where, _, name = text.partition(":")  # as entry points are written
                    yield where, name


def whole_of(tree: ast.Module) -> set[str]:
    """The modules all of whose names a module has: ``from … import *``."""
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {node.module or "" for node in found if node.names[0].name == "*"}


def test_every_name_at_the_top_of_a_module_is_used() -> None:
    paths = [*(ROOT / "checker").rglob("*.py"), *(ROOT / "scripts").rglob("*.py")]
    names, uses = set[Name](), set[Name]()
    wholes: dict[str, set[str]] = {}
    for path in paths:
        module, tree = module_of(path), ast.parse(path.read_text(encoding="utf-8"))
        names |= {(module, name) for part in tree.body for name in defined(part)}
        uses |= {*used(module, tree)}
        wholes[module] = whole_of(tree)
    uses |= {(inner, name) for module, name in uses for inner in wholes.get(module, ())}
    left_over = {f"{m}.{n}" for m, n in names - uses if not n.startswith("__")}
    assert left_over == set(NOT_FOR_THE_TOOL), "used nowhere, or used after all"
