"""Arguments that nobody should send: each is refused, and nothing outside of the root is read."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checker.assist.answer import Answer, Verdict, fitted, schema
from checker.assist.arguments import TOOLS, arguments_of, schema_of
from checker.assist.refusals import Refused
from checker.assist.snapshot import Root
from tests.assist.calls import BUDGET, CRASH, RELAY, Caller

SECRET = "kept elsewhere"
GOOD: dict[str, dict[str, Any]] = {
    "look": {"path": "relay.bcast"},
    "check": {"path": "relay.bcast", "check": "crash", "budget": BUDGET},
    "prove": {"path": "relay.bcast", "check": "crash", "budget": BUDGET},
    "simulate": {"path": "relay.bcast", "check": "crash", "budget": BUDGET, "seed": 1},
    "run": {"handle": "0" * 16, "show": "story", "budget": BUDGET},
    "log": {"logs": ["log.json"], "interface": "ReliableBroadcast", "budget": BUDGET},
    "mutate": {"path": "relay.bcast", "check": "crash", "budget": BUDGET},
    "library": {"query": "broadcast"},
}
ANY: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**30, "", "3", "\0", "\ud800", "a\nb",
    "--engine=spark", "-x", "../x.bcast", "/etc/passwd", "x" * 1_000_000, [], [[]], {}, {"a": {}},
    ["relay.bcast"] * 100, {"seconds": 1}, {"seconds": "3", "states": 1},
    {"seconds": 51, "states": 1}, {"seconds": 1, "states": 10**9},
    {"seconds": 1, "states": 1, "memory": 1}, {"n": "3; rm"}, {"--engine": "spark"},
    {"n": "3\n"}, "spark://host:1", "file:///etc/passwd", "crash\n",
]  # fmt: skip
OUTSIDE = (
    "../secret.bcast", "a/../../secret.bcast", "/etc/passwd", "linked.bcast", "folder/secret.bcast",
    "./../secret.bcast", "\0.bcast", "\ud800.bcast", "x::y.bcast", "pipe.bcast", "sub.bcast", ".",
    "//etc/passwd", "~/x.bcast", "a\nb.bcast", "missing.bcast", "", "link_to_own.bcast",
    "../" * 150 + "etc/passwd", "file:///etc/passwd", "specs/../../x",
)  # fmt: skip


def hostile(folder: Path) -> Path:
    """Makes files and links that lead outside of the root, and returns what is there."""
    outside = folder.parent / f"outside-{folder.name}"
    outside.mkdir(exist_ok=True)
    (outside / "secret.bcast").write_text(f"// {SECRET}\n{RELAY}{CRASH}", encoding="utf-8")
    (folder.parent / "secret.bcast").write_text(f"// {SECRET}\n{RELAY}{CRASH}", encoding="utf-8")
    (folder / "relay.bcast").write_text(RELAY + CRASH, encoding="utf-8")
    (folder / "linked.bcast").symlink_to(outside / "secret.bcast")
    (folder / "link_to_own.bcast").symlink_to(folder / "relay.bcast")
    (folder / "folder").symlink_to(outside)
    (folder / "sub.bcast").mkdir()
    os.mkfifo(folder / "pipe.bcast")
    return outside


def mutated(chance: random.Random) -> tuple[str, Any]:
    """Returns a call one of whose arguments is wrong."""
    tool = chance.choice([*GOOD])
    arguments = dict(GOOD[tool])
    names = [*schema_of(tool)["properties"]]
    name = chance.choice([*names, "engine", "master", "out", "root", ""])
    if chance.random() < 0.1 and name in arguments:
        del arguments[name]
    else:
        arguments[name] = chance.choice(ANY)
    return tool, arguments


def _is_within(tool: str, given: Any) -> bool:
    """Whether the arguments may be admitted: each is of its type, and in its bounds."""
    text = json.dumps(given)
    wrong = ("NaN", "Infinity", "\\u0000", "\\ud800", "--", "://", "rm", "\\n")
    return set(given) <= set(schema_of(tool)["properties"]) and not any(w in text for w in wrong)


@pytest.mark.parametrize(
    "number", [300, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_wrong_arguments_are_refused_or_within_bounds(number: int) -> None:
    """What is admitted has types and bounds as published; all else is a `Refused`, and no other
    exception."""
    chance = random.Random(number)
    refused = 0
    for _ in range(number):
        tool, given = mutated(chance)
        try:
            found = arguments_of(tool, given)
        except Refused as why:
            refused += 1
            assert why.code == "A001"
            assert len(why.message) <= 250
            continue
        assert isinstance(found, TOOLS[tool])
        named = {key: value for key, value in given.items() if "path" not in key and key != "logs"}
        assert _is_within(
            tool, {k: v for k, v in named.items() if k not in ("query", "mapping", "event")}
        )
    assert refused > number / 2


@pytest.mark.every
@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": {"seconds": "3", "states": 1}}, {"budget": {"seconds": 3}}, {"budget": None},
        {"budget": {"seconds": 0, "states": 1}}, {"engine": "spark"}, {"set": {"n": 4}},
    ],
    ids=str,
)  # fmt: skip
def test_no_argument_is_converted_or_passed_over(wrong: dict[str, Any]) -> None:
    arguments_of("check", GOOD["check"])
    with pytest.raises(Refused):
        arguments_of("check", {**GOOD["check"], **wrong})
    for tool, given in GOOD.items():
        if "budget" in given:
            with pytest.raises(Refused):
                arguments_of(tool, {name: v for name, v in given.items() if name != "budget"})


def test_an_answer_is_small_and_says_what_it_leaves_out() -> None:
    many = tuple(Verdict(f"p{i}", "holds", why="w" * 1000) for i in range(50))
    found = fitted(Answer("holds", "c" * 2000, verdicts=many, lines=("x" * 299,) * 100))
    assert len(json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()) <= 8_000
    assert len(found["verdicts"]) + found["left_out"]["verdicts"] == 50
    assert len(found["lines"]) + found["left_out"]["lines"] == 100
    assert len(found["claim"]) == 900
    assert max(len(v["why"]) for v in found["verdicts"]) == 300
    Draft202012Validator.check_schema(schema())


def test_arguments_that_are_no_object() -> None:
    for given in ([], "x", 3, None, float("nan")):
        with pytest.raises(Refused):
            arguments_of("look", given)
    with pytest.raises(Refused) as caught:
        arguments_of("exec", {})
    assert caught.value.code == "A006"


@pytest.mark.every
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_that_leads_elsewhere_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    hostile(folder)
    root = Root(folder)
    for copy in (root.spec, root.file):
        with pytest.raises(Refused) as caught:
            copy(name, tmp_path)
        assert caught.value.code in ("A002", "A003")
        assert str(folder.parent) not in f"{caught.value.message} {caught.value.hint}"
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_becomes_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = hostile(folder)
    (folder / "own").mkdir()
    (folder / "own" / "secret.bcast").write_text(RELAY, encoding="utf-8")
    root = Root(folder)
    root.spec("own/secret.bcast", tmp_path / "before")
    (folder / "own").rename(folder / "aside")
    (folder / "own").symlink_to(outside)
    with pytest.raises(Refused):
        root.spec("own/secret.bcast", tmp_path / "behind")


@pytest.mark.every
@pytest.mark.parametrize(
    "how", ["../secret.bcast", "linked.bcast", "folder/secret.bcast", "ABSOLUTE"]
)
def test_an_import_that_leads_elsewhere_is_not_read(call: Caller, folder: Path, how: str) -> None:
    outside = hostile(folder)
    target = str(outside / "secret.bcast") if how == "ABSOLUTE" else how
    text = f'import // a comment\n "{target}"\n' + CRASH
    (folder / "importing.bcast").write_text(text, encoding="utf-8")
    found = call("check", path="importing.bcast", check="crash")
    assert found["outcome"] == "unusable"
    assert found["problems"][0]["code"] == "N016"
    assert SECRET not in json.dumps(found)


def test_calls_with_wrong_arguments_run_nothing(call: Caller, folder: Path) -> None:
    """Over the protocol, too: in the shape of an answer, with a code and what would be right."""
    hostile(folder)
    chance = random.Random(7)
    seen = set()
    for _ in range(60):
        tool, given = mutated(chance)
        try:
            arguments_of(tool, given)
        except Refused:
            if _is_sendable(given):
                found = call.raw(tool, given)
                assert found["outcome"] == "unusable"
                assert found["problems"][0]["hint"]
                seen.add(tool)
    for name in OUTSIDE:
        if _is_sendable({"path": name}):
            assert call("look", path=name)["problems"][0]["code"] in ("A001", "A002", "A003")
    assert call.raw("no_such_tool", {})["problems"][0]["code"] == "A006"
    assert len(seen) > 5


def _is_sendable(given: dict[str, Any]) -> bool:
    """Whether JSON can have it."""
    try:
        json.dumps(given, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


def test_hostile_text_of_a_spec_is_shown_as_data(call: Caller, folder: Path) -> None:
    """Control characters are not passed on, and long texts are cut."""
    text = RELAY + CRASH.replace("agreement", "x" * 5_000) + "// \x1b[2J\u202e\n@\x1b"
    (folder / "odd.bcast").write_text(text, encoding="utf-8")
    found = call("check", path="odd.bcast", check="crash")
    assert found["outcome"] == "unusable"
    assert "\x1b" not in json.dumps(found, ensure_ascii=False)
