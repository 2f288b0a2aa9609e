"""The house is as the documents say: lean start, nothing printed, no folder without tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "checker").rglob("*.py"))
DICTIONARIES = ("typed.py", "ir.py")  # one node type after another, to be read as a list
HEAVY = ("lark", "llvmlite", "numpy", "pyarrow", "rich", "jinja2", "pyspark")
HEAVY += ("checker.lang", "checker.engines", "checker.views")
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


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_prints_and_exits(path: Path) -> None:
    if path.is_relative_to(ROOT / "checker" / "cli"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "exit", "quit"}, f"line {node.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= (800 if path.name in DICTIONARIES else 450)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 80, node.name
    assert path.stem not in {"utils", "helpers", "common", "core", "manager"}


@pytest.mark.parametrize("document", sorted(DOCUMENTS))
def test_paths_named_in_documents_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    top = "checker|specs|grammar|tests|docs|benchmarks|scripts"
    named = re.findall(rf"`((?:{top})/[\w./-]*)`", text)
    for name in named:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("document", sorted(DOCUMENTS))
def test_links_between_documents_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in name or (ROOT / document).parent.joinpath(name).exists(), name


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
