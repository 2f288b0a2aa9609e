"""The Dockerfile against the project: its paths, its commands, and what its context leaves out."""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
STEPS = [line.split(maxsplit=1) for line in LINES if line and not line.startswith("#")]


def given(step: str) -> list[str]:
    """The arguments of all steps of that name."""
    return [rest for name, rest in STEPS if name == step]


def is_sent(path: str) -> bool:
    """Whether the file or folder is in the context of the build: the last pattern decides."""
    sent = True
    for pattern in (ROOT / ".dockerignore").read_text("utf-8").split():
        name = pattern.removeprefix("!")
        parts = path.split("/")
        heads = ["/".join(parts[:i]) for i in range(1, len(parts) + 1)]
        inside = name.removeprefix("**/")
        matches = (
            name == "**"
            or any(fnmatch(head, name) for head in heads)
            or (name != inside and inside in parts)
        )
        if matches:
            sent = pattern.startswith("!")
    return sent


def test_the_command_is_that_of_the_project() -> None:
    (entry,) = given("ENTRYPOINT")
    assert json.loads(entry)[0] in PROJECT["project"]["scripts"]
    oldest = tuple(map(int, PROJECT["project"]["requires-python"].removeprefix(">=").split(".")))
    bases = given("FROM")
    assert len(bases) == 2 and len({base.split()[0] for base in bases}) == 1
    version = re.fullmatch(r"python:(\d+)\.(\d+)-slim(?: AS build)?", bases[0])
    assert version and tuple(map(int, version.groups())) >= oldest


def test_the_wheel_is_built_from_all_that_it_needs_and_nothing_private() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]
    needed = ["pyproject.toml", PROJECT["project"]["readme"], wheel["hooks"]["custom"]["path"]]
    needed += [*wheel["targets"]["wheel"]["packages"], *wheel["targets"]["wheel"]["force-include"]]
    for path in needed:
        assert (ROOT / path).exists() and is_sent(path), path
    for path in (".git/config", ".venv/bin/python", "tests/conftest.py", "checker/__pycache__/a"):
        assert not is_sent(path), path


def test_the_wheel_that_is_built_is_the_one_that_is_installed() -> None:
    build, install, *_ = given("RUN")
    (folder,) = re.findall(r"--wheel-dir (\S+) /source", build)
    assert given("COPY") == [". /source"]
    assert f"from=build,source={folder},target={folder} " in install
    name = PROJECT["project"]["name"]
    assert f"{folder}/{name}-*.whl" in install
    assert given("ARG") == ['EXTRAS=""']
    (named,) = re.findall(r"EXTRAS=\[(\S+)\]", "\n".join(LINES))
    assert {*named.split(",")} <= {*PROJECT["project"]["optional-dependencies"]}


def test_there_is_no_java_and_no_root() -> None:
    text = "\n".join(LINES).lower().replace("without java", "")
    assert "java" not in text and "jdk" not in text and "spark" not in text
    assert given("USER") != ["root"] and given("USER")
