"""``bivalence list``: lists the protocols that come with the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from checker.cli import console

CHECK = re.compile(r"^\s*check\s+(\w+)\s+of\s+(\w+)", re.MULTILINE)
PROTOCOL = re.compile(r"^\s*protocol\s+(\w+)", re.MULTILINE)

INTERFACE = re.compile(r"^interface\s+(\w+)\s*\{(.*?)^\}", re.MULTILINE | re.DOTALL)
OPERATOR = re.compile(r"^\s*((?:request|indication)\s+\w+\(.*?\))", re.MULTILINE)
RETURN = re.compile(r"\breturns\s+(\w+\(.*?\))")

INTERFACES = "interfaces"
"""The folder of the interfaces that every spec sees; it holds no protocols to check."""


@click.command("list")
def list_specs() -> int:
    """List the specs and interfaces of the library."""
    from checker import resources

    folder = Path(resources.specs())
    files = sorted(f for f in folder.rglob("*.bcast") if f.parent.name != INTERFACES)
    if not files:
        console.print_line(f"no specs in {folder}")
        return 0
    console.print_line(f"{folder}:")
    for file in files:
        console.print_line("\n".join(_lines(folder, file)))
    console.print_line("\ninterfaces, visible in every spec:")
    for name, operators in interfaces(folder):
        console.print_line(f"  {name}: {', '.join(operators)}")
    return 0


def interfaces(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields the interfaces of the library in ``folder``, each with its requests and
    indications, those by which requests return last."""
    for file in sorted((folder / INTERFACES).glob("*.bcast")):
        for name, body in INTERFACE.findall(file.read_text(encoding="utf-8")):
            operators = [" ".join(operator.split()) for operator in OPERATOR.findall(body)]
            yield name, operators + [f"indication {by}" for by in RETURN.findall(body)]


def _lines(folder: Path, file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    yield ""
    yield f"{file.relative_to(folder)}  {_comment(text)}".rstrip()
    checks = CHECK.findall(text)
    for protocol in dict.fromkeys([*PROTOCOL.findall(text), *(of for _, of in checks)]):
        names = ", ".join(name for name, of in checks if of == protocol)
        yield f"  {protocol}: {names or 'no checks'}"


def _comment(text: str) -> str:
    """Returns the first paragraph of the comment that a spec starts with, if any."""
    said: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("//"):
            break
        words = stripped.lstrip("/").strip()
        if said and not words:
            break
        if words:
            said.append(words)
    return " ".join(said)
