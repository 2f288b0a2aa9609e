"""What is given to the command line: one input for each number, always the same."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz import documents, specs
from tests.fuzz.running import run

BUDGET = ["--timeout", "3", "--memory", "700M", "--explain", "0.5"]
SPEC, TRACE = "spec.bcast", "trace.json"
COMMANDS: tuple[list[str], ...] = (
    ["check", SPEC, *BUDGET],
    ["check", SPEC, *BUDGET],
    ["check", SPEC, *BUDGET],
    ["check", SPEC, *BUDGET, "--reduce", "none", "--json", "r.json", "--trace-out", "t.json"],
    ["check", SPEC, *BUDGET, "--fine-steps"],
    ["check", SPEC, *BUDGET, "--engine", "reference"],
    ["check", SPEC, *BUDGET, "--engine", "symbolic", "--depth", "4"],
    ["check", SPEC, *BUDGET, "--checkpoint", "kept", "--itf-out", "t.itf.json"],
    ["check", SPEC, *BUDGET, "--states-out", "states", "--max-states", "500"],
    ["check", SPEC, *BUDGET, "--all", "2", "--coverage", "--steps"],
    ["prove", SPEC, "--budget", "3"],
    ["show", SPEC, "--timeout", "3"],
    ["show", SPEC, "--timeout", "3", "--system"],
    ["simulate", SPEC, "--timeout", "3"],
    ["valence", SPEC, "--timeout", "3", "--memory", "700M", "--html", "v.html", "--json", "v.json"],
    ["sweep", SPEC, "--grid", "n=1..2", "--timeout", "3", "--jobs", "1", "--out", "rows", "-q"],
    ["test-cases", SPEC, "--out", "cases", "--timeout", "3", "--max-states", "500"],
    ["test", SPEC, "--timeout", "3", "--memory", "700M", "--junit", "j.xml", "--sarif", "s.json"],
    ["test", SPEC, "--timeout", "3", "--memory", "700M", "--jobs", "1", "--github"],
    ["fmt", "--check", SPEC],
)
VIEWS: tuple[list[str], ...] = (
    ["view", TRACE],
    ["view", TRACE, "--steps", "--source"],
    ["view", TRACE, "--html", "page.html", "--without-faults"],
    ["explain", TRACE, "--budget", "2"],
    ["replay", TRACE],
    ["scenario", TRACE],
    ["export", TRACE, "--to", "itf"],
    ["export", TRACE, "--to", "shiviz"],
    ["export", TRACE, "--to", "csv"],
    ["export", TRACE, "--to", "svg"],
    ["export", TRACE, "--to", "json"],
    ["export", TRACE, "--to", "mermaid"],
)
WORDS = (
    "-q", "--json", "-", "--set", "n=2", "n=99999999999999999999", "crash=1", "links=lossy", "x=y",
    "--timeout", "1", "0", "-1", "nan", "--max-depth", "3", "--engine", "native", "spark", "--help",
    "--reduce", "por", "all", "--compact", "--threads", "2", "--steps", "--all", "check", "view",
    "spec.bcast::c", "spec.bcast::", "nowhere", "\x1b[2J", "--memory", "1G", "1X", "--coverage", "",
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """Files by name, and the arguments of the command."""

    kind: str
    files: dict[str, str]
    arguments: list[str]

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")


def made(number: int, traces: list[Any]) -> Input:
    """Input ``number``; ``traces``: documents of which some are damaged."""
    draw = random.Random(number)
    kind = draw.choices(("mutant", "hostile", "document", "command"), (5, 2, 2, 1))[0]
    return _KINDS[kind](draw, traces)


def _mutant(draw: random.Random, traces: list[Any]) -> Input:
    """One check of it: a budget is for each."""
    text = specs.mutant(draw)
    checks = re.findall(r"^check (\w+) of", text, re.M)
    one = f"{SPEC}::{draw.choice(checks)}" if checks else SPEC
    arguments = [one if word == SPEC else word for word in draw.choice(COMMANDS)]
    return Input("mutant", {SPEC: text}, arguments)


def _hostile(draw: random.Random, traces: list[Any]) -> Input:
    return Input("hostile", {SPEC: specs.hostile(draw)}, list(draw.choice(COMMANDS)))


def _document(draw: random.Random, traces: list[Any]) -> Input:
    text = documents.damaged(draw, draw.choice(traces))
    return Input("document", {TRACE: text}, list(draw.choice(VIEWS)))


def _command(draw: random.Random, traces: list[Any]) -> Input:
    words = draw.choices(WORDS, k=draw.randrange(6))
    arguments = [*draw.choice((*COMMANDS, *VIEWS)), *words]
    draw.shuffle(words)
    files = {SPEC: draw.choice(specs.library()).text, TRACE: json.dumps(draw.choice(traces))}
    return Input("command", files, arguments)


_KINDS: dict[str, Callable[[random.Random, list[Any]], Input]] = {
    "mutant": _mutant,
    "hostile": _hostile,
    "document": _document,
    "command": _command,
}


def traces(folder: Path) -> list[Any]:
    """Traces of the library's violations, as documents."""
    found = []
    for source in specs.library():
        if len(found) >= 8:
            break
        if "violated" not in source.text or len(source.text) > 3000:
            continue
        file = folder / f"{len(found)}.json"
        arguments = ["check", str(source.path), "-q", "--timeout", "5", "--trace-out", str(file)]
        run(arguments, folder)
        if file.exists():
            found.append(json.loads(file.read_text(encoding="utf-8")))
    return found
