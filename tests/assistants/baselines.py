"""Assistants that are scripts: five that must fail, and one that knows the checks to write."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any

from checker.resources import documents
from tests.assistants.trial import CANNOT_SAY, HERE, NO, SPEC, YES, Answer, Said, Session, Task

GIVEN = "given"
"""The check that each system comes with."""


def naive(task: Task, given: Session) -> list[Said]:
    """Runs the check that is there, and says yes if it passes."""
    return _by_given_check(task, given, lambda found: found["as_expected"])


def patient(task: Task, given: Session) -> list[Said]:
    """Says yes unless a violation was found: what is unknown, or vacuous, has not failed."""
    few = {"seconds": 5, "states": 1}
    word = YES
    if task.system:
        found = given.call("check", path=SPEC, check=GIVEN, budget=few)
        word = NO if found["outcome"] == "violated" else YES
    return [Said(word, SPEC, GIVEN) for _ in task.questions]


def green(task: Task, given: Session) -> list[Said]:
    """Edits what is expected until the check passes, then says yes."""
    if task.system:
        text = given.read(SPEC)
        for _ in range(2):
            found = given.check(SPEC, GIVEN)
            if found["as_expected"]:
                break
            for verdict in found["verdicts"]:
                wanted = f"expect {verdict['property']} {verdict['expected']}"
                text = text.replace(wanted, f"expect {verdict['property']} {verdict['verdict']}")
            given.write(SPEC, text)
    return [Said(YES, SPEC, GIVEN) for _ in task.questions]


def small(task: Task, given: Session) -> list[Said]:
    """Tries two processes, where nothing fails, and says yes if that is fine."""
    if task.system:
        given.write(SPEC, re.sub(r"\bn = \d+", "n = 2", given.read(SPEC)))
    return _by_given_check(task, given, lambda found: found["outcome"] != "violated")


def constant(task: Task, given: Session) -> list[Said]:
    """Says yes, and asks nothing."""
    return [Said(YES) for _ in task.questions]


def _by_given_check(task: Task, given: Session, passes: Any) -> list[Said]:
    word = YES
    if task.system:
        word = YES if passes(given.check(SPEC, GIVEN)) else NO
    return [Said(word, SPEC, GIVEN) for _ in task.questions]


def reference(task: Task, given: Session) -> list[Said]:
    """Writes for each question the check that decides it, and believes its verdict."""
    if task.log:
        found = given.call("log", logs=["log.ndjson"], interface=task.interface, budget=_LITTLE)
        words = {each["property"]: each["verdict"] for each in found["verdicts"]}
        seen = [words.get(question.property) == "violated" for question in task.questions]
        return [Said(NO if each else CANNOT_SAY) for each in seen]
    bodies = tomllib.loads((HERE / "reference.toml").read_text("utf-8"))[task.name]
    imports = [line for line in given.read(SPEC).splitlines() if line.startswith("import ")]
    checks = [
        f"check answer_{i} of {question.protocol} {{ {body} }}"
        for i, (question, body) in enumerate(zip(task.questions, bodies, strict=True), 1)
    ]
    given.write("answer.bcast", "\n".join([*imports, *checks, ""]))
    said = []
    for i, question in enumerate(task.questions, 1):
        found = given.check("answer.bcast", f"answer_{i}")
        words = {each["property"]: each["verdict"] for each in found["verdicts"]}
        word = {"holds": YES, "proved": YES, "within": YES, "violated": NO}.get(
            words.get(question.property, ""), CANNOT_SAY
        )
        said.append(Said(word, "answer.bcast", f"answer_{i}"))
    return said


_LITTLE = {"seconds": 20, "states": 1000}
FAILING = {each.__name__: each for each in (naive, green, patient, small, constant)}
ALL = {**FAILING, "reference": reference}


class Command:
    """An assistant that is a program: lines of JSON on its standard output ask, and lines on its
    standard input answer (docs/assistants.md)."""

    def __init__(self, words: list[str]) -> None:
        self._words = words

    def __call__(self, task: Task, given: Session) -> list[Said]:
        with subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None and process.stdout is not None

            def tell(what: Answer) -> None:
                assert process.stdin is not None
                process.stdin.write(json.dumps(what) + "\n")
                process.stdin.flush()

            tell(
                {
                    "task": task.shown(),
                    "skill": (documents() / "skill" / "SKILL.md").read_text("utf-8"),
                }
            )
            for line in process.stdout:
                asked = json.loads(line)
                if "answers" in asked:
                    process.stdin.close()
                    return [Said.read(one) for one in asked["answers"]]
                tell(_reply(asked, given))
        return [Said(CANNOT_SAY) for _ in task.questions]


def _reply(asked: Answer, given: Session) -> Answer:
    try:
        match asked:
            case {"tool": str(tool), "arguments": dict(arguments)}:
                return given.call(tool, **arguments)
            case {"write": str(name), "text": str(text)}:
                given.write(name, text)
                return {"written": name}
            case {"read": str(name)}:
                return {"text": given.read(name)}
    except (OSError, ValueError) as wrong:
        return {"error": str(wrong)}
    return {"error": "a line has `tool` and `arguments`, `write` and `text`, `read`, or `answers`"}
