"""ARCHITECTURE.md against the code: its picture is that of the imports, its table is complete."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
(PICTURE,) = re.findall(r"```mermaid\n(.*?)```", PAGE, re.DOTALL)
Arrows = set[tuple[str, str]]


@cache
def imports() -> frozenset[tuple[str, str]]:
    """What imports what among the packages and modules right below ``checker``: anywhere in a
    module, in functions and for types too, as the contract on layers counts it."""
    graph = grimp.build_graph("checker", cache_dir=None)
    packages = graph.find_children("checker")
    for package in packages:
        graph.squash_module(package)
    return frozenset(
        (one.removeprefix("checker."), other.removeprefix("checker."))
        for one in packages
        for other in graph.find_modules_directly_imported_by(one) & packages - {one}
    )


def reduced(arrows: Iterable[tuple[str, str]]) -> Arrows:
    """The arrows that no path of others implies: the transitive reduction of an acyclic graph."""
    found = set(arrows)
    below: dict[str, set[str]] = {}

    def reach(one: str) -> set[str]:
        if one not in below:
            below[one] = set()
            for source, target in found:
                if source == one:
                    below[one] |= {target} | reach(target)
        return below[one]

    def implied(one: str, other: str) -> bool:
        return any(a == one and b != other and other in reach(b) for a, b in found)

    return {(one, other) for one, other in found if not implied(one, other)}


def drawn() -> Arrows:
    """The arrows of the picture; ``a --> b & c`` is two."""
    found = re.findall(r"^ *(\w+) --> (.*)$", PICTURE, re.MULTILINE)
    return {(one, other) for one, others in found for other in others.split(" & ")}


def test_what_a_path_implies_is_left_out() -> None:
    assert reduced({("a", "b"), ("b", "c"), ("a", "c")}) == {("a", "b"), ("b", "c")}
    assert reduced({("a", "b"), ("a", "c")}) == {("a", "b"), ("a", "c")}


def test_the_picture_is_the_transitive_reduction_of_the_imports() -> None:
    wanted, there = reduced(imports()), drawn()
    lacking, wrong = sorted(wanted - there), sorted(there - wanted)
    assert not lacking + wrong, f"draw {lacking}, take away {wrong}"


def test_every_package_is_in_the_picture_once_and_in_the_table_once() -> None:
    packages = {
        p.stem if p.suffix else p.name
        for p in (ROOT / "checker").iterdir()
        if (p.suffix == ".py" and p.name != "__init__.py") or (p / "__init__.py").is_file()
    }
    nodes = re.findall(r"^    (\w+)$", PICTURE, re.MULTILINE)
    assert sorted(nodes) == sorted(packages)
    rows = re.findall(r"^\| `checker/(\w+)(?:/|\.py)` \| [^|]+ \|$", PAGE, re.MULTILINE)
    assert rows == nodes, "one line for each, in the order of the picture"


def test_files_named_in_the_table_exist() -> None:
    wrong = []
    for package, said in re.findall(r"^\| `checker/(\w+)/` \| ([^|]+) \|$", PAGE, re.MULTILINE):
        folder = ROOT / "checker" / package
        for name in re.findall(r"`([\w/]+\.py)`", said):
            if not ((folder / name).is_file() or (ROOT / name).is_file()):
                wrong += [] if [*folder.rglob(name)] else [f"{package}: {name}"]
    assert wrong == []


def test_no_module_lies_loose_beside_the_packages() -> None:
    loose = {path.name for path in (ROOT / "checker").glob("*.py")}
    alone = {"api.py", "polling.py", "processes.py", "records.py", "resources.py"}
    assert loose == {"__init__.py", *alone}


def test_the_picture_is_in_the_order_of_the_layers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert re.findall(r"^    (\w+)$", PICTURE, re.MULTILINE) == layers
