"""The house is as the documents say: lean start, nothing printed, no folder without tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "checker").rglob("*.py"))
HEAVY = ("lark", "llvmlite", "numpy", "pyarrow", "rich", "jinja2", "pyspark")
HEAVY += ("checker.language", "checker.engines", "checker.render")
TOP = ROOT.glob("*.md"), ROOT.glob("docs/**/*.md")
DOCUMENTS = [str(path.relative_to(ROOT)) for paths in TOP for path in paths]


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["check", "--help"], ["view", "--help"]]
)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    program = (
        "import sys\n"
        "from checker.cli.main import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit:\n"
        "    pass\n"
        f"loaded = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def calls_by_name(path: Path, names: set[str]) -> list[str]:
    """Returns where a module calls one of the built-in functions of these names."""
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in names):
        return []
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def is_one_match(function: ast.FunctionDef) -> bool:
    """Returns whether a function has a case for each kind of something, and does little before."""
    first, last = function.body[0], function.body[-1]
    return isinstance(last, ast.Match) and last.lineno - first.lineno < 15


def functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yields the functions in ``node``, wherever statements may stand."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.FunctionDef):
            yield part
        if isinstance(part, (ast.stmt, ast.match_case, ast.excepthandler)):
            yield from functions(part)


def too_large(path: Path) -> list[str]:
    """Returns the file, if it is too long or its name says nothing, and too long functions."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    found = [name] if text.count("\n") > 800 else []
    for node in functions(ast.parse(text)):
        assert node.end_lineno is not None
        if node.end_lineno - node.lineno >= (160 if is_one_match(node) else 80):
            found.append(f"{name}: {node.name}")
    unnamed = path.stem in {"utils", "helpers", "common", "core", "manager"}
    return [*found, f"{name}: its name"] if unnamed else found


def test_only_the_command_line_prints_and_exits() -> None:
    command_line = ROOT / "checker" / "cli"
    exported = ROOT / "checker" / "harness" / "runtime" / "run.py"  # a command of its own
    others = [
        path for path in SOURCES if not path.is_relative_to(command_line) and path != exported
    ]
    assert len(others) > 100
    assert any(calls_by_name(path, {"len"}) for path in others), "calls are found"
    assert [at for path in others for at in calls_by_name(path, {"print", "exit", "quit"})] == []


def test_rooms_stay_small() -> None:
    assert [large for path in SOURCES for large in too_large(path)] == []


def test_paths_named_in_documents_exist() -> None:
    top = "checker|specs|grammar|tests|docs|benchmarks|scripts"
    named = {
        (document, name)
        for document in DOCUMENTS
        for name in re.findall(
            rf"`((?:{top})/[\w./-]*)`", (ROOT / document).read_text(encoding="utf-8")
        )
    }
    assert named
    assert sorted(pair for pair in named if not (ROOT / pair[1]).exists()) == []


def test_links_between_documents_lead_somewhere() -> None:
    named = {
        (document, name)
        for document in DOCUMENTS
        for name in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", (ROOT / document).read_text(encoding="utf-8")
        )
        if "://" not in name
    }
    assert named
    broken = {pair for pair in named if not (ROOT / pair[0]).parent.joinpath(pair[1]).exists()}
    assert sorted(broken) == []


def test_every_module_at_the_top_is_in_the_table_of_folders() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for path in (ROOT / "checker").iterdir():
        if (path / "__init__.py").is_file():
            assert f"`checker/{path.name}/`" in table
        elif path.suffix == ".py" and path.name != "__init__.py":
            assert f"`checker/{path.name}`" in table


def test_documents_name_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert version in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_test_folder_holds_tests() -> None:
    for folder in sorted((ROOT / "tests").rglob("*")):
        if folder.is_dir() and folder.name != "__pycache__" and list(folder.glob("*.py")):
            assert list(folder.glob("test_*.py")) or folder.name == "strategies", folder


def test_no_two_modules_of_tests_have_one_name() -> None:
    """Without packages pytest can import only one of them."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, times in names.items() if times > 1]
